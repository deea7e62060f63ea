"""The forms notes come in, and telling them apart by what a file is called and holds."""

from __future__ import annotations

import zipfile
from enum import StrEnum
from pathlib import Path
from typing import BinaryIO

from graphmem.errors import TransferError
from graphmem.transfer.archives import chat_members, opened_archive, opened_member
from graphmem.transfer.chatgpt import is_chatgpt
from graphmem.transfer.claude import is_claude
from graphmem.transfer.conversations import conversations
from graphmem.transfer.decoding import parse_object
from graphmem.transfer.files import is_folder, readable


class Format(StrEnum):
    """What `import_path` reads."""

    JSONL = "jsonl"
    CSV = "csv"
    CHATGPT = "chatgpt"
    CLAUDE = "claude"
    LOG = "log"
    MARKDOWN = "markdown"


_BY_SUFFIX = {
    ".jsonl": Format.JSONL,
    ".ndjson": Format.JSONL,
    ".csv": Format.CSV,
    ".tsv": Format.CSV,
    ".log": Format.LOG,
    ".txt": Format.LOG,
    ".md": Format.MARKDOWN,
    ".markdown": Format.MARKDOWN,
}
_BEGINNING = 4096


def named_format(name: str) -> Format:
    """Return the format of a name.

    Raises
    ------
    TransferError
        There is no such format.
    """
    try:
        return Format(name)
    except ValueError as error:
        known = ", ".join(Format)
        raise TransferError(f"no format {name!r}; use auto or one of {known}") from error


def detected_format(path: Path) -> Format:
    """Return the format of a file or folder.

    A folder is Markdown; else the suffix tells; else, and for ``.json`` and archives, what
    the file begins with.

    Raises
    ------
    TransferError
        The file cannot be read, or is none of them; nothing was imported.
    """
    if is_folder(path):
        return Format.MARKDOWN
    by_suffix = _BY_SUFFIX.get(path.suffix.lower())
    if by_suffix is not None:
        return by_suffix
    if path.is_file() and zipfile.is_zipfile(path):
        return _of_archive(path)
    with readable(path) as file:
        beginning = file.read(_BEGINNING).removeprefix(b"\xef\xbb\xbf").lstrip()
        file.seek(0)
        if beginning.startswith(b"["):
            return _of_conversations(file, str(path))
    if not beginning or _begins_with_an_object(beginning):
        return Format.JSONL
    raise TransferError(
        f"cannot tell what {path} is; nothing was imported. Say it with format (command line: "
        f"--format), one of {', '.join(Format)}"
    )


def _begins_with_an_object(beginning: bytes) -> bool:
    """Whether the first line is one JSON object, or goes on beyond what was read."""
    first, ended, _ = beginning.partition(b"\n")
    if not ended or not first.startswith(b"{"):
        return first.startswith(b"{")
    try:
        parse_object(first.decode("utf-8"))
    except ValueError:
        return False
    return True


def _of_archive(path: Path) -> Format:
    with opened_archive(path) as archive:
        first = chat_members(archive, path)[0]
        with opened_member(archive, first) as file:
            return _of_conversations(file, f"{path}: {first.filename}")


def _of_conversations(file: BinaryIO, name: str) -> Format:
    try:
        first = next(conversations(file, name), None)
    except ValueError as error:
        raise TransferError(f"{name} {error}; nothing was imported") from error
    if is_chatgpt(first):
        return Format.CHATGPT
    if is_claude(first):
        return Format.CLAUDE
    raise TransferError(
        f"{name} is a JSON array, but its first element is no conversation of a ChatGPT export "
        "('mapping') or Claude export ('chat_messages'); nothing was imported"
    )
