import json
import subprocess
import sys
from pathlib import Path

import pytest
from cli_process import CommandLine

PASSWORD = "correct-horse-battery"  # looked for in output, opens nothing


@pytest.fixture
def cli(tmp_path: Path) -> CommandLine:
    return CommandLine(tmp_path)


def refused(cli: CommandLine, *arguments: str, **env: str) -> str:
    done = cli(*arguments, env=env)
    assert (done.code, done.out) == (1, ""), done
    assert done.err.startswith("error: ")
    assert "Traceback" not in done.err
    assert PASSWORD not in done.err
    error: str = done.err
    return error


def test_without_url_a_file_in_the_users_data_folder(cli: CommandLine) -> None:
    cli.ok("add", "kept for next time", "--id", "n1")
    assert cli.ok("show", "n1", "--json").json["content"] == "kept for next time"
    assert (cli.home / "data" / "graphmem" / "memory.graphmem").is_file()


def test_a_data_folder_that_cannot_be_made(cli: CommandLine) -> None:
    (cli.home / "data").write_text("in the way")
    assert "name a file" in refused(cli, "add", "x")


def test_url_option_goes_before_the_environment(cli: CommandLine) -> None:
    cli.ok("add", "in a", "--id", "n1", "--url", "a.graphmem")
    elsewhere = {"GRAPHMEM_URL": "b.graphmem"}
    assert cli("show", "n1", "--url", "a.graphmem", env=elsewhere).code == 0
    assert cli("show", "n1", env=elsewhere).code == 1


@pytest.mark.parametrize("content", [b"not a database at all" * 100, b"SQLite format 3\0"])
def test_foreign_files_are_refused_and_left_alone(cli: CommandLine, content: bytes) -> None:
    file = cli.home / "foreign.graphmem"
    file.write_bytes(content)
    refused(cli, "stats", "--url", "foreign.graphmem")
    assert file.read_bytes() == content


def test_places_that_cannot_be_opened(cli: CommandLine) -> None:
    refused(cli, "stats", "--url", "no/such/folder/x.graphmem")
    refused(cli, "stats", "--url", "ftp://somewhere")
    refused(cli, "stats", "--url", "neo4j://127.0.0.1:1")


def test_unreachable_server_never_shows_the_password(cli: CommandLine) -> None:
    named = {"NEO4J_USERNAME": "neo4j", "NEO4J_PASSWORD": PASSWORD}
    error = refused(cli, "stats", "--url", "bolt://127.0.0.1:1", **named)
    assert "127.0.0.1:1" in error
    refused(cli, "stats", "--url", f"bolt://neo4j:{PASSWORD}@127.0.0.1:1", **named)
    refused(cli, "stats", NEO4J_URI=f"bolt://neo4j:{PASSWORD}@127.0.0.1:1", **named)


def test_unknown_embedder_setting(cli: CommandLine) -> None:
    refused(cli, "add", "x", "--url", ":memory:", GRAPHMEM_EMBEDDER="hashing-0")


@pytest.mark.parametrize("command", ["stats", "export"], ids=["at the end", "in the middle"])
def test_a_reader_that_leaves_causes_no_traceback(cli: CommandLine, command: str) -> None:
    notes = [{"text": f"note number {i} " + "x" * 500} for i in range(400)]
    lines = "".join(json.dumps(note) + "\n" for note in notes)
    cli.ok("import", "-", "--url", "many.graphmem", stdin=lines)
    writer = subprocess.Popen(  # fixed arguments
        [
            *(sys.executable, "-c", "from graphmem.interfaces.cli import main; main()"),
            *(command, "--json", "--url", "many.graphmem"),
        ],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        cwd=cli.home,
        env=cli.environment,
    )
    assert writer.stdout is not None
    assert writer.stderr is not None
    writer.stdout.close()
    assert writer.stderr.read() == b""
    writer.stderr.close()
    assert writer.wait(timeout=60) == 1


def test_warnings_and_progress_never_reach_stdout(cli: CommandLine) -> None:
    done = cli("add", "x", "--url", ":memory:", "--json", env={"PYTHONWARNINGS": "default"})
    assert json.loads(done.out)["outcome"] == "added"
    assert done.err == ""
