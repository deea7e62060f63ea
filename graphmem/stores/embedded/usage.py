"""Use counters between a recall and the file: counted at once, written within a second."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field, replace

from graphmem.model import Link, Note
from graphmem.stores.embedded.journal import Change
from graphmem.stores.embedded.rows import from_micros
from graphmem.stores.embedded.schema import NAMESPACE_BITS
from graphmem.stores.embedded.tables import Tables

KeyPair = tuple[int, int]
"""Keys of a link's lower and higher end."""


@dataclass(frozen=True, slots=True)
class Count:
    """How often something was used since the last writing, and when last (microseconds)."""

    times: int
    last: int

    def again(self, moment: int) -> Count:
        """Return the count after one more use."""
        return Count(self.times + 1, max(self.last, moment))


@dataclass(slots=True)
class PendingUse:
    """Uses not yet in the file, by note key and by link."""

    notes: dict[int, Count] = field(default_factory=dict)
    links: dict[KeyPair, Count] = field(default_factory=dict)
    since: float | None = None

    def count(
        self, notes: Iterable[int], links: Iterable[KeyPair], moment: int, clock: float
    ) -> None:
        """Count one use of each; `clock` is the monotonic time of counting."""
        for key in notes:
            earlier = self.notes.get(key)
            self.notes[key] = Count(1, moment) if earlier is None else earlier.again(moment)
        for pair in links:
            before = self.links.get(pair)
            self.links[pair] = Count(1, moment) if before is None else before.again(moment)
        if self.since is None and (self.notes or self.links):
            self.since = clock

    def due(self, clock: float, lag: float) -> bool:
        """Whether the oldest use has waited for `lag` seconds."""
        return self.since is not None and clock - self.since >= lag

    def changes(self) -> list[Change]:
        """Return what other processes have to read anew once it is written, by namespace."""
        keys = dict.fromkeys((*self.notes, *(key for pair in self.links for key in pair)))
        by_namespace: dict[int, list[int]] = {}
        for key in keys:
            by_namespace.setdefault(key >> NAMESPACE_BITS, []).append(key)
        return [Change(number, (), tuple(used)) for number, used in by_namespace.items()]

    def write(self, tables: Tables) -> None:
        """Add the counts to the rows of the file, within its open transaction."""
        tables.count_uses((c.times, c.last, key) for key, c in self.notes.items())
        tables.count_retrievals((c.times, c.last, *pair) for pair, c in self.links.items())

    def clear(self) -> None:
        """Forget what has been written."""
        self.notes.clear()
        self.links.clear()
        self.since = None

    def on_note(self, key: int, note: Note) -> Note:
        """Return the note as read from the file with its pending use added."""
        count = self.notes.get(key)
        if count is None:
            return note
        return replace(
            note,
            recall_count=note.recall_count + count.times,
            last_accessed_at=max(note.last_accessed_at, from_micros(count.last)),
        )

    def on_link(self, pair: KeyPair, link: Link) -> Link:
        """Return the link as read from the file with its pending use added."""
        count = self.links.get(pair)
        if count is None:
            return link
        last = from_micros(count.last)
        if link.last_retrieved_at is not None:
            last = max(last, link.last_retrieved_at)
        return replace(link, retrievals=link.retrievals + count.times, last_retrieved_at=last)
