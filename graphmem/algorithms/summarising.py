"""Extractive summaries: the notes that stand for the others, in the order they were told."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from datetime import datetime

import numpy as np
from numpy.typing import NDArray

from graphmem.algorithms.diversity import term_overlap
from graphmem.algorithms.text import sentences, tokens
from graphmem.errors import InvalidInput
from graphmem.model import Link, Note

EXTRACTOR = "extract-1"
"""Producer of extractive summaries; changes when the same notes give another summary."""

SAYS_THE_SAME = 0.6
"""Jaccard similarity of terms from which on a second sentence adds nothing."""

LONGEST = 280
"""Characters of one extracted sentence."""

_DAMPING = 0.85
_STEPS = 60


def in_order_of_telling(notes: Iterable[Note]) -> tuple[Note, ...]:
    """Return notes by time, then position in their source, then id."""
    return tuple(sorted(notes, key=_told))


def _told(note: Note) -> tuple[datetime, int, str]:
    place = note.source.position if note.source is not None else None
    return note.created_at, -1 if place is None else place, note.id


def centrality(ids: Sequence[str], links: Iterable[Link]) -> NDArray[np.float64]:
    r"""Return how central each note is among its linked notes; they sum to 1.

    .. math:: c_i = \frac{1 - d}{n} + d \sum_j \frac{w_{ij}}{\sum_k w_{kj}} c_j

    with d = 0.85 and the raw cosine of a link, below 0 cut off, as its weight: use and age
    move a link's weight, not what the notes say. A note without links gives to all alike.

    Parameters
    ----------
    ids
        n distinct note ids.
    links
        Links; those with an end outside `ids` are left out.

    Returns
    -------
    ndarray of float64, shape (n,)

    References
    ----------
    Erkan and Radev, "LexRank: Graph-based Lexical Centrality as Salience in Text
    Summarization", 2004, arXiv:1109.2128.

    Examples
    --------
    >>> star = [Link("a", "b", 0.8, 0.8), Link("b", "c", 0.8, 0.8)]
    >>> centrality(["a", "b", "c"], star).round(3).tolist()
    [0.257, 0.486, 0.257]
    """
    place = {note_id: row for row, note_id in enumerate(ids)}
    count = len(ids)
    if not count:
        return np.zeros(0)
    weights = np.zeros((count, count))
    for link in links:
        if link.from_id in place and link.to_id in place:
            a, b = place[link.from_id], place[link.to_id]
            weights[a, b] = weights[b, a] = max(link.cosine, 0.0)
    given = weights.sum(axis=0)
    share = np.where(given > 0.0, weights / np.where(given > 0.0, given, 1.0), 1.0 / count)
    central = np.full(count, 1.0 / count)
    for _ in range(_STEPS):
        central = (1.0 - _DAMPING) / count + _DAMPING * (share @ central)
    return central


def extract_summary(notes: Sequence[Note], links: Iterable[Link], limit: int) -> str:
    """Return the sentences that stand for the notes, one a line, in the order of telling.

    From the most central note on (ties: the more important one, then by id) each note gives
    its first sentence with the most different words, unless one that was taken says the
    same.

    Parameters
    ----------
    notes
        At least one.
    links
        Links among them.
    limit
        How many sentences at most; at least 1.

    Raises
    ------
    InvalidInput
        No note, or `limit` below 1.
    """
    if not notes or limit < 1:
        raise InvalidInput("a summary needs at least one note and a limit of at least 1")
    told = in_order_of_telling(notes)
    central = centrality([note.id for note in told], links)
    order = sorted(
        range(len(told)),
        key=lambda row: (-round(float(central[row]), 9), -told[row].importance, told[row].id),
    )
    said = [_sentence(note) for note in told]
    terms = [tokens(sentence) for sentence in said]
    taken: list[int] = []
    for row in order:
        if len(taken) == limit:
            break
        alike = term_overlap([terms[row], *(terms[other] for other in taken)])[0, 1:]
        if not taken or float(alike.max()) < SAYS_THE_SAME:
            taken.append(row)
    return "\n".join(_line(told[row], said[row]) for row in sorted(taken))


def _sentence(note: Note) -> str:
    """Return the sentence of a note that says most, the first of equals, cut if very long."""
    parts = sentences(note.content) or (note.content.strip(),)
    best = max(parts, key=lambda part: len(set(tokens(part[:LONGEST]))))
    return best if len(best) <= LONGEST else best[: LONGEST - 1].rstrip() + "\u2026"


def _line(note: Note, sentence: str) -> str:
    return sentence if note.author is None else f"{note.author}: {sentence}"
