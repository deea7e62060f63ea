from __future__ import annotations

from datetime import UTC, date, datetime, timedelta, timezone

import pytest
from hypothesis import given
from hypothesis import strategies as st

from graphmem.algorithms.temporal import TimeRange, resolve_time_ranges, time_match, time_matches
from graphmem.errors import InvalidQuery

AT = datetime(2023, 7, 12, 15, 0, tzinfo=UTC)  # a Wednesday


def days(text: str, at: datetime = AT) -> list[tuple[str, str]]:
    return [
        (str(found.start.date()), str(found.end.date())) for found in resolve_time_ranges(text, at)
    ]


@pytest.mark.parametrize(
    ("text", "start", "end"),
    [
        ("yesterday", "2023-07-11", "2023-07-12"),
        ("the day before yesterday", "2023-07-10", "2023-07-11"),
        ("today", "2023-07-12", "2023-07-13"),
        ("this evening", "2023-07-12", "2023-07-13"),
        ("last night", "2023-07-11", "2023-07-12"),
        ("tomorrow", "2023-07-13", "2023-07-14"),
        ("last week", "2023-07-03", "2023-07-10"),
        ("this week", "2023-07-10", "2023-07-17"),
        ("this weekend", "2023-07-15", "2023-07-17"),
        ("last weekend", "2023-07-08", "2023-07-10"),
        ("the past day", "2023-07-11", "2023-07-13"),
        ("the next day", "2023-07-13", "2023-07-14"),
        ("last month", "2023-06-01", "2023-07-01"),
        ("next month", "2023-08-01", "2023-09-01"),
        ("last year", "2022-01-01", "2023-01-01"),
        ("three days ago", "2023-07-09", "2023-07-10"),
        ("a week ago", "2023-07-02", "2023-07-09"),
        ("two months ago", "2023-05-01", "2023-06-01"),
        ("14 months ago", "2022-05-01", "2022-06-01"),
        ("a year ago", "2022-01-01", "2023-01-01"),
        ("two weekends ago", "2023-07-01", "2023-07-03"),
        ("a few days ago", "2023-07-07", "2023-07-11"),
        ("the past 10 days", "2023-07-02", "2023-07-13"),
        ("in the past three months", "2023-04-12", "2023-07-13"),
        ("over the last two weeks", "2023-06-28", "2023-07-13"),
        ("the past month", "2023-06-12", "2023-07-13"),
        ("the past two years", "2021-07-12", "2023-07-13"),
        ("last Friday", "2023-07-07", "2023-07-08"),
        ("last Wednesday", "2023-07-05", "2023-07-06"),
        ("on Wednesday", "2023-07-12", "2023-07-13"),
        ("on Thursday", "2023-07-06", "2023-07-07"),
        ("this Friday", "2023-07-14", "2023-07-15"),
        ("next Wednesday", "2023-07-19", "2023-07-20"),
        ("7 May 2023", "2023-05-07", "2023-05-08"),
        ("on the 7th of May, 2023", "2023-05-07", "2023-05-08"),
        ("May 7th, 2023", "2023-05-07", "2023-05-08"),
        ("Sept. 3", "2022-09-03", "2022-09-04"),
        ("29 February", "2020-02-29", "2020-03-01"),
        ("2023-05-07", "2023-05-07", "2023-05-08"),
        ("25/05/2023", "2023-05-25", "2023-05-26"),
        ("5/25/2023", "2023-05-25", "2023-05-26"),
        ("in May", "2023-05-01", "2023-06-01"),
        ("in december", "2022-12-01", "2023-01-01"),
        ("last May", "2023-05-01", "2023-06-01"),
        ("last July", "2022-07-01", "2022-08-01"),
        ("this August", "2023-08-01", "2023-09-01"),
        ("next March", "2024-03-01", "2024-04-01"),
        ("May 2021", "2021-05-01", "2021-06-01"),
        ("2021-05", "2021-05-01", "2021-06-01"),
        ("early June", "2023-06-01", "2023-06-11"),
        ("mid-June 2022", "2022-06-11", "2022-06-21"),
        ("at the end of June", "2023-06-21", "2023-07-01"),
        ("in 2022", "2022-01-01", "2023-01-01"),
        ("this summer", "2023-06-01", "2023-09-01"),
        ("last summer", "2022-06-01", "2022-09-01"),
        ("in the fall", "2022-09-01", "2022-12-01"),
        ("winter of 2021", "2021-12-01", "2022-03-01"),
        ("between 3 May and 10 June", "2023-05-03", "2023-06-11"),
        ("from May to July 2022", "2022-05-01", "2022-08-01"),
        ("from 2020 to 2022", "2020-01-01", "2023-01-01"),
        ("between 5 and 7 May 2023", "2023-05-05", "2023-05-08"),
        ("from 7 May - 9 May 2023", "2023-05-07", "2023-05-10"),
        ("since January", "2023-01-01", "2023-07-13"),
        ("since last Friday", "2023-07-07", "2023-07-13"),
        ("after 5 March 2023", "2023-03-06", "2023-07-13"),
        ("before 2022", "0001-01-01", "2022-01-01"),
        ("until 5 March 2023", "0001-01-01", "2023-03-06"),
    ],
)
def test_an_expression_gives_its_days(text, start, end):
    assert days(f"What did Ada do {text}?") == [(start, end)]


