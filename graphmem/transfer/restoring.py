"""Reading an export back: which of its records are stored, and what is reported."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import cached_property
from typing import Self

from graphmem.memory import Memory
from graphmem.memory.upkeep import MemoryRecord
from graphmem.model import EvolutionEvent, Link, LinkKind, ModelIdentity, NoteRecord
from graphmem.transfer.decoding import decode, explain, parse_object
from graphmem.transfer.encoding import Counts, Record, note_digest
from graphmem.transfer.lines import Line
from graphmem.transfer.records import EndLine, HeaderLine
from graphmem.transfer.report import Refusal, Refusals


class Present:
    """What a memory holds before a restoration, read when it is first asked for."""

    def __init__(self, memory: Memory) -> None:
        self._memory = memory

    @cached_property
    def notes(self) -> Mapping[str, bytes]:
        """Digest of each note, by id."""
        return {note.id: note_digest(note) for note in self._memory.notes(archived=True)}

    @cached_property
    def links(self) -> frozenset[tuple[LinkKind, str, str]]:
        """Kind and both ends of each link."""
        links = (item for item in self._records() if isinstance(item, Link))
        return frozenset((link.kind, *link.pair) for link in links)

    @cached_property
    def events(self) -> frozenset[str]:
        """Ids of the events."""
        return frozenset(item.id for item in self._records() if isinstance(item, EvolutionEvent))

    def _records(self) -> Iterator[MemoryRecord]:
        return self._memory.dump(vectors=False) if self.notes else iter(())


class Restoration:
    """One pass over the lines of an export, and the account of it.

    A note that is there already in the same state is left alone, and so are links and
    events that are there: what an interrupted restoration did not come to is stored. A
    note whose id is taken by another state is rejected, unless `replace` is set, which
    stores every line.

    Parameters
    ----------
    header
        The first line of the export.
    namespace
        Where the notes go.
    present
        What is there already.
    """

    def __init__(
        self,
        header: HeaderLine,
        namespace: str,
        present: Present,
        *,
        replace: bool = False,
    ) -> None:
        self._model: ModelIdentity | None = None
        if header.model is not None:
            self._model = ModelIdentity(header.model.model_id, header.model.dimension)
        self._namespace = namespace
        self._present = present
        self._replace = replace
        self._stored: set[str] = set()
        self._known: set[str] = set()
        self._seen = Counts()
        self._last = 1
        self._ended = False
        self.rejected = Refusals()
        self.added = self.replaced = self.unchanged = self.links = self.events = 0

    @classmethod
    def into(cls, memory: Memory, header: HeaderLine, *, replace: bool) -> Self:
        """Return a restoration that knows what the memory holds."""
        return cls(header, memory.namespace, Present(memory), replace=replace)

    def records(self, lines: Iterator[Line]) -> Iterator[MemoryRecord]:
        """Yield what is to be stored, as ``Memory.load`` takes it."""
        announced = False
        for line in lines:
            record = self._accepted(line)
            if record is None:
                continue
            if isinstance(record, NoteRecord) and record.embedding is not None and not announced:
                announced = True
                if self._model is not None:
                    yield self._model
            yield record
        if not self._ended:
            self._reject(self._last + 1, "the last line is missing: the file was cut off")

    def _accepted(self, line: Line) -> Record | None:
        self._last = line.number
        try:
            if line.problem is not None:
                raise ValueError(line.problem)
            if self._ended:
                raise ValueError("comes after the end of the export")
            record = decode(parse_object(line.text), self._namespace)
        except ValueError as error:
            self._reject(line.number, explain(error))
            return None
        if isinstance(record, EndLine):
            self._end(line.number, record)
            return None
        self._seen = self._seen.plus(record)
        if isinstance(record, NoteRecord):
            wanted = self._wants_note(line.number, record)
        elif isinstance(record, Link):
            wanted = self._wants_link(line.number, record)
        else:
            wanted = self._wants_event(line.number, record)
        return record if wanted else None

    def _reject(self, number: int, reason: str) -> None:
        self.rejected.add(Refusal.at_line(number, reason))

    def _wants_note(self, number: int, record: NoteRecord) -> bool:
        note = record.note
        if note.id in self._known:
            self._reject(number, f"note {note.id!r} comes twice; the first was taken")
            return False
        if record.embedding is not None and not self._fits(len(record.embedding)):
            self._reject(number, "embedding does not have the length the header names")
            return False
        present = self._present.notes.get(note.id)
        if present is None:
            self.added += 1
        elif present == note_digest(note):
            self._known.add(note.id)
            self.unchanged += 1
            if not self._replace:
                return False
        elif self._replace:
            self.replaced += 1
        else:
            self._reject(
                number,
                f"note {note.id!r} is there already in another state, which was kept; "
                "import with replace to overwrite it",
            )
            return False
        self._known.add(note.id)
        self._stored.add(note.id)
        return True

    def _fits(self, length: int) -> bool:
        return self._model is not None and length == self._model.dimension

    def _wants_link(self, number: int, link: Link) -> bool:
        missing = [end for end in link.pair if end not in self._known]
        if missing:
            self._reject(number, f"link to note {missing[0]!r}, which was not imported")
            return False
        there = (link.kind, *link.pair) in self._present.links
        wanted = not there or not self._stored.isdisjoint(link.pair)
        self.links += wanted
        return wanted

    def _wants_event(self, number: int, event: EvolutionEvent) -> bool:
        if event.note_id not in self._known:
            self._reject(number, f"event of note {event.note_id!r}, which was not imported")
            return False
        wanted = event.note_id in self._stored or event.id not in self._present.events
        self.events += wanted
        return wanted

    def _end(self, number: int, end: EndLine) -> None:
        self._ended = True
        seen = self._seen
        if (end.notes, end.links, end.events) != (seen.notes, seen.links, seen.events):
            self._reject(
                number,
                f"the export had {end.notes} notes, {end.links} links and {end.events} events; "
                f"{seen.notes}, {seen.links} and {seen.events} could be read",
            )
