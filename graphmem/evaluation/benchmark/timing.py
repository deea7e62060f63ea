"""Measuring one piece of work: wall time without the cycle collector, percentiles, memory."""

from __future__ import annotations

import gc
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import ParamSpec

import numpy as np

Args = ParamSpec("Args")

_STATUS = Path("/proc/self/status")


def timed(work: Callable[Args, object], *args: Args.args, **options: Args.kwargs) -> float:
    """Return the milliseconds `work` takes."""
    with _quiet_collector():
        started = time.perf_counter()
        work(*args, **options)
        return (time.perf_counter() - started) * 1000.0


def p95(values: Sequence[float]) -> float:
    """Return the 95th percentile.

    >>> p95([1.0] * 99 + [1000.0])
    1.0
    """
    return float(np.percentile(values, 95))


def resident_bytes() -> int | None:
    """Return what this process holds in memory; ``None`` where the system does not say."""
    if not _STATUS.exists():
        return None
    for line in _STATUS.read_text(encoding="ascii").splitlines():
        if line.startswith("VmRSS:"):
            return int(line.split()[1]) * 1024
    return None


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
