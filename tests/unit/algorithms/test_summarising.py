from __future__ import annotations

from datetime import UTC, datetime, timedelta

import numpy as np
import pytest

from graphmem.algorithms.summarising import (
    LONGEST,
    centrality,
    extract_summary,
    in_order_of_telling,
)
from graphmem.errors import InvalidInput
from graphmem.model import Link, Note, Source

DAY = datetime(2025, 5, 7, tzinfo=UTC)


def note(note_id, text, days=0, importance=0.5, author=None, position=None):
    source = Source("s", position=position)
    at = DAY + timedelta(days=days)
    return Note(note_id, "n", text, "user", author, source, at, (), (), "", importance, {}, at)


NOTES = (
    note("c", "The flat in Leeds costs 900 a month", 2, author="Ana"),
    note("a", "We looked at flats in Leeds", 0),
    note("b", "A flat needs light. Rain fell.", 1),
    note("d", "My cat sneezed", 3),
)
LINKS = (Link("a", "b", 0.1, 0.8), Link("a", "c", 0.9, 0.8), Link("b", "zz", 0.9, 0.9))


def test_the_centre_of_the_links_speaks_first_and_all_are_told_in_order():
    assert extract_summary(NOTES, LINKS, 1) == "We looked at flats in Leeds"
    told = extract_summary(NOTES, LINKS, 3).splitlines()
    assert told == [
        "We looked at flats in Leeds",
        "A flat needs light.",
        "Ana: The flat in Leeds costs 900 a month",
    ]


def test_what_says_the_same_is_said_once():
    twice = (NOTES[0], note("e", "The flat in Leeds costs 900 a month!", 9), NOTES[3])
    assert extract_summary(twice, (), 3).count("900") == 1


def test_without_links_the_important_note_comes_first():
    notes = (note("a", "Bread is baked"), note("b", "The alarm code changed", importance=0.9))
    assert extract_summary(notes, (), 1) == "The alarm code changed"


def test_the_order_in_which_notes_are_given_does_not_matter():
    assert extract_summary(NOTES[::-1], LINKS[::-1], 2) == extract_summary(NOTES, LINKS, 2)
    first, second = note("z", "x", position=1), note("a", "x", position=2)
    assert in_order_of_telling([second, first]) == (first, second)


def test_use_and_age_of_a_link_do_not_move_a_summary():
    faded = tuple(Link(*link.pair, 0.01, link.cosine) for link in LINKS)
    assert extract_summary(NOTES, faded, 2) == extract_summary(NOTES, LINKS, 2)


def test_centrality_is_a_distribution():
    central = centrality(["a", "b", "c", "d"], LINKS)
    assert central.sum() == pytest.approx(1.0)
    assert int(np.argmax(central)) == 0
    assert centrality([], LINKS).shape == (0,)


def test_very_long_sentences_are_cut():
    assert len(extract_summary([note("a", "word " * 500)], (), 1)) <= LONGEST


@pytest.mark.parametrize(("notes", "limit"), [((), 1), (NOTES, 0)])
def test_nothing_to_summarise_is_refused(notes, limit):
    with pytest.raises(InvalidInput):
        extract_summary(notes, (), limit)
