"""How notes, links and events lie in Neo4j's properties.

Times are native ones in UTC; the statements return them as microseconds since 1970. What is
nested (metadata, given fields, the states of an event) is canonical JSON text, because a
property cannot hold a map.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime, timedelta
from typing import Any, TypeAlias

from graphmem.model import (
    DEFAULT_IMPORTANCE,
    Disagreement,
    DisagreementKind,
    EventKind,
    EvolutionEvent,
    Given,
    Link,
    LinkKind,
    Note,
    NoteState,
    Source,
    supersedes,
)
from graphmem.stores.neo4j.terms import stored_terms

Row: TypeAlias = Mapping[str, Any]
"""Properties as the driver takes and returns them: of mixed types."""

TITLE_LENGTH = 60
_LONGEST_PAIR = 500
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_SECOND = timedelta(seconds=1)


def moment_of(micros: int) -> datetime:
    """Return a time from the microseconds since 1970 that the statements return.

    The driver takes some 200 times longer to build its own time values.
    """
    return _EPOCH + timedelta(microseconds=micros)


def in_utc(moment: datetime | None) -> datetime | None:
    """Return a time as it is stored and compared: the server orders equal instants by zone."""
    return None if moment is None else moment.astimezone(UTC)


def as_sent(row: dict[str, Any]) -> dict[str, Any]:
    """Return a row with its properties' times under ``times``, for ``datetime()`` to read.

    The driver takes longer to encode one time than the server to store a link.
    """
    properties = row["properties"]
    times = {name: each for name, each in properties.items() if isinstance(each, datetime)}
    kept = {name: each for name, each in properties.items() if name not in times}
    parts = {name: _clock_parts(moment) for name, moment in times.items()}
    return row | {"properties": kept, "times": parts}


def _clock_parts(moment: datetime) -> dict[str, int]:
    seconds = (moment - _EPOCH) // _SECOND
    return {"epochSeconds": seconds, "microsecond": moment.microsecond}


# --- notes -----------------------------------------------------------------------------


def note_properties(note: Note, tokens: tuple[str, ...]) -> dict[str, Any]:
    """Return the note's properties without identity, counters of use and embedding."""
    source = note.source
    held = stored_terms(tokens, note.namespace, archived=note.archived)
    return {
        "title": _title(note.content),
        "content": note.content,
        "role": note.role,
        "author": note.author,
        "source_id": source and source.id,
        "source_revision": source and source.revision,
        "source_position": source and source.position,
        "source_start": source and source.start,
        "source_end": source and source.end,
        "created_at": in_utc(note.created_at),
        "keywords": list(note.keywords),
        "tags": list(note.tags),
        "context": note.context,
        "importance_score": float(note.importance),
        "metadata": _json(dict(note.metadata)) if note.metadata else None,
        "feedback": note.feedback,
        "revision": note.revision,
        "content_revision": note.content_revision,
        "archived": note.archived,
        "given": _given_json(note.given),
        "terms": held.terms,
        "odd_terms": held.odd_terms or None,
        "term_count": len(tokens),
    }


def use_properties(note: Note) -> dict[str, Any]:
    """Return the counters of use, which an upsert of a stored note leaves alone."""
    return {"recall_count": note.recall_count, "last_accessed_at": in_utc(note.last_accessed_at)}


LISTED = (
    "id", "content", "role", "author", "source_id", "source_revision", "source_position",
    "source_start", "source_end", "created_at", "keywords", "tags", "context",
    "importance_score", "metadata", "last_accessed_at", "feedback", "recall_count", "revision",
    "content_revision", "archived", "given",
)  # fmt: skip
"""Properties of a note in the order in which ``candidates`` returns them. A recall reads
hundreds of notes: their names, sent with each, would be a third of the answer."""


def listed_note_of(namespace: str, values: Sequence[Any]) -> Note:
    """Return the note of its properties in order of :data:`LISTED`."""
    return note_of(namespace, dict(zip(LISTED, values, strict=True)))


