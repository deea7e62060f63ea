"""Libraries of the same class beside graphmem: same data, same vectors, same run.

A ratio below 1 means that graphmem took less time than the peer. What a peer does not do
stands in the line: fewer words found is also less work.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from importlib.metadata import version
from importlib.util import find_spec
from pathlib import Path
from statistics import median
from typing import TYPE_CHECKING

from graphmem.errors import MissingExtra
from graphmem.evaluation.benchmark.data import Planted, PlantedEmbedder, planted_notes
from graphmem.evaluation.benchmark.measurement import QUESTIONS, Measurement
from graphmem.evaluation.benchmark.timing import timed
from graphmem.memory import Memory
from graphmem.opening import open_memory
from graphmem.stores.neo4j import cypher

if TYPE_CHECKING:
    import neo4j
    from engrama.core.engine import EngramaEngine

LIMIT = 10


def require_peer(module: str) -> None:
    """Refuse to compare with what is not installed.

    Raises
    ------
    MissingExtra
        Names the package and how to install it.
    """
    if find_spec(module) is None:
        package = module.replace("_", "-")
        raise MissingExtra(
            f"{package} is not installed, so nothing can be measured beside it; "
            f"pip install {package}, or uv sync --group peers in a checkout"
        )


def measure_engrama(size: int, folder: Path) -> Iterator[Measurement]:
    """Measure adding one by one and searching at `size` notes, both in one SQLite file each."""
    require_peer("engrama")
    planted = planted_notes(size, QUESTIONS)
    peer = _engrama(folder / "peer.sqlite")
    name = f"engrama {version('engrama')}"
    place = folder / "ours.graphmem"
    with open_memory(place, embedder=PlantedEmbedder(planted), language_model="none") as memory:
        adds, their_adds = [], []
        for note in planted.notes:
            adds.append(timed(memory.add_many, [note]))
            their_adds.append(timed(_merge, peer, note.id or "", note.content))
        limit = f"{name} merge_node: full text, no vectors, no links"
        yield Measurement("one add, median", "embedded", size, limit, *_medians(adds, their_adds))
        recalls, their_recalls = [], []
        for question in planted.questions:
            recalls.append(timed(memory.recall, question, LIMIT, track=False))
            their_recalls.append(timed(peer.search, question, limit=LIMIT))
        limit = f"{name} search: full text alone"
        measured = _medians(recalls, their_recalls)
        yield Measurement("recall, median", "embedded", size, limit, *measured)


def _medians(measured: Sequence[float], bare: Sequence[float]) -> tuple[float, float]:
    return median(measured), median(bare)


def _engrama(path: Path) -> EngramaEngine:
    from engrama.backends import create_stores
    from engrama.core.engine import EngramaEngine
    from engrama.core.scope import MemoryScope

    chosen = {"GRAPH_BACKEND": "sqlite", "VECTOR_BACKEND": "none", "ENGRAMA_DB_PATH": str(path)}
    graph, vectors = create_stores(chosen)
    scope = MemoryScope(org_id="bench", user_id="bench")
    return EngramaEngine(graph, vectors, default_scope=scope)


def _merge(peer: EngramaEngine, note_id: str, content: str) -> None:
    peer.merge_node("Concept", {"name": note_id, "description": content})


def measure_graphrag(
    memory: Memory, planted: Planted, index: str, driver: neo4j.Driver, database: str
) -> Iterator[Measurement]:
    """Measure HybridCypherRetriever over the very nodes and indexes graphmem keeps.

    Parameters
    ----------
    memory
        A filled memory; the retriever has no namespaces and searches those of others too.
    planted
        Its notes and the questions.
    index
        The vector index in force.
    driver, database
        Where the memory is.
    """
    require_peer("neo4j_graphrag")
    from neo4j_graphrag.retrievers import HybridCypherRetriever

    retriever = HybridCypherRetriever(
        driver, index, "note_terms", cypher.bench("linked"), neo4j_database=database
    )
    recalls, theirs = [], []
    for row, question in enumerate(planted.questions):
        recalls.append(timed(memory.recall, question, LIMIT, track=False))
        asked = planted.asked[row].tolist()
        theirs.append(timed(retriever.search, query_text=question, query_vector=asked, top_k=LIMIT))
    limit = f"neo4j-graphrag {version('neo4j-graphrag')} HybridCypherRetriever, one hop"
    size = memory.stats().notes
    yield Measurement("recall, median", "Neo4j", size, limit, *_medians(recalls, theirs))
