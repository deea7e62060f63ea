"""A mixed load for a long time: memory stays flat, and no file stays open."""

from __future__ import annotations

import statistics
from collections.abc import Callable
from pathlib import Path

from reliability.endurance import MODEL, Account, endure, load
from reliability.sites import Site
from reliability.tally import Tally
from reliability.writer import fork_server

WARM = 0.25
"""Part of the time after which nothing may grow any more."""
ROOM = 0.05
"""By what part memory may grow after that."""
LEAST_ROOM = 12 * 2**20
"""What a short run may need on top, in bytes: allocators take memory in large pieces."""


def test_a_long_mixed_load_keeps_memory_and_handles(
    site: Site, tmp_path: Path, tally: Callable[[str], Tally], amount: Callable[[int, int], int]
) -> None:
    line = tally(f"mixed load, {site.kind}")
    size = amount(300, 50_000 if site.kind == "embedded" else 10_000)
    seconds, result = amount(3, 360), tmp_path / "account.json"
    with site.open(MODEL) as memory:
        load(memory, size)
    process = fork_server().Process(target=endure, args=(site, size, float(seconds), str(result)))
    process.start()
    process.join()
    assert process.exitcode == 0
    account = Account.read(result)
    line.operations, line.faults = account.operations, 0
    line.violations += account.faults
    flat(account, seconds, line, amount(LEAST_ROOM, 0))
    with site.open(MODEL) as memory:
        problems = [each for each in memory.check().problems if "rebuild()" not in each]
        line.holds(not problems, f"check: {problems[:5]}")


def flat(account: Account, seconds: float, line: Tally, room: int) -> None:
    """Set the end against the time after the warm-up."""
    step = (1 - WARM) / 4
    early = [s for s in account.samples if WARM <= s.second / seconds < WARM + step]
    late = [s for s in account.samples if 1 - step <= s.second / seconds]
    before = statistics.median(each.memory for each in early)
    after = statistics.median(each.memory for each in late)
    line.holds(
        after <= before * (1 + ROOM) + room,
        f"memory grew from {before / 2**20:.0f} to {after / 2**20:.0f} MiB",
    )
    opened = max(each.handles for each in early), min(each.handles for each in late)
    line.holds(opened[1] <= opened[0], f"{opened[0]} open files became {opened[1]}")
    slow = [
        account.p95(*(part * seconds for part in span))
        for span in ((WARM, WARM + step), (1 - step, 1.0))
    ]
    line.remark(
        f"{before / 2**20:.0f} to {after / 2**20:.0f} MiB, {opened[1]} open files, recall p95 "
        f"{slow[0] * 1000:.0f} to {slow[1] * 1000:.0f} ms"
    )
