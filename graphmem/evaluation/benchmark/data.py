"""Synthetic notes for speed: clustered vectors with near duplicates and hubs, Zipf words.

The vectors are planted, so that a benchmark measures the store and not the model.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta

import numpy as np

from graphmem.model import NoteInput, Source, Vector
from graphmem.ports import EmbeddingRole

DIMENSION = 384
VOCABULARY = 20_000
SPREAD = 0.62
"""Length of the noise around a cluster's centre: within a cluster cosines lie near 0.72,
so that about half of its pairs are above the link threshold."""
DUPLICATE_SHARE = 0.02
DUPLICATE_SPREAD = 0.2
TURNS = 40
"""Notes of one source."""


@dataclass(frozen=True, slots=True, eq=False)
class Planted:
    """Notes with the vectors their texts have, and questions with theirs.

    `vectors` has shape (n, DIMENSION) and `asked` (q, DIMENSION), both of unit length.
    """

    notes: tuple[NoteInput, ...]
    vectors: Vector
    questions: tuple[str, ...]
    asked: Vector


class PlantedEmbedder:
    """Looks a vector up by the first word of the text, which is the note's number in letters."""

    model_id = "planted"
    dimension = DIMENSION

    def __init__(self, planted: Planted) -> None:
        self._planted = planted

    def encode(self, texts: Sequence[str], *, role: EmbeddingRole = "note") -> Vector:
        """Return the planted vectors of the notes or questions these texts begin with."""
        table = self._planted.vectors if role == "note" else self._planted.asked
        rows = [_number(text[: text.index(" ")]) for text in texts]
        vectors: Vector = table[rows]
        return vectors


def planted_notes(count: int, questions: int, *, seed: int = 7) -> Planted:
    """Make `count` notes and `questions` questions; the same seed makes the same."""
    random = np.random.default_rng(seed)
    vectors, original = _clustered(random, count)
    near = random.integers(0, count, questions)
    asked = _unit(vectors[near] + 0.6 * _unit(random.standard_normal((questions, DIMENSION))))
    texts: list[str] = []
    for row in original:
        copied = row < len(texts)
        texts.append(f"{texts[row]} {_words(random, 1)}" if copied else _text(random))
    start = datetime(2025, 1, 1, tzinfo=UTC)
    notes = tuple(
        NoteInput(
            f"{_letters(i)} {text}",
            id=f"n{i:07d}",
            source=Source(f"s{i // TURNS}", position=i % TURNS),
            author=f"person{i % 7}",
            created_at=start + timedelta(minutes=i),
        )
        for i, text in enumerate(texts)
    )
    asks = tuple(
        f"{_letters(j)} {_words(random, 4)} {' '.join(texts[i].split()[:2])}"
        for j, i in enumerate(near)
    )
    return Planted(notes, vectors, asks, asked)


def _unit(rows: np.ndarray[tuple[int, ...], np.dtype[np.float64]]) -> Vector:
    vectors: Vector = (rows / np.linalg.norm(rows, axis=1, keepdims=True)).astype(np.float32)
    return vectors


def _letters(number: int) -> str:
    """Spell a number in letters: a digit would mark two notes as different facts."""
    return "k" + "".join("abcdefghij"[int(digit)] for digit in str(number))


def _number(word: str) -> int:
    return int("".join(str("abcdefghij".index(letter)) for letter in word[1:]))


def _clustered(random: np.random.Generator, count: int) -> tuple[Vector, list[int]]:
    """Return vectors around centres whose sizes follow a power law: the large ones are hubs.

    Also, for each note, the row of the earlier note it nearly repeats, or its own row.
    """
    centres = _unit(random.standard_normal((max(4, count // 25), DIMENSION)))
    weights = 1.0 / np.arange(1, len(centres) + 1) ** 0.6
    members = random.choice(len(centres), count, p=weights / weights.sum())
    noise = _unit(random.standard_normal((count, DIMENSION)))
    vectors = _unit(centres[members] + SPREAD * noise)
    copies = random.random(count) < DUPLICATE_SHARE
    copies[0] = False
    rows = np.flatnonzero(copies)
    originals = (random.random(len(rows)) * rows).astype(np.int64)
    tweak = _unit(random.standard_normal((len(rows), DIMENSION)))
    vectors[rows] = _unit(vectors[originals] + DUPLICATE_SPREAD * tweak)
    source = np.arange(count)
    source[rows] = originals
    return vectors, source.tolist()


def _text(random: np.random.Generator) -> str:
    return _words(random, int(random.integers(8, 40)))


def _words(random: np.random.Generator, length: int) -> str:
    ranks = np.minimum(random.zipf(1.25, length), VOCABULARY)
    return " ".join(f"w{rank:x}" for rank in ranks)
