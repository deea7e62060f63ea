"""Where output goes: results to stdout, progress and errors to stderr.

rich is imported when something is drawn: ``--json`` and help of the shell need none of it.
"""

from __future__ import annotations

import os
import sys
import unicodedata
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, TypeAlias

from graphmem.interfaces.json_view import json_text

if TYPE_CHECKING:
    from rich.console import Console, RenderableType

PIPE_WIDTH = 120
"""Columns of a table that goes to a file or pipe."""

Report: TypeAlias = Callable[[int, int | None], None]
"""``progress(done, total)`` as `add_many` takes it."""


def safe(text: str) -> str:
    r"""Replace control characters, so that stored text cannot steer a terminal.

    Line ends and tabs become spaces; every other control or direction-override character
    becomes U+FFFD.

    Examples
    --------
    >>> safe("one\ntwo \x1b[31mred")
    'one two \ufffd[31mred'
    """
    return "".join(_shown(char) for char in text)


def _shown(char: str) -> str:
    if char in "\n\r\t":
        return " "
    steering = unicodedata.category(char) in {"Cc", "Zl", "Zp"} or "\u202a" <= char <= "\u202e"
    return "\ufffd" if steering or "\u2066" <= char <= "\u2069" else char


def stdout() -> Console:
    """Return a console on stdout as it is now; wide enough for tables when piped."""
    from rich.console import Console

    wide = not sys.stdout.isatty() and "COLUMNS" not in os.environ
    return Console(file=sys.stdout, width=PIPE_WIDTH if wide else None, highlight=False)


def stderr() -> Console:
    """Return a console on stderr as it is now."""
    from rich.console import Console

    return Console(file=sys.stderr, highlight=False)


def show(*parts: RenderableType) -> None:
    """Print parts of the result; a text is shown as it is, not read as markup."""
    from rich.text import Text

    console = stdout()
    for part in parts:
        console.print(Text(part) if isinstance(part, str) else part)


def show_json(value: object) -> None:
    """Print a value as JSON and nothing else."""
    sys.stdout.write(json_text(value) + "\n")


def show_error(message: str) -> None:
    """Print one error line; text in it is shown, not interpreted."""
    stderr().print("[bold red]error:[/]", end=" ")
    stderr().print(safe(message), markup=False, soft_wrap=True)


@contextmanager
def progress_bar(title: str) -> Iterator[Report]:
    """Yield a progress callback that draws on stderr, and only on a terminal."""
    if not sys.stderr.isatty():
        yield lambda done, total: None
        return
    from rich.progress import (
        BarColumn,
        MofNCompleteColumn,
        Progress,
        TextColumn,
        TimeElapsedColumn,
    )

    columns = (
        TextColumn("{task.description}"),
        BarColumn(),
        MofNCompleteColumn(),
        TimeElapsedColumn(),
    )
    with Progress(*columns, console=stderr(), transient=True) as bar:
        task = bar.add_task(title, total=None)
        yield lambda done, total: bar.update(task, completed=done, total=total)
