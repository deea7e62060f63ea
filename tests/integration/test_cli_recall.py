from pathlib import Path

import pytest
from cli_process import CommandLine

NOTES = [
    ("n1", "Ada", "chat-1", "Ada prefers aisle seats on long flights"),
    ("n2", "Ben", "chat-1", "Ben always books the window seat"),
    ("n3", "Ada", "chat-2", "The jalapeño tea is sold out"),
    ("n4", "Ben", "chat-2", "多租户隔离在六月上线"),
    ("n5", "Ben", "chat-2", "tb-relay board revision 4 passed burn-in."),
]


@pytest.fixture(scope="module")
def cli(tmp_path_factory: pytest.TempPathFactory) -> CommandLine:
    cli = CommandLine(tmp_path_factory.mktemp("recall"), url="notes.graphmem")
    for day, (note_id, author, source, text) in enumerate(NOTES, start=1):
        cli.ok(
            *("add", text, "--id", note_id, "--author", author, "--source", source),
            *("--position", str(day), "--tag", f"day{day}"),
            *("--created-at", f"2025-07-0{day}T09:00Z"),
        )
    return cli


def found(cli: CommandLine, *arguments: str) -> list[str]:
    done = cli.ok("recall", *arguments, "--no-track", "--json")
    return [ranked["note"]["id"] for ranked in done.json["notes"]]


def test_json_carries_parts_path_and_decision(cli: CommandLine) -> None:
    result = cli.ok("recall", "which seat does Ada like?", "--json", "--no-track").json
    best = result["notes"][0]
    assert best["note"]["id"] == "n1"
    assert best["score"] == pytest.approx(sum(best["contributions"].values()), abs=1e-9)
    assert best["path"][0]["kind"] in {"vector", "lexical"}
    assert result["decision"]["outcome"] in {"retrieved", "partial", "unknown"}
    assert 0 <= result["decision"]["answerable"] <= 1
    assert result["considered"]["candidates"] >= len(result["notes"])
    assert {source["source_id"] for source in result["sources"]} == {"chat-1", "chat-2"}


def test_table_for_people(cli: CommandLine) -> None:
    out = cli.ok("recall", "which seat does Ada like?", "--no-track").out
    for part in ("Ada prefers aisle seats", "Score", "relevance", "seed", "Evidence:", "Policy"):
        assert part in out


def test_limit_and_filters(cli: CommandLine) -> None:
    assert len(found(cli, "seat", "--limit", "2")) == 2
    assert set(found(cli, "seat", "--author", "Ben")) == {"n2", "n4", "n5"}
    assert set(found(cli, "seat", "--source", "chat-1")) == {"n1", "n2"}
    assert set(found(cli, "seat", "--tag", "day1", "--tag", "day3")) == {"n1", "n3"}
    assert set(found(cli, "seat", "--since", "2025-07-02T09:00Z", "--until", "2025-07-04T09:00Z")) == {"n2", "n3"}  # fmt: skip  # noqa: E501  (one condition)
    assert set(found(cli, "seat", "--as-of", "2025-07-02T11:00+02:00")) == {"n1", "n2"}


@pytest.mark.parametrize(
    ("query", "first"),
    [
        ("jalapeño", "n3"),
        ("jalapen\u0303o", "n3"),
        ("租户", "n4"),
        ("tb-relay", "n5"),
        ("tb-", "n5"),
        ("board~2 AND (burn", "n5"),
        ("[bold]window[/bold]", "n2"),
    ],
)
def test_queries_are_text_in_every_script(cli: CommandLine, query: str, first: str) -> None:
    assert found(cli, query)[0] == first


def test_by_source_and_policies(cli: CommandLine) -> None:
    done = cli.ok("recall", "seat", "--by", "source", "--limit", "1", "--no-track", "--json")
    assert [source["source_id"] for source in done.json["sources"]] == ["chat-1"]
    assert "chat-1" in cli.ok("recall", "seat", "--by", "source", "--no-track").out
    weighted = cli.ok("recall", "seat", "--policy", "weighted", "--no-track", "--json").json
    assert weighted["policy"] == "weighted"


def test_tracking_counts_only_what_was_returned(cli: CommandLine) -> None:
    before = cli.ok("show", "n3", "--json").json["recall_count"]
    cli.ok("recall", "jalapeño", "--limit", "1", "--no-track")
    assert cli.ok("show", "n3", "--json").json["recall_count"] == before
    cli.ok("recall", "jalapeño", "--limit", "1")
    assert cli.ok("show", "n3", "--json").json["recall_count"] == before + 1


@pytest.mark.parametrize(
    "arguments",
    [[""], ["   "], ["\u200b"], ["seat", "--limit", "0"], ["seat", "--limit", "-1"],
     ["seat", "--policy", "nonsense"]],
)  # fmt: skip
def test_what_cannot_be_asked(cli: CommandLine, arguments: list[str]) -> None:
    done = cli("recall", *arguments, "--json")
    assert (done.code, done.out) == (1, ""), done
    assert done.err.startswith("error: ")
    assert done.err.count("\n") == 1


def test_an_empty_memory_answers_that_it_knows_nothing(tmp_path: Path) -> None:
    empty = CommandLine(tmp_path, url=":memory:")
    result = empty.ok("recall", "anything", "--json").json
    assert result["notes"] == []
    assert result["decision"]["outcome"] == "unknown"
    assert "No note was found." in empty.ok("recall", "anything").out
