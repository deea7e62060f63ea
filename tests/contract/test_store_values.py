"""Whatever text, number or time goes in comes out the same, and is never a query."""

from __future__ import annotations

import json
from dataclasses import replace
from datetime import UTC, datetime, timedelta

import numpy as np
import pytest
from contract.builders import (
    EAST,
    MODEL,
    T0,
    apply,
    by_rank,
    chain,
    change,
    full_note,
    ids,
    lexical,
    link,
    make_event,
    make_note,
    new,
    question,
    reading,
    snapshot,
    stored,
    use,
)

from graphmem.model import Given, Json, NoteFilter, NoteRecord, Scope, Source
from graphmem.ports import NoteStore

HOSTILE = (
    " ",
    " leading and trailing ",
    "N1",
    "n1",
    "7",
    "a/b\nc",
    "a\tb",
    "a\r\nb",
    "x@1",
    "x@1@2",
    "x",
    "'",
    '"',
    "`",
    "\\",
    "\\u0041",
    "{}",
    "$id",
    "a:b",
    "City/State",
    "two words",
    "é",
    "e\u0301",
    "Ａ",
    "K",
    "\u212a",
    "ﬁ",
    "ß",
    "İstanbul",
    "/b testing/",
    "tb-",
    "C++",
    "board~2",
    "board^3",
    "[1 TO 5]",
    "par*er?",
    "a AND b OR NOT c",
    "&&",
    "||",
    "') DETACH DELETE n //",
    "'; DROP TABLE notes; --",
    "%_",
    "null",
    "None",
    "NaN",
    "true",
    "\u2028",
    "a\u0085b",
    "a\u2029b",
    "a\x0b\x0c\x1cb",
    "\u202eevil",
    "\u200b",
    "\ufeff",
    "שלום",
    "多租户",
    "ใบแจ้งหนี้",
    "\U0001f469\u200d\U0001f680",
    "\U0010ffff",
    "\uffff",
    "x" * 900,
)


def test_hostile_ids_are_ids(store: NoteStore, scope: Scope) -> None:
    notes = {id_: make_note(id_, scope.namespace, source="s", position=1) for id_ in HOSTILE}
    apply(store, scope, *(new(note, EAST, ["w"]) for note in notes.values()))
    assert store.get(scope, HOSTILE) == notes
    assert [note.id for note in store.notes(scope)] == sorted(HOSTILE)
    assert reading(store, scope, lambda r: r.taken(HOSTILE)) == set(HOSTILE)
    assert reading(store, scope, lambda r: r.of_source("s")) == tuple(sorted(HOSTILE))
    found = store.candidates(scope, question(EAST, "w", vector_seeds=99))
    assert ids(found) == by_rank(found, "vector_rank") == sorted(HOSTILE)
    order = sorted(HOSTILE)
    pairs = sorted((order[i + 1], order[i]) for i in range(len(order) - 1))
    assert [each.pair for each in chain(store, scope)] == pairs
    assert store.check(scope).ok


def test_hostile_ids_can_be_linked_told_and_erased(store: NoteStore, scope: Scope) -> None:
    notes = [make_note(id_, scope.namespace) for id_ in HOSTILE]
    hub = make_note("hub", scope.namespace)
    links = [link("hub", id_) for id_ in HOSTILE]
    events = [make_event(note, 2, trigger="hub") for note in notes]
    apply(store, scope, new(hub, EAST), *(new(n, EAST) for n in notes), links=links, events=events)
    for note, each, event in zip(notes, links, events, strict=True):
        assert store.links(scope, note.id) == (each,)
        assert store.events(scope, note.id) == (event,)
        assert store.event(scope, event.id) == event
        around = store.neighbourhood(scope, note.id)
        assert [n.id for n in around.notes] == sorted(["hub", note.id])
    store.record_use(scope, use(*HOSTILE, pairs=[each.pair for each in links]))
    assert {note.recall_count for note in store.get(scope, HOSTILE).values()} == {1}
    assert {each.retrievals for each in store.all_links(scope)} == {1}
    apply(store, scope, erased=HOSTILE)
    assert [note.id for note in store.notes(scope)] == ["hub"]
    assert list(store.all_links(scope)) == []
    assert list(store.all_events(scope)) == []
    assert store.check(scope).ok


