"""Commands for what is derived from notes: summarise, rebuild."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from graphmem.interfaces.console import progress_bar, safe, show, show_json
from graphmem.interfaces.options import DEFAULT_NAMESPACE, AsJson, Namespace, Url, opened

if TYPE_CHECKING:
    from graphmem.memory.deriving import RebuildReport

app = typer.Typer(add_completion=False, rich_markup_mode="markdown")


@app.command(
    epilog="Example: graphmem summarise --source chat-7    or: graphmem summarise --tag trip"
)
def summarise(
    source: Annotated[str | None, typer.Option(help="Summarise the notes of this source.")] = None,
    tag: Annotated[str | None, typer.Option(help="Summarise the notes with this tag.")] = None,
    sentences: Annotated[int, typer.Option(min=1, help="How many at most.")] = 5,
    url: Url = None,
    namespace: Namespace = DEFAULT_NAMESPACE,
    as_json: AsJson = False,
) -> None:
    """Summarise a source, or all notes with a tag, as a note that knows what it was made of."""
    if (source is None) == (tag is None):
        raise typer.BadParameter("give one of the two", param_hint="--source / --tag")
    with opened(url, namespace) as memory:
        summary = memory.summarise(source=source, tag=tag, sentences=sentences)
    if as_json:
        show_json(summary)
    else:
        lines = summary.content.splitlines()
        show(*map(safe, lines), f"kept as {summary.id} (revision {summary.revision})")


@app.command(epilog="Example: graphmem rebuild --plan    then: graphmem rebuild")
def rebuild(
    plan: Annotated[
        bool, typer.Option("--plan", help="Only show what is out of date, and why.")
    ] = False,
    embeddings: Annotated[
        bool, typer.Option("--embeddings", help="Embed every text anew and compare.")
    ] = False,
    url: Url = None,
    namespace: Namespace = DEFAULT_NAMESPACE,
    as_json: AsJson = False,
) -> None:
    """Make again what was derived and is out of date: parts of notes, and summaries.

    Summaries whose notes, links, model or settings changed; keywords, tags, context and terms
    that this version makes otherwise; reasons for SUPERSEDES that no longer hold. An
    interrupted rebuild goes on where it stopped when it is called again.
    """
    with opened(url, namespace) as memory, progress_bar("rebuilding") as progress:
        report = memory.rebuild(plan=plan, progress=progress, embeddings=embeddings)
    show_json(report) if as_json else show(*_lines(report, plan=plan))


def _lines(report: RebuildReport, *, plan: bool) -> list[str]:
    lines = [safe(f"{item.action}: {item.output_id} ({item.reason})") for item in report.stale]
    current = len(report.decisions) + len(report.parts) - len(report.stale)
    lines.append(f"{current} of {len(report.decisions)} summaries were up to date")
    if not plan:
        lines.append(
            f"rebuilt {len(report.rebuilt)}; {len(report.unchanged)} came out as they were"
        )
        if report.renewed:
            lines.append(f"renewed parts of {len(report.renewed)} notes")
    return lines
