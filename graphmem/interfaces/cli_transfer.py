"""Commands that move notes: import, export, copy."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Annotated, BinaryIO

import typer

from graphmem.interfaces.console import progress_bar, safe, show, show_json, stderr
from graphmem.interfaces.options import DEFAULT_NAMESPACE, AsJson, Namespace, Url, opened

app = typer.Typer()

_STREAM = Path("-")


@app.command("import", epilog="Example: graphmem import notes.jsonl    or: ... | graphmem import -")
def import_notes(
    file: Annotated[Path, typer.Argument(metavar="FILE", help="JSON lines; - reads stdin.")],
    overwrite: Annotated[
        bool, typer.Option("--overwrite", help="An export replaces notes of the same id.")
    ] = False,
    url: Url = None,
    namespace: Namespace = DEFAULT_NAMESPACE,
    as_json: AsJson = False,
) -> None:
    """Import notes from JSON lines, or a whole export with its links and history.

    A line of a plain file is an object with "content" or "text" and, when known, "id",
    "created_at" (with its offset), "author", "role", "source", "position", "tags",
    "keywords", "context", "importance" and "metadata"; other fields are kept as metadata.
    A line that cannot be used is reported by number, the others are imported, and the exit
    code is 1. Importing the same file again changes nothing.
    """
    from graphmem.transfer.jsonl import import_jsonl

    with (
        _input(file) as raw,
        opened(url, namespace) as memory,
        progress_bar("importing") as progress,
    ):
        report = import_jsonl(memory, raw, overwrite=overwrite, progress=progress)
    if as_json:
        show_json(report)
    else:
        _show_import(report.added, report.revised, report.unchanged, report.links, report.events)
        if report.kept_as_metadata:
            show(f"kept as metadata: {safe(', '.join(report.kept_as_metadata))}")
    for bad in report.rejected:
        stderr().print(f"not imported, {safe(str(bad))}", markup=False, soft_wrap=True)
    if report.rejected:
        raise typer.Exit(1)


def _show_import(added: int, revised: int, unchanged: int, links: int, events: int) -> None:
    show(f"{added} added, {revised} revised, {unchanged} unchanged; {links} links, {events} events")


@contextmanager
def _input(file: Path) -> Iterator[BinaryIO]:
    from graphmem.transfer.files import readable

    if file == _STREAM:
        yield sys.stdin.buffer
    else:
        with readable(file) as raw:
            yield raw


@app.command(epilog="Example: graphmem export notes.jsonl    or: graphmem export | gzip > n.gz")
def export(
    file: Annotated[
        Path, typer.Argument(metavar="[FILE]", help="Where to; default: stdout.")
    ] = _STREAM,
    embeddings: Annotated[
        bool, typer.Option("--embeddings", help="Write the vectors too, not only the text.")
    ] = False,
    url: Url = None,
    namespace: Namespace = DEFAULT_NAMESPACE,
    as_json: AsJson = False,
) -> None:
    """Write a namespace as JSON lines: notes, links, events and counters, without loss.

    The same notes give the same bytes on every store. A file appears complete or not at
    all.
    """
    from graphmem.transfer.files import whole_file
    from graphmem.transfer.jsonl import export_jsonl

    with opened(url, namespace) as memory:
        if file == _STREAM:
            sys.stdout.flush()
            export_jsonl(memory, sys.stdout.buffer, vectors=embeddings)
            return
        with whole_file(file) as out:
            counts = export_jsonl(memory, out, vectors=embeddings)
    if as_json:
        show_json({"file": file, "counts": counts})
    else:
        show(
            f"wrote {counts.notes} notes, {counts.links} links, {counts.events} events to "
            f"{safe(str(file))}"
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
        opened(target, to_namespace or namespace) as destination,
        progress_bar("copying") as progress,
    ):
        counts = copy_namespace(
            source, destination, overwrite=overwrite, reembed=reembed, progress=progress
        )
    if as_json:
        show_json(counts)
    else:
        show(f"copied {counts.notes} notes, {counts.links} links, {counts.events} events")
