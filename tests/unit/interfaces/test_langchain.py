"""The LangChain retriever, by LangChain's own standard tests and ours."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Iterator
from typing import Any

import pytest
from langchain_core.documents import Document
from langchain_core.retrievers import BaseRetriever
from langchain_core.runnables import RunnableLambda
from langchain_tests.integration_tests import RetrieversIntegrationTests
from pydantic import ValidationError

from graphmem import InvalidQuery, Memory, Source, open_memory
from graphmem.interfaces.langchain import GraphmemRetriever


@pytest.fixture(scope="module")
def memory() -> Iterator[Memory]:
    with open_memory(":memory:", embedder="hashing-64") as memory:
        for position, text in enumerate(
            ["the blue kettle is hot", "a blue kettle whistles", "grey lamp", "blue sky today"]
        ):
            memory.add(
                text,
                id=f"n{position}",
                author="Ada" if position % 2 else "Ben",
                source=Source("kitchen", position=position),
                tags=f"tag{position}",
                metadata={"room": "kitchen"},
            )
        yield memory


class TestStandard(RetrieversIntegrationTests):
    @pytest.fixture(autouse=True)
    def opened(self, memory: Memory) -> None:
        self.memory = memory

    @property
    def retriever_constructor(self) -> type[BaseRetriever]:
        return GraphmemRetriever

    @property
    def retriever_constructor_params(self) -> dict[str, Any]:
        return {"memory": self.memory, "track": False}

    @property
    def retriever_query_example(self) -> str:
        return "blue kettle"


# The suite refuses overrides, and pytest-asyncio runs only what is marked.
pytest.mark.asyncio(RetrieversIntegrationTests.test_ainvoke_returns_documents)


def test_a_document_tells_why_it_was_found(memory: Memory) -> None:
    first, *_ = GraphmemRetriever(memory=memory, k=2, track=False).invoke("hot blue kettle")
    assert (first.id, first.page_content) == ("n0", "the blue kettle is hot")
    told = first.metadata
    assert (told["id"], told["source"], told["position"]) == ("n0", "kitchen", 0)
    assert (told["author"], told["tags"]) == ("Ben", ["tag0"])
    assert told["score"] == pytest.approx(sum(told["contributions"].values()), abs=1e-9)
    assert told["signals"]["lexical"] > 0
    assert told["path"][0] == "seed vector"
    assert told["decision"]["outcome"] in {"retrieved", "partial", "unknown"}
    assert told["decision"]["reason"]
    assert told["note_metadata"] == {"room": "kitchen"}
    json.dumps(told, allow_nan=False)


def test_a_judged_note_says_how_likely_it_supports_an_answer(memory: Memory) -> None:
    question = "is the blue kettle hot"
    documents = GraphmemRetriever(memory=memory, track=False).invoke(question)
    decision = memory.recall(question, track=False).decision
    judged = {evidence.note_id: evidence.supports for evidence in decision.judged}
    told = {d.id: d.metadata["decision"]["supports"] for d in documents}
    assert judged
    assert {i: supports for i, supports in told.items() if supports is not None} == judged


def test_async_and_sync_give_the_same(memory: Memory) -> None:
    retriever = GraphmemRetriever(memory=memory, k=3, track=False)
    shown = [d.id for d in retriever.invoke("blue", k=2)]
    assert [d.id for d in asyncio.run(retriever.ainvoke("blue", k=2))] == shown
    assert len(shown) == 2


@pytest.mark.parametrize(
    ("filters", "ids"),
    [
        ({"authors": ("Ada",)}, {"n1", "n3"}),
        ({"note_tags": ("tag2",)}, {"n2"}),
        ({"sources": ("elsewhere",)}, set()),
    ],
)
def test_filters(memory: Memory, filters: dict[str, Any], ids: set[str]) -> None:
    retriever = GraphmemRetriever(memory=memory, track=False, **filters)
    assert {d.id for d in retriever.invoke("blue kettle")} == ids


def test_use_is_counted_unless_told_not_to(memory: Memory) -> None:
    before = memory.get("n2").recall_count
    GraphmemRetriever(memory=memory, track=False).invoke("grey lamp", k=1)
    assert memory.get("n2").recall_count == before
    GraphmemRetriever(memory=memory).invoke("grey lamp", k=1)
    assert memory.get("n2").recall_count == before + 1


def test_it_stands_in_a_chain(memory: Memory) -> None:
    def joined(documents: list[Document]) -> str:
        return " / ".join(d.page_content for d in documents)

    retriever = GraphmemRetriever(memory=memory, k=1, track=False)
    assert (retriever | RunnableLambda(joined)).invoke("grey lamp") == "grey lamp"
    assert "memory" not in repr(retriever)


@pytest.mark.parametrize("k", [0, -1, "3", 2.5, True])
def test_a_number_of_documents_that_cannot_be(memory: Memory, k: Any) -> None:
    with pytest.raises(ValidationError, match="k"):
        GraphmemRetriever(memory=memory, k=k)
    with pytest.raises(InvalidQuery, match="limit"):
        GraphmemRetriever(memory=memory).invoke("blue", k=k)


def test_a_blank_question_is_refused(memory: Memory) -> None:
    with pytest.raises(InvalidQuery, match="blank"):
        GraphmemRetriever(memory=memory).invoke(" ")
