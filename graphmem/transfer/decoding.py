"""Lines of JSON as the records and inputs they stand for; the twin of ``encoding``."""

from __future__ import annotations

import base64
import binascii
import json
from collections.abc import Mapping
from typing import NoReturn

import numpy as np
from pydantic import TypeAdapter, ValidationError

from graphmem.errors import TransferError
from graphmem.memory.entry import unstorable
from graphmem.model import (
    Disagreement,
    EvolutionEvent,
    Given,
    Link,
    Note,
    NoteInput,
    NoteRecord,
    NoteState,
    SentenceVectors,
    Source,
    Vector,
    supersedes,
)
from graphmem.transfer.encoding import Record
from graphmem.transfer.records import (
    FORMAT_VERSION,
    EndLine,
    EventLine,
    GivenField,
    HeaderLine,
    LinkField,
    LinkLine,
    NoteLine,
    PlainNote,
    RecordLine,
    SourceField,
    StateField,
)

_RECORD_LINE: TypeAdapter[NoteLine | LinkLine | EventLine | EndLine] = TypeAdapter(RecordLine)
_RECORD_NAMES = frozenset({"note", "link", "event", "end"})


def parse_object(text: str) -> Mapping[str, object]:
    """Return the JSON object of one line.

    Raises
    ------
    ValueError
        Not JSON, not an object, a number that is not finite, a key given twice, or a text
        that cannot be stored.
    """
    try:
        value = json.loads(text, parse_constant=_refuse_constant, object_pairs_hook=_distinct)
    except json.JSONDecodeError as error:
        raise ValueError(f"is not JSON: {error.msg} at character {error.colno}") from error
    except RecursionError as error:
        raise ValueError("nests too deeply") from error
    if not isinstance(value, dict):
        raise ValueError(f"is a JSON {type(value).__name__}, not an object")
    if "\\u" in text:  # in JSON, what cannot be stored comes as an escape only
        _refuse_unstorable(value)
    return value


def _refuse_unstorable(value: object, place: str = "") -> None:
    if isinstance(value, str):
        problem = unstorable(value)
        if problem:
            raise ValueError(f"{place} {problem}" if place else problem)
    elif isinstance(value, dict):
        for key, item in value.items():
            _refuse_unstorable(key, place)
            _refuse_unstorable(item, f"{place}.{key}" if place else key)
    elif isinstance(value, list):
        for item in value:
            _refuse_unstorable(item, place)


def _refuse_constant(name: str) -> NoReturn:
    raise ValueError(f"holds {name}, which is not a finite number")


def _distinct(pairs: list[tuple[str, object]]) -> dict[str, object]:
    fields = dict(pairs)
    if len(fields) != len(pairs):
        names = [name for name, _ in pairs]
        twice = next(name for name in names if names.count(name) > 1)
        raise ValueError(f"gives the key {twice!r} twice")
    return fields


def is_header(fields: Mapping[str, object]) -> bool:
    """Whether the object is the first line of an export."""
    return fields.get("record") == "header" and "format" in fields


def decode_header(fields: Mapping[str, object]) -> HeaderLine:
    """Return the header of an export.

    Raises
    ------
    TransferError
        Damaged, or of a newer version.
    """
    version = fields.get("version")
    if isinstance(version, int) and version > FORMAT_VERSION:
        raise TransferError(
            f"the export has format version {version}, this graphmem reads up to "
            f"{FORMAT_VERSION}; nothing was imported; upgrade graphmem"
        )
    try:
        return HeaderLine.model_validate(fields)
    except ValidationError as error:
        raise TransferError(f"the header of the export is damaged: {explain(error)}") from error


def decode(fields: Mapping[str, object], namespace: str) -> Record | EndLine:
    """Return the record of one line, its note placed in `namespace`.

    Terms are derived from the text and left empty; a vector is there when the line has it.

    Raises
    ------
    ValueError
        The field that is wrong and why (a pydantic ``ValidationError`` is one, too).
    """
    line = _RECORD_LINE.validate_python(fields)
    if isinstance(line, NoteLine):
        return _note_record(line, namespace)
    if isinstance(line, LinkLine):
        return _link(line)
    if isinstance(line, EventLine):
        return _event(line)
    return line


def decode_plain(fields: Mapping[str, object]) -> tuple[NoteInput, tuple[str, ...]]:
    """Return the input of a plain line and the names of fields kept as metadata.

    Raises
    ------
    ValueError
        As :func:`decode`.
    """
    line = PlainNote.model_validate(fields)
    extra = line.model_extra or {}
    given = NoteInput(
        content=line.content,
        id=line.id,
        source=_source(line.source),
        role=line.role,
        author=line.author,
        created_at=line.created_at,
        keywords=line.keywords,
        tags=line.tags,
        context=line.context,
        importance=line.importance,
        metadata={**extra, **line.metadata} if line.metadata else (extra or None),
    )
    return given, line.unknown_fields


