"""A namespace as a file of JSON lines: written whole, read back line by line.

An export is a header, the notes by id, the RELATED links by pair, the events by note and
revision, and a last line that counts them. FOLLOWS is derived from positions and not
written; terms are derived from the text; vectors are written when asked for.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, replace
from itertools import chain
from typing import BinaryIO, TypeAlias

from graphmem.errors import TransferError
from graphmem.memory import Memory
from graphmem.model import ModelIdentity, NoteInput
from graphmem.transfer.decoding import (
    decode_header,
    decode_plain,
    explain,
    is_header,
    parse_object,
)
from graphmem.transfer.encoding import Counts, encode, encode_end, encode_header
from graphmem.transfer.lines import BadLine, Line, numbered_lines
from graphmem.transfer.records import HeaderLine
from graphmem.transfer.restoring import Restoration

Progress: TypeAlias = Callable[[int, int | None], None]


@dataclass(frozen=True, slots=True)
class ImportReport:
    """What one import did.

    Attributes
    ----------
    added, revised, unchanged
        Notes by what became of them.
    rejected
        Lines that were left out, in order, each with its reason.
    links, events
        Records of an export that were stored as they are.
    kept_as_metadata
        Names of fields that are not a note's own and went to its metadata.
    seconds
        Duration.
    """

    added: int
    revised: int
    unchanged: int
    rejected: tuple[BadLine, ...]
    links: int = 0
    events: int = 0
    kept_as_metadata: tuple[str, ...] = ()
    seconds: float = 0.0


def export_jsonl(memory: Memory, out: BinaryIO, *, vectors: bool = False) -> Counts:
    """Write everything the memory's namespace holds; return how many records.

    Equal namespaces give equal bytes. Without `vectors` the notes are embedded anew at
    import.
    """
    records = memory.dump(vectors=vectors)
    first = next(records, None)
    model = first if isinstance(first, ModelIdentity) else None
    if first is not None and model is None:
        records = chain([first], records)
    counts = Counts()
    _write(out, encode_header(memory.namespace, model))
    for record in records:
        if isinstance(record, ModelIdentity):
            raise TransferError("the memory names two models; run graphmem check")
        _write(out, encode(record, vectors=vectors))
        counts = counts.plus(record)
    _write(out, encode_end(counts))
    return counts


def _write(out: BinaryIO, line: str) -> None:
    out.write(line.encode("utf-8") + b"\n")


def import_jsonl(
    memory: Memory,
    raw: Iterable[bytes],
    *,
    overwrite: bool = False,
    progress: Progress | None = None,
) -> ImportReport:
    """Read notes, or an export, into the memory's namespace.

    A line that cannot be used is reported by number and the others are stored. The notes
    of a plain file are added as by ``add_many``. An export is stored as it is, counters and
    history included, and what is there is kept: a note whose id is taken by another state
    is rejected, unless `overwrite` is set.

    Parameters
    ----------
    raw
        Lines of a binary file.
    progress
        Called as ``progress(notes done, None)``.

    Raises
    ------
    TransferError
        The header of an export cannot be read.
    """
    started = time.monotonic()
    lines = numbered_lines(raw)
    first = next(lines, None)
    if first is None:
        return ImportReport(0, 0, 0, ())
    header = _header(first)
    if header is None:
        report = _add(memory, chain([first], lines), progress)
    else:
        report = _restore(memory, header, lines, overwrite, progress)
    return replace(report, seconds=time.monotonic() - started)


def _header(line: Line) -> HeaderLine | None:
    try:
        fields = parse_object(line.text)
    except ValueError:
        return None  # a line that cannot be read is reported where notes are read
    return decode_header(fields) if is_header(fields) else None


def _restore(
    memory: Memory,
    header: HeaderLine,
    lines: Iterator[Line],
    overwrite: bool,
    progress: Progress | None,
) -> ImportReport:
    restoration = Restoration.into(memory, header, replace=overwrite)
    memory.load(restoration.records(lines), progress)
    return ImportReport(
        added=restoration.added,
        revised=restoration.replaced,
        unchanged=restoration.unchanged,
        rejected=tuple(restoration.rejected),
        links=restoration.links,
        events=restoration.events,
    )


def _add(memory: Memory, lines: Iterator[Line], progress: Progress | None) -> ImportReport:
    intake = _Intake()
    report = memory.add_many(intake.inputs(lines), progress=progress)
    refused = [BadLine(intake.numbers[index], reason) for index, reason in report.rejected]
    return ImportReport(
        added=report.added,
        revised=report.revised,
        unchanged=report.unchanged,
        rejected=tuple(sorted(intake.rejected + refused, key=lambda bad: bad.number)),
        links=report.links,
        events=report.evolved,
        kept_as_metadata=tuple(intake.foreign),
    )


class _Intake:
    """Plain lines on their way to ``add_many``, which knows them by index only."""

    def __init__(self) -> None:
        self.numbers: list[int] = []
        self.rejected: list[BadLine] = []
        self.foreign: dict[str, None] = {}

    def inputs(self, lines: Iterator[Line]) -> Iterator[NoteInput]:
        for line in lines:
            try:
                if line.problem is not None:
                    raise ValueError(line.problem)
                note, foreign = decode_plain(parse_object(line.text))
            except ValueError as error:
                self.rejected.append(BadLine(line.number, explain(error)))
                continue
            self.numbers.append(line.number)
            self.foreign.update(dict.fromkeys(foreign))
            yield note
