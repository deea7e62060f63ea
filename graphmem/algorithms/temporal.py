"""When a question asks about: its English time expressions as ranges, matched with notes.

Supported are calendar dates, months, seasons and years; days, weeks and longer counted
from the moment of asking; weekdays; and bounds (since, before, between ... and ...). An
expression in another language gives no range.
"""

from __future__ import annotations

import re
from collections import deque
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from datetime import UTC, date, datetime, time, timedelta

import numpy as np
from numpy.typing import NDArray

from graphmem.algorithms.calendar_days import Days
from graphmem.algorithms.time_expressions import Expression, read_expressions
from graphmem.errors import InvalidQuery

MAX_CHARACTERS = 2000
"""Only so much of a text is searched for expressions."""

MAX_RANGES = 8
"""No more ranges than this are returned."""


@dataclass(frozen=True, slots=True)
class TimeRange:
    """A stretch of time a question names.

    Attributes
    ----------
    start, end
        Aware, in UTC; `start` is inside, `end` is not.
    text
        The words it was read from.
    """

    start: datetime
    end: datetime
    text: str


def resolve_time_ranges(text: str, at: datetime) -> tuple[TimeRange, ...]:
    """Read the time expressions of a question asked at a given moment.

    - Days begin at midnight in the time zone of `at`; weeks on Monday. Seasons are those
      of the northern hemisphere; a winter is named after the year it begins in.
    - A month, day or season without a year, and a weekday, is the latest that had begun
      by the reference day; "next" is the first after it.
    - Relative expressions count from the day of `at`, or from the one calendar day the
      text itself names ("last week, as mentioned on 6 November 2023").
    - "Past two weeks" ends with the reference day; "last week" is the calendar week before.
    - "Two weeks ago" is the week around that day, "two months ago" that calendar month.
    - Months that are also words (May, March) count after a preposition or with a date only.
    - All-figure dates count as year-month-day, or when only one order is possible.

    Parameters
    ----------
    text
        The question; time is linear in its length and bounded by :data:`MAX_CHARACTERS`.
    at
        The moment of asking, aware.

    Returns
    -------
    tuple of TimeRange
        In order of the text, each range once, at most :data:`MAX_RANGES`; empty when no
        expression was understood or its date does not exist.

    Raises
    ------
    InvalidQuery
        `at` is naive.

    Examples
    --------
    >>> at = datetime(2023, 7, 12, 15, 0, tzinfo=UTC)
    >>> for found in resolve_time_ranges("Who called yesterday, and who in May?", at):
    ...     print(found.text, found.start.date(), found.end.date())
    yesterday 2023-07-11 2023-07-12
    May 2023-05-01 2023-06-01
    """
    if at.utcoffset() is None:
        raise InvalidQuery(f"at: {at!r} has no time zone")
    searched = text[:MAX_CHARACTERS]
    unique: dict[Days, TimeRange] = {}
    for days, left, right in _bounded(searched, read_expressions(searched, at.date()), at.date()):
        start, end = (_midnight(day, at) for day in days)
        unique.setdefault(days, TimeRange(start, end, searched[left:right]))
    return tuple(unique.values())[:MAX_RANGES]


def time_match(moment: datetime, ranges: Iterable[TimeRange]) -> float:
    r"""Return how well a moment fits the best of the ranges.

    .. math:: m = 2^{-gap / h}, \qquad h = \min(\max(1\,d, length / 2), 30\,d)

    where the gap is the distance to the range: people speak of an event shortly before
    and after it, and the longer a range is, the less exact it was meant.

    Parameters
    ----------
    moment
        When the note was written, aware.
    ranges
        What :func:`resolve_time_ranges` returned.

    Returns
    -------
    float
        In [0, 1]: 1 inside a range, half after `h`; 0 without ranges.

    Examples
    --------
    >>> day = TimeRange(datetime(2023, 5, 7, tzinfo=UTC), datetime(2023, 5, 8, tzinfo=UTC), "")
    >>> time_match(datetime(2023, 5, 7, 9, tzinfo=UTC), [day])
    1.0
    >>> time_match(datetime(2023, 5, 10, tzinfo=UTC), [day])
    0.25
    """
    return max((_closeness(moment, found) for found in ranges), default=0.0)


def time_matches(moments: Sequence[datetime], ranges: Sequence[TimeRange]) -> NDArray[np.float64]:
    """Return :func:`time_match` of each moment, shape (len(moments),).

    Examples
    --------
    >>> day = TimeRange(datetime(2023, 5, 7, tzinfo=UTC), datetime(2023, 5, 8, tzinfo=UTC), "")
    >>> time_matches([datetime(2023, 5, 7, 9, tzinfo=UTC), datetime(2023, 5, 9, tzinfo=UTC)], [day])
    array([1. , 0.5])
    """
    best = np.zeros(len(moments))
    for found in ranges:
        after_start = np.array([(moment - found.start) / _HOUR for moment in moments])
        length, half = (found.end - found.start) / _HOUR, _half_life(found) / _HOUR
        gap = np.maximum(np.maximum(-after_start, after_start - length), 0.0)
        best = np.maximum(best, 0.5 ** (gap / half))
    return best


_HOUR = timedelta(hours=1)


def _closeness(moment: datetime, found: TimeRange) -> float:
    gap = max(found.start - moment, moment - found.end, timedelta(0))
    return float(0.5 ** (gap / _half_life(found)))


def _half_life(found: TimeRange) -> timedelta:
    return min(max(timedelta(days=1), (found.end - found.start) / 2), timedelta(days=30))


def _midnight(day: date, at: datetime) -> datetime:
    try:
        return datetime.combine(day, time.min, at.tzinfo).astimezone(UTC)
    except OverflowError:  # the first and the last day have no midnight in every zone
        return datetime.combine(day, time.min, UTC)


_TO = frozenset({"and", "to", "through", "until", "till"})
_DASH = re.compile(r"\s*[-\u2013\u2014]\s*")


def _bounded(text: str, found: list[Expression], today: date) -> Iterator[tuple[Days, int, int]]:
    """Join the two ends of a range and open what has one bound; yield days and place."""
    waiting = deque(found)
    while waiting:
        first = waiting.popleft()
        if waiting and first.lead in ("between", "from") and _joined(text, first, waiting[0]):
            last = waiting.popleft()
            yield _from_to(first.days, last.days), first.outer, last.right
            continue
        days = _opened(first, today)
        yield days, first.left if days == first.days else first.outer, first.right


def _joined(text: str, first: Expression, last: Expression) -> bool:
    between = text[first.right : last.outer]
    return not between.strip(" ,") if last.lead in _TO else bool(_DASH.fullmatch(between))


def _from_to(first: Days, last: Days) -> Days:
    """Return the days of both and between; the first takes over an earlier year."""
    start, end = first[0], last[1]
    for year in (start.year, end.year, end.year - 1):
        if start >= end and year >= 1:
            start = start.replace(year=year, day=min(start.day, 28))
    return (start, end) if start < end else first


def _opened(expression: Expression, today: date) -> Days:
    start, end = expression.days
    tomorrow = date.fromordinal(min(today.toordinal() + 1, date.max.toordinal()))
    opened = {
        "since": (start, tomorrow),
        "after": (end, tomorrow),
        "before": (date.min, start),
        "until": (date.min, end),
        "till": (date.min, end),
        "by": (date.min, end),
    }.get(expression.lead, expression.days)
    return opened if opened[0] < opened[1] else expression.days
