"""Fetching and running Neo4j Community from its Maven artifacts.

The jars are kept in ``tests/neo4j_server/target/<version>/lib`` (git-ignored), so only the
first run downloads; data, logs and settings live in a temporary folder that goes with the
server.
"""

from __future__ import annotations

import fcntl
import os
import secrets
import shutil
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType

from neo4j_server.jdk import Jdk, runtime_for

HERE = Path(__file__).parent
START_SECONDS = 180
JAVA_FLAGS = (
    "--add-opens=java.base/java.nio=ALL-UNNAMED",
    "--add-opens=java.base/java.io=ALL-UNNAMED",
    "--add-opens=java.base/sun.nio.ch=ALL-UNNAMED",
    "-Dio.netty.tryReflectionSetAccessible=true",
    "-Dlog4j2.disable.jmx=true",
)
LAUNCHER_FLAGS = ("-Xmx128m", "-XX:+UseSerialGC")
"""Of the small process that starts the server, not of the server."""
SETTINGS = """\
server.default_listen_address=127.0.0.1
server.bolt.listen_address=127.0.0.1:{bolt}
server.bolt.advertised_address=127.0.0.1:{bolt}
server.http.listen_address=127.0.0.1:{http}
server.http.advertised_address=127.0.0.1:{http}
server.https.enabled=false
server.memory.heap.initial_size=512m
server.memory.heap.max_size=1g
server.memory.pagecache.size=256m
dbms.usage_report.enabled=false
"""


class NoServerError(Exception):
    """No server can be started here; the message says what is missing."""


@dataclass(frozen=True)
class Release:
    """A Neo4j version under test and the Java versions it runs on."""

    version: str
    oldest_java: int
    newest_java: int

    @property
    def image(self) -> str:
        """The official container image of the same version."""
        return f"neo4j:{self.version}-community"


LTS = Release("5.26.25", oldest_java=17, newest_java=21)
CURRENT = Release("2026.05.0", oldest_java=21, newest_java=25)


@dataclass(frozen=True)
class Address:
    """Where a server answers and who may log in."""

    uri: str
    password: str
    username: str = "neo4j"
    database: str = "neo4j"
    browser: str = ""

    @property
    def auth(self) -> tuple[str, str]:
        return self.username, self.password

    def __repr__(self) -> str:
        return f"Address({self.uri!r})"


def jars(release: Release) -> Path:
    """Return the folder with the release's jars, fetched by Maven when it is not there."""
    lib = HERE / "target" / release.version / "lib"
    if lib.is_dir():
        return lib
    if shutil.which("mvn") is None:
        raise NoServerError("Maven (mvn) is not installed, so Neo4j's jars cannot be fetched")
    lib.parent.mkdir(parents=True, exist_ok=True)
    with _alone(lib.parent / "lock"), tempfile.TemporaryDirectory(dir=lib.parent) as scratch:
        if lib.is_dir():
            return lib
        fetched = Path(scratch) / "lib"
        command = [
            "mvn", "-B", "-q", "-f", str(HERE / "pom.xml"), "dependency:copy-dependencies",
            f"-Dneo4j.version={release.version}", f"-DoutputDirectory={fetched}",
        ]  # fmt: skip
        run = subprocess.run(command, capture_output=True, text=True, check=False)
        if run.returncode != 0:
            raise NoServerError(f"Maven could not fetch Neo4j's jars:\n{run.stdout[-2000:]}")
        # A rename, so that an interrupted download never looks complete.
        fetched.rename(lib)
    return lib


@contextmanager
def _alone(lock: Path) -> Iterator[None]:
    """Wait until no other process of a parallel run fetches the same jars."""
    with lock.open("w") as held:
        fcntl.flock(held, fcntl.LOCK_EX)
        yield


def java_for(release: Release) -> Jdk:
    """Return a Java runtime for the release."""
    jdk = runtime_for(release.oldest_java, release.newest_java)
    if jdk is None:
        raise NoServerError(
            f"Neo4j {release.version} needs Java {release.oldest_java} to {release.newest_java}; "
            "none was found (JAVA_HOME, PATH and the usual folders were searched)"
        )
    return jdk


def _free_ports(count: int) -> list[int]:
    with ExitStack() as stack:
        sockets = [stack.enter_context(socket.socket()) for _ in range(count)]
        for each in sockets:
            each.bind(("127.0.0.1", 0))
        return [each.getsockname()[1] for each in sockets]


class MavenServer:
    """One Neo4j process on free loopback ports; a context manager that yields its address.

    Parameters
    ----------
    before_start
        Called with the server's home, its Java and the command line that starts one of its
        tools, while the database is not there yet.
    """

    def __init__(
        self,
        release: Release,
        *,
        before_start: Callable[[Path, Jdk, list[str]], None] | None = None,
    ) -> None:
        self.release = release
        self._before_start = before_start
        self._stack = ExitStack()

    def __enter__(self) -> Address:
        with ExitStack() as stack:
            address = self._start(stack)
            self._stack = stack.pop_all()
        return address

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._stack.close()

    def _start(self, stack: ExitStack) -> Address:
        jdk, lib = java_for(self.release), jars(self.release)
        home = Path(tempfile.mkdtemp(prefix="graphmem-neo4j-"))
        stack.callback(shutil.rmtree, home, ignore_errors=True)
        bolt, http = _free_ports(2)
        password = secrets.token_hex(12)
        (home / "conf").mkdir()
        (home / "conf" / "neo4j.conf").write_text(SETTINGS.format(bolt=bolt, http=http))
        environment = {
            "NEO4J_HOME": str(home),
            "NEO4J_CONF": str(home / "conf"),
            "JAVA_HOME": str(jdk.home),
            "PATH": os.defpath,
        }
        java = [str(jdk.java), *LAUNCHER_FLAGS, "-cp", f"{lib}/*", *JAVA_FLAGS]
        subprocess.run(
            [*java, "org.neo4j.server.startup.Neo4jAdminCommand", "dbms",
             "set-initial-password", password],
            env=environment, check=True, capture_output=True,
        )  # fmt: skip
        if self._before_start is not None:
            self._before_start(home, jdk, java)
        log = home / "console.log"
        keeper = _keep(
            home, [*java, "org.neo4j.server.startup.Neo4jCommand", "console"], environment, log
        )
        stack.callback(_stop, keeper)
        _wait_until_started(keeper, log)
        return Address(
            f"bolt://127.0.0.1:{bolt}", password, browser=f"http://127.0.0.1:{http}/browser/"
        )


def _keep(
    home: Path, command: list[str], environment: dict[str, str], log: Path
) -> subprocess.Popen[bytes]:
    with log.open("wb") as output:
        return subprocess.Popen(
            [sys.executable, str(HERE / "keeper.py"), str(home), *command],
            env=environment,
            stdin=subprocess.PIPE,
            stdout=output,
            stderr=subprocess.STDOUT,
            start_new_session=True,  # an interrupt of the run must not reach the server first
        )


def _wait_until_started(keeper: subprocess.Popen[bytes], log: Path) -> None:
    deadline = time.monotonic() + START_SECONDS
    while "Started." not in (said := _read(log)):
        if keeper.poll() is not None or time.monotonic() > deadline:
            raise NoServerError(f"Neo4j did not start:\n{said[-2000:]}")
        time.sleep(0.1)


def _read(log: Path) -> str:
    # A keeper whose server fails at once has removed the log with its folder.
    return log.read_text(encoding="utf-8", errors="replace") if log.exists() else ""


def _stop(keeper: subprocess.Popen[bytes]) -> None:
    assert keeper.stdin is not None
    keeper.stdin.close()
    keeper.wait()
