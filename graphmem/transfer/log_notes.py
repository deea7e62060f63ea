"""Conversations written down as ``speaker: text``, one message after the other."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from datetime import datetime
from typing import BinaryIO

from graphmem.errors import InvalidInput
from graphmem.memory.entry import MAX_CONTENT
from graphmem.model import NoteInput, Source
from graphmem.transfer.intake import ImportOptions, Incoming, Item, zoned
from graphmem.transfer.lines import Line, bounded_lines, numbered_lines
from graphmem.transfer.report import Refusal, Tally
from graphmem.transfer.times import parse_time

_MESSAGE = re.compile(
    r"""
    (?:
        \[?
        (?:
            (?P<time>
                [0-9]{4}-[0-9]{2}-[0-9]{2}
                (?:[T\ ][0-9]{2}:[0-9]{2}(?::[0-9]{2}(?:[.,][0-9]+)?)?
                   (?:\ ?(?:Z|[+-][0-9]{2}:?[0-9]{2}))?)?
            )
            | (?P<clock>
                (?:[0-9]{1,2}[./][0-9]{1,2}[./][0-9]{2,4},?\ )?  # as messengers write a date
                [0-9]{1,2}:[0-9]{2}(?::[0-9]{2})?(?:[\ \u202f][AaPp]\.?[Mm]\.?)?
            )
        )
        \]?[\s,\u2013-]+
    )?
    (?P<speaker>[^\s:\[\]][^:\[\]]{0,63}):(?:\s+(?P<text>.*))?
    """,
    re.VERBOSE,
)
ASSISTANTS = frozenset({"ai", "assistant", "bot", "chatgpt", "claude"})
"""Speakers whose messages have the role ``assistant``, in lower case."""
_DOTTED = re.compile(r"([0-9]{1,2})\.([0-9]{1,2})\.([0-9]{2}|[0-9]{4}),? ([0-9]{1,2})(:[0-9:]+)")
_MARKS = "\u200e\u200f"
"""Marks of direction that messengers put before a line."""
_ROLES = dict.fromkeys(ASSISTANTS, "assistant") | {"system": "system", "tool": "tool"}


@dataclass(slots=True)
class _Message:
    number: int
    speaker: str
    time: str | None
    clock: str | None
    lines: list[str] = field(default_factory=list)
    length: int = 0
    last: int = 0

    def extend(self, number: int, text: str) -> None:
        """Add a line; blank ones before it are kept. Beyond the longest note nothing is held."""
        if self.length <= MAX_CONTENT:
            self.lines += [""] * (number - self.last - 1) if self.last else []
            self.lines.append(text)
            self.length += len(text) + 1
        self.last = number


def log_notes(file: BinaryIO, name: str, options: ImportOptions, tally: Tally) -> Iterator[Item]:
    """Yield one note a message of a log.

    A line ``speaker: text``, after a time in ISO 8601 or a time of day when there is one,
    begins a message; other lines continue it. Where the first message has a leading time,
    only lines with one begin a message. Times without a zone are read as
    :func:`~graphmem.transfer.intake.zoned` says. So are WhatsApp's dates with dots (day,
    month, year); those with slashes may begin with day or month and are kept as metadata.
    """
    source = options.name or name
    position = 0
    for found in _messages(numbered_lines(bounded_lines(file))):
        if isinstance(found, Refusal):
            yield found
            continue
        position += 1
        try:
            yield _note(found, Source(source, position=position), options, tally)
        except InvalidInput as error:
            yield Refusal.at_line(found.number, str(error))


def _messages(lines: Iterator[Line]) -> Iterator[_Message | Refusal]:
    current: _Message | None = None
    timed: bool | None = None
    for line in lines:
        begun = None if line.problem else _begun(line, timed)
        if begun is not None:
            if current is not None:
                yield current
            current = begun
            timed = bool(begun.time or begun.clock) if timed is None else timed
        elif line.problem is not None:
            yield Refusal.at_line(line.number, line.problem)
        elif current is None:
            yield Refusal.at_line(line.number, "comes before the first 'speaker: text'")
        else:
            current.extend(line.number, line.text)
    if current is not None:
        yield current


def _begun(line: Line, timed: bool | None) -> _Message | None:
    match = _MESSAGE.fullmatch(line.text.lstrip(_MARKS))
    if match is None:
        return None
    time, clock = match["time"], match["clock"]
    if clock and (dotted := _DOTTED.fullmatch(clock)):
        day, month, year, hour, rest = dotted.groups()
        year = year if len(year) == 4 else f"20{year}"
        time, clock = f"{year}-{month:0>2}-{day:0>2} {hour:0>2}{rest}", None
    if timed and not (time or clock):
        return None
    message = _Message(line.number, match["speaker"].strip(), time, clock)
    message.extend(line.number, match["text"] or "")
    return message


def _note(message: _Message, source: Source, options: ImportOptions, tally: Tally) -> Incoming:
    moment: datetime | None = None
    if message.time is not None:
        written = re.sub(r" (?=Z|[+-])", "", message.time)
        moment = zoned(parse_time(written), options, tally)
    note = NoteInput(
        "\n".join(message.lines).strip("\n"),
        source=source,
        role=_ROLES.get(message.speaker.lower(), "user"),
        author=message.speaker,
        created_at=moment,
        metadata={"time": message.clock} if message.clock else None,
    )
    return Incoming(note, f"line {message.number}", message.number)