def explain(error: ValueError) -> str:
    """Say in one line which field was wrong and why."""
    if not isinstance(error, ValidationError):
        return str(error)
    first = error.errors(include_url=False, include_context=False)[0]
    if first["type"].startswith("union_tag"):
        return "the field 'record' must be note, link, event or end"
    field = ".".join(str(part) for part in first["loc"] if part not in _RECORD_NAMES)
    message = first["msg"].removeprefix("Value error, ")
    message = message[:1].lower() + message[1:]
    return f"{field}: {message}" if field else message


def _source(field: SourceField | None) -> Source | None:
    if field is None:
        return None
    return Source(field.id, field.revision, field.position, field.start, field.end)


def _given(field: GivenField) -> Given:
    return Given(
        keywords=field.keywords,
        tags=field.tags,
        context=field.context,
        importance=field.importance,
        created_at=field.created_at,
        constructor=field.constructor,
    )


def _state(field: StateField) -> NoteState:
    return NoteState(
        content=field.content,
        role=field.role,
        author=field.author,
        source=_source(field.source),
        created_at=field.created_at,
        keywords=field.keywords,
        tags=field.tags,
        context=field.context,
        importance=field.importance,
        metadata=field.metadata,
        archived=field.archived,
        given=_given(field.given),
    )


def _note_record(line: NoteLine, namespace: str) -> NoteRecord:
    note = Note(
        id=line.id,
        namespace=namespace,
        content=line.content,
        role=line.role,
        author=line.author,
        source=_source(line.source),
        created_at=line.created_at,
        keywords=line.keywords,
        tags=line.tags,
        context=line.context,
        importance=line.importance,
        metadata=line.metadata,
        last_accessed_at=line.last_accessed_at,
        feedback=line.feedback,
        recall_count=line.recall_count,
        revision=line.revision,
        content_revision=line.content_revision,
        archived=line.archived,
        given=_given(line.given),
    )
    if line.embedding is None:
        return NoteRecord(note, terms=(), embedding=None)
    vector = decode_vector(line.embedding)
    sentences = None if line.sentences is None else decode_sentences(line.sentences, len(vector))
    return NoteRecord(note, terms=(), embedding=vector, sentences=sentences)


def _link(field: LinkField) -> Link:
    if field.reason is not None:
        reason = Disagreement(field.reason.kind, field.reason.before, field.reason.after)
        return supersedes(field.from_id, field.to_id, field.cosine, field.created_at, reason)
    return Link(
        field.from_id,
        field.to_id,
        weight=field.weight,
        cosine=field.cosine,
        created_at=field.created_at,
        retrievals=field.retrievals,
        last_retrieved_at=field.last_retrieved_at,
    )


def _event(line: EventLine) -> EvolutionEvent:
    return EvolutionEvent(
        id=line.id,
        note_id=line.note_id,
        kind=line.kind,
        revision=line.revision,
        at=line.at,
        proposer=line.proposer,
        before=_state(line.before),
        after=_state(line.after),
        trigger_id=line.trigger_id,
        similarity=line.similarity,
        linked=tuple(_link(link) for link in line.linked),
        unlinked=tuple(_link(link) for link in line.unlinked),
    )


def decode_vector(text: str) -> Vector:
    """Return the vector of shape (dimension,) that `encode_vector` wrote.

    Raises
    ------
    ValueError
        Not base64, not whole float32 values, or not finite.
    """
    raw = _decoded(text, "embedding")
    if not raw or len(raw) % 4:
        raise ValueError(f"embedding has {len(raw)} bytes, not a multiple of 4")
    vector = np.frombuffer(raw, dtype="<f4").astype(np.float32)
    if not np.isfinite(vector).all():
        raise ValueError("embedding holds a number that is not finite")
    return vector


def decode_sentences(text: str, dimension: int) -> SentenceVectors:
    """Return the vectors of shape (k, dimension) that `encode_sentences` wrote.

    Raises
    ------
    ValueError
        Not base64, not whole vectors, or one of zeros.
    """
    raw = _decoded(text, "sentences")
    if not raw or len(raw) % dimension:
        raise ValueError(f"sentences have {len(raw)} bytes, not a multiple of {dimension}")
    sentences = np.frombuffer(raw, dtype=np.int8).reshape(-1, dimension)
    if not sentences.any(axis=1).all():
        raise ValueError("sentences hold a vector of zeros")
    return sentences


def _decoded(text: str, name: str) -> bytes:
    try:
        return base64.b64decode(text, validate=True)
    except binascii.Error as error:
        raise ValueError(f"{name} is not base64: {error}") from error
