"""Evaluation reports as tables for a terminal."""

from __future__ import annotations

from rich.console import Group, RenderableType
from rich.table import Table
from rich.text import Text

from graphmem.evaluation.benchmark import BenchmarkReport
from graphmem.evaluation.report import CUTS, Category, RetrievalReport
from graphmem.interfaces.render import plain_table

_CUT = 10
"""The k at which categories and rankers are compared."""


def retrieval_view(report: RetrievalReport) -> RenderableType:
    """Return recall at each k, by category, beside the references, and answerability."""
    policy = report.rankers[0]
    by_category = _table(f"By category, at {_CUT}")
    for category in policy.categories:
        _row(by_category, category.name, category, _CUT)
    by_ranker = _table(f"Beside plain references, at {_CUT}")
    for ranker in report.rankers:
        _row(by_ranker, ranker.name, ranker.overall, _CUT)
    overall = _table("Recall")
    for cut in CUTS:
        _row(overall, f"at {cut}", policy.overall, cut)
    return Group(_head(report), overall, by_category, by_ranker, _answerability(report))


def _head(report: RetrievalReport) -> Text:
    return Text(
        f"{report.dataset}, ranked by {report.level}: {report.questions} questions, "
        f"{report.with_gold} count for recall. Policy {report.policy}, model {report.model}, "
        f"graphmem {report.version}, {report.seconds:.0f} s."
    )


def _table(title: str) -> Table:
    table = plain_table("", title=title)
    for column in ("Questions", "any", "evidence", "complete"):
        table.add_column(column, justify="right")
    return table


def _row(table: Table, label: str, category: Category, cut: int) -> None:
    recall = category.recall[cut]
    values = (recall.any, recall.evidence, recall.complete)
    table.add_row(label, str(category.questions), *(f"{value:.3f}" for value in values))


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
    table.add_column("Measured ms", justify="right")
    table.add_column("Bare ms", justify="right")
    table.add_column("Ratio", justify="right", style="bold")
    table.add_column("Compared with")
    for line in report.measurements:
        table.add_row(
            line.what,
            line.store,
            f"{line.notes:,}",
            f"{line.measured_ms:.2f}",
            f"{line.bare_ms:.2f}",
            f"{line.ratio:.2f}",
            line.limit,
        )
    return Group(Text(report.machine, style="dim"), table)
