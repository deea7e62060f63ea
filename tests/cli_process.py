"""Runs the command line as a process of its own, away from the user's stores."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any

_RUN = "from graphmem.interfaces.cli import main; main()"
_FOREIGN = ("GRAPHMEM_", "NEO4J_", "COLUMNS", "FORCE_COLOR", "PYTHONWARNINGS")


@dataclass(frozen=True)
class Finished:
    """What one run left behind."""

    code: int
    out: str
    err: str

    @property
    def json(self) -> Any:  # whatever the command printed; the tests look inside
        return json.loads(self.out)


@dataclass(frozen=True)
class CommandLine:
    """The command line with a home, an embedder that needs no weights, and an optional url."""

    home: Path
    url: str | None = None

    def __call__(
        self, *arguments: str, stdin: str | bytes = b"", env: dict[str, str] | None = None
    ) -> Finished:
        done = subprocess.run(  # arguments come from the tests
            [sys.executable, "-c", _RUN, *arguments],
            input=stdin.encode() if isinstance(stdin, str) else stdin,
            capture_output=True,
            cwd=self.home,
            env=self.environment | (env or {}),
            timeout=120,
            check=False,
        )
        return Finished(done.returncode, done.stdout.decode(), done.stderr.decode())

    @property
    def environment(self) -> dict[str, str]:
        kept = {k: v for k, v in os.environ.items() if not k.startswith(_FOREIGN)}
        own = {
            "GRAPHMEM_EMBEDDER": "hashing-256",
            "HOME": str(self.home),
            "XDG_DATA_HOME": str(self.home / "data"),
            "PYTHONWARNINGS": "default",
        }
        return kept | own | ({} if self.url is None else {"GRAPHMEM_URL": self.url})

    def ok(self, *arguments: str, stdin: str | bytes = b"") -> Finished:
        """Run and require exit code 0 with a silent stderr."""
        done = self(*arguments, stdin=stdin)
        assert (done.code, done.err) == (0, ""), done
        return done
