"""The MCP server in this process, asked by the SDK's client."""

from __future__ import annotations

import json
from collections.abc import Awaitable, Callable, Iterator
from datetime import UTC, datetime
from typing import Any

import anyio
import pytest
from mcp import Client, MCPError
from mcp_types import CallToolResult, TextContent

from graphmem import ConfigurationError, Memory, open_memory
from graphmem.interfaces.mcp import HttpPlace, memory_server

READING = {"recall", "show", "links", "history"}
WRITING = {"remember", "undo", "forget"}


@pytest.fixture
def memory() -> Iterator[Memory]:
    with open_memory(":memory:", embedder="hashing-64", namespace="ada") as memory:
        yield memory


def with_client(memory: Memory, do: Callable[[Client], Awaitable[Any]], **options: bool) -> Any:
    async def session() -> Any:
        async with Client(memory_server(memory, **options)) as client:
            return await do(client)

    return anyio.run(session)


def called(memory: Memory, tool: str, **arguments: object) -> CallToolResult:
    async def do(client: Client) -> CallToolResult:
        return await client.call_tool(tool, arguments)

    return with_client(memory, do)


def answered(memory: Memory, tool: str, **arguments: object) -> Any:
    result = called(memory, tool, **arguments)
    assert not result.is_error, result.content
    return result.structured_content


def refused(memory: Memory, tool: str, **arguments: object) -> str:
    result = called(memory, tool, **arguments)
    assert result.is_error
    (content,) = result.content
    assert isinstance(content, TextContent)
    return content.text


@pytest.mark.parametrize(("read_only", "names"), [(False, READING | WRITING), (True, READING)])
def test_tools_are_listed_with_their_types(
    memory: Memory, read_only: bool, names: set[str]
) -> None:
    async def do(client: Client) -> Any:
        return await client.list_tools()

    tools = with_client(memory, do, read_only=read_only).tools
    assert {tool.name for tool in tools} == names
    for tool in tools:
        assert tool.description
        assert tool.input_schema["additionalProperties"] is False
        assert tool.output_schema["properties"]
        assert tool.annotations.read_only_hint is (tool.name in READING)


def test_what_is_remembered_is_recalled_with_reasons(memory: Memory) -> None:
    kept = answered(
        memory,
        "remember",
        content="Ada prefers aisle seats on long flights",
        author="Ada",
        source="chat-7",
        position=3,
        created_at="2025-07-01T09:00:00+02:00",
        tags=["travel"],
        importance=0.5,
        metadata={"mood": "firm"},
    )
    assert kept["outcome"] == "added"
    note = memory.get(kept["note_id"])
    assert (note.author, note.tags, note.importance) == ("Ada", ("travel",), 0.5)
    assert note.source is not None
    assert (note.source.id, note.source.position) == ("chat-7", 3)
    assert note.metadata == {"mood": "firm"}

    found = answered(memory, "recall", query="Which seats does Ada prefer?", authors=["Ada"])
    (best,) = found["notes"]
    assert best["id"] == note.id
    assert best["created_at"] == "2025-07-01T07:00:00Z"
    assert best["score"] == pytest.approx(sum(best["contributions"].values()), abs=1e-9)
    assert best["path"][0].startswith("seed ")
    decision = found["decision"]
    assert decision["outcome"] in {"retrieved", "partial", "unknown"}
    assert decision["reason"]
    assert {cited["note_id"] for cited in decision["evidence"]} <= {note.id}
    assert memory.get(note.id).recall_count == 1


def test_filters_reach_the_memory(memory: Memory) -> None:
    memory.add("the kettle is blue", id="blue", author="Ada", tags="kitchen")
    memory.add("the kettle is grey", id="grey", author="Ben", tags="office")
    for filters, expected in [
        ({"authors": ["Ben"]}, {"grey"}),
        ({"tags": ["kitchen"]}, {"blue"}),
        ({"sources": ["none"]}, set()),
        ({"since": "2099-01-01T00:00:00Z"}, set()),
        ({"as_of": "1999-01-01T00:00:00Z"}, set()),
        ({"limit": 1}, {"blue"}),
    ]:
        found = answered(memory, "recall", query="blue kettle", **filters)
        assert {note["id"] for note in found["notes"]} == expected, filters


def test_what_is_outdated_is_told(memory: Memory) -> None:
    memory.add("We have 3 cats in our house", id="old", created_at=datetime(2025, 3, 1, tzinfo=UTC))
    kept = answered(
        memory,
        "remember",
        content="We have 4 cats in our house",
        created_at="2025-04-01T09:00:00Z",
    )
    assert [link["reason"] for link in kept["links"]] == [None, "number: 3 -> 4"]
    found = answered(memory, "recall", query="how many cats do we have?")
    newer, older = found["notes"]
    assert (newer["id"], older["id"]) == (kept["note_id"], "old")
    assert newer["superseded_by"] == []
    assert [link["from_id"] for link in older["superseded_by"]] == [kept["note_id"]]


