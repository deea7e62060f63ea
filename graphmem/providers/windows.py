"""Long texts: windows over what a model can see at once, pooled into one vector.

A transformer reads a few hundred tokens and drops the rest. Here a longer text is cut into
overlapping windows, each is embedded, and the mean of their vectors, normalised, stands for
the text, so that what its end says is found as well. This sits above the lanes: it works with
whatever can tell where its tokens are.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from graphmem.model import Vector
from graphmem.ports import Embedder, EmbeddingRole

OVERLAP = 32
"""Tokens that two neighbouring windows share, at least, unless the text is beyond the bound."""

MAX_WINDOWS = 64
"""Bound on the work for one text.

With windows of 254 tokens that is some 14,000 tokens, about 60,000 characters of English,
read whole. Of a longer text as many windows, evenly spaced from its first token to its last,
are read.
"""

_LONE_SURROGATE = re.compile("[\ud800-\udfff]")


@dataclass(frozen=True, slots=True)
class TokenSpans:
    """Where the tokens of a text are, without special tokens and without truncation.

    Parameters
    ----------
    starts, ends
        Character offsets, int64, shape (tokens,).
    words
        Number of the word a token belongs to, int64, shape (tokens,).
    """

    starts: NDArray[np.int64]
    ends: NDArray[np.int64]
    words: NDArray[np.int64]

    def __len__(self) -> int:
        return len(self.starts)

    @classmethod
    def of(cls, offsets: Sequence[tuple[int, int]], words: Sequence[int | None]) -> TokenSpans:
        """Return the spans from what a tokenizer reports; a token without word is alone."""
        table = np.asarray(offsets, np.int64).reshape(-1, 2)
        numbers = [-1 - index if word is None else word for index, word in enumerate(words)]
        return cls(table[:, 0], table[:, 1], np.asarray(numbers, np.int64))


class Lane(Embedder, Protocol):
    """An embedder that sees a bounded number of tokens and can tell where they are."""

    @property
    def max_tokens(self) -> int:
        """How many tokens of a text `encode` sees, special tokens not counted."""
        ...

    def token_spans(self, texts: Sequence[str]) -> list[TokenSpans]:
        """Return the tokens of each text, which is well-formed (see :func:`well_formed`)."""
        ...


@dataclass(frozen=True, slots=True)
class WindowedEmbedder:
    """Embeds texts of any length with a lane that sees a bounded number of tokens.

    Texts the lane sees whole get exactly the lane's vector. The cost of one text is bounded
    by :data:`MAX_WINDOWS` windows.

    Parameters
    ----------
    lane
        What embeds each window.
    overlap
        Tokens that neighbouring windows share at least.
    max_windows
        Bound on the windows of one text.
    """

    lane: Lane
    overlap: int = OVERLAP
    max_windows: int = MAX_WINDOWS

    @property
    def model_id(self) -> str:
        """The lane's model."""
        return self.lane.model_id

    @property
    def dimension(self) -> int:
        """Length of a vector."""
        return self.lane.dimension

    def encode(self, texts: Sequence[str], *, role: EmbeddingRole = "note") -> Vector:
        """Return one vector per text, shape (len(texts), dimension), L2-normalised.

        Raises
        ------
        ModelUnavailable
            The lane's files are not on this machine.
        """
        clean = [well_formed(text) for text in texts]
        windows = self._windows(clean)
        vectors = self.lane.encode([part for parts in windows for part in parts], role=role)
        counts = np.array([len(parts) for parts in windows], np.int64)
        return vectors if (counts == 1).all() else _pooled(vectors, counts)

    def _windows(self, texts: Sequence[str]) -> list[list[str]]:
        windows = [[text] for text in texts]
        size = self.lane.max_tokens
        # A byte-level tokenizer makes four tokens of one character, none in use makes more.
        long = [row for row, text in enumerate(texts) if len(text) * 4 > size]
        spans = self.lane.token_spans([texts[row] for row in long]) if long else []
        for row, tokens in zip(long, spans, strict=True):
            cuts = window_cuts(tokens, size, self.overlap, self.max_windows)
            windows[row] = [texts[row][start:end] for start, end in cuts] or windows[row]
        return windows


def window_cuts(
    spans: TokenSpans, size: int, overlap: int, max_windows: int
) -> list[tuple[int, int]]:
    """Return the character ranges of the windows; empty when the text is one window.

    The fewest windows of `size` tokens that overlap by `overlap`, evenly spaced, the first at
    the first token and the last at the last one; at most `max_windows`. An edge inside a word
    moves inwards to the word's edge when that costs at most half of the overlap: a part of a
    word may be other tokens than the word was.
    """
    tokens = len(spans)
    if tokens <= size:
        return []
    count = min(-(-(tokens - overlap) // (size - overlap)), max_windows)
    firsts = np.linspace(0, tokens - size, count).astype(np.int64)
    slack = overlap // 2
    cuts = []
    for first in firsts.tolist():
        last = _word_end(spans.words, first + size - 1, slack)
        first = _word_start(spans.words, first, slack)
        cuts.append((int(spans.starts[first]), int(spans.ends[last])))
    return cuts


def _word_start(words: NDArray[np.int64], first: int, slack: int) -> int:
    for token in range(first, min(first + slack, len(words) - 1) + 1):
        if token == 0 or words[token] != words[token - 1]:
            return token
    return first


def _word_end(words: NDArray[np.int64], last: int, slack: int) -> int:
    for token in range(last, max(last - slack, 0) - 1, -1):
        if token == len(words) - 1 or words[token] != words[token + 1]:
            return token
    return last


def _pooled(vectors: Vector, counts: NDArray[np.int64]) -> Vector:
    firsts = np.concatenate([[0], np.cumsum(counts)[:-1]])
    sums = np.add.reduceat(vectors.astype(np.float64), firsts, axis=0)
    pooled = sums / np.maximum(np.linalg.norm(sums, axis=1, keepdims=True), 1e-12)
    # A text of one window keeps the lane's vector bit for bit.
    single = counts == 1
    pooled[single] = vectors[firsts[single]]
    return np.asarray(pooled, np.float32)


def well_formed(text: str) -> str:
    r"""Return `text` with each lone surrogate, which no tokenizer accepts, as U+FFFD.

    >>> well_formed("ok \ud800!") == "ok \ufffd!"
    True
    """
    return _LONE_SURROGATE.sub("\ufffd", text)
