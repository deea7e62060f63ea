"""Copies of a namespace from one store to another."""

from __future__ import annotations

from collections.abc import Iterator

from graphmem.errors import Conflict
from graphmem.memory import Memory
from graphmem.memory.adding import Progress
from graphmem.memory.upkeep import MemoryRecord
from graphmem.model import ModelIdentity
from graphmem.transfer.encoding import Counts


def copy_namespace(
    origin: Memory,
    target: Memory,
    *,
    overwrite: bool = False,
    reembed: bool = False,
    progress: Progress | None = None,
) -> Counts:
    """Copy notes, links, events and counters as they are; return how many.

    Both sides afterwards export the same bytes, apart from notes that only the target had.

    Parameters
    ----------
    overwrite
        Copy into a namespace that holds notes already; those of the same id are replaced.
    reembed
        Leave the vectors behind and let the target's model make new ones.

    Raises
    ------
    Conflict
        The target holds notes and `overwrite` is not set; nothing was copied.
    EmbeddingMismatch
        The two stores were built with different models and `reembed` is not set.
    """
    held = target.stats().notes
    if held and not overwrite:
        raise Conflict(
            f"namespace {target.namespace!r} of the target holds {held} notes already; nothing "
            "was copied; choose another namespace, or overwrite notes of the same id"
        )
    tally = _Tally()
    target.load(tally.passing(origin.dump(vectors=not reembed), keep_model=not reembed), progress)
    return tally.counts


class _Tally:
    def __init__(self) -> None:
        self.counts = Counts()

    def passing(
        self, records: Iterator[MemoryRecord], *, keep_model: bool
    ) -> Iterator[MemoryRecord]:
        for record in records:
            if not isinstance(record, ModelIdentity):
                self.counts = self.counts.plus(record)
                yield record
            elif keep_model:
                yield record
