"""Text files of one JSON object a line, read as bytes so that no text is cut in two."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import BinaryIO

_BOM = b"\xef\xbb\xbf"

LONGEST_LINE = 64 * 1024 * 1024
"""Bytes of a line that are held; a longer one is reported and passed over."""


@dataclass(frozen=True, slots=True)
class Line:
    """One line that is not blank: its 1-based number, and its text or what is wrong."""

    number: int
    text: str
    problem: str | None = None


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
        if len(data) > LONGEST_LINE:
            yield Line(number, "", f"has more than {LONGEST_LINE} bytes")
            continue
        try:
            yield Line(number, content.decode("utf-8"))
        except UnicodeDecodeError as error:
            yield Line(number, "", f"is not UTF-8 at byte {error.start + 1}")


def bounded_lines(file: BinaryIO, longest: int = LONGEST_LINE) -> Iterator[bytes]:
    r"""Yield the lines of a binary file, of an overlong one its beginning only.

    Examples
    --------
    >>> from io import BytesIO
    >>> list(bounded_lines(BytesIO(b"ab\nabcdef\nc"), longest=3))
    [b'ab\n', b'abcd', b'c']
    """
    while line := file.readline(longest + 1):
        rest = line
        while len(rest) > longest and not rest.endswith(b"\n"):
            rest = file.readline(longest + 1)
        yield line
