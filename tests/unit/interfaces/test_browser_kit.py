"""The kit for Neo4j Browser: where it is, and what is written."""

from __future__ import annotations

import zipfile
from pathlib import Path

import pytest

from graphmem.errors import ConfigurationError, InvalidInput, TransferError
from graphmem.interfaces.browser_kit import browser_address, favourites, write_kit


@pytest.mark.parametrize(
    ("url", "expected"),
    [
        (
            "bolt://db.example:7688",
            "http://db.example:7474/browser/?dbms=bolt://neo4j@db.example:7688",
        ),
        (
            "neo4j+s://db.example",
            "https://db.example:7473/browser/?dbms=neo4j%2Bs://neo4j@db.example:7687",
        ),
        (
            "neo4j+s://1a2b.databases.neo4j.io",
            "https://browser.neo4j.io/?dbms=neo4j%2Bs://neo4j@1a2b.databases.neo4j.io:7687",
        ),
        ("bolt://[::1]:7687", "http://[::1]:7474/browser/?dbms=bolt://neo4j@[::1]:7687"),
    ],
)
def test_the_address_of_the_browser_follows_from_the_servers(url: str, expected: str) -> None:
    assert browser_address(url) == expected


def test_the_web_address_can_be_said() -> None:
    for http in ("http://proxy:8080", "http://proxy:8080/browser/"):
        assert browser_address("bolt://db", http=http).startswith(
            "http://proxy:8080/browser/?dbms=bolt://"
        )


def test_a_password_never_enters_the_address() -> None:
    address = browser_address("neo4j://ada:secret@db", username="a b", database="x&y")
    assert address == "http://db:7474/browser/?dbms=neo4j://a%2520b@db:7687&db=x%26y"


@pytest.mark.parametrize("url", ["trip.graphmem", ":memory:", "neo4j://", "http://x", "bolt://x:y"])
def test_what_is_no_server_has_no_browser(url: str) -> None:
    with pytest.raises(ConfigurationError):
        browser_address(url)


def test_a_kit_holds_favourites_style_and_guide(tmp_path: Path) -> None:
    first = write_kit(tmp_path / "kit", "http://here", "ada's")
    again = write_kit(tmp_path / "kit", "http://here", "ada's")
    assert first == again
    assert all(path.is_file() for path in first.files)
    with zipfile.ZipFile(tmp_path / "kit" / "favourites.zip") as archive:
        zipped = {name: archive.read(name).decode() for name in archive.namelist()}
    plain = {path.name: path.read_text() for path in (tmp_path / "kit" / "favourites").iterdir()}
    assert zipped == plain
    assert all(r"WITH 'ada\'s' AS namespace" in text for text in plain.values())
    guide = (tmp_path / "kit" / "GUIDE.md").read_text()
    assert "http://here" in guide
    assert "$" not in guide
    assert "|  |" not in guide
    assert all(f"| {each.title} |" in guide for each in favourites("ada's"))
    assert "node.Note" in (tmp_path / "kit" / "graphmem.grass").read_text()


@pytest.mark.parametrize("namespace", ["", " "])
def test_what_is_no_namespace_gets_no_kit(tmp_path: Path, namespace: str) -> None:
    with pytest.raises(InvalidInput):
        write_kit(tmp_path / "kit", "http://here", namespace)
    assert not (tmp_path / "kit").exists()


def test_titles_are_short_and_differ() -> None:
    titles = [each.title for each in favourites("default")]
    assert len(set(titles)) == len(titles) >= 12
    assert max(map(len, titles)) <= 45


def test_a_namespace_stays_a_text() -> None:
    (newest,) = (each for each in favourites("\\' RETURN 1 //") if each.title == "Newest notes")
    assert r"WITH '\\\' RETURN 1 //' AS namespace" in newest.text


def test_a_folder_that_cannot_be_written_is_named(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("in the way")
    with pytest.raises(TransferError, match="choose another with --out"):
        write_kit(tmp_path / "file", "http://here", "default")
