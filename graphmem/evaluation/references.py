r"""Reference rankers, measured in the same run and clearly named: what a policy has to beat.

Both see plain words (``\w+``, lower case) and the whole namespace.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime

import numpy as np
from numpy.typing import NDArray

from graphmem.algorithms.lexical import TermStatistics, lexical_relevance
from graphmem.algorithms.salience import MemorySignal, rank_salient_memories

BM25 = "bm25"
"""Plain BM25, k1 1.2, b 0.75, idf ln(1 + (N - df + 0.5) / (df + 0.5))."""

RECIPE = "mission-recipe"
"""Recency .15 (0.995 an hour), length .15, plain BM25 .70, each min-max normalised."""

_WORD = re.compile(r"\w+")


@dataclass(frozen=True, slots=True)
class Document:
    """What a reference ranker ranks: a note, or a source with the text of all its notes."""

    id: str
    text: str
    created_at: datetime


class ReferenceRankers:
    """The two reference rankers over one namespace.

    Parameters
    ----------
    documents
        All documents of the namespace, in any order.
    """

    def __init__(self, documents: Sequence[Document]) -> None:
        self._documents = sorted(documents, key=lambda document: document.id)
        self._words = [_words(document.text) for document in self._documents]
        lengths = [len(words) for words in self._words]
        frequency = Counter(word for words in self._words for word in set(words))
        self._statistics = TermStatistics(
            len(lengths), sum(lengths) / max(1, len(lengths)), frequency
        )

    def rank(self, question: str, at: datetime) -> Mapping[str, tuple[str, ...]]:
        """Return the ids of all documents, best first, by the name of each ranker."""
        relevance = lexical_relevance(_words(question), self._words, self._statistics)
        return {BM25: self._by_score(relevance), RECIPE: self._by_recipe(relevance, at)}

    def _by_score(self, scores: NDArray[np.float64]) -> tuple[str, ...]:
        order = np.argsort(-scores, kind="stable")
        return tuple(self._documents[index].id for index in order)

    def _by_recipe(self, relevance: NDArray[np.float64], at: datetime) -> tuple[str, ...]:
        signals = [
            MemorySignal(
                memory_id=document.id,
                hours_since_access=max(0.0, (at - document.created_at).total_seconds() / 3600),
                importance=len(set(words)),
                relevance=float(score),
            )
            for document, words, score in zip(self._documents, self._words, relevance, strict=True)
        ]
        if not signals:
            return ()
        ranked = rank_salient_memories(signals, limit=len(signals))
        return tuple(memory.memory_id for memory in ranked)


def _words(text: str) -> list[str]:
    return _WORD.findall(text.lower())
