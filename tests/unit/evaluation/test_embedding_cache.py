"""The disk cache of embeddings."""

import numpy as np
import pytest

from graphmem.errors import EmbeddingError
from graphmem.evaluation.embedding_cache import CachedEmbedder
from graphmem.providers.hashing import HashingEmbedder


class Counting(HashingEmbedder):
    """Notes which texts it was asked for."""

    def __init__(self, dimension):
        super().__init__(dimension)
        self.asked = []

    def encode(self, texts, *, role="note"):
        self.asked.append((role, list(texts)))
        return super().encode(texts, role=role)


def test_a_text_is_embedded_once_in_all_runs(tmp_path):
    path = tmp_path / "deep" / "cache.sqlite"
    plain = HashingEmbedder(16).encode(["a", "b", "c"])
    first, second = Counting(16), Counting(16)
    with CachedEmbedder(first, path) as cache:
        assert np.array_equal(cache.encode(["a", "b", "a"]), plain[[0, 1, 0]])
    with CachedEmbedder(second, path) as cache:
        assert np.array_equal(cache.encode(["c", "b"]), plain[[2, 1]])
        assert np.array_equal(cache.encode(["c", "b"]), plain[[2, 1]])
    assert first.asked == [("note", ["a", "b"])]
    assert second.asked == [("note", ["c"])]


def test_models_and_roles_do_not_share_vectors(tmp_path):
    path = tmp_path / "cache.sqlite"
    other = Counting(32)
    with CachedEmbedder(HashingEmbedder(16), path) as cache:
        cache.encode(["a"])
    with CachedEmbedder(other, path) as cache:
        assert (cache.model_id, cache.dimension) == (other.model_id, 32)
        assert cache.encode(["a"]).shape == (1, 32)
        cache.encode(["a"], role="query")
    assert other.asked == [("note", ["a"]), ("query", ["a"])]


def test_no_texts_give_no_rows(tmp_path):
    with CachedEmbedder(HashingEmbedder(16), tmp_path / "cache.sqlite") as cache:
        assert cache.encode([]).shape == (0, 16)


def test_a_file_that_is_no_cache_is_named_and_kept(tmp_path):
    path = tmp_path / "cache.sqlite"
    path.write_text("a shopping list, long enough to be read as a header of a database", "utf-8")
    with (
        CachedEmbedder(HashingEmbedder(16), path) as cache,
        pytest.raises(EmbeddingError, match=r"cache\.sqlite"),
    ):
        cache.encode(["a"])
    assert path.read_text("utf-8").startswith("a shopping list")


def test_a_surrogate_does_not_break_the_key(tmp_path):
    with CachedEmbedder(HashingEmbedder(16), tmp_path / "cache.sqlite") as cache:
        assert cache.encode(["\udc8f"]).shape == (1, 16)
