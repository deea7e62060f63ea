"""Links between notes, sources or documents: pairs that one question needs together."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations

import numpy as np
from numpy.typing import NDArray

from graphmem.algorithms.similarity import Wholes, best_of_parts, cosine_matrix, link_similarity
from graphmem.algorithms.text import tokens
from graphmem.evaluation.links.cases import LinkCase, ends_of
from graphmem.evaluation.links.curve import JudgedLinks
from graphmem.memory import Memory
from graphmem.model import Link, NoteRecord

SIMILARITY = "similarity"
"""graphmem's similarity of notes, see :func:`graphmem.algorithms.similarity.link_similarity`."""

STORED = "stored-links"
"""The RELATED links the memory made when the notes were added, by their weight."""

_ASIDE = re.compile(r"\s*\([^()]*\)")
"""What tells namesakes apart in a heading is not repeated where it is mentioned."""

HEADING = 120
"""A first line of more characters is a paragraph."""

COSINE = "reference-cosine"
"""Raw cosine of the two notes; of sources that of their best pair of notes."""


@dataclass(frozen=True, slots=True, eq=False)
class Pairs:
    """Pairs of ends by number, whether a question needs both, and the question counted for.

    All of shape (pairs,); `count` is the number of questions.
    """

    first: NDArray[np.int64]
    second: NDArray[np.int64]
    gold: NDArray[np.bool_]
    group: NDArray[np.int64]
    count: int

    def judged(self, scores: NDArray[np.float64]) -> JudgedLinks:
        """Return the pairs with their scores from a matrix over all ends."""
        return JudgedLinks(scores[self.first, self.second], self.gold, self.group, self.count)


def pairs_of(case: LinkCase, ends: Sequence[str]) -> Pairs:
    """Return the unordered pairs a case is measured on.

    Where questions were asked over ends of their own (passages), the pairs within each; else
    all pairs of the namespace, each once: a pair that belongs together counts for the first
    question that needs it, the others are dealt to the questions in turn.
    """
    place = {end: number for number, end in enumerate(ends)}
    if all(question.among is not None for question in case.questions):
        return _within_questions(case, place)
    owner: dict[tuple[int, int], int] = {}
    for number, question in enumerate(case.questions):
        for a, b in combinations(sorted(place[end] for end in question.gold), 2):
            owner.setdefault((a, b), number)
    first, second = np.triu_indices(len(ends), 1)
    count = len(case.questions)
    group = np.arange(len(first)) % count
    gold = np.zeros(len(first), dtype=np.bool_)
    for (a, b), number in owner.items():
        row = a * len(ends) - a * (a + 1) // 2 + b - a - 1
        gold[row], group[row] = True, number
    return Pairs(first, second, gold, group, count)


def _within_questions(case: LinkCase, place: Mapping[str, int]) -> Pairs:
    rows = [
        (a, b, ends[a] in question.gold and ends[b] in question.gold, number)
        for number, question in enumerate(case.questions)
        for ends in [{place[end]: end for end in question.among or ()}]
        for a, b in combinations(sorted(ends), 2)
    ]
    first, second, gold, group = np.array(rows, dtype=np.int64).reshape(-1, 4).T
    return Pairs(first, second, gold.astype(np.bool_), group, len(case.questions))


def judge_pairs(case: LinkCase, memory: Memory) -> dict[str, JudgedLinks]:
    """Score the pairs of a case in every way: graphmem's first, then what it stands beside."""
    records, links = _contents(memory)
    ends = ends_of(case)
    place = {end: number for number, end in enumerate(ends)}
    owner = np.array([place[_end(record, case)] for record in records], dtype=np.int64)
    vectors = np.stack([record.embedding for record in records if record.embedding is not None])
    own = _own_words(records, owner)
    wholes = _wholes(records, owner, own, len(ends))
    pairs = pairs_of(case, ends)
    scores = {
        SIMILARITY: link_similarity(cosine_matrix(vectors[own]), wholes),
        STORED: _stored(links, {r.note.id: int(o) for r, o in zip(records, owner, strict=True)}),
        COSINE: best_of_parts(cosine_matrix(vectors), owner),
    }
    return {name: pairs.judged(matrix) for name, matrix in scores.items()}


def _contents(memory: Memory) -> tuple[list[NoteRecord], list[Link]]:
    """Return the notes that have a vector, and the links."""
    records: list[NoteRecord] = []
    links: list[Link] = []
    for item in memory.dump():
        if isinstance(item, NoteRecord) and item.embedding is not None:
            records.append(item)
        elif isinstance(item, Link):
            links.append(item)
    return records, links


def _end(record: NoteRecord, case: LinkCase) -> str:
    source = record.note.source
    return record.note.id if case.level == "note" or source is None else source.id


def _own_words(records: Sequence[NoteRecord], owners: NDArray[np.int64]) -> NDArray[np.bool_]:
    """Tell which notes an end is compared by.

    What an assistant said is left out where there is anything else: it speaks at length about
    everything.
    """
    own = np.array([record.note.role != "assistant" for record in records], dtype=np.bool_)
    return own | ~np.isin(owners, owners[own])


def _wholes(
    records: Sequence[NoteRecord],
    owners: NDArray[np.int64],
    own: NDArray[np.bool_],
    count: int,
) -> Wholes:
    background: list[list[str]] = [[] for _ in range(count)]
    terms: list[list[str]] = [[] for _ in range(count)]
    headings: list[list[str]] = [[] for _ in range(count)]
    parts = np.bincount(owners, minlength=count)
    for record, owner, kept in zip(records, owners.tolist(), own.tolist(), strict=True):
        background[owner].extend(record.terms)
        if kept:
            terms[owner].extend(record.terms)
        if parts[owner] == 1:
            headings[owner] = heading_terms(record.note.content)
    return Wholes(owners[own], terms, background, headings)


def heading_terms(content: str) -> list[str]:
    r"""Return the terms of a note's heading: a short first line above others.

    >>> heading_terms("Maro plot 12\nShoots counted in August.")
    ['maro', 'plot', '12']
    >>> heading_terms("Shoots counted in August.")
    []
    """
    first, _, rest = content.partition("\n")
    if not rest.strip() or len(first) > HEADING:
        return []
    return list(tokens(_ASIDE.sub("", first)))


def _stored(links: Sequence[Link], owner: Mapping[str, int]) -> NDArray[np.float64]:
    """Return the strongest link between each two ends, ``-inf`` where there is none."""
    count = max(owner.values()) + 1
    weights = np.full((count, count), -np.inf)
    for link in links:
        a, b = owner[link.from_id], owner[link.to_id]
        weights[a, b] = weights[b, a] = max(weights[a, b], link.weight)
    return weights
