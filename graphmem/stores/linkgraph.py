"""The RELATED links of a namespace as a networkx graph, loaded around what is touched."""

from __future__ import annotations

import heapq
from collections.abc import Callable, Collection, Iterable, Sequence
from typing import TYPE_CHECKING, TypeAlias

import networkx as nx

from graphmem.model import Link

if TYPE_CHECKING:
    IdGraph: TypeAlias = nx.Graph[str]  # networkx is generic for type checkers only

Fetch = Callable[[Sequence[str]], Iterable[Link]]
"""Reads from the file every RELATED link with an end among these notes."""


class LinkGraph:
    """An undirected networkx graph of note ids whose edges carry weight and link.

    A note's edges come from the file when a read first touches it, so that opening a file
    of 300,000 links costs nothing and memory follows use. Every method that takes ids
    makes sure that their edges are there.

    Parameters
    ----------
    fetch
        Reads links from the file.
    """

    def __init__(self, fetch: Fetch) -> None:
        self.graph: IdGraph = nx.Graph()
        self._fetch = fetch
        self._complete: set[str] = set()

    def ensure(self, ids: Iterable[str]) -> None:
        """Have all edges of these notes in the graph."""
        missing = [each for each in ids if each not in self._complete]
        if not missing:
            return
        self.graph.add_nodes_from(missing)
        for link in self._fetch(missing):
            self._add(link)
        self._complete.update(missing)

    def of(self, note_id: str) -> list[Link]:
        """Return the note's links."""
        self.ensure((note_id,))
        return [link for _, _, link in self._edges(note_id)]

    def touching(self, ids: Collection[str]) -> list[Link]:
        """Return the links with at least one end in `ids`, each once."""
        self.ensure(ids)
        return [link for _, _, link in self._edges(ids)]

    def among(self, ids: Collection[str], min_weight: float) -> list[Link]:
        """Return the links of at least `min_weight` whose two ends are in `ids`."""
        self.ensure(ids)
        return [
            link
            for _, other, link in self._edges(ids)
            if other in ids and link.weight >= min_weight
        ]

    def strongest(
        self, note_id: str, limit: int, min_weight: float, admits: Callable[[str], bool]
    ) -> list[str]:
        """Return the admitted other ends of the note's strongest links, by (-weight, id)."""
        self.ensure((note_id,))
        reached = [
            (-link.weight, other)
            for _, other, link in self._edges(note_id)
            if link.weight >= min_weight and admits(other)
        ]
        if len(reached) > limit:
            return [other for _, other in heapq.nsmallest(limit, reached)]
        return [other for _, other in sorted(reached)]

    def put(self, link: Link) -> None:
        """Add or replace a link, if an end of it is loaded."""
        if link.from_id in self._complete or link.to_id in self._complete:
            self._add(link)

    def drop(self, low: str, high: str) -> None:
        """Remove a link."""
        if self.graph.has_edge(low, high):
            self.graph.remove_edge(low, high)

    def forget(self, note_id: str) -> None:
        """Remove a note with its edges; its other ends are read anew when touched."""
        if note_id in self.graph:
            self._complete.difference_update(self.graph[note_id])
            self.graph.remove_node(note_id)
        self._complete.discard(note_id)

    def _edges(self, ids: str | Collection[str]) -> Iterable[tuple[str, str, Link]]:
        """Return the edges at these notes, each once: an end in `ids`, the other, the link."""
        edges: Iterable[tuple[str, str, Link]] = self.graph.edges(ids, data="link")
        return edges

    def _add(self, link: Link) -> None:
        self.graph.add_edge(link.from_id, link.to_id, weight=link.weight, link=link)
