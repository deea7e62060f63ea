"""The command that draws a part of the note graph."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from graphmem.interfaces.console import show, show_json
from graphmem.interfaces.options import DEFAULT_NAMESPACE, AsJson, Namespace, Url, opened

if TYPE_CHECKING:
    from graphmem.interfaces.picture import Picture
    from graphmem.memory import Memory

app = typer.Typer(add_completion=False, rich_markup_mode="markdown")

LARGEST = 500


@app.command(epilog='Example: graphmem view --question "which seat does Ada like?" --open')
def view(
    note: Annotated[
        str | None, typer.Option(metavar="ID", help="A note and what lies around it.")
    ] = None,
    source: Annotated[
        str | None, typer.Option(metavar="ID", help="A source: its notes in order.")
    ] = None,
    question: Annotated[
        str | None,
        typer.Option(metavar="TEXT", help="What is recalled for it, and by which paths."),
    ] = None,
    hops: Annotated[int, typer.Option(min=1, max=5, help="How far around a note.")] = 1,
    limit: Annotated[
        int,
        typer.Option("--limit", "-k", min=1, max=LARGEST, help="Most notes; of a recall, 10."),
    ] = LARGEST,
    out: Annotated[
        Path, typer.Option("--out", "-o", metavar="FILE", help="The page that is written.")
    ] = Path("graphmem.html"),
    open_it: Annotated[bool, typer.Option("--open", help="Open it in your web browser.")] = False,
    url: Url = None,
    namespace: Namespace = DEFAULT_NAMESPACE,
    as_json: AsJson = False,
) -> None:
    """Draw a part of the note graph as one HTML file that works offline.

    Without --note, --source or --question: the newest notes of the namespace. Hovering
    shows a note's text, a link's weight, and how a recalled note was found. A question
    asked here is not counted as use.
    """
    from graphmem.interfaces.view import write_page

    if sum(choice is not None for choice in (note, source, question)) > 1:
        raise typer.BadParameter("give one of --note, --source and --question")
    with opened(url, namespace) as memory:
        picture = _picture(memory, note, source, question, hops, limit)
    write_page(picture, out)
    if as_json:
        show_json(
            {"file": out, "notes": len(picture.nodes), "edges": len(picture.edges),
             "left_out": picture.left_out}
        )  # fmt: skip
    else:
        rest = f"; {picture.left_out} more notes left out" if picture.left_out else ""
        show(f"{picture.title}: {len(picture.nodes)} points, {len(picture.edges)} edges{rest}")
        show(f"Wrote {out}")
    if open_it:
        typer.launch(out.absolute().as_uri())


def _picture(
    memory: Memory,
    note: str | None,
    source: str | None,
    question: str | None,
    hops: int,
    limit: int,
) -> Picture:
    from graphmem.interfaces.picture import (
        picture_memory,
        picture_note,
        picture_recall,
        picture_source,
    )

    if note is not None:
        return picture_note(memory, note, hops)
    if source is not None:
        return picture_source(memory, source, limit)
    if question is not None:
        most = 10 if limit == LARGEST else limit
        return picture_recall(memory, memory.recall(question, most, track=False))
    return picture_memory(memory, limit)
