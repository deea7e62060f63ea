"""The default model, all-MiniLM-L6-v2, run by onnxruntime."""

from __future__ import annotations

import os
import threading
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from graphmem.errors import ModelUnavailable
from graphmem.model import Vector
from graphmem.ports import EmbeddingRole
from graphmem.providers.model_files import DIMENSION, MODEL_ID, ModelFiles, ModelSource
from graphmem.providers.windows import TokenSpans, well_formed

if TYPE_CHECKING:
    from onnxruntime import InferenceSession
    from tokenizers import Encoding, Tokenizer

_MAX_LENGTH = 256
_SPECIAL_TOKENS = 2
_BATCH_TOKENS = 4096
_MAX_THREADS = 8


@dataclass(frozen=True)
class _Loaded:
    session: InferenceSession
    truncating: Tokenizer
    tokenizer_file: bytes

    @cached_property
    def whole(self) -> Tokenizer:
        """The tokenizer that cuts nothing off; only long texts need it."""
        from tokenizers import Tokenizer

        whole = Tokenizer.from_buffer(self.tokenizer_file)
        whole.no_truncation()
        whole.no_padding()
        return whole


class MiniLMEmbedder:
    """The onnxruntime lane of ``sentence-transformers/all-MiniLM-L6-v2``.

    Sees the first 256 tokens of a text (two of them special), as sentence-transformers does,
    and gives the same vectors to 1e-5; ``WindowedEmbedder`` reads longer texts. Nothing is
    loaded before the first call that needs it. Safe to call from several threads.

    Parameters
    ----------
    model_dir
        Directory with the official ``model.safetensors`` and ``tokenizer.json``. ``None``
        looks for them: see :mod:`graphmem.providers.model_files`.
    local_dir
        Directory to try when the built graph is not in the cache and none is chosen.
    cache_dir
        Where the built graph is kept; ``None`` is the user's cache folder.
    threads
        Threads of one call; ``None`` takes the usable cores, at most 8.
    """

    def __init__(
        self,
        model_dir: Path | str | None = None,
        *,
        local_dir: Path | str | None = None,
        cache_dir: Path | str | None = None,
        threads: int | None = None,
    ) -> None:
        self._source = ModelSource(
            chosen=None if model_dir is None else Path(model_dir),
            local=None if local_dir is None else Path(local_dir),
            cache=None if cache_dir is None else Path(cache_dir),
        )
        self._threads = threads
        self._lock = threading.Lock()
        self._loaded: _Loaded | None = None

    @property
    def model_id(self) -> str:
        """``sentence-transformers/all-MiniLM-L6-v2``."""
        return MODEL_ID

    @property
    def dimension(self) -> int:
        """384."""
        return DIMENSION

    @property
    def max_tokens(self) -> int:
        """254: the tokens of a text that are seen, special tokens not counted."""
        return _MAX_LENGTH - _SPECIAL_TOKENS

    def encode(self, texts: Sequence[str], *, role: EmbeddingRole = "note") -> Vector:
        """Return float32 vectors of shape (len(texts), 384), L2-normalised.

        The role makes no difference to this model. Lone surrogates count as U+FFFD.

        Raises
        ------
        ModelUnavailable
            The model's files are not on this machine and could not be fetched.
        """
        vectors = np.empty((len(texts), DIMENSION), np.float32)
        if not texts:
            return vectors
        loaded = self._load()
        encodings = loaded.truncating.encode_batch_fast([well_formed(text) for text in texts])
        for rows in _batches([len(encoding) for encoding in encodings]):
            vectors[rows] = _run(loaded.session, [encodings[row] for row in rows])
        return vectors

    def token_spans(self, texts: Sequence[str]) -> list[TokenSpans]:
        """Return where the tokens of each text are, special tokens left out, none truncated.

        Raises
        ------
        ModelUnavailable
            The model's files are not on this machine and could not be fetched.
        """
        encodings = self._load().whole.encode_batch(
            [well_formed(text) for text in texts], add_special_tokens=False
        )
        return [TokenSpans.of(encoding.offsets, encoding.word_ids) for encoding in encodings]

    def _load(self) -> _Loaded:
        with self._lock:
            if self._loaded is None:
                self._loaded = _loaded(self._source.files(), self._threads)
            return self._loaded


def _loaded(files: ModelFiles, threads: int | None) -> _Loaded:
    from tokenizers import Tokenizer

    truncating = Tokenizer.from_buffer(files.tokenizer)
    truncating.enable_truncation(_MAX_LENGTH)
    truncating.no_padding()
    return _Loaded(_session(files.graph, threads), truncating, files.tokenizer)


def _session(graph: Path | bytes, threads: int | None) -> InferenceSession:
    import onnxruntime

    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = threads or min(_usable_cores(), _MAX_THREADS)
    options.inter_op_num_threads = 1
    # Spinning, they would hold the cores for some 50 ms after each question.
    options.add_session_config_entry("session.intra_op.allow_spinning", "0")
    options.log_severity_level = 3
    try:
        return onnxruntime.InferenceSession(graph, options, providers=["CPUExecutionProvider"])
    except Exception as error:  # onnxruntime raises classes that share no public base
        raise ModelUnavailable(
            f"{MODEL_ID}: onnxruntime {onnxruntime.__version__} cannot load the graph: {error}"
        ) from error


def _usable_cores() -> int:
    # A container's cores are fewer than the machine's; not every platform can tell.
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


def _batches(lengths: Sequence[int]) -> Iterator[list[int]]:
    """Yield the rows in groups of similar length, each of at most `_BATCH_TOKENS` tokens."""
    batch: list[int] = []
    for row in sorted(range(len(lengths)), key=lengths.__getitem__):
        if batch and lengths[row] * (len(batch) + 1) > _BATCH_TOKENS:
            yield batch
            batch = []
        batch.append(row)
    if batch:
        yield batch


def _run(session: InferenceSession, encodings: Sequence[Encoding]) -> Vector:
    width = max(len(encoding) for encoding in encodings)
    ids = np.zeros((len(encodings), width), np.int64)
    mask = np.zeros_like(ids)
    for row, encoding in enumerate(encodings):
        ids[row, : len(encoding)] = encoding.ids
        mask[row, : len(encoding)] = 1
    (vectors,) = session.run(["embedding"], {"input_ids": ids, "attention_mask": mask})
    return np.asarray(vectors, np.float32)
