"""Rows that hold what graphmem never writes: a damaged file, told from a programming error."""

from __future__ import annotations

import functools
import struct
from collections.abc import Callable
from typing import ParamSpec, TypeVar

P = ParamSpec("P")
T = TypeVar("T")

UNREADABLE = (
    ValueError,
    TypeError,
    LookupError,
    OverflowError,
    AttributeError,
    MemoryError,  # a damaged number can ask for any amount
    struct.error,
)
"""What decoding a damaged row may raise."""


class DamagedRowError(ValueError):
    """A row cannot be read; the store tells its caller as ``StoreCorrupt``."""


def decodes(what: str) -> Callable[[Callable[P, T]], Callable[P, T]]:
    """Mark a function that makes values of rows: what fails in it is damage to the file.

    Parameters
    ----------
    what
        What it decodes, for the message.
    """

    def mark(decode: Callable[P, T]) -> Callable[P, T]:
        @functools.wraps(decode)
        def decoded(*given: P.args, **named: P.kwargs) -> T:
            try:
                return decode(*given, **named)
            except DamagedRowError:
                raise
            except UNREADABLE as error:
                raise DamagedRowError(
                    f"{what} cannot be read ({type(error).__name__}: {error})"
                ) from error

        return decoded

    return mark
