"""``export_path`` and ``export_stream``: a namespace in a form other programs read."""

from __future__ import annotations

from enum import StrEnum
from pathlib import Path
from typing import BinaryIO

from graphmem.errors import TransferError
from graphmem.memory import Memory
from graphmem.transfer.admin_csv import export_admin_csv
from graphmem.transfer.cypher_script import export_cypher
from graphmem.transfer.encoding import Counts
from graphmem.transfer.files import whole_file
from graphmem.transfer.graphml import export_graphml
from graphmem.transfer.jsonl import export_jsonl
from graphmem.transfer.markdown_export import export_markdown


class ExportFormat(StrEnum):
    """What `export_path` writes."""

    JSONL = "jsonl"
    GRAPHML = "graphml"
    CYPHER = "cypher"
    CSV = "csv"
    MARKDOWN = "markdown"


FOLDERS = frozenset({ExportFormat.CSV, ExportFormat.MARKDOWN})
"""Forms that are a folder of files."""


def named_export(name: str) -> ExportFormat:
    """Return the form of a name.

    Raises
    ------
    TransferError
        There is no such form.
    """
    try:
        return ExportFormat(name)
    except ValueError as error:
        known = ", ".join(ExportFormat)
        raise TransferError(f"no format {name!r}; use one of {known}") from error


def export_path(
    memory: Memory,
    path: str | Path,
    *,
    format: str = ExportFormat.JSONL,  # noqa: A002  # as the command line calls it
    vectors: bool = False,
) -> Counts:
    """Write everything the memory's namespace holds to a file or folder, whole or not at all.

    Parameters
    ----------
    format
        ``jsonl`` (complete, the same bytes on every store), ``graphml`` (for Gephi,
        networkx), ``cypher`` (a script that rebuilds the graph on Neo4j), ``csv`` (a folder
        for ``neo4j-admin database import``), ``markdown`` (a folder, one note a file).
    vectors
        Write embeddings too, where the form has them: ``jsonl``, ``cypher``, ``csv``.

    Raises
    ------
    TransferError
        The place cannot be written, or a folder is there already.
    """
    place, form = Path(path), named_export(format)
    if form is ExportFormat.CSV:
        return export_admin_csv(memory, place, vectors=vectors)
    if form is ExportFormat.MARKDOWN:
        return export_markdown(memory, place)
    with whole_file(place) as out:
        return export_stream(memory, out, format=form, vectors=vectors)


def export_stream(
    memory: Memory,
    out: BinaryIO,
    *,
    format: str = ExportFormat.JSONL,  # noqa: A002  # as the command line calls it
    vectors: bool = False,
) -> Counts:
    """Write a form that is one file to a binary stream; as :func:`export_path`.

    Raises
    ------
    TransferError
        The form is a folder.
    """
    form = named_export(format)
    if form in FOLDERS:
        raise TransferError(f"the form {form} is a folder; name one that is not there yet")
    if form is ExportFormat.GRAPHML:
        return export_graphml(memory, out)
    if form is ExportFormat.CYPHER:
        return export_cypher(memory, out, vectors=vectors)
    return export_jsonl(memory, out, vectors=vectors)
