"""Tables with a header row as notes: comma, semicolon, tab or bar between the cells.

A cell is a text and nothing else: what a spreadsheet would take for a formula stays as it
is. An empty cell says nothing.
"""

from __future__ import annotations

import csv
from collections.abc import Iterator, Sequence
from itertools import chain
from typing import BinaryIO

from graphmem.errors import TransferError
from graphmem.transfer.decoding import decode_plain, explain, parse_object
from graphmem.transfer.intake import ImportOptions, Incoming, Item
from graphmem.transfer.lines import bounded_lines
from graphmem.transfer.report import Refusal, Tally

DELIMITERS = (",", ";", "\t", "|")
CONTENT_COLUMNS = ("content", "text")
SOURCE_COLUMNS = {"position": "position", "start": "start", "end": "end"}
LIST_COLUMNS = ("keywords", "tags")
COLUMNS = frozenset(
    {"id", "author", "role", "context", "created_at", "importance", "metadata", "source"}
    | {*CONTENT_COLUMNS, *SOURCE_COLUMNS, *LIST_COLUMNS}
)

_BOM = "\ufeff"


def csv_notes(file: BinaryIO, name: str, options: ImportOptions, tally: Tally) -> Iterator[Item]:
    """Yield the notes of a table.

    Columns named like a note's fields are its fields (``text`` stands for ``content``;
    ``tags`` and ``keywords`` hold several, parted by ``;`` or ``,``; ``metadata`` is a JSON
    object); others are kept as metadata.

    Raises
    ------
    TransferError
        The first row is none, names no column ``content`` or ``text``, or one twice.
    """
    lines = _Counted(file)
    first = next(lines, "").removeprefix(_BOM)
    if not first.strip():
        return
    try:
        rows = csv.reader(chain([first], lines), delimiter=_delimiter(first), strict=True)
        header = next(rows)
    except csv.Error as error:
        raise TransferError(
            f"the first row of {name} is not a row of a table: {error}; nothing was imported"
        ) from error
    columns = _columns(header, name)
    tally.foreign.update(dict.fromkeys(c for c in columns if c not in COLUMNS))
    yield from _notes(rows, lines, columns)


class _Counted(Iterator[str]):
    """The lines of a file and how many were read: a row may take several."""

    def __init__(self, file: BinaryIO) -> None:
        self._lines = bounded_lines(file)
        self.count = 0

    def __next__(self) -> str:
        line = next(self._lines)
        self.count += 1
        return line.decode("utf-8", "surrogateescape")


def _delimiter(header: str) -> str:
    """Return the delimiter that finds most columns of a known name, then most columns."""

    def found(delimiter: str) -> tuple[int, int]:
        cells = next(csv.reader([header], delimiter=delimiter), [])
        return sum(cell.strip().lower() in COLUMNS for cell in cells), len(cells)

    return max(DELIMITERS, key=found)


def _columns(header: Sequence[str], name: str) -> tuple[str, ...]:
    columns = tuple(
        cell.strip().lower() if cell.strip().lower() in COLUMNS else cell.strip() for cell in header
    )
    if not set(columns) & set(CONTENT_COLUMNS):
        shown = ", ".join(repr(column) for column in columns[:12])
        raise TransferError(
            f"{name} has no column 'content' or 'text' in its first row, only {shown}; nothing "
            "was imported. Name the column that holds the notes 'text'"
        )
    twice = next((column for column in columns if column and columns.count(column) > 1), None)
    if twice is not None:
        raise TransferError(f"{name} has the column {twice!r} twice; nothing was imported")
    return columns


def _notes(rows: Iterator[list[str]], lines: _Counted, columns: Sequence[str]) -> Iterator[Item]:
    while True:
        number = lines.count + 1
        try:
            cells = next(rows)
            if not cells:
                continue
            note, _ = decode_plain(_fields(cells, columns))
        except StopIteration:
            return
        except csv.Error as error:
            yield Refusal.at_line(number, f"is not a row of the table: {error}")
        except ValueError as error:
            yield Refusal.at_line(number, explain(error))
        else:
            yield Incoming(note, f"line {number}", number)


def _fields(cells: Sequence[str], columns: Sequence[str]) -> dict[str, object]:
    """Return the fields a row gives; raises ``ValueError`` for cells that cannot be read."""
    if len(cells) != len(columns):
        raise ValueError(f"has {len(cells)} cells where the first row has {len(columns)}")
    fields: dict[str, object] = {}
    place: dict[str, object] = {}
    for column, cell in zip(columns, cells, strict=True):
        if any("\udc80" <= char <= "\udcff" for char in cell):
            raise ValueError("is not UTF-8")
        if not cell or not column:
            continue
        if column in SOURCE_COLUMNS:
            place[SOURCE_COLUMNS[column]] = _whole(column, cell)
        else:
            fields[column] = _value(column, cell)
    if "source" in fields:
        fields["source"] = {"id": fields["source"], **place}
    elif place:
        raise ValueError(f"{next(iter(place))}: needs a source beside it")
    return fields


def _value(column: str, cell: str) -> object:
    if column in LIST_COLUMNS:
        parts = (part.strip() for part in cell.replace(";", ",").split(","))
        return [part for part in parts if part]
    if column == "metadata":
        return parse_object(cell)
    if column == "importance":
        try:
            return float(cell)
        except ValueError as error:
            raise ValueError(f"importance: {cell!r} is not a number") from error
    return cell


def _whole(column: str, cell: str) -> int:
    try:
        return int(cell)
    except ValueError as error:
        raise ValueError(f"{column}: {cell!r} is not a whole number") from error
