from dataclasses import replace
from datetime import UTC, datetime, timedelta, timezone
from io import StringIO

import pytest
from rich.console import Console, RenderableType

from graphmem.interfaces.console import safe
from graphmem.interfaces.json_view import as_json, json_text
from graphmem.interfaces.render import (
    check_text,
    event_view,
    excerpt,
    links_table,
    note_view,
    recall_view,
    receipt_text,
)
from graphmem.model import (
    AddReceipt,
    CheckReport,
    Considered,
    Disagreement,
    DisagreementKind,
    EventKind,
    Evidence,
    EvidenceDecision,
    EvolutionEvent,
    Link,
    Note,
    Outcome,
    RankedNote,
    RankedSource,
    RecallResult,
    Source,
    Step,
    StepKind,
    supersedes,
)

AT = datetime(2025, 7, 1, 9, tzinfo=timezone(timedelta(hours=2)))
NOTE = Note(
    id="n1",
    namespace="default",
    content="Zoë eats fish again",
    role="user",
    author="Zoë",
    source=Source("diary", position=3),
    created_at=AT,
    keywords=("fish",),
    tags=(),
    context="About food.",
    importance=0.4,
    metadata={},
    last_accessed_at=AT,
)
RANKED = RankedNote(
    NOTE,
    score=0.9,
    contributions={"recency": 0.1, "relevance": 0.8},
    signals={"vector": 0.7},
    path=(Step(StepKind.VECTOR), Step(StepKind.LEXICAL), Step(StepKind.RELATED, "n7", 0.83)),
)
RESULT = RecallResult(
    query="does Zoë eat fish?",
    notes=(RANKED,),
    sources=(RankedSource("diary", 0.9, {"relevance": 0.9}, (RANKED,)),),
    decision=EvidenceDecision(
        Outcome.RETRIEVED, 0.91, (Evidence("n1", 1, 0.88),), "The note says so."
    ),
    considered=Considered(seeds=3, expanded=2, candidates=5, cut=4),
    policy="graphmem-1",
    at=AT,
)


def printed(view: RenderableType, width: int = 160) -> str:
    out = StringIO()
    Console(file=out, width=width, highlight=False).print(view)
    return out.getvalue()


def test_what_superseded_what_is_shown_where_links_are() -> None:
    reason = Disagreement(DisagreementKind.NEGATION, "no fish", "fish is fine now")
    link = supersedes("n1", "n0", 0.8, AT, reason)
    newer = replace(RANKED, supersedes=(link,))
    text = printed(recall_view(replace(RESULT, notes=(newer,))), 300)
    assert "newer than n0 (negation: no fish -> fish is fine now)" in text
    older = replace(RANKED, superseded_by=(replace(link, from_id="n9"),))
    text = printed(recall_view(replace(RESULT, notes=(older,))), 300)
    assert "outdated by n9 (negation: no fish -> fish is fine now)" in text
    assert "SUPERSEDES" in printed(links_table("n1", (link,), {}))
    text = printed(links_table("n0", (link,), {}))
    assert "superseded by" in text
    assert "0.800" in text
    state = NOTE.state
    event = EvolutionEvent(
        "n1@2", "n1", EventKind.REVISED, 2, AT, "user", state, state, unlinked=(link,)
    )
    assert "unlinked n1 SUPERSEDES n0 (negation" in printed(event_view(event))
    receipt = AddReceipt("n1", 1, "added", (), (), 0.5, superseding=(link,))
    assert "SUPERSEDES n1 -> n0 (negation" in printed(receipt_text(receipt))


def test_recall_shows_score_its_parts_path_and_decision() -> None:
    text = printed(recall_view(RESULT))
    for part in (
        "Zoë eats fish again",
        "0.900",
        "relevance",
        "0.800",
        "recency",
        "0.100",
        "seed vector + lexical → RELATED 0.83 from n7",
        "retrieved (answerable 0.91). The note says so.",
        "n1 r1 (0.88)",
        "Candidates: 5, of them 3 found by the question and 2 through the graph; 4 cut.",
    ):
        assert part in text
    assert text.index("relevance") < text.index("recency")


