"""ISO 8601 times in files: read strictly, written in one form."""

from __future__ import annotations

import re
from datetime import UTC, datetime, timedelta, timezone

from graphmem.errors import InvalidInput

_TIME = re.compile(
    r"""
    (?P<year>[0-9]{4})(?P<dash>-?)(?P<month>[0-9]{2})(?P=dash)(?P<day>[0-9]{2})
    (?:
        [T ](?P<hour>[0-9]{2})(?P<colon>:?)(?P<minute>[0-9]{2})
        (?:(?P=colon)(?P<second>[0-9]{2})(?:[.,](?P<fraction>[0-9]+))?)?
        (?P<zone>Z|[+-][0-9]{2}(?::?[0-9]{2})?)?
    )?
    """,
    re.VERBOSE,
)
_LEAP_SECOND = 60
_EXAMPLE = "2025-07-21T20:30:30+02:00"


def parse_time(text: str) -> datetime:
    """Read an ISO 8601 time in basic or extended form.

    A date alone is its midnight. Digits finer than a microsecond are cut off. A leap second is
    the moment after it, as POSIX counts. Without an offset the result is naive; whether naive
    times are taken is decided where notes enter.

    Raises
    ------
    InvalidInput
        Not of this form, or no such date or time of day.

    Examples
    --------
    >>> parse_time("2025-07-21T20:30:30.533432000Z").isoformat()
    '2025-07-21T20:30:30.533432+00:00'
    >>> parse_time("20250721T203030+0900").isoformat()
    '2025-07-21T20:30:30+09:00'
    >>> parse_time("2016-12-31T23:59:60Z").isoformat()
    '2017-01-01T00:00:00+00:00'
    """
    match = _TIME.fullmatch(text)
    if match is None:
        raise InvalidInput(f"{text!r} is not an ISO 8601 time such as {_EXAMPLE}")
    part = match.groupdict()
    second = int(part["second"] or 0)
    try:
        moment = datetime(
            int(part["year"]),
            int(part["month"]),
            int(part["day"]),
            int(part["hour"] or 0),
            int(part["minute"] or 0),
            59 if second == _LEAP_SECOND else second,
            int((part["fraction"] or "0")[:6].ljust(6, "0")),
            tzinfo=_zone(part["zone"]),
        )
        return _after_leap_second(moment) if second == _LEAP_SECOND else moment
    except (ValueError, OverflowError) as error:
        raise InvalidInput(f"{text!r} is not a time that exists: {error}") from error


def _after_leap_second(moment: datetime) -> datetime:
    """Return the full second after one that is the last of a UTC day, or may be one."""
    day = moment if moment.tzinfo is None else moment.astimezone(UTC)
    if day.minute != 59 or (day.tzinfo is not None and day.hour != 23):
        raise ValueError("second must be in 0..59; a leap second ends a day in UTC")
    return moment.replace(microsecond=0) + timedelta(seconds=1)


def _zone(text: str | None) -> timezone | None:
    if text is None:
        return None
    if text == "Z":
        return UTC
    digits = text[1:].replace(":", "").ljust(4, "0")
    hours, minutes = int(digits[:2]), int(digits[2:])
    if minutes > 59:
        raise ValueError("minute of the offset must be in 0..59")
    offset = timedelta(hours=hours, minutes=minutes)
    return timezone(-offset if text[0] == "-" else offset)


def format_time(moment: datetime) -> str:
    """Write an aware time in UTC with six digits of the second.

    Examples
    --------
    >>> format_time(parse_time("2024-02-29T23:59:59.5+05:30"))
    '2024-02-29T18:29:59.500000Z'
    """
    utc = moment.astimezone(UTC).replace(tzinfo=None)
    return utc.isoformat(timespec="microseconds") + "Z"
