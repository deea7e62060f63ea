"""Pin the whole environment: ``.ci/constraints.txt`` for pip, the same list for uv.

A lock file would name the registry it was made with; a list of versions does not. Run from
the root of the checkout (``just pins``) to move every package to its newest version.
"""

from __future__ import annotations

import re
import subprocess
from pathlib import Path

PROJECT = Path("pyproject.toml")
CONSTRAINTS = Path(".ci/constraints.txt")
LIST = re.compile(r"^constraint-dependencies = \[.*?\]$", re.MULTILINE | re.DOTALL)
EXPORT = (
    "uv export --quiet --all-groups --all-extras --no-emit-project --no-hashes --no-header "
    "--no-annotate"
)


def main() -> None:
    """Resolve without the old pins and write the new ones to both places."""
    _write([])
    subprocess.run(["uv", "lock", "--quiet", "--upgrade"], check=True)  # noqa: S607  # from PATH
    exported = subprocess.run(EXPORT.split(), check=True, capture_output=True, text=True)  # noqa: S603  # a constant
    pins = [line.strip() for line in exported.stdout.splitlines() if line.strip()]
    _write(pins)
    CONSTRAINTS.write_text("".join(f"{pin}\n" for pin in pins), encoding="utf-8")


def _write(pins: list[str]) -> None:
    text = PROJECT.read_text(encoding="utf-8")
    lines = "".join(f'    "{pin}",\n' for pin in pins)
    PROJECT.write_text(LIST.sub(f"constraint-dependencies = [\n{lines}]", text), encoding="utf-8")


if __name__ == "__main__":
    main()
