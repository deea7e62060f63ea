"""What a benchmark reports: each line beside its bare limit."""

from __future__ import annotations

from dataclasses import dataclass

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
