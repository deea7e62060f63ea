"""A Neo4j server that can be killed and started again on the same data."""

from __future__ import annotations

import os
import secrets
import shutil
import signal
import subprocess
import tempfile
from pathlib import Path
from types import TracebackType

from neo4j_server import server
from neo4j_server.server import LTS, Address


class CrashingServer:
    """One server on one folder; a context manager that yields itself, running."""

    def __init__(self) -> None:
        self._home = Path(tempfile.mkdtemp(prefix="graphmem-crash-"))
        self._jdk, lib = server.java_for(LTS), server.jars(LTS)
        bolt, http = server._free_ports(2)
        self.address = Address(f"bolt://127.0.0.1:{bolt}", secrets.token_hex(12))
        (self._home / "conf").mkdir()
        settings = server.SETTINGS.format(bolt=bolt, http=http)
        (self._home / "conf" / "neo4j.conf").write_text(settings)
        self._environment = {
            "NEO4J_HOME": str(self._home),
            "NEO4J_CONF": str(self._home / "conf"),
            "JAVA_HOME": str(self._jdk.home),
            "PATH": os.defpath,
        }
        flags = (*server.LAUNCHER_FLAGS, "-cp", f"{lib}/*", *server.JAVA_FLAGS)
        self._java = [str(self._jdk.java), *flags]
        self._keeper: subprocess.Popen[bytes] | None = None

    def __enter__(self) -> CrashingServer:
        admin = "org.neo4j.server.startup.Neo4jAdminCommand"
        subprocess.run(
            [*self._java, admin, "dbms", "set-initial-password", self.address.password],
            env=self._environment,
            check=True,
            capture_output=True,
        )
        self.start()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.kill()
        shutil.rmtree(self._home, ignore_errors=True)

    def start(self) -> None:
        """Start the server and wait until it answers."""
        # The keeper removes the folder it is given; the data must outlive it.
        folder = Path(tempfile.mkdtemp(dir=self._home))
        log = folder / "console.log"
        command = [*self._java, "org.neo4j.server.startup.Neo4jCommand", "console"]
        self._keeper = server._keep(folder, command, self._environment, log)
        server._wait_until_started(self._keeper, log)

    def kill(self) -> None:
        """End the server's processes at once, as a power cut would."""
        if self._keeper is None:
            return
        for pid in reversed(_descendants(self._keeper.pid)):
            os.kill(pid, signal.SIGKILL)
        server._stop(self._keeper)
        self._keeper = None


def _descendants(pid: int) -> list[int]:
    found = [pid]
    for parent in found:
        for children in Path(f"/proc/{parent}/task").glob("*/children"):
            found += map(int, children.read_text().split())
    return found[1:]
