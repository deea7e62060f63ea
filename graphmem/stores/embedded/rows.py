"""How notes, links and events lie in the embedded file's rows.

Times are integers: microseconds since 1970-01-01 UTC. Term numbers and vectors are
little-endian int32 and float32 blobs, so that a file can move between machines.
"""

from __future__ import annotations

import json
import struct
from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from graphmem.model import (
    DEFAULT_IMPORTANCE,
    Disagreement,
    DisagreementKind,
    EventKind,
    EvolutionEvent,
    Given,
    Json,
    Link,
    LinkKind,
    Note,
    NoteState,
    Source,
    Vector,
    supersedes,
)
from graphmem.stores.embedded.damage import DamagedRowError, decodes

Row: TypeAlias = tuple[Any, ...]
"""A row as SQLite takes and returns it: its columns are of mixed types."""

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_NOTHING_GIVEN = Given()
_SEPARATOR = "\x1f"
_AS_JSON = "\x1e"


def to_micros(moment: datetime) -> int:
    """Return microseconds since 1970 in UTC, exactly.

    >>> to_micros(datetime(1970, 1, 1, 0, 0, 1, tzinfo=UTC))
    1000000
    """
    since = moment - _EPOCH
    return (since.days * 86_400 + since.seconds) * 1_000_000 + since.microseconds


def from_micros(micros: int) -> datetime:
    """Return the moment of :func:`to_micros`, in UTC."""
    return _EPOCH + timedelta(0, 0, micros)


def join_texts(texts: Sequence[str]) -> str:
    r"""Join texts with the unit separator; as JSON when a text holds control marks.

    >>> join_texts(("red", "green"))
    'red\x1fgreen'
    >>> split_texts(join_texts(("a\x1fb", "")))
    ('a\x1fb', '')
    """
    joined = _SEPARATOR.join(texts)
    plain = joined.count(_SEPARATOR) == len(texts) - 1 and joined[:1] not in ("", _AS_JSON)
    if plain or not texts:
        return joined
    return _AS_JSON + _to_json(list(texts))


def split_texts(joined: str) -> tuple[str, ...]:
    """Return the texts :func:`join_texts` joined."""
    if not joined:
        return ()
    if joined[0] == _AS_JSON:
        return tuple(json.loads(joined[1:]))
    return tuple(joined.split(_SEPARATOR))


def to_blob(vector: Vector) -> bytes:
    """Return the vector's bytes."""
    return np.ascontiguousarray(vector, dtype="<f4").tobytes()


def term_numbers(blob: bytes) -> tuple[int, ...]:
    """Return the term numbers of one note's blob; a broken last one is left out."""
    count = len(blob) // 4
    return struct.unpack_from(f"<{count}i", blob)


