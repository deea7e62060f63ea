"""Commands that measure: retrieval on public data sets, and speed."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, TypeAlias

import typer

from graphmem.evaluation.benchmark.parts import DEFAULT_PARTS, Part
from graphmem.interfaces.cli_answerability import answerability
from graphmem.interfaces.console import progress_bar, show, show_json
from graphmem.interfaces.options import AsJson, ExplicitUrl

if TYPE_CHECKING:
    from graphmem.evaluation.report import RetrievalReport
    from graphmem.evaluation.retrieval import Setting

app = typer.Typer(
    no_args_is_help=True,
    help="Measure retrieval on public data sets.",
    add_completion=False,
    rich_markup_mode="markdown",
)
bench_app = typer.Typer(add_completion=False, rich_markup_mode="markdown")
app.command(epilog="Example: graphmem eval answerability locomo locomo10.json --json")(
    answerability
)

DataFile: TypeAlias = Annotated[
    Path, typer.Argument(metavar="PATH", help="The data set, as JSON or JSON.xz.")
]
PolicyName: TypeAlias = Annotated[
    str | None, typer.Option("--policy", metavar="NAME", help="Ranking policy.")
]
ModelName: TypeAlias = Annotated[
    str | None, typer.Option("--model", metavar="NAME", help="Embedding model.")
]
Diagnosed: TypeAlias = Annotated[
    bool, typer.Option("--questions", help="Also show where the gold of every question stands.")
]
CacheFile: TypeAlias = Annotated[
    Path | None, typer.Option("--cache", metavar="FILE", help="Keeps embeddings for the next run.")
]


class Level(StrEnum):
    """What is ranked."""

    note = "note"
    source = "source"


@app.command(
    epilog="Example: graphmem eval locomo locomo10.json --corrections corrections.json --json"
)
def locomo(
    path: DataFile,
    corrections: Annotated[
        Path | None, typer.Option(metavar="PATH", help="Corrected evidence of the public audit.")
    ] = None,
    policy: PolicyName = None,
    model: ModelName = None,
    cache: CacheFile = None,
    url: ExplicitUrl = None,
    questions: Diagnosed = False,
    as_json: AsJson = False,
) -> None:
    """Measure on LoCoMo how often the turns that hold the answer are found.

    Runs in memory; with --url in that store, in namespaces of its own that it removes
    again.
    """
    from graphmem.evaluation.retrieval import evaluate_locomo

    with _progress() as progress:
        report = evaluate_locomo(
            path,
            corrections=corrections,
            setting=_setting(url, policy, model, cache),
            progress=progress,
        )
    _show(report, as_json, questions)


@app.command(epilog="Example: graphmem eval longmemeval longmemeval_s.json --level source --json")
def longmemeval(
    path: DataFile,
    level: Annotated[Level, typer.Option(help="Rank sessions or turns.")] = Level.source,
    question: Annotated[
        list[str] | None, typer.Option(metavar="ID", help="Ask only this one; repeat for more.")
    ] = None,
    policy: PolicyName = None,
    model: ModelName = None,
    cache: CacheFile = None,
    url: ExplicitUrl = None,
    questions: Diagnosed = False,
    as_json: AsJson = False,
) -> None:
    """Measure on LongMemEval how often the sessions or turns that answer are found.

    Runs in memory; with --url in that store, in namespaces of its own that it removes
    again.
    """
    from graphmem.evaluation.retrieval import evaluate_longmemeval

    with _progress() as progress:
        report = evaluate_longmemeval(
            path,
            level="note" if level is Level.note else "source",
            questions=question or None,
            setting=_setting(url, policy, model, cache),
            progress=progress,
        )
    _show(report, as_json, questions or bool(question))


class LinkData(StrEnum):
    """What a data set for links is."""

    longmemeval = "longmemeval"
    locomo = "locomo"
    multihop = "multihop"


@app.command(epilog="Example: graphmem eval links multihop.tar.xz --json")
def links(
    path: Annotated[
        Path,
        typer.Argument(
            metavar="PATH",
            help="LongMemEval, LoCoMo, MuSiQue or HotpotQA: JSON, JSON lines, .xz or .tar.xz.",
        ),
    ],
    kind: Annotated[
        LinkData | None, typer.Option(help="What PATH is; default: told by its shape.")
    ] = None,
    corrections: Annotated[
        Path | None, typer.Option(metavar="PATH", help="Corrected evidence, for LoCoMo.")
    ] = None,
    policy: PolicyName = None,
    model: ModelName = None,
    cache: CacheFile = None,
    url: ExplicitUrl = None,
    as_json: AsJson = False,
) -> None:
    """Measure how many links are right and how many are missing, beside plain references.

    Links between a question and what answers it, and between sources or passages that one
    question needs together. Runs in memory; with --url in that store, in namespaces of its own
    that it removes again.
    """
    from graphmem.evaluation.links.measuring import evaluate_links
    from graphmem.interfaces.links_view import links_view

    with _progress() as progress:
        report = evaluate_links(
            path,
            kind=None if kind is None else kind.value,
            corrections=corrections,
            setting=_setting(url, policy, model, cache),
            progress=progress,
        )
    show_json(report.to_json()) if as_json else show(links_view(report))


@bench_app.command(epilog="Example: graphmem bench --size 1000 --size 10000 --json")
def bench(
    size: Annotated[
        list[int] | None,
        typer.Option(min=1, metavar="NOTES", help="How many notes; repeat for more."),
    ] = None,
    url: Annotated[
        str | None,
        typer.Option(metavar="URL", help="A Neo4j server to measure: neo4j://... or bolt://..."),
    ] = None,
    part: Annotated[
        list[Part] | None,
        typer.Option(help="What to measure; repeat for more. Default: all but peers."),
    ] = None,
    peers: Annotated[
        bool,
        typer.Option("--peers", help="Also measure engrama, or with --url neo4j-graphrag."),
    ] = False,
    as_json: AsJson = False,
) -> None:
    """Measure speed as ratios to a bare limit of the same run; embedding stands apart.

    Works in a temporary folder, or with --url in namespaces of its own on a server. Give it
    a quiet machine.
    """
    from graphmem.evaluation.benchmark.measurement import DEFAULT_SIZES
    from graphmem.evaluation.benchmark.running import run_benchmark
    from graphmem.interfaces.evaluation_view import benchmark_view

    sizes = tuple(size) if size else DEFAULT_SIZES
    named = part or list(DEFAULT_PARTS)
    if peers and Part.PEERS not in named:
        named.append(Part.PEERS)
    with progress_bar("steps measured") as progress:
        report = run_benchmark(sizes, url=url, parts=named, progress=progress)
    show_json(report) if as_json else show(benchmark_view(report))


@contextmanager
def _progress() -> Iterator[Callable[[str, int], None]]:
    with progress_bar("questions answered") as report:
        yield lambda case, answered: report(answered, None)


def _setting(url: str | None, policy: str | None, model: str | None, cache: Path | None) -> Setting:
    from graphmem.evaluation.retrieval import Setting
    from graphmem.opening import MEMORY_URL
    from graphmem.settings import read_settings

    return Setting(
        url=MEMORY_URL if url is None else url,
        policy=policy,
        embedder=read_settings().embedder if model is None else model,
        cache=cache,
    )


def _show(report: RetrievalReport, as_json: bool, questions: bool) -> None:
    from graphmem.interfaces.evaluation_view import retrieval_view

    if as_json:
        show_json(report.to_json())
    else:
        show(retrieval_view(report, questions=questions))
