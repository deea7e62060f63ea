"""What a benchmark runs, one part after the other, each in a folder of its own."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from functools import partial
from pathlib import Path
from typing import TypeAlias

from graphmem.evaluation.benchmark import Measurement
from graphmem.evaluation.benchmark_crowd import Place, measure_crowd
from graphmem.evaluation.benchmark_embedded import measure_embedded
from graphmem.evaluation.benchmark_embedding import measure_embedding
from graphmem.evaluation.benchmark_neo4j import measure_neo4j, measure_neo4j_crowd
from graphmem.evaluation.benchmark_peers import measure_engrama, require_peers
from graphmem.evaluation.benchmark_process import measure_cold_recall

Part: TypeAlias = Callable[[Path], Iterator[Measurement]]
"""Measures one thing; may put files into the folder."""


def embedded_parts(sizes: Sequence[int], peers: bool) -> list[Part]:
    """Return the parts of the embedded store."""
    parts: list[Part] = [partial(measure_embedded, size) for size in sizes]
    parts += [measure_cold_recall, lambda _: measure_embedding(), _crowd_in]
    if peers:
        require_peers("engrama")
        parts += [partial(measure_engrama, size) for size in sizes]
    return parts


def neo4j_parts(sizes: Sequence[int], url: str, peers: bool) -> list[Part]:
    """Return the parts of a Neo4j server."""
    if peers:
        require_peers("neo4j_graphrag")

    def beside_limits(size: int) -> Part:
        return lambda _: measure_neo4j(size, url, peers=peers)

    return [*map(beside_limits, sizes), lambda _: measure_neo4j_crowd(url)]


def _crowd_in(folder: Path) -> Iterator[Measurement]:
    return measure_crowd(Place(str(folder / "crowd.graphmem"), "default"), "embedded")
