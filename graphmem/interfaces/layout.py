"""Where the points of a picture lie: a force-directed layout in numpy."""

from __future__ import annotations

from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

Points: TypeAlias = NDArray[np.float64]
"""Positions, shape (n, 2)."""

_GOLDEN_ANGLE = np.pi * (3.0 - np.sqrt(5.0))
_GRAVITY = 0.7
"""With it n points fill a disc of radius ``sqrt(n / 0.7)``, linked or not."""

_CLOSEST = 1e-3
_SPACE, _SPREADS = 0.8, 80
"""At the end, points nearer than this are pushed apart, so many times at most."""


def force_layout(
    count: int, pairs: NDArray[np.int64], strength: NDArray[np.float64], steps: int = 220
) -> Points:
    """Return positions where linked points lie near each other and no two coincide.

    The spring model of Fruchterman and Reingold (1991): every two points repel by
    ``1 / d``, linked ones attract by ``s * d**2``, and the longest step shrinks to zero;
    with a pull to the middle that balances the repulsion of an even disc, so that
    separate parts stay together. Starts from a spiral
    instead of random positions: the same graph gives the same picture.

    Parameters
    ----------
    count
        Number of points n.
    pairs
        Edges as two indices below `count`, shape (m, 2).
    strength
        How strongly each edge attracts, in [0, 1], shape (m,).
    steps
        Rounds; a round costs n * n.

    Returns
    -------
    array of shape (n, 2)
        Distances are in units of the natural length of an edge.

    Examples
    --------
    >>> pairs, strength = np.array([[0, 1]]), np.array([1.0])
    >>> near, far = force_layout(3, pairs, strength)[1:] - force_layout(3, pairs, strength)[0]
    >>> bool(np.hypot(*near) < np.hypot(*far))
    True
    """
    places = _spiral(count)
    if count < 2:
        return places
    longest = np.sqrt(count) / 2
    for step in range(steps):
        moves = _repulsion(places) - _GRAVITY * places
        _attract(moves, places, pairs, strength)
        lengths = np.maximum(np.hypot(moves[:, 0], moves[:, 1]), _CLOSEST)
        allowed = longest * (1.0 - step / steps) ** 1.5
        places = places + moves * (np.minimum(lengths, allowed) / lengths)[:, None]
    for _ in range(_SPREADS):
        places = places + _too_near(places)
    centred: Points = places - places.mean(axis=0)
    return centred


def _spiral(count: int) -> Points:
    index = np.arange(count, dtype=np.float64)
    radius, angle = np.sqrt(index + 0.5), index * _GOLDEN_ANGLE
    return np.stack([radius * np.cos(angle), radius * np.sin(angle)], axis=1)


def _repulsion(places: Points) -> Points:
    apart = places[:, None, :] - places[None, :, :]
    squared = np.maximum((apart**2).sum(axis=2), _CLOSEST)
    return np.asarray((apart / squared[:, :, None]).sum(axis=1))


def _too_near(places: Points) -> Points:
    apart = places[:, None, :] - places[None, :, :]
    distance = np.maximum(np.sqrt((apart**2).sum(axis=2)), _CLOSEST)
    missing = np.clip(_SPACE - distance, 0.0, None)
    return np.asarray((apart * (missing / (2 * distance))[:, :, None]).sum(axis=1))


def _attract(
    moves: Points, places: Points, pairs: NDArray[np.int64], strength: NDArray[np.float64]
) -> None:
    if not len(pairs):
        return
    one, other = pairs[:, 0], pairs[:, 1]
    apart = places[other] - places[one]
    pull = apart * (strength * np.hypot(apart[:, 0], apart[:, 1]))[:, None]
    np.add.at(moves, one, pull)
    np.add.at(moves, other, -pull)
