"""Notes, their sources, and what of a note can be seen and changed."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

Vector: TypeAlias = NDArray[np.float32]
"""One embedding, shape (dimension,), L2-normalised, or a block of shape (n, dimension)."""

SentenceVectors: TypeAlias = NDArray[np.int8]
"""Directions of a note's sentences, shape (k, dimension), in order of the text.

A vector is scaled so that its largest coordinate is 127 and rounded: a quarter of the bytes of
float32, read back as a direction of its own length. Shape (0, 0) stands for no sentences.
"""

NO_SENTENCES: SentenceVectors = np.zeros((0, 0), dtype=np.int8)
NO_SENTENCES.flags.writeable = False

Json: TypeAlias = "bool | int | float | str | list[Json] | dict[str, Json] | None"
"""What a metadata value may be."""

DEFAULT_IMPORTANCE = 0.5
"""Importance of a note written before the field existed."""


@dataclass(frozen=True, slots=True)
class Scope:
    """What a call may see: one namespace and, when given, only some sources and authors.

    Parameters
    ----------
    namespace
        The namespace; no call reads or writes outside it.
    sources, authors
        Allow-lists. ``None`` allows all. A note passes when its source is in `sources`
        and its author in `authors`; with a list given, a note without that field is
        outside.
    """

    namespace: str
    sources: frozenset[str] | None = None
    authors: frozenset[str] | None = None

    def allows(self, note: Note) -> bool:
        """Whether the note may be seen through this scope."""
        if note.namespace != self.namespace:
            return False
        if self.sources is not None and (note.source is None or note.source.id not in self.sources):
            return False
        return self.authors is None or note.author in self.authors


@dataclass(frozen=True, slots=True)
class Source:
    """Where a note comes from: a conversation, document or page, and the place within it.

    Parameters
    ----------
    id
        Identifier of the source.
    revision
        Version of the source the note was taken from.
    position
        Order within the source; notes with a position are chained by FOLLOWS.
    start, end
        Character offsets within the source.
    """

    id: str
    revision: str | None = None
    position: int | None = None
    start: int | None = None
    end: int | None = None


@dataclass(frozen=True, slots=True)
class NoteInput:
    """A note as the caller gives it; validated when it is added, not when it is made.

    ``None`` means "not said": derived (keywords, tags, context, importance), set to the
    moment of writing (created_at), or left empty.
    """

    content: str
    id: str | None = None
    source: Source | None = None
    role: str = "user"
    author: str | None = None
    created_at: datetime | None = None
    keywords: Iterable[str] | str | None = None
    tags: Iterable[str] | str | None = None
    context: str | None = None
    importance: float | None = None
    metadata: Mapping[str, object] | None = None


@dataclass(frozen=True, slots=True)
class Given:
    """The fields of a note its caller set explicitly; the rest was derived.

    Kept so that adding the same input again is recognised as unchanged, even after
    evolution has widened keywords and tags. `constructor` is the language model, with the
    version of its prompt, that made the rest; ``None`` when the rule did.
    """

    keywords: tuple[str, ...] | None = None
    tags: tuple[str, ...] | None = None
    context: str | None = None
    importance: float | None = None
    created_at: datetime | None = None
    constructor: str | None = None


@dataclass(frozen=True, slots=True)
class NoteState:
    """The part of a note that revisions change and undo brings back."""

    content: str
    role: str
    author: str | None
    source: Source | None
    created_at: datetime
    keywords: tuple[str, ...]
    tags: tuple[str, ...]
    context: str
    importance: float
    metadata: Mapping[str, Json]
    archived: bool = False
    given: Given = Given()


@dataclass(frozen=True, slots=True)
class Note:
    """A note as it is stored.

    Attributes
    ----------
    id, namespace
        Identity. An id is unique within its namespace.
    content
        The text exactly as it was added; evolution never rewrites it.
    role, author, source, created_at, metadata
        As given; `created_at` is when the note was written or said.
    keywords, tags, context
        Given or derived; evolution may widen keywords and tags and fill a context.
    importance
        Importance at write time, in [0, 1] (stored as ``importance_score``).
    feedback
        Sum of the user's +1 and -1 signals.
    recall_count, last_accessed_at
        How often and when a recall last returned the note; starts at 0 and `created_at`.
    revision
        Counts every change of the state, from 1; used for compare-and-swap.
    content_revision
        Counts changes of the content only, from 1; cited by evidence and receipts.
    archived
        Hidden from recall and linking until restored.
    given
        Which fields the caller set explicitly.
    """

    id: str
    namespace: str
    content: str
    role: str
    author: str | None
    source: Source | None
    created_at: datetime
    keywords: tuple[str, ...]
    tags: tuple[str, ...]
    context: str
    importance: float
    metadata: Mapping[str, Json]
    last_accessed_at: datetime
    feedback: int = 0
    recall_count: int = 0
    revision: int = 1
    content_revision: int = 1
    archived: bool = False
    given: Given = Given()

    @property
    def state(self) -> NoteState:
        """The part that revisions change."""
        return NoteState(
            content=self.content,
            role=self.role,
            author=self.author,
            source=self.source,
            created_at=self.created_at,
            keywords=self.keywords,
            tags=self.tags,
            context=self.context,
            importance=self.importance,
            metadata=self.metadata,
            archived=self.archived,
            given=self.given,
        )
