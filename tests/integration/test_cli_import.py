"""``graphmem import`` and ``export`` as a user runs them: every format, killed and hostile."""

from __future__ import annotations

import json
import os
import re
import signal
import sqlite3
import subprocess
import sys
import time
import zipfile
from contextlib import closing
from pathlib import Path

import networkx as nx
import pytest
from cli_process import CommandLine
from import_samples import SAMPLES, node, tree, write_chatgpt, write_jsonl, zipped

GRAPHMEM = Path(sys.executable).with_name("graphmem")


@pytest.fixture
def cli(tmp_path: Path) -> CommandLine:
    return CommandLine(tmp_path, url="notes.graphmem")


def told(cli: CommandLine, *arguments: str) -> dict[str, object]:
    found: dict[str, object] = json.loads(cli(*arguments, "--json").out)
    return found


def without_clock(export: str) -> str:
    """An export without the moments of linking, which are those of the run."""
    return re.sub(r'"created_at":"[^"]*","from_id"', '"from_id"', export)


@pytest.mark.parametrize("form", SAMPLES)
def test_each_format_is_told_by_itself(form: str, cli: CommandLine) -> None:
    name, write = SAMPLES[form]
    write(cli.home / name)
    first = told(cli, "import", name)
    assert first["added"] == cli.ok("stats", "--json").json["notes"] > 256
    assert first["rejected_count"] == 0
    assert told(cli, "import", name, "--format", form)["unchanged"] == first["added"]


@pytest.mark.parametrize("form", ["chatgpt", "claude"])
def test_an_archive_is_read_where_it_is(form: str, cli: CommandLine) -> None:
    name, write = SAMPLES[form]
    write(cli.home / name)
    archive = zipped(cli.home / name, f"export/{name}")
    (cli.home / name).unlink()
    assert told(cli, "import", archive.name)["added"] >= 300  # type: ignore[operator] # a number
    assert [path.name for path in cli.home.iterdir() if path.suffix == ".json"] == []


def held(store: Path) -> int:
    """Notes in a store file that another process writes."""
    try:
        with closing(sqlite3.connect(f"file:{store}?mode=ro", uri=True)) as journal:
            count: int = journal.execute("SELECT count(*) FROM note").fetchone()[0]
            return count
    except sqlite3.OperationalError:  # not made yet, or being made
        return 0


def test_killed_in_the_middle_and_repeated(cli: CommandLine) -> None:
    write_jsonl(cli.home / "notes.jsonl", lines=4000)
    running = subprocess.Popen(
        [str(GRAPHMEM), "import", "notes.jsonl"],
        cwd=cli.home,
        env=cli.environment,
        stdout=subprocess.DEVNULL,
    )
    while held(cli.home / "notes.graphmem") == 0 and running.poll() is None:
        time.sleep(0.01)
    os.kill(running.pid, signal.SIGKILL)
    assert running.wait() == -signal.SIGKILL
    before = held(cli.home / "notes.graphmem")
    assert 0 < before < 4000
    finished = told(cli, "import", "notes.jsonl")
    assert (finished["added"], finished["unchanged"]) == (4000 - before, before)
    clean = CommandLine(cli.home, url="clean.graphmem")
    clean.ok("import", "notes.jsonl")
    assert without_clock(cli.ok("export").out) == without_clock(clean.ok("export").out)
    assert cli.ok("check").code == 0


def test_interrupted_in_the_middle_it_says_what_is_kept(cli: CommandLine) -> None:
    write_jsonl(cli.home / "notes.jsonl", lines=4000)
    running = subprocess.Popen(
        [str(GRAPHMEM), "import", "notes.jsonl"],
        cwd=cli.home,
        env=cli.environment,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        # Shells and test runners in the background pass on that the signal is ignored.
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.default_int_handler),
    )
    while held(cli.home / "notes.graphmem") == 0 and running.poll() is None:
        time.sleep(0.01)
    os.kill(running.pid, signal.SIGINT)
    out, err = running.communicate(timeout=60)
    assert (running.returncode, out) == (130, "")
    said = re.fullmatch(
        r"interrupted: (\d+) notes were handled in whole batches and are kept; "
        r"import the same again to finish\n",
        err,
    )
    assert said is not None, err
    kept = held(cli.home / "notes.graphmem")
    assert kept % 256 == 0
    # The signal may come between the write of a batch and its report.
    assert 0 <= kept - int(said[1]) <= 256
    assert told(cli, "import", "notes.jsonl")["unchanged"] == kept


