"""Files and folders to read from and to write whole."""

from __future__ import annotations

import os
import shutil
import stat
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import BinaryIO

from graphmem.errors import TransferError

_READABLE_BY_OWNER = 0o600


def is_folder(path: Path) -> bool:
    """Return whether the path is a folder rather than a file.

    Raises
    ------
    TransferError
        Nothing is there, or nothing can be there: a name too long, or with NUL in it.
    """
    try:
        return stat.S_ISDIR(path.stat().st_mode)
    except (OSError, ValueError) as error:
        said = getattr(error, "strerror", None) or error
        raise TransferError(f"cannot read {path}: {said}") from error


@contextmanager
def readable(path: Path) -> Iterator[BinaryIO]:
    """Open a file to read.

    Raises
    ------
    TransferError
        It is not there, not a file, or cannot be read.
    """
    try:
        with path.open("rb") as raw:
            yield raw
    except OSError as error:
        raise TransferError(f"cannot read {path}: {error.strerror or error}") from error


@contextmanager
def whole_file(path: Path) -> Iterator[BinaryIO]:
    """Yield a file that appears under `path` complete or not at all.

    A new file is readable by its owner only, as notes are private; an existing one keeps
    its permissions. What is no file, such as a pipe or a device, is written to as it is.

    Raises
    ------
    TransferError
        The place cannot be written; what was there is unchanged.
    """
    if path.exists() and not path.is_file() and not path.is_dir():
        with _written_through(path) as out:
            yield out
        return
    try:
        descriptor, name = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}.")
    except OSError as error:
        raise TransferError(f"cannot write {path}: {error.strerror or error}") from error
    scratch = Path(name)
    try:
        with os.fdopen(descriptor, "wb") as out:
            yield out
            out.flush()
            os.fsync(out.fileno())
        scratch.chmod(path.stat().st_mode & 0o777 if path.exists() else _READABLE_BY_OWNER)
        scratch.replace(path)
    except OSError as error:
        raise TransferError(
            f"cannot write {path}: {error.strerror or error}; what was there is unchanged"
        ) from error
    finally:
        scratch.unlink(missing_ok=True)


@contextmanager
def _written_through(path: Path) -> Iterator[BinaryIO]:
    try:
        with path.open("wb") as out:
            yield out
    except OSError as error:
        raise TransferError(f"cannot write {path}: {error.strerror or error}") from error


@contextmanager
def whole_folder(path: Path) -> Iterator[Path]:
    """Yield a folder to write to, which appears under `path` complete or not at all.

    It is readable by its owner only, as notes are private.

    Raises
    ------
    TransferError
        Something is there already that is no empty folder, or the place cannot be written;
        what was there is unchanged.
    """
    try:
        taken = path.exists() and not (path.is_dir() and next(path.iterdir(), None) is None)
    except (OSError, ValueError) as error:
        raise TransferError(f"cannot write {path}: {error}") from error
    if taken:
        raise TransferError(
            f"{path} is there already; nothing was written. Name a folder that is not there yet"
        )
    try:
        scratch = Path(tempfile.mkdtemp(dir=path.parent, prefix=f".{path.name}."))
    except OSError as error:
        raise TransferError(f"cannot write {path}: {error.strerror or error}") from error
    try:
        yield scratch
        scratch.replace(path)
    except OSError as error:
        raise TransferError(f"cannot write {path}: {error.strerror or error}") from error
    finally:
        shutil.rmtree(scratch, ignore_errors=True)
