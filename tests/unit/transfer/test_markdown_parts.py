"""Passages, front matter, YAML and wikilinks, each for itself."""

from __future__ import annotations

from datetime import datetime

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from graphmem.transfer.front_matter import read_front_matter
from graphmem.transfer.markdown import passages
from graphmem.transfer.wikilinks import Names, Target
from graphmem.transfer.yaml_text import read_yaml, write_yaml


def test_headings_are_those_of_markdown() -> None:
    text = (
        "before\r\n\r\nTitle\r\n=====\r\nbody\r\n\r\n```\r\n# code [[no]]\r\n```\r\n"
        "> # quoted\r\n\r\n### Deep `[[no]]` [[yes|shown]]\r\n- [[item]]\r\n"
        "# Top\r\n![[pic.png]] ![[note]] [[a]\n]]"
    )
    found = passages(text)
    assert [(p.headings, p.links) for p in found] == [
        ((), ()),
        (("Title",), ()),
        (("Title", "Deep `[[no]]` [[yes|shown]]"), ("yes", "item")),
        (("Top",), ("note",)),
    ]
    assert text[found[1].start : found[1].end].startswith("Title\r\n=====\r\nbody")


@given(st.text(alphabet="#ab \n\r`>-=[]\u2028\x0b", max_size=80))
def test_passages_cover_what_is_visible_in_order(text: str) -> None:
    found = passages(text)
    rest = list(text)
    for passage in found:
        assert text[passage.start : passage.end].strip(" \t\r\n\f\v")
        rest[passage.start : passage.end] = " " * (passage.end - passage.start)
    assert not "".join(rest).strip(" \t\r\n\f\v")
    assert [p.start for p in found] == sorted(p.start for p in found)


def test_front_matter_says_what_it_can() -> None:
    front = read_front_matter(
        "---\ntags: '#a b, c'\nkeywords: [x, 2]\ndate: 2024-05-01\ncreated: soon\n"
        "importance: 7\nauthor: Ada\naliases: Bee\nanswer: no\n---\nbody"
    )
    assert (front.tags, front.keywords, front.author) == (("a", "b", "c"), ("x", "2"), "Ada")
    assert front.created_at == datetime(2024, 5, 1)  # no zone was written
    assert front.metadata == {
        "created": "soon",
        "importance": 7,
        "aliases": "Bee",
        "answer": "no",
    }
    assert front.aliases == ("Bee",)


@pytest.mark.parametrize(
    ("block", "problem"),
    [
        ("a: [", "in line 2"),
        ("- a\n- b", "no mapping"),
        ("a: &x [1]\nb: [*x, *x]", "alias"),
        ("a: !!python/object/apply:os.system ['true']", "could not determine a constructor"),
        ("a: " + "[" * 5000, "deep"),
        ("graphmem: {id: 1}", "id"),
        ("a: " + "9" * 5000, "digits"),
        ("- |\n  text\n- >-\x02  folded", "special characters"),
    ],
)
def test_hostile_front_matter_is_left_out_and_the_body_stays(block: str, problem: str) -> None:
    text = f"---\n{block}\n---\nbody"
    front = read_front_matter(text)
    assert front.problem is not None
    assert problem in front.problem
    assert text[front.body :] == "body"
    assert (front.tags, front.metadata) == (None, {})


def test_a_rule_is_no_front_matter() -> None:
    assert read_front_matter("---\nno end of it").body == 0
    assert read_front_matter("text\n---\na: b\n---\n").body == 0


PLAIN = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-(2**70), 2**70)
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(st.characters(blacklist_categories=["Cs"], blacklist_characters="\0"), max_size=20)
    | st.sampled_from(["no", "1e5", "0x1f", "1:30", "2024-05-01", "~", "=", "<<", "- a", "#x"]),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(st.text("abc é", min_size=1, max_size=5), inner, max_size=3)
    ),
    max_leaves=8,
)


@given(PLAIN)
@example("\x85")
@example("two\u2028lines")
def test_yaml_comes_back_as_it_went(value: object) -> None:
    assert read_yaml(write_yaml(value)) == value


@pytest.fixture
def names() -> Names:
    found = Names()
    found.add("index.md", ["Start page"], [Target("i", ())])
    found.add("trips/Berlin.md", [], [Target("b", ("Berlin",)), Target("h", ("Berlin", "Hotels"))])
    found.add("trips/old/Berlin.md", [], [Target("old", ())])
    found.add("empty.md", [], [])
    return found


@pytest.mark.parametrize(
    ("link", "origin", "note_id"),
    [
        ("Berlin", "index.md", "b"),
        ("berlin.md", "index.md", "b"),
        ("trips/old/Berlin", "index.md", "old"),
        ("old/Berlin", "trips/Berlin.md", "old"),
        ("../index", "trips/Berlin.md", "i"),
        ("Berlin#hotels", "index.md", "h"),
        ("Berlin#Berlin#Hotels", "index.md", "h"),
        ("#Hotels", "trips/Berlin.md", "h"),
        ("start PAGE", "trips/Berlin.md", "i"),
        ("index#^block", "trips/Berlin.md", "i"),
    ],
)
def test_a_link_means_the_note_a_person_means(
    names: Names, link: str, origin: str, note_id: str
) -> None:
    assert names.resolve(link, origin) == note_id


@pytest.mark.parametrize(
    ("link", "problem"),
    [
        ("Rome", "no such note"),
        ("../../etc/passwd", "out of the folder"),
        ("Berlin#Bars", "no heading 'Bars'"),
        ("empty", "holds no note"),
    ],
)
def test_a_link_that_leads_nowhere_says_why(names: Names, link: str, problem: str) -> None:
    with pytest.raises(ValueError, match=problem):
        names.resolve(link, "index.md")
