"""Every notebook runs from its first cell to its last, as nbmake runs it."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
from neo4j_server.erasure import erase_everything
from neo4j_server.server import Address

ROOT = Path(__file__).parents[2]
NOTEBOOKS = sorted((ROOT / "notebooks").glob("*.ipynb"))
OURS = ("GRAPHMEM_", "NEO4J_", "PYTEST_", "COV_")
"""Settings of this run, which are not those of a reader."""

SECONDS = 1800


def execute(notebook: Path, **environment: str) -> None:
    # A process of its own: its kernel's warnings are not this run's errors.
    kept = {name: value for name, value in os.environ.items() if not name.startswith(OURS)}
    done = subprocess.run(
        [
            sys.executable, "-m", "pytest", "--nbmake", f"--nbmake-timeout={SECONDS}", "-q",
            "-W", "default", "-p", "no:cacheprovider", "-o", "addopts=", str(notebook),
        ],
        cwd=ROOT,
        env=kept | environment,
        capture_output=True,
        text=True,
        check=False,
        timeout=SECONDS,
    )  # fmt: skip
    assert done.returncode == 0, done.stdout + done.stderr
    assert "1 passed" in done.stdout


@pytest.mark.parametrize("notebook", NOTEBOOKS, ids=lambda path: path.stem)
def test_a_notebook_runs_offline_on_the_embedded_store(notebook: Path) -> None:
    execute(notebook, HF_HUB_OFFLINE="1")


@pytest.mark.neo4j
def test_the_link_graph_is_explored_on_neo4j_as_well(neo4j_address: Address) -> None:
    erase_everything(neo4j_address)
    execute(
        ROOT / "notebooks" / "01_explore_link_graph.ipynb",
        GRAPHMEM_TEST_NEO4J_URI=neo4j_address.uri,
        GRAPHMEM_TEST_NEO4J_PASSWORD=neo4j_address.password,
        HF_HUB_OFFLINE="1",
    )


@pytest.mark.parametrize("notebook", NOTEBOOKS, ids=lambda path: path.stem)
def test_a_notebook_names_no_place_of_the_machine_it_was_written_on(notebook: Path) -> None:
    text = notebook.read_text(encoding="utf-8")
    assert json.loads(text)["nbformat"] == 4
    assert not any(place in text for place in (str(Path.home()), str(ROOT), "/home/"))
