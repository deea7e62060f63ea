"""The tools of the MCP server: each is one call of a memory.

Types are strict: a text is not read as a number, nor a number as a flag.
"""

from __future__ import annotations

from datetime import datetime
from typing import Annotated, Any, TypeAlias

from pydantic import BeforeValidator, Field, WithJsonSchema

from graphmem.errors import InvalidInput
from graphmem.interfaces.mcp_results import (
    EventResult,
    ForgetResult,
    HistoryResult,
    LinksResult,
    NoteResult,
    RecallToolResult,
    RememberResult,
)
from graphmem.memory import Memory
from graphmem.model import Source
from graphmem.transfer.times import parse_time

MAX_LIMIT = 100
"""Notes one recall may return: more would not fit a model's context."""


def _moment(value: object) -> datetime:
    if not isinstance(value, str):
        raise InvalidInput("must be an ISO 8601 text such as 2025-07-01T09:00:00Z")
    moment = parse_time(value)
    if moment.tzinfo is None:
        raise InvalidInput(f"{value!r} has no time zone; add one, such as Z or +02:00")
    return moment


Moment: TypeAlias = Annotated[
    datetime,
    BeforeValidator(_moment),
    WithJsonSchema({"type": "string", "format": "date-time"}),
]
Count: TypeAlias = Annotated[int, Field(strict=True, ge=1, le=MAX_LIMIT)]
NoteId: TypeAlias = Annotated[str, Field(description="Id of the note.")]


class MemoryTools:
    """Tools over one open memory, whose namespace no call can leave.

    Parameters
    ----------
    memory
        What the tools read and write.
    read_only
        Whether recalls leave no trace.
    """

    def __init__(self, memory: Memory, *, read_only: bool = False) -> None:
        self._memory = memory
        self._track = not read_only

    def remember(
        self,
        content: Annotated[str, Field(description="The note, one fact or statement.")],
        author: Annotated[str | None, Field(description="Who said or wrote it.")] = None,
        source: Annotated[
            str | None, Field(description="Conversation or document it is from.")
        ] = None,
        position: Annotated[
            int | None, Field(strict=True, description="Place within the source.")
        ] = None,
        role: Annotated[str, Field(description="user, assistant, or another role.")] = "user",
        created_at: Annotated[
            Moment | None, Field(description="When it was said; now when left out.")
        ] = None,
        tags: Annotated[list[str] | None, Field(description="Derived when left out.")] = None,
        importance: Annotated[
            float | None, Field(strict=True, ge=0, le=1, description="Derived when left out.")
        ] = None,
        metadata: Annotated[dict[str, Any] | None, Field(description="Fields of your own.")] = None,
        note_id: Annotated[
            str | None, Field(description="Of a note to revise; derived when left out.")
        ] = None,
    ) -> RememberResult:
        """Keep a note. Similar notes are linked to it; the same note twice is kept once."""
        if position is not None and source is None:
            raise InvalidInput("position needs source; nothing was stored")
        receipt = self._memory.add(
            content,
            id=note_id,
            source=None if source is None else Source(source, position=position),
            role=role,
            author=author,
            created_at=created_at,
            tags=tags,
            importance=importance,
            metadata=metadata,
        )
        return RememberResult.of(receipt)

    def recall(
        self,
        query: Annotated[str, Field(description="A question or key words.")],
        limit: Annotated[Count, Field(description="How many notes at most.")] = 10,
        authors: Annotated[list[str] | None, Field(description="Only these authors.")] = None,
        sources: Annotated[list[str] | None, Field(description="Only these sources.")] = None,
        tags: Annotated[list[str] | None, Field(description="Notes with one of these.")] = None,
        since: Annotated[Moment | None, Field(description="Written then or later.")] = None,
        until: Annotated[Moment | None, Field(description="Written before then.")] = None,
        as_of: Annotated[Moment | None, Field(description="Known up to then.")] = None,
        at: Annotated[
            Moment | None,
            Field(description='Moment of asking, for words such as "last week"; default now.'),
        ] = None,
    ) -> RecallToolResult:
        """Find notes about a question, with reasons, and say whether memory holds the answer.

        Read `decision` first: with the outcome "unknown" the notes do not answer the question.
        """
        result = self._memory.recall(
            query,
            limit,
            at=at,
            track=self._track,
            sources=sources,
            authors=authors,
            tags=tags,
            since=since,
            until=until,
            as_of=as_of,
        )
        return RecallToolResult.of(result)

    def show(self, note_id: NoteId) -> NoteResult:
        """Show everything that is stored about one note."""
        return NoteResult.of(self._memory.get(note_id))

    def links(
        self,
        note_id: NoteId,
        hops: Annotated[int, Field(strict=True, ge=1, le=3, description="How far to walk.")] = 1,
        min_weight: Annotated[float, Field(strict=True, ge=0, le=1)] = 0.0,
        limit: Annotated[Count, Field(description="How many links at most.")] = 50,
    ) -> LinksResult:
        """Show the graph around a note: linked notes and how strongly they are linked."""
        around = self._memory.neighbourhood(note_id, hops)
        return LinksResult.of(note_id, around, min_weight, limit)

    def history(self, note_id: NoteId) -> HistoryResult:
        """List every change of a note, with what it was before and after."""
        events = self._memory.history(note_id)
        return HistoryResult(note_id=note_id, events=tuple(map(EventResult.of, events)))

    def undo(
        self, event_id: Annotated[str, Field(description="An event's id, from history.")]
    ) -> EventResult:
        """Bring a note back to its state before one change."""
        return EventResult.of(self._memory.undo(event_id))

    def forget(
        self,
        note_id: Annotated[str | None, Field(description="The note to erase.")] = None,
        source: Annotated[str | None, Field(description="Erase all notes of this source.")] = None,
    ) -> ForgetResult:
        """Erase a note, or all notes of a source, for good; this cannot be undone."""
        if (note_id is None) == (source is None):
            raise InvalidInput("give either note_id or source; nothing was erased")
        return ForgetResult.of(self._memory.erase(id=note_id, source=source))
