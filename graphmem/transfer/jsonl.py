"""A namespace as a file of JSON lines: written whole, read back line by line.

An export is a header, the notes by id, the stored links by pair, the events by note and
revision, and a last line that counts them. FOLLOWS is derived from positions and not
written; terms are derived from the text; vectors are written when asked for.
"""

from __future__ import annotations

import time
from collections import deque
from collections.abc import Iterable, Iterator
from dataclasses import replace
from itertools import chain
from typing import BinaryIO

from graphmem.errors import TransferError
from graphmem.memory import Memory
from graphmem.memory.adding import Progress
from graphmem.model import ModelIdentity
from graphmem.transfer.decoding import (
    decode_header,
    decode_plain,
    explain,
    is_header,
    parse_object,
)
from graphmem.transfer.encoding import Counts, encode, encode_end, encode_header
from graphmem.transfer.intake import ImportOptions, Incoming, Item, take_in
from graphmem.transfer.lines import Line, numbered_lines
from graphmem.transfer.records import HeaderLine
from graphmem.transfer.report import ImportReport, Refusal, Tally
from graphmem.transfer.restoring import Restoration


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
    return read_jsonl(memory, raw, ImportOptions(overwrite=overwrite, progress=progress))


def read_jsonl(memory: Memory, raw: Iterable[bytes], options: ImportOptions) -> ImportReport:
    """Import as :func:`import_jsonl` does, with all options."""
    started = time.monotonic()
    lines = numbered_lines(raw)
    first = next(lines, None)
    header = None if first is None else _header(first)
    rest = lines if first is None else chain([first], lines)
    if header is None:
        tally = Tally()
        take_in(memory, plain_notes(rest, tally), options, tally)
        report = tally.report(dry_run=options.dry_run, seconds=0.0)
    else:
        report = _restore(memory, header, lines, options)
    return replace(report, seconds=time.monotonic() - started)


def _header(line: Line) -> HeaderLine | None:
    try:
        fields = parse_object(line.text)
    except ValueError:
        return None  # a line that cannot be read is reported where notes are read
    return decode_header(fields) if is_header(fields) else None


def _restore(
    memory: Memory, header: HeaderLine, lines: Iterator[Line], options: ImportOptions
) -> ImportReport:
    restoration = Restoration.into(memory, header, replace=options.overwrite)
    records = restoration.records(lines)
    if options.dry_run:
        deque(records, maxlen=0)
    else:
        memory.load(records, options.progress)
    return ImportReport(
        added=restoration.added,
        revised=restoration.replaced,
        unchanged=restoration.unchanged,
        rejected=restoration.rejected.listed,
        rejected_count=restoration.rejected.count,
        links=restoration.links,
        events=restoration.events,
        dry_run=options.dry_run,
    )


def plain_notes(lines: Iterator[Line], tally: Tally) -> Iterator[Item]:
    """Yield the notes of lines that are one JSON object each."""
    for line in lines:
        try:
            if line.problem is not None:
                raise ValueError(line.problem)
            note, foreign = decode_plain(parse_object(line.text))
        except ValueError as error:
            yield Refusal.at_line(line.number, explain(error))
            continue
        tally.foreign.update(dict.fromkeys(foreign))
        yield Incoming(note, f"line {line.number}", line.number)