def test_relative_words_count_from_the_day_the_question_names():
    assert days("What was the issue last week, as mentioned on November 6, 2023?") == [
        ("2023-10-30", "2023-11-06"), ("2023-11-06", "2023-11-07"),
    ]  # fmt: skip
    assert days("the puppy she got two weeks before August 11, 2023") == [
        ("2023-07-25", "2023-08-01"), ("2023-08-11", "2023-08-12"),
    ]  # fmt: skip
    assert days("seen on the Sunday before October 25, 2022")[0] == ("2022-10-23", "2022-10-24")
    assert days("the Monday after 25 October 2022")[0] == ("2022-10-31", "2022-11-01")
    assert days("the weekend of 9 June 2023")[0] == ("2023-06-10", "2023-06-12")
    assert days("the week before 9 June 2023")[0] == ("2023-05-29", "2023-06-05")


def test_several_expressions_come_in_order_and_once():
    assert days("in January and March, and again in January") == [
        ("2023-01-01", "2023-02-01"), ("2023-03-01", "2023-04-01"),
    ]  # fmt: skip
    found = resolve_time_ranges("Was it last week or on 3 May?", AT)
    assert [entry.text for entry in found] == ["last week", "3 May"]


@pytest.mark.parametrize(
    "text",
    [
        "", "What may Ada do?", "They march to fall asleep", "room 2022", "my one-year-old",
        "07/05/2023", "昨日", "the second day", "a Friday habit", "30 February",
    ],
)  # fmt: skip
def test_what_names_no_time_gives_none(text):
    assert days(text) == []


def test_of_a_day_that_does_not_exist_the_month_is_left():
    assert days("31 February 2023") == [("2023-02-01", "2023-03-01")]


def test_of_days_that_run_backwards_the_dated_one_is_left():
    assert days("from 9 to 7 May 2023") == [("2023-05-07", "2023-05-08")]


def test_days_begin_where_the_question_is_asked():
    tokyo = timezone(timedelta(hours=9))
    late = datetime(2023, 7, 12, 1, 0, tzinfo=tokyo)  # still the 11th in UTC
    (found,) = resolve_time_ranges("yesterday", late)
    assert found.start == datetime(2023, 7, 11, tzinfo=tokyo)
    assert found.start.tzinfo is UTC


def test_the_first_day_has_a_midnight_in_every_zone():
    tokyo = timezone(timedelta(hours=9))
    (found,) = resolve_time_ranges("before 2022", AT.astimezone(tokyo))
    assert found.start == datetime.min.replace(tzinfo=UTC)
    assert found.end == datetime(2022, 1, 1, tzinfo=tokyo)


def test_a_naive_moment_is_refused():
    with pytest.raises(InvalidQuery, match="time zone"):
        resolve_time_ranges("yesterday", datetime(2023, 7, 12))


VOCABULARY = """
    in on since before after between from and to the last this next past two three 31 29 7 of ago
    days weeks month year May February 2023 1999 Friday summer yesterday early - , ?
"""
words = st.sampled_from(VOCABULARY.split())
moments = st.datetimes(timezones=st.sampled_from([UTC, timezone(timedelta(hours=-11))]))


@given(st.lists(words, max_size=12).map(" ".join) | st.text(max_size=80), moments)
def test_any_text_at_any_moment_gives_valid_ranges(text, at):
    found = resolve_time_ranges(text, at)
    assert len(found) <= 8
    for entry in found:
        assert entry.start < entry.end
        assert entry.start.tzinfo is UTC
        assert entry.text in text


def test_a_long_text_is_read_only_at_its_beginning():
    assert days("x " * 2000 + "yesterday") == []
    assert len(days(" ".join(f"in {year}," for year in range(1950, 2000)))) == 8


MAY = TimeRange(datetime(2023, 5, 1, tzinfo=UTC), datetime(2023, 6, 1, tzinfo=UTC), "in May")
EVER = TimeRange(datetime.min.replace(tzinfo=UTC), datetime(2022, 1, 1, tzinfo=UTC), "before 2022")


class TestMatch:
    def test_one_inside_less_and_less_outside_nothing_without_ranges(self):
        assert time_match(datetime(2023, 5, 20, tzinfo=UTC), [MAY]) == 1.0
        half = MAY.end + timedelta(days=15.5)
        assert time_match(half, [MAY]) == pytest.approx(0.5)
        assert time_match(half, []) == 0.0

    def test_an_open_range_does_not_match_everything(self):
        assert time_match(EVER.end + timedelta(days=60), [EVER]) == pytest.approx(0.25)

    @given(moments, moments)
    def test_within_bounds_and_falling_with_distance(self, first, second):
        matches = sorted(
            (max(MAY.start - moment, moment - MAY.end, timedelta(0)), time_match(moment, [MAY]))
            for moment in (first, second)
        )
        assert 1.0 >= matches[0][1] >= matches[1][1] >= 0.0

    @given(moments)
    def test_the_best_range_counts(self, moment):
        each = [time_match(moment, [entry]) for entry in (MAY, EVER)]
        assert time_match(moment, [MAY, EVER]) == max(each)


def test_every_day_of_a_year_resolves_without_error():
    for ordinal in range(date(2024, 1, 1).toordinal(), date(2025, 1, 1).toordinal()):
        at = datetime.combine(date.fromordinal(ordinal), datetime.min.time(), UTC)
        for text in ("last month", "past month", "last winter", "this winter", "next February"):
            (found,) = resolve_time_ranges(text, at)
            assert found.start < found.end


@given(st.lists(moments, max_size=5), st.lists(st.sampled_from([MAY, EVER]), max_size=2))
def test_many_moments_match_as_each_of_them(several, ranges):
    expected = [time_match(moment, ranges) for moment in several]
    assert time_matches(several, ranges).tolist() == pytest.approx(expected, abs=1e-12)
