"""How fast, as ratios to a bare limit measured in the same run; embedding is left out."""

from __future__ import annotations

import os
import platform
import sqlite3
import tempfile
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

QUESTIONS = 200
SINGLE_ADDS = 50
DEFAULT_SIZES = (1_000, 10_000)


@dataclass(frozen=True, slots=True)
class Measurement:
    """One line of the benchmark.

    Attributes
    ----------
    what, store, notes
        What was measured, where, and with how many notes.
    limit
        The bare limit it is compared with.
    measured, bare
        Both in `unit`: ``ms``, or ``MB`` of memory.
    """

    what: str
    store: str
    notes: int
    limit: str
    measured: float
    bare: float
    unit: str = "ms"

    @property
    def ratio(self) -> float:
        """Measured over bare."""
        return self.measured / self.bare


@dataclass(frozen=True, slots=True)
class BenchmarkReport:
    """All lines with the machine they were measured on."""

    machine: str
    measurements: tuple[Measurement, ...]


Progress = Callable[[int, int], None]
"""Called with the number of sizes done and their total."""


def run_benchmark(
    sizes: Sequence[int] = DEFAULT_SIZES,
    *,
    url: str | None = None,
    progress: Progress | None = None,
) -> BenchmarkReport:
    """Measure the embedded store at each size, in a temporary folder, or a Neo4j server.

    Parameters
    ----------
    sizes
        Numbers of notes.
    url
        ``neo4j://...`` of a server to measure instead; namespaces of its own are made and
        removed.
    progress
        Told how far it is.
    """
    # Imported here: they build on the values above.
    from graphmem.evaluation.benchmark_embedded import measure_embedded
    from graphmem.evaluation.benchmark_neo4j import measure_neo4j

    lines: list[Measurement] = []
    for done, size in enumerate(sizes):
        if progress is not None:
            progress(done, len(sizes))
        if url is not None:
            lines += measure_neo4j(size, url)
            continue
        with tempfile.TemporaryDirectory(prefix="graphmem-bench-") as folder:
            lines += measure_embedded(size, Path(folder))
    return BenchmarkReport(machine_description(), tuple(lines))


def machine_description() -> str:
    """Describe processor count, system and versions in one line."""
    return (
        f"{os.cpu_count()} cores, {platform.system()} {platform.machine()}, "
        f"Python {platform.python_version()}, numpy {np.__version__}, "
        f"SQLite {sqlite3.sqlite_version}"
    )
