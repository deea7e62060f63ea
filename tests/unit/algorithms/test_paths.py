from __future__ import annotations

from collections.abc import Iterable
from datetime import UTC, datetime

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from graphmem.algorithms.paths import trace_paths
from graphmem.errors import InvalidInput
from graphmem.model import (
    Candidate,
    CandidateQuery,
    CandidateSet,
    Link,
    LinkKind,
    Note,
    Source,
    StepKind,
    related,
)

DAY = datetime(2025, 5, 7, tzinfo=UTC)


def candidate(
    note_id: str,
    vector: int | None = None,
    lexical: int | None = None,
    source: str | None = None,
    importance: float = 0.5,
) -> Candidate:
    origin = None if source is None else Source(source)
    note = Note(
        note_id, "default", note_id, "user", None, origin, DAY, (), (), "", importance, {}, DAY
    )
    return Candidate(note, (note_id,), 0.5, vector, lexical)


def follows(later: str, earlier: str) -> Link:
    return Link(later, earlier, 1.0, 1.0, LinkKind.FOLLOWS)


def found(candidates: Iterable[Candidate], links: Iterable[Link] = ()) -> CandidateSet:
    ordered = tuple(sorted(candidates, key=lambda entry: entry.note.id))
    return CandidateSet(ordered, tuple(links), len(ordered), 1.0, {})


def query(**limits: float) -> CandidateQuery:
    return CandidateQuery(np.zeros(2, np.float32), (), **limits)


def steps(candidates, links=(), note_id="x", **limits) -> list[str]:
    paths = trace_paths(found(candidates, links), query(**limits))
    return [str(step) for step in paths[note_id]]


def test_a_seed_is_explained_by_its_seeds_alone():
    both = candidate("x", vector=3, lexical=40)
    link = related("a", "x", 0.9, DAY)
    assert steps([candidate("a", vector=0), both], [link]) == ["seed vector", "seed lexical"]
    assert steps([candidate("x", lexical=99)]) == ["seed lexical"]


def test_the_strongest_link_wins_then_the_lower_id():
    starts = [candidate("a", vector=0), candidate("b", vector=1), candidate("c", vector=2)]
    links = [related("a", "x", 0.7, DAY), related("b", "x", 0.9, DAY), related("c", "x", 0.9, DAY)]
    assert steps([*starts, candidate("x")], links) == ["seed vector", "RELATED 0.90 from b"]


def test_related_before_follows_before_source():
    entries = [candidate("a", vector=0, source="s"), candidate("x", source="s")]
    link, chain = related("a", "x", 0.3, DAY), follows("a", "x")
    assert steps(entries, [link, chain]) == ["seed vector", "RELATED 0.30 from a"]
    assert steps(entries, [chain]) == ["seed vector", "FOLLOWS from a"]
    assert steps(entries) == ["seed vector", "source of a"]


def test_a_shorter_chain_beats_a_better_kind():
    entries = [candidate("a", lexical=0, source="s"), candidate("b"), candidate("x", source="s")]
    links = [related("a", "b", 0.9, DAY), related("b", "x", 0.9, DAY)]
    assert steps(entries, links, hops=2) == ["seed lexical", "source of a"]


def test_a_chain_of_two_hops_takes_the_greatest_product():
    entries = [candidate("a", vector=0), *map(candidate, "bcx")]
    links = [
        related("a", "b", 0.9, DAY), related("a", "c", 0.5, DAY),
        related("b", "x", 0.6, DAY), related("c", "x", 0.95, DAY),
    ]  # fmt: skip
    assert steps(entries, links, hops=2) == [
        "seed vector", "RELATED 0.90 from a", "RELATED 0.60 from b",
    ]  # fmt: skip


def test_follows_walks_both_ways_within_the_window():
    entries = [candidate("n3", vector=0), *map(candidate, ("n1", "n2", "n4"))]
    links = [follows("n2", "n1"), follows("n3", "n2"), follows("n4", "n3")]
    paths = trace_paths(found(entries, links), query(window=2))
    assert [str(step) for step in paths["n1"]] == [
        "seed vector", "FOLLOWS from n3", "FOLLOWS from n2",
    ]  # fmt: skip
    assert [str(step) for step in paths["n4"]] == ["seed vector", "FOLLOWS from n3"]
    with pytest.raises(InvalidInput, match="'n1'"):
        trace_paths(found(entries, links), query(window=1))


