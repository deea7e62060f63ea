"""Commands that read: recall, show, links, history, stats, check."""

from __future__ import annotations

from enum import StrEnum
from typing import Annotated

import typer

from graphmem.interfaces.console import show, show_json
from graphmem.interfaces.options import (
    DEFAULT_NAMESPACE,
    AsJson,
    AsOf,
    At,
    Authors,
    Namespace,
    Since,
    Sources,
    Tags,
    Until,
    Url,
    opened,
)

app = typer.Typer(add_completion=False, rich_markup_mode="markdown")

NoteId = Annotated[str, typer.Argument(metavar="ID", help="Id of the note.")]


class By(StrEnum):
    """What a recall ranks."""

    note = "note"
    source = "source"


@app.command(epilog='Example: graphmem recall "which seat does Ada like?" --limit 5 --author Ada')
def recall(
    query: Annotated[str, typer.Argument(metavar="QUESTION", help="A question or key words.")],
    limit: Annotated[int, typer.Option("--limit", "-k", help="How many are returned.")] = 10,
    by: Annotated[By, typer.Option(help="Rank notes, or the sources they are from.")] = By.note,
    at: At = None,
    as_of: AsOf = None,
    since: Since = None,
    until: Until = None,
    source: Sources = None,
    author: Authors = None,
    tag: Tags = None,
    track: Annotated[
        bool, typer.Option("--track/--no-track", help="Count the returned notes as used.")
    ] = True,
    allow_parametric: Annotated[
        bool,
        typer.Option("--allow-parametric", help="An answer may come from a model's own knowledge."),
    ] = False,
    policy: Annotated[
        str | None, typer.Option(metavar="NAME", help="Ranking policy; default: graphmem-1.")
    ] = None,
    url: Url = None,
    namespace: Namespace = DEFAULT_NAMESPACE,
    as_json: AsJson = False,
) -> None:
    """Find the notes that speak to a question, each with its score's parts and its path.

    The parts sum to the score, which orders one result and is not comparable between
    questions. Below the table stands whether memory holds the answer, and why.
    """
    with opened(url, namespace) as memory:
        result = memory.recall(
            query,
            limit,
            by="source" if by is By.source else "note",
            at=at,
            track=track,
            sources=source or None,
            authors=author or None,
            tags=tag or None,
            since=since,
            until=until,
            as_of=as_of,
            allow_parametric=allow_parametric,
            policy=policy,
        )
    if as_json:
        show_json(result)
    else:
        from graphmem.interfaces.render import recall_view

        show(recall_view(result, by_source=by is By.source))


@app.command("show", epilog="Example: graphmem show n42")
def show_note(
    note_id: NoteId,
    url: Url = None,
    namespace: Namespace = DEFAULT_NAMESPACE,
    as_json: AsJson = False,
) -> None:
    """Show a note with everything that is stored about it."""
    from graphmem.interfaces.render import note_view

    with opened(url, namespace) as memory:
        note = memory.get(note_id)
    show_json(note) if as_json else show(note_view(note))


@app.command(epilog="Example: graphmem links n42 --min-weight 0.8")
def links(
    note_id: NoteId,
    min_weight: Annotated[
        float, typer.Option(min=0.0, max=1.0, help="Leave out weaker RELATED links.")
    ] = 0.0,
    url: Url = None,
    namespace: Namespace = DEFAULT_NAMESPACE,
    as_json: AsJson = False,
) -> None:
    """List a note's links: RELATED, strongest first, then FOLLOWS and SUPERSEDES."""
    from graphmem.interfaces.render import links_table
    from graphmem.model import LinkKind

    with opened(url, namespace) as memory:
        related = memory.links(note_id, min_weight)
        around = memory.neighbourhood(note_id)
    others = tuple(
        link for link in around.links if link.kind is not LinkKind.RELATED and note_id in link.pair
    )
    if as_json:
        show_json({"note_id": note_id, "links": related + others})
    elif related or others:
        show(links_table(note_id, related + others, {note.id: note for note in around.notes}))
    else:
        show("No links.")


@app.command(epilog="Example: graphmem history n42")
def history(
    note_id: NoteId,
    url: Url = None,
    namespace: Namespace = DEFAULT_NAMESPACE,
    as_json: AsJson = False,
) -> None:
    """List every change of a note since it was added, with what was before and after."""
    from graphmem.interfaces.render import events_view

    with opened(url, namespace) as memory:
        events = memory.history(note_id)
    show_json(events) if as_json else show(events_view(events))


@app.command(epilog="Example: graphmem stats --url neo4j://localhost:7687 --namespace ada")
def stats(
    url: Url = None,
    namespace: Namespace = DEFAULT_NAMESPACE,
    as_json: AsJson = False,
) -> None:
    """Count the notes, links, sources, events and recalls of a namespace."""
    from graphmem.interfaces.render import stats_table

    with opened(url, namespace) as memory:
        counts = memory.stats()
    show_json(counts) if as_json else show(stats_table(counts))


@app.command(epilog="Example: graphmem namespaces")
def namespaces(
    url: Url = None,
    namespace: Namespace = DEFAULT_NAMESPACE,
    as_json: AsJson = False,
) -> None:
    """List the namespaces of the store that hold a note."""
    from graphmem.interfaces.console import safe

    with opened(url, namespace) as memory:
        names = memory.namespaces()
    if as_json:
        show_json(names)
    else:
        show(*(safe(name) for name in names))


@app.command(epilog="Example: graphmem check --repair")
def check(
    repair: Annotated[bool, typer.Option("--repair", help="Mend what can be mended.")] = False,
    embeddings: Annotated[
        bool, typer.Option("--embeddings", help="Embed every text anew and compare.")
    ] = False,
    url: Url = None,
    namespace: Namespace = DEFAULT_NAMESPACE,
    as_json: AsJson = False,
) -> None:
    """Compare the parts of the store with each other; exit code 1 when something is wrong."""
    from graphmem.interfaces.render import check_text

    with opened(url, namespace) as memory:
        report = memory.check(repair=repair, embeddings=embeddings)
    show_json(report) if as_json else show(check_text(report))
    if not report.ok:
        raise typer.Exit(1)
