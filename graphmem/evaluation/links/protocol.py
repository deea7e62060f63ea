r"""The protocol in which question-to-note links were published: a reference, named as such.

BM25 of the question (k1 1.2, b 0.75, words ``\w+``, a word repeated in the question counts
each time) over the whole text of each end, min-max normalised over all ends of the
namespace; an end is linked from 0.35 on, the ten best at most.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping, Sequence

import numpy as np

from graphmem.algorithms.lexical import TermStatistics, lexical_relevance

LINK_THRESHOLD = 0.35
"""Link threshold of the protocol; its evolution threshold is 0.75."""

_WORD = re.compile(r"\w+")


class LexicalProtocol:
    """Normalised BM25 of questions over the ends of one namespace.

    Parameters
    ----------
    texts
        By end, its whole text.
    """

    def __init__(self, texts: Mapping[str, str]) -> None:
        self._ends = sorted(texts)
        self._words = [_words(texts[end]) for end in self._ends]
        frequency = Counter(word for words in self._words for word in set(words))
        lengths = [len(words) for words in self._words]
        self._statistics = TermStatistics(
            len(lengths), sum(lengths) / max(1, len(lengths)), frequency
        )

    def scores(self, question: str) -> dict[str, float]:
        """Return the score of every end in [0, 1]; 0 throughout when all are alike.

        >>> LexicalProtocol({"a": "blue kettle", "b": "grey lamp"}).scores("blue kettle, blue")
        {'a': 1.0, 'b': 0.0}
        """
        raw = np.zeros(len(self._ends))
        for words in _by_repetition(_words(question)):
            raw += lexical_relevance(words, self._words, self._statistics)
        spread = np.ptp(raw) if len(raw) else 0.0
        scaled = (raw - raw.min()) / spread if spread > 0 else np.zeros(len(raw))
        return dict(zip(self._ends, scaled.tolist(), strict=True))


def _by_repetition(words: Sequence[str]) -> list[list[str]]:
    """Return the distinct words, then those that occur twice, and so on."""
    counts = Counter(words)
    return [
        [word for word, times in counts.items() if times >= least]
        for least in range(1, max(counts.values(), default=0) + 1)
    ]


def _words(text: str) -> list[str]:
    return _WORD.findall(text.lower())