def note_of(namespace: str, row: Row) -> Note:
    """Return the note of a map of its properties."""
    source = None
    if row["source_id"] is not None:
        source = Source(
            id=row["source_id"],
            revision=row["source_revision"],
            position=row["source_position"],
            start=row["source_start"],
            end=row["source_end"],
        )
    importance = row["importance_score"]
    return Note(
        id=row["id"],
        namespace=namespace,
        content=row["content"],
        role=row["role"],
        author=row["author"],
        source=source,
        created_at=moment_of(row["created_at"]),
        # neo4j-admin's importer keeps no property for an empty list.
        keywords=tuple(row["keywords"] or ()),
        tags=tuple(row["tags"] or ()),
        context=row["context"],
        importance=DEFAULT_IMPORTANCE if importance is None else importance,
        metadata=json.loads(row["metadata"]) if row["metadata"] else {},
        last_accessed_at=moment_of(row["last_accessed_at"]),
        feedback=row["feedback"],
        recall_count=row["recall_count"] or 0,
        revision=row["revision"],
        content_revision=row["content_revision"],
        archived=row["archived"],
        given=_given_of(row["given"]),
    )


def _title(content: str) -> str:
    line = " ".join(content[: 2 * TITLE_LENGTH].split())
    return line if len(line) <= TITLE_LENGTH else f"{line[: TITLE_LENGTH - 1]}…"


# --- links -----------------------------------------------------------------------------


def pair_key(from_id: str, to_id: str) -> str:
    """Return the text that identifies a pair within its namespace.

    Long ids stand in it as a digest: an index key of the server is bounded.
    """
    key = _json([from_id, to_id])
    if len(key) <= _LONGEST_PAIR:
        return key
    return hashlib.sha256(key.encode("utf-8", "surrogatepass")).hexdigest()


def link_row(link: Link) -> dict[str, Any]:
    """Return what stores a RELATED or SUPERSEDES link."""
    properties: dict[str, Any] = {
        "weight": float(link.weight),
        "cosine": float(link.cosine),
        "created_at": in_utc(link.created_at),
    }
    if link.reason is None:
        properties["retrievals"] = link.retrievals
        properties["last_retrieved_at"] = in_utc(link.last_retrieved_at)
    else:
        properties |= _reason_fields(link.reason)
    return {
        "from_id": link.from_id,
        "to_id": link.to_id,
        "pair": pair_key(link.from_id, link.to_id),
        "properties": properties,
    }


def _reason_fields(reason: Disagreement) -> dict[str, str]:
    return {"reason": reason.kind.value, "before": reason.before, "after": reason.after}


def stored_link_of(ends_and_values: Sequence[Any]) -> Link:
    """Return the link of a list: both ends in any order, its values, and its reason if any."""
    a, b, weight, cosine, created_at, retrievals, retrieved_at, said = ends_and_values
    if said is not None:
        newer, kind, before, after = said
        reason = Disagreement(DisagreementKind(kind), before, after)
        at = None if created_at is None else moment_of(created_at)
        return supersedes(newer, b if newer == a else a, cosine, at, reason)
    low, high = (a, b) if a < b else (b, a)
    return Link(
        low,
        high,
        weight,
        cosine,
        LinkKind.RELATED,
        None if created_at is None else moment_of(created_at),
        retrievals or 0,
        None if retrieved_at is None else moment_of(retrieved_at),
    )


def link_of(row: Row) -> Link:
    """Return the link of a map of its properties and ends."""
    if row.get("kind") == LinkKind.FOLLOWS:
        return Link(row["from_id"], row["to_id"], 1.0, 1.0, LinkKind.FOLLOWS)
    if row.get("kind") == LinkKind.SUPERSEDES:
        return _superseding_of(row)
    created_at, retrieved_at = row["created_at"], row["last_retrieved_at"]
    return Link(
        from_id=row["from_id"],
        to_id=row["to_id"],
        weight=row["weight"],
        cosine=row["cosine"],
        created_at=None if created_at is None else moment_of(created_at),
        retrievals=row["retrievals"],
        last_retrieved_at=None if retrieved_at is None else moment_of(retrieved_at),
    )


def _superseding_of(row: Row) -> Link:
    at = row["created_at"]
    return supersedes(
        row["from_id"],
        row["to_id"],
        row["cosine"],
        None if at is None else moment_of(at),
        Disagreement(DisagreementKind(row["reason"]), row["before"], row["after"]),
    )


def _link_json(link: Link) -> dict[str, Any]:
    said = {} if link.reason is None else _reason_fields(link.reason)
    return {
        "from_id": link.from_id,
        "to_id": link.to_id,
        "weight": float(link.weight),
        "cosine": float(link.cosine),
        "kind": link.kind.value,
        "created_at": _iso(link.created_at),
        "retrievals": link.retrievals,
        "last_retrieved_at": _iso(link.last_retrieved_at),
    } | said


