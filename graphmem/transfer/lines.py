"""Text files of one JSON object a line, read as bytes so that no text is cut in two."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

_BOM = b"\xef\xbb\xbf"


@dataclass(frozen=True, slots=True)
class Line:
    """One line that is not blank: its 1-based number, and its text or what is wrong."""

    number: int
    text: str
    problem: str | None = None


@dataclass(frozen=True, slots=True)
class BadLine:
    """A line that was left out: its 1-based number and why."""

    number: int
    reason: str

    def __str__(self) -> str:
        return f"line {self.number}: {self.reason}"


def numbered_lines(raw: Iterable[bytes]) -> Iterator[Line]:
    r"""Yield the lines of a binary file, without BOM, line end and blank lines.

    Only LF and CRLF end a line; other Unicode line boundaries belong to the text.

    Examples
    --------
    >>> [(line.number, line.text) for line in numbered_lines([b"\xef\xbb\xbfa\r\n", b"\n", b"b"])]
    [(1, 'a'), (3, 'b')]
    """
    for number, data in enumerate(raw, start=1):
        content = data.removeprefix(_BOM) if number == 1 else data
        content = content.removesuffix(b"\n").removesuffix(b"\r")
        if not content.strip():
            continue
        try:
            yield Line(number, content.decode("utf-8"))
        except UnicodeDecodeError as error:
            yield Line(number, "", f"is not UTF-8 at byte {error.start + 1}")
