"""``import_path`` and ``import_stream``: notes of any known form into a memory."""

from __future__ import annotations

import os
import time
import zipfile
from collections.abc import Callable, Iterator
from dataclasses import replace
from datetime import tzinfo
from pathlib import Path
from typing import BinaryIO, TypeAlias

from graphmem.errors import TransferError
from graphmem.memory import Memory
from graphmem.memory.adding import Progress
from graphmem.transfer.archives import chat_members, opened_archive, opened_member
from graphmem.transfer.chatgpt import chatgpt_notes
from graphmem.transfer.claude import claude_notes
from graphmem.transfer.csv_notes import csv_notes
from graphmem.transfer.files import is_folder, readable
from graphmem.transfer.formats import Format, detected_format, named_format
from graphmem.transfer.intake import ImportOptions, Item, take_in
from graphmem.transfer.jsonl import read_jsonl
from graphmem.transfer.lines import bounded_lines
from graphmem.transfer.log_notes import log_notes
from graphmem.transfer.markdown_import import import_markdown
from graphmem.transfer.recoding import utf8
from graphmem.transfer.report import ImportReport, Refusal, Tally

AUTO = "auto"

Reader: TypeAlias = Callable[[BinaryIO, str, ImportOptions, Tally], Iterator[Item]]
_READERS: dict[Format, Reader] = {
    Format.CSV: csv_notes,
    Format.CHATGPT: chatgpt_notes,
    Format.CLAUDE: claude_notes,
    Format.LOG: log_notes,
}
_CHATS = (Format.CHATGPT, Format.CLAUDE)


def import_path(
    memory: Memory,
    path: str | Path,
    *,
    format: str = AUTO,  # noqa: A002  # as the command line calls it
    dry_run: bool = False,
    overwrite: bool = False,
    zone: tzinfo | None = None,
    encoding: str | None = None,
    name: str | None = None,
    progress: Progress | None = None,
) -> ImportReport:
    """Bring the notes of a file or a Markdown folder into the memory's namespace.

    What cannot be used is reported with its place and reason, and the rest is imported.
    Notes are stored batch by batch in bounded memory. An import that was interrupted is
    finished by repeating it: what is there already is unchanged.

    Parameters
    ----------
    format
        ``jsonl`` (plain notes or an export of graphmem), ``csv``, ``chatgpt``, ``claude``
        (``conversations.json`` or the archive it came in), ``log`` (``speaker: text``),
        ``markdown`` (a folder or one file), or ``auto`` to tell by name and content.
    dry_run
        Report only; nothing is written.
    overwrite
        An export of graphmem replaces notes of the same id that are in another state.
    zone
        The zone of times that are written without one. By default ``log`` and ``markdown``
        take UTC and say so, the others refuse such times.
    encoding
        How ``jsonl``, ``csv`` and ``log`` files are encoded, such as ``windows-1252``. By
        default UTF-8, or UTF-16 where the file begins with its mark.
    name
        What the sources of a log or Markdown folder are called by; its own name by
        default.
    progress
        Called as ``progress(notes done, None)``.

    Raises
    ------
    TransferError
        The file or folder cannot be read, or is not of that form; the message says what
        was imported before that.
    """
    place = Path(path)
    options = ImportOptions(dry_run, overwrite, zone, name, progress)
    is_folder(place)  # what cannot be there is told before anything is asked of it
    chosen = detected_format(place) if format == AUTO else named_format(format)
    if chosen is Format.MARKDOWN:
        return import_markdown(memory, place, options)
    before = _version(place)
    if chosen in _CHATS and place.is_file() and zipfile.is_zipfile(place):
        report = _import_archive(memory, place, chosen, options)
    else:
        with readable(place) as file:
            recoded = utf8(file, place.name, encoding)
            report = _import_file(memory, recoded, place.name, chosen, options)
    return report if _version(place) == before else _with(report, _changed(place))


def import_stream(
    memory: Memory,
    file: BinaryIO,
    *,
    format: str,  # noqa: A002  # as the command line calls it
    name: str = "stdin",
    dry_run: bool = False,
    overwrite: bool = False,
    zone: tzinfo | None = None,
    encoding: str | None = None,
    progress: Progress | None = None,
) -> ImportReport:
    """Import what a binary stream gives; as :func:`import_path`, but `format` must be said.

    Raises
    ------
    TransferError
        The stream is not of that form, or the format is a folder.
    """
    chosen = Format.JSONL if format == AUTO else named_format(format)
    if chosen is Format.MARKDOWN:
        raise TransferError("Markdown is read from a folder or file, not from a stream")
    options = ImportOptions(dry_run, overwrite, zone, None, progress)
    return _import_file(memory, utf8(file, name, encoding), name, chosen, options)


def _import_file(
    memory: Memory, file: BinaryIO, name: str, chosen: Format, options: ImportOptions
) -> ImportReport:
    if chosen is Format.JSONL:
        return read_jsonl(memory, bounded_lines(file), options)
    started = time.monotonic()
    tally = Tally()
    take_in(memory, _READERS[chosen](file, name, options, tally), options, tally)
    return tally.report(dry_run=options.dry_run, seconds=time.monotonic() - started)


def _import_archive(
    memory: Memory, path: Path, chosen: Format, options: ImportOptions
) -> ImportReport:
    started = time.monotonic()
    tally = Tally()

    with opened_archive(path) as archive:
        members = chat_members(archive, path)

        def items() -> Iterator[Item]:
            for info in members:
                with opened_member(archive, info) as file:
                    yield from _READERS[chosen](file, info.filename, options, tally)

        take_in(memory, items(), options, tally)
    return tally.report(dry_run=options.dry_run, seconds=time.monotonic() - started)


def _version(path: Path) -> tuple[int, int, int] | None:
    """Return what changes when a file does; ``None`` for what is no file, such as a pipe."""
    try:
        found = path.stat()
    except OSError:
        return None  # opening it tells why, in words
    return (found.st_ino, found.st_size, found.st_mtime_ns) if path.is_file() else None


def _changed(path: Path) -> Refusal:
    return Refusal(
        os.fspath(path), "changed while it was read; what was read is imported, import it again"
    )


def _with(report: ImportReport, refusal: Refusal) -> ImportReport:
    return replace(
        report,
        rejected=(*report.rejected, refusal),
        rejected_count=report.rejected_count + 1,
    )
