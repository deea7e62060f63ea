import os
import time
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta, timezone

import pytest

from graphmem.errors import InvalidInput
from graphmem.transfer.times import format_time, parse_time

INSTANT = datetime(2025, 7, 21, 20, 30, 30, 533432, tzinfo=UTC)


@pytest.fixture(params=["UTC", "Asia/Tokyo", "America/Los_Angeles"])
def zone(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> Iterator[str]:
    monkeypatch.setitem(os.environ, "TZ", request.param)
    time.tzset()
    yield request.param
    monkeypatch.undo()
    time.tzset()


@pytest.mark.parametrize(
    "text",
    [
        "2025-07-21T20:30:30.533432000+00:00",
        "2025-07-21T20:30:30.533432Z",
        "2025-07-21 20:30:30,533432Z",
        "20250721T203030.533432Z",
        "2025-07-22T05:30:30.533432+09:00",
        "2025-07-22T02:00:30.533432+0530",
        "2025-07-21T13:30:30.533432-07",
    ],
)
@pytest.mark.usefixtures("zone")
def test_valid_forms_keep_their_instant_in_every_zone_of_the_machine(text: str) -> None:
    assert parse_time(text) == INSTANT


def test_digits_finer_than_a_microsecond_are_cut_off() -> None:
    assert parse_time("2025-07-21T20:30:30.533432999Z") == INSTANT


@pytest.mark.parametrize("text", ["2025-07-21 20:30", "2025-07-21"])
def test_without_an_offset_the_time_stays_naive(text: str) -> None:
    assert parse_time(text).tzinfo is None


@pytest.mark.parametrize(
    "text",
    ["2016-12-31T23:59:60Z", "2016-12-31T15:59:60.5-08:00", "20170101T052960+0530"],
)
def test_a_leap_second_is_the_moment_after_it(text: str) -> None:
    assert parse_time(text) == datetime(2017, 1, 1, tzinfo=UTC)


def test_a_leap_second_without_a_zone_may_end_any_hour() -> None:
    assert parse_time("2017-01-01T08:59:60") == datetime(2017, 1, 1, 9)  # as written


@pytest.mark.parametrize("text", ["0001-01-01T00:00:00Z", "9999-12-31T23:59:59Z"])
def test_first_and_last_year(text: str) -> None:
    assert parse_time(text).utcoffset() == timedelta(0)


@pytest.mark.parametrize(
    "text",
    [
        "",
        "2025-02-30",
        "2025-07-21T24:00:00Z",
        "T24:00:00Z",
        "2025-07-21T20:30:60Z",
        "2016-12-31T22:59:60Z",
        "2016-12-31T23:59:60+01:00",
        "2016-12-31T23:59:61Z",
        "9999-12-31T23:59:60Z",
        "2025-07-21T20:30:30+25:00",
        "2025-07-21T20:30:30+01:75",
        "\u0662\u0660\u0662\u0665-\u0660\u0667-\u0662\u0661",
        "2025-07-21T20:30:30.Z",
        "2025-0721",
        "2025-07-21T2030:30Z",
        "0000-01-01",
        "10000-01-01",
        " 2025-07-21T20:30:30Z",
        "2025-07-21T20:30:30Z\n",
        "21.07.2025",
        "2025-W30-1",
        "1753129830",
        "yesterday",
    ],
)
def test_anything_else_is_refused_and_quoted(text: str) -> None:
    with pytest.raises(InvalidInput, match="is not a") as caught:
        parse_time(text)
    assert repr(text) in str(caught.value)


def test_written_in_utc_with_microseconds() -> None:
    india = timezone(timedelta(hours=5, minutes=30))
    moment = datetime(2024, 2, 29, 23, 59, 59, 123456, tzinfo=india)
    assert format_time(moment) == "2024-02-29T18:29:59.123456Z"
    assert parse_time(format_time(moment)) == moment
    assert format_time(datetime(1, 1, 1, tzinfo=UTC)) == "0001-01-01T00:00:00.000000Z"