def _link_from_json(fields: dict[str, Any]) -> Link:
    return Link(
        from_id=fields["from_id"],
        to_id=fields["to_id"],
        weight=fields["weight"],
        cosine=fields["cosine"],
        kind=LinkKind(fields["kind"]),
        created_at=_moment(fields["created_at"]),
        retrievals=fields["retrievals"],
        last_retrieved_at=_moment(fields["last_retrieved_at"]),
        reason=None
        if "reason" not in fields
        else Disagreement(DisagreementKind(fields["reason"]), fields["before"], fields["after"]),
    )


# --- events ----------------------------------------------------------------------------


def event_row(event: EvolutionEvent) -> dict[str, Any]:
    """Return what stores an event."""
    return {
        "id": event.id,
        "note_id": event.note_id,
        "trigger_id": event.trigger_id,
        "properties": {
            "note_id": event.note_id,
            "kind": event.kind.value,
            "revision": event.revision,
            "at": in_utc(event.at),
            "proposer": event.proposer,
            "trigger_id": event.trigger_id,
            "similarity": None if event.similarity is None else float(event.similarity),
            "before": _state_json(event.before),
            "after": _state_json(event.after),
            "linked": _json([_link_json(link) for link in event.linked]),
            "unlinked": _json([_link_json(link) for link in event.unlinked]),
        },
    }


def event_of(row: Row) -> EvolutionEvent:
    """Return the event of a map of its properties."""
    return EvolutionEvent(
        id=row["id"],
        note_id=row["note_id"],
        kind=EventKind(row["kind"]),
        revision=row["revision"],
        at=moment_of(row["at"]),
        proposer=row["proposer"],
        before=_state_of(row["before"]),
        after=_state_of(row["after"]),
        trigger_id=row["trigger_id"],
        similarity=row["similarity"],
        linked=tuple(map(_link_from_json, json.loads(row["linked"]))),
        unlinked=tuple(map(_link_from_json, json.loads(row["unlinked"]))),
    )


def _state_json(state: NoteState) -> str:
    source = state.source
    return _json(
        {
            "content": state.content,
            "role": state.role,
            "author": state.author,
            "source": source
            and {
                "id": source.id,
                "revision": source.revision,
                "position": source.position,
                "start": source.start,
                "end": source.end,
            },
            "created_at": _iso(state.created_at),
            "keywords": state.keywords,
            "tags": state.tags,
            "context": state.context,
            "importance_score": float(state.importance),
            "metadata": dict(state.metadata),
            "archived": state.archived,
            "given": _given_fields(state.given),
        }
    )


def _state_of(text: str) -> NoteState:
    fields = json.loads(text)
    source = fields["source"]
    return NoteState(
        content=fields["content"],
        role=fields["role"],
        author=fields["author"],
        source=None if source is None else Source(**source),
        created_at=datetime.fromisoformat(fields["created_at"]),
        keywords=tuple(fields["keywords"]),
        tags=tuple(fields["tags"]),
        context=fields["context"],
        importance=fields.get("importance_score", DEFAULT_IMPORTANCE),
        metadata=fields["metadata"],
        archived=fields["archived"],
        given=_given_from_fields(fields["given"]),
    )


# --- parts -----------------------------------------------------------------------------


def _given_fields(given: Given) -> dict[str, Any]:
    fields = {
        "keywords": given.keywords,
        "tags": given.tags,
        "context": given.context,
        "importance": given.importance,
        "created_at": _iso(given.created_at),
        "constructor": given.constructor,
    }
    return {name: value for name, value in fields.items() if value is not None}


def _given_from_fields(fields: dict[str, Any]) -> Given:
    keywords, tags = fields.get("keywords"), fields.get("tags")
    return Given(
        keywords=None if keywords is None else tuple(keywords),
        tags=None if tags is None else tuple(tags),
        context=fields.get("context"),
        importance=fields.get("importance"),
        created_at=_moment(fields.get("created_at")),
        constructor=fields.get("constructor"),
    )


def _given_json(given: Given) -> str | None:
    fields = _given_fields(given)
    return _json(fields) if fields else None


def _given_of(text: str | None) -> Given:
    return _given_from_fields(json.loads(text)) if text else Given()


def _iso(moment: datetime | None) -> str | None:
    return None if moment is None else moment.astimezone(UTC).isoformat()


def _moment(text: str | None) -> datetime | None:
    return None if text is None else datetime.fromisoformat(text)


def _json(value: object) -> str:
    return json.dumps(
        value, ensure_ascii=False, separators=(",", ":"), sort_keys=True, allow_nan=False
    )