def test_hints_name_the_options_that_would_have_helped(cli: CommandLine) -> None:
    (cli.home / "sheet.csv").write_bytes("text;created_at\nfür;2024-05-01\n".encode("cp1252"))
    assert "--encoding says" in cli("import", "sheet.csv").err
    done = cli("import", "sheet.csv", "--encoding", "windows-1252")
    assert "--timezone says" in done.err
    cli.ok("import", "sheet.csv", "--encoding", "windows-1252", "--timezone", "Europe/Berlin")


def test_a_dry_run_makes_no_file(cli: CommandLine) -> None:
    write_jsonl(cli.home / "notes.jsonl", lines=3)
    done = cli.ok("import", "notes.jsonl", "--dry-run")
    assert done.out.startswith("would be: 3 added")
    assert not (cli.home / "notes.graphmem").exists()


def test_one_bad_line_in_many(cli: CommandLine) -> None:
    write_jsonl(cli.home / "notes.jsonl", lines=1000)
    with (cli.home / "notes.jsonl").open("ab") as file:
        file.write(b'{"text": "broken\n{"text": "last"}\n')
    done = cli("import", "notes.jsonl", "--json")
    assert done.code == 1
    assert json.loads(done.out)["added"] == 1001
    assert done.err.startswith("not imported, line 1001: is not JSON")


# --- what is not as it should be -----------------------------------------------------------


def refused(cli: CommandLine, *arguments: str) -> str:
    """The one error line of an import that stored nothing."""
    done = cli("import", *arguments)
    assert (done.code, done.out) == (1, ""), done
    stored = (cli.home / "notes.graphmem").exists()
    assert not stored or cli.ok("stats", "--json").json["notes"] == 0
    assert done.err.startswith("error: ")
    return done.err


def test_foreign_and_broken_files(cli: CommandLine) -> None:
    home = cli.home
    (home / "other.json").write_text('[{"kind": "invoice"}]')
    assert "no conversation" in refused(cli, "other.json")
    (home / "pretty.json").write_text('{\n  "kind": "invoice"\n}')
    assert "cannot tell what pretty.json is" in refused(cli, "pretty.json")
    (home / "broken.json").write_text('[{"mapping": {"a": ')
    assert "not whole JSON" in refused(cli, "broken.json")
    (home / "picture").write_bytes(b"\x89PNG\r\n\x1a\n\0\0")
    assert "--format" in refused(cli, "picture")
    assert "one of jsonl" in refused(cli, "picture", "--format", "xml")
    (home / "deep.json").write_text("[" * 100_000)
    assert "nests deeper than 200" in refused(cli, "deep.json")


def test_hostile_archives(cli: CommandLine) -> None:
    home = cli.home
    write_chatgpt(home / "conversations.json", messages=4)
    outside = zipped(home / "conversations.json", "../conversations.json")
    assert "leads out of the archive" in refused(cli, outside.name)
    (home / "no.zip").write_bytes(outside.read_bytes()[:-30] + b"cut")
    refused(cli, "no.zip")
    with (
        zipfile.ZipFile(home / "bomb.zip", "w", zipfile.ZIP_DEFLATED) as archive,
        archive.open("conversations.json", "w") as member,
    ):
        for _ in range(80):
            member.write(b" " * 1024**2)
    assert "times its size" in refused(cli, "bomb.zip")
    with zipfile.ZipFile(home / "other.zip", "w") as archive:
        archive.writestr("readme.txt", "nothing here")
    assert "no conversations.json" in refused(cli, "other.zip")


