"""What a line of an imported file may hold, checked before anything is stored.

Two forms are read: plain notes, one JSON object a line with at least ``content`` or
``text``; and graphmem's own export, whose first line is a header.
"""

from __future__ import annotations

from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Annotated, Any, Literal, Self, TypeAlias

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, model_validator

from graphmem.memory.entry import Content, Identifier
from graphmem.model import DisagreementKind, EventKind
from graphmem.transfer.times import parse_time

FORMAT = "graphmem-export"
FORMAT_VERSION = 1


def _time(value: object) -> object:
    if isinstance(value, str):
        return parse_time(value)
    if value is None:
        return None
    raise ValueError("must be a text in ISO 8601, such as 2025-07-21T20:30:30+02:00")


def _instant(value: object) -> object:
    moment = _time(value)
    if isinstance(moment, datetime):
        if moment.tzinfo is None:
            raise ValueError("has no time zone; an export carries one")
        return moment.astimezone(UTC)
    return moment


WrittenTime: TypeAlias = Annotated[datetime, BeforeValidator(_time)]
Instant: TypeAlias = Annotated[datetime, BeforeValidator(_instant)]
Finite: TypeAlias = Annotated[float, Field(allow_inf_nan=False)]
Share: TypeAlias = Annotated[float, Field(ge=0, le=1)]
Count: TypeAlias = Annotated[int, Field(ge=0)]
Revision: TypeAlias = Annotated[int, Field(ge=1)]
Name: TypeAlias = Annotated[str, Field(min_length=1)]
Words: TypeAlias = tuple[str, ...]


class _Line(BaseModel):
    model_config = ConfigDict(strict=True, frozen=True, extra="forbid")


class SourceField(_Line):
    """A source, as an object or as its id alone."""

    id: Name
    revision: str | None = None
    position: int | None = None
    start: int | None = None
    end: int | None = None

    @model_validator(mode="before")
    @classmethod
    def _from_id(cls, value: object) -> object:
        return {"id": value} if isinstance(value, str) else value


class PlainNote(_Line):
    """A note a person or another program wrote: the fields of ``NoteInput``.

    ``text`` stands for ``content``, a lone text for a list of one, and a source may be its
    id with ``position`` beside it. Fields of other names are kept as metadata.
    """

    model_config = ConfigDict(strict=True, frozen=True, extra="allow")

    content: str
    id: str | None = None
    source: SourceField | None = None
    role: str = "user"
    author: str | None = None
    created_at: WrittenTime | None = None
    keywords: list[str] | str | None = None
    tags: list[str] | str | None = None
    context: str | None = None
    importance: float | None = None
    metadata: dict[str, Any] | None = None

    @model_validator(mode="before")
    @classmethod
    def _one_content(cls, value: object) -> object:
        if not isinstance(value, Mapping):
            return value
        given = dict(value)
        if "text" in given and "content" not in given:
            given["content"] = given.pop("text")
        if "content" not in given:
            raise ValueError("has neither 'content' nor 'text'")
        if "position" in given and isinstance(given.get("source"), str):
            given["source"] = {"id": given["source"], "position": given.pop("position")}
        return given

    @property
    def unknown_fields(self) -> tuple[str, ...]:
        """Names of the fields that are not a note's own, in order of appearance."""
        return tuple(self.model_extra or ())


class ModelField(_Line):
    """The embedding model the exported store was built with."""

    model_id: Name
    dimension: Annotated[int, Field(ge=1)]


class HeaderLine(_Line):
    """First line of an export."""

    record: Literal["header"]
    format: Literal["graphmem-export"]
    version: int
    namespace: str
    model: ModelField | None


class GivenField(_Line):
    """Which fields a caller set."""

    keywords: Annotated[Words | None, Field(strict=False)] = None
    tags: Annotated[Words | None, Field(strict=False)] = None
    context: str | None = None
    importance: Share | None = None
    created_at: Instant | None = None
    constructor: str | None = None


class StateField(_Line):
    """The part of a note that revisions change."""

    content: Content
    role: Identifier
    author: Identifier | None
    source: SourceField | None
    created_at: Instant
    keywords: Annotated[Words, Field(strict=False)]
    tags: Annotated[Words, Field(strict=False)]
    context: str
    importance: Share
    metadata: dict[str, Any]
    archived: bool
    given: GivenField


class NoteLine(StateField):
    """A note with its counters and, when asked for, its vector and those of its sentences."""

    record: Literal["note"]
    id: Identifier
    feedback: int
    recall_count: Count
    last_accessed_at: Instant
    revision: Revision
    content_revision: Revision
    embedding: str | None = None
    sentences: str | None = None

    @model_validator(mode="after")
    def _revisions_agree(self) -> Self:
        if self.content_revision > self.revision:
            raise ValueError("content_revision is greater than revision")
        return self


class ReasonField(_Line):
    """Why a note supersedes another."""

    kind: Annotated[DisagreementKind, Field(strict=False)]
    before: str
    after: str


class LinkField(_Line):
    """A RELATED link, or with a reason a SUPERSEDES."""

    from_id: Name
    to_id: Name
    weight: Share
    cosine: Annotated[float, Field(ge=-1.001, le=1.001)]
    created_at: Instant | None
    retrievals: Count
    last_retrieved_at: Instant | None
    reason: ReasonField | None = None

    @model_validator(mode="after")
    def _stored_order(self) -> Self:
        if self.from_id >= self.to_id and self.reason is None:
            raise ValueError("from_id must come before to_id")
        if self.from_id == self.to_id:
            raise ValueError("from_id and to_id must be two notes")
        return self


class LinkLine(LinkField):
    """A line with a stored link."""

    record: Literal["link"]


class EventLine(_Line):
    """A line with one change of a note."""

    record: Literal["event"]
    id: Name
    note_id: Name
    kind: Annotated[EventKind, Field(strict=False)]
    revision: Revision
    at: Instant
    proposer: str
    before: StateField
    after: StateField
    trigger_id: str | None
    similarity: Finite | None
    linked: Annotated[tuple[LinkField, ...], Field(strict=False)]
    unlinked: Annotated[tuple[LinkField, ...], Field(strict=False)]


class EndLine(_Line):
    """Last line of an export: how many records came before it."""

    record: Literal["end"]
    notes: Count
    links: Count
    events: Count


RecordLine: TypeAlias = Annotated[
    NoteLine | LinkLine | EventLine | EndLine, Field(discriminator="record")
]
