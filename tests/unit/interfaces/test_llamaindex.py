"""The LlamaIndex retriever, asked through LlamaIndex's own base class."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Iterator
from typing import Any

import pytest
from llama_index.core.schema import MetadataMode, QueryBundle

from graphmem import InvalidQuery, Memory, Source, open_memory
from graphmem.interfaces.llamaindex import GraphmemRetriever


@pytest.fixture(scope="module")
def memory() -> Iterator[Memory]:
    with open_memory(":memory:", embedder="hashing-64") as memory:
        memory.add("the blue kettle is hot", id="hot", author="Ada", source=Source("kitchen"))
        memory.add("a blue kettle whistles", id="song", author="Ben", tags=["sound"])
        memory.add("grey lamp", id="lamp", author="Ben")
        yield memory


def test_a_node_tells_why_it_was_found(memory: Memory) -> None:
    retriever = GraphmemRetriever(memory, similarity_top_k=2, track=False)
    first, second = retriever.retrieve("hot blue kettle")
    assert (first.node.node_id, first.text) == ("hot", "the blue kettle is hot")
    assert first.score is not None
    assert first.score > (second.score or 0)
    told = first.metadata
    assert (told["source"], told["author"]) == ("kitchen", "Ada")
    assert first.score == pytest.approx(sum(told["contributions"].values()), abs=1e-9)
    assert told["path"]
    assert told["decision"]["reason"]
    json.dumps(told, allow_nan=False)


def test_prompts_get_the_note_and_where_it_comes_from(memory: Memory) -> None:
    (first,) = GraphmemRetriever(memory, similarity_top_k=1, track=False).retrieve("hot kettle")
    for mode in (MetadataMode.LLM, MetadataMode.EMBED):
        shown = first.node.get_content(mode)
        assert "the blue kettle is hot" in shown
        assert "author: Ada" in shown
        assert "contributions" not in shown
        assert "decision" not in shown


def test_async_and_sync_give_the_same(memory: Memory) -> None:
    retriever = GraphmemRetriever(memory, track=False)
    nodes = asyncio.run(retriever.aretrieve(QueryBundle("blue kettle")))
    expected = [n.node.node_id for n in retriever.retrieve(QueryBundle("blue kettle"))]
    assert [n.node.node_id for n in nodes] == expected
    assert expected


@pytest.mark.parametrize(
    ("filters", "ids"),
    [
        ({"authors": "Ben"}, {"song", "lamp"}),
        ({"tags": ["sound"]}, {"song"}),
        ({"sources": ["kitchen"]}, {"hot"}),
    ],
)
def test_filters(memory: Memory, filters: dict[str, Any], ids: set[str]) -> None:
    retriever = GraphmemRetriever(memory, track=False, **filters)
    assert {n.node.node_id for n in retriever.retrieve("blue kettle")} == ids


def test_use_is_counted_unless_told_not_to(memory: Memory) -> None:
    GraphmemRetriever(memory, similarity_top_k=1, track=False).retrieve("grey lamp")
    assert memory.get("lamp").recall_count == 0
    GraphmemRetriever(memory, similarity_top_k=1).retrieve("grey lamp")
    assert memory.get("lamp").recall_count == 1


@pytest.mark.parametrize("limit", [0, -1, "3", 2.5, True])
def test_a_number_of_nodes_that_cannot_be(memory: Memory, limit: Any) -> None:
    with pytest.raises(InvalidQuery, match="limit"):
        GraphmemRetriever(memory, similarity_top_k=limit).retrieve("blue")


def test_a_blank_question_is_refused(memory: Memory) -> None:
    with pytest.raises(InvalidQuery, match="blank"):
        GraphmemRetriever(memory).retrieve(" ")