def test_a_folder_with_all_sorts_of_things(cli: CommandLine) -> None:
    vault = cli.home / "vault"
    (vault / ".hidden").mkdir(parents=True)
    (vault / ".hidden" / "secret.md").write_text("never read")
    (vault / "good.md").write_text("kept, see [[../outside]] and [[good]]")
    (vault / "binary.md").write_bytes(b"PK\0\0")
    (vault / "latin.md").write_bytes("Zoë".encode("latin-1"))
    (vault / "picture.png").write_bytes(b"\x89PNG")
    (vault / "out.md").symlink_to("/etc/hostname")
    (vault / "round").symlink_to(vault)
    os.mkfifo(vault / "pipe.md")
    done = cli("import", "vault", "--json")
    assert done.code == 1
    report = json.loads(done.out)
    assert (report["added"], report["rejected_count"]) == (1, 4)
    for line in (
        "not imported, binary.md: is binary",
        "not imported, latin.md: is not UTF-8 at byte 3",
        "not imported, out.md: is a link that leads out of the folder",
        "not imported, pipe.md: is no regular file",
        "skipped, picture.png: is not Markdown",
        "skipped, round: is a link to a folder",
        "not linked, good.md: [[../outside]]: it leads out of the folder",
    ):
        assert line in done.err
    assert "secret" not in cli.ok("export").out


def test_what_a_file_says_cannot_steer_the_terminal(cli: CommandLine) -> None:
    (cli.home / "talk.log").write_text("\x1b[2J no speaker\nAda: fine\n")
    done = cli("import", "talk.log")
    assert done.code == 1
    assert "\x1b" not in done.err + done.out
    (cli.home / "v").mkdir()
    (cli.home / "v" / "\x1b[31mred.md").write_bytes(b"\xff")
    assert "\x1b" not in cli("import", "v").err


def test_times_without_a_zone(cli: CommandLine) -> None:
    (cli.home / "talk.log").write_text("2024-05-01 10:00 Ada: hello\n")
    done = cli("import", "talk.log", "--timezone", "Europe/Berlin")
    assert (done.code, done.err) == (0, "")
    assert '"created_at":"2024-05-01T08:00:00.000000Z"' in cli.ok("export").out
    assert "read as UTC" in cli("import", "talk.log", "--name", "again").err
    (cli.home / "n.csv").write_text("text,created_at\nhello,2024-05-01T10:00:00\n")
    assert "has no time zone" in cli("import", "n.csv").err
    done = cli("import", "n.csv", "--timezone", "+02:00")
    assert (done.code, done.err) == (0, "")
    assert cli("import", "n.csv", "--timezone", "Mars/Base").code == 2


def test_a_chat_with_damage_keeps_the_rest(cli: CommandLine) -> None:
    whole = tree(node("a", None, "kept"), current="a")
    text = json.dumps([whole, {"mapping": 3}, tree(node("b", None, "kept too"), current="b")])
    (cli.home / "conversations.json").write_text(text[:-1])
    done = cli("import", "conversations.json", "--json")
    assert (done.code, json.loads(done.out)["added"]) == (1, 2)
    assert "conversation 2: mapping" in done.err
    assert "after conversation 3: is not whole JSON" in done.err


# --- export ------------------------------------------------------------------------------


def test_every_form_of_export(cli: CommandLine) -> None:
    cli.ok("import", "-", stdin=b'{"text": "Ada likes tea"}\n{"text": "Ada likes tea."}\n')
    cli.ok("export", "g.graphml", "--format", "graphml")
    graph = nx.read_graphml(cli.home / "g.graphml")
    stats = cli.ok("stats", "--json").json
    assert graph.number_of_nodes() == stats["notes"] == 2
    assert graph.number_of_edges() == stats["related"] + stats["follows"]
    assert cli.ok("export", "--format", "cypher").out.startswith("// A namespace of graphmem")
    done = cli.ok("export", "vault", "--format", "markdown", "--json").json
    assert done["counts"]["notes"] == 2
    twin = CommandLine(cli.home, url="twin.graphmem")
    assert told(twin, "import", "vault")["added"] == 2
    cli.ok("export", "admin", "--format", "csv")
    assert (cli.home / "admin" / "import.args").exists()
    assert "there already" in cli("export", "admin", "--format", "csv").err
