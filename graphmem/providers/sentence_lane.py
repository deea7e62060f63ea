"""Any sentence-transformers model by name, on the GPU where there is one."""

from __future__ import annotations

import sys
import threading
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from graphmem.errors import MissingExtra, ModelUnavailable
from graphmem.model import Vector
from graphmem.ports import EmbeddingRole
from graphmem.providers.windows import TokenSpans, well_formed

if TYPE_CHECKING:
    from sentence_transformers import SentenceTransformer

EXTRA = "sentence-transformers"


@dataclass(frozen=True, slots=True)
class Checkpoint:
    """What is loaded: a name on the hub or a directory, and the revision when pinned."""

    name: str
    revision: str | None = None


class SentenceTransformersEmbedder:
    """The sentence-transformers lane; needs the extra ``graphmem[sentence-transformers]``.

    Sees as many tokens of a text as the model does; ``WindowedEmbedder`` reads longer texts.
    Prompts that a model defines for queries and documents are used. Nothing is imported or
    loaded before the first call that needs it. Safe to call from several threads.

    Parameters
    ----------
    model_id
        Name of the model; part of a store's identity.
    checkpoint
        Returns what to load, called at the first use; ``None`` loads `model_id`.
    dimension
        Length of a vector where it is known beforehand; ``None`` asks the loaded model.
    device
        Such as ``"cpu"`` or ``"cuda"``; ``None`` takes the GPU where there is one.
    """

    def __init__(
        self,
        model_id: str,
        *,
        checkpoint: Callable[[], Checkpoint] | None = None,
        dimension: int | None = None,
        device: str | None = None,
    ) -> None:
        self._model_id = model_id
        self._checkpoint = checkpoint or (lambda: Checkpoint(model_id))
        self._dimension = dimension
        self._device = device
        # Also held while encoding: its tokenizers may not be used by two threads at once.
        self._lock = threading.RLock()
        self._loaded: SentenceTransformer | None = None

    @property
    def model_id(self) -> str:
        """The name the model was asked for by."""
        return self._model_id

    @property
    def dimension(self) -> int:
        """Length of a vector; loads the model unless it is known."""
        with self._lock:
            if self._dimension is None:
                self._dimension = int(self._encoded([""], "note").shape[1])
            return self._dimension

    @property
    def max_tokens(self) -> int:
        """How many tokens of a text are seen; unbounded where the model sets no limit.

        A model whose tokenizer cannot tell where its tokens are counts as unbounded too: it
        truncates long texts as sentence-transformers does.
        """
        with self._lock:
            model = self._load()
            tokenizer, limit = model.tokenizer, model.max_seq_length
            if not limit or not getattr(tokenizer, "is_fast", False):
                return sys.maxsize
            prompts = [len(tokenizer.tokenize(prompt)) for prompt in model.prompts.values()]
            return int(limit) - int(tokenizer.num_special_tokens_to_add()) - max(prompts, default=0)

    def encode(self, texts: Sequence[str], *, role: EmbeddingRole = "note") -> Vector:
        """Return float32 vectors of shape (len(texts), dimension), L2-normalised.

        Raises
        ------
        MissingExtra
            sentence-transformers is not installed.
        ModelUnavailable
            The model is not on this machine and could not be fetched.
        """
        if not texts:
            return np.empty((0, self.dimension), np.float32)
        with self._lock:
            return self._encoded([well_formed(text) for text in texts], role)

    def token_spans(self, texts: Sequence[str]) -> list[TokenSpans]:
        """Return where the tokens of each text are, special tokens left out, none truncated."""
        with self._lock:
            encoded = self._load().tokenizer(
                [well_formed(text) for text in texts],
                add_special_tokens=False,
                truncation=False,
                return_offsets_mapping=True,
                verbose=False,
            )
        return [TokenSpans.of(part.offsets, part.word_ids) for part in encoded.encodings]

    def _encoded(self, texts: list[str], role: EmbeddingRole) -> Vector:
        model = self._load()
        encode: Callable[..., Any] = (
            model.encode_query if role == "query" else model.encode_document
        )
        vectors = encode(texts, normalize_embeddings=True, show_progress_bar=False)
        return np.asarray(vectors, np.float32)

    def _load(self) -> SentenceTransformer:
        if self._loaded is None:
            self._loaded = _loaded(self._checkpoint(), self._device)
        return self._loaded


def _loaded(checkpoint: Checkpoint, device: str | None) -> SentenceTransformer:
    try:
        from sentence_transformers import SentenceTransformer
    except ModuleNotFoundError as error:
        raise MissingExtra(
            f"the model {checkpoint.name} needs sentence-transformers, which is not installed "
            f"({error}): pip install 'graphmem[{EXTRA}]'. Without an embedder named, the "
            f"default model needs no extra."
        ) from error
    try:
        return SentenceTransformer(checkpoint.name, revision=checkpoint.revision, device=device)
    except (OSError, ValueError) as error:
        kind = "directory" if Path(checkpoint.name).exists() else "model"
        reason = (str(error).strip().splitlines() or [type(error).__name__])[0].rstrip(".")
        raise ModelUnavailable(
            f"sentence-transformers cannot load the {kind} {checkpoint.name}: {reason}. Check the "
            f"name, or allow the download once (HF_HUB_OFFLINE must not be set then)."
        ) from error
