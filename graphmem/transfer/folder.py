"""The Markdown files of a folder: what is walked, what is passed over, and reading one whole."""

from __future__ import annotations

import os
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path

from graphmem.errors import TransferError
from graphmem.transfer.conversations import moment_of
from graphmem.transfer.report import Refusal, Tally

SUFFIXES = frozenset({".md", ".markdown"})
LARGEST_FILE = 16 * 1024 * 1024
"""Bytes of a Markdown file that is read."""
_TRIES = 3


@dataclass(frozen=True, slots=True)
class Found:
    """A Markdown file: where it is, and its name relative to the folder, with ``/``."""

    path: Path
    name: str


@dataclass(frozen=True, slots=True)
class MarkdownText:
    """The text of a file and when it was last written."""

    text: str
    written_at: datetime | None


def markdown_files(root: Path, tally: Tally) -> Iterator[Found | Refusal]:
    """Yield the Markdown files below a folder, in order of their names.

    Hidden files and folders are passed over in silence; other files are counted as
    skipped. Links out of the folder are refused; links to folders within it are skipped,
    as those are walked where they stand.

    Raises
    ------
    TransferError
        The folder cannot be read.
    """
    home = root.resolve()
    waiting = [root]
    while waiting:
        folder = waiting.pop()
        inner: list[Path] = []
        entries = _entries(folder, root)
        if isinstance(entries, Refusal):
            yield entries
            continue
        for entry in entries:
            path = Path(entry.path)
            name = path.relative_to(root).as_posix()
            if entry.is_symlink():
                yield from _linked(path, name, home, tally)
            elif entry.is_dir():
                inner.append(path)
            else:
                yield from _plain(path, name, tally)
        waiting += reversed(inner)


def _entries(folder: Path, root: Path) -> list[os.DirEntry[str]] | Refusal:
    try:
        with os.scandir(folder) as found:
            return sorted(
                (entry for entry in found if not entry.name.startswith(".")),
                key=lambda entry: entry.name,
            )
    except OSError as error:
        if folder == root:
            raise TransferError(f"cannot read {root}: {error.strerror or error}") from error
        name = folder.relative_to(root).as_posix()
        return Refusal(name, f"cannot be read: {error.strerror or error}")


def _linked(path: Path, name: str, home: Path, tally: Tally) -> Iterator[Found | Refusal]:
    target = path.resolve()
    if not target.is_relative_to(home):
        yield Refusal(name, "is a link that leads out of the folder")
    elif target.is_dir():
        tally.skipped.add(Refusal(name, "is a link to a folder that is walked where it stands"))
    else:
        yield from _plain(target, name, tally)


def _plain(path: Path, name: str, tally: Tally) -> Iterator[Found | Refusal]:
    if Path(name).suffix.lower() not in SUFFIXES:
        tally.skipped.add(Refusal(name, "is not Markdown"))
    elif not path.is_file():
        yield Refusal(name, "is no regular file")
    elif _printable(name) != name:
        yield Refusal(_printable(name), "its name is not UTF-8")
    else:
        yield Found(path, name)


def _printable(name: str) -> str:
    return name.encode("utf-8", "replace").decode("utf-8")


def read_markdown(path: Path) -> MarkdownText:
    """Return the text of a file, as it was at one moment.

    Raises
    ------
    ValueError
        It is binary, not UTF-8, too large, cannot be read, or changes all the time.
    """
    data, seconds = _whole(path)
    if b"\0" in data:
        raise ValueError("is binary")
    try:
        text = data.decode("utf-8").removeprefix("\ufeff")
    except UnicodeDecodeError as error:
        raise ValueError(f"is not UTF-8 at byte {error.start + 1}") from error
    return MarkdownText(text, moment_of(seconds))


def _whole(path: Path) -> tuple[bytes, float]:
    try:
        for _ in range(_TRIES):
            with path.open("rb") as file:
                before = os.fstat(file.fileno())
                data = file.read(LARGEST_FILE + 1)
            if len(data) > LARGEST_FILE:
                raise ValueError(f"has more than {LARGEST_FILE} bytes")
            if _version(path.stat()) == _version(before) and len(data) == before.st_size:
                return data, before.st_mtime
    except OSError as error:
        raise ValueError(f"cannot be read: {error.strerror or error}") from error
    raise ValueError("changed while it was read; import it again")


def _version(found: os.stat_result) -> tuple[int, int, int]:
    return found.st_ino, found.st_size, found.st_mtime_ns
