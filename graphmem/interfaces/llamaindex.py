"""A memory as a LlamaIndex retriever. Needs the extra ``llama-index``."""

from __future__ import annotations

import asyncio
from collections.abc import Iterable

from graphmem.errors import MissingExtra
from graphmem.interfaces.retrieved import EXPLAINING, retrieved_metadata
from graphmem.memory import Memory

try:
    from llama_index.core.base.base_retriever import BaseRetriever
    from llama_index.core.callbacks.base import CallbackManager
    from llama_index.core.schema import NodeWithScore, QueryBundle, TextNode
except ImportError as error:
    raise MissingExtra(
        f"the LlamaIndex retriever needs llama-index-core ({error}): "
        "pip install 'graphmem[llama-index]'"
    ) from error


class GraphmemRetriever(BaseRetriever):
    """Retrieves notes of an open memory as nodes, with the reasons as their metadata.

    A node's id is the note's, its text the note's content, its score the rank's; see
    :func:`graphmem.interfaces.retrieved.retrieved_metadata` for the rest. What only explains
    the retrieval is kept out of prompts and embeddings. The memory stays the caller's to
    close.

    Parameters
    ----------
    memory
        An open memory.
    similarity_top_k
        How many nodes at most.
    sources, authors, tags
        Only notes of these sources, of these authors, with one of these tags.
    track
        Whether a retrieval counts as use of the notes.
    policy
        Name of a ranking policy; ``None`` takes the memory's own.
    callback_manager
        LlamaIndex's; ``None`` makes an empty one.

    Raises
    ------
    InvalidQuery
        At the call: a blank question, or `similarity_top_k` below 1.
    """

    def __init__(
        self,
        memory: Memory,
        *,
        similarity_top_k: int = 10,
        sources: Iterable[str] | str | None = None,
        authors: Iterable[str] | str | None = None,
        tags: Iterable[str] | str | None = None,
        track: bool = True,
        policy: str | None = None,
        callback_manager: CallbackManager | None = None,
    ) -> None:
        super().__init__(callback_manager=callback_manager)
        self._memory = memory
        self._limit = similarity_top_k
        self._sources = sources
        self._authors = authors
        self._tags = tags
        self._track = track
        self._policy = policy

    def _retrieve(self, query_bundle: QueryBundle) -> list[NodeWithScore]:
        result = self._memory.recall(
            query_bundle.query_str,
            self._limit,
            sources=self._sources,
            authors=self._authors,
            tags=self._tags,
            track=self._track,
            policy=self._policy,
        )
        return [
            NodeWithScore(
                node=TextNode(
                    id_=ranked.note.id,
                    text=ranked.note.content,
                    metadata=retrieved_metadata(ranked, result.decision),
                    excluded_llm_metadata_keys=list(EXPLAINING),
                    excluded_embed_metadata_keys=list(EXPLAINING),
                ),
                score=ranked.score,
            )
            for ranked in result.notes
        ]

    async def _aretrieve(self, query_bundle: QueryBundle) -> list[NodeWithScore]:
        return await asyncio.to_thread(self._retrieve, query_bundle)
