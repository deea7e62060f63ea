"""What an evaluation of links found, as values that turn into JSON."""

from __future__ import annotations

from dataclasses import dataclass

from graphmem.evaluation.links.curve import Quality
from graphmem.evaluation.metrics import Interval
from graphmem.model import Json


@dataclass(frozen=True, slots=True)
class LinkMeasure:
    """How right the links of one way to score pairs are.

    Attributes
    ----------
    name
        The way to score: a reference says so in its name.
    default
        Micro-averaged quality at the threshold that way uses.
    by_question
        Mean precision and mean recall of the questions at the same threshold, and the F1 of
        the two means; a question without any link has precision 0.
    best
        At the threshold of the highest F1 on this very data: a fitted figure.
    held_out
        At thresholds chosen on the other questions (5 folds).
    average_precision
        Area under the precision-recall curve.
    curve
        Quality at rising thresholds.
    """

    name: str
    default: Quality
    by_question: Quality
    best: Quality
    held_out: Quality
    average_precision: Interval
    curve: tuple[Quality, ...]

    def to_json(self) -> Json:
        """Return every figure with its interval."""
        return {
            "default": quality_json(self.default),
            "by_question": quality_json(self.by_question),
            "best": quality_json(self.best),
            "held_out": quality_json(self.held_out),
            "average_precision": interval_json(self.average_precision),
            "by_threshold": [quality_json(point) for point in self.curve],
        }


@dataclass(frozen=True, slots=True)
class LinkComparison:
    """Paired differences, the first measure minus another, with 95 % intervals.

    F1 is compared at the default thresholds and at thresholds chosen on other questions.
    """

    measure: str
    reference: str
    f1: Interval
    held_out_f1: Interval
    average_precision: Interval

    def to_json(self) -> Json:
        """Return the differences by name."""
        return {
            "measure": self.measure,
            "reference": self.reference,
            "f1": interval_json(self.f1),
            "held_out_f1": interval_json(self.held_out_f1),
            "average_precision": interval_json(self.average_precision),
        }


@dataclass(frozen=True, slots=True)
class LinkTask:
    """One kind of link, measured in several ways over the same pairs.

    Attributes
    ----------
    name
        ``questions``: a question and what answers it; ``pairs``: what one question needs
        together.
    groups
        What is resampled and held out: questions.
    pairs, gold
        Number of pairs, and how many of them belong together.
    """

    name: str
    level: str
    groups: int
    pairs: int
    gold: int
    measures: tuple[LinkMeasure, ...]
    comparisons: tuple[LinkComparison, ...]

    def measure(self, name: str) -> LinkMeasure:
        """Return the measure of that name; raises ``KeyError``."""
        for measure in self.measures:
            if measure.name == name:
                return measure
        raise KeyError(name)

    def to_json(self) -> Json:
        """Return the task as JSON."""
        return {
            "level": self.level,
            "groups": self.groups,
            "pairs": self.pairs,
            "gold": self.gold,
            "measures": {measure.name: measure.to_json() for measure in self.measures},
            "comparisons": [comparison.to_json() for comparison in self.comparisons],
        }


@dataclass(frozen=True, slots=True)
class LinkReport:
    """One evaluation of links; all but `seconds` is the same in every run."""

    dataset: str
    policy: str
    model: str
    version: str
    tasks: tuple[LinkTask, ...]
    seconds: float

    def task(self, name: str) -> LinkTask:
        """Return the task of that name; raises ``KeyError``."""
        for task in self.tasks:
            if task.name == name:
                return task
        raise KeyError(name)

    def to_json(self) -> dict[str, Json]:
        """Return everything as JSON values."""
        return {
            "dataset": self.dataset,
            "policy": self.policy,
            "model": self.model,
            "version": self.version,
            "tasks": {task.name: task.to_json() for task in self.tasks},
            "seconds": self.seconds,
        }


def interval_json(interval: Interval) -> Json:
    """Return a figure with its 95 % interval."""
    return {"value": interval.mean, "interval": [interval.low, interval.high]}


def quality_json(quality: Quality) -> Json:
    """Return precision, recall and F1 with the threshold they hold at."""
    return {
        "threshold": quality.threshold,
        "precision": interval_json(quality.precision),
        "recall": interval_json(quality.recall),
        "f1": interval_json(quality.f1),
    }
