"""What each reader makes of a file, good and hostile; nothing is stored here."""

from __future__ import annotations

import json
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta, timezone
from io import BytesIO
from typing import Any

import pytest
from import_samples import node, tree

from graphmem import NoteInput, TransferError
from graphmem.model import Source
from graphmem.transfer.chatgpt import chatgpt_notes
from graphmem.transfer.claude import claude_notes
from graphmem.transfer.csv_notes import csv_notes
from graphmem.transfer.importing import Reader
from graphmem.transfer.intake import ImportOptions, Incoming, Item
from graphmem.transfer.log_notes import log_notes
from graphmem.transfer.report import Refusal, Tally


def read(
    reader: Reader, data: bytes | str | object, **options: Any
) -> tuple[list[NoteInput], list[str], Tally]:
    """Notes, refusals in words, and the tally of one pass."""
    if not isinstance(data, (bytes, str)):
        data = json.dumps(data)
    raw = data.encode() if isinstance(data, str) else data
    tally = Tally()
    items: Iterator[Item] = reader(BytesIO(raw), "file", ImportOptions(**options), tally)
    found = list(items)
    notes = [item.note for item in found if isinstance(item, Incoming)]
    return notes, [str(item) for item in found if isinstance(item, Refusal)], tally


# --- tables ----------------------------------------------------------------------------


@pytest.mark.parametrize("delimiter", [",", ";", "\t", "|"])
@pytest.mark.parametrize("end", ["\n", "\r\n"])
def test_a_table_in_any_dialect(delimiter: str, end: str) -> None:
    rows = [
        ["\ufeffText", "Author", "tags", "source", "position", "note"],
        ["hello", "Ada", '"a,b"', "chat", "3", "=SUM(A1)"],
        ['"two\nlines"', "", "", "", "", ""],
    ]
    text = end.join(delimiter.join(row) for row in rows) + end
    notes, refused, tally = read(csv_notes, text)
    assert refused == []
    assert notes[0] == NoteInput(
        "hello",
        author="Ada",
        tags=["a", "b"],
        source=Source("chat", position=3),
        metadata={"note": "=SUM(A1)"},
    )
    assert notes[1] == NoteInput("two\nlines")
    assert list(tally.foreign) == ["note"]


def test_bad_rows_are_named_by_line_and_the_others_read() -> None:
    text = (
        b"id,content,importance,created_at\n"
        b"a,good,0.5,2024-05-01T00:00:00Z\n"
        b"b,short\n"
        b'c,"two\nlines",much,\n'
        b"d,\xff\xfe,,\n"
        b"e,x,,yesterday\n"
        b'f,"bad" quote,,\n'
        b"g,last,,\n"
    )
    notes, refused, _ = read(csv_notes, text)
    assert [note.id for note in notes] == ["a", "g"]
    assert [line.split(":")[0] for line in refused] == [f"line {n}" for n in (3, 4, 6, 7, 8)]
    for part, line in zip(
        ("2 cells", "'much'", "UTF-8", "ISO 8601", "not a row"), refused, strict=True
    ):
        assert part in line


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("name,age\nx,1\n", "no column 'content' or 'text'"),
        ("text,a,a\nx,1,2\n", "'a' twice"),
        ('text,a,"x;y"+\n1,2,3\n', "first row of .* is not a row"),
        ('text,"a', "first row of .* is not a row"),
        (f"text,{'a' * 200_000}\n", "first row of .* is not a row"),
    ],
)
def test_a_table_without_notes_is_refused_whole(text: str, problem: str) -> None:
    with pytest.raises(TransferError, match=problem):
        read(csv_notes, text)


def test_an_open_quote_does_not_swallow_the_table() -> None:
    text = 'text\n"open\n' + "".join(f"row {n}\n" for n in range(40_000))
    notes, refused, _ = read(csv_notes, text)
    assert refused[0].startswith("line 2: is not a row")
    assert notes[-1].content == "row 39999"


# --- logs ------------------------------------------------------------------------------


