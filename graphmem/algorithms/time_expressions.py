"""The English time expressions of a text, read as spans of calendar days."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass, replace
from datetime import date
from typing import TypeAlias

from graphmem.algorithms.calendar_days import (
    DAY,
    LAST,
    NEXT,
    SEASONS,
    WEEK,
    Days,
    add_months,
    month_of,
    one_day,
    season_of,
    week_around,
    weekend_around,
    year_of,
    yearly,
)

CONNECTIVES = frozenset({"and", "to", "through"})
"""Leading words that speak of time only right after another expression."""


@dataclass(frozen=True, slots=True)
class Expression:
    """Days read from ``text[left:right]``; `lead` is the preposition before, from `outer` on."""

    days: Days
    outer: int
    left: int
    right: int
    lead: str = ""


def read_expressions(text: str, today: date) -> list[Expression]:
    """Read the time expressions of a text, relative to the day it was written.

    Parameters
    ----------
    text
        Any text.
    today
        What relative expressions count from, unless the text itself names exactly one
        calendar day.

    Returns
    -------
    list of Expression
        In order of the text. A date that does not exist is left out. The day of "two weeks
        before 11 August" is returned beside the whole expression, without its lead.

    Examples
    --------
    >>> found, = read_expressions("What did Ben buy two months ago?", date(2025, 3, 5))
    >>> print(*found.days)
    2025-01-01 2025-02-01
    """
    found: list[Expression] = []
    for pattern in _DAY_PATTERNS:
        found.extend(pattern.read(text, today, found))
    named = {expression.days[0] for expression in found}
    for index, day in enumerate(found.copy()):
        for pattern in _AROUND_PATTERNS:
            if around := pattern.read_before(text, day):
                found[index] = replace(day, outer=day.left, lead="")
                found.append(around)
                break
    reference = named.pop() if len(named) == 1 else today
    for pattern in _PATTERNS:
        found.extend(pattern.read(text, reference, found))
    return sorted(found, key=lambda expression: (expression.left, expression.right))


class _Parts:
    """The named parts of one match, in lower case; a missing part is empty."""

    def __init__(self, match: re.Match[str]) -> None:
        self._parts = match.groupdict()

    def __getitem__(self, name: str) -> str:
        return " ".join((self._parts.get(name) or "").lower().split())


_Resolver: TypeAlias = Callable[[_Parts, date], Days]


@dataclass(frozen=True, slots=True)
class _Pattern:
    """One kind of expression and how its days follow from a reference day.

    `led` marks words that speak of time only after a preposition.
    """

    regex: re.Pattern[str]
    resolve: _Resolver
    led: bool

    def read(self, text: str, reference: date, known: list[Expression]) -> list[Expression]:
        """Find what no known expression has claimed."""
        found: list[Expression] = []
        for match in self.regex.finditer(text):
            if any(
                match.start() < other.right and other.outer < match.end() for other in known
            ) or (self.led and not _connected(text, match, [*known, *found])):
                continue
            if expression := self._resolved(match, reference):
                found.append(expression)
        return found

    def read_before(self, text: str, day: Expression) -> Expression | None:
        """Find an expression that counts from the day written right after it."""
        for match in self.regex.finditer(text, 0, day.left):
            if not text[match.end() : day.left].strip() and (
                around := self._resolved(match, day.days[0])
            ):
                return replace(around, right=day.right)
        return None

    def _resolved(self, match: re.Match[str], reference: date) -> Expression | None:
        parts = _Parts(match)
        try:
            days = self.resolve(parts, reference)
        except (ValueError, OverflowError):  # 30 February, or a year no calendar holds
            return None
        return Expression(days, match.start(), match.start("core"), match.end(), parts["lead"])


def _connected(text: str, match: re.Match[str], known: list[Expression]) -> bool:
    """Whether what leads over to the match is no bare "and" that follows something else."""
    if match["lead"].lower() not in CONNECTIVES:
        return True
    before = (text[other.right : match.start()] for other in known if other.right <= match.start())
    return any(not between.strip(" ,") for between in before)


# --- words -----------------------------------------------------------------------------

_MONTHS = (
    "january", "february", "march", "april", "may", "june",
    "july", "august", "september", "october", "november", "december",
)  # fmt: skip
_WEEKDAYS = ("monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday")
_NUMERALS = (
    "one", "two", "three", "four", "five", "six",
    "seven", "eight", "nine", "ten", "eleven", "twelve",
)  # fmt: skip
_COUNTS: dict[str, tuple[int, int]] = {
    "a couple of": (2, 3), "couple of": (2, 3), "a couple": (2, 3), "several": (3, 7),
    "a few": (2, 5), "few": (2, 5), "an": (1, 1), "a": (1, 1), "": (1, 1),
} | {word: (number, number) for number, word in enumerate(_NUMERALS, start=1)}  # fmt: skip


def _month_number(name: str) -> int:
    return next(n for n, month in enumerate(_MONTHS, 1) if month.startswith(name[:3]))


def _count(words: str) -> tuple[int, int]:
    """Return the least and the greatest number meant."""
    return _COUNTS[words] if words in _COUNTS else (int(words), int(words))


def _iso_day(parts: _Parts, _reference: date) -> Days:
    return one_day(date(int(parts["year"]), int(parts["number"]), int(parts["day"])))


def _figures(parts: _Parts, _reference: date) -> Days:
    year, first, second = int(parts["year"]), int(parts["first"]), int(parts["second"])
    if first <= 12 and second <= 12 and first != second:
        raise ValueError("day and month cannot be told apart")
    return one_day(date(year, first, second) if second > 12 else date(year, second, first))


def _calendar_day(parts: _Parts, reference: date) -> Days:
    month, day = _month_number(parts["month"]), int(parts["day"])
    if parts["year"]:
        return one_day(date(int(parts["year"]), month, day))
    return yearly(lambda year: one_day(date(year, month, day)), "", reference)


def _days_of_month(parts: _Parts, reference: date) -> Days:
    start, end = _calendar_day(parts, reference)
    first = start.replace(day=int(parts["first"]))
    if first >= end:
        raise ValueError("the days run backwards")
    return first, end


def _iso_month(parts: _Parts, _reference: date) -> Days:
    return month_of(int(parts["year"]), int(parts["number"]))


def _calendar_month(parts: _Parts, reference: date) -> Days:
    month = _month_number(parts["month"])
    if parts["year"]:
        start, end = month_of(int(parts["year"]), month)
    else:
        start, end = yearly(lambda year: month_of(year, month), parts["which"], reference)
    part = parts["part"].removeprefix("the ").removesuffix(" of")
    return {
        "early": (start, start + 10 * DAY), "start": (start, start + 10 * DAY),
        "beginning": (start, start + 10 * DAY), "mid": (start + 10 * DAY, start + 20 * DAY),
        "middle": (start + 10 * DAY, start + 20 * DAY), "late": (start + 20 * DAY, end),
        "end": (start + 20 * DAY, end),
    }.get(part, (start, end))  # fmt: skip


def _calendar_season(parts: _Parts, reference: date) -> Days:
    season = parts["season"]
    if parts["year"]:
        return season_of(int(parts["year"]), season)
    return yearly(lambda year: season_of(year, season), parts["which"], reference)


def _weekday(parts: _Parts, reference: date) -> Days:
    number, which = _WEEKDAYS.index(parts["weekday"]), parts["which"]
    if which == "this":
        return one_day(week_around(reference)[0] + number * DAY)
    if which in NEXT:
        return one_day(reference + ((number - reference.weekday() - 1) % 7 + 1) * DAY)
    if which in LAST:
        return one_day(reference - ((reference.weekday() - number - 1) % 7 + 1) * DAY)
    return one_day(reference - (reference.weekday() - number) % 7 * DAY)


def _led(parts: _Parts, reference: date) -> Days:
    """Resolve what only a preposition before it marks as a time."""
    if parts["month"]:
        return _calendar_month(parts, reference)
    if parts["season"]:
        return _calendar_season(parts, reference)
    return _weekday(parts, reference) if parts["weekday"] else year_of(int(parts["year"]))


def _near_day(parts: _Parts, reference: date) -> Days:
    word = parts["word"].removeprefix("the ")
    offset = {"day before yesterday": -2, "yesterday": -1, "last night": -1, "tomorrow": 1,
              "day after tomorrow": 2}.get(word, 0)  # fmt: skip
    return one_day(reference + offset * DAY)


def _calendar_unit(parts: _Parts, reference: date) -> Days:
    step = {"this": 0, "next": 1, "coming": 1}.get(parts["which"], -1)
    if parts["unit"] == "day":
        return one_day(reference + step * DAY)
    if parts["unit"] == "week":
        return week_around(reference + step * WEEK)
    if parts["unit"] == "weekend":
        return weekend_around(reference + step * WEEK)
    return _away(reference, step, parts["unit"])


def _ago(parts: _Parts, reference: date) -> Days:
    nearest, farthest = _count(parts["count"])
    return (
        _away(reference, -farthest, parts["unit"])[0],
        _away(reference, -nearest, parts["unit"])[1],
    )


def _rolling(parts: _Parts, reference: date) -> Days:
    """Resolve "the past two weeks": so many whole units that end with the reference day."""
    count, unit = _count(parts["count"])[1], parts["unit"]
    if unit in ("month", "year"):
        first = add_months(reference, -count * (12 if unit == "year" else 1))
        start = min(first + (reference.day - 1) * DAY, add_months(first, 1) - DAY)
    else:
        start = reference - count * (DAY if unit == "day" else WEEK)
    return start, reference + DAY


def _away(reference: date, count: int, unit: str) -> Days:
    """Return what is meant by `count` units away, as exact as people are when they say it."""
    if unit == "day":
        return one_day(reference + count * DAY)
    if unit == "week":
        return reference + count * WEEK - 3 * DAY, reference + count * WEEK + 4 * DAY
    if unit == "weekend":
        return weekend_around(reference + count * WEEK)
    if unit == "month":
        first = add_months(reference, count)
        return first, add_months(first, 1)
    return year_of(reference.year + count)


def _around(parts: _Parts, reference: date) -> Days:
    """Resolve "two weeks before", "the Sunday before", "the week of" a day that follows."""
    sign = 1 if parts["side"] == "after" else -1
    unit = parts["unit"]
    if parts["weekday"]:
        distance = (sign * (_WEEKDAYS.index(parts["weekday"]) - reference.weekday()) - 1) % 7 + 1
        return one_day(reference + sign * distance * DAY)
    if parts["side"] != "of" and (parts["count"] or unit == "day"):
        return _away(reference, sign * _count(parts["count"])[0], unit)
    near = reference if parts["side"] == "of" else reference + sign * WEEK
    if unit == "weekend":
        return weekend_around(near)
    return week_around(near) if unit == "week" else one_day(reference)


# --- grammar ---------------------------------------------------------------------------

_LEAD = (
    r"(?P<lead>in|on|during|over|within|for|of|around|since|until|till|before|after|by|from"
    r"|between|and|to|through)"
)
_MONTH = (
    r"(?P<month>jan(?:uary)?|feb(?:ruary)?|mar(?:ch)?|apr(?:il)?|may|june?|july?"
    r"|aug(?:ust)?|sept?(?:ember)?|oct(?:ober)?|nov(?:ember)?|dec(?:ember)?)\.?"
)
_DATE = r"(?P<day>\d{1,2})(?:st|nd|rd|th)?"
_YEAR = r"(?P<year>(?:19|20)\d\d)"
_SEASON = rf"(?P<season>{'|'.join(SEASONS)})"
_WEEKDAY = rf"(?P<weekday>{'|'.join(_WEEKDAYS)})"
_WHICH = r"(?P<which>this|last|past|previous|next|coming)"
_COUNT = rf"(?P<count>\d{{1,3}}|{'|'.join(word for word in _COUNTS if word)})"
_UNIT = r"(?P<unit>day|week|weekend|month|year)"
_PART = r"(?P<part>early|mid|late|(?:the )?(?:start|beginning|middle|end) of)[ -]"
_SIDE = r"(?P<side>before|after|prior to)"


def _pattern(core: str, resolve: _Resolver, *, led: bool = False) -> _Pattern:
    lead = rf"(?:{_LEAD} (?:the )?)" + ("" if led else "?")
    regex = rf"\b{lead}(?P<core>{core})\b".replace(" ", r"\s+")
    return _Pattern(re.compile(regex, re.IGNORECASE), resolve, led)


_DAY_PATTERNS = (
    _pattern(rf"{_YEAR}-(?P<number>\d\d)-(?P<day>\d\d)", _iso_day),
    _pattern(rf"(?P<first>\d{{1,2}})[/.](?P<second>\d{{1,2}})[/.]{_YEAR}", _figures),
    _pattern(
        rf"(?P<first>\d{{1,2}}) ?(?:-|\u2013|to|and) ?{_DATE}(?: of)? {_MONTH}(?:,? {_YEAR})?",
        _days_of_month,
    ),
    _pattern(rf"{_DATE}(?: of)? {_MONTH}(?:,? {_YEAR})?", _calendar_day),
    _pattern(rf"{_MONTH} {_DATE}(?:,? {_YEAR})?", _calendar_day),
)
_AROUND_PATTERNS = (
    _pattern(rf"{_COUNT} {_UNIT}s? {_SIDE}", _around),
    _pattern(rf"(?:the )?{_WEEKDAY} {_SIDE}", _around),
    _pattern(rf"(?:the )?{_UNIT} (?P<side>before|after|prior to|of)", _around),
)
_PATTERNS = (
    _pattern(rf"(?:{_PART})?{_MONTH},?(?: of)? {_YEAR}", _calendar_month),
    _pattern(rf"{_YEAR}-(?P<number>0[1-9]|1[0-2])", _iso_month),
    _pattern(rf"(?:{_PART}|{_WHICH} ){_MONTH}", _calendar_month),
    _pattern(rf"{_SEASON},?(?: of)? {_YEAR}", _calendar_season),
    _pattern(rf"{_WHICH} {_SEASON}", _calendar_season),
    _pattern(rf"{_WHICH} {_WEEKDAY}", _weekday),
    _pattern(rf"{_COUNT} {_UNIT}s? ago", _ago),
    _pattern(rf"(?:last|past|previous) {_COUNT} {_UNIT}s?", _rolling),
    _pattern(rf"past {_UNIT}", _rolling),
    _pattern(rf"{_WHICH} {_UNIT}", _calendar_unit),
    _pattern(
        r"(?P<word>(?:the )?day before yesterday|(?:the )?day after tomorrow|yesterday"
        r"|last night|today|tonight|this morning|this afternoon|this evening|tomorrow)",
        _near_day,
    ),
    _pattern(rf"{_MONTH}|{_SEASON}|{_WEEKDAY}|{_YEAR}", _led, led=True),
)
