"""A memory as a LangChain retriever. Needs the extra ``langchain``."""

from __future__ import annotations

from typing import Annotated, Any

from pydantic import Field

from graphmem.errors import MissingExtra
from graphmem.interfaces.retrieved import retrieved_metadata
from graphmem.memory import Memory

try:
    from langchain_core.callbacks import (
        AsyncCallbackManagerForRetrieverRun,
        CallbackManagerForRetrieverRun,
    )
    from langchain_core.documents import Document
    from langchain_core.retrievers import BaseRetriever
    from langchain_core.runnables.config import run_in_executor
except ImportError as error:
    raise MissingExtra(
        f"the LangChain retriever needs langchain-core ({error}): pip install 'graphmem[langchain]'"
    ) from error


class GraphmemRetriever(BaseRetriever):
    """Retrieves notes of an open memory as documents, with the reasons as their metadata.

    A document's id is the note's, its text the note's content; see
    :func:`graphmem.interfaces.retrieved.retrieved_metadata` for the rest. The memory stays
    the caller's to close.

    Parameters
    ----------
    memory
        An open memory.
    k
        How many documents at most; ``invoke(query, k=...)`` asks for another number once.
    sources, authors, note_tags
        Only notes of these sources, of these authors, with one of these tags (``tags`` are
        LangChain's own, for tracing).
    track
        Whether a retrieval counts as use of the notes.
    policy
        Name of a ranking policy; ``None`` takes the memory's own.

    Raises
    ------
    InvalidQuery
        At the call: a blank question, or `k` below 1.
    """

    memory: Memory = Field(exclude=True, repr=False)
    k: Annotated[int, Field(strict=True, ge=1)] = 10
    sources: tuple[str, ...] | None = None
    authors: tuple[str, ...] | None = None
    note_tags: tuple[str, ...] | None = None
    track: bool = True
    policy: str | None = None

    def _get_relevant_documents(
        self, query: str, *, run_manager: CallbackManagerForRetrieverRun, k: int | None = None
    ) -> list[Document]:
        result = self.memory.recall(
            query,
            self.k if k is None else k,
            sources=self.sources,
            authors=self.authors,
            tags=self.note_tags,
            track=self.track,
            policy=self.policy,
        )
        return [
            Document(
                id=ranked.note.id,
                page_content=ranked.note.content,
                metadata=retrieved_metadata(ranked, result.decision),
            )
            for ranked in result.notes
        ]

    async def _aget_relevant_documents(
        self,
        query: str,
        *,
        run_manager: AsyncCallbackManagerForRetrieverRun,
        **options: Any,
    ) -> list[Document]:
        return await run_in_executor(
            None,
            self._get_relevant_documents,
            query,
            run_manager=run_manager.get_sync(),
            **options,
        )