def test_a_log_with_times_and_continued_lines() -> None:
    text = (
        "[2024-05-01 10:00] Ada: hello: there\n"
        "  and on\n"
        "\n"
        "Note: this still belongs to it\n"
        "2024-05-01T10:01:30.5+02:00 - Claude: hi\n"
    )
    notes, refused, tally = read(log_notes, text)
    assert refused == []
    assert notes[0] == NoteInput(
        "hello: there\n  and on\n\nNote: this still belongs to it",
        source=Source("file", position=1),
        author="Ada",
        created_at=datetime(2024, 5, 1, 10, tzinfo=UTC),
    )
    assert (notes[1].role, notes[1].author) == ("assistant", "Claude")
    assert notes[1].created_at == datetime(2024, 5, 1, 8, 1, 30, 500000, UTC)
    assert tally.read_as_utc == 1


def test_a_log_in_a_zone_and_with_times_of_day() -> None:
    zone = timezone(timedelta(hours=2))
    notes, _, tally = read(log_notes, "2024-05-01 10:00 Ada: x\n", zone=zone, name="talk")
    assert notes[0].created_at == datetime(2024, 5, 1, 8, tzinfo=UTC)
    assert notes[0].source == Source("talk", position=1)
    assert tally.read_as_utc == 0
    notes, _, _ = read(log_notes, "10:05 Ada: x\n10:06 Ben: see http://a.b\n")
    assert [(n.author, n.content, n.metadata) for n in notes] == [
        ("Ada", "x", {"time": "10:05"}),
        ("Ben", "see http://a.b", {"time": "10:06"}),
    ]


def test_a_chat_as_messengers_export_it() -> None:
    text = (
        "[01.05.24, 9:02:11] Jörg Müller: Take the train: it is quicker\n"
        "\u200e[01.05.24, 09:03:00] Ana: \u200eimage omitted\nand more\n"
        "[31.12.2024, 23:59] Ana: Happy new year\n"
    )
    notes, refused, _ = read(log_notes, text)
    assert refused == []
    assert [(n.author, n.content, n.created_at) for n in notes] == [
        ("Jörg Müller", "Take the train: it is quicker", datetime(2024, 5, 1, 9, 2, 11, 0, UTC)),
        ("Ana", "\u200eimage omitted\nand more", datetime(2024, 5, 1, 9, 3, tzinfo=UTC)),
        ("Ana", "Happy new year", datetime(2024, 12, 31, 23, 59, tzinfo=UTC)),
    ]


def test_a_date_that_may_begin_with_day_or_month_stays_as_it_is() -> None:
    text = "1/5/24, 10:03\u202fPM - Zoë: hi\n01/05/2024, 10:04 - Ben: 10:30 then\n"
    notes, _, _ = read(log_notes, text)
    assert [(n.author, n.content, n.created_at, n.metadata) for n in notes] == [
        ("Zoë", "hi", None, {"time": "1/5/24, 10:03\u202fPM"}),
        ("Ben", "10:30 then", None, {"time": "01/05/2024, 10:04"}),
    ]


def test_what_is_no_message_is_named() -> None:
    data = b"once upon\n\xff\xfe\nAda: yes\n2024-13-01 10:00 Ben: a month too many\nBen: ok\n"
    notes, refused, _ = read(log_notes, data)
    assert [note.content for note in notes] == ["yes", "ok"]
    assert [line.split(":")[0] for line in refused] == ["line 1", "line 2", "line 4"]


# --- ChatGPT ---------------------------------------------------------------------------


def test_the_branch_that_was_shown() -> None:
    conversation = tree(
        node("root", None),
        node(
            "sys",
            "root",
            "hidden",
            role="system",
            metadata={"is_visually_hidden_from_conversation": True},
        ),
        node("q", "sys", "Which seat?", time=1714550001.25),
        node("old", "q", "The old answer", role="assistant"),
        node("new", "q", "The new answer", role="assistant", time=1714550002),
        current="new",
    )
    notes, refused, _ = read(chatgpt_notes, [conversation])
    assert refused == []
    assert [(n.id, n.role, n.author, n.content) for n in notes] == [
        ("c1:m-q", "user", None, "Which seat?"),
        ("c1:m-new", "assistant", "ChatGPT", "The new answer"),
    ]
    assert notes[0].source == Source("c1", position=3)
    assert notes[0].created_at == datetime(2024, 5, 1, 7, 53, 21, 250000, UTC)
    assert notes[0].metadata == {"title": "Seats"}


