"""An evaluation of links as tables for a terminal."""

from __future__ import annotations

from rich.console import Group, RenderableType
from rich.table import Table
from rich.text import Text

from graphmem.evaluation.links.report import LinkComparison, LinkMeasure, LinkReport, LinkTask
from graphmem.evaluation.metrics import Interval
from graphmem.interfaces.render import plain_table

_TITLES = {
    "questions": "A question and what answers it",
    "pairs": "What one question needs together",
}


def links_view(report: LinkReport) -> RenderableType:
    """Return one table a kind of link, with the lead over each reference below it."""
    head = Text(
        f"{report.dataset}: links by policy {report.policy}, model {report.model}, "
        f"graphmem {report.version}, {report.seconds:.0f} s. Micro-averaged; 95 % intervals by "
        "question."
    )
    return Group(head, *(part for task in report.tasks for part in _task(task)))


def _task(task: LinkTask) -> list[RenderableType]:
    title = (
        f"{_TITLES[task.name]} ({task.level}s): {task.pairs:,} pairs, {task.gold} right, "
        f"{task.groups} questions"
    )
    table = plain_table("Scored by", title=title)
    for column in ("At", "Precision", "Recall", "F1", "F1 held out", "AP", "F1 by question"):
        table.add_column(column, justify="right")
    for measure in task.measures:
        _row(table, measure)
    return [table, *map(_lead, task.comparisons)]


def _row(table: Table, measure: LinkMeasure) -> None:
    at = measure.default
    table.add_row(
        measure.name,
        "" if at.threshold is None else f"{at.threshold:.2f}",
        f"{at.precision.mean:.3f}",
        f"{at.recall.mean:.3f}",
        _with_interval(at.f1),
        _with_interval(measure.held_out.f1),
        _with_interval(measure.average_precision),
        f"{measure.by_question.f1.mean:.3f}",
    )


def _lead(comparison: LinkComparison) -> Text:
    return Text(
        f"{comparison.measure} over {comparison.reference}: F1 {_signed(comparison.f1)}, "
        f"held out {_signed(comparison.held_out_f1)}, "
        f"average precision {_signed(comparison.average_precision)}",
        style="dim",
    )


def _with_interval(value: Interval) -> str:
    return f"{value.mean:.3f} [{value.low:.2f}, {value.high:.2f}]"


def _signed(value: Interval) -> str:
    return f"{value.mean:+.3f} [{value.low:+.3f}, {value.high:+.3f}]"
