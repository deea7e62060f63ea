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
        Both in `unit`: ``ms``, ``MB`` of memory, or ``/s``.
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
    peers: bool = False,
    progress: Progress | None = None,
) -> BenchmarkReport:
    """Measure the embedded store at each size, in a temporary folder, or a Neo4j server.

    Once, at sizes of their own: many readers beside a writer and, without `url`, a recall
    from a cold process and the embedding lanes where both are installed.

    Parameters
    ----------
    sizes
        Numbers of notes.
    url
        ``neo4j://...`` of a server to measure instead; namespaces of its own are made and
        removed.
    peers
        Whether to measure other libraries on the same data too.
    progress
        Told how far it is.

    Raises
    ------
    MissingExtra
        A peer is wanted and not installed.
    """
    # Imported here: they build on the values above.
    from graphmem.evaluation.benchmark_parts import embedded_parts, neo4j_parts

    parts = embedded_parts(sizes, peers) if url is None else neo4j_parts(sizes, url, peers)
    lines: list[Measurement] = []
    for done, part in enumerate(parts):
        if progress is not None:
            progress(done, len(parts))
        with tempfile.TemporaryDirectory(prefix="graphmem-bench-") as folder:
            lines += part(Path(folder))
    return BenchmarkReport(machine_description(), tuple(lines))


def machine_description() -> str:
    """Describe processor count, system and versions in one line."""
    return (
        f"{os.cpu_count()} cores, {platform.system()} {platform.machine()}, "
        f"Python {platform.python_version()}, numpy {np.__version__}, "
        f"SQLite {sqlite3.sqlite_version}"
    )
