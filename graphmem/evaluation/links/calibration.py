"""Link thresholds proposed from the notes a memory holds, or from labelled pairs of them."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from pydantic import BaseModel, ConfigDict, ValidationError

from graphmem.algorithms.calibration import (
    UNRELATED_SHARE,
    Calibration,
    calibrate_from_labelled_pairs,
    calibrate_from_random_pairs,
)
from graphmem.errors import NotFound, TransferError
from graphmem.memory import Memory
from graphmem.model import NoteRecord, Vector
from graphmem.transfer.lines import numbered_lines

SAMPLE = 2000
"""At most so many notes are paired; some two million pairs tell a tail well enough."""


class LabelledPair(BaseModel):
    """Two notes by id, and whether somebody calls them related."""

    model_config = ConfigDict(frozen=True, extra="forbid", strict=True)

    a: str
    b: str
    related: bool


@dataclass(frozen=True, slots=True)
class LinkProposal:
    """Thresholds for the embedding model a store was built with."""

    model: str | None
    calibration: Calibration


def read_labelled_pairs(path: Path) -> tuple[LabelledPair, ...]:
    """Read labelled pairs from JSON lines.

    Raises
    ------
    TransferError
        The file cannot be read, or a line is no such pair; names the line.
    """
    pairs = []
    try:
        with path.open("rb") as raw:
            for line in numbered_lines(raw):
                pairs.append(LabelledPair.model_validate_json(line.text))
    except OSError as error:
        raise TransferError(f"{path} cannot be read: {error}. Nothing was changed.") from error
    except ValidationError as error:
        problem = error.errors()[0]["msg"]
        raise TransferError(
            f'{path}, line {line.number}: {problem}. Each line is {{"a": NOTE_ID, "b": NOTE_ID, '
            '"related": true}. Nothing was changed.'
        ) from error
    return tuple(pairs)


def propose_from_notes(
    memory: Memory, *, unrelated_share: float | None = None, sample: int = SAMPLE, seed: int = 0
) -> LinkProposal:
    """Propose thresholds from random pairs of the memory's notes.

    Up to `sample` notes are drawn (the same ones every time) and paired each with each;
    archived notes and notes without a vector are left out.

    Raises
    ------
    InvalidInput
        There are too few notes.
    """
    vectors = _drawn(memory.dump(), sample, seed)
    cosines = (vectors @ vectors.T)[np.triu_indices(len(vectors), 1)]
    share = UNRELATED_SHARE if unrelated_share is None else unrelated_share
    made = calibrate_from_random_pairs(
        cosines, unrelated_share=share, policy=memory.policy.links
    )  # fmt: skip
    return LinkProposal(_model(memory), made)


def propose_from_pairs(memory: Memory, pairs: Iterable[LabelledPair]) -> LinkProposal:
    """Propose thresholds from labelled pairs of the memory's notes.

    Raises
    ------
    NotFound
        A pair names a note the memory does not hold with a vector.
    InvalidInput
        The pairs are of one kind only.
    """
    given = tuple(pairs)
    wanted = {note_id for pair in given for note_id in (pair.a, pair.b)}
    vectors = {
        item.note.id: item.embedding
        for item in memory.dump()
        if isinstance(item, NoteRecord) and item.note.id in wanted and item.embedding is not None
    }
    missing = sorted(wanted - vectors.keys())
    if missing:
        raise NotFound(
            f"{len(missing)} labelled notes are not in namespace {memory.namespace!r}, the first "
            f"is {missing[0]!r}; nothing was changed"
        )
    cosines = [float(vectors[pair.a] @ vectors[pair.b]) for pair in given]
    made = calibrate_from_labelled_pairs(
        cosines, [pair.related for pair in given], policy=memory.policy.links
    )
    return LinkProposal(_model(memory), made)


def _drawn(records: Iterable[object], sample: int, seed: int) -> Vector:
    """Draw vectors in one pass (reservoir sampling, Vitter 1985), shape (at most sample, d)."""
    generator = np.random.default_rng(seed)
    kept: list[Vector] = []
    seen = 0
    for item in records:
        if not isinstance(item, NoteRecord) or item.embedding is None or item.note.archived:
            continue
        seen += 1
        if len(kept) < sample:
            kept.append(item.embedding)
        elif (place := int(generator.integers(seen))) < sample:
            kept[place] = item.embedding
    return np.stack(kept) if kept else np.zeros((0, 1), dtype=np.float32)


def _model(memory: Memory) -> str | None:
    model = memory.stats().model
    return None if model is None else model.model_id
