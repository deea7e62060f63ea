"""Chat exports as they are downloaded: a ZIP archive with ``conversations.json`` in it.

Nothing is unpacked to disk, so no name in an archive can lead anywhere; such names are
refused all the same. Sizes are checked before anything is read.
"""

from __future__ import annotations

import lzma
import re
import struct
import zipfile
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path, PurePosixPath
from typing import BinaryIO

from graphmem.errors import TransferError

LARGEST_MEMBER = 4 * 1024**3
"""Bytes a file within an archive may unpack to."""
HIGHEST_RATIO = 200
"""How many times larger than its packed form it may be, beyond the first megabytes."""
FREE_SIZE = 64 * 1024**2
"""Bytes below which the ratio is not looked at."""

_CONVERSATIONS = re.compile(r"conversations(?:-[0-9]+)?\.json")
_ENCRYPTED = 0x1


@contextmanager
def opened_archive(path: Path) -> Iterator[zipfile.ZipFile]:
    """Open an archive to read.

    Raises
    ------
    TransferError
        It is not there, or damaged.
    """
    try:
        with _directory_read(path) as archive:
            yield archive
    except OSError as error:
        raise TransferError(f"cannot read {path}: {error.strerror or error}") from error
    except (zipfile.BadZipFile, zlib.error, lzma.LZMAError, NotImplementedError, EOFError) as error:
        raise TransferError(
            f"{path} is a damaged archive: {error}; what was read before that is kept, download "
            "it again"
        ) from error


def _directory_read(path: Path) -> zipfile.ZipFile:
    try:
        return zipfile.ZipFile(path)
    except (ValueError, struct.error) as error:  # names and numbers that cannot be
        raise zipfile.BadZipFile(str(error)) from error


def chat_members(archive: zipfile.ZipFile, path: Path) -> list[zipfile.ZipInfo]:
    """Return the files of conversations within an archive, in order of their names.

    Raises
    ------
    TransferError
        There is none, or one is encrypted, leads out of the archive, or would unpack to
        more than is sensible; nothing was imported.
    """
    found = [info for info in archive.infolist() if _CONVERSATIONS.fullmatch(_name(info))]
    if not found:
        raise TransferError(
            f"{path} holds no conversations.json, so it is no ChatGPT or Claude export; nothing "
            "was imported"
        )
    for info in found:
        problem = _problem(info)
        if problem:
            raise TransferError(f"{path}: {info.filename!r} {problem}; nothing was imported")
    return sorted(found, key=lambda info: info.filename)


@contextmanager
def opened_member(archive: zipfile.ZipFile, info: zipfile.ZipInfo) -> Iterator[BinaryIO]:
    """Open one file of an archive; it yields no more than the size that was checked."""
    try:
        opened = archive.open(info)
    except (ValueError, struct.error) as error:  # as above, in front of the file itself
        raise zipfile.BadZipFile(str(error)) from error
    with opened as file:
        yield file  # type: ignore[misc]  # has all of BinaryIO that readers use


def _name(info: zipfile.ZipInfo) -> str:
    return PurePosixPath(info.filename.replace("\\", "/")).name


def _problem(info: zipfile.ZipInfo) -> str | None:
    parts = PurePosixPath(info.filename.replace("\\", "/")).parts
    if ".." in parts or info.filename.startswith(("/", "\\")):
        return "leads out of the archive"
    if info.flag_bits & _ENCRYPTED:
        return "is encrypted; unpack it with its password and import the file"
    if info.file_size > LARGEST_MEMBER:
        return f"would unpack to {info.file_size} bytes, more than {LARGEST_MEMBER}"
    packed = max(info.compress_size, 1)
    if info.file_size > FREE_SIZE and info.file_size / packed > HIGHEST_RATIO:
        return f"would unpack to {info.file_size // packed} times its size"
    return None
