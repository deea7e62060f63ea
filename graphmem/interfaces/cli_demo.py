"""The command that shows what graphmem does."""

from __future__ import annotations

import typer

from graphmem.interfaces.console import progress_bar, show, show_json
from graphmem.interfaces.options import (
    DEFAULT_NAMESPACE,
    AsJson,
    ExplicitUrl,
    Namespace,
    opened,
)

app = typer.Typer(add_completion=False, rich_markup_mode="markdown")

DEMO_FILE = "demo.graphmem"


@app.command(epilog="Example: graphmem demo    or: graphmem demo --url :memory:")
def demo(
    url: ExplicitUrl = None,
    namespace: Namespace = DEFAULT_NAMESPACE,
    as_json: AsJson = False,
) -> None:
    """Import a small corpus, show linking and evolution, and answer 40 questions.

    Writes ./demo.graphmem unless --url says otherwise. Running it again changes nothing.
    """
    from graphmem.demo.tour import fill, take_tour
    from graphmem.interfaces.demo_view import tour_view

    place = DEMO_FILE if url is None else url
    with opened(place, namespace, new=True) as memory:
        with progress_bar("importing the corpus") as progress:
            added = fill(memory, progress)
        tour = take_tour(memory, added)
    if as_json:
        show_json(tour)
        return
    show(tour_view(tour))
    if place != ":memory:":
        at = f"--url {place}"
        if namespace != DEFAULT_NAMESPACE:
            at += f" --namespace {namespace}"
        show("", f'Try: graphmem recall "what is Zoë allergic to?" {at}')
        if tour.evolution is not None:
            show(f"     graphmem history {tour.evolution.note.id} {at}")
