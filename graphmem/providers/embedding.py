"""From a model's name to the embedder that runs it."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from graphmem.errors import ConfigurationError
from graphmem.ports import Embedder
from graphmem.providers.gpu import cuda_lane_usable
from graphmem.providers.hashing import HashingEmbedder
from graphmem.providers.minilm import MiniLMEmbedder
from graphmem.providers.model_files import DIMENSION, MODEL_ID, REVISION, ModelSource
from graphmem.providers.sentence_lane import Checkpoint, SentenceTransformersEmbedder
from graphmem.providers.windows import WindowedEmbedder

__all__ = [
    "DEFAULT_MODEL",
    "HashingEmbedder",
    "MiniLMEmbedder",
    "SentenceTransformersEmbedder",
    "WindowedEmbedder",
    "default_embedder",
    "resolve_embedder",
]

DEFAULT_MODEL = MODEL_ID
"""``sentence-transformers/all-MiniLM-L6-v2``."""


@dataclass(frozen=True, slots=True)
class _Family:
    """Model names and what builds the embedder of one of them."""

    names: re.Pattern[str]
    build: Callable[[re.Match[str], Path | None], Embedder]


def resolve_embedder(
    choice: str | Embedder | None = None, *, model_dir: Path | None = None
) -> Embedder:
    """Return the embedder of a choice; loads nothing.

    Parameters
    ----------
    choice
        ``None`` is the default model. A name is the default model's (with or without
        ``sentence-transformers/``), ``hashing-N`` for the test embedder of dimension N, or
        that of any sentence-transformers model or its directory. Any other object with the
        Embedder protocol is returned as it is. ``resolve_embedder(e.model_id)`` is the model
        of `e`.
    model_dir
        Directory with the default model's official files, tried before the places where
        they may be installed.

    Raises
    ------
    ConfigurationError
        The choice is neither a name nor an embedder.
    """
    if isinstance(choice, str) or choice is None:
        name = (choice or DEFAULT_MODEL).strip()
        for family in _FAMILIES:
            match = family.names.fullmatch(name)
            if match:
                return family.build(match, model_dir)
        raise ConfigurationError("the embedder's name is blank; leave it out for the default model")
    missing = [name for name in ("model_id", "dimension", "encode") if not _has(choice, name)]
    if missing:
        raise ConfigurationError(
            f"{type(choice).__name__} is no embedder: it lacks {', '.join(missing)}. Pass a "
            f"model's name or an object with model_id, dimension and encode(texts, role=...)."
        )
    return choice


def default_embedder(model_dir: Path | None = None) -> Embedder:
    """Return the default model: on the GPU where there is one and the extra is installed.

    Both lanes give the same vectors to 1e-5 and have the same model id.
    """
    if not cuda_lane_usable():
        return WindowedEmbedder(MiniLMEmbedder(local_dir=model_dir))

    def checkpoint() -> Checkpoint:
        directory = ModelSource(local=model_dir).directory()
        return Checkpoint(MODEL_ID, REVISION) if directory is None else Checkpoint(str(directory))

    lane = SentenceTransformersEmbedder(MODEL_ID, checkpoint=checkpoint, dimension=DIMENSION)
    return WindowedEmbedder(lane)


def _default(match: re.Match[str], model_dir: Path | None) -> Embedder:
    return default_embedder(model_dir)


def _hashing(match: re.Match[str], model_dir: Path | None) -> Embedder:
    return HashingEmbedder(int(match["dimension"]))


def _named(match: re.Match[str], model_dir: Path | None) -> Embedder:
    return WindowedEmbedder(SentenceTransformersEmbedder(match[0]))


_FAMILIES = (
    _Family(re.compile(f"({re.escape(MODEL_ID)})|all-MiniLM-L6-v2"), _default),
    _Family(re.compile(r"hashing-(?P<dimension>\d{1,6})"), _hashing),
    _Family(re.compile(r"\S(.*\S)?"), _named),
)
"""Tried in order; the last one takes every name."""


def _has(choice: Embedder, name: str) -> bool:
    # Asking the class first: reading the property `dimension` may load a model.
    return hasattr(type(choice), name) or hasattr(choice, name)
