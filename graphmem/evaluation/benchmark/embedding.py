"""The default embedding lane beside sentence-transformers on the same texts."""

from __future__ import annotations

from collections.abc import Iterator
from importlib.util import find_spec
from statistics import median

from graphmem.evaluation.benchmark.data import planted_notes
from graphmem.evaluation.benchmark.measurement import Measurement
from graphmem.evaluation.benchmark.timing import timed
from graphmem.providers.embedding import DEFAULT_MODEL, resolve_embedder
from graphmem.providers.model_files import ModelSource
from graphmem.providers.sentence_lane import Checkpoint, SentenceTransformersEmbedder

ROUNDS = 5
TEXTS = 300


def measure_embedding() -> Iterator[Measurement]:
    """Measure both lanes on the CPU; nothing where sentence-transformers is not installed."""
    directory = ModelSource().directory()
    if find_spec("sentence_transformers") is None or directory is None:
        return
    ours = resolve_embedder()
    theirs = SentenceTransformersEmbedder(
        DEFAULT_MODEL, checkpoint=lambda: Checkpoint(str(directory)), device="cpu"
    )
    texts = [note.content for note in planted_notes(TEXTS, 1).notes]
    for lane in (ours, theirs):
        lane.encode(texts[:8])
    measured, bare = [], []
    for _ in range(ROUNDS):
        measured.append(timed(ours.encode, texts))
        bare.append(timed(theirs.encode, texts))
    yield Measurement(
        what="embedding, all texts",
        store="no store",
        notes=len(texts),
        limit="sentence-transformers on the same texts",
        measured=median(measured),
        bare=median(bare),
    )
