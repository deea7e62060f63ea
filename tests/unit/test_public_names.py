"""The package's own list of names is complete, sorted, and costs nothing until used."""

import ast
import inspect
import subprocess
import sys
from pathlib import Path

import pytest

import graphmem
from graphmem import errors


def test_the_list_is_sorted_and_every_name_is_there() -> None:
    assert list(graphmem.__all__) == sorted(set(graphmem.__all__))
    for name in graphmem.__all__:
        assert getattr(graphmem, name) is not None


def test_type_checkers_see_the_same_names() -> None:
    tree = ast.parse(Path(graphmem.__file__).read_text())
    seen = {
        alias.name
        for node in ast.walk(tree)
        if isinstance(node, ast.ImportFrom) and (node.module or "").startswith("graphmem.")
        for alias in node.names
    }
    assert seen | {"__version__"} == set(graphmem.__all__)


def test_every_error_is_public() -> None:
    tree = {
        name
        for name, value in vars(errors).items()
        if inspect.isclass(value) and issubclass(value, errors.GraphmemError)
    }
    assert tree <= set(graphmem.__all__)
    drawn = errors.__doc__ or ""
    assert all(name in drawn for name in tree)


def test_an_unknown_name_is_an_attribute_error() -> None:
    with pytest.raises(AttributeError, match="no_such_name"):
        graphmem.no_such_name  # noqa: B018  # the access is the test


def test_importing_the_package_imports_nothing_heavy() -> None:
    code = "import sys, graphmem; print(sorted({m.partition('.')[0] for m in sys.modules}))"
    done = subprocess.run(  # our own interpreter
        [sys.executable, "-c", code], capture_output=True, text=True, check=True
    )
    heavy = {"numpy", "networkx", "neo4j", "onnxruntime", "pydantic", "rich", "typer"}
    assert heavy.isdisjoint(ast.literal_eval(done.stdout))


def test_the_version_is_the_installed_one() -> None:
    from importlib.metadata import version

    assert graphmem.__version__ == version("graphmem")
