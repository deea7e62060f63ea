"""Every ``graphmem`` command the README shows is run, in the README's own words.

What is not: measurements of data sets and of speed, which have tests of their own, and what
waits for somebody (a server for agents, a web browser).
"""

from __future__ import annotations

import re
import shlex
from pathlib import Path

import pytest
from cli_process import CommandLine
from import_samples import write_chatgpt, write_claude, write_csv, write_jsonl, write_log, zipped

README = (Path(__file__).parents[2] / "README.md").read_text(encoding="utf-8")
ELSEWHERE = {"bench", "eval", "mcp"}


def shown() -> list[str]:
    """The commands of blocks and of tables, placeholders left in."""
    blocks = re.findall(r"^```sh\n(.*?)^```", README, re.S | re.M)
    lines = [line for block in blocks for line in block.replace("\\\n", " ").splitlines()]
    cells = [cell for row in re.findall(r"^\|.*\|$", README, re.M) for cell in row.split("|")]
    lines += [command for cell in cells for command in re.findall(r"`(graphmem [^`]+)`", cell)]
    commands = dict.fromkeys(line.partition(" #")[0].strip() for line in lines)
    return [command for command in commands if command.startswith("graphmem ")]


def runs_here(command: str) -> bool:
    words = command.split()
    return words[1] not in ELSEWHERE and "neo4j://" not in command and "browser" not in words


@pytest.fixture(scope="module")
def prepared(tmp_path_factory: pytest.TempPathFactory) -> CommandLine:
    """A home with the files the README names and the memories it asks."""
    home = tmp_path_factory.mktemp("home")
    write_jsonl(home / "notes.jsonl", 12)
    write_csv(home / "notes.csv", 12)
    write_log(home / "talk.log", 12)
    for write, name in ((write_chatgpt, "chatgpt"), (write_claude, "claude")):
        write(home / "conversations.json", 12)
        zipped(home / "conversations.json", "conversations.json").rename(home / f"{name}.zip")
    write_log(home / "chat.txt", 12)
    (home / "export.zip").write_bytes((home / "chatgpt.zip").read_bytes())
    (home / "vault").mkdir()
    (home / "vault" / "Ada.md").write_text("Ada is a pilot.", encoding="utf-8")
    cli = CommandLine(home, url="mine.graphmem")
    cli.ok("demo")
    add = ("add", "--url", "trip.graphmem", "--author", "Ada", "--source", "chat-7")
    cli.ok(*add, "Ada prefers aisle seats", "--id", "NOTE_ID")
    cli.ok(*add, "Ada prefers aisle seats on a plane", "--id", "NOTE_ID")
    cli.ok("add", "--url", "demo.graphmem", "a note", "--id", "NOTE_ID")
    cli.ok("add", "to be seen", "--tag", "travel")
    return cli


@pytest.mark.parametrize("command", [command for command in shown() if runs_here(command)])
def test_a_command_runs(prepared: CommandLine, command: str) -> None:
    arguments = shlex.split(command.replace("~/", "").replace(" --open", ""))[1:]
    if "EVENT_ID" in arguments:
        history = prepared.ok("history", "NOTE_ID", "--url", "trip.graphmem", "--json").json
        arguments[arguments.index("EVENT_ID")] = history[-1]["id"]
    done = prepared(*arguments)
    assert done.code == 0, f"{command}: {done.err}"
    assert done.out.strip()


def test_every_command_that_is_shown_is_found() -> None:
    found = " ".join(shown())
    for part in ("add", "import notes.csv", "export notes.jsonl", "view --note", "calibrate"):
        assert f"graphmem {part}" in found