def test_hostile_texts_in_every_field(store: NoteStore, scope: Scope) -> None:
    """Each text in each field; a filter on it finds the note that has it, and only that."""
    notes = [
        replace(
            make_note(f"n{i:02}", scope.namespace),
            content=text,
            context=text,
            role=text,
            author=text,
            source=Source(text, revision=text, position=i, start=0, end=len(text)),
            keywords=(text, "k"),
            tags=(text, f"t{i}"),
            metadata={text: text, "list": [text, {text: None}]},
            given=Given(keywords=(text,), tags=(text,), context=text),
        )
        for i, text in enumerate(HOSTILE)
    ]
    apply(
        store, scope, *(new(note, EAST, [text]) for note, text in zip(notes, HOSTILE, strict=True))
    )
    assert list(store.notes(scope)) == notes
    for note, text in zip(notes, HOSTILE, strict=True):
        only = frozenset({text})
        for where in (NoteFilter(sources=only), NoteFilter(authors=only), NoteFilter(tags=only)):
            assert [each.id for each in store.notes(scope, where)] == [note.id]
            assert ids(store.candidates(scope, question(EAST, where=where))) == [note.id]
        for seeing in (replace(scope, sources=only), replace(scope, authors=only)):
            assert ids(store.candidates(seeing, question(EAST))) == [note.id]
            assert store.stats(seeing).notes == 1
        assert reading(store, scope, lambda r, text=text: r.of_source(text)) == (note.id,)


def test_hostile_words_are_words(store: NoteStore, scope: Scope) -> None:
    words = [text for text in HOSTILE if not any(c.isspace() for c in text)]
    apply(
        store,
        scope,
        *(
            new(make_note(f"n{i:02}", scope.namespace), None, [word])
            for i, word in enumerate(words)
        ),
    )
    for i, word in enumerate(words):
        found = store.candidates(scope, lexical(word))
        assert ids(found) == [f"n{i:02}"], word
        assert found.document_frequency == {word: 1}
        assert found.candidates[0].terms == (word,)
    everything = store.candidates(scope, lexical(*words))
    assert len(everything.candidates) == len(words)


def test_a_thousand_words_may_be_asked_at_once(store: NoteStore, scope: Scope) -> None:
    words = [f"w{i}" for i in range(1500)]
    apply(store, scope, new(make_note("a", scope.namespace), None, words[700:900]))
    apply(store, scope, new(make_note("b", scope.namespace), None, words[1499:]))
    found = store.candidates(scope, lexical(*words))
    assert by_rank(found, "lexical_rank") == ["a", "b"]
    assert sum(found.document_frequency.values()) == 201


def test_long_texts_and_many_words(store: NoteStore, scope: Scope) -> None:
    text = "Zürich 多 \U0001f600 " * 12_500
    words = [f"w{i % 5000}" for i in range(40_000)]
    note = make_note("a", scope.namespace, content=text)
    apply(store, scope, new(note, EAST, words))
    (record,) = store.records(scope)
    assert record.note.content == text
    assert record.terms == tuple(words)
    (candidate,) = store.candidates(scope, lexical("w4999")).candidates
    assert candidate.terms == tuple(words)


METADATA: tuple[dict[str, Json], ...] = (
    {},
    {"none": None, "false": False, "true": True, "zero": 0, "one": 1, "empty": ""},
    {"zero": 0.0, "minus": -0.0, "one": 1.0, "third": 1 / 3, "tiny": 5e-324, "huge": 1.5e308},
    {"big": 2**63, "bigger": 10**40, "small": -(2**63), "exact": 2**53 + 1},
    {"pages": [], "object": {}, "mixed": [1, 1.0, True, None, "1", [[]], {"a": {"b": []}}]},
    {"": "empty key", "a.b c": "dotted", "City/State": "punctuated", "`": "quoted", "é": "é"},
    {"e\u0301": "decomposed", "\u2028": "separator", "$key": "$value", "id": "not the note's"},
    {"text": "2025-03-01T12:00:00Z", "number": "007", "quote": '"', "slash": "\\n\n"},
)


