"""What a memory holds of a Markdown folder that was imported before."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Self

from graphmem.memory import Memory
from graphmem.model import Note, Source

ANCHOR = "#"
"""Parts the headings from the file in the id of a passage's note."""


@dataclass(frozen=True, slots=True)
class HeldPassage:
    """What is compared of a note that stands for a passage."""

    content: bytes
    source: Source
    tagged: bool
    worded: bool

    @classmethod
    def of(cls, note: Note, source: Source) -> Self:
        """Return what is compared of a note."""
        return cls(
            content=digest(note.content),
            source=source,
            tagged=note.given.tags is not None,
            worded=note.given.keywords is not None,
        )


@dataclass(slots=True)
class HeldPassages:
    """The notes of a folder's files, by file and id."""

    _by_source: dict[str, dict[str, HeldPassage]] = field(default_factory=dict)

    @classmethod
    def of(cls, memory: Memory, sources: Iterable[str], folder: str) -> Self:
        """Read the notes of these files, and of all files of a folder of this name.

        A note is a passage's when its id begins with the id of its source: notes that came
        by another way are not touched.
        """
        wanted = frozenset(sources)
        held = cls()
        for note in memory.notes(archived=True):
            source = note.source
            if source is None or not (note.id + ANCHOR).startswith(source.id + ANCHOR):
                continue
            if source.id in wanted or (folder and source.id.startswith(f"{folder}/")):
                passages = held._by_source.setdefault(source.id, {})
                passages[note.id] = HeldPassage.of(note, source)
        return held

    @property
    def sources(self) -> frozenset[str]:
        """The files that have notes."""
        return frozenset(self._by_source)

    def ids(self, source: str) -> set[str]:
        """Return the ids of the notes of a file."""
        return set(self._by_source.get(source, ()))

    def revisions(self, source: str) -> set[str | None]:
        """Return the revisions of a file that its notes were taken from."""
        return {held.source.revision for held in self._by_source.get(source, {}).values()}

    def get(self, source: str, note_id: str) -> HeldPassage | None:
        """Return what is held of one passage."""
        return self._by_source.get(source, {}).get(note_id)

    def forget(self, source: str, note_id: str) -> None:
        """Drop a passage whose note was removed."""
        del self._by_source[source][note_id]


def digest(text: str) -> bytes:
    """Return the digest by which contents are compared."""
    return hashlib.blake2b(text.encode("utf-8", "surrogatepass"), digest_size=16).digest()
