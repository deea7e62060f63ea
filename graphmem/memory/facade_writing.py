"""The part of ``Memory`` that writes notes and changes them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from datetime import datetime

from graphmem.memory import adding, changing
from graphmem.memory.adding import Progress
from graphmem.memory.connecting import connect
from graphmem.memory.entry import checked_limit
from graphmem.memory.handle import MemoryHandle
from graphmem.memory.previewing import preview
from graphmem.model import (
    AddReceipt,
    AddReport,
    EraseReceipt,
    EvolutionEvent,
    Link,
    Note,
    NoteInput,
    Source,
)


class MemoryWriting(MemoryHandle):
    """Adding, revising, linking by hand, feedback, archive, undo, erasure."""

    def add(
        self,
        content: str,
        *,
        id: str | None = None,  # noqa: A002  # the field's name in the public interface
        source: Source | None = None,
        role: str = "user",
        author: str | None = None,
        created_at: datetime | None = None,
        keywords: Iterable[str] | str | None = None,
        tags: Iterable[str] | str | None = None,
        context: str | None = None,
        importance: float | None = None,
        metadata: Mapping[str, object] | None = None,
    ) -> AddReceipt:
        """Add one note, link it, and let near-identical neighbours evolve.

        Adding the same content under the same id again is ``unchanged``; other content is
        a new revision. Without an id one is derived from namespace, source and content.

        Parameters
        ----------
        content
            The text, kept character for character.
        created_at
            When it was said (aware); the clock's moment when not given.
        importance
            In [0, 1]; computed from the text when not given.

        Raises
        ------
        InvalidNote
            A field cannot be stored; nothing was.
        EmbeddingError
            No usable vector, or the store was built with another model.
        NotAuthorised
            The memory's allow-list does not cover this source or author.
        """
        given = NoteInput(
            content=content,
            id=id,
            source=source,
            role=role,
            author=author,
            created_at=created_at,
            keywords=keywords,
            tags=tags,
            context=context,
            importance=importance,
            metadata=metadata,
        )
        return adding.add_one(self._setup, given)

    def add_many(
        self,
        inputs: Iterable[NoteInput],
        *,
        batch_size: int = 256,
        progress: Progress | None = None,
    ) -> AddReport:
        """Add notes in order, as if by :meth:`add`, with one embedding call a batch.

        A bad input is rejected with its reason and the others are stored. Each batch is
        stored whole or not at all; an interruption keeps the batches before it.

        Parameters
        ----------
        progress
            Called after each batch as ``progress(done, total)``; total is ``None`` for an
            iterator.
        """
        size = checked_limit(batch_size, "batch_size")
        return adding.add_many(self._setup, inputs, size, progress)

    def revise(
        self,
        id: str,  # noqa: A002  # the field's name in the public interface
        *,
        content: str | None = None,
        keywords: Iterable[str] | str | None = None,
        tags: Iterable[str] | str | None = None,
        context: str | None = None,
        importance: float | None = None,
        metadata: Mapping[str, object] | None = None,
        expected_revision: int | None = None,
    ) -> AddReceipt:
        """Give a stored note new content or fields, as a new revision.

        New content is linked anew; the earlier state stays in :meth:`history`.

        Raises
        ------
        NotFound
            No note of that id in this scope.
        Conflict
            The note is not at `expected_revision`.
        """

        def revised(note: Note) -> NoteInput:
            return NoteInput(
                content=note.content if content is None else content,
                id=note.id,
                role=note.role,
                author=note.author,
                source=note.source,
                keywords=keywords,
                tags=tags,
                context=context,
                importance=importance,
                metadata=metadata,
            )

        return adding.revise(self._setup, id, revised, expected_revision)

    def preview(self, inputs: Iterable[NoteInput]) -> AddReport:
        """Tell what :meth:`add_many` would do, without writing.

        Inputs are checked and compared with what is stored. Links, evolution and faulty
        vectors show only when the notes are added.
        """
        return preview(self._setup, inputs)

    def connect(self, pairs: Iterable[tuple[str, str]]) -> tuple[Link, ...]:
        """Link pairs of notes by hand, all in one write; returns the links it made.

        Such a link is RELATED of weight 1 with the raw cosine of its ends, and from then on
        like any other: use and age move its weight (:meth:`maintain`), new content of an
        end removes it. A pair that is linked already stays as it is; one with an archived
        end is left out.

        Raises
        ------
        NotFound
            An id names no note of this scope; nothing was linked.
        """
        return connect(self._setup, pairs)

    def feedback(self, id: str, signal: int) -> Note:  # noqa: A002  # as in the interface
        """Tell that a note was useful (+1) or not (-1); changes its ranked importance."""
        return changing.give_feedback(self._setup, id, signal)

    def archive(self, id: str) -> Note:  # noqa: A002  # as in the interface
        """Hide a note from recall and linking until :meth:`restore`; nothing is lost."""
        return changing.set_archived(self._setup, id, True)

    def restore(self, id: str) -> Note:  # noqa: A002  # as in the interface
        """Bring an archived note back."""
        return changing.set_archived(self._setup, id, False)

    def undo(self, event_id: str) -> EvolutionEvent:
        """Bring a note back to its state before an event; returns the event of the undo.

        Raises
        ------
        NotFound
            No such event in this scope.
        Conflict
            A later event of the same note stands; undo that one first.
        """
        return changing.undo(self._setup, event_id)

    def erase(
        self,
        *,
        id: str | None = None,  # noqa: A002  # as in the interface
        source: str | None = None,
        everything: bool = False,
    ) -> EraseReceipt:
        """Remove notes for good, with links, events and words carried into neighbours.

        Raises
        ------
        NotFound
            Nothing of that id or source is there (also the second time).
        """
        return changing.erase(self._setup, id, source, everything)
