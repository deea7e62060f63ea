"""Commands that change notes: add, feedback, archive, restore, undo, erase, maintain, reindex."""

from __future__ import annotations

import json
import sys
from datetime import datetime
from typing import Annotated

import typer

from graphmem.interfaces.console import progress_bar, show, show_json
from graphmem.interfaces.options import (
    DEFAULT_NAMESPACE,
    AsJson,
    Namespace,
    Url,
    moment_option,
    opened,
)

app = typer.Typer(add_completion=False, rich_markup_mode="markdown")

NoteId = Annotated[str, typer.Argument(metavar="ID", help="Id of the note.")]


@app.command(
    epilog='Example: graphmem add "Ada prefers aisle seats" --author Ada --source chat-7 '
    "--position 3"
)
def add(
    content: Annotated[str, typer.Argument(metavar="TEXT", help="The note; - reads stdin.")],
    note_id: Annotated[
        str | None, typer.Option("--id", help="Id; derived from the text when not given.")
    ] = None,
    source: Annotated[str | None, typer.Option(help="Conversation or document it is of.")] = None,
    position: Annotated[int | None, typer.Option(help="Place in the source.")] = None,
    role: Annotated[str, typer.Option(help="user, assistant, or another role.")] = "user",
    author: Annotated[str | None, typer.Option(help="Who wrote or said it.")] = None,
    created_at: Annotated[
        datetime | None, moment_option("--created-at", "When it was written; default: now.")
    ] = None,
    keyword: Annotated[list[str] | None, typer.Option(help="Instead of derived ones.")] = None,
    tag: Annotated[list[str] | None, typer.Option(help="Instead of derived ones.")] = None,
    context: Annotated[str | None, typer.Option(help="One sentence about the note.")] = None,
    importance: Annotated[
        float | None, typer.Option(min=0.0, max=1.0, help="Instead of the computed one.")
    ] = None,
    metadata: Annotated[
        str | None, typer.Option(metavar="JSON", help="A JSON object of your own fields.")
    ] = None,
    url: Url = None,
    namespace: Namespace = DEFAULT_NAMESPACE,
    as_json: AsJson = False,
) -> None:
    """Add a note; it is linked to similar ones, and near-identical neighbours evolve."""
    if position is not None and source is None:
        raise typer.BadParameter("needs --source", param_hint="--position")
    text = sys.stdin.read().rstrip("\n") if content == "-" else content
    own_fields = _object(metadata)
    from graphmem.interfaces.render import receipt_text
    from graphmem.model import Source

    with opened(url, namespace, new=True) as memory:
        receipt = memory.add(
            text,
            id=note_id,
            source=None if source is None else Source(source, position=position),
            role=role,
            author=author,
            created_at=created_at,
            keywords=keyword or None,
            tags=tag or None,
            context=context,
            importance=importance,
            metadata=own_fields,
        )
    show_json(receipt) if as_json else show(receipt_text(receipt))


def _object(text: str | None) -> dict[str, object] | None:
    if text is None:
        return None
    try:
        value = json.loads(text)
    except json.JSONDecodeError as error:
        raise typer.BadParameter(f"is not JSON: {error}", param_hint="--metadata") from error
    if not isinstance(value, dict):
        raise typer.BadParameter("must be a JSON object", param_hint="--metadata")
    return value


@app.command(
    epilog="Example: graphmem feedback n42 up",
)
def feedback(
    note_id: NoteId,
    signal: Annotated[str, typer.Argument(metavar="up|down", help="Was the note useful?")],
    url: Url = None,
    namespace: Namespace = DEFAULT_NAMESPACE,
    as_json: AsJson = False,
) -> None:
    """Say that a note was useful (up) or not (down); changes its ranked importance."""
    steps = {"up": 1, "down": -1}
    if signal not in steps:
        raise typer.BadParameter("must be up or down", param_hint="SIGNAL")
    with opened(url, namespace) as memory:
        note = memory.feedback(note_id, steps[signal])
    show_json(note) if as_json else show(f"feedback of {note.id} is now {note.feedback:+d}")


