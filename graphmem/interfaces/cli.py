"""The command line: parse, call Memory, show.

Commands are imported when they are asked for, and import the library when they run.
"""

from __future__ import annotations

import os
import sys
from typing import Annotated

import typer

from graphmem.errors import GraphmemError
from graphmem.interfaces.lazy_commands import LazyCommands

app = typer.Typer(
    name="graphmem",
    cls=LazyCommands,
    no_args_is_help=True,
    pretty_exceptions_enable=False,  # its frames would show locals, passwords among them
    rich_markup_mode="markdown",
    context_settings={"help_option_names": ["-h", "--help"]},
)


def _version(wanted: bool) -> None:
    if wanted:
        from importlib.metadata import version

        sys.stdout.write(f"graphmem {version('graphmem')}\n")
        raise typer.Exit


_ABOUT = """The note network an AI agent remembers with: linked, evolving, explained.

Where it opens: --url, GRAPHMEM_URL, NEO4J_URI, else a file in your data folder. A Neo4j
password comes from NEO4J_PASSWORD only. Exit codes: 0 done, 1 error, 2 usage.
"""
_START = 'Start with: graphmem demo    then: graphmem recall "..." --url demo.graphmem'


@app.callback(help=_ABOUT, epilog=_START)
def root(
    version: Annotated[
        bool,
        typer.Option("--version", callback=_version, is_eager=True, help="Print the version."),
    ] = False,
) -> None:
    """Take the options that stand before a command."""


def main() -> None:
    """Run the command line; every error graphmem raises on purpose becomes one line."""
    try:
        try:
            app(prog_name="graphmem")
        finally:
            sys.stdout.flush()
    except GraphmemError as error:
        from graphmem.interfaces.console import show_error

        show_error(str(error))
        sys.exit(1)
    except BrokenPipeError:
        # The reader left, as `head` does. What the interpreter flushes at exit must not raise.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        sys.exit(1)
