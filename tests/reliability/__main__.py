"""The full run, embedded and Neo4j side by side: ``cd tests && python -m reliability``.

Two runs of ``pytest tests/reliability --full``, one without the tests that need a server and
one of those; then one table. Further arguments go to both.
"""

from __future__ import annotations

import subprocess
import sys
import tempfile
from pathlib import Path

from reliability.tally import read, table

LANES = {"embedded": "not neo4j", "neo4j": "neo4j"}
NOTHING_TO_RUN = 5
"""What pytest returns when the arguments leave no test in a lane."""


def main(arguments: list[str]) -> int:
    """Run both lanes; return 0 when no promise was broken."""
    with tempfile.TemporaryDirectory(prefix="graphmem-reliability-") as folder:
        tallies = {lane: Path(folder) / f"{lane}.json" for lane in LANES}
        running = {
            lane: subprocess.Popen(
                [sys.executable, "-m", "pytest", str(Path(__file__).parent), "--full", "-q",
                 "-p", "no:cacheprovider", "-m", mark, f"--tallies={tallies[lane]}", *arguments]
            )
            for lane, mark in LANES.items()
        }  # fmt: skip
        codes = {lane: process.wait() for lane, process in running.items()}
        found = [each for path in tallies.values() if path.exists() for each in read(path)]
    if found:
        sys.stdout.write("\n".join(["", *table(found), ""]))
    failed = [lane for lane, code in codes.items() if code not in (0, NOTHING_TO_RUN)]
    return len(failed)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
