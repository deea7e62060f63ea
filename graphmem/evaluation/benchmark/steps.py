"""The steps of a benchmark, one after the other, each in a folder of its own."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from functools import partial
from pathlib import Path
from typing import TypeAlias

from graphmem.evaluation.benchmark.crowd import Place, measure_crowd
from graphmem.evaluation.benchmark.embedded import measure_embedded
from graphmem.evaluation.benchmark.embedding import measure_embedding
from graphmem.evaluation.benchmark.measurement import Measurement
from graphmem.evaluation.benchmark.neo4j import measure_neo4j, measure_neo4j_crowd
from graphmem.evaluation.benchmark.parts import Part
from graphmem.evaluation.benchmark.peers import measure_engrama, require_peer
from graphmem.evaluation.benchmark.process import measure_cold_recall

Step: TypeAlias = Callable[[Path], Iterator[Measurement]]
"""Measures one thing; may put files into the folder."""


def embedded_steps(sizes: Sequence[int], parts: Sequence[Part]) -> list[Step]:
    """Return the steps of the embedded store."""
    if Part.PEERS in parts:
        require_peer("engrama")
    steps: dict[Part, list[Step]] = {
        Part.SIZES: [partial(measure_embedded, size) for size in sizes],
        Part.READERS: [_crowd_in],
        Part.PROCESS: [measure_cold_recall],
        Part.EMBEDDING: [lambda _: measure_embedding()],
        Part.PEERS: [partial(measure_engrama, size) for size in sizes],
    }
    return [step for part in parts for step in steps[part]]


def neo4j_steps(sizes: Sequence[int], parts: Sequence[Part], url: str) -> list[Step]:
    """Return the steps of a Neo4j server; peers are measured on the memories of each size."""
    peers = Part.PEERS in parts
    if peers:
        require_peer("neo4j_graphrag")

    def at(size: int) -> Step:
        return lambda _: measure_neo4j(size, url, peers=peers)

    steps: dict[Part, list[Step]] = {
        Part.SIZES: [at(size) for size in sizes],
        Part.READERS: [lambda _: measure_neo4j_crowd(url)],
    }
    return [step for part in parts for step in steps.get(part, ())]


def _crowd_in(folder: Path) -> Iterator[Measurement]:
    return measure_crowd(Place(str(folder / "crowd.graphmem"), "default"), "embedded")
