"""What the README shows is run as it stands there."""

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

README = Path(__file__).parents[2] / "README.md"


def blocks(language: str) -> list[str]:
    return re.findall(rf"^```{language}\n(.*?)^```", README.read_text(), re.DOTALL | re.MULTILINE)


@pytest.mark.parametrize("code", blocks("python"))
def test_a_python_block_runs(code: str, tmp_path: Path) -> None:
    done = subprocess.run(  # our own interpreter and our own README
        [sys.executable, "-W", "error", "-c", code],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        check=False,
        timeout=300,
    )
    assert done.returncode == 0, done.stderr
    assert done.stdout.strip()


def test_the_first_example_prints_what_the_readme_says(tmp_path: Path) -> None:
    done = subprocess.run(  # our own interpreter and our own README
        [sys.executable, "-c", blocks("python")[0]],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        check=True,
    )
    assert done.stdout == blocks("text")[0]


def test_the_commands_of_the_readme_exist() -> None:
    commands = {
        line.split()[1]
        for block in blocks("sh")
        for line in block.splitlines()
        if line.startswith("graphmem ")
    }
    assert commands
    for command in sorted(commands):
        done = subprocess.run(  # our own command
            [str(Path(sys.executable).with_name("graphmem")), command, "--help"],
            capture_output=True,
            text=True,
            check=False,
            env={**os.environ, "NO_COLOR": "1"},
        )
        assert done.returncode == 0, f"{command}: {done.stderr}"
        assert "Usage" in done.stdout


def test_ci_runs_the_test_command_of_the_readme() -> None:
    command = next(line for line in "\n".join(blocks("sh")).splitlines() if "pytest" in line)
    assert command in (README.parent / ".ci" / "run").read_text()
