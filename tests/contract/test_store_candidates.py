"""The set a recall ranks: exact seeds, integer idf, bounded expansion."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
import pytest
from contract.builders import (
    EAST,
    MODEL,
    apply,
    assert_same_candidates,
    by_rank,
    change,
    cosine_of,
    ids,
    lexical,
    link,
    make_note,
    nearby,
    new,
    put,
    question,
    towards,
    unit,
)
from contract.stores import EVERY_RELEASE
from reference_store import ReferenceStore

from graphmem.model import CandidateQuery, NoteFilter, NoteRecord, Scope
from graphmem.ports import NoteStore

pytestmark = pytest.mark.parametrize("store", EVERY_RELEASE, indirect=True)


# --- seeds -------------------------------------------------------------------------------


def test_vector_seeds_are_the_nearest_in_order(store: NoteStore, scope: Scope) -> None:
    cosines = {"a": -0.9, "b": 0.3, "c": 0.95, "d": 0.31, "e": 0.0}
    put(store, scope, {id_: (towards(cosine), ()) for id_, cosine in cosines.items()})
    found = store.candidates(scope, nearby(vector_seeds=3))
    assert by_rank(found, "vector_rank") == ["c", "d", "b"]
    assert ids(found) == ["b", "c", "d"]
    for candidate in found.candidates:
        assert cosine_of(candidate) == pytest.approx(cosines[candidate.note.id], abs=1e-6)
        assert candidate.lexical_rank is None


@pytest.mark.parametrize("count", [3, 37, 130])
def test_equal_vectors_go_by_id(store: NoteStore, scope: Scope, count: int) -> None:
    names = [f"n{(i * 61) % count:03}" for i in range(count)]
    same = unit(4)
    put(store, scope, {id_: (same, ["w"]) for id_ in names} | {"zz": (unit(5), ["w"])})
    found = store.candidates(scope, question(same, "w", vector_seeds=count - 1, expand=0))
    assert by_rank(found, "vector_rank") == sorted(names)[: count - 1]
    assert by_rank(found, "lexical_rank") == [*sorted(names), "zz"][:100]
    (row,) = store.nearest(scope, same[None], count - 1)
    assert [neighbour.note_id for neighbour in row] == sorted(names)[: count - 1]


def test_ties_follow_code_points(store: NoteStore, scope: Scope) -> None:
    names = [
        "a",
        "B",
        "\uff5e",
        "\U0001f600",
        "é",
        "e\u0301",
        "Z",
        "10",
        "9",
        "a b",
        "a\tb",
        "\u4e00",
    ]
    put(store, scope, {id_: (EAST, ["w"]) for id_ in names})
    found = store.candidates(scope, question(EAST, "w"))
    assert ids(found) == sorted(names)
    assert by_rank(found, "vector_rank") == sorted(names)
    assert by_rank(found, "lexical_rank") == sorted(names)
    assert [note.id for note in store.notes(scope)] == sorted(names)
    assert [n.note_id for n in store.nearest(scope, EAST[None], 99)[0]] == sorted(names)


def test_a_note_without_vector_is_found_by_words_alone(store: NoteStore, scope: Scope) -> None:
    put(store, scope, {"a": (None, ["word"]), "b": (EAST, ["other"])})
    found = store.candidates(scope, question(EAST, "word"))
    assert ids(found) == ["a", "b"]
    assert found.candidates[0].cosine is None
    assert found.candidates[0].vector_rank is None
    assert found.candidates[0].lexical_rank == 0
    assert found.candidates[1].lexical_rank is None


def test_rarer_words_weigh_more(store: NoteStore, scope: Scope) -> None:
    words = {"a": ["common", "x"], "b": ["rare", "y"], "c": ["common", "z"], "d": ["w"]}
    put(store, scope, {id_: (None, terms) for id_, terms in words.items()})
    found = store.candidates(scope, lexical("common", "rare", "absent"))
    assert by_rank(found, "lexical_rank") == ["b", "a", "c"]
    assert found.document_frequency == {"common": 2, "rare": 1, "absent": 0}
    assert (found.note_count, found.average_terms) == (4, 1.75)


def idf(note_count: int, found: int) -> int:
    return round(1e6 * math.log(1 + (note_count - found + 0.5) / (found + 0.5)))


def test_word_scores_are_sums_of_rounded_integers(store: NoteStore, scope: Scope) -> None:
    """Two words of middling rarity against one rare word, decided in millionths."""
    words = {
        "two": ["p", "q"],
        "one": ["r"],
        **{f"p{i}": ["p", "f"] for i in range(6)},
        **{f"q{i}": ["q", "f"] for i in range(4)},
        **{f"r{i}": ["r", "f"] for i in range(2)},
        **{f"s{i}": ["s"] for i in range(5)},
    }
    put(store, scope, {id_: (None, terms) for id_, terms in words.items()})
    frequency = {term: sum(term in terms for terms in words.values()) for term in "pqr"}
    scores = {
        id_: sum(idf(len(words), frequency[term]) for term in "pqr" if term in terms)
        for id_, terms in words.items()
    }
    expected = sorted(
        (id_ for id_ in words if scores[id_]), key=lambda id_: (-scores[id_], len(words[id_]), id_)
    )
    found = store.candidates(scope, lexical("p", "q", "r"))
    assert by_rank(found, "lexical_rank") == expected


def test_equal_scores_go_by_length_then_id(store: NoteStore, scope: Scope) -> None:
    words = {"d": ["w"], "c": ["w", "w"], "b": ["w", "x"], "a": ["w", "x", "y"], "e": ["w"]}
    put(store, scope, {id_: (None, terms) for id_, terms in words.items()})
    found = store.candidates(scope, lexical("w"))
    assert by_rank(found, "lexical_rank") == ["d", "e", "b", "c", "a"]
    assert by_rank(store.candidates(scope, lexical("w", lexical_seeds=2)), "lexical_rank") == [
        "d",
        "e",
    ]


def test_a_word_said_twice_in_the_question_counts_once(store: NoteStore, scope: Scope) -> None:
    words = {"a": ["w", "x"], "b": ["v"], "c": ["w"], "d": ["w"]}
    put(store, scope, {id_: (None, terms) for id_, terms in words.items()})
    once = store.candidates(scope, lexical("w", "v"))
    thrice = store.candidates(scope, lexical("w", "v", "w", "w"))
    assert by_rank(once, "lexical_rank") == ["b", "c", "d", "a"]
    assert_same_candidates(once, thrice)


def test_a_word_in_every_note_still_seeds(store: NoteStore, scope: Scope) -> None:
    put(store, scope, {id_: (None, ["w"]) for id_ in "abc"})
    assert by_rank(store.candidates(scope, lexical("w")), "lexical_rank") == ["a", "b", "c"]


def test_words_match_whole_and_exactly(store: NoteStore, scope: Scope) -> None:
    put(store, scope, {"a": (None, ["seat"]), "b": (None, ["seats"]), "c": (None, ["Seat"])})
    assert ids(store.candidates(scope, lexical("seat"))) == ["a"]
    assert ids(store.candidates(scope, lexical("sea"))) == []


@pytest.mark.parametrize("terms", [(), ("absent",), ("absent", "missing", "absent")])
def test_without_a_known_word_there_is_no_lexical_seed(
    store: NoteStore, scope: Scope, terms: tuple[str, ...]
) -> None:
    put(store, scope, {"a": (EAST, ["w"]), "b": (EAST, ())})
    found = store.candidates(scope, question(EAST, *terms))
    assert by_rank(found, "lexical_rank") == []
    assert ids(found) == ["a", "b"]
    assert found.document_frequency == dict.fromkeys(terms, 0)
    assert ids(store.candidates(scope, lexical(*terms))) == []


def test_candidates_carry_their_words(store: NoteStore, scope: Scope) -> None:
    put(store, scope, {"a": (EAST, ["w", "x", "w"]), "b": (EAST, ())})
    first, second = store.candidates(scope, question(EAST, "w")).candidates
    assert (first.terms, second.terms) == (("w", "x", "w"), ())


def test_a_changed_note_is_found_by_its_new_words_only(store: NoteStore, scope: Scope) -> None:
    note = make_note("a", scope.namespace)
    apply(store, scope, new(note, EAST, ["old", "kept"]))
    apply(store, scope, change(note, None, ["fresh", "kept"]))
    assert ids(store.candidates(scope, lexical("old"))) == []
    assert ids(store.candidates(scope, lexical("fresh"))) == ["a"]
    found = store.candidates(scope, lexical("old", "kept", "fresh"))
    assert found.document_frequency == {"old": 0, "kept": 1, "fresh": 1}


def test_an_erased_note_leaves_the_statistics(store: NoteStore, scope: Scope) -> None:
    put(store, scope, {"a": (EAST, ["w"] * 9), "b": (EAST, ["w"])})
    apply(store, scope, erased=["a"])
    found = store.candidates(scope, question(EAST, "w"))
    assert (found.note_count, found.average_terms) == (1, 1.0)
    assert found.document_frequency == {"w": 1}


def test_an_empty_scope_gives_an_empty_set(store: NoteStore, scope: Scope) -> None:
    found = store.candidates(scope, question(EAST, "w"))
    assert found.candidates == ()
    assert found.links == ()
    assert (found.note_count, found.average_terms) == (0, 0.0)
    assert found.document_frequency == {"w": 0}


def test_an_emptied_scope_gives_an_empty_set(store: NoteStore, scope: Scope) -> None:
    put(store, scope, {"a": (EAST, ["w"])})
    apply(store, scope, erased=["a"])
    found = store.candidates(scope, question(EAST, "w"))
    assert (found.candidates, found.note_count, found.average_terms) == ((), 0, 0.0)


def test_a_single_note_is_found(store: NoteStore, scope: Scope) -> None:
    put(store, scope, {"a": (-EAST, ["w"])})
    (only,) = store.candidates(scope, question(EAST, "w")).candidates
    assert (only.vector_rank, only.lexical_rank) == (0, 0)
    assert cosine_of(only) == pytest.approx(-1.0, abs=1e-6)


def test_seed_limits_of_zero_seed_nothing(store: NoteStore, scope: Scope) -> None:
    put(store, scope, {"a": (EAST, ["w"])})
    found = store.candidates(scope, question(EAST, "w", vector_seeds=0, lexical_seeds=0))
    assert found.candidates == ()
    assert (found.note_count, found.document_frequency) == (1, {"w": 1})


def test_limits_beyond_the_store_give_all(store: NoteStore, scope: Scope) -> None:
    put(store, scope, {"a": (EAST, ["w"]), "b": (EAST, ["w"])})
    huge = 10**9
    query = question(
        EAST,
        "w",
        vector_seeds=huge,
        lexical_seeds=huge,
        expand=huge,
        fanout=huge,
        source_notes=huge,
        window=1000,
    )
    assert ids(store.candidates(scope, query)) == ["a", "b"]


def test_the_same_question_gets_the_same_answer(store: NoteStore, scope: Scope) -> None:
    put(store, scope, {f"n{i}": (unit(i % 3), ["w", f"t{i % 4}"]) for i in range(30)})
    query = question(EAST, "w", "t1", vector_seeds=5, lexical_seeds=5)
    assert store.candidates(scope, query) == store.candidates(scope, query)


# --- against the model -------------------------------------------------------------------


WORDS = ("ship", "harbour", "quay", "crane", "tide")


def random_records(namespace: str, count: int, seed: int) -> list[NoteRecord]:
    """Notes of few sources, few vectors and few words, so that ties abound."""
    rng = np.random.default_rng(seed)
    return [
        NoteRecord(
            make_note(
                f"n{i:03}",
                namespace,
                source=[None, "s", "t"][rng.integers(3)],
                position=[None, int(rng.integers(9))][rng.integers(2)],
                author=[None, "Ada", "Bob"][rng.integers(3)],
                tags=tuple(sorted({str(rng.choice(["x", "y"])) for _ in range(2)})),
                importance=float(rng.integers(5)) / 4,
                archived=bool(rng.random() < 0.1),
            ),
            tuple(str(word) for word in rng.choice(WORDS, size=rng.integers(6))),
            None if rng.random() < 0.1 else unit(int(rng.integers(15))),
        )
        for i in range(count)
    ]


@pytest.mark.parametrize("seed", range(2))
def test_any_set_equals_that_of_the_obvious_store(
    store: NoteStore, scope: Scope, seed: int
) -> None:
    rng = np.random.default_rng(seed)
    records = random_records(scope.namespace, 80, seed)
    names = [record.note.id for record in records]
    pairs = {tuple(sorted(map(str, rng.choice(names, 2, replace=False)))) for _ in range(150)}
    links = [link(a, b, float(rng.integers(1, 8)) / 8) for a, b in sorted(pairs)]
    model = ReferenceStore()
    for each in (store, model):
        each.load(scope, records, links, [], MODEL)
    for _ in range(15):
        seen = replace(
            scope, authors=[None, frozenset({"Ada"}), frozenset({"Ada", "Bob"})][rng.integers(3)]
        )
        query = CandidateQuery(
            vector=unit(int(rng.integers(100, 200))),
            terms=tuple(str(word) for word in rng.choice([*WORDS, "absent"], rng.integers(4))),
            where=NoteFilter(
                sources=[None, frozenset({"s"})][rng.integers(2)],
                tags=[None, frozenset({"x"})][rng.integers(2)],
                archived=bool(rng.integers(2)),
            ),
            vector_seeds=int(rng.integers(0, 9)),
            lexical_seeds=int(rng.integers(0, 9)),
            expand=int(rng.integers(0, 5)),
            hops=int(rng.integers(0, 4)),
            fanout=int(rng.integers(0, 4)),
            min_weight=float(rng.integers(0, 5)) / 8,
            window=int(rng.integers(0, 3)),
            source_notes=int(rng.integers(0, 4)),
        )
        assert_same_candidates(store.candidates(seen, query), model.candidates(seen, query))
