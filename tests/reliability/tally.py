"""Counts of what a reliability test did, and what it found broken."""

from __future__ import annotations

import json
import time
from dataclasses import asdict, dataclass, field
from pathlib import Path


@dataclass
class Tally:
    """Operations done, faults injected and promises found broken under one heading."""

    title: str
    operations: int = 0
    faults: int = 0
    violations: list[str] = field(default_factory=list)
    remarks: list[str] = field(default_factory=list)
    started: float = field(default_factory=time.monotonic)
    seconds: float = 0.0

    def holds(self, condition: object, otherwise: str) -> bool:
        """Count a violation unless the condition holds."""
        if not condition:
            self.violations.append(otherwise)
        return bool(condition)

    def remark(self, text: str) -> None:
        """Add a figure to the summary."""
        self.remarks.append(text)

    def settle(self) -> None:
        """Stop the clock; fail the test when a promise was broken."""
        self.seconds = time.monotonic() - self.started
        shown = "\n".join(self.violations[:20])
        assert not self.violations, f"{len(self.violations)} violations:\n{shown}"


def write(tallies: list[Tally], path: Path) -> None:
    """Keep the tallies of a run for a table of several."""
    path.write_text(json.dumps([asdict(each) for each in tallies]))


def read(path: Path) -> list[Tally]:
    """Return what :func:`write` kept."""
    return [Tally(**each) for each in json.loads(path.read_text())]


def table(tallies: list[Tally]) -> list[str]:
    """Return the summary, a line a tally."""
    width = max(len(tally.title) for tally in tallies)
    lines = [f"{'':{width}}  operations    faults  violations   seconds"]
    for tally in tallies:
        lines.append(_line(tally, width))
    total = Tally(
        "together",
        sum(tally.operations for tally in tallies),
        sum(tally.faults for tally in tallies),
        [each for tally in tallies for each in tally.violations],
        seconds=sum(tally.seconds for tally in tallies),
    )
    return [*lines, _line(total, width)]


def _line(tally: Tally, width: int) -> str:
    return (
        f"{tally.title:{width}}  {tally.operations:10,}  {tally.faults:8,}  "
        f"{len(tally.violations):10,}  {tally.seconds:8.0f}  {'; '.join(tally.remarks)}"
    ).rstrip()
