"""The command that leads into Neo4j Browser."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from graphmem.interfaces.console import show, show_json
from graphmem.interfaces.options import DEFAULT_NAMESPACE, AsJson, Namespace, Url

app = typer.Typer(add_completion=False, rich_markup_mode="markdown")

KIT_FOLDER = Path("graphmem-browser")


@app.command(epilog="Example: graphmem browser --url neo4j://localhost:7687 --namespace ada --open")
def browser(
    out: Annotated[
        Path, typer.Option("--out", "-o", metavar="FOLDER", help="Where the kit is written.")
    ] = KIT_FOLDER,
    http: Annotated[
        str | None,
        typer.Option(metavar="ADDRESS", help="The server's web address. Default: its port 7474."),
    ] = None,
    open_it: Annotated[
        bool, typer.Option("--open", help="Open Neo4j Browser in your web browser.")
    ] = False,
    url: Url = None,
    namespace: Namespace = DEFAULT_NAMESPACE,
    as_json: AsJson = False,
) -> None:
    """Print where Neo4j Browser is, and write favourites, a style and a guide for it.

    Reads nothing from the server and needs no password.
    """
    from graphmem.interfaces.browser_kit import browser_address, write_kit
    from graphmem.settings import read_settings

    settings = read_settings()
    address = browser_address(
        settings.address if url is None else url,
        username=settings.neo4j_username,
        database=settings.neo4j_database,
        http=http,
    )
    kit = write_kit(out, address, namespace)
    if as_json:
        show_json(kit)
    else:
        show(
            f"Neo4j Browser: {address}",
            f"Wrote {out}: drop favourites.zip and graphmem.grass on the page; see GUIDE.md",
        )
    if open_it:
        typer.launch(address)
