import os
import re
import subprocess
import sys
from dataclasses import dataclass
from io import StringIO

import pytest

from graphmem.interfaces.cli import main

HEAVY = ("numpy", "onnxruntime", "tokenizers", "networkx", "neo4j", "rank_bm25")
COMMANDS = (
    *("demo", "add", "feedback", "archive", "restore", "undo", "erase", "maintain", "reindex"),
    *("recall", "show", "links", "history", "stats", "namespaces", "check"),
    *("import", "export", "copy"),
)


@dataclass
class Run:
    """Runs the command line in this process."""

    monkeypatch: pytest.MonkeyPatch
    capsys: pytest.CaptureFixture[str]

    def __call__(self, *arguments: str) -> tuple[object, str, str]:
        self.monkeypatch.setattr(sys, "argv", ["graphmem", *arguments])
        with pytest.raises(SystemExit) as left:
            main()
        captured = self.capsys.readouterr()
        return left.value.code, captured.out, captured.err


@pytest.fixture
def run(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Run:
    monkeypatch.setattr(sys, "stdin", StringIO())
    return Run(monkeypatch, capsys)


@pytest.mark.parametrize("arguments", [["--help"], ["recall", "--help"], ["--version"]])
def test_help_does_not_load_what_is_slow(arguments: list[str]) -> None:
    code = (
        "import sys\n"
        "from graphmem.interfaces.cli import main\n"
        f"sys.argv = ['graphmem', *{arguments}]\n"
        "try:\n    main()\n"
        "except SystemExit:\n    pass\n"
        f"print([name for name in {HEAVY} if name in sys.modules])"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True, timeout=60
    )
    assert done.stdout.splitlines()[-1] == "[]"


def test_a_command_imports_no_other_and_nothing_it_does_not_draw() -> None:
    code = (
        "import sys\n"
        "from graphmem.interfaces.cli import main\n"
        "sys.argv = ['graphmem', 'recall', 'seat', '--url', ':memory:', '--json']\n"
        "try:\n    main()\n"
        "except SystemExit:\n    pass\n"
        "unwanted = ('rich', 'neo4j', 'openai', 'mcp', 'ijson', 'yaml', 'markdown_it', 'onnx',\n"
        "    'torch', 'huggingface_hub', 'graphmem.transfer', 'graphmem.evaluation')\n"
        "print([name for name in unwanted if name in sys.modules])\n"
        "print([name for name in sys.modules if name.startswith('graphmem.interfaces.cli_')])"
    )
    done = subprocess.run(
        [sys.executable, "-c", code],
        capture_output=True,
        text=True,
        check=True,
        timeout=60,
        env={**os.environ, "GRAPHMEM_EMBEDDER": "hashing-64"},
    )
    assert done.stdout.splitlines()[-2:] == ["[]", "['graphmem.interfaces.cli_read']"]


def test_a_mistyped_command_is_compared_with_those_there_are(run: Run) -> None:
    code, _, err = run("recal")
    assert code == 2
    assert "recall" in err


@pytest.mark.parametrize(("begun", "whole"), [("reb", "rebuild"), ("ev", "eval"), ("im", "import")])
def test_the_shell_completes_commands(begun: str, whole: str) -> None:
    done = subprocess.run(
        [sys.executable, "-c", "from graphmem.interfaces.cli import main; main()"],
        capture_output=True,
        text=True,
        check=False,
        timeout=60,
        env={
            **os.environ,
            "_GRAPHMEM_COMPLETE": "complete_bash",
            "COMP_WORDS": f"graphmem {begun}",
            "COMP_CWORD": "1",
        },
    )
    assert done.stdout.split() == [whole]


def test_help_lists_every_command(run: Run) -> None:
    code, out, _ = run("--help")
    assert code == 0
    assert [name for name in (*COMMANDS, "eval") if f" {name} " not in out] == []


@pytest.mark.parametrize("command", COMMANDS)
def test_every_command_explains_itself_with_an_example(run: Run, command: str) -> None:
    code, out, _ = run(command, "--help")
    assert code == 0
    assert re.search(rf"Examples?: .*\bgraphmem {command}\b", " ".join(out.split()))
    assert "--json" in out
    assert "--namespace" in out


def test_version(run: Run) -> None:
    code, out, _ = run("--version")
    assert code == 0
    assert out.startswith("graphmem 0.")


@pytest.mark.parametrize(
    ("arguments", "named"),
    [
        (["nonsense"], "nonsense"),
        (["recall"], "QUESTION"),
        (["recall", "x", "--limit", "many"], "--limit"),
        (["recall", "x", "--limit", "2.5"], "--limit"),
        (["recall", "x", "--by", "colour"], "--by"),
        (["recall", "x", "--at", "2025-02-30T00:00Z"], "--at"),
        (["recall", "x", "--since", "2025-02-03"], "--since"),
        (["add", "x", "--created-at", "yesterday"], "--created-at"),
        (["add", "x", "--position", "3"], "--position"),
        (["add", "x", "--metadata", "[1]"], "--metadata"),
        (["add", "x", "--metadata", "{"], "--metadata"),
        (["add", "x", "--importance", "1.5"], "--importance"),
        (["feedback", "n1", "sideways"], "up or down"),
        (["erase"], "--everything"),
        (["erase", "n1", "--source", "s"], "--everything"),
        (["erase", "--everything"], "--yes"),
        (["copy", "only-one"], "TO"),
    ],
)
def test_usage_errors_exit_with_2_and_name_the_option(
    run: Run, arguments: list[str], named: str
) -> None:
    code, out, err = run(*arguments)
    assert code == 2
    assert out == ""
    assert named in err
