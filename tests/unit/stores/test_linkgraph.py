from __future__ import annotations

from collections.abc import Sequence, Set

from contract.builders import link

from graphmem.model import Link
from graphmem.stores.embedded.linkgraph import LinkGraph

STORED = [link("a", "b", 0.9), link("b", "c", 0.8), link("c", "d", 0.7), link("a", "d", 0.8)]


class File:
    """Links on disk that remembers what was read."""

    def __init__(self, links: list[Link]) -> None:
        self.links = links
        self.read: list[str] = []

    def fetch(self, ids: Sequence[str], others: Set[str] | None = None) -> list[Link]:
        self.read += ids
        touching = [each for each in self.links if set(each.pair) & set(ids)]
        return [each for each in touching if others is None or set(each.pair) <= others]


def everyone(_: str) -> bool:
    return True


def test_only_what_is_touched_is_read_and_only_once() -> None:
    file = File(STORED)
    graph = LinkGraph(file.fetch)
    assert {each.pair for each in graph.of("a")} == {("a", "b"), ("a", "d")}
    graph.beside(["a"], 8, 0.0, everyone)
    assert file.read == ["a"]
    assert set(graph.graph.nodes) == {"a", "b", "d"}
    assert graph.graph.edges["a", "b"]["weight"] == 0.9


def test_an_edge_seen_from_one_end_is_not_all_of_the_other() -> None:
    graph = LinkGraph(File(STORED).fetch)
    graph.ensure(["a"])
    assert {each.pair for each in graph.of("b")} == {("a", "b"), ("b", "c")}


def test_links_among_notes_come_in_order_and_by_weight() -> None:
    graph = LinkGraph(File(STORED).fetch)
    three, four = {"a", "b", "d"}, {"a", "b", "c", "d"}
    assert [e.pair for e in graph.between(three, three, 0.0)] == [("a", "b"), ("a", "d")]
    assert [e.pair for e in graph.between(four, four, 0.8)] == [
        ("a", "b"),
        ("a", "d"),
        ("b", "c"),
    ]


def test_the_strongest_are_cut_after_what_is_not_admitted() -> None:
    links = [link("m", "z", 0.9), link("a", "m", 0.8), link("b", "m", 0.8), link("c", "m", 0.1)]
    graph = LinkGraph(File(links).fetch)
    assert graph.beside(["m"], 2, 0.0, everyone) == {"z", "a"}
    assert graph.beside(["m"], 2, 0.0, lambda other: other != "z") == {"a", "b"}
    assert graph.beside(["m"], 9, 0.5, everyone) == {"z", "a", "b"}


def test_links_that_changed_in_the_file_are_read_anew_and_no_others() -> None:
    file = File(list(STORED))
    graph = LinkGraph(file.fetch)
    graph.ensure(["a", "b", "c"])
    file.read.clear()
    file.links = [link("a", "b", 0.2), link("b", "e", 0.5), link("c", "d", 0.7)]
    graph.renew({"a", "b", "d", "e", "f"})
    assert file.read == ["a", "b"]
    assert {each.pair: each.weight for each in graph.of("b")} == {
        ("a", "b"): 0.2,
        ("b", "c"): 0.8,
        ("b", "e"): 0.5,
    }
    assert {each.pair for each in graph.of("a")} == {("a", "b")}
    assert {each.pair for each in graph.of("c")} == {("b", "c"), ("c", "d")}
    assert file.read == ["a", "b"]


def test_an_erased_note_takes_its_edges_along_and_costs_no_reading() -> None:
    file = File(list(STORED))
    graph = LinkGraph(file.fetch)
    graph.ensure(["a", "b"])
    file.read.clear()
    graph.erase("a")
    graph.erase("x")
    assert {each.pair for each in graph.of("b")} == {("b", "c")}
    assert file.read == []
    file.links = [link("a", "c", 0.9)]
    assert {each.pair for each in graph.of("a")} == {("a", "c")}


def test_a_new_link_is_taken_in_where_an_end_is_loaded() -> None:
    file = File(list(STORED))
    graph = LinkGraph(file.fetch)
    graph.ensure(["a"])
    graph.put(link("a", "x", 0.5))
    graph.put(link("y", "z", 0.5))
    graph.drop("a", "b")
    graph.drop("p", "q")
    assert {each.pair for each in graph.of("a")} == {("a", "d"), ("a", "x")}
    assert "y" not in graph.graph
