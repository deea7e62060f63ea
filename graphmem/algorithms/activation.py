"""How activation spreads from the seeds of a question over the links among candidates."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping
from math import ceil, isfinite, log

import numpy as np
from numpy.typing import NDArray

from graphmem.errors import InvalidInput, InvalidPolicy
from graphmem.model import Link


def spread_activation(
    seeds: Mapping[str, float],
    links: Iterable[Link],
    *,
    decay: float = 0.85,
    threshold: float = 0.1,
    hops: int = 3,
    limit: int = 50,
) -> Mapping[str, float]:
    r"""Spread activation from seeds to what is linked with them.

    In each hop a node passes on

    .. math:: a_{m \to n} = a_m \cdot decay \cdot weight_{mn}

    and what falls below `threshold` is dropped. What reaches a node on several ways in one
    hop is added, up to 1. A node receives in the first hop that reaches it and in no later
    one, so that no activation echoes back; a seed receives nothing.

    Parameters
    ----------
    seeds
        Activation in [0, 1] by note id.
    links
        Links of any kind, walked in both directions.
    decay
        Share kept per hop, in [0, 1].
    threshold
        Least activation that is kept, in [0, 1]; weaker seeds are dropped too.
    hops
        How far activation spreads.
    limit
        How many nodes may be active, seeds included: the strongest, ties by id.

    Returns
    -------
    mapping of id to float
        Activation in [threshold, 1], strongest first, ties by id.

    Raises
    ------
    InvalidInput
        A seed lies outside [0, 1].
    InvalidPolicy
        `decay` or `threshold` lies outside [0, 1], or `hops` or `limit` is negative.

    References
    ----------
    Collins and Loftus, "A Spreading-Activation Theory of Semantic Processing", 1975;
    the bounds are those of the Zeph agent.

    Examples
    --------
    >>> from graphmem.model import related
    >>> chain = [related("a", "b", 0.9, None), related("b", "c", 0.5, None)]
    >>> {id: round(value, 3) for id, value in spread_activation({"a": 1.0}, chain).items()}
    {'a': 1.0, 'b': 0.765, 'c': 0.325}
    """
    _require_unit(InvalidPolicy, decay=decay, threshold=threshold)
    _require_unit(InvalidInput, **{f"seed {note_id!r}": value for note_id, value in seeds.items()})
    if hops < 0 or limit < 0:
        raise InvalidPolicy(f"hops and limit must not be negative, not {hops} and {limit}")
    neighbours = _neighbours(links)
    active = _strongest({note: a for note, a in seeds.items() if a >= threshold}, limit)
    frontier = active
    for _ in range(hops):
        received: defaultdict[str, float] = defaultdict(float)
        for note_id, activation in frontier.items():
            for other, weight in neighbours.get(note_id, ()):
                passed = activation * decay * weight
                if passed >= threshold and other not in active:
                    received[other] = min(1.0, received[other] + passed)
        kept = _strongest({**active, **received}, limit)
        frontier = {note_id: value for note_id, value in kept.items() if note_id in received}
        active = kept
    return active


def personalised_pagerank(
    seeds: Mapping[str, float],
    links: Iterable[Link],
    *,
    damping: float = 0.85,
    tolerance: float = 1e-9,
) -> Mapping[str, float]:
    r"""Return the chance to be at each node on a walk that keeps restarting at the seeds.

    .. math:: p = (1 - d)\, s + d\, (W^\top p + s \cdot p_{isolated})

    with s the seeds scaled to sum to 1 and W the link weights scaled to sum to 1 for each
    node. A walk that meets a node without links restarts.

    Parameters
    ----------
    seeds
        Non-negative weight by note id, at least one positive.
    links
        Links of any kind, walked in both directions.
    damping
        Chance to follow a link instead of restarting, in [0, 1).
    tolerance
        Bound on the summed absolute error of the result.

    Returns
    -------
    mapping of id to float
        Sums to 1; every seed and every linked node, highest first, ties by id.

    Raises
    ------
    InvalidInput
        A seed is negative or not finite, or none is positive.
    InvalidPolicy
        `damping` lies outside [0, 1) or `tolerance` is not positive.

    References
    ----------
    Haveliwala, "Topic-Sensitive PageRank", 2002.

    Examples
    --------
    >>> from graphmem.model import related
    >>> star = [related("hub", "x", 0.8, None), related("hub", "y", 0.8, None)]
    >>> {id: round(value, 3) for id, value in personalised_pagerank({"x": 1.0}, star).items()}
    {'hub': 0.459, 'x': 0.345, 'y': 0.195}
    """
    if not 0.0 <= damping < 1.0 or not tolerance > 0.0:
        raise InvalidPolicy(f"damping {damping} must lie in [0, 1), tolerance {tolerance} above 0")
    if not all(isfinite(value) and value >= 0 for value in seeds.values()) or not any(
        seeds.values()
    ):
        raise InvalidInput("seeds: each must be a finite number >= 0 and one of them positive")
    edges = [(link.from_id, link.to_id, link.weight) for link in links if link.weight > 0]
    ids = sorted({*seeds, *(end for edge in edges for end in edge[:2])})
    place = {note_id: index for index, note_id in enumerate(ids)}
    restart = np.array([seeds.get(note_id, 0.0) for note_id in ids])
    restart = restart / restart.max()  # a sum of huge seeds would overflow
    ends = np.array([(place[a], place[b]) for a, b, _ in edges], np.intp).reshape(-1, 2)
    # Each step shrinks the error, at most 2 at first, by the damping.
    steps = ceil(log(min(tolerance, 1.0) / 2) / log(damping)) if damping else 1
    rank = _walk(
        restart / restart.sum(),
        np.concatenate([ends, ends[:, ::-1]]),
        np.tile(np.array([weight for _, _, weight in edges]), 2),
        damping,
        steps,
    )
    return _strongest(dict(zip(ids, rank.tolist(), strict=True)), len(ids))


def _walk(
    restart: NDArray[np.float64],
    edges: NDArray[np.intp],
    weights: NDArray[np.float64],
    damping: float,
    steps: int,
) -> NDArray[np.float64]:
    size, (origin, target) = len(restart), edges.T
    strength = np.bincount(origin, weights, size)
    share = weights / strength[origin]
    isolated = strength == 0
    rank = restart
    for _ in range(steps):
        arriving = np.bincount(target, rank[origin] * share, size)
        followed = arriving + restart * rank[isolated].sum()
        rank = (1 - damping) * restart + damping * followed
    return rank


def _neighbours(links: Iterable[Link]) -> Mapping[str, list[tuple[str, float]]]:
    """List each node's neighbours; by id, so that sums do not depend on the links' order."""
    neighbours: defaultdict[str, list[tuple[str, float]]] = defaultdict(list)
    for link in sorted(links, key=lambda link: (*link.pair, link.kind)):
        neighbours[link.from_id].append((link.to_id, link.weight))
        neighbours[link.to_id].append((link.from_id, link.weight))
    return neighbours


def _strongest(activation: Mapping[str, float], limit: int) -> dict[str, float]:
    return dict(sorted(activation.items(), key=lambda item: (-item[1], item[0]))[:limit])


def _require_unit(error: type[InvalidInput], **values: float) -> None:
    for name, value in values.items():
        if not 0.0 <= value <= 1.0:
            raise error(f"{name}: {value!r} lies outside [0, 1]")
