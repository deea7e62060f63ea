"""Without its extra, an adapter says which one to install."""

import subprocess
import sys

import pytest


@pytest.mark.parametrize(
    ("adapter", "package", "extra"),
    [
        ("graphmem.interfaces.mcp", "mcp", "graphmem[mcp]"),
        ("graphmem.interfaces.langchain", "langchain_core", "graphmem[langchain]"),
        ("graphmem.interfaces.llamaindex", "llama_index.core", "graphmem[llama-index]"),
    ],
)
def test_a_missing_package_names_the_extra(adapter: str, package: str, extra: str) -> None:
    code = (
        "import importlib, sys\n"
        f"sys.modules[{package!r}] = None\n"
        "from graphmem import MissingExtra\n"
        "try:\n"
        f"    importlib.import_module({adapter!r})\n"
        "except MissingExtra as error:\n"
        "    print(error)\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True, timeout=120
    )
    assert extra in done.stdout
