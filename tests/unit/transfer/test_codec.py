import json
import re
from collections.abc import Callable
from dataclasses import replace
from datetime import UTC, datetime, timedelta, timezone

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from graphmem.errors import TransferError
from graphmem.model import (
    EventKind,
    EvolutionEvent,
    Given,
    Link,
    ModelIdentity,
    Note,
    NoteRecord,
    Source,
    event_id,
)
from graphmem.transfer.decoding import (
    decode,
    decode_header,
    decode_plain,
    decode_vector,
    explain,
    parse_object,
)
from graphmem.transfer.encoding import (
    Counts,
    Record,
    canonical,
    encode,
    encode_end,
    encode_header,
    encode_vector,
    note_digest,
)
from graphmem.transfer.records import EndLine

AT = datetime(2024, 2, 29, 18, 29, 59, 123456, tzinfo=UTC)
NOTE = Note(
    id="n1",
    namespace="here",
    content="Zoë kept 食べ物 in Málaga\u2028and\u2029on\u0085\x0b\r\n👩‍👩‍👧",
    role="user",
    author="Zoë",
    source=Source("chat-1", "2", 7, 0, 12),
    created_at=AT,
    keywords=("zoë", "málaga"),
    tags=("food",),
    context="About food.",
    importance=0.1 + 0.2,
    metadata={"none": None, "off": False, "zero": 0.0, "list": [1, "x", {"a": []}], "": ""},
    last_accessed_at=AT + timedelta(days=1, microseconds=1),
    feedback=-2,
    recall_count=5,
    revision=4,
    content_revision=2,
    archived=True,
    given=Given(tags=("food",), importance=0.1 + 0.2, created_at=AT),
)
VECTOR = np.array([0.6, -0.8, 1e-20], dtype=np.float32)
LINK = Link("n1", "n2", 0.7200000286102295, 0.8, created_at=AT, retrievals=3, last_retrieved_at=AT)
EVENT = EvolutionEvent(
    id=event_id("n1", 4),
    note_id="n1",
    kind=EventKind.EVOLVED,
    revision=4,
    at=AT,
    proposer="rule:union-1",
    before=replace(NOTE, archived=False, given=Given()).state,
    after=NOTE.state,
    trigger_id="n2",
    similarity=0.93,
    linked=(LINK,),
    unlinked=(replace(LINK, to_id="n3", created_at=None, last_retrieved_at=None),),
)


def complaint(call: Callable[[], object]) -> str:
    try:
        call()
    except ValueError as error:
        return explain(error)
    pytest.fail("was accepted")


def round_trip(record: Record, *, vectors: bool = False) -> object:
    return decode(parse_object(encode(record, vectors=vectors)), "here")


def test_note_comes_back_equal() -> None:
    back = round_trip(NoteRecord(NOTE, ("zoë",), VECTOR))
    assert isinstance(back, NoteRecord)
    assert back.note == NOTE
    assert back.embedding is None
    assert back.terms == ()


def test_vector_comes_back_bit_for_bit_when_asked_for() -> None:
    sentences = np.array([[127] * len(VECTOR), [-3] * len(VECTOR)], dtype=np.int8)
    back = round_trip(NoteRecord(NOTE, (), VECTOR, sentences), vectors=True)
    assert back.sentences is not None
    assert back.sentences.tolist() == sentences.tolist()
    assert isinstance(back, NoteRecord)
    assert back.embedding is not None
    assert back.embedding.tobytes() == VECTOR.tobytes()
    assert back.embedding.dtype == np.float32


@pytest.mark.parametrize("record", [LINK, EVENT, replace(EVENT, trigger_id=None, similarity=None)])
def test_links_and_events_come_back_equal(record: Record) -> None:
    assert round_trip(record) == record


def test_note_lands_in_the_namespace_of_the_reader() -> None:
    back = decode(parse_object(encode(NoteRecord(NOTE, (), None))), "elsewhere")
    assert isinstance(back, NoteRecord)
    assert back.note == replace(NOTE, namespace="elsewhere")


def test_no_reader_splits_a_line() -> None:
    line = encode(NoteRecord(NOTE, (), None))
    assert line.splitlines() == [line]
    assert "食べ物" in line


def test_equal_instants_in_other_zones_give_equal_bytes() -> None:
    tokyo = timezone(timedelta(hours=9))
    moved = replace(NOTE, created_at=AT.astimezone(tokyo))
    assert encode(NoteRecord(moved, (), None)) == encode(NoteRecord(NOTE, (), None))


def test_numbers_that_are_not_finite_are_never_written() -> None:
    with pytest.raises(ValueError, match="JSON compliant"):
        canonical({"x": float("nan")})


@given(st.text(), st.dictionaries(st.text(), st.text()))
def test_any_storable_text_survives(text: str, fields: dict[str, str]) -> None:
    line = canonical({"text": text, "fields": fields})
    assert len(line.splitlines()) == 1
    assert json.loads(line) == {"text": text, "fields": fields}


@given(st.floats(0, 1), st.floats(-1, 1))
def test_every_weight_and_cosine_survives(weight: float, cosine: float) -> None:
    link = replace(LINK, weight=weight, cosine=cosine)
    assert round_trip(link) == link


