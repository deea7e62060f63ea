"""The Cypher script and the importer's CSV make the graph they came from, on a real server."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Callable, Iterator
from io import BytesIO
from pathlib import Path

import pytest
from neo4j import GraphDatabase
from neo4j_server.erasure import erase_everything
from neo4j_server.jdk import Jdk
from neo4j_server.server import CURRENT, LTS, Address, MavenServer, NoServerError, Release

from graphmem import Memory, Source, open_memory
from graphmem.transfer import export_path, export_stream

pytestmark = pytest.mark.neo4j

NAMESPACE = 'it\'s \\ "here"'
AWKWARD = (
    "quote ' double \" back \\ \\u0041 \\\\u0042 `tick` \r\n\t\x0b\x1f\x85 \u2028 \u2029 "
    "{a: 1} $x ; // no comment\n; \U0001f600 é שלום \ufffe \\"
)


@pytest.fixture(params=["neo4j_address", "neo4j_2026_address"])
def address(request: pytest.FixtureRequest) -> Address:
    """A server of each release that is there."""
    found: Address = request.getfixturevalue(request.param)
    return found


@pytest.fixture
def memory() -> Iterator[Memory]:
    """A small memory with everything: history, archive, use, chains, awkward texts."""
    with open_memory(":memory:", embedder="hashing-64", namespace=NAMESPACE) as opened:
        opened.add(
            AWKWARD,
            id="n'1\\u0041",
            source=Source("s\\'", "r", 2, 0, 4),
            author="O'Neil",
            tags=["t;1", "a,b"],
            metadata={"a\\": [1, 2.5, None, {"x": "y'"}], "big": 2**70, "f": 1e300},
            importance=1 / 3,
        )
        opened.add("Ada likes tea in the morning", id="b", source=Source("s\\'", position=1))
        opened.add("Ada likes tea in the morning!", id="c", keywords=(), tags=["warm"])
        opened.add("Ben keeps the harbour log", id="d", source=Source("s\\'", position=3))
        opened.connect([("c", "d")])
        opened.recall("tea")
        opened.revise("d", content="Ben keeps the harbour log by day. At night he reads old ones.")
        opened.connect([("c", "d")])
        opened.feedback("c", 1)
        opened.archive("b")
        yield opened


def exported(memory: Memory, *, vectors: bool) -> bytes:
    out = BytesIO()
    export_stream(memory, out, vectors=vectors)
    return out.getvalue()


def statements(memory: Memory, *, vectors: bool) -> list[str]:
    out = BytesIO()
    export_stream(memory, out, format="cypher", vectors=vectors)
    return [part for part in out.getvalue().decode().split(";\n") if part.strip()]


def run(address: Address, script: list[str]) -> None:
    with GraphDatabase.driver(address.uri, auth=address.auth) as driver:
        for statement in script:
            driver.execute_query(statement, database_=address.database)  # type: ignore[arg-type] # our own export


def test_the_script_rebuilds_the_graph(memory: Memory, address: Address) -> None:
    erase_everything(address)
    script = statements(memory, vectors=True)
    for _ in range(2):  # running it again changes nothing
        run(address, script)
        with open_memory(
            address.uri,
            auth=address.auth,
            namespace=NAMESPACE,
            embedder="hashing-64",
        ) as rebuilt:
            assert exported(rebuilt, vectors=True) == exported(memory, vectors=True)
            assert rebuilt.stats().follows == memory.stats().follows
            assert rebuilt.check().problems == ()
            assert [n.note.id for n in rebuilt.recall("harbour", track=False).notes] == [
                n.note.id for n in memory.recall("harbour", track=False).notes
            ]
    erase_everything(address)


def test_without_vectors_a_reindex_completes_it(memory: Memory, address: Address) -> None:
    erase_everything(address)
    run(address, statements(memory, vectors=False))
    with open_memory(
        address.uri, auth=address.auth, namespace=NAMESPACE, embedder="hashing-64"
    ) as rebuilt:
        rebuilt.reindex()
        assert exported(rebuilt, vectors=False) == exported(memory, vectors=False)
        assert rebuilt.check().problems == ()
    erase_everything(address)


# --- neo4j-admin ---------------------------------------------------------------------------


def importer(folder: Path) -> Callable[[Path, Jdk, list[str]], None]:
    """Runs ``neo4j-admin database import full @import.args`` before a server starts."""

    def load(home: Path, jdk: Jdk, java: list[str]) -> None:
        # The tool starts a process of its own, with the flags the distribution's file names.
        with (home / "conf" / "neo4j.conf").open("a") as settings:
            settings.write("\nserver.jvm.additional=--add-opens=java.base/java.nio=ALL-UNNAMED\n")
        done = subprocess.run(
            [*java, "org.neo4j.server.startup.Neo4jAdminCommand", "database", "import", "full",
             "@import.args", "neo4j"],
            cwd=folder,
            env={
                "NEO4J_HOME": str(home),
                "NEO4J_CONF": str(home / "conf"),
                "JAVA_HOME": str(jdk.home),
                "PATH": os.defpath,
            },
            capture_output=True,
            text=True,
            check=False,
        )  # fmt: skip
        assert done.returncode == 0, done.stdout[-3000:] + done.stderr[-3000:]

    return load


@pytest.mark.parametrize("release", [LTS, CURRENT], ids=["LTS", "current"])
def test_the_importer_takes_the_folder(memory: Memory, tmp_path: Path, release: Release) -> None:
    export_path(memory, tmp_path / "csv", format="csv", vectors=True)
    try:
        server = MavenServer(release, before_start=importer(tmp_path / "csv"))
        with (
            server as address,
            open_memory(
                address.uri, auth=address.auth, namespace=NAMESPACE, embedder="hashing-64"
            ) as built,
        ):
            assert exported(built, vectors=True) == exported(memory, vectors=True)
            assert built.check().problems == ()
    except NoServerError as problem:
        if release is LTS and os.environ.get("GRAPHMEM_REQUIRE_NEO4J") == "1":
            pytest.fail(f"no Neo4j to import into: {problem}")
        pytest.skip(f"no Neo4j to import into: {problem}")