def test_recall_by_source_shows_the_notes_that_speak_for_it() -> None:
    text = printed(recall_view(RESULT, by_source=True))
    assert "diary" in text
    assert "Zoë eats fish again" in text


def test_recall_of_nothing_says_so() -> None:
    text = printed(recall_view(replace(RESULT, notes=(), sources=())))
    assert "No note was found." in text


def test_square_brackets_are_text_not_markup() -> None:
    text = printed(note_view(replace(NOTE, content="[bold]x[/bold] [/]", author="[red]")))
    assert "[bold]x[/bold] [/]" in text
    assert "[red]" in text


@pytest.mark.parametrize("hostile", ["\x1b[31m", "\x1b]0;owned\x07", "\x9b2J", "\u202egnp", "\x00"])
def test_stored_text_cannot_steer_the_terminal(hostile: str) -> None:
    note = replace(NOTE, content=f"a{hostile}b", author=f"c{hostile}d", tags=(f"e{hostile}f",))
    text = printed(note_view(note)) + printed(recall_view(replace(
        RESULT, notes=(replace(RANKED, note=note),)
    )))  # fmt: skip
    assert not set("\x1b\x07\x9b\u202e\x00").intersection(text)


def test_safe_leaves_scripts_and_emoji_alone() -> None:
    text = "もなか 👩‍👩‍👧 שלום é"
    assert safe(text) == text


def test_excerpt_is_one_line_cut_at_a_word() -> None:
    assert excerpt("one\n two   three", 9) == "one two…"
    assert excerpt("x" * 50, 10) == "x" * 9 + "…"
    assert excerpt("short") == "short"


def test_event_shows_what_is_new() -> None:
    event = EvolutionEvent(
        id="n1@2",
        note_id="n1",
        kind=EventKind.EVOLVED,
        revision=2,
        at=AT,
        proposer="rule:union-1",
        before=NOTE.state,
        after=replace(NOTE, keywords=("fish", "sardines")).state,
        trigger_id="n2",
        similarity=0.93,
        linked=(Link("n1", "n2", 0.93, 0.93),),
    )
    text = printed(event_view(event))
    assert "evolved n1@2 at 2025-07-01 07:00 UTC by rule:union-1, triggered by n2" in text
    assert "fish, sardines" in text
    assert "linked n2 0.93" in text
    assert "content" not in text


def test_links_show_the_other_end_also_when_its_text_is_unknown() -> None:
    text = printed(links_table("n1", [Link("n1", "n2", 0.8, 0.75)], {}))
    assert "RELATED" in text
    assert "0.800" in text
    assert "0.750" in text
    assert "n2" in text


def test_check_lists_problems() -> None:
    assert printed(check_text(CheckReport(3, 2, 1))).startswith("ok: 3 notes, 2 links, 1 events")
    text = printed(check_text(CheckReport(3, 2, 1, problems=("link a-b has no end b",))))
    assert "damaged" in text
    assert "link a-b has no end b" in text


def test_json_has_fields_by_name_and_times_in_utc() -> None:
    value = as_json(RESULT)
    assert isinstance(value, dict)
    assert value["at"] == "2025-07-01T07:00:00Z"
    assert value["decision"]["outcome"] == "retrieved"
    assert value["notes"][0]["path"][2] == {"kind": "RELATED", "from_id": "n7", "weight": 0.83}
    assert '"Zoë"' in json_text(RESULT)


def test_json_is_never_not_json() -> None:
    with pytest.raises(ValueError, match="JSON compliant"):
        json_text({"score": float("nan")})
    with pytest.raises(TypeError, match="object has no JSON form"):
        as_json(object())
    assert as_json({"days": {AT: {1, 2}}}) == {"days": {str(AT): [1, 2]}}
    assert as_json(AT.astimezone(UTC)) == "2025-07-01T07:00:00Z"
