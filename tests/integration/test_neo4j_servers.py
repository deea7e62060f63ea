"""How tests come by a server, and how it goes again."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import conftest
import pytest
from neo4j_server import jdk
from neo4j_server.server import CURRENT, LTS, Address, NoServerError, java_for

TESTS = Path(__file__).parents[1]


@contextmanager
def no_server(release: object) -> Iterator[Address]:
    raise NoServerError("nothing here can run it")
    yield


@pytest.fixture
def nowhere(monkeypatch: pytest.MonkeyPatch) -> None:
    """A machine without Docker, Java and Maven."""
    monkeypatch.setattr(conftest, "docker_answers", lambda: False)
    monkeypatch.setattr(conftest, "MavenServer", no_server)
    monkeypatch.delenv("NOT_SET_URI", raising=False)


@pytest.mark.usefixtures("nowhere")
def test_without_a_server_tests_are_skipped_with_the_reason() -> None:
    with pytest.raises(pytest.skip.Exception, match="nothing here can run it"):
        next(conftest._address(LTS, "NOT_SET", required=False))


@pytest.mark.usefixtures("nowhere")
def test_where_one_is_required_tests_fail() -> None:
    with pytest.raises(pytest.fail.Exception, match="GRAPHMEM_REQUIRE_NEO4J"):
        next(conftest._address(LTS, "NOT_SET", required=True))


@pytest.mark.usefixtures("nowhere")
def test_a_named_server_goes_first(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("NOT_SET_URI", "bolt://elsewhere:7687")
    monkeypatch.setenv("NOT_SET_PASSWORD", "word")
    address = next(conftest._address(LTS, "NOT_SET", required=True))
    assert (address.uri, address.auth) == ("bolt://elsewhere:7687", ("neo4j", "word"))


def test_a_users_own_server_is_never_taken(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("NEO4J_URI", "bolt://precious:7687")
    assert conftest._named("GRAPHMEM_TEST_NOT_SET") is None


def test_a_release_runs_on_a_java_it_supports(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for version in ("1.8.0_392", "17.0.15", "21", "25.0.1", "99"):
        home = tmp_path / version
        (home / "bin").mkdir(parents=True)
        (home / "bin" / "java").touch()
        (home / "release").write_text(f'IMPLEMENTOR="X"\nJAVA_VERSION="{version}"\n')
        monkeypatch.setenv(f"JAVA_HOME_{version}", str(home))
    monkeypatch.setattr(jdk, "_PLACES", ())
    monkeypatch.delenv("JAVA_HOME", raising=False)
    monkeypatch.setenv("PATH", str(tmp_path))
    assert [found.version for found in jdk.installed()] == [8, 17, 21, 25, 99]
    assert java_for(LTS).version == 17
    assert java_for(CURRENT).version == 21
    monkeypatch.delenv("JAVA_HOME_21")
    assert java_for(CURRENT).version == 25
    monkeypatch.delenv("JAVA_HOME_25.0.1")
    with pytest.raises(NoServerError, match="needs Java 21 to 25"):
        java_for(CURRENT)


@pytest.mark.parametrize("end", ["closed", "killed"])
def test_no_server_outlives_the_run_that_started_it(tmp_path: Path, end: str) -> None:
    """The keeper stops what it runs and removes its folder, even when its parent is killed."""
    home = tmp_path / "home"
    home.mkdir()
    keeper = TESTS / "neo4j_server" / "keeper.py"
    script = (
        "import subprocess, sys, time\n"
        "running = subprocess.Popen([sys.executable, *sys.argv[1:]], stdin=subprocess.PIPE)\n"
        "time.sleep(60)\n"
    )
    server = (
        "import os, pathlib, sys, time\n"
        "pathlib.Path(sys.argv[1]).write_text(str(os.getpid()))\n"
        "time.sleep(60)\n"
    )
    number = tmp_path / "pid"
    kept = [sys.executable, "-c", server, str(number)]
    parent = subprocess.Popen([sys.executable, "-c", script, str(keeper), str(home), *kept])
    pid = int(_eventually(lambda: number.exists() and number.read_text()))
    parent.send_signal(signal.SIGKILL if end == "killed" else signal.SIGTERM)
    parent.wait()
    _eventually(lambda: not home.exists())
    with pytest.raises(ProcessLookupError):
        os.kill(pid, 0)


def _eventually(happens: object) -> str:
    assert callable(happens)
    for _ in range(600):
        if result := happens():
            return str(result)
        time.sleep(0.05)
    raise AssertionError("it never happened")
