"""Text files in other encodings, handed on as UTF-8."""

from __future__ import annotations

import codecs
import io
from typing import TYPE_CHECKING, BinaryIO

from graphmem.errors import TransferError

if TYPE_CHECKING:
    from _typeshed import WriteableBuffer

_UTF_16 = (codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)
_READ_AT_ONCE = 64 * 1024


def utf8(file: io.BufferedIOBase | BinaryIO, name: str, encoding: str | None) -> BinaryIO:
    r"""Return the file as UTF-8: from `encoding`, or from UTF-16 where its mark says so.

    Spreadsheets save "Unicode text" as UTF-16 with a mark at the beginning.

    Raises
    ------
    TransferError
        There is no such encoding; while reading, that the file is not in it.

    Examples
    --------
    >>> from io import BytesIO
    >>> utf8(BytesIO("für".encode("cp1252")), "a.csv", "windows-1252").read().decode()
    'für'
    >>> utf8(BytesIO("für".encode("utf-16")), "a.csv", None).read().decode()
    'für'
    """
    buffered = io.BufferedReader(_Raw(file))
    if encoding is None:
        if buffered.peek(2)[:2] not in _UTF_16:
            return buffered
        encoding = "utf-16"
    try:
        "a".encode(encoding)  # refuses what turns bytes into bytes, such as base64
    except LookupError as error:
        raise TransferError(
            f"there is no encoding {encoding!r}; nothing was imported. Known ones are utf-8, "
            "utf-16, windows-1252, iso-8859-15, shift_jis ..."
        ) from error
    return io.BufferedReader(_Recoded(buffered, name, codecs.lookup(encoding)))


class _Raw(io.RawIOBase):
    """A binary stream as `io.BufferedReader` takes it; closing it leaves the stream open."""

    def __init__(self, file: io.BufferedIOBase | BinaryIO) -> None:
        self._file = file

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: WriteableBuffer, /) -> int:
        view = memoryview(buffer)
        data = self._file.read(len(view))
        view[: len(data)] = data
        return len(data)


class _Recoded(io.RawIOBase):
    def __init__(self, file: BinaryIO, name: str, known: codecs.CodecInfo) -> None:
        self._file = file
        self._name = name
        self._encoding = known.name
        self._decoder = known.incrementaldecoder("strict")
        self._waiting = b""
        self._ended = False

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: WriteableBuffer, /) -> int:
        view = memoryview(buffer)
        while not self._waiting and not self._ended:
            self._waiting = self._next()
        taken = self._waiting[: len(view)]
        view[: len(taken)] = taken
        self._waiting = self._waiting[len(taken) :]
        return len(taken)

    def _next(self) -> bytes:
        data = self._file.read(_READ_AT_ONCE)
        self._ended = not data
        try:
            return self._decoder.decode(data, self._ended).encode("utf-8", "surrogatepass")
        except UnicodeError as error:
            raise TransferError(
                f"{self._name} is not {self._encoding}: {error}; what came before is "
                "imported. Say another encoding (command line: --encoding) and import it again"
            ) from error