def test_links_history_undo_and_forget(memory: Memory) -> None:
    text = "the blue kettle stands on the upper shelf beside the grey lamp and the bread"
    memory.add(text, id="old", tags=["old"], keywords=["k"], context="c")
    memory.add(text + "!", id="new", tags=["new"], keywords=["k"], context="c")
    memory.add("blue kettle, shelf, third", id="third")

    around = answered(memory, "links", note_id="old")
    assert {"old", "new"} <= {note["id"] for note in around["notes"]}
    assert {(link["from_id"], link["to_id"]) for link in around["links"]} >= {("new", "old")}
    weights = [link["weight"] for link in around["links"]]
    assert weights == sorted(weights, reverse=True)
    cut = answered(memory, "links", note_id="old", limit=1)
    assert len(cut["links"]) == 1
    assert cut["omitted"] == len(around["links"]) - 1
    assert answered(memory, "links", note_id="old", min_weight=1.0)["links"] == []

    (event,) = answered(memory, "history", note_id="old")["events"]
    assert (event["kind"], event["trigger_id"]) == ("evolved", "new")
    assert [change["field"] for change in event["changes"]] == ["tags"]

    undone = answered(memory, "undo", event_id=event["id"])
    assert undone["kind"] == "undone"
    assert answered(memory, "show", note_id="old")["tags"] == ["old"]

    receipt = answered(memory, "forget", note_id="old")
    assert receipt["note_ids"] == ["old"]
    assert receipt["verified"] is True
    assert "no note 'old'" in refused(memory, "show", note_id="old")


def test_a_source_is_forgotten_whole(memory: Memory) -> None:
    for position in range(3):
        answered(memory, "remember", content=f"turn {position}", source="c", position=position)
    answered(memory, "remember", content="another")
    assert len(answered(memory, "forget", source="c")["note_ids"]) == 3
    assert memory.stats().notes == 1


@pytest.mark.parametrize(
    ("tool", "arguments", "named"),
    [
        ("recall", {"query": "x", "limit": "3"}, "limit"),
        ("recall", {"query": "x", "limit": 2.5}, "limit"),
        ("recall", {"query": "x", "limit": True}, "limit"),
        ("recall", {"query": "x", "limit": 0}, "limit"),
        ("recall", {"query": "x", "limit": -1}, "limit"),
        ("recall", {"query": "x", "limti": 3}, "limti"),
        ("recall", {"query": 7}, "query"),
        ("recall", {"query": None}, "query"),
        ("recall", {"query": " \u200b"}, "blank"),
        ("recall", {"query": "x", "authors": "Ada"}, "authors"),
        ("recall", {"query": "x", "since": "yesterday"}, "since"),
        ("recall", {"query": "x", "since": "2025-01-01"}, "time zone"),
        ("recall", {"query": "x", "since": 1751360400}, "since"),
        ("recall", {}, "query"),
        ("remember", {"content": ""}, "content"),
        ("remember", {"content": ["a"]}, "content"),
        ("remember", {"content": "nul \0"}, "NUL"),
        ("remember", {"content": "x", "importance": "0.5"}, "importance"),
        ("remember", {"content": "x", "importance": 7}, "importance"),
        ("remember", {"content": "x", "position": 1}, "source"),
        ("remember", {"content": "x", "metadata": "text"}, "metadata"),
        ("show", {"note_id": "no such"}, "no such"),
        ("links", {"note_id": "no such"}, "no such"),
        ("links", {"note_id": "n", "hops": 9}, "hops"),
        ("undo", {"event_id": "n@9"}, "n@9"),
        ("forget", {}, "note_id or source"),
        ("forget", {"note_id": "a", "source": "b"}, "note_id or source"),
        ("forget", {"note_id": "no such"}, "no such"),
        ("no_tool", {}, "no_tool"),
    ],
)
def test_a_wrong_call_is_refused_in_words(
    memory: Memory, tool: str, arguments: dict[str, object], named: str
) -> None:
    assert named in refused(memory, tool, **arguments)
    assert memory.stats().notes == 0


def test_an_unforeseen_error_keeps_its_text_to_itself(
    memory: Memory, monkeypatch: pytest.MonkeyPatch
) -> None:
    def broken(*_: object, **__: object) -> None:
        raise RuntimeError("secret detail")

    monkeypatch.setattr(Memory, "get", broken)
    assert "secret" not in refused(memory, "show", note_id="n")


def test_a_read_only_server_leaves_no_trace(memory: Memory) -> None:
    memory.add("the kettle is blue", id="n")

    async def do(client: Client) -> tuple[CallToolResult, CallToolResult]:
        found = await client.call_tool("recall", {"query": "kettle"})
        return found, await client.call_tool("remember", {"content": "x"})

    found, refusal = with_client(memory, do, read_only=True)
    assert found.structured_content["notes"][0]["id"] == "n"
    assert refusal.is_error
    assert memory.get("n").recall_count == 0
    assert memory.stats().notes == 1


@pytest.mark.parametrize("note_id", ["n", "a/../b c", "ü%7", "a?b#c"])
def test_a_note_is_a_resource(memory: Memory, note_id: str) -> None:
    from urllib.parse import quote

    memory.add("the kettle is blue", id=note_id)

    async def do(client: Client) -> Any:
        (template,) = (await client.list_resource_templates()).resource_templates
        uri = template.uri_template.replace("{note_id}", quote(note_id, safe=""))
        return await client.read_resource(uri)

    (content,) = with_client(memory, do).contents
    assert content.mime_type == "application/json"
    note = json.loads(content.text)
    assert (note["id"], note["content"]) == (note_id, "the kettle is blue")


def test_a_missing_note_is_no_resource(memory: Memory) -> None:
    async def do(client: Client) -> None:
        with pytest.raises(MCPError, match="no note 'gone'"):
            await client.read_resource("graphmem://notes/gone")

    with_client(memory, do)


@pytest.mark.parametrize("host", ["0.0.0.0", "192.168.0.7", "::", "example.org"])  # noqa: S104 - refused
def test_an_address_others_reach_needs_their_name_for_it(host: str) -> None:
    with pytest.raises(ConfigurationError, match="--allow-host"):
        HttpPlace(host, 0).bound()


def test_a_port_in_use_is_said() -> None:
    with HttpPlace(port=0).bound() as taken:
        port = taken.getsockname()[1]
        with pytest.raises(ConfigurationError, match=f"{port}.*--port"):
            HttpPlace(port=port).bound()
