from pathlib import Path

import pytest
from cli_process import CommandLine


@pytest.fixture
def cli(tmp_path: Path) -> CommandLine:
    cli = CommandLine(tmp_path, url=str(tmp_path / "notes.graphmem"))
    cli.ok("add", "The boiler hums at night", "--id", "n1", "--source", "log", "--tag", "home")
    cli.ok("add", "The plumber comes on Monday", "--id", "n2", "--source", "log")
    return cli


def test_a_summary_is_made_kept_and_made_again(cli: CommandLine) -> None:
    made = cli.ok("summarise", "--source", "log")
    assert "The boiler hums at night" in made.out
    assert "(revision 1)" in made.out
    assert "1 of 1 summaries were up to date" in cli.ok("rebuild", "--plan").out
    cli.ok("add", "The plumber came on Friday", "--id", "n2", "--source", "log")
    plan = cli.ok("rebuild", "--plan")
    assert plan.out.startswith("rebuild: summary-")
    assert "n2" in plan.out
    assert "rebuilt 1;" in cli.ok("rebuild").out
    found = cli.ok("rebuild", "--json").json
    assert [item["action"] for item in found["decisions"]] == ["reuse"]


def test_parts_of_notes_can_be_compared_with_what_they_would_be_now(cli: CommandLine) -> None:
    found = cli.ok("rebuild", "--embeddings", "--json").json
    assert (found["parts"], found["renewed"]) == ([], [])
    assert cli.ok("check", "--embeddings").out.startswith("ok")


def test_a_tag_is_summarised_too_and_one_of_both_is_needed(cli: CommandLine) -> None:
    assert cli.ok("summarise", "--tag", "home", "--json").json["role"] == "summary"
    assert cli("summarise").code == 2
    assert cli("summarise", "--source", "log", "--tag", "home").code == 2
    assert cli("summarise", "--source", "nowhere").code == 1