@app.command(epilog="Example: graphmem archive n42")
def archive(
    note_id: NoteId,
    url: Url = None,
    namespace: Namespace = DEFAULT_NAMESPACE,
    as_json: AsJson = False,
) -> None:
    """Hide a note from recall and linking until it is restored; nothing is lost."""
    with opened(url, namespace) as memory:
        note = memory.archive(note_id)
    show_json(note) if as_json else show(f"archived {note.id}")


@app.command(epilog="Example: graphmem restore n42")
def restore(
    note_id: NoteId,
    url: Url = None,
    namespace: Namespace = DEFAULT_NAMESPACE,
    as_json: AsJson = False,
) -> None:
    """Bring an archived note back."""
    with opened(url, namespace) as memory:
        note = memory.restore(note_id)
    show_json(note) if as_json else show(f"restored {note.id}")


@app.command(epilog="Example: graphmem undo n42@3    (the ids are listed by: graphmem history n42)")
def undo(
    event_id: Annotated[str, typer.Argument(metavar="EVENT", help="Id of the event.")],
    url: Url = None,
    namespace: Namespace = DEFAULT_NAMESPACE,
    as_json: AsJson = False,
) -> None:
    """Bring a note back to its state before an event."""
    from graphmem.interfaces.render import event_view

    with opened(url, namespace) as memory:
        event = memory.undo(event_id)
    show_json(event) if as_json else show(event_view(event))


@app.command(
    epilog="Example: graphmem erase n42    or: graphmem erase --source chat-7    "
    "or: graphmem erase --everything --yes"
)
def erase(
    note_id: Annotated[str | None, typer.Argument(metavar="[ID]", help="Id of the note.")] = None,
    source: Annotated[str | None, typer.Option(help="Erase every note of this source.")] = None,
    everything: Annotated[
        bool, typer.Option("--everything", help="Erase the whole namespace.")
    ] = False,
    yes: Annotated[bool, typer.Option("--yes", "-y", help="Do not ask.")] = False,
    url: Url = None,
    namespace: Namespace = DEFAULT_NAMESPACE,
    as_json: AsJson = False,
) -> None:
    """Remove notes for good, with their links, events and what evolution carried on.

    Unlike archive this cannot be undone. The receipt tells what was removed and that
    nothing answers any more.
    """
    if sum((note_id is not None, source is not None, everything)) != 1:
        raise typer.BadParameter("give one of ID, --source or --everything", param_hint="ID")
    if everything and not yes:
        _confirm(f"Erase every note of namespace {namespace!r}?")
    from graphmem.interfaces.render import erased_text

    with opened(url, namespace) as memory:
        receipt = memory.erase(id=note_id, source=source, everything=everything)
    show_json(receipt) if as_json else show(erased_text(receipt))
    if not receipt.verified:
        raise typer.Exit(1)


def _confirm(question: str) -> None:
    if not sys.stdin.isatty():
        raise typer.BadParameter("needs --yes when nobody can be asked", param_hint="--everything")
    typer.confirm(question, abort=True, err=True)


@app.command(epilog="Example: graphmem maintain --at 2025-07-01T00:00Z")
def maintain(
    at: Annotated[
        datetime | None, moment_option("--at", "Moment to compute for; default: now.")
    ] = None,
    url: Url = None,
    namespace: Namespace = DEFAULT_NAMESPACE,
    as_json: AsJson = False,
) -> None:
    """Let link weights follow their use, and list notes that could be archived."""
    from graphmem.interfaces.render import maintenance_text

    with opened(url, namespace) as memory:
        done = memory.maintain(at)
    show_json(done) if as_json else show(maintenance_text(done))


@app.command(
    epilog="Example: graphmem reindex --model sentence-transformers/all-MiniLM-L6-v2",
)
def reindex(
    model: Annotated[
        str | None, typer.Option(metavar="NAME", help="Embedding model; default: the default one.")
    ] = None,
    url: Url = None,
    namespace: Namespace = DEFAULT_NAMESPACE,
    as_json: AsJson = False,
) -> None:
    """Embed every note of every namespace of the store anew, with this or another model.

    Links and their cosines stay as they are; the old index answers until the new one is
    complete.
    """
    with opened(url, namespace) as memory:
        with progress_bar("embedding") as progress:
            count = memory.reindex(model, progress)
        used = memory.stats().model
    if as_json:
        show_json({"notes": count, "model": used})
    else:
        show(f"embedded {count} notes with {used.model_id if used else 'no model'}")
