"""``graphmem eval answerability``: how well recall knows what it does not know."""

from __future__ import annotations

from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer

from graphmem.interfaces.console import progress_bar, show, show_json
from graphmem.interfaces.options import AsJson, ExplicitUrl


class AnswerabilityData(StrEnum):
    """Which data set PATH is."""

    locomo = "locomo"
    longmemeval = "longmemeval"


def answerability(
    dataset: Annotated[AnswerabilityData, typer.Argument(help="Which data set PATH is.")],
    path: Annotated[Path, typer.Argument(metavar="PATH", help="JSON or JSON lines, also .xz.")],
    corrections: Annotated[
        Path | None, typer.Option(metavar="PATH", help="Corrected evidence of LoCoMo's audit.")
    ] = None,
    model: Annotated[
        str | None, typer.Option("--model", metavar="NAME", help="Embedding model.")
    ] = None,
    cache: Annotated[
        Path | None,
        typer.Option("--cache", metavar="FILE", help="Keeps embeddings for the next run."),
    ] = None,
    url: ExplicitUrl = None,
    as_json: AsJson = False,
) -> None:
    """Measure how well recall tells questions it can answer from those it cannot.

    Asks the data set's own questions, and such that its memory cannot answer: about the
    other person, of another conversation, with the evidence taken away. Runs in memory; with
    --url in that store, in namespaces of its own that it removes again.
    """
    from graphmem.evaluation.answerability import (
        evaluate_locomo_answerability,
        evaluate_longmemeval_answerability,
    )
    from graphmem.evaluation.retrieval import Setting
    from graphmem.interfaces.answerability_view import answerability_view
    from graphmem.opening import MEMORY_URL
    from graphmem.settings import read_settings

    setting = Setting(
        url=MEMORY_URL if url is None else url,
        embedder=read_settings().embedder if model is None else model,
        cache=cache,
    )
    with progress_bar("questions asked") as bar:

        def progress(case: str, asked: int) -> None:
            bar(asked, None)

        if dataset is AnswerabilityData.locomo:
            found = evaluate_locomo_answerability(
                path, corrections=corrections, setting=setting, progress=progress
            )
        else:
            found = evaluate_longmemeval_answerability(path, setting=setting, progress=progress)
    show_json(found.to_json()) if as_json else show(answerability_view(found))
