"""The command that tells which models are in use and where their files are: models."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated

import typer

from graphmem.interfaces.options import AsJson

if TYPE_CHECKING:
    from graphmem.providers.model_status import ModelStatus
    from graphmem.settings import Settings

app = typer.Typer(add_completion=False, rich_markup_mode="markdown")


@app.command(epilog="Example: graphmem models    or: graphmem models --download")
def models(
    model: Annotated[
        str | None,
        typer.Option(
            metavar="NAME", envvar="GRAPHMEM_EMBEDDER", help="Embedding model; default: the usual."
        ),
    ] = None,
    download: Annotated[
        bool,
        typer.Option("--download", help="Fetch what is missing; the only use of the network."),
    ] = False,
    as_json: AsJson = False,
) -> None:
    """Tell which models are in use, where their files come from, and whether they are right.

    Exit code 1 when the embedding model cannot be loaded without the network.
    """
    from graphmem.interfaces.console import show, show_json
    from graphmem.providers.model_status import fetch_model, model_status
    from graphmem.settings import read_settings

    settings = read_settings()
    if download:
        fetch_model(model, model_dir=settings.model_dir)
    status = model_status(model, model_dir=settings.model_dir)
    asked = _language_model(settings)
    if as_json:
        show_json({"embedding": status, "language_model": asked})
    else:
        show(*_lines(status), f"language model: {_named(asked)}")
    if not status.ready:
        raise typer.Exit(1)


@dataclass(frozen=True, slots=True)
class Endpoint:
    """A language model and where it is asked, without user, password or key."""

    model: str
    url: str


def _language_model(settings: Settings) -> Endpoint | None:
    if settings.llm_url is None:
        return None
    from graphmem.providers.language import ChatModel, resolve_language_model

    chosen = resolve_language_model(None, url=settings.llm_url, model=settings.llm_model)
    return Endpoint(chosen.model_id, chosen.endpoint) if isinstance(chosen, ChatModel) else None


def _named(asked: Endpoint | None) -> str:
    if asked is None:
        return "none, and none is needed (GRAPHMEM_LLM_URL is not set)"
    return f"{asked.model} at {asked.url}"


def _lines(status: ModelStatus) -> list[str]:
    length = "" if status.dimension is None else f", {status.dimension} numbers a vector"
    lines = [f"embedding model: {status.model_id}{length}"]
    lines += [
        f"  {'->' if place.origin == status.source else '  '} {place.origin}: {place.state}"
        f" ({place.path})"
        for place in status.places
    ]
    if status.advice:
        lines.append(f"  {status.advice}")
    return lines
