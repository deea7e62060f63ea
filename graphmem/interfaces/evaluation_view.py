"""Evaluation reports as tables for a terminal."""

from __future__ import annotations

from rich.console import Group, RenderableType
from rich.table import Table
from rich.text import Text

from graphmem.evaluation.benchmark.measurement import BenchmarkReport
from graphmem.evaluation.metrics import Interval
from graphmem.evaluation.report import CUTS, DIAGNOSED, Category, Recall, RetrievalReport
from graphmem.interfaces.render import plain_table


def retrieval_view(report: RetrievalReport, *, questions: bool = False) -> RenderableType:
    """Return recall at each k, by ranker and by category, differences and answerability.

    With `questions` the diagnosis of every question comes first.
    """
    by_ranker = _table("Recall: any / evidence / complete (all)")
    for ranker in report.rankers:
        _row(by_ranker, ranker.name, ranker.overall)
    by_category = _table(f"{report.policy} by category")
    for category in report.rankers[0].categories:
        _row(by_category, category.name, category)
    return Group(
        _head(report),
        *([_diagnoses(report)] if questions else []),
        by_ranker,
        by_category,
        _comparisons(report),
        _incomplete(report),
        _answerability(report),
    )


def _head(report: RetrievalReport) -> Text:
    return Text(
        f"{report.dataset}, ranked by {report.level}: {report.questions} questions, "
        f"{report.with_gold} count for recall. Policy {report.policy}, model {report.model}, "
        f"graphmem {report.version}, {report.seconds:.0f} s."
    )


def _table(title: str) -> Table:
    table = plain_table("", title=title)
    for column in ("Questions", *(f"at {cut}" for cut in CUTS)):
        table.add_column(column, justify="right", no_wrap=True)
    return table


def _row(table: Table, label: str, category: Category) -> None:
    cells = [_recall(category.recall[cut]) for cut in CUTS] if category.questions else []
    table.add_row(label, str(category.questions), *cells)


def _recall(recall: Recall) -> str:
    """Render three shares without their leading zero: ``.876/.809/.745``."""
    parts = (recall.any, recall.evidence, recall.complete)
    return "/".join(f"{part:.3f}".removeprefix("0") for part in parts)


def _diagnoses(report: RetrievalReport) -> Table:
    """Return one row a question and ranker: what kind it is and where its gold stands."""
    table = plain_table("Question", "Type", title="Question by question")
    table.add_column("Gold", justify="right")
    table.add_column("Ranker")
    table.add_column("Gold ranks")
    table.add_column(f"any@{DIAGNOSED}", justify="right")
    table.add_column(f"all@{DIAGNOSED}", justify="right")
    for result in report.results:
        head = [result.id, result.category, str(result.gold)]
        for ranker in result.ranks:
            found = result.diagnosis(ranker)
            recalls = ["-" if value is None else f"{value:.1f}" for value in (found.any, found.all)]
            table.add_row(*head, ranker, ", ".join(found.shown) or "-", *recalls)
            head = ["", "", ""]
    return table


def _comparisons(report: RetrievalReport) -> Table:
    """Return the policy's lead over each reference with its interval."""
    table = plain_table("", title=f"{report.policy} minus a reference [95 % paired bootstrap]")
    measures = list(dict.fromkeys((c.measure, c.k) for c in report.comparisons))
    for measure, k in measures:
        table.add_column(f"{measure}@{k}", justify="right", no_wrap=True)
    for reference in dict.fromkeys(c.reference for c in report.comparisons):
        cells = [_interval(c.difference) for c in report.comparisons if c.reference == reference]
        table.add_row(reference, *cells)
    return table


def _interval(difference: Interval) -> str:
    return f"{difference.mean:+.3f} [{difference.low:+.3f}, {difference.high:+.3f}]"


def _incomplete(report: RetrievalReport) -> Text:
    ids = report.incomplete
    return Text(
        f"Something, but not everything, among the first {DIAGNOSED} (any 1, all 0): "
        f"{len(ids)} questions{': ' if ids else '.'}{', '.join(ids)}",
        style="dim",
    )


def _answerability(report: RetrievalReport) -> Text:
    if report.answerability_auroc is None:
        return Text("Answerability: the data set has no unanswerable question.", style="dim")
    return Text(
        f"Answerability: AUROC {report.answerability_auroc:.3f} with {report.unanswerable} "
        "unanswerable questions."
    )


def benchmark_view(report: BenchmarkReport) -> RenderableType:
    """Return one row a measurement, with the bare limit it is compared with."""
    table = plain_table("What", "Store")
    table.add_column("Notes", justify="right")
    table.add_column("Measured", justify="right")
    table.add_column("Bare", justify="right")
    table.add_column("Ratio", justify="right", style="bold")
    table.add_column("Compared with")
    for line in report.measurements:
        table.add_row(
            line.what,
            line.store,
            f"{line.notes:,}",
            f"{line.measured:,.2f} {line.unit}",
            f"{line.bare:,.2f} {line.unit}",
            f"{line.ratio:.2f}",
            line.limit,
        )
    return Group(Text(report.machine, style="dim"), table)
