"""How each candidate came into the set a recall ranks."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence, Set
from itertools import chain, product
from typing import TypeAlias

from graphmem.errors import InvalidInput
from graphmem.model import (
    Candidate,
    CandidateQuery,
    CandidateSet,
    Link,
    LinkKind,
    Step,
    StepKind,
)

Path: TypeAlias = tuple[Step, ...]

_NO_STEPS: Path = ()
_BY_VECTOR, _BY_WORDS = Step(StepKind.VECTOR), Step(StepKind.LEXICAL)
_SEEDS: Mapping[tuple[bool, bool], Path] = {
    (True, False): (_BY_VECTOR,),
    (False, True): (_BY_WORDS,),
    (True, True): (_BY_VECTOR, _BY_WORDS),
}
"""Seed steps of a candidate found by vector, by words, or both."""


def trace_paths(
    candidate_set: CandidateSet, query: CandidateQuery, wanted: Iterable[str] | None = None
) -> Mapping[str, Path]:
    """Trace how candidates were found, by the rule of ``NoteStore.candidates``.

    A seed is explained by its seed steps. Any other candidate is explained by the seed
    steps of a start of the expansion, followed by the shortest chain from there. Among
    chains of one length RELATED comes before FOLLOWS before the same source; then the
    strongest RELATED chain wins (product of its weights), or the better placed start;
    then the lower id.

    Parameters
    ----------
    candidate_set
        Candidates and the links among them.
    query
        The query the set answers: its limits say where the expansion started and how far
        it went.
    wanted
        Ids of the candidates to trace; all of them by default.

    Returns
    -------
    mapping of id to tuple of Step
        One path for each candidate wanted; its first step is a seed. ``from_id`` of an edge is
        the candidate the walk came from.

    Raises
    ------
    InvalidInput
        A candidate is neither a seed nor within reach, so the set answers another query.

    Examples
    --------
    >>> from datetime import UTC, datetime
    >>> import numpy as np
    >>> from graphmem.model import Note, related
    >>> day = datetime(2025, 5, 7, tzinfo=UTC)
    >>> def note(id):
    ...     return Note(id, "default", id, "user", None, None, day, (), (), "", 0.5, {}, day)
    >>> found = CandidateSet(
    ...     candidates=(
    ...         Candidate(note("n1"), ("seat",), cosine=0.8, vector_rank=0, lexical_rank=0),
    ...         Candidate(note("n2"), ("aisle",), cosine=0.1),
    ...     ),
    ...     links=(related("n1", "n2", 0.83, day),),
    ...     note_count=2, average_terms=1.0, document_frequency={"seat": 1},
    ... )
    >>> paths = trace_paths(found, CandidateQuery(np.zeros(3, np.float32), ("seat",)))
    >>> [str(step) for step in paths["n2"]]
    ['seed vector', 'seed lexical', 'RELATED 0.83 from n1']
    """
    candidates = candidate_set.candidates
    seeds: dict[str, Path] = {}
    placed: list[tuple[int, str]] = []
    for note, _, _, by_vector, by_words, _ in candidates:
        ranks = [rank for rank in (by_vector, by_words) if rank is not None]
        if ranks:
            seeds[note.id] = _SEEDS[by_vector is not None, by_words is not None]
            placed.append((min(ranks), note.id))
    ids = dict.fromkeys((c.note.id for c in candidates) if wanted is None else wanted)
    paths = {note_id: seeds[note_id] for note_id in ids if note_id in seeds}
    if waiting := ids.keys() - paths.keys():
        starts = [note_id for rank, note_id in sorted(placed) if rank < query.expand]
        for note_id, start, steps in _shortest_first(starts, candidate_set, query, waiting):
            paths.setdefault(note_id, seeds[start] + steps)
    if unexplained := sorted(ids.keys() - paths.keys()):
        raise InvalidInput(
            f"candidate {unexplained[0]!r} is neither a seed nor reached by the expansion; "
            "trace a set with the query it answers"
        )
    return paths


def _shortest_first(
    starts: Sequence[str], found: CandidateSet, query: CandidateQuery, waiting: Set[str]
) -> Sequence[tuple[str, str, Path]]:
    """Return the chains to those waiting; among chains of one length the better ones first."""
    reached = chain(
        _along_related(starts, found.links, query, waiting),
        _along_follows(starts, found.links, query.window, waiting),
        _within_source(starts, found.candidates, query.source_notes, waiting),
    )
    return sorted(reached, key=lambda chained: len(chained[2]))


_Reached = Iterator[tuple[str, str, Path]]
"""Yields (candidate that waits, start of its chain, steps from there); of the chains of one
length to one candidate the better ones first."""


def _along_related(
    starts: Sequence[str], links: Iterable[Link], query: CandidateQuery, waiting: Set[str]
) -> _Reached:
    strong = [x for x in links if x.kind is LinkKind.RELATED and x.weight >= query.min_weight]
    near = (x.pair for x in strong if x.from_id in waiting or x.to_id in waiting)
    beside = set(chain.from_iterable(near))
    frontier = [(1.0, start, start, _NO_STEPS) for start in starts]
    reached = set(starts)
    for hop in range(1, query.hops + 1):
        if hop == query.hops:  # the last step leads to those waiting, or nowhere
            frontier = [walk for walk in frontier if walk[1] in beside]
        neighbours = _neighbours({at for _, at, _, _ in frontier}, strong)
        walks = [
            (strength * -negated, at, other, start, (*steps, Step(StepKind.RELATED, at, -negated)))
            for strength, at, start, steps in frontier
            for negated, other in sorted(neighbours[at])[: query.fanout]
            if other not in reached and (hop < query.hops or other in waiting)
        ]
        frontier = []
        for strength, _at, other, start, steps in sorted(walks, key=_strongest_walk):
            if other not in reached:
                reached.add(other)
                frontier.append((strength, other, start, steps))
                if other in waiting:
                    yield other, start, steps


def _neighbours(ids: Set[str], links: Iterable[Link]) -> Mapping[str, list[tuple[float, str]]]:
    """Return negated weight and other end of the links of each of these notes."""
    found: defaultdict[str, list[tuple[float, str]]] = defaultdict(list)
    for link in links:
        low, high = link.from_id, link.to_id
        if low in ids:
            found[low].append((-link.weight, high))
        if high in ids:
            found[high].append((-link.weight, low))
    return found


def _strongest_walk(walk: tuple[float, str, str, str, Path]) -> tuple[float, str]:
    return -walk[0], walk[1]


def _along_follows(
    starts: Sequence[str], links: Iterable[Link], window: int, waiting: Set[str]
) -> _Reached:
    before: dict[str, str] = {}
    after: dict[str, str] = {}
    for link in links:
        if link.kind is LinkKind.FOLLOWS:
            before[link.from_id] = link.to_id
            after[link.to_id] = link.from_id
    for start, way in product(starts, (before, after)):
        walk = [start]
        while len(walk) <= window and walk[-1] in way:
            walk.append(way[walk[-1]])
            if walk[-1] in waiting:
                yield walk[-1], start, tuple(Step(StepKind.FOLLOWS, at, 1.0) for at in walk[:-1])


def _within_source(
    starts: Sequence[str], candidates: Iterable[Candidate], source_notes: int, waiting: Set[str]
) -> _Reached:
    placed = [(note, note.source.id) for note, *_ in candidates if note.source is not None]
    source_of = {note.id: source for note, source in placed}
    asked = {source_of[note_id] for note_id in waiting if note_id in source_of}
    members: defaultdict[str, list[tuple[float, str]]] = defaultdict(list)
    for note, source in placed:
        if source in asked:
            members[source].append((-note.importance, note.id))
    for start in starts:
        common = source_of.get(start)
        if common is None or common not in asked:
            continue
        asked.remove(common)
        for _, other in sorted(members[common])[:source_notes]:
            if other in waiting:
                yield other, start, (Step(StepKind.SOURCE, start),)
