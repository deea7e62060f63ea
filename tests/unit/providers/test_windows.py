"""Windows over long texts."""

import re
from collections.abc import Sequence

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from graphmem.model import Vector
from graphmem.ports import EmbeddingRole
from graphmem.providers.windows import TokenSpans, WindowedEmbedder, well_formed, window_cuts


class WordLane:
    """Sees ten words; the vector of a text says which of the words a to z it holds."""

    model_id = "word-lane"
    dimension = 27
    max_tokens = 10

    def __init__(self) -> None:
        self.seen: list[str] = []

    def encode(self, texts: Sequence[str], *, role: EmbeddingRole = "note") -> Vector:
        self.seen += texts
        vectors = np.zeros((len(texts), self.dimension), np.float32)
        for row, text in enumerate(texts):
            vectors[row, 26] = 1
            for word in text.split()[: self.max_tokens]:
                vectors[row, ord(word) - ord("a")] += 1
        return vectors / np.linalg.norm(vectors, axis=1, keepdims=True)

    def token_spans(self, texts: Sequence[str]) -> list[TokenSpans]:
        return [word_spans(text) for text in texts]


def word_spans(text: str) -> TokenSpans:
    found = [match.span() for match in re.finditer(r"\S+", text)]
    return TokenSpans.of(found, list(range(len(found))))


@pytest.fixture
def embedder() -> WindowedEmbedder:
    return WindowedEmbedder(WordLane(), overlap=2, max_windows=50)


def test_a_text_the_lane_sees_whole_is_passed_on_untouched(embedder: WindowedEmbedder) -> None:
    texts = ["", "  a  ", " ".join("abcdefghij")]
    assert (embedder.encode(texts) == WordLane().encode(texts)).all()
    assert embedder.lane.seen == texts  # type: ignore[attr-defined]  # the test's own lane


def test_the_end_of_a_long_text_is_in_its_vector(embedder: WindowedEmbedder) -> None:
    long = "a " * 100 + "z"
    assert WordLane().encode([long])[0, 25] == 0
    assert embedder.encode([long])[0, 25] > 0


def test_vectors_stay_normalised_and_in_order_among_short_texts(
    embedder: WindowedEmbedder,
) -> None:
    texts = ["b c d", "a " * 30 + "z", "c c e", "d " * 25, ""]
    together = embedder.encode(texts)
    assert np.linalg.norm(together, axis=1) == pytest.approx(np.ones(5), abs=1e-6)
    alone = np.vstack([embedder.encode([text]) for text in texts])
    assert np.abs(together - alone).max() < 1e-7
    short = WordLane().encode(["b c d", "c c e", ""])
    assert (together[[0, 2, 4]] == short).all()


def test_the_cost_of_one_text_is_bounded_and_its_last_word_still_counts() -> None:
    embedder = WindowedEmbedder(WordLane(), overlap=2, max_windows=4)
    vector = embedder.encode(["a " * 5000 + "z"])[0]
    assert len(embedder.lane.seen) == 4  # type: ignore[attr-defined]  # the test's own lane
    assert vector[25] > 0


def test_nothing_to_encode_gives_no_rows(embedder: WindowedEmbedder) -> None:
    assert embedder.encode([]).shape == (0, 27)


def test_identity_is_the_lanes(embedder: WindowedEmbedder) -> None:
    assert (embedder.model_id, embedder.dimension) == ("word-lane", 27)


def test_a_window_does_not_start_or_end_within_a_word() -> None:
    # Tokens of one character; words of three.
    text = "abc " * 20
    offsets = [(i, i + 1) for i, letter in enumerate(text) if letter != " "]
    spans = TokenSpans.of(offsets, [i // 3 for i in range(len(offsets))])
    for start, end in window_cuts(spans, 20, 8, 50):
        assert text[start:end].split() == ["abc"] * len(text[start:end].split())


@given(
    tokens=st.integers(0, 3000),
    size=st.integers(8, 300),
    share=st.floats(0, 0.5),
    bound=st.integers(1, 60),
)
def test_windows_cover_the_text_within_the_bounds(
    tokens: int, size: int, share: float, bound: int
) -> None:
    overlap = int(size * share)
    spans = TokenSpans.of([(2 * i, 2 * i + 1) for i in range(tokens)], list(range(tokens)))
    cuts = window_cuts(spans, size, overlap, bound)
    if tokens <= size:
        assert cuts == []
        return
    firsts = [start // 2 for start, _ in cuts]
    lasts = [(end - 1) // 2 for _, end in cuts]
    assert len(cuts) <= bound
    assert all(last - first < size for first, last in zip(firsts, lasts, strict=True))
    assert firsts[0] == 0
    if bound > 1:
        assert lasts[-1] == tokens - 1
    if len(cuts) < bound:
        for last, following in zip(lasts, firsts[1:], strict=False):
            assert last - following + 1 >= overlap


def test_lone_surrogates_are_replaced_and_pairs_of_other_text_are_kept() -> None:
    assert well_formed("a\ud800b\udfffc") == "a\ufffdb\ufffdc"
    assert well_formed("né 😀 日本") == "né 😀 日本"
