"""FOLLOWS as an export shows it: derived from the positions of notes, as the stores do."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise

from graphmem.model import Link, LinkKind, Note


class Chains:
    """Collects the places of notes while they pass by; holds ids, no texts."""

    def __init__(self) -> None:
        self._places: dict[str, list[tuple[int, str]]] = {}

    def add(self, note: Note) -> None:
        """Take in a note."""
        source = note.source
        if source is not None and source.position is not None:
            self._places.setdefault(source.id, []).append((source.position, note.id))

    def links(self) -> Iterator[Link]:
        """Yield the FOLLOWS links, source by source, each from the later note to the earlier."""
        for source in sorted(self._places):
            for (_, earlier), (_, later) in pairwise(sorted(self._places[source])):
                yield Link(later, earlier, weight=1.0, cosine=1.0, kind=LinkKind.FOLLOWS)
