"""Links a person made: pairs of notes tied by hand, whatever their similarity."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

import numpy as np

from graphmem.memory.entry import checked_many, checked_pair
from graphmem.memory.setup import Setup, not_found
from graphmem.model import Link, LinkKind, Note, Vector, WritePlan
from graphmem.ports import ScopeReader

WEIGHT_BY_HAND = 1.0
"""A link a person made starts as strong as a link can be."""


def connect(setup: Setup, pairs: Iterable[tuple[str, str]]) -> tuple[Link, ...]:
    """Tie each pair of notes by a RELATED link, in one write; return the links it made.

    Raises
    ------
    NotFound
        An id names no visible note; nothing was linked.
    """
    ends = [checked_pair(pair) for pair in checked_many(pairs, "pairs")]
    wanted = sorted({(min(pair), max(pair)) for pair in ends if pair[0] != pair[1]})
    made: tuple[Link, ...] = ()

    def decide(reader: ScopeReader) -> WritePlan:
        nonlocal made
        made = _missing(setup, reader, wanted)
        return WritePlan(links=made)

    if wanted:
        setup.store.write(setup.scope, decide)
    return made


def _missing(setup: Setup, reader: ScopeReader, wanted: list[tuple[str, str]]) -> tuple[Link, ...]:
    ids = sorted({note_id for pair in wanted for note_id in pair})
    notes = reader.notes(ids)
    unknown = [note_id for note_id in ids if note_id not in notes]
    if unknown:
        raise not_found(unknown, setup.scope)
    there = {link.pair for link in reader.links(ids) if link.kind is LinkKind.RELATED}
    vectors = reader.vectors(ids)
    now = setup.now()
    return tuple(
        Link(*pair, weight=WEIGHT_BY_HAND, cosine=_cosine(vectors, pair), created_at=now)
        for pair in wanted
        if pair not in there and _linkable(pair, notes, vectors)
    )


def _linkable(
    pair: tuple[str, str], notes: Mapping[str, Note], vectors: Mapping[str, Vector]
) -> bool:
    """Whether both ends take links: archived notes do not, and a cosine needs two vectors."""
    return all(note_id in vectors and not notes[note_id].archived for note_id in pair)


def _cosine(vectors: Mapping[str, Vector], pair: tuple[str, str]) -> float:
    """Return the raw cosine, summed in float64 as the stores do."""
    a, b = (vectors[note_id].astype(np.float64) for note_id in pair)
    return min(1.0, max(-1.0, float(a @ b)))
