"""The promises of a database, kept while things are broken on purpose.

``pytest tests/reliability --full`` (``just reliability``) breaks as much as is claimed in
the README; without ``--full``, as in every test run, each test does a small part of it.
``python -m reliability`` runs both stores side by side, in half the time. Each ends with a
table of operations, faults injected and violations.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from neo4j_server.erasure import erase_everything
from neo4j_server.server import Address
from reliability.sites import Site
from reliability.tally import Tally, table, write

_TALLIES = pytest.StashKey[list[Tally]]()


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--full", action="store_true", help="inject all faults, not a part of them")
    parser.addoption("--tallies", type=Path, help="write the counts of the table to this file too")


def pytest_configure(config: pytest.Config) -> None:
    config.stash[_TALLIES] = []


def pytest_terminal_summary(
    terminalreporter: pytest.TerminalReporter, config: pytest.Config
) -> None:
    tallies = config.stash[_TALLIES]
    kept = config.getoption("--tallies", default=None)
    if kept is not None:
        write(tallies, kept)
    if tallies:
        terminalreporter.section("reliability")
        for line in table(tallies):
            terminalreporter.write_line(line)


@pytest.fixture
def amount(request: pytest.FixtureRequest) -> Callable[[int, int], int]:
    """Choose between the amount of a usual run and that of a full one."""
    full = request.config.getoption("--full", default=False)

    def choose(usual: int, in_full: int) -> int:
        return in_full if full else usual

    return choose


@pytest.fixture
def tally(request: pytest.FixtureRequest) -> Iterator[Callable[[str], Tally]]:
    """Open a line of the summary; the test fails when a promise on it was broken."""
    opened: list[Tally] = []

    def open_line(title: str) -> Tally:
        opened.append(Tally(title))
        return opened[-1]

    yield open_line
    request.config.stash[_TALLIES] += opened
    for line in opened:
        line.settle()


@pytest.fixture(params=["embedded", pytest.param("neo4j", marks=pytest.mark.neo4j)])
def site(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Site]:
    """An empty store of each kind."""
    if request.param == "embedded":
        (tmp_path / "site").mkdir()
        yield Site(str(tmp_path / "site" / "store.graphmem"))
        return
    address: Address = request.getfixturevalue("neo4j_address")
    erase_everything(address)
    yield Site(address.uri, address.auth)
    erase_everything(address)
