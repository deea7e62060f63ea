"""Reports on answerability as tables for a terminal."""

from __future__ import annotations

from rich.console import Group, RenderableType
from rich.table import Table
from rich.text import Text

from graphmem.evaluation.answerability import AnswerabilityReport
from graphmem.evaluation.metrics import Interval
from graphmem.interfaces.render import plain_table
from graphmem.model import Outcome


def answerability_view(found: AnswerabilityReport) -> RenderableType:
    """Return one row a kind of unanswerable question, the outcomes, and the calibration."""
    head = Text(
        f"{found.dataset}: {found.trials} questions asked. Evidence policy {found.policy}, model "
        f"{found.model}, graphmem {found.version}, {found.seconds:.0f} s."
    )
    return Group(head, _splits(found), _outcomes(found), _reliability(found), _supports(found))


def _splits(found: AnswerabilityReport) -> Table:
    table = plain_table("Answerable against", title="Does memory answer? [95 % bootstrap]")
    for column in ("Questions", "AUROC", "Average precision", "Calibration error"):
        table.add_column(column, justify="right")
    for row in found.splits:
        table.add_row(
            row.name,
            f"{row.answerable} / {row.unanswerable}",
            _interval(row.auroc),
            _interval(row.average_precision),
            f"{row.calibration_error:.3f}",
        )
    return table


def _outcomes(found: AnswerabilityReport) -> Table:
    table = plain_table("Asked", title="What was decided")
    decided = [o for o in Outcome if any(counts[o] for counts in found.outcomes.values())]
    for outcome in decided:
        table.add_column(str(outcome), justify="right")
    for name, counts in found.outcomes.items():
        table.add_row(name, *(str(counts[outcome]) for outcome in decided))
    return table


def _reliability(found: AnswerabilityReport) -> Table:
    table = plain_table(
        "Said", title=f"Reliability (calibration error {found.calibration_error:.3f})"
    )
    for column in ("Share of questions", "Mean said", "Answerable"):
        table.add_column(column, justify="right")
    for part in found.bins:
        table.add_row(
            f"{part.low:.1f} to {part.high:.1f}",
            f"{part.weight:.3f}",
            f"{part.predicted:.3f}",
            f"{part.observed:.3f}",
        )
    return table


def _supports(found: AnswerabilityReport) -> Text:
    if found.supports is None:
        return Text("Single notes: the data set names no gold notes.", style="dim")
    return Text(f"Which notes support an answer: average precision {_interval(found.supports)}.")


def _interval(interval: Interval) -> str:
    return f"{interval.mean:.3f} [{interval.low:.3f}, {interval.high:.3f}]"