@pytest.mark.parametrize("metadata", METADATA)
def test_metadata_keeps_values_and_types(
    store: NoteStore, scope: Scope, metadata: dict[str, Json]
) -> None:
    note = make_note("a", scope.namespace, metadata=metadata)
    event = replace(make_event(note, 2), after=note.state)
    apply(store, scope, new(note, EAST), events=[event])
    written = json.dumps(metadata, sort_keys=True)
    (read,) = store.notes(scope)
    (told,) = store.all_events(scope)
    for found in (read.metadata, told.before.metadata, told.after.metadata):
        assert json.dumps(dict(found), sort_keys=True) == written


TIMES = (
    datetime(1, 1, 1, tzinfo=UTC),
    datetime(1582, 10, 10, 1, 2, 3, 4, tzinfo=UTC),
    datetime(1969, 12, 31, 23, 59, 59, 999999, tzinfo=UTC),
    datetime(1970, 1, 1, tzinfo=UTC),
    datetime(2024, 2, 29, 18, 29, 59, 123456, tzinfo=UTC),
    datetime(2025, 3, 1, 12, tzinfo=UTC),
    datetime(2025, 3, 1, 12, 0, 0, 1, tzinfo=UTC),
    datetime(2038, 1, 19, 3, 14, 8, tzinfo=UTC),
    datetime(9999, 12, 31, 23, 59, 59, 999999, tzinfo=UTC),
)


def test_times_keep_microseconds_and_zone(store: NoteStore, scope: Scope) -> None:
    notes = [
        replace(
            make_note(f"n{i}", scope.namespace, created_at=time),
            given=Given(created_at=time),
            last_accessed_at=time,
        )
        for i, time in enumerate(TIMES)
    ]
    links = [
        link(notes[0].id, note.id, created_at=time, last_retrieved_at=time)
        for note, time in zip(notes[1:], TIMES[1:], strict=True)
    ]
    events = [
        replace(make_event(note, 2), at=time) for note, time in zip(notes, TIMES, strict=True)
    ]
    apply(store, scope, *(new(note, EAST) for note in notes), links=links, events=events)
    assert list(store.notes(scope)) == notes
    assert list(store.all_links(scope)) == links
    assert list(store.all_events(scope)) == events
    for note in store.notes(scope):
        assert note.created_at.utcoffset() == timedelta(0)
        assert note.last_accessed_at.utcoffset() == timedelta(0)
    for i, time in enumerate(TIMES):
        names = [note.id for note in store.notes(scope, NoteFilter(as_of=time))]
        assert names == [f"n{j}" for j in range(i + 1)]
        names = [note.id for note in store.notes(scope, NoteFilter(since=time))]
        assert names == [f"n{j}" for j in range(i, len(TIMES))]


def test_a_filter_compares_instants_not_clock_faces(store: NoteStore, scope: Scope) -> None:
    from datetime import timezone

    tokyo = timezone(timedelta(hours=9))
    apply(store, scope, new(make_note("a", scope.namespace, created_at=T0), EAST))
    same = T0.astimezone(tokyo)
    assert [n.id for n in store.notes(scope, NoteFilter(since=same))] == ["a"]
    assert [n.id for n in store.notes(scope, NoteFilter(as_of=same))] == ["a"]
    assert [n.id for n in store.notes(scope, NoteFilter(until=same))] == []


@pytest.mark.parametrize("number", [0.0, 1.0, 1 / 3, 0.1 + 0.2, 5e-324, 1 - 2**-53])
def test_numbers_keep_every_bit(store: NoteStore, scope: Scope, number: float) -> None:
    a = make_note("a", scope.namespace, importance=number)
    b = replace(make_note("b", scope.namespace), given=Given(importance=number))
    each = link("a", "b", number)
    event = replace(make_event(a, 2), similarity=number, linked=(each,))
    apply(store, scope, new(a, EAST), new(b, EAST), links=[each], events=[event])
    assert list(store.notes(scope)) == [a, b]
    assert list(store.all_links(scope)) == [each]
    assert list(store.all_events(scope)) == [event]


