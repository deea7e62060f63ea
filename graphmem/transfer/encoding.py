"""Records of a memory as lines of JSON: canonical and lossless.

Sorted keys, no spaces, floats in their shortest exact form, times in UTC with microseconds:
equal memories give equal bytes.
"""

from __future__ import annotations

import base64
import hashlib
import json
from dataclasses import dataclass, replace
from typing import TypeAlias

from graphmem.model import (
    Disagreement,
    EvolutionEvent,
    Link,
    ModelIdentity,
    Note,
    NoteRecord,
    NoteState,
    SentenceVectors,
    Vector,
)
from graphmem.transfer.records import FORMAT, FORMAT_VERSION
from graphmem.transfer.times import format_time

Record: TypeAlias = NoteRecord | Link | EvolutionEvent
"""What an export is made of."""


@dataclass(frozen=True, slots=True)
class Counts:
    """How many records of each kind a file or copy holds."""

    notes: int = 0
    links: int = 0
    events: int = 0

    def plus(self, record: Record) -> Counts:
        """Return the counts with one more record."""
        if isinstance(record, NoteRecord):
            return replace(self, notes=self.notes + 1)
        if isinstance(record, Link):
            return replace(self, links=self.links + 1)
        return replace(self, events=self.events + 1)


# Readers that split at every Unicode line boundary would cut a text in two at these.
_LINE_BOUNDARIES = {0x85: "\\u0085", 0x2028: "\\u2028", 0x2029: "\\u2029"}


def canonical(value: object) -> str:
    r"""Return the one JSON text of a value, free of line breaks of any kind.

    Examples
    --------
    >>> canonical({"b": "a\u2028b", "a": [1.0, "Zoë"]})
    '{"a":[1.0,"Zoë"],"b":"a\\u2028b"}'
    """
    text = json.dumps(
        value, ensure_ascii=False, sort_keys=True, separators=(",", ":"), allow_nan=False
    )
    return text.translate(_LINE_BOUNDARIES)


def encode_header(namespace: str, model: ModelIdentity | None) -> str:
    """Return the first line of an export."""
    return canonical(
        {
            "record": "header",
            "format": FORMAT,
            "version": FORMAT_VERSION,
            "namespace": namespace,
            "model": model and {"model_id": model.model_id, "dimension": model.dimension},
        }
    )


def encode_end(counts: Counts) -> str:
    """Return the last line of an export."""
    fields = {"notes": counts.notes, "links": counts.links, "events": counts.events}
    return canonical({"record": "end", **fields})


def encode(record: Record, *, vectors: bool = False) -> str:
    """Return the line of one record; with `vectors`, a note carries its vector."""
    if isinstance(record, NoteRecord):
        return canonical(_note_fields(record, vectors))
    if isinstance(record, Link):
        return canonical({"record": "link", **_link_fields(record)})
    return canonical({"record": "event", **_event_fields(record)})


def _note_fields(record: NoteRecord, vectors: bool) -> dict[str, object]:
    note = record.note
    fields: dict[str, object] = {
        "record": "note",
        "id": note.id,
        "feedback": note.feedback,
        "recall_count": note.recall_count,
        "last_accessed_at": format_time(note.last_accessed_at),
        "revision": note.revision,
        "content_revision": note.content_revision,
        **_state_fields(note.state),
    }
    if vectors and record.embedding is not None:
        fields["embedding"] = encode_vector(record.embedding)
        if record.sentences is not None:
            fields["sentences"] = encode_sentences(record.sentences)
    return fields


def _state_fields(state: NoteState) -> dict[str, object]:
    source, given = state.source, state.given
    return {
        "content": state.content,
        "role": state.role,
        "author": state.author,
        "source": source and {
            "id": source.id,
            "revision": source.revision,
            "position": source.position,
            "start": source.start,
            "end": source.end,
        },
        "created_at": format_time(state.created_at),
        "keywords": state.keywords,
        "tags": state.tags,
        "context": state.context,
        "importance": float(state.importance),
        "metadata": dict(state.metadata),
        "archived": state.archived,
        "given": {
            "keywords": given.keywords,
            "tags": given.tags,
            "context": given.context,
            "importance": None if given.importance is None else float(given.importance),
            "created_at": given.created_at and format_time(given.created_at),
            **({} if given.constructor is None else {"constructor": given.constructor}),
        },
    }  # fmt: skip


def _link_fields(link: Link) -> dict[str, object]:
    reason = link.reason
    said = {} if reason is None else {"reason": _reason_fields(reason)}
    return {
        "from_id": link.from_id,
        "to_id": link.to_id,
        "weight": float(link.weight),
        "cosine": float(link.cosine),
        "created_at": link.created_at and format_time(link.created_at),
        "retrievals": link.retrievals,
        "last_retrieved_at": link.last_retrieved_at and format_time(link.last_retrieved_at),
        **said,
    }


def _reason_fields(reason: Disagreement) -> dict[str, object]:
    return {"kind": reason.kind.value, "before": reason.before, "after": reason.after}


def _event_fields(event: EvolutionEvent) -> dict[str, object]:
    return {
        "id": event.id,
        "note_id": event.note_id,
        "kind": event.kind.value,
        "revision": event.revision,
        "at": format_time(event.at),
        "proposer": event.proposer,
        "before": _state_fields(event.before),
        "after": _state_fields(event.after),
        "trigger_id": event.trigger_id,
        "similarity": None if event.similarity is None else float(event.similarity),
        "linked": [_link_fields(link) for link in event.linked],
        "unlinked": [_link_fields(link) for link in event.unlinked],
    }


def encode_vector(vector: Vector) -> str:
    """Return base64 of the little-endian float32 values.

    Examples
    --------
    >>> import numpy as np
    >>> encode_vector(np.array([1.0, 0.0], dtype=np.float32))
    'AACAPwAAAAA='
    """
    return base64.b64encode(vector.astype("<f4").tobytes()).decode("ascii")


def encode_sentences(sentences: SentenceVectors) -> str:
    """Return base64 of the numbers, one byte each, sentence after sentence.

    Examples
    --------
    >>> import numpy as np
    >>> encode_sentences(np.array([[127, 0], [-127, 1]], dtype=np.int8))
    'fwCBAQ=='
    """
    return base64.b64encode(sentences.tobytes()).decode("ascii")


def note_digest(note: Note) -> bytes:
    """Return the sha256 of a note's state and revisions; use and feedback do not count."""
    state = {"state": _state_fields(note.state), "revision": note.revision}
    return hashlib.sha256(canonical(state).encode("utf-8")).digest()
