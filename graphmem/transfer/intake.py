"""Notes on their way from a file into a memory: batch by batch, in bounded memory.

A repeated import meets the same notes in the same batches; those that are stored already
are unchanged. So an import that was interrupted is finished by repeating it.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime, tzinfo
from itertools import islice
from typing import TypeAlias

from graphmem.memory import Memory
from graphmem.memory.adding import Progress
from graphmem.model import NoteInput
from graphmem.transfer.report import Refusal, Tally

BATCH = 256
"""Notes stored in one step."""


@dataclass(frozen=True, slots=True)
class Incoming:
    """A note as a reader found it, and where."""

    note: NoteInput
    place: str
    number: int | None = None

    def refused(self, reason: str) -> Refusal:
        """Return the refusal of this note."""
        return Refusal(self.place, reason, self.number)


Item: TypeAlias = Incoming | Refusal
"""What a reader yields, in the order of the file."""


@dataclass(frozen=True, slots=True)
class ImportOptions:
    """How an import is done.

    Attributes
    ----------
    dry_run
        Report only; nothing is written.
    overwrite
        An export replaces notes of the same id that are in another state.
    zone
        The zone of times that are written without one.
    name
        What the sources of a Markdown folder are called by; its own name by default.
    progress
        Called as ``progress(notes done, None)``.
    """

    dry_run: bool = False
    overwrite: bool = False
    zone: tzinfo | None = None
    name: str | None = None
    progress: Progress | None = None


def take_in(memory: Memory, items: Iterator[Item], options: ImportOptions, tally: Tally) -> None:
    """Add what a reader yields, or with ``dry_run`` tell what would become of it."""
    while batch := list(islice(items, BATCH)):
        incoming = [item for item in batch if isinstance(item, Incoming)]
        refused = _store(memory, incoming, options, tally)
        for item in batch:
            if isinstance(item, Refusal):
                tally.rejected.add(item)
            elif id(item) in refused:
                tally.rejected.add(item.refused(refused[id(item)]))
        if options.progress is not None:
            options.progress(tally.done, None)


def _store(
    memory: Memory, incoming: Sequence[Incoming], options: ImportOptions, tally: Tally
) -> dict[int, str]:
    """Add one batch; return the reasons of what was rejected, by identity of the item."""
    notes = [_timed(item.note, options) for item in incoming]
    if not notes:
        return {}
    report = memory.preview(notes) if options.dry_run else memory.add_many(notes)
    tally.count(report)
    return {id(incoming[index]): reason for index, reason in report.rejected}


def _timed(note: NoteInput, options: ImportOptions) -> NoteInput:
    moment = note.created_at
    if options.zone is None or moment is None or moment.tzinfo is not None:
        return note
    return replace(note, created_at=moment.replace(tzinfo=options.zone))


def zoned(moment: datetime | None, options: ImportOptions, tally: Tally) -> datetime | None:
    """Return a time of a format that knows no zones: in the given one, else in UTC.

    A time that was read as UTC for want of a zone is counted.
    """
    if moment is None or moment.tzinfo is not None:
        return moment
    if options.zone is None:
        tally.read_as_utc += 1
    return moment.replace(tzinfo=options.zone or UTC)
