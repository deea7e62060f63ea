"""A long-lived server for development: ``cd tests && python -m neo4j_server [--release 2026]``.

Prints the variables that the test fixtures read, as shell assignments, and serves until
interrupted::

    export GRAPHMEM_TEST_NEO4J_URI=bolt://127.0.0.1:40123
    export GRAPHMEM_TEST_NEO4J_PASSWORD=...

Its data is gone when it stops. Tests that get it through the variables erase graphmem's
data in it.
"""

from __future__ import annotations

import argparse
import signal
import sys
from pathlib import Path

from neo4j_server.server import CURRENT, LTS, MavenServer, NoServerError


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m neo4j_server", description=__doc__)
    parser.add_argument("--release", choices=("lts", "2026"), default="lts")
    parser.add_argument("--write", type=Path, help="write the assignments to this file too")
    arguments = parser.parse_args()
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(0))
    try:
        with MavenServer(CURRENT if arguments.release == "2026" else LTS) as address:
            suffix = "_2026" if arguments.release == "2026" else ""
            lines = (
                f"# Neo4j Browser: {address.browser}  user: {address.username}\n"
                f"export GRAPHMEM_TEST_NEO4J{suffix}_URI={address.uri}\n"
                f"export GRAPHMEM_TEST_NEO4J{suffix}_PASSWORD={address.password}\n"
                f"export GRAPHMEM_TEST_NEO4J{suffix}_BROWSER={address.browser}\n"
            )
            sys.stdout.write(lines)
            sys.stdout.flush()
            if arguments.write is not None:
                arguments.write.write_text(lines)
            signal.pause()
    except NoServerError as problem:
        sys.stderr.write(f"{problem}\n")
        return 1
    except KeyboardInterrupt:
        pass
    return 0


if __name__ == "__main__":
    sys.exit(main())
