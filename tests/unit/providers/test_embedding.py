"""From names to embedders, and the hashing embedder of the tests."""

import importlib.util
from collections.abc import Sequence

import numpy as np
import pytest

from graphmem.errors import ConfigurationError, MissingExtra
from graphmem.model import Vector
from graphmem.ports import Embedder, EmbeddingRole
from graphmem.providers import embedding
from graphmem.providers.embedding import (
    DEFAULT_MODEL,
    HashingEmbedder,
    MiniLMEmbedder,
    SentenceTransformersEmbedder,
    WindowedEmbedder,
    resolve_embedder,
)

HASHED_KETTLE = [0, 0, 0, 0, -1, 2, 0, 0]
HAS_EXTRA = importlib.util.find_spec("sentence_transformers") is not None


class OwnEmbedder:
    """An embedder whose dimension must not be read before it is needed."""

    model_id = "own"

    @property
    def dimension(self) -> int:
        raise AssertionError("read too early")

    def encode(self, texts: Sequence[str], *, role: EmbeddingRole = "note") -> Vector:
        raise NotImplementedError


def lane_of(embedder: Embedder) -> object:
    assert isinstance(embedder, WindowedEmbedder)
    return embedder.lane


@pytest.mark.parametrize("choice", [None, DEFAULT_MODEL, "all-MiniLM-L6-v2", f" {DEFAULT_MODEL}\n"])
def test_the_default_model_runs_on_onnxruntime_without_a_gpu(
    choice: str | None, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(embedding, "cuda_lane_usable", lambda: False)
    embedder = resolve_embedder(choice)
    assert isinstance(lane_of(embedder), MiniLMEmbedder)
    assert (embedder.model_id, embedder.dimension) == (DEFAULT_MODEL, 384)


def test_the_default_model_runs_on_the_gpu_where_there_is_one(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(embedding, "cuda_lane_usable", lambda: True)
    embedder = resolve_embedder(None)
    assert isinstance(lane_of(embedder), SentenceTransformersEmbedder)
    assert (embedder.model_id, embedder.dimension) == (DEFAULT_MODEL, 384)


def test_any_other_name_is_a_sentence_transformers_model() -> None:
    embedder = resolve_embedder("intfloat/e5-small-v2")
    assert isinstance(lane_of(embedder), SentenceTransformersEmbedder)
    assert embedder.model_id == "intfloat/e5-small-v2"


@pytest.mark.skipif(HAS_EXTRA, reason="the extra sentence-transformers is installed")
def test_a_model_without_its_extra_names_the_extra() -> None:
    embedder = resolve_embedder("intfloat/e5-small-v2")
    with pytest.raises(MissingExtra, match=r"graphmem\[sentence-transformers\]"):
        embedder.encode(["a"])
    with pytest.raises(MissingExtra, match="e5-small-v2"):
        _ = embedder.dimension


def test_own_embedders_are_passed_on_and_not_touched() -> None:
    own = OwnEmbedder()
    assert resolve_embedder(own) is own


@pytest.mark.parametrize("choice", [7, object(), ["all-MiniLM-L6-v2"]])
def test_what_is_no_embedder_is_refused(choice: object) -> None:
    with pytest.raises(ConfigurationError, match="lacks model_id, dimension, encode"):
        resolve_embedder(choice)  # type: ignore[arg-type]  # a wrong argument is the test


def test_a_blank_name_is_refused() -> None:
    with pytest.raises(ConfigurationError, match="blank"):
        resolve_embedder("  ")


@pytest.mark.parametrize("choice", [None, "hashing-64", "intfloat/e5-small-v2"])
def test_a_model_id_resolves_to_its_model(choice: str | None) -> None:
    embedder = resolve_embedder(choice)
    again = resolve_embedder(embedder.model_id)
    assert again.model_id == embedder.model_id
    assert type(again) is type(embedder)


class TestHashingEmbedder:
    def test_name_and_dimension(self) -> None:
        embedder = resolve_embedder("hashing-64")
        assert isinstance(embedder, HashingEmbedder)
        assert (embedder.model_id, embedder.dimension) == ("hashing-64", 64)
        assert embedder.encode(["a", "b"]).shape == (2, 64)

    def test_vectors_never_change(self) -> None:
        vector = HashingEmbedder(8).encode(["blue kettle on the shelf"])[0]
        expected = np.array(HASHED_KETTLE, np.float32) / np.sqrt(np.square(HASHED_KETTLE).sum())
        assert vector == pytest.approx(expected, abs=1e-7)

    def test_more_shared_words_are_more_similar(self) -> None:
        base, near, far, none = HashingEmbedder().encode(
            [
                "the blue kettle stands on the shelf",
                "the blue kettle stands on the table",
                "a blue bird",
                "quarterly revenue report",
            ]
        )
        assert base @ near > base @ far > base @ none + 0.05
        assert abs(base @ none) < 0.1

    def test_scripts_without_spaces_share_characters(self) -> None:
        a, b, c = HashingEmbedder(1024).encode(["東京の天気", "東京の夜", "会議延期"])
        assert a @ b > 0.5 > abs(a @ c)

    @pytest.mark.parametrize("text", ["", " ", "...", "😀", "\x00", "\ud800", "\u200b"])
    def test_every_text_has_a_vector_of_norm_one(self, text: str) -> None:
        for dimension in (8, 256):
            (vector,) = HashingEmbedder(dimension).encode([text])
            assert np.linalg.norm(vector) == pytest.approx(1, abs=1e-6)
            assert vector.dtype == np.float32

    def test_tokens_that_cancel_each_other_leave_a_vector(self) -> None:
        words = [f"w{number}" for number in range(200)]
        pairs = [f"{a} {b}" for a in words[:40] for b in words]
        norms = np.linalg.norm(HashingEmbedder(8).encode(pairs), axis=1)
        assert norms == pytest.approx(np.ones(len(pairs)), abs=1e-6)

    def test_forms_and_case_do_not_matter(self) -> None:
        a, b = HashingEmbedder().encode(["Café Zürich", "CAFE\u0301 ZU\u0308RICH"])
        assert (a == b).all()

    def test_a_tiny_dimension_is_refused(self) -> None:
        with pytest.raises(ConfigurationError, match="at least 8"):
            resolve_embedder("hashing-3")
