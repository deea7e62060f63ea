"""Taking notes out: ``graphmem export`` and ``graphmem copy``."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Annotated

import typer

from graphmem.interfaces.console import progress_bar, safe, show, show_json
from graphmem.interfaces.options import DEFAULT_NAMESPACE, AsJson, Namespace, Url, opened

app = typer.Typer(add_completion=False, rich_markup_mode="markdown")

_STREAM = Path("-")
_EPILOG = """Examples:

graphmem export notes.jsonl

graphmem export | gzip > notes.jsonl.gz

graphmem export graph.graphml --format graphml

graphmem export graph.cypher --format cypher --embeddings

graphmem export import-folder --format csv

graphmem export vault --format markdown
"""


@app.command(epilog=_EPILOG)
def export(
    path: Annotated[
        Path, typer.Argument(metavar="[PATH]", help="A file or folder; default: stdout.")
    ] = _STREAM,
    form: Annotated[
        str,
        typer.Option(
            "--format", metavar="FORMAT", help="One of: jsonl, graphml, cypher, csv, markdown."
        ),
    ] = "jsonl",
    embeddings: Annotated[
        bool, typer.Option("--embeddings", help="Write the vectors too, not only the text.")
    ] = False,
    url: Url = None,
    namespace: Namespace = DEFAULT_NAMESPACE,
    as_json: AsJson = False,
) -> None:
    """Write a namespace to a file or folder, which appears complete or not at all.

    **jsonl**: notes, links, events and counters, without loss; the same notes give the same
    bytes on every store, and ``graphmem import`` reads it.

    **graphml**: notes and links for Gephi, networkx and other tools that draw graphs.

    **cypher**: a script for cypher-shell that rebuilds the graph on a Neo4j server, as
    graphmem keeps it there.

    **csv**: a folder for an empty Neo4j database: within it, run neo4j-admin database
    import full @import.args neo4j.

    **markdown**: a folder with one note a file, front matter and [[wikilinks]];
    ``graphmem import`` reads it.

    Without --embeddings, run ``graphmem reindex`` after rebuilding a graph from cypher or
    csv.
    """
    from graphmem.transfer.exporting import export_path, export_stream

    with opened(url, namespace) as memory:
        if path == _STREAM:
            sys.stdout.flush()
            export_stream(memory, sys.stdout.buffer, format=form, vectors=embeddings)
            return
        counts = export_path(memory, path, format=form, vectors=embeddings)
    if as_json:
        show_json({"file": path, "counts": counts})
    else:
        show(
            f"wrote {counts.notes} notes, {counts.links} links, {counts.events} events to "
            f"{safe(str(path))}"
        )


@app.command(epilog="Example: graphmem copy demo.graphmem neo4j://localhost:7687")
def copy(
    origin: Annotated[str, typer.Argument(metavar="FROM", help="URL or file to copy from.")],
    target: Annotated[str, typer.Argument(metavar="TO", help="URL or file to copy to.")],
    to_namespace: Annotated[
        str | None, typer.Option(metavar="NAME", help="Another namespace to copy into.")
    ] = None,
    overwrite: Annotated[
        bool, typer.Option("--overwrite", help="Replace notes of the same id in the target.")
    ] = False,
    reembed: Annotated[
        bool, typer.Option("--reembed", help="Make new vectors with the target's model.")
    ] = False,
    namespace: Namespace = DEFAULT_NAMESPACE,
    as_json: AsJson = False,
) -> None:
    """Copy a namespace from one store to another, counters and history included."""
    from graphmem.transfer.copying import copy_namespace

    with (
        opened(origin, namespace) as source,
        opened(target, to_namespace or namespace, new=True) as destination,
        progress_bar("copying") as progress,
    ):
        counts = copy_namespace(
            source, destination, overwrite=overwrite, reembed=reembed, progress=progress
        )
    if as_json:
        show_json(counts)
    else:
        show(f"copied {counts.notes} notes, {counts.links} links, {counts.events} events")
