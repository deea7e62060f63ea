"""Analyses of texts that are kept for the next call, and forgotten when notes are erased."""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache
from typing import TypeVar

_Result = TypeVar("_Result")

_FORGET: list[Callable[[], None]] = []


def remembered(most: int) -> Callable[[Callable[[str], _Result]], Callable[[str], _Result]]:
    """Keep what a pure function of a text returned, for the `most` latest texts.

    Examples
    --------
    >>> @remembered(100)
    ... def length(text):
    ...     print("counting", text)
    ...     return len(text)
    >>> length("seat"), length("seat")
    counting seat
    (4, 4)
    >>> forget_texts()
    >>> length("seat")
    counting seat
    4
    """

    def keeping(function: Callable[[str], _Result]) -> Callable[[str], _Result]:
        kept = lru_cache(maxsize=most)(function)
        _FORGET.append(kept.cache_clear)
        return kept

    return keeping


def forget_texts() -> None:
    """Forget every text and word that was analysed in this process, of whatever memory."""
    for forget in _FORGET:
        forget()
