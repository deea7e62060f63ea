"""A benchmark from its first step to its report."""

from __future__ import annotations

import os
import platform
import sqlite3
import tempfile
from collections.abc import Callable, Sequence
from pathlib import Path

import numpy as np

from graphmem.evaluation.benchmark.measurement import (
    DEFAULT_SIZES,
    BenchmarkReport,
    Measurement,
)
from graphmem.evaluation.benchmark.parts import DEFAULT_PARTS, Part
from graphmem.evaluation.benchmark.steps import embedded_steps, neo4j_steps

Progress = Callable[[int, int], None]
"""Called with the number of steps done and their total."""


def run_benchmark(
    sizes: Sequence[int] = DEFAULT_SIZES,
    *,
    url: str | None = None,
    parts: Sequence[Part] = DEFAULT_PARTS,
    progress: Progress | None = None,
) -> BenchmarkReport:
    """Measure the embedded store, in a temporary folder, or a Neo4j server.

    Parameters
    ----------
    sizes
        Numbers of notes; readers and processes have a size of their own.
    url
        ``neo4j://...`` of a server to measure instead; namespaces of its own are made and
        removed.
    parts
        What to measure.
    progress
        Told how far it is.

    Raises
    ------
    MissingExtra
        Peers are wanted and not installed.
    """
    steps = embedded_steps(sizes, parts) if url is None else neo4j_steps(sizes, parts, url)
    lines: list[Measurement] = []
    for done, step in enumerate(steps):
        if progress is not None:
            progress(done, len(steps))
        with tempfile.TemporaryDirectory(prefix="graphmem-bench-") as folder:
            lines += step(Path(folder))
    return BenchmarkReport(machine_description(), tuple(lines))


def machine_description() -> str:
    """Describe processor count, system and versions in one line."""
    return (
        f"{os.cpu_count()} cores, {platform.system()} {platform.machine()}, "
        f"Python {platform.python_version()}, numpy {np.__version__}, "
        f"SQLite {sqlite3.sqlite_version}"
    )
