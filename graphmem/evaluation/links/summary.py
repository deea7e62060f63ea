"""From judged pairs to the figures of a report."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np

from graphmem.evaluation.links.curve import (
    JudgedLinks,
    Resamples,
    f1_difference,
    interval,
    joined,
    mean_quality,
    quality,
    resamples_of,
)
from graphmem.evaluation.links.report import LinkComparison, LinkMeasure, LinkTask

CURVE = tuple(round(0.05 * step, 2) for step in range(1, 20))
"""Thresholds a curve is reported at, beside the default one."""


@dataclass(slots=True)
class Tally:
    """The judged pairs of one kind of link, case by case, by the way they were scored."""

    name: str
    level: str = ""
    parts: dict[str, list[JudgedLinks]] = field(default_factory=dict)

    def add(self, level: str, scored: Mapping[str, JudgedLinks]) -> None:
        """Add what one case gave."""
        self.level = level
        for name, links in scored.items():
            self.parts.setdefault(name, []).append(links)


def summarise_task(tally: Tally, thresholds: Mapping[str, float]) -> LinkTask | None:
    """Return a task's figures, or ``None`` when no pair of it belongs together.

    The first measure is compared with the others.
    """
    judged = {name: joined(parts) for name, parts in tally.parts.items()}
    if not judged or not any(links.gold.any() for links in judged.values()):
        return None
    names = list(judged)
    first = judged[names[0]]
    resamples = resamples_of(first.count)
    return LinkTask(
        name=tally.name,
        level=tally.level,
        groups=first.count,
        pairs=len(first.gold),
        gold=int(first.gold.sum()),
        measures=tuple(
            measure(name, links, thresholds[name], resamples) for name, links in judged.items()
        ),
        comparisons=tuple(
            _comparison((names[0], other), judged, thresholds, resamples) for other in names[1:]
        ),
    )


def measure(name: str, links: JudgedLinks, threshold: float, resamples: Resamples) -> LinkMeasure:
    """Return the figures of one way to score pairs."""
    best = links.best_threshold(np.ones(links.count, dtype=np.bool_))
    grid = sorted({*CURVE, threshold})
    return LinkMeasure(
        name=name,
        default=quality(links.counts(threshold), resamples, threshold),
        by_question=mean_quality(links.counts(threshold), threshold, resamples),
        best=quality(links.counts(best), resamples, best if np.isfinite(best) else None),
        held_out=quality(links.held_out_counts(), resamples, None),
        average_precision=interval(links.average_precisions(resamples)),
        curve=tuple(quality(links.counts(at), resamples, at) for at in grid),
    )


def _comparison(
    pair: Sequence[str],
    judged: Mapping[str, JudgedLinks],
    thresholds: Mapping[str, float],
    resamples: Resamples,
) -> LinkComparison:
    mine, theirs = (judged[name] for name in pair)
    at_default = [judged[name].counts(thresholds[name]) for name in pair]
    held_out = [links.held_out_counts() for links in (mine, theirs)]
    return LinkComparison(
        measure=pair[0],
        reference=pair[1],
        f1=f1_difference(at_default[0], at_default[1], resamples),
        held_out_f1=f1_difference(held_out[0], held_out[1], resamples),
        average_precision=interval(
            mine.average_precisions(resamples) - theirs.average_precisions(resamples)
        ),
    )
