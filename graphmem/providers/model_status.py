"""Which embedding model is in use, and whether its files are here; reaches for no network."""

from __future__ import annotations

import hashlib
import re
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path

from graphmem.providers.embedding import DEFAULT_MODEL, resolve_embedder
from graphmem.providers.hashing import HashingEmbedder
from graphmem.providers.model_files import (
    DIMENSION,
    MODEL_ID,
    SHA256,
    ModelSource,
    Origin,
    Place,
    remedy,
)
from graphmem.providers.sentence_lane import EXTRA


@dataclass(frozen=True, slots=True)
class PlaceStatus:
    """One place the model's files may be at, in words: ``official``, ``missing`` ..."""

    origin: str
    path: str
    state: str


@dataclass(frozen=True, slots=True)
class ModelStatus:
    """An embedding model and what is known of it without loading it.

    Attributes
    ----------
    model_id
        Its name.
    dimension
        Length of its vectors; ``None`` when only loading it would tell.
    ready
        Whether it can be loaded without the network.
    source
        The place its files are taken from; ``None`` when there is none, or none is needed.
    places
        Every place that is looked at, in that order.
    advice
        What to do when it is not ready, or a word on what it is.
    """

    model_id: str
    dimension: int | None
    ready: bool
    source: str | None
    places: tuple[PlaceStatus, ...]
    advice: str


def model_status(choice: str | None = None, *, model_dir: Path | None = None) -> ModelStatus:
    """Return the status of a model's name, read as :func:`resolve_embedder` reads it.

    Raises
    ------
    ConfigurationError
        The name is blank.
    """
    embedder = resolve_embedder(choice, model_dir=model_dir)
    if isinstance(embedder, HashingEmbedder):
        return ModelStatus(
            model_id=embedder.model_id,
            dimension=embedder.dimension,
            ready=True,
            source=None,
            places=(),
            advice="for tests and trials: it counts words and knows no meaning",
        )
    if embedder.model_id == DEFAULT_MODEL:
        return _default_status(ModelSource(local=model_dir))
    return _named_status(embedder.model_id)


def _default_status(source: ModelSource) -> ModelStatus:
    places = tuple(_place_status(place, source) for place in source.places())
    used = next((place for place in places if place.state in _USABLE), None)
    return ModelStatus(
        model_id=MODEL_ID,
        dimension=DIMENSION,
        ready=used is not None,
        source=None if used is None else used.origin,
        places=places,
        advice="" if used is not None else remedy(),
    )


_OFFICIAL = "official"
_BUILT = "built from the official weights"
_USABLE = (_OFFICIAL, _BUILT)


def _place_status(place: Place, source: ModelSource) -> PlaceStatus:
    missing = [name for name in place.files if not place.files[name].is_file()]
    absent = sorted(SHA256.keys() - place.files.keys()) if place.origin is Origin.HUB else missing
    if len(absent) == len(SHA256):
        state = "missing"
    elif absent:
        state = f"{', '.join(absent)} missing"
    elif place.origin is Origin.CACHE:
        state = _BUILT if source.cached() else "damaged; it is built again"
    else:
        wrong = [name for name, path in place.files.items() if _digest(path) != SHA256[name]]
        state = f"{', '.join(wrong)} not official (sha256 differs)" if wrong else _OFFICIAL
    return PlaceStatus(place.origin.value, str(place.directory), state)


def _digest(path: Path) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def _named_status(name: str) -> ModelStatus:
    if find_spec("sentence_transformers") is None:
        advice = f"needs sentence-transformers: pip install 'graphmem[{EXTRA}]'"
        return ModelStatus(name, None, False, None, (), advice)
    directory = Path(name)
    found = str(directory) if directory.is_dir() else _in_hub_cache(name)
    if found is None:
        advice = "is fetched from the Hugging Face hub at first use, or now with --download"
        return ModelStatus(name, None, False, None, (), advice)
    place = PlaceStatus("directory" if directory.is_dir() else Origin.HUB.value, found, "present")
    return ModelStatus(name, None, True, place.origin, (place,), "")


def _in_hub_cache(name: str) -> str | None:
    from huggingface_hub import try_to_load_from_cache

    if not re.fullmatch(r"[\w.-]+(/[\w.-]+)?", name):
        return None
    repository = name if "/" in name else f"sentence-transformers/{name}"
    found = try_to_load_from_cache(repository, "modules.json")
    return str(Path(found).parent) if isinstance(found, str) else None


def fetch_model(choice: str | None = None, *, model_dir: Path | None = None) -> None:
    """Load a model once, which fetches and builds what is missing.

    Raises
    ------
    ModelUnavailable
        Its files are not on this machine and could not be fetched.
    """
    resolve_embedder(choice, model_dir=model_dir).encode(["ready"])
