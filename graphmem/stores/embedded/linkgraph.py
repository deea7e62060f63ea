"""The RELATED links of a namespace as a networkx graph, loaded around what is touched."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Sequence, Set
from itertools import islice
from typing import TYPE_CHECKING, Protocol, TypeAlias, TypedDict

import networkx as nx

from graphmem.model import Link

if TYPE_CHECKING:
    _Graph: TypeAlias = nx.DiGraph[str]  # networkx is generic for type checkers only
else:
    _Graph = nx.DiGraph


class Fetch(Protocol):
    """Reads RELATED links from the file."""

    def __call__(self, ids: Sequence[str], others: Set[str] | None = None) -> Iterable[Link]:
        """Return the links with an end among `ids` and, where given, the other in `others`."""


class Edge(TypedDict):
    """What an edge carries."""

    weight: float
    link: Link


class NoteGraph(_Graph):
    """A networkx graph of note ids, each RELATED link once, from its lower to its higher id.

    The walks below read networkx's adjacency itself: each access through its views costs
    more than the step.
    """

    _succ: dict[str, dict[str, Edge]]
    _pred: dict[str, dict[str, Edge]]

    def between(self, ids: Iterable[str], others: Set[str], min_weight: float) -> list[Link]:
        """Return the links of at least `min_weight` from `ids` to any of `others`, by pair."""
        found: dict[tuple[str, str], Link] = {}
        for each in ids:
            for near in (self._succ[each], self._pred[each]):
                for other, edge in near.items():
                    if other in others and edge["weight"] >= min_weight:
                        found[edge["link"].pair] = edge["link"]
        return [found[pair] for pair in sorted(found)]

    def strongest(
        self, note_id: str, limit: int, min_weight: float, admits: Callable[[str], bool]
    ) -> Iterable[str]:
        """Return the admitted other ends of the strongest links, by (-weight, other end)."""
        strong = [
            (-edge["weight"], other)
            for near in (self._succ[note_id], self._pred[note_id])
            for other, edge in near.items()
            if edge["weight"] >= min_weight
        ]
        strong.sort()
        return islice((other for _, other in strong if admits(other)), limit)

    def at(self, note_id: str) -> Iterator[Link]:
        """Yield the note's links."""
        for near in (self._succ[note_id], self._pred[note_id]):
            yield from (edge["link"] for edge in near.values())


class LinkGraph:
    """A networkx graph of note ids whose edges carry weight and link.

    A note's edges come from the file when a read first touches it, so that opening a file
    of 300,000 links costs nothing and memory follows use. Every method that takes ids
    makes sure that their edges are there.

    Parameters
    ----------
    fetch
        Reads links from the file.
    """

    def __init__(self, fetch: Fetch) -> None:
        self.graph = NoteGraph()
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
        return list(self.graph.at(note_id))

    def touching(self, ids: Collection[str]) -> list[Link]:
        """Return the links with at least one end in `ids`, each once."""
        self.ensure(ids)
        return list({link.pair: link for each in ids for link in self.graph.at(each)}.values())

    def between(self, ids: Collection[str], others: Set[str], min_weight: float) -> list[Link]:
        """Return the links of at least `min_weight` from `ids` to any of `others`, by pair."""
        self.ensure(ids)
        return self.graph.between(ids, others, min_weight)

    def beside(
        self, ids: Collection[str], fanout: int, min_weight: float, admits: Callable[[str], bool]
    ) -> set[str]:
        """Return the admitted other ends of each note's `fanout` strongest links."""
        self.ensure(ids)
        reached: set[str] = set()
        for each in ids:
            reached.update(self.graph.strongest(each, fanout, min_weight, admits))
        return reached

    def put(self, link: Link) -> None:
        """Add or replace a link, if an end of it is loaded."""
        if link.from_id in self._complete or link.to_id in self._complete:
            self._add(link)

    def drop(self, low: str, high: str) -> None:
        """Remove a link."""
        if self.graph.has_edge(low, high):
            self.graph.remove_edge(low, high)

    def renew(self, ids: Set[str]) -> None:
        """Read anew the links among these notes, which the file has otherwise by now.

        Each edge has an end of which all edges are here, so that these suffice.
        """
        loaded = sorted(ids & self._complete)
        if not loaded:
            return
        for each in loaded:
            near = (*self.graph.successors(each), *self.graph.predecessors(each))
            for other in ids & set(near):
                self.drop(each, other)
                self.drop(other, each)
        for link in self._fetch(loaded, ids):
            self._add(link)

    def erase(self, note_id: str) -> None:
        """Remove a note that the file has no more, nor any link of it."""
        if note_id in self.graph:
            self.graph.remove_node(note_id)
        self._complete.discard(note_id)

    def _add(self, link: Link) -> None:
        self.graph.add_edge(link.from_id, link.to_id, weight=link.weight, link=link)
