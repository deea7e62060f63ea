"""A recall from a cold process beside the least such a process has to import."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path
from statistics import median

from graphmem.evaluation.benchmark.data import planted_notes
from graphmem.evaluation.benchmark.measurement import Measurement
from graphmem.evaluation.benchmark.timing import timed
from graphmem.opening import open_memory

COLD_NOTES = 1_000
RUNS = 9
_UNCOMPILED = "PYTHONDONTWRITEBYTECODE"
_COMMAND = (sys.executable, "-c", "from graphmem.interfaces.cli import main; main()")
_IMPORTS = (sys.executable, "-c", "import numpy, onnxruntime")


def measure_cold_recall(
    folder: Path, *, notes: int = COLD_NOTES, runs: int = RUNS
) -> Iterator[Measurement]:
    """Measure ``graphmem recall`` with the default model on a file in `folder`.

    Modules are compiled beforehand, as they are on any machine after the first command.
    """
    place = folder / "cold.graphmem"
    planted = planted_notes(notes, 1)
    with open_memory(place, language_model="none") as memory:
        memory.add_many(planted.notes)
    asking = (*_COMMAND, "recall", planted.questions[0], "--url", str(place))
    _run(asking)
    measured, bare = [], []
    for _ in range(runs):
        measured.append(timed(_run, asking))
        bare.append(timed(_run, _IMPORTS))
    yield Measurement(
        what="graphmem recall, a new process",
        store="embedded",
        notes=notes,
        limit='python -c "import numpy, onnxruntime"',
        measured=median(measured),
        bare=median(bare),
    )


def _run(command: Sequence[str]) -> None:
    kept = {name: value for name, value in os.environ.items() if name != _UNCOMPILED}
    subprocess.run(command, check=True, capture_output=True, env=kept)  # noqa: S603 - our own interpreter
