from __future__ import annotations

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from graphmem.algorithms.provenance import (
    Action,
    Declaration,
    InputRevision,
    Receipt,
    Revision,
    canonical_json,
    fingerprint,
    plan_rebuild,
)
from graphmem.errors import InvalidInput


def made(declaration: Declaration, revisions: dict[str, Revision], digest: str = "d") -> Receipt:
    """Return the receipt of a build done just now."""
    inputs = tuple(InputRevision(i, revisions[i]) for i in declaration.inputs)
    return Receipt(
        declaration.output_id, inputs, declaration.producer, declaration.configuration, digest
    )


VECTOR = Declaration("vector", ("n1", "n2"), "embed-1", {"model": "m"})
SUMMARY = Declaration("summary", ("vector", "n3"), "summarise-1")
SOURCES: dict[str, Revision] = {"n1": 1, "n2": 1, "n3": 1}
VECTOR_MADE = made(VECTOR, SOURCES, "v1")
SUMMARY_MADE = made(SUMMARY, {**SOURCES, "vector": "v1"})


def actions(
    declarations: list[Declaration], receipts: list[Receipt], sources: dict[str, Revision]
) -> dict[str, tuple[str, str]]:
    plan = plan_rebuild(declarations, receipts, sources)
    return {decision.output_id: (decision.action.value, decision.reason) for decision in plan}


def test_all_is_reused_while_every_receipt_matches() -> None:
    plan = plan_rebuild([SUMMARY, VECTOR], [SUMMARY_MADE, VECTOR_MADE], SOURCES)
    assert [(d.output_id, d.action) for d in plan] == [
        ("vector", Action.REUSE),
        ("summary", Action.REUSE),
    ]


@pytest.mark.parametrize(
    ("declaration", "receipts", "sources", "expected"),
    [
        (VECTOR, [], SOURCES, ("rebuild", "no receipt")),
        (VECTOR, [VECTOR_MADE], {**SOURCES, "n2": 2}, ("rebuild", "changed input: n2")),
        (
            Declaration("vector", ("n2", "n1"), "embed-1", {"model": "m"}),
            [VECTOR_MADE],
            SOURCES,
            ("rebuild", "changed order of inputs"),
        ),
        (
            Declaration("vector", ("n1", "n2", "n3"), "embed-1", {"model": "m"}),
            [VECTOR_MADE],
            SOURCES,
            ("rebuild", "changed input: n3"),
        ),
        (
            Declaration("vector", ("n1", "n2"), "embed-2", {"model": "m"}),
            [VECTOR_MADE],
            SOURCES,
            ("rebuild", "changed specification"),
        ),
        (
            Declaration("vector", ("n1", "n2"), "embed-1", {"model": "other"}),
            [VECTOR_MADE],
            SOURCES,
            ("rebuild", "changed specification"),
        ),
        (VECTOR, [VECTOR_MADE], {"n1": 1}, ("blocked", "missing input: n2")),
    ],
)
def test_one_output_is_decided_by_its_receipt(
    declaration: Declaration,
    receipts: list[Receipt],
    sources: dict[str, Revision],
    expected: tuple[str, str],
) -> None:
    assert actions([declaration], receipts, sources)["vector"] == expected


def test_what_depends_on_a_stale_output_waits() -> None:
    changed = {**SOURCES, "n1": 2}
    plan = actions([SUMMARY, VECTOR], [SUMMARY_MADE, VECTOR_MADE], changed)
    assert plan["summary"] == ("wait", "upstream not ready: vector (rebuild)")
    blocked = actions([SUMMARY, VECTOR], [SUMMARY_MADE, VECTOR_MADE], {"n1": 1, "n3": 1})
    assert blocked["summary"] == ("wait", "upstream not ready: vector (blocked)")


def test_an_unchanged_output_stops_the_wave_and_a_changed_one_moves_on() -> None:
    changed = {**SOURCES, "n1": 2}
    same = actions([SUMMARY, VECTOR], [SUMMARY_MADE, made(VECTOR, changed, "v1")], changed)
    assert {action for action, _ in same.values()} == {"reuse"}
    other = actions([SUMMARY, VECTOR], [SUMMARY_MADE, made(VECTOR, changed, "v2")], changed)
    assert other == {
        "vector": ("reuse", "receipt matches"),
        "summary": ("rebuild", "changed input: vector"),
    }


def test_editing_one_source_of_a_thousand_rebuilds_its_output_alone() -> None:
    sources: dict[str, Revision] = {f"n{i}": 1 for i in range(1000)}
    declarations = [Declaration(f"out{i}", (f"n{i}",), "p") for i in range(1000)]
    receipts = [made(declaration, sources) for declaration in declarations]
    plan = plan_rebuild(declarations, receipts, {**sources, "n500": 2})
    assert [d.output_id for d in plan if d.action is not Action.REUSE] == ["out500"]


@pytest.mark.parametrize(
    ("declarations", "receipts", "sources", "named"),
    [
        ([VECTOR, VECTOR], [], SOURCES, "vector"),
        ([VECTOR], [VECTOR_MADE, VECTOR_MADE], SOURCES, "vector"),
        ([VECTOR], [], {**SOURCES, "vector": 1}, "vector"),
        ([Declaration("a", ("b",), "p"), Declaration("b", ("a",), "p")], [], {}, "a -> b|b -> a"),
        ([Declaration("a", ("a",), "p")], [], {}, "a -> a"),
    ],
    ids=["two-producers", "two-receipts", "producer-and-source", "cycle", "self"],
)
def test_contradictory_declarations_are_refused(
    declarations: list[Declaration],
    receipts: list[Receipt],
    sources: dict[str, Revision],
    named: str,
) -> None:
    with pytest.raises(InvalidInput, match=named):
        plan_rebuild(declarations, receipts, sources)


def test_an_input_named_twice_is_refused() -> None:
    with pytest.raises(InvalidInput, match="n1"):
        Declaration("x", ("n1", "n1"), "p")
    with pytest.raises(InvalidInput, match="n1"):
        Receipt("x", (InputRevision("n1", 1), InputRevision("n1", 2)), "p")


names = st.text(min_size=1, max_size=3)
inputs = st.lists(st.builds(InputRevision, names, st.integers(1, 3)), max_size=3)


@given(inputs, names, inputs, names)
def test_fingerprints_differ_exactly_when_what_they_stand_for_does(
    a: list[InputRevision], p: str, b: list[InputRevision], q: str
) -> None:
    assert (fingerprint(a, p, {}) == fingerprint(b, q, {})) == ((a, p) == (b, q))


def test_the_order_of_settings_does_not_matter() -> None:
    assert fingerprint([], "p", {"a": 1, "b": 2}) == fingerprint([], "p", {"b": 2, "a": 1})
    assert VECTOR_MADE.fingerprint == fingerprint(
        VECTOR_MADE.inputs, VECTOR.producer, VECTOR.configuration
    )


@pytest.mark.parametrize("value", [math.nan, object(), "\ud800"])
def test_what_is_no_json_is_refused(value: object) -> None:
    with pytest.raises(InvalidInput):
        canonical_json(value)  # type: ignore[arg-type]  # wrong on purpose
