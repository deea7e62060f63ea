"""The command line on a real Neo4j server."""

from pathlib import Path

import pytest
from cli_process import CommandLine
from neo4j_server.erasure import erase_everything
from neo4j_server.server import Address

pytestmark = pytest.mark.neo4j


@pytest.fixture
def server(neo4j_address: Address) -> Address:
    erase_everything(neo4j_address)
    return neo4j_address


@pytest.fixture
def login(server: Address) -> dict[str, str]:
    return {
        "NEO4J_USERNAME": server.username,
        "NEO4J_PASSWORD": server.password,
        "NEO4J_DATABASE": server.database,
    }


@pytest.fixture
def demo(tmp_path: Path) -> CommandLine:
    """A demo file with counters, events and an archived note."""
    cli = CommandLine(tmp_path, url="demo.graphmem")
    cli.ok("demo", "--json")
    cli.ok("recall", "what is Zoë allergic to?", "--at", "2025-09-01T07:00:00.123456Z")
    cli.ok("feedback", "zoe-diary-05", "up")
    cli.ok("archive", "zoe-chat-food-06")
    cli.ok("maintain", "--at", "2025-09-02T00:00Z")
    return cli


def test_copied_there_and_back_exports_the_same_bytes(
    demo: CommandLine, server: Address, login: dict[str, str]
) -> None:
    first = demo.ok("export").out
    there = demo("copy", "demo.graphmem", server.uri, "--json", env=login)
    assert (there.code, there.err) == (0, ""), there
    assert there.json["notes"] == 159
    assert demo("export", "--url", server.uri, env=login).out == first
    assert demo("copy", server.uri, "back.graphmem", env=login).code == 0
    assert CommandLine(demo.home, url="back.graphmem").ok("export").out == first


def test_both_stores_answer_alike(
    demo: CommandLine, server: Address, login: dict[str, str]
) -> None:
    assert demo("copy", "demo.graphmem", server.uri, env=login).code == 0
    question = ("recall", "which tea does Haruka like?", "--no-track", "--json")
    at = ("--at", "2025-09-01T07:00Z")
    here = demo.ok(*question, *at).json
    there = demo(*question, *at, "--url", server.uri, env=login).json
    assert [n["note"]["id"] for n in there["notes"]] == [n["note"]["id"] for n in here["notes"]]
    assert [n["score"] for n in there["notes"]] == pytest.approx(
        [n["score"] for n in here["notes"]], abs=1e-6
    )


def test_every_command_on_the_server(
    tmp_path: Path, server: Address, login: dict[str, str]
) -> None:
    cli = CommandLine(tmp_path, url=server.uri)
    for arguments in (
        ("import", "-"),
        ("add", "Zoë kept the jalapeño", "--id", "n2", "--source", "s", "--position", "2"),
        ("show", "n1"),
        ("links", "n2"),
        ("history", "n1"),
        ("recall", "/b testing"),
        ("feedback", "n1", "down"),
        ("archive", "n1"),
        ("restore", "n1"),
        ("undo", "n1@3"),
        ("maintain",),
        ("reindex",),
        ("namespaces",),
        ("stats",),
        ("check",),
        ("erase", "n1"),
    ):
        stdin = '{"id": "n1", "text": "A/B testing", "source": "s", "position": 1}'
        done = cli(*arguments, "--json", stdin=stdin, env=login)
        assert (done.code, done.err) == (0, ""), (arguments, done)
        assert done.json is not None
    assert cli("show", "n1", env=login).code == 1


def test_a_wrong_password_is_one_line_without_it(tmp_path: Path, server: Address) -> None:
    cli = CommandLine(tmp_path, url=server.uri)
    wrong = {"NEO4J_USERNAME": server.username, "NEO4J_PASSWORD": "not-the-password"}
    done = cli("stats", env=wrong)
    assert (done.code, done.out) == (1, "")
    assert done.err.startswith("error: ")
    assert done.err.count("\n") == 1
    assert "not-the-password" not in done.err