def test_only_seeds_within_expand_start_a_chain():
    entries = [candidate("a", vector=5, lexical=2), candidate("x")]
    link = related("a", "x", 0.8, DAY)
    assert steps(entries, [link], expand=3)[-1] == "RELATED 0.80 from a"
    with pytest.raises(InvalidInput, match="'x'"):
        trace_paths(found(entries, [link]), query(expand=2))


def test_fanout_and_least_weight_bound_what_a_link_explains():
    entries = [candidate("a", vector=0), *map(candidate, "xy")]
    links = [related("a", "x", 0.6, DAY), related("a", "y", 0.8, DAY)]
    with pytest.raises(InvalidInput, match="'x'"):
        trace_paths(found(entries, links), query(fanout=1))
    with pytest.raises(InvalidInput, match="'x'"):
        trace_paths(found(entries, links), query(min_weight=0.7))


def test_the_best_placed_start_speaks_for_a_source():
    entries = [
        candidate("a", vector=4, source="s"), candidate("b", lexical=1, source="s"),
        candidate("x", source="s", importance=0.9), candidate("y", source="t"),
    ]  # fmt: skip
    assert steps(entries[:3], source_notes=1) == ["seed lexical", "source of b"]
    with pytest.raises(InvalidInput, match="'y'"):
        trace_paths(found(entries), query())


def test_an_empty_set_has_no_paths():
    assert trace_paths(found([]), query()) == {}


@given(
    st.lists(st.tuples(st.integers(0, 9), st.integers(0, 9), st.integers(1, 9)), max_size=25),
    st.sets(st.integers(0, 9), min_size=1),
    st.integers(0, 3),
    st.integers(1, 4),
    st.randoms(),
)
def test_what_the_expansion_reaches_is_explained_step_by_step(edges, seeds, hops, fanout, random):
    ids = [f"n{i}" for i in range(10)]
    weights = {
        (min(a, b), max(a, b)): weight / 10 for a, b, weight in edges if a != b
    }  # fmt: skip
    links = [related(ids[a], ids[b], weight, DAY) for (a, b), weight in weights.items()]
    reached = _expand({ids[i] for i in seeds}, links, hops, fanout)
    ranks = {ids[i]: rank for rank, i in enumerate(sorted(seeds))}
    entries = [candidate(note_id, vector=ranks.get(note_id)) for note_id in reached]
    inside = [link for link in links if {*link.pair} <= reached.keys()]
    random.shuffle(inside)
    paths = trace_paths(found(entries, inside), query(hops=hops, fanout=fanout))
    assert paths.keys() == reached.keys()
    for note_id in reached:
        alone = trace_paths(found(entries, inside), query(hops=hops, fanout=fanout), [note_id])
        assert alone == {note_id: paths[note_id]}
    weight_of = {frozenset(link.pair): link.weight for link in links}
    for note_id, path in paths.items():
        assert path[0].kind is StepKind.VECTOR
        assert len(path) - 1 == reached[note_id]
        ends = [*(step.from_id for step in path[1:]), note_id]
        for step, target in zip(path[1:], ends[1:], strict=True):
            assert step.weight == weight_of[frozenset((step.from_id, target))]


def _expand(starts: set[str], links: list[Link], hops: int, fanout: int) -> dict[str, int]:
    """Breadth-first expansion, written as plainly as the contract says it."""
    distance = dict.fromkeys(starts, 0)
    for hop in range(1, hops + 1):
        for note_id in [note_id for note_id, d in distance.items() if d == hop - 1]:
            of_note = [link for link in links if note_id in link.pair]
            of_note.sort(key=lambda link: (-link.weight, link.other(note_id)))
            for link in of_note[:fanout]:
                distance.setdefault(link.other(note_id), hop)
    return distance
