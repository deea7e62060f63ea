"""Stretches of calendar days: weeks, months, seasons, and what comes back every year."""

from __future__ import annotations

from collections.abc import Callable
from datetime import date, timedelta
from typing import TypeAlias

Days: TypeAlias = tuple[date, date]
"""Days from the first, inside, to the second, outside."""

DAY = timedelta(days=1)
WEEK = timedelta(days=7)

SEASONS = {"spring": 3, "summer": 6, "autumn": 9, "fall": 9, "winter": 12}
"""Month in which each season begins, in the northern hemisphere."""

LAST = frozenset({"last", "past", "previous"})
NEXT = frozenset({"next", "coming"})


def one_day(day: date) -> Days:
    """Return the single day."""
    return day, day + DAY


def add_months(day: date, count: int) -> date:
    """Return the first of the month `count` months away."""
    months = day.year * 12 + day.month - 1 + count
    return date(months // 12, months % 12 + 1, 1)


def month_of(year: int, month: int) -> Days:
    """Return one month."""
    return date(year, month, 1), add_months(date(year, month, 1), 1)


def season_of(year: int, season: str) -> Days:
    """Return one season; a winter bears the year it begins in."""
    first = date(year, SEASONS[season], 1)
    return first, add_months(first, 3)


def year_of(year: int) -> Days:
    """Return one year."""
    return date(year, 1, 1), date(year + 1, 1, 1)


def week_around(day: date) -> Days:
    """Return the week from Monday that holds the day."""
    monday = day - day.weekday() * DAY
    return monday, monday + WEEK


def weekend_around(day: date) -> Days:
    """Return Saturday and Sunday of the week that holds the day."""
    saturday = week_around(day)[0] + 5 * DAY
    return saturday, saturday + 2 * DAY


def yearly(of_year: Callable[[int], Days], which: str, reference: date) -> Days:
    """Choose the year of something that comes back every year.

    Parameters
    ----------
    of_year
        Gives its days in one year; raises ``ValueError`` where it does not exist.
    which
        ``this``, a word of :data:`LAST` or :data:`NEXT`, or empty for the latest that has
        begun.
    reference
        The day to count from.

    Raises
    ------
    ValueError
        It does not exist in any year nearby.
    """
    year = reference.year
    if which in NEXT:
        coming = [days for days in _existing(of_year, range(year, year + 9)) if days[0] > reference]
        return coming[0] if coming else of_year(year + 1)
    begun = [days for days in _existing(of_year, range(year, year - 9, -1)) if days[0] <= reference]
    if which in LAST:
        begun = [days for days in begun if days[1] <= reference]
    if not begun or (which == "this" and begun[0][1] <= reference):
        return of_year(year)
    return begun[0]


def _existing(of_year: Callable[[int], Days], years: range) -> list[Days]:
    found = []
    for year in years:
        try:
            found.append(of_year(year))
        except ValueError:  # 29 February
            continue
    return found
