"""How fast, as ratios to a bare limit measured in the same run; embedding is left out."""

from __future__ import annotations

import gc
import os
import platform
import sqlite3
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from statistics import median
from typing import ParamSpec

import numpy as np

from graphmem.algorithms.text import tokens
from graphmem.evaluation.benchmark_bare import (
    bare_commit,
    bare_insert,
    bare_links,
    bare_recall,
    bare_scan,
)
from graphmem.evaluation.benchmark_data import Planted, PlantedEmbedder, planted_notes
from graphmem.memory import Memory
from graphmem.opening import open_memory

Args = ParamSpec("Args")

QUESTIONS = 200
SINGLE_ADDS = 50
EXTRA_MS = 5.0
"""What the scan limit allows for everything that is not the scan."""


@dataclass(frozen=True, slots=True)
class Measurement:
    """One line of the benchmark; times in milliseconds.

    `ratio` compares the measured value with the bare limit of the same kind.
    """

    what: str
    store: str
    notes: int
    limit: str
    measured_ms: float
    bare_ms: float

    @property
    def ratio(self) -> float:
        """Measured over bare."""
        return self.measured_ms / self.bare_ms


@dataclass(frozen=True, slots=True)
class BenchmarkReport:
    """All lines with the machine they were measured on."""

    machine: str
    measurements: tuple[Measurement, ...]


def run_benchmark(
    sizes: Sequence[int] = (1_000, 10_000),
    *,
    progress: Callable[[str], None] | None = None,
) -> BenchmarkReport:
    """Measure the embedded store at each size, in a temporary folder."""
    lines: list[Measurement] = []
    for size in sizes:
        if progress is not None:
            progress(f"{size} notes")
        with tempfile.TemporaryDirectory(prefix="graphmem-bench-") as folder:
            lines += _embedded(size, Path(folder))
    return BenchmarkReport(machine_description(), tuple(lines))


def machine_description() -> str:
    """Describe processor count, system and versions in one line."""
    return (
        f"{os.cpu_count()} cores, {platform.system()} {platform.machine()}, "
        f"Python {platform.python_version()}, numpy {np.__version__}, "
        f"SQLite {sqlite3.sqlite_version}"
    )


def _embedded(size: int, folder: Path) -> Iterator[Measurement]:
    planted = planted_notes(size + SINGLE_ADDS, QUESTIONS)
    bulk = planted.notes[:size]
    yield _bulk(planted, bulk, folder)
    place = folder / "bench.graphmem"
    with open_memory(place, embedder=PlantedEmbedder(planted)) as memory:
        yield from _recalls(memory, planted, size)
        yield _single_adds(memory, planted, size, folder)
    yield _opening(planted, place, size)


def _bulk(planted: Planted, bulk: Sequence[object], folder: Path) -> Measurement:
    size = len(bulk)
    vectors = planted.vectors[:size]
    bare = _timed(bare_links, vectors) + _timed(
        bare_insert, folder / "bare.sqlite", planted.notes[:size], vectors
    )
    with open_memory(folder / "bench.graphmem", embedder=PlantedEmbedder(planted)) as memory:
        measured = _timed(memory.add_many, planted.notes[:size])
    limit = "one blocked matrix product + one SQLite bulk insert"
    return Measurement("add_many with linking", "embedded", size, limit, measured, bare)


def _recalls(memory: Memory, planted: Planted, size: int) -> Iterator[Measurement]:
    vectors = planted.vectors[:size].copy()
    documents = [tokens(note.content) for note in planted.notes[:size]]
    measured, ranked, scanned = [], [], []
    memory.recall(planted.questions[0], track=False)
    for row, question in enumerate(planted.questions):
        terms, asked = tokens(question), planted.asked[row]
        measured.append(_timed(memory.recall, question, track=False))
        ranked.append(_timed(bare_recall, vectors, documents, asked, terms))
        scanned.append(_timed(bare_scan, vectors, asked) + EXTRA_MS)
    bm25 = "numpy exact scan + rank-bm25 over the candidates"
    scan = "numpy exact scan + 5 ms"
    yield Measurement("recall, median", "embedded", size, bm25, median(measured), median(ranked))
    yield Measurement("recall, p95", "embedded", size, scan, _p95(measured), _p95(scanned))


def _single_adds(memory: Memory, planted: Planted, size: int, folder: Path) -> Measurement:
    connection = sqlite3.connect(folder / "bare.sqlite")
    vectors = planted.vectors[:size]
    measured, bare = [], []
    for number, note in enumerate(planted.notes[size:]):
        measured.append(_timed(memory.add_many, [note]))
        vector = planted.vectors[size + number]
        bare.append(
            _timed(bare_commit, connection, number, vector) + _timed(bare_scan, vectors, vector)
        )
    connection.close()
    limit = "one small durable SQLite transaction + one scan"
    return Measurement("one add, p95", "embedded", size, limit, _p95(measured), _p95(bare))


def _opening(planted: Planted, place: Path, size: int) -> Measurement:
    def first_answer() -> None:
        with open_memory(place, embedder=PlantedEmbedder(planted)) as memory:
            memory.recall(planted.questions[0], track=False)

    def bare() -> None:
        content = place.read_bytes()
        array = np.frombuffer(content[: len(content) // 4 * 4], dtype=np.uint8)
        array.copy()

    measured = median(_timed(first_answer) for _ in range(3))
    limit = "reading the file's bytes into one array"
    bare_ms = median(_timed(bare) for _ in range(3))
    return Measurement("open and first recall", "embedded", size, limit, measured, bare_ms)


def _timed(work: Callable[Args, object], *args: Args.args, **options: Args.kwargs) -> float:
    with _quiet_collector():
        started = time.perf_counter()
        work(*args, **options)
        return (time.perf_counter() - started) * 1000.0


@contextmanager
def _quiet_collector() -> Iterator[None]:
    """Keep the cycle collector out of both sides of a comparison."""
    enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if enabled:
            gc.enable()


def _p95(values: Sequence[float]) -> float:
    return float(np.percentile(values, 95))