def test_parts_that_are_no_text_are_named() -> None:
    picture = {"content_type": "image_asset_pointer", "asset_pointer": "file-service://x"}
    spoken = {"content_type": "audio_transcription", "text": "as I said"}
    conversation = tree(
        node("a", None, [picture, "look", spoken]),
        node("b", "a", "", content={"content_type": "code", "text": "print(1)"}),
        node("c", "b", "", content={"content_type": "thoughts", "thoughts": []}),
        node("d", "c", "", content={"content_type": "tether_browsing_display"}),
        current="d",
    )
    notes, _, _ = read(chatgpt_notes, [conversation])
    assert [note.content for note in notes] == [
        "[image_asset_pointer]\nlook\nas I said",
        "print(1)",
        "[tether_browsing_display]",
    ]
    assert notes[0].metadata == {"title": "Seats", "parts": ["image_asset_pointer"]}


def test_damaged_conversations_are_named_and_the_others_read() -> None:
    loop = tree(node("a", "b", "x"), node("b", "a", "y"), current="a")
    late = tree(node("a", None, "x", time=1e300), node("b", "a", "kept"), current="b")
    nameless = tree(node("a", None, "first", time=1), node("b", "a", "last", time=2), current=None)
    odd = tree(node("a", None, "x", author="Ada"), node("b", "a", "kept too"), current="b")
    data = [loop, {"title": "no tree"}, "text", late, nameless, odd]
    notes, refused, _ = read(chatgpt_notes, data)
    assert [note.content for note in notes] == ["kept", "first", "last", "kept too"]
    assert [line.split(":")[0] for line in refused] == [
        "conversation 1",
        "conversation 2",
        "conversation 3",
        "conversation 4, message 1",
        "conversation 6, message 1",
    ]


def test_a_file_that_was_cut_off_gives_what_was_whole() -> None:
    data = json.dumps([tree(node("a", None, "whole"), current="a"), {"mapping": {}}])[:-9]
    notes, refused, _ = read(chatgpt_notes, data)
    assert [note.content for note in notes] == ["whole"]
    assert refused[0].startswith("after conversation 1: is not whole JSON")


# --- Claude ----------------------------------------------------------------------------


def test_a_claude_conversation() -> None:
    chat = [
        {"uuid": "u1", "sender": "human", "text": "old form", "created_at": "2024-05-01T10:00:00Z"},
        {
            "uuid": "u2",
            "sender": "assistant",
            "text": "",
            "content": [
                {"type": "text", "text": "an answer"},
                {"type": "tool_use", "name": "search", "input": {}},
            ],
            "created_at": "2024-05-01T10:00:01.5+00:00",
            "attachments": [{"file_name": "trip.pdf", "extracted_content": "..."}],
            "files": None,
        },
        {"uuid": "u3", "sender": "human", "text": "x", "created_at": "soon"},
        {"uuid": "u4", "sender": "human", "text": "", "content": []},
    ]
    data = [{"uuid": "c", "name": "Trip", "chat_messages": chat}, {"name": "no messages"}]
    notes, refused, _ = read(claude_notes, data)
    assert [(n.id, n.role, n.author, n.content) for n in notes] == [
        ("c:u1", "user", None, "old form"),
        ("c:u2", "assistant", "Claude", "an answer\n[tool_use: search]\n[file: trip.pdf]"),
    ]
    assert notes[1].metadata == {"title": "Trip", "parts": ["tool_use: search", "file: trip.pdf"]}
    assert notes[1].source == Source("c", position=2)
    assert [line.split(":")[0] for line in refused] == [
        "conversation 1, message 3",
        "conversation 2",
    ]
