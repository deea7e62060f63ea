"""A note that supersedes another stands before it, when both answer about equally well."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np

from graphmem.algorithms.blending import Blend
from graphmem.algorithms.candidate_table import Column

COMPARABLE = 0.2
"""How much less similar to the question the newer note may be, in raw cosine.

Scores cannot say it: they are relative to the candidates. Two notes about one thing differ
by less; beyond it the newer note is about something else, too.
"""

PART = "superseding"
"""Name of the contribution that puts the newer note first."""


def newest_first(blend: Blend, cosines: Column, pairs: Iterable[tuple[int, int]]) -> Blend:
    r"""Raise each newer note just above the older one it supersedes.

    .. math:: s'_{new} = \max(s_{new}, \max\{s'_{old} : c_{old} - c_{new} \le 0.2\})

    The least step above the older score is added, so that no tie is left to the ids; all
    other notes keep their score.

    Parameters
    ----------
    blend
        The scores s of n candidates and their parts.
    cosines
        The cosines c of the candidates with the question, shape (n,).
    pairs
        Rows (newer, older) of the superseding pairs; an older note comes before those that
        supersede it in turn.

    Returns
    -------
    Blend
        The same when nothing moves; else with one contribution more, ``superseding``, so
        that the contributions still sum to the scores.

    Examples
    --------
    >>> blend = Blend(np.array([0.7, 0.8]), {"relevance": np.array([0.7, 0.8])}, {})
    >>> cosines = np.array([0.5, 0.6])
    >>> moved = newest_first(blend, cosines, [(0, 1)])
    >>> bool(moved.scores[0] > moved.scores[1]), moved.contributions["superseding"].round(6)
    (True, array([0.1, 0. ]))
    >>> newest_first(blend, cosines, [(1, 0)]) is blend
    True
    """
    scores: Column = blend.scores.copy()
    for newer, older in pairs:
        comparable = cosines[older] - cosines[newer] <= COMPARABLE
        if comparable and scores[newer] <= scores[older]:
            scores[newer] = np.nextafter(scores[older], np.inf)
    if np.array_equal(scores, blend.scores):
        return blend
    parts = {**blend.contributions, PART: scores - blend.scores}
    return Blend(scores, parts, blend.signals)
