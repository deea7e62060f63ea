from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from graphmem.algorithms.construction import (
    MAX_CONTEXT_LENGTH,
    MAX_KEYWORD_LENGTH,
    MAX_KEYWORDS,
    MAX_TAGS,
    construct_note,
)
from graphmem.algorithms.text import embedding_text, is_blank, tokens

MEETING = (
    "The quarterly budget meeting moved to Thursday because Ben's flight to Berlin was late. "
    "Ada Lovelace agreed. The budget is tight, said Ada Lovelace."
)


@given(st.text(min_size=1, max_size=300))
def test_metadata_is_bounded_and_never_empty_by_accident(text: str) -> None:
    made = construct_note(text)
    assert len(made.keywords) <= MAX_KEYWORDS
    assert len(made.tags) <= MAX_TAGS
    assert len(made.context) <= MAX_CONTEXT_LENGTH
    assert all(0 < len(word) <= MAX_KEYWORD_LENGTH for word in (*made.keywords, *made.tags))
    assert len(set(made.tags)) == len(made.tags)
    assert bool(made.context) != is_blank(text)
    assert bool(made.keywords) == bool(made.tags) == bool(tokens(text))
    assert construct_note(text) == made


def test_keywords_are_salient_phrases_as_written() -> None:
    made = construct_note(MEETING)
    assert {"Ada Lovelace", "quarterly budget meeting", "Thursday", "Berlin"} <= {*made.keywords}
    assert made.tags[0] == "ada lovelace"
    assert made.context.startswith("The quarterly budget meeting")


def test_no_keyword_repeats_the_words_of_better_ones() -> None:
    made = construct_note("Blue kettle. Blue kettles! The blue kettle is a kettle.")
    assert made.keywords == ("Blue kettle",)


def test_hashtags_lead_the_tags() -> None:
    assert construct_note("Rome trip with Ada #Travel #food-2024").tags[:2] == (
        "travel",
        "food-2024",
    )


@pytest.mark.parametrize(
    ("text", "keywords"),
    [
        ("to be or not to be", ("to", "be", "or", "not")),
        ("ok, thanks", ("ok", "thanks")),
        ("👍🎉👍", ("👍", "🎉")),
        ("…", ()),
        ("多租户隔离在六月上线", ("多租户隔离", "六月上线")),
        ("東京タワーへ行きました", ("東京", "タワー")),
        ("ใบแจ้งหนี้", ("ใบแจ้งหนี้",)),
        ("We use C++ at 14:00", ("C++", "14:00")),
    ],
)
def test_texts_without_ordinary_words_have_a_defined_outcome(
    text: str, keywords: tuple[str, ...]
) -> None:
    made = construct_note(text)
    assert made.keywords == keywords
    assert made.tags == keywords[:MAX_TAGS] or made.tags == tuple(map(str.lower, keywords))
    assert made.context == text


def test_given_values_stand_even_when_empty() -> None:
    made = construct_note(MEETING, keywords=["b", "a", "b"], tags=(), context="")
    assert (made.keywords, made.tags, made.context) == (("b", "a"), (), "")


def test_a_lone_text_is_one_tag() -> None:
    assert construct_note(MEETING, tags="red").tags == ("red",)
    assert construct_note(MEETING, keywords="red hat").keywords == ("red hat",)


def test_a_long_sentence_is_cut_at_a_word() -> None:
    context = construct_note("lighthouse " * 100).context
    assert context.endswith("lighthouse…")
    assert len(context) <= MAX_CONTEXT_LENGTH


def test_derived_metadata_does_not_change_what_is_embedded() -> None:
    made = construct_note(MEETING)
    text = embedding_text(MEETING, keywords=made.keywords, tags=made.tags, context=made.context)
    assert text == MEETING


def test_a_long_text_is_read_in_bounded_time() -> None:
    assert construct_note("The kettle is blue. " * 10_000).keywords == ("kettle", "blue")