def test_vectors_keep_every_bit(store: NoteStore, scope: Scope) -> None:
    rng = np.random.default_rng(11)
    vectors = [rng.standard_normal(8) * 10.0 ** rng.integers(-8, 1, 8) for _ in range(40)]
    kept = [(vector / np.linalg.norm(vector)).astype(np.float32) for vector in vectors]
    kept[0][3] = np.float32(-0.0)
    kept[1][3] = np.float32(1e-45)
    apply(
        store,
        scope,
        *(new(make_note(f"n{i:02}", scope.namespace), vector) for i, vector in enumerate(kept)),
    )
    for record, vector in zip(store.records(scope), kept, strict=True):
        assert record.embedding is not None
        assert record.embedding.dtype == np.float32
        assert record.embedding.tobytes() == vector.tobytes()


def test_counters_and_optional_fields(store: NoteStore, scope: Scope) -> None:
    full = replace(
        full_note("full", scope.namespace),
        revision=41,
        content_revision=17,
        feedback=-(2**31),
        recall_count=2**40,
        archived=True,
    )
    bare = make_note("bare", scope.namespace)
    partly = replace(
        bare,
        id="partly",
        source=Source("s", start=0, end=0),
        keywords=(),
        given=Given(keywords=(), tags=(), context="", importance=0.0),
    )
    records = [NoteRecord(note, (), None) for note in (bare, full, partly)]
    store.load(scope, records, [], [], MODEL)
    assert [stored(record) for record in store.records(scope)] == [stored(r) for r in records]


def test_order_and_repetition_of_words_are_kept(store: NoteStore, scope: Scope) -> None:
    note = replace(
        make_note("a", scope.namespace), keywords=("b", "a", "b"), tags=("z", "Z", "z", "a")
    )
    apply(store, scope, new(note, EAST, ["b", "a", "b"]))
    assert store.get(scope, ["a"])["a"] == note


# --- copies ------------------------------------------------------------------------------


def test_what_was_passed_in_can_change_afterwards(store: NoteStore, scope: Scope) -> None:
    metadata: dict[str, Json] = {"list": [1], "object": {"a": 1}}
    vector = EAST.copy()
    apply(store, scope, new(make_note("a", scope.namespace, metadata=metadata), vector))
    before = snapshot(store, scope)
    metadata["list"].append(2)  # type: ignore[union-attr] # a list, three lines up
    metadata["new"] = True
    vector[:] = 0
    assert snapshot(store, scope) == before
    assert store.nearest(scope, EAST[None], 1)[0][0].cosine == pytest.approx(1.0, abs=1e-6)


def test_what_was_returned_can_change_afterwards(store: NoteStore, scope: Scope) -> None:
    note = make_note("a", scope.namespace, metadata={"list": [1], "object": {"a": 1}})
    apply(store, scope, new(note, EAST), events=[make_event(note, 2)])
    before = snapshot(store, scope)

    def spoil(metadata: object) -> None:
        try:
            metadata["list"].append(2)  # type: ignore[index] # a mapping, or refused
            metadata["new"] = True  # type: ignore[index] # a mapping, or refused
        except (AttributeError, TypeError):
            pass  # a read-only mapping keeps its word as well

    for (record,) in (list(store.records(scope)),):
        spoil(record.note.metadata)
        if record.embedding is not None and record.embedding.flags.writeable:
            record.embedding[:] = 0
    for vector in reading(store, scope, lambda r: r.vectors(["a"])).values():
        if vector.flags.writeable:
            vector[:] = 0
    spoil(store.get(scope, ["a"])["a"].metadata)
    spoil(next(iter(store.notes(scope))).metadata)
    spoil(store.candidates(scope, question(EAST)).candidates[0].note.metadata)
    spoil(store.neighbourhood(scope, "a").notes[0].metadata)
    spoil(store.events(scope, "a")[0].before.metadata)
    assert snapshot(store, scope) == before
    assert store.nearest(scope, EAST[None], 1)[0][0].cosine == pytest.approx(1.0, abs=1e-6)


def test_a_read_note_can_be_written_back(store: NoteStore, scope: Scope) -> None:
    apply(store, scope, new(full_note("a", scope.namespace), EAST, ["w"]))
    read = store.get(scope, ["a"])["a"]
    apply(store, scope, change(read, None, ["w"]))
    assert store.get(scope, ["a"])["a"] == replace(read, revision=2)
