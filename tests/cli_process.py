"""Runs the command line as a process of its own, away from the user's stores.

The processes are forked from one that has imported the library already, which makes a run
ten times quicker than starting Python; ``test_cli_start`` and ``test_cli_surroundings`` also
start it from nothing.
"""

from __future__ import annotations

import json
import multiprocessing
import os
import sys
import warnings
from dataclasses import dataclass
from itertools import count
from pathlib import Path
from typing import Any

_FOREIGN = ("GRAPHMEM_", "NEO4J_", "COLUMNS", "FORCE_COLOR", "PYTHONWARNINGS", "PYTHONUNBUFFERED")
_SECONDS = 120
_PROCESSES = multiprocessing.get_context("forkserver")
_PROCESSES.set_forkserver_preload(
    [
        "graphmem.demo.tour",
        "graphmem.interfaces.cli",
        "graphmem.interfaces.demo_view",
        "graphmem.opening",
        "graphmem.stores.embedded.store",
        "graphmem.transfer.copying",
    ]
)
_RUNS = count()


@dataclass(frozen=True)
class Finished:
    """What one run left behind."""

    code: int | None
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
        streams = self.home / f".run-{next(_RUNS)}"
        streams.mkdir()
        given = stdin.encode() if isinstance(stdin, str) else stdin
        (streams / "0").write_bytes(given)
        process = _PROCESSES.Process(
            target=_run, args=(arguments, streams, self.home, self.environment | (env or {}))
        )
        process.start()
        process.join(_SECONDS)
        if process.is_alive():
            process.kill()
            process.join()
        out, err = ((streams / name).read_bytes().decode() for name in "12")
        return Finished(process.exitcode, out, err)

    @property
    def environment(self) -> dict[str, str]:
        """Environment of a run: the caller's without what would lead to the user's stores."""
        kept = {k: v for k, v in os.environ.items() if not k.startswith(_FOREIGN)}
        own = {
            "GRAPHMEM_EMBEDDER": "hashing-256",
            "HOME": str(self.home),
            "XDG_DATA_HOME": str(self.home / "data"),
        }
        return kept | own | ({} if self.url is None else {"GRAPHMEM_URL": self.url})

    def ok(self, *arguments: str, stdin: str | bytes = b"") -> Finished:
        """Run and require exit code 0 with a silent stderr."""
        done = self(*arguments, stdin=stdin)
        assert (done.code, done.err) == (0, ""), done
        return done


def _run(arguments: tuple[str, ...], streams: Path, home: Path, env: dict[str, str]) -> None:
    flags = {0: os.O_RDONLY, 1: os.O_WRONLY | os.O_CREAT, 2: os.O_WRONLY | os.O_CREAT}
    for stream, flag in flags.items():
        os.dup2(os.open(streams / str(stream), flag), stream)
    sys.stdin, sys.stdout, sys.stderr = (
        os.fdopen(stream, mode, encoding="utf-8", closefd=False)
        for stream, mode in ((0, "r"), (1, "w"), (2, "w"))
    )
    os.environ.clear()
    os.environ.update(env)
    os.chdir(home)
    sys.argv = ["graphmem", *arguments]
    warnings.simplefilter("default")
    from graphmem.interfaces.cli import main

    main()
