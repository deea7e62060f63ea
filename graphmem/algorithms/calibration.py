"""Link thresholds for an embedding model: from random pairs of notes, or from labelled pairs.

A cosine means something else in every model: 0.72 is far apart for one whose random texts
stand at 0.05 and close to nothing for one whose random texts stand at 0.75.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from graphmem.errors import InvalidInput
from graphmem.policy import DEFAULT_POLICY, LinkPolicy

UNRELATED_SHARE = 0.998
"""Share of random pairs of notes below 0.72 under the default model.

Measured on development data: 0.9966 of the pairs of turns within a haystack of LongMemEval_S,
0.9990 within a conversation of LoCoMo. The same share proposes the threshold of another model.
"""

EVOLUTION_DISTANCE = (1.0 - 0.91) / (1.0 - 0.72)
"""How much of the distance from the link threshold to 1 the evolution threshold keeps."""

EVOLUTION_PRECISION = 0.95
"""Precision from which labelled pairs may evolve."""

MIN_PAIRS = 100
"""Fewer random pairs say too little about a tail."""


@dataclass(frozen=True, slots=True)
class Calibration:
    """Proposed thresholds and how they were got.

    Attributes
    ----------
    policy
        The proposal; everything but the thresholds is as it was given.
    method
        ``random-pairs`` or ``labelled-pairs``.
    pairs, related
        Pairs looked at, and how many of them were labelled as related (0 for random pairs).
    linked
        Share of those pairs at or above the link threshold.
    f1
        F1 on the labelled pairs at the link threshold; ``None`` for random pairs.
    reason
        The steps in words.
    """

    policy: LinkPolicy
    method: str
    pairs: int
    related: int
    linked: float
    f1: float | None
    reason: str


def calibrate_from_random_pairs(
    cosines: ArrayLike,
    *,
    unrelated_share: float = UNRELATED_SHARE,
    policy: LinkPolicy = DEFAULT_POLICY.links,
) -> Calibration:
    r"""Propose thresholds from cosines of random pairs of notes, which are hardly ever related.

    The link threshold is the quantile of `unrelated_share`; the evolution threshold keeps the
    proportion of the defaults:

    .. math:: t_{evolve} = 1 - \frac{1 - 0.91}{1 - 0.72}\,(1 - t_{link})

    Parameters
    ----------
    cosines
        Raw cosines, shape (n,), n >= 100.
    unrelated_share
        Share of the pairs that shall stay below the link threshold, in (0, 1).

    Raises
    ------
    InvalidInput
        Too few pairs, a cosine that is not in [-1, 1], or a share outside (0, 1).

    Examples
    --------
    >>> cosines = np.linspace(0.6, 0.9, 1001)
    >>> proposed = calibrate_from_random_pairs(cosines, unrelated_share=0.99).policy
    >>> round(proposed.link_threshold, 3), round(proposed.evolution_threshold, 3)
    (0.897, 0.967)
    """
    values = _checked(cosines)
    if len(values) < MIN_PAIRS:
        raise InvalidInput(
            f"{len(values)} pairs are too few for a percentile, {MIN_PAIRS} are needed; "
            "add notes, or give labelled pairs"
        )
    if not 0.0 < unrelated_share < 1.0:
        raise InvalidInput(f"unrelated_share: {unrelated_share!r} lies outside (0, 1)")
    link = float(np.clip(np.quantile(values, unrelated_share), 0.0, 1.0))
    evolution = 1.0 - EVOLUTION_DISTANCE * (1.0 - link)
    return Calibration(
        policy=_with(policy, link, evolution),
        method="random-pairs",
        pairs=len(values),
        related=0,
        linked=float(np.mean(values >= link)),
        f1=None,
        reason=(
            f"{unrelated_share:.2%} of {len(values)} random pairs of notes lie below the link "
            "threshold, as with the default model; the evolution threshold keeps the "
            "proportion of 0.91 to 0.72"
        ),
    )


def calibrate_from_labelled_pairs(
    cosines: ArrayLike,
    related: ArrayLike,
    *,
    evolution_precision: float = EVOLUTION_PRECISION,
    policy: LinkPolicy = DEFAULT_POLICY.links,
) -> Calibration:
    """Propose thresholds from pairs somebody labelled as related or not.

    The link threshold has the highest F1, the lower one of equals; the evolution threshold is
    the lowest at or above it from which on up precision reaches `evolution_precision`, or the
    proportion of the defaults where none does.

    Parameters
    ----------
    cosines, related
        Raw cosine of each pair and whether it is related, shape (n,).

    Raises
    ------
    InvalidInput
        Lengths differ, only one kind of label, or a value out of range.

    Examples
    --------
    >>> made = calibrate_from_labelled_pairs([0.95, 0.9, 0.85, 0.3], [True, True, False, False])
    >>> made.policy.link_threshold, made.policy.evolution_threshold, made.f1
    (0.9, 0.9, 1.0)
    """
    values, labels = _checked(cosines), np.asarray(related, dtype=np.bool_)
    if labels.shape != values.shape:
        raise InvalidInput(f"{len(values)} cosines, but {labels.size} labels")
    if labels.all() or not labels.any():
        raise InvalidInput("labelled pairs must hold related and unrelated ones")
    if not 0.0 < evolution_precision <= 1.0:
        raise InvalidInput(f"evolution_precision: {evolution_precision!r} lies outside (0, 1]")
    steps, precision, f1 = _curve(np.clip(values, 0.0, 1.0), labels)
    best = int(np.flatnonzero(f1 == f1.max())[0])
    link = float(steps[best])
    precise = [step for step, p in zip(steps, precision, strict=True) if p >= evolution_precision]
    above = [float(step) for step in precise if step >= link]
    evolution = min(above) if above else 1.0 - EVOLUTION_DISTANCE * (1.0 - link)
    return Calibration(
        policy=_with(policy, link, evolution),
        method="labelled-pairs",
        pairs=len(values),
        related=int(labels.sum()),
        linked=float(np.mean(values >= link)),
        f1=float(f1[best]),
        reason=(
            f"F1 of {len(values)} labelled pairs ({int(labels.sum())} related) is highest at "
            "the link threshold; "
            + (
                f"precision reaches {evolution_precision:.0%} at the evolution threshold"
                if above
                else "no threshold is precise enough to evolve, so the evolution threshold keeps "
                "the proportion of 0.91 to 0.72"
            )
        ),
    )


def _curve(
    values: NDArray[np.float64], labels: NDArray[np.bool_]
) -> tuple[NDArray[np.float64], NDArray[np.float64], NDArray[np.float64]]:
    """Return rising thresholds with precision and F1 at each."""
    steps = np.unique(values)
    linked = np.array([np.sum(values >= step) for step in steps])
    found = np.array([np.sum(labels & (values >= step)) for step in steps])
    return steps, found / linked, 2 * found / (linked + labels.sum())


def _checked(cosines: ArrayLike) -> NDArray[np.float64]:
    values = np.asarray(cosines, dtype=np.float64)
    if values.ndim != 1 or not np.isfinite(values).all() or (np.abs(values) > 1.001).any():
        raise InvalidInput("cosines must be a list of numbers in [-1, 1]")
    return values


def _with(policy: LinkPolicy, link: float, evolution: float) -> LinkPolicy:
    # Thresholds are inclusive: rounded down, the pair that set one is still linked.
    low, high = (math.floor(value * 1e6) / 1e6 for value in (link, max(link, evolution)))
    return LinkPolicy(**{**policy.model_dump(), "link_threshold": low, "evolution_threshold": high})