def numbers_of(blob: bytes) -> NDArray[np.int32]:
    """Return the term numbers of a blob; a broken last one is left out."""
    numbers = np.frombuffer(blob, dtype="<i4", count=len(blob) // 4)
    return numbers.astype(np.int32, copy=False)


def numbers_blob(numbers: Sequence[int]) -> bytes:
    """Return term numbers as a blob."""
    return struct.pack(f"<{len(numbers)}i", *numbers)


class _NoMetadata(dict[str, Json]):
    """An empty mapping that stays empty: one serves all notes without metadata."""

    def __setitem__(self, key: str, value: Json) -> None:
        raise TypeError("the metadata of a stored note cannot be changed in place")


NO_METADATA = _NoMetadata()
"""The metadata of notes that have none."""


# --- notes -----------------------------------------------------------------------------

NOTE_COLUMNS = (
    "key, id, created_at, archived, source_id, position, author, revision, terms, tags, "
    "importance_score, recall_count, content_revision, feedback, last_accessed_at, role, "
    "content, keywords, context, source_revision, source_start, source_end, metadata, given"
)
"""The columns of table ``note`` in the order of :func:`note_row`."""


def note_row(key: int, note: Note, terms: bytes) -> Row:
    """Return the note as a row of :data:`NOTE_COLUMNS`."""
    source = note.source
    place: tuple[Any, ...] = (None, None, None, None, None)
    if source is not None:
        place = (source.id, source.position, source.revision, source.start, source.end)
    return (
        key,
        note.id,
        to_micros(note.created_at),
        int(note.archived),
        place[0],
        place[1],
        note.author,
        note.revision,
        terms,
        join_texts(note.tags),
        float(note.importance),
        note.recall_count,
        note.content_revision,
        note.feedback,
        to_micros(note.last_accessed_at),
        note.role,
        note.content,
        join_texts(note.keywords),
        note.context,
        *place[2:],
        _to_json(dict(note.metadata)) if note.metadata else None,
        _given_json(note.given),
    )


@decodes("a note")
def note_of(namespace: str, row: Row) -> Note:
    """Return the note of a row of :data:`NOTE_COLUMNS`."""
    (
        _, note_id, created_at, archived, source_id, position, author, revision, _, tags,
        importance, recalls, content_revision, feedback, accessed_at, role, content, keywords,
        context, source_revision, start, end, metadata, given,
    ) = row  # fmt: skip
    if type(content) is not str or type(note_id) is not str or type(role) is not str:
        raise DamagedRowError(f"note {note_id!r} holds bytes or numbers in place of its text")
    source = None
    if source_id is not None:
        source = Source(source_id, source_revision, position, start, end)
    created = from_micros(created_at)
    return Note(
        note_id,
        namespace,
        content,
        role,
        author,
        source,
        created,
        split_texts(keywords),
        split_texts(tags),
        context,
        importance,
        json.loads(metadata) if metadata else NO_METADATA,
        created if accessed_at == created_at else from_micros(accessed_at),
        feedback,
        recalls,
        revision,
        content_revision,
        archived == 1,
        _given_of(json.loads(given)) if given else _NOTHING_GIVEN,
    )


# --- links -----------------------------------------------------------------------------


def link_row(low: int, high: int, link: Link) -> Row:
    """Return the link between two note keys as a row of table ``link``."""
    return (
        low,
        high,
        float(link.weight),
        float(link.cosine),
        _micros_or_none(link.created_at),
        link.retrievals,
        _micros_or_none(link.last_retrieved_at),
    )


def link_of(low_id: str, high_id: str, row: Row) -> Link:
    """Return the link of a row of table ``link`` whose ends have these ids."""
    _, _, weight, cosine, created_at, retrievals, retrieved_at = row
    if type(weight) is not float or type(cosine) is not float or type(retrievals) is not int:
        raise DamagedRowError(f"the link of {low_id!r} and {high_id!r} has no numbers")
    return Link(
        low_id,
        high_id,
        weight,
        cosine,
        LinkKind.RELATED,
        _moment_or_none(created_at),
        retrievals,
        _moment_or_none(retrieved_at),
    )


def superseding_row(newer: int, older: int, link: Link) -> Row:
    """Return the SUPERSEDES link between two note keys as a row of table ``supersedes``."""
    assert link.reason is not None  # noqa: S101  # `check_kept` saw to it
    reason = link.reason
    return (
        newer,
        older,
        float(link.cosine),
        _micros_or_none(link.created_at),
        reason.kind.value,
        reason.before,
        reason.after,
    )


def superseding_of(newer_id: str, older_id: str, row: Row) -> Link:
    """Return the SUPERSEDES link of a row whose ends have these ids."""
    _, _, cosine, created_at, kind, before, after = row
    reason = Disagreement(DisagreementKind(kind), before, after)
    return supersedes(newer_id, older_id, cosine, _moment_or_none(created_at), reason)


def _link_json(link: Link) -> list[Any]:
    reason = link.reason
    said = [] if reason is None else [[reason.kind.value, reason.before, reason.after]]
    return [
        link.from_id,
        link.to_id,
        float(link.weight),
        float(link.cosine),
        link.kind.value,
        _micros_or_none(link.created_at),
        link.retrievals,
        _micros_or_none(link.last_retrieved_at),
        *said,
    ]


def _link_from_json(fields: list[Any]) -> Link:
    low, high, weight, cosine, kind, created_at, retrievals, retrieved_at, *said = fields
    reason = None
    if said:
        changed, before, after = said[0]
        reason = Disagreement(DisagreementKind(changed), before, after)
    return Link(
        low,
        high,
        weight,
        cosine,
        LinkKind(kind),
        _moment_or_none(created_at),
        retrievals,
        _moment_or_none(retrieved_at),
        reason,
    )


# --- events ----------------------------------------------------------------------------

EVENT_COLUMNS = (
    "note, revision, namespace, id, note_id, kind, at, proposer, trigger_id, similarity, "
    "before, after, linked, unlinked"
)
"""The columns of table ``event`` in the order of :func:`event_row`."""


def event_row(namespace: int, note_key: int, event: EvolutionEvent) -> Row:
    """Return the event of the note with this key as a row of :data:`EVENT_COLUMNS`."""
    return (
        note_key,
        event.revision,
        namespace,
        event.id,
        event.note_id,
        event.kind.value,
        to_micros(event.at),
        event.proposer,
        event.trigger_id,
        None if event.similarity is None else float(event.similarity),
        _state_json(event.before),
        _state_json(event.after),
        _to_json([_link_json(link) for link in event.linked]),
        _to_json([_link_json(link) for link in event.unlinked]),
    )


@decodes("an event")
def event_of(row: Row) -> EvolutionEvent:
    """Return the event of a row of :data:`EVENT_COLUMNS`."""
    (
        _, revision, _, event_id, note_id, kind, at, proposer, trigger_id, similarity,
        before, after, linked, unlinked,
    ) = row  # fmt: skip
    return EvolutionEvent(
        id=event_id,
        note_id=note_id,
        kind=EventKind(kind),
        revision=revision,
        at=from_micros(at),
        proposer=proposer,
        before=_state_of(before),
        after=_state_of(after),
        trigger_id=trigger_id,
        similarity=similarity,
        linked=tuple(_link_from_json(fields) for fields in json.loads(linked)),
        unlinked=tuple(_link_from_json(fields) for fields in json.loads(unlinked)),
    )


def _state_json(state: NoteState) -> str:
    source = state.source
    fields: dict[str, Any] = {
        "content": state.content,
        "role": state.role,
        "author": state.author,
        "source": None
        if source is None
        else [source.id, source.revision, source.position, source.start, source.end],
        "created_at": to_micros(state.created_at),
        "keywords": state.keywords,
        "tags": state.tags,
        "context": state.context,
        "importance_score": float(state.importance),
        "metadata": dict(state.metadata),
        "archived": state.archived,
        "given": _given_json(state.given),
    }
    return _to_json(fields)


def _state_of(text: str) -> NoteState:
    fields = json.loads(text)
    source = fields["source"]
    given = fields["given"]
    return NoteState(
        content=fields["content"],
        role=fields["role"],
        author=fields["author"],
        source=None if source is None else Source(*source),
        created_at=from_micros(fields["created_at"]),
        keywords=tuple(fields["keywords"]),
        tags=tuple(fields["tags"]),
        context=fields["context"],
        importance=fields.get("importance_score", DEFAULT_IMPORTANCE),
        metadata=fields["metadata"],
        archived=fields["archived"],
        given=_given_of(json.loads(given)) if given else Given(),
    )


# --- parts -----------------------------------------------------------------------------


def _given_json(given: Given) -> str | None:
    fields: dict[str, Any] = {}
    if given.keywords is not None:
        fields["keywords"] = given.keywords
    if given.tags is not None:
        fields["tags"] = given.tags
    if given.context is not None:
        fields["context"] = given.context
    if given.importance is not None:
        fields["importance"] = float(given.importance)
    if given.created_at is not None:
        fields["created_at"] = to_micros(given.created_at)
    if given.constructor is not None:
        fields["constructor"] = given.constructor
    return _to_json(fields) if fields else None


def _given_of(fields: dict[str, Any]) -> Given:
    keywords, tags = fields.get("keywords"), fields.get("tags")
    return Given(
        keywords=None if keywords is None else tuple(keywords),
        tags=None if tags is None else tuple(tags),
        context=fields.get("context"),
        importance=fields.get("importance"),
        created_at=_moment_or_none(fields.get("created_at")),
        constructor=fields.get("constructor"),
    )


def _micros_or_none(moment: datetime | None) -> int | None:
    return None if moment is None else to_micros(moment)


def _moment_or_none(micros: int | None) -> datetime | None:
    return None if micros is None else from_micros(micros)


def _to_json(value: object) -> str:
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"), allow_nan=False)
