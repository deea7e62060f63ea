"""Index terms: nothing is an operator, nothing is lost, nobody passes for another."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from graphmem.stores.neo4j.rows import pair_key
from graphmem.stores.neo4j.terms import lookup, owner, stored_terms, tokens_of

TEXT = st.text(st.characters(exclude_categories=["Cs"]), max_size=300)


@given(st.lists(TEXT, max_size=8), st.booleans())
def test_tokens_come_back_in_order_with_repetition(tokens: list[str], archived: bool) -> None:
    held = stored_terms(tokens, "n", archived=archived)
    assert tokens_of(held.terms[: len(tokens)], held.odd_terms) == tuple(tokens)
    assert held.terms[len(tokens) :] == [owner("n", archived=archived)]


@given(TEXT)
def test_the_analyzer_sees_one_term_a_token(token: str) -> None:
    held = stored_terms((token,), "n", archived=False).terms[0]
    assert held
    assert len(held) <= 200
    assert held.split() == [held]


@pytest.mark.parametrize(
    ("token", "query"),
    [
        ("seat", '"seat"'),
        ("AND", '"AND"'),
        ('say"so', r'"say\"so"'),
        ("back\\slash", r'"back\\slash"'),
        ("a/b*?~", '"a/b*?~"'),
    ],
)
def test_a_token_is_a_quoted_term(token: str, query: str) -> None:
    assert lookup(token, "n", archived=False).endswith(f" +{query}")


@given(TEXT, TEXT)
def test_no_token_is_the_term_of_a_namespace(token: str, namespace: str) -> None:
    for archived in (False, True):
        mine = owner(namespace, archived=archived)
        assert stored_terms((mine, token), "other", archived=False).terms[0] != mine
        assert stored_terms((token,), "other", archived=False).terms[0] != mine


@given(TEXT, TEXT)
def test_namespaces_do_not_share_a_term(one: str, other: str) -> None:
    terms = {owner(name, archived=archived) for name in (one, other) for archived in (False, True)}
    assert len(terms) == (2 if one == other else 4)


@given(TEXT, TEXT, TEXT, TEXT)
def test_pairs_do_not_share_a_key(a: str, b: str, c: str, d: str) -> None:
    assert (pair_key(a, b) == pair_key(c, d)) == ((a, b) == (c, d))


def test_a_pair_of_long_ids_fits_an_index_key() -> None:
    assert len(pair_key("a" * 10_000, "b" * 10_000)) < 500
