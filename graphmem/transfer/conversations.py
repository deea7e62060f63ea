"""What the readers of chat exports share: a JSON array of conversations, one at a time."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import BinaryIO

import ijson

from graphmem.errors import TransferError

LARGEST_CONVERSATION = 256 * 1024 * 1024
"""Bytes of JSON that may stand between the ends of two conversations."""


DEEPEST = 200
"""How deep an element may nest."""


@dataclass(frozen=True, slots=True)
class Spoken:
    """The text of a message and the kinds of its parts that are no text."""

    text: str
    parts: tuple[str, ...] = ()

    @classmethod
    def of(cls, parts: Sequence[str | Named]) -> Spoken:
        """Join parts: a text stands as it is, anything else by its name in brackets."""
        shown = [part if isinstance(part, str) else f"[{part.name}]" for part in parts]
        names = tuple(part.name for part in parts if isinstance(part, Named))
        return cls("\n".join(text for text in shown if text), names)


@dataclass(frozen=True, slots=True)
class Named:
    """A part of a message that is no text, such as a picture or the use of a tool."""

    name: str


class _Metered:
    """A file that refuses to go on when one conversation takes too much of it."""

    def __init__(self, file: BinaryIO, name: str) -> None:
        self._file = file
        self._name = name
        self.taken = 0

    def read(self, size: int = -1) -> bytes:
        data = self._file.read(size)
        self.taken += len(data)
        if self.taken > LARGEST_CONVERSATION:
            raise TransferError(
                f"{self._name} has a part of more than {LARGEST_CONVERSATION} bytes that is one "
                "value; what came before it was imported"
            )
        return data


def conversations(file: BinaryIO, name: str) -> Iterator[object]:
    """Yield the elements of a JSON array while the file is read.

    Raises
    ------
    ValueError
        The file is not JSON, or was cut off; the elements before were yielded.
    TransferError
        One element is larger than `LARGEST_CONVERSATION`.
    """
    metered = _Metered(file, name)
    try:
        for element in _elements(ijson.basic_parse(metered, use_float=True)):
            metered.taken = 0
            yield element
    except ijson.JSONError as error:
        raise ValueError(f"is not whole JSON from here on: {_reason(error)}") from error


def _reason(error: ijson.JSONError) -> str:
    """Return the first line of a message, which the parser gives as text or bytes."""
    said = error.args[0] if error.args else ""
    text = said.decode("utf-8", "replace") if isinstance(said, bytes) else str(said)
    return text.strip().partition("\n")[0] or "it was cut off"


def _elements(events: Iterator[tuple[str, object]]) -> Iterator[object]:
    """Yield the elements of the array that the events of a parser describe.

    The parser's own way to do so takes time by the square of the depth, so the depth is
    bounded here.
    """
    start = next(events, None)
    if start is not None and start[0] != "start_array":
        raise ValueError("is no JSON array of conversations")
    builder, depth = ijson.ObjectBuilder(), 0
    for event, value in events:
        if event in ("start_map", "start_array"):
            depth += 1
        elif event in ("end_map", "end_array"):
            depth -= 1
        if depth > DEEPEST:
            raise ValueError(f"nests deeper than {DEEPEST}")
        if depth < 0:
            continue  # the end of the array; what comes after it is still checked
        builder.event(event, value)
        if depth == 0:
            yield builder.value
            builder = ijson.ObjectBuilder()


def moment_of(seconds: float | None) -> datetime | None:
    """Return a time from the seconds since 1970 that an export gives.

    Raises
    ------
    ValueError
        No such time exists.
    """
    if seconds is None:
        return None
    try:
        return datetime.fromtimestamp(seconds, UTC)
    except (OverflowError, OSError, ValueError) as error:
        raise ValueError(f"time {seconds!r} does not exist") from error
