"""``graphmem view`` and ``graphmem browser`` as commands."""

from __future__ import annotations

from pathlib import Path

import pytest
from cli_process import CommandLine


@pytest.fixture
def graphmem(tmp_path: Path) -> CommandLine:
    run = CommandLine(tmp_path, url=str(tmp_path / "notes.graphmem"))
    for place, text in enumerate(("Ada takes the aisle", "Ben wants the window"), start=1):
        arguments = ("--id", f"n{place}", "--source", "chat", "--position", str(place))
        assert run("add", text, *arguments).code == 0
    return run


@pytest.mark.parametrize(
    ("choice", "points"),
    [
        ([], 2),
        (["--note", "n1"], 2),
        (["--source", "chat"], 2),
        (["--question", "who takes the aisle?"], 3),
        (["--source", "chat", "--limit", "1"], 1),
    ],
)
def test_a_picture_is_written(
    graphmem: CommandLine, tmp_path: Path, choice: list[str], points: int
) -> None:
    out = tmp_path / "page.html"
    done = graphmem("view", *choice, "--out", str(out), "--json")
    assert done.code == 0, done.err
    assert done.json["notes"] == points
    assert done.json["file"] == str(out)
    assert out.read_text().startswith("<!DOCTYPE html>")


def test_a_picture_leaves_no_trace_of_use(graphmem: CommandLine, tmp_path: Path) -> None:
    graphmem("view", "--question", "aisle", "--out", str(tmp_path / "page.html"))
    assert graphmem("stats", "--json").json["recalls"] == 0


def test_one_part_is_pictured_at_a_time(graphmem: CommandLine, tmp_path: Path) -> None:
    done = graphmem(
        "view", "--note", "n1", "--source", "chat", "--out", str(tmp_path / "page.html")
    )
    assert done.code == 2
    assert "give one of" in done.err
    assert not (tmp_path / "page.html").exists()


def test_what_is_not_there_is_said_and_nothing_written(
    graphmem: CommandLine, tmp_path: Path
) -> None:
    for choice in ("--note", "--source"):
        done = graphmem("view", choice, "nowhere", "--out", str(tmp_path / "page.html"))
        assert done.code == 1
        assert "nowhere" in done.err
    assert not (tmp_path / "page.html").exists()


def test_a_kit_for_the_browser_is_written_without_a_server(
    graphmem: CommandLine, tmp_path: Path
) -> None:
    out = tmp_path / "kit"
    done = graphmem(
        "browser", "--url", "neo4j://db.example:7687", "--namespace", "ada", "--out", str(out),
        "--json",
    )  # fmt: skip
    assert done.code == 0, done.err
    assert done.json["address"] == (
        "http://db.example:7474/browser/?dbms=neo4j://neo4j@db.example:7687"
    )
    assert {Path(name).name for name in done.json["files"]} >= {
        "GUIDE.md", "graphmem.grass", "favourites.zip",
    }  # fmt: skip
    assert "'ada' AS namespace" in (out / "favourites" / "hubs.cypher").read_text()


def test_a_file_has_no_browser(graphmem: CommandLine, tmp_path: Path) -> None:
    done = graphmem("browser", "--out", str(tmp_path / "kit"))
    assert done.code == 1
    assert "graphmem view" in done.err
    assert not (tmp_path / "kit").exists()
