"""One Markdown file as the notes of its passages."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterator
from dataclasses import dataclass, replace
from datetime import datetime

from graphmem.memory.entry import MAX_ID
from graphmem.model import NoteInput, Source
from graphmem.transfer.folder import Found, MarkdownText
from graphmem.transfer.front_matter import ExportedNote, FrontMatter, read_front_matter
from graphmem.transfer.held_passages import ANCHOR, HeldPassages, digest
from graphmem.transfer.intake import ImportOptions, Incoming, zoned
from graphmem.transfer.markdown import Passage, passages, slug
from graphmem.transfer.report import Tally
from graphmem.transfer.wikilinks import Target

_WIKILINK = re.compile(r"\[\[([^\[\]|]+)(?:\|[^\[\]]*)?\]\]")


@dataclass(frozen=True, slots=True)
class PassageNote:
    """A passage with the id and text of its note."""

    note_id: str
    content: str
    passage: Passage


@dataclass(frozen=True, slots=True)
class MarkdownFile:
    """A file that was read: its front matter and the notes of its passages, in order."""

    found: Found
    source_id: str
    revision: str
    written_at: datetime | None
    front: FrontMatter
    notes: tuple[PassageNote, ...]

    @property
    def ids(self) -> frozenset[str]:
        """Ids of the notes."""
        return frozenset(note.note_id for note in self.notes)

    @property
    def problem(self) -> str | None:
        """Why the front matter was left out, or ``None``."""
        return self.front.problem

    @property
    def aliases(self) -> tuple[str, ...]:
        """Other names of the file."""
        return self.front.aliases

    @property
    def targets(self) -> tuple[Target, ...]:
        """What wikilinks to this file may mean."""
        return tuple(Target(note.note_id, note.passage.headings) for note in self.notes)

    @property
    def links(self) -> Iterator[tuple[str, str]]:
        """Ids of the notes, each with a wikilink it holds."""
        for note in self.notes:
            for link in note.passage.links:
                yield note.note_id, link

    def incoming(
        self, held: HeldPassages, options: ImportOptions, tally: Tally
    ) -> Iterator[Incoming]:
        """Yield the notes, compared with what is held of them."""
        dated = zoned(self.front.created_at, options, tally)
        for position, note in enumerate(self.notes, start=1):
            heading = " > ".join(note.passage.headings)
            place = f"{self.found.name}: {heading}" if heading else self.found.name
            if self.front.exported is not None:
                given = self._exported(note, self.front.exported, dated)
            else:
                given = self._passage(note, position, held, dated)
            yield Incoming(given, place)

    def _passage(
        self, note: PassageNote, position: int, held: HeldPassages, dated: datetime | None
    ) -> NoteInput:
        front, passage = self.front, note.passage
        metadata: dict[str, object] = dict(front.metadata)
        if passage.headings:
            metadata["headings"] = list(passage.headings)
        if passage.links:
            metadata["wikilinks"] = list(passage.links)
        given = NoteInput(
            note.content,
            id=note.note_id,
            source=Source(self.source_id, self.revision, position, passage.start, passage.end),
            role=front.role,
            author=front.author,
            created_at=dated,
            keywords=front.keywords,
            tags=front.tags,
            context=front.context,
            importance=front.importance,
            metadata=metadata,
        )
        return self._compared(given, position, held)

    def _compared(self, given: NoteInput, position: int, held: HeldPassages) -> NoteInput:
        """Return the input with what is held of the passage taken into account."""
        before = held.get(self.source_id, str(given.id))
        if before is None:
            return given if given.created_at else replace(given, created_at=self.written_at)
        if before.content == digest(given.content) and before.source.position == position:
            given = replace(given, source=before.source)
        return replace(
            given,
            tags=() if given.tags is None and before.tagged else given.tags,
            keywords=() if given.keywords is None and before.worded else given.keywords,
        )

    def _exported(self, note: PassageNote, own: ExportedNote, dated: datetime | None) -> NoteInput:
        front, place = self.front, own.source
        source = None
        if place is not None:
            source = Source(place.id, place.revision, place.position, place.start, place.end)
        return NoteInput(
            note.content,
            id=own.id,
            source=source,
            role=front.role,
            author=front.author,
            created_at=dated,
            keywords=front.keywords,
            tags=front.tags,
            context=front.context,
            importance=front.importance,
            metadata=own.metadata,
        )


def file_revision(text: str) -> str:
    """Return the digest that names a version of a file: 16 hexadecimal digits of sha256."""
    return hashlib.sha256(text.encode("utf-8")).hexdigest()[:16]


def read_file(read: MarkdownText, found: Found, source_id: str) -> MarkdownFile:
    """Return the notes of a file.

    The file of an exported note is that one note; any other is one note a passage.
    """
    text = read.text
    front = read_front_matter(text)
    if front.exported is not None:
        notes: tuple[PassageNote, ...] = (_whole(text, front.body, front.exported),)
    else:
        notes = tuple(_named(text, passages(text, front.body), source_id))
    return MarkdownFile(found, source_id, file_revision(text), read.written_at, front, notes)


def _whole(text: str, start: int, own: ExportedNote) -> PassageNote:
    content = text[start:].removesuffix("\n")
    links = tuple(
        match[1].strip() for link in own.related for match in [_WIKILINK.fullmatch(link)] if match
    )
    return PassageNote(own.id, content, Passage(start, start + len(content), (), links))


def _named(text: str, found: tuple[Passage, ...], source_id: str) -> Iterator[PassageNote]:
    taken: set[str] = set()
    for passage in found:
        name = first = source_id
        if passage.headings:
            name = first = source_id + ANCHOR + "/".join(slug(h) for h in passage.headings)
        number = 1
        while name in taken:
            number += 1
            name = f"{first}-{number}"
        taken.add(name)
        yield PassageNote(_bounded(name), text[passage.start : passage.end], passage)


def _bounded(name: str) -> str:
    """Return an id that can be stored: of a long one the end is its digest."""
    if len(name) <= MAX_ID:
        return name
    mark = hashlib.blake2b(name.encode("utf-8"), digest_size=8).hexdigest()
    return f"{name[: MAX_ID - len(mark) - 1]}-{mark}"