def test_header_and_end() -> None:
    header = decode_header(parse_object(encode_header("ns", ModelIdentity("m", 3))))
    assert header.namespace == "ns"
    assert header.model is not None
    assert (header.model.model_id, header.model.dimension) == ("m", 3)
    assert decode_header(parse_object(encode_header("ns", None))).model is None
    counts = Counts().plus(LINK).plus(EVENT).plus(NoteRecord(NOTE, (), None))
    end = decode(parse_object(encode_end(counts)), "ns")
    assert isinstance(end, EndLine)
    assert (end.notes, end.links, end.events) == (1, 1, 1)


def test_newer_format_is_refused() -> None:
    fields = dict(parse_object(encode_header("ns", None)))
    with pytest.raises(TransferError, match="version 99"):
        decode_header({**fields, "version": 99})


def test_digest_tells_state_but_not_use() -> None:
    assert note_digest(replace(NOTE, recall_count=9, feedback=1)) == note_digest(NOTE)
    assert note_digest(replace(NOTE, content="other")) != note_digest(NOTE)
    assert note_digest(replace(NOTE, revision=5)) != note_digest(NOTE)


@pytest.mark.parametrize(
    ("change", "reason"),
    [
        ({"created_at": "2025-02-30T00:00:00Z"}, "created_at: .*not a time that exists"),
        ({"created_at": "2025-02-03T00:00:00"}, "created_at: has no time zone"),
        ({"created_at": 7}, "created_at: must be a text in ISO 8601"),
        ({"importance": 1.5}, "importance: .*less than or equal to 1"),
        ({"revision": 0}, "revision: .*greater than or equal to 1"),
        ({"content_revision": 9}, "content_revision is greater than revision"),
        ({"content": "  "}, "content: is blank"),
        ({"id": 7}, "id: .*valid string"),
        ({"id": " n1 "}, "id: begins or ends with white space"),
        ({"surprise": 1}, "surprise: extra inputs"),
        ({"embedding": "*"}, "embedding is not base64"),
        ({"embedding": "AACAPwAAAAA=", "sentences": "*"}, "sentences is not base64"),
        ({"embedding": "AACAPwAAAAA=", "sentences": "AQID"}, "sentences have 3 bytes"),
        ({"embedding": "AACAPwAAAAA=", "sentences": "AQIAAA=="}, "a vector of zeros"),
        ({"embedding": "AAAA"}, "embedding has 3 bytes"),
        ({"embedding": "AADAfw=="}, "not finite"),
        ({"record": "nothing"}, "'record' must be note, link, event or end"),
    ],
)
def test_damaged_note_lines_name_the_field(change: dict[str, object], reason: str) -> None:
    fields = {**parse_object(encode(NoteRecord(NOTE, (), None))), **change}
    assert re.search(reason, complaint(lambda: decode(fields, "here")))


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("{", "is not JSON"),
        ("[1]", "is a JSON list"),
        ('"x"', "is a JSON str"),
        ('{"a": NaN}', "NaN"),
        ('{"a": -Infinity}', "-Infinity"),
        ('{"a": 1, "a": 2}', "the key 'a' twice"),
        ('{"a": "x\\u0000"}', "a holds a NUL"),
        ('{"a": {"b": ["\\ud800"]}}', "a.b holds a lone surrogate"),
        ('{"\\udc8f": 1}', "lone surrogate"),
        ("[" * 100_000, "nests too deeply"),
        ('{"a": ' + "1" * 5000 + "}", "digits"),
    ],
)
def test_lines_that_are_not_usable_json(text: str, reason: str) -> None:
    with pytest.raises(ValueError, match=reason):
        parse_object(text)


def test_surrogate_pairs_are_a_character() -> None:
    assert parse_object('{"a": "\\ud83d\\ude00"}') == {"a": "😀"}


def test_plain_line_with_every_field() -> None:
    note, foreign = decode_plain(
        {
            "text": "hello",
            "id": "a",
            "source": "log",
            "position": 3,
            "author": "Ada",
            "created_at": "2025-07-21T20:30+02:00",
            "tags": "red",
            "metadata": {"page": 2},
            "mood": "fine",
        }
    )
    assert note.content == "hello"
    assert note.source == Source("log", position=3)
    assert note.tags == "red"
    assert note.created_at == datetime(2025, 7, 21, 18, 30, tzinfo=UTC)
    assert note.metadata == {"page": 2, "mood": "fine"}
    assert foreign == ("mood",)


@pytest.mark.parametrize(
    ("fields", "reason"),
    [
        ({"id": "a"}, "has neither 'content' nor 'text'"),
        ({"content": None}, "content: "),
        ({"content": 7}, "content: "),
        ({"content": "x", "id": 7}, "id: "),
        (
            {"content": "x", "created_at": "\u0662\u0660\u0662\u0665-\u0660\u0667-\u0662\u0661"},
            "created_at: .*not an ISO 8601 time",
        ),
        ({"content": "x", "created_at": 1753129830}, "created_at: must be a text"),
        ({"content": "x", "source": {"position": 1}}, "source.id: "),
        ({"content": "x", "source": {"id": "s", "page": 1}}, "source.page: "),
        ({"content": "x", "importance": "high"}, "importance: "),
    ],
)
def test_plain_lines_that_are_wrong_name_the_field(fields: dict[str, object], reason: str) -> None:
    assert re.search(reason, complaint(lambda: decode_plain(fields)))


def test_vector_of_any_length_survives() -> None:
    vector = np.linspace(-1, 1, 384, dtype=np.float32)
    assert decode_vector(encode_vector(vector)).tobytes() == vector.tobytes()
