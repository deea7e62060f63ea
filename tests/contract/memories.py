"""Opening memories on every store as users do, with vectors and clocks of the test."""

from __future__ import annotations

import uuid
from collections.abc import Iterable
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from stub_embedder import StubEmbedder, at_cosine

from graphmem import (
    EvolutionEvent,
    Link,
    Memory,
    Note,
    NoteInput,
    NoteRecord,
    RecallResult,
    open_memory,
)
from graphmem.memory.upkeep import MemoryRecord

NOON = datetime(2025, 3, 1, 12, tzinfo=UTC)

POLICIES = ("graphmem-1", "mission", "weighted")
"""The built-in policies."""

MARKERS = {
    "[east]": at_cosine(1.0),
    "§": at_cosine(1.0),
    "[twin]": at_cosine(0.97, axis=1),
    "[sister]": at_cosine(0.95, axis=2),
    "[near]": at_cosine(0.80, axis=3),
    "[cousin]": at_cosine(0.75, axis=4),
    "[edge]": at_cosine(0.60, axis=5),
    "[far]": at_cosine(0.0, axis=6),
    "[west]": at_cosine(-1.0),
}
"""Cosine with ``[east]``: twin and sister evolve, near and cousin are linked only.

``§`` points east without being a word, for questions that only the vector answers.
"""


class Clock:
    """A clock that stands until it is moved."""

    def __init__(self, now: datetime = NOON) -> None:
        self.now = now

    def __call__(self) -> datetime:
        return self.now

    def forward(self, **span: float) -> datetime:
        self.now += timedelta(**span)
        return self.now


def stub() -> StubEmbedder:
    """The embedder of the suite: vectors of :data:`MARKERS`, else scattered."""
    return StubEmbedder(MARKERS)


@dataclass
class Place:
    """One store that memories are opened on, as often as wanted."""

    url: str
    auth: tuple[str, str] | None = None
    namespace: str = field(default_factory=lambda: f"contract-{uuid.uuid4()}")
    opened: list[Memory] = field(default_factory=list)

    def open(self, **options: Any) -> Memory:
        settings = {"namespace": self.namespace, "auth": self.auth, "embedder": stub()} | options
        memory = open_memory(self.url, **settings)
        self.opened.append(memory)
        return memory

    def close(self) -> None:
        for memory in self.opened:
            memory.close()


def file_place(folder: Path) -> Place:
    return Place(str(folder / "memory.graphmem"))


# --- what a memory holds -----------------------------------------------------------------


def state(memory: Memory) -> list[object]:
    """Everything a scope holds, comparable: vectors as bytes, events and counters included."""
    return [
        (
            item.note,
            item.terms,
            None if item.embedding is None else item.embedding.tobytes(),
            None if item.sentences is None else item.sentences.tobytes(),
        )
        if isinstance(item, NoteRecord)
        else item
        for item in memory.dump()
    ]


def ids(result: RecallResult) -> list[str]:
    return [ranked.note.id for ranked in result.notes]


def hits(result: RecallResult) -> list[str]:
    """Ids of the notes that share a word with the question, best first."""
    return [ranked.note.id for ranked in result.notes if ranked.signals["lexical"] > 0]


def by_id(result: RecallResult) -> dict[str, Any]:
    return {ranked.note.id: ranked for ranked in result.notes}


def notes_of(memory: Memory, *, archived: bool = True) -> list[Note]:
    return list(memory.notes(archived=archived))


def pairs_of(memory: Memory) -> list[tuple[str, str]]:
    """Every RELATED link of the memory, by pair."""
    return [item.pair for item in memory.dump() if isinstance(item, Link)]


def plain(id: str, content: str, **fields: Any) -> NoteInput:  # noqa: A002 - the field is called so
    """An input without derived metadata, so that only the content is embedded."""
    return NoteInput(content, id=id, **{"keywords": (), "tags": (), "context": None, **fields})


def add_all(memory: Memory, inputs: Iterable[NoteInput]) -> None:
    """Add one by one; any rejection raises."""
    for given in inputs:
        memory.add(
            given.content,
            **{
                name: getattr(given, name)
                for name in NoteInput.__dataclass_fields__
                if name != "content"
            },
        )


def assert_same_graph(left: list[MemoryRecord], right: list[MemoryRecord]) -> None:
    """Equal in everything; vectors, weights and cosines to 1e-6."""
    for ours, theirs in zip(left, right, strict=True):
        if isinstance(ours, NoteRecord) and isinstance(theirs, NoteRecord):
            assert (ours.note, ours.terms) == (theirs.note, theirs.terms)
            assert ours.embedding is not None
            assert theirs.embedding is not None
            np.testing.assert_allclose(ours.embedding, theirs.embedding, atol=1e-6)
        elif isinstance(ours, Link) and isinstance(theirs, Link):
            assert ours.pair == theirs.pair
            assert (ours.weight, ours.cosine) == pytest.approx(
                (theirs.weight, theirs.cosine), abs=1e-6
            )
        elif isinstance(ours, EvolutionEvent) and isinstance(theirs, EvolutionEvent):
            assert replace(ours, similarity=None, linked=(), unlinked=()) == replace(
                theirs, similarity=None, linked=(), unlinked=()
            )
            assert [link.pair for link in ours.linked] == [link.pair for link in theirs.linked]
            assert [link.pair for link in ours.unlinked] == [link.pair for link in theirs.unlinked]
        else:
            assert ours == theirs


def traces(memory: Memory, word: str) -> list[str]:
    """Items of a dump that mention the word anywhere."""
    return [repr(item)[:200] for item in memory.dump(vectors=False) if word in repr(item)]
