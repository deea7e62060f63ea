from pathlib import Path

import pytest
from cli_process import CommandLine


@pytest.fixture
def cli(tmp_path: Path) -> CommandLine:
    return CommandLine(tmp_path)


def test_demo_writes_its_file_and_runs_again_without_change(cli: CommandLine) -> None:
    first = cli.ok("demo", "--json").json
    assert first["added"]["added"] == 159
    assert (cli.home / "demo.graphmem").is_file()
    exported = cli.ok("export", "--url", "demo.graphmem").out
    second = cli.ok("demo", "--json").json
    assert (second["added"]["added"], second["added"]["unchanged"]) == (0, 159)
    assert cli.ok("export", "--url", "demo.graphmem").out == exported
    assert second["score"] == first["score"]
    assert first["score"]["unanswerable"] == 10
    assert first["score"]["answerable"] == 30
    assert len(first["answers"]) == 40
    assert 0 < first["score"]["overall"]["recall"][0] <= first["score"]["overall"]["recall"][2]


def test_demo_is_told_for_people(cli: CommandLine) -> None:
    out = cli.ok("demo", "--url", ":memory:").out
    assert not (cli.home / "demo.graphmem").exists()
    for part in (
        "Remembering",
        "Linking",
        "Recalling",
        "All 40 questions",
        "recall@10",
        "of 10",
        "Answerability",
        "Evidence:",
        "春香さんの猫",
    ):
        assert part in out


def test_demo_never_writes_where_the_environment_points(cli: CommandLine) -> None:
    done = cli("demo", "--json", env={"GRAPHMEM_URL": "mine.graphmem"})
    assert done.code == 0
    assert not (cli.home / "mine.graphmem").exists()


def test_demo_does_not_mix_with_other_notes(cli: CommandLine) -> None:
    cli.ok("add", "my own note", "--url", "mine.graphmem")
    done = cli("demo", "--url", "mine.graphmem")
    assert (done.code, done.out) == (1, "")
    assert "--namespace" in done.err
    assert cli.ok("stats", "--url", "mine.graphmem", "--json").json["notes"] == 1
    assert cli("demo", "--url", "mine.graphmem", "--namespace", "demo", "--json").code == 0
