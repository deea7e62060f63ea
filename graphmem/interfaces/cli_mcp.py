"""The command that serves a memory to agents: mcp."""

from __future__ import annotations

import logging
import sys
from enum import StrEnum
from typing import Annotated

import typer

from graphmem.interfaces.options import DEFAULT_NAMESPACE, Namespace, Url

app = typer.Typer(add_completion=False, rich_markup_mode="markdown")

_HTTP = "HTTP"


class LogLevel(StrEnum):
    """How much goes to stderr."""

    debug = "debug"
    info = "info"
    warning = "warning"
    error = "error"


@app.command(epilog="Example: graphmem mcp --url notes.graphmem --namespace ada")
def mcp(
    http: Annotated[
        bool,
        typer.Option(
            "--http", help="Streamable HTTP at /mcp instead of stdio.", rich_help_panel=_HTTP
        ),
    ] = False,
    host: Annotated[
        str, typer.Option(help="Address to listen on.", rich_help_panel=_HTTP)
    ] = "127.0.0.1",
    port: Annotated[
        int,
        typer.Option(min=0, max=65535, help="0 takes a free port.", rich_help_panel=_HTTP),
    ] = 8000,
    allow_host: Annotated[
        list[str] | None,
        typer.Option(
            metavar="NAME",
            help="Host name by which other machines may reach the server; anyone who can reads "
            "the memory, so put what checks them in front. Repeat for more.",
            rich_help_panel=_HTTP,
        ),
    ] = None,
    read_only: Annotated[
        bool, typer.Option("--read-only", help="Offer no tool that changes the memory.")
    ] = False,
    model: Annotated[
        str | None,
        typer.Option(
            metavar="NAME", envvar="GRAPHMEM_EMBEDDER", help="Embedding model; default: the usual."
        ),
    ] = None,
    log_level: Annotated[LogLevel, typer.Option(help="What goes to stderr.")] = LogLevel.warning,
    url: Url = None,
    namespace: Namespace = DEFAULT_NAMESPACE,
) -> None:
    """Serve a memory to an agent by the Model Context Protocol.

    On stdio the client starts this command; stdout carries the protocol and nothing else.
    Needs the extra graphmem[mcp].
    """
    from graphmem.interfaces.mcp import HttpPlace, memory_server, serve_http, serve_stdio
    from graphmem.opening import open_memory

    # Set before the SDK would set its own, which breaks long lines apart.
    logging.basicConfig(
        level=log_level.upper(), stream=sys.stderr, format="%(levelname)s %(name)s: %(message)s"
    )
    place = HttpPlace(host, port, tuple(allow_host or ()))
    listening = place.bound() if http else None
    with open_memory(url, namespace=namespace, embedder=model) as memory:
        memory.stats()  # a store that does not open is said now, not at the first call
        server = memory_server(memory, read_only=read_only)
        try:
            if listening is None:
                serve_stdio(server)
            else:
                where = f"http://{_shown(host)}:{listening.getsockname()[1]}/mcp"
                sys.stderr.write(f"graphmem: serving {memory.namespace!r} at {where}\n")
                serve_http(server, place, listening)
        except KeyboardInterrupt:
            raise typer.Exit(130) from None


def _shown(host: str) -> str:
    return f"[{host}]" if ":" in host else host
