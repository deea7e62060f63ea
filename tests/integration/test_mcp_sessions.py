"""The installed command as an agent starts it: a process that speaks MCP."""

from __future__ import annotations

import json
import re
import shlex
import signal
import subprocess
import sys
import tomllib
from collections.abc import Awaitable, Callable, Iterator
from pathlib import Path
from typing import Any

import anyio
import pytest
from cli_process import CommandLine
from mcp import Client, StdioServerParameters
from mcp.client.streamable_http import streamable_http_client
from mcp_types import CallToolResult

from graphmem.providers.model_status import model_status

GRAPHMEM = str(Path(sys.executable).with_name("graphmem"))
NOISY = {"PYTHONWARNINGS": "default"}
KETTLE = "The blue kettle stands on the upper shelf"


def environment(folder: Path) -> dict[str, str]:
    return CommandLine(folder).environment | NOISY


def stdio(
    folder: Path, *options: str, namespace: str = "ada", transcript: str = "out.jsonl"
) -> StdioServerParameters:
    """The command on a file in `folder`; what it prints is kept in `transcript` too."""
    command = [GRAPHMEM, "mcp", "--url", "notes.graphmem", "-n", namespace]
    line = f"{shlex.join([*command, '--log-level', 'debug', *options])} | tee {transcript}"
    return StdioServerParameters(
        command="sh", args=["-c", line], env=environment(folder), cwd=str(folder)
    )


def structured(result: CallToolResult) -> Any:
    assert not result.is_error, result.content
    return result.structured_content


def session(
    server: StdioServerParameters, do: Callable[[Client], Awaitable[Any]], log: Path
) -> Any:
    from mcp import stdio_client

    async def run() -> Any:
        with log.open("w") as errlog:
            async with Client(stdio_client(server, errlog=errlog)) as client:
                return await do(client)

    return anyio.run(run)


def assert_only_the_protocol(transcript: Path) -> None:
    lines = transcript.read_bytes().splitlines()
    assert lines
    for line in lines:
        assert json.loads(line)["jsonrpc"] == "2.0", line


def test_a_session_remembers_recalls_and_forgets(tmp_path: Path) -> None:
    async def do(client: Client) -> None:
        tools = {tool.name for tool in (await client.list_tools()).tools}
        assert tools >= {"remember", "recall", "show", "links", "history", "undo", "forget"}
        kept = structured(await client.call_tool("remember", {"content": KETTLE, "author": "Ada"}))
        found = structured(await client.call_tool("recall", {"query": "blue kettle"}))
        assert [note["content"] for note in found["notes"]] == [KETTLE]
        assert found["decision"]["reason"]
        failed = await client.call_tool("show", {"note_id": "no such note"})
        assert failed.is_error
        gone = structured(await client.call_tool("forget", {"note_id": kept["note_id"]}))
        assert gone["verified"] is True
        found = structured(await client.call_tool("recall", {"query": "blue kettle"}))
        assert found["notes"] == []

    session(stdio(tmp_path), do, tmp_path / "err")
    assert_only_the_protocol(tmp_path / "out.jsonl")
    assert "no such note" in (tmp_path / "err").read_text()  # debug output goes there


def test_another_namespace_sees_nothing(tmp_path: Path) -> None:
    async def remember(client: Client) -> str:
        arguments = {"content": KETTLE, "source": "chat"}
        note_id: str = structured(await client.call_tool("remember", arguments))["note_id"]
        return note_id

    note_id = session(stdio(tmp_path), remember, tmp_path / "err")

    async def look(client: Client) -> None:
        found = structured(await client.call_tool("recall", {"query": KETTLE}))
        assert (found["notes"], found["considered"]) == ([], 0)
        for tool, arguments in [
            ("show", {"note_id": note_id}),
            ("links", {"note_id": note_id}),
            ("history", {"note_id": note_id}),
            ("forget", {"note_id": note_id}),
            ("forget", {"source": "chat"}),
            ("recall", {"query": KETTLE, "namespace": "ada"}),
        ]:
            assert (await client.call_tool(tool, arguments)).is_error, tool

    session(stdio(tmp_path, namespace="ben"), look, tmp_path / "err")

    async def still_there(client: Client) -> None:
        assert structured(await client.call_tool("show", {"note_id": note_id}))["content"] == KETTLE

    session(stdio(tmp_path), still_there, tmp_path / "err")


class RawSession:
    """Writes bytes and reads lines, as no well-behaved client would."""

    def __init__(self, folder: Path) -> None:
        self.process = subprocess.Popen(
            [GRAPHMEM, "mcp", "--url", ":memory:", "--log-level", "debug"],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            env=environment(folder),
        )
        self.lines: list[bytes] = []

    def send(self, line: bytes) -> None:
        assert self.process.stdin is not None
        self.process.stdin.write(line + b"\n")
        self.process.stdin.flush()

    def ask(self, number: int, method: str, **params: object) -> Any:
        message = {"jsonrpc": "2.0", "id": number, "method": method, "params": params}
        self.send(json.dumps(message).encode())
        assert self.process.stdout is not None
        while line := self.process.stdout.readline():
            self.lines.append(line)
            answer = json.loads(line)
            if answer.get("id") == number:
                return answer
        raise AssertionError("the server ended")

    def end(self) -> tuple[int, bytes]:
        out, err = self.process.communicate(timeout=30)
        self.lines += out.splitlines()
        return self.process.returncode, err


def test_bad_lines_and_failing_calls_do_not_end_the_server(tmp_path: Path) -> None:
    raw = RawSession(tmp_path)
    try:
        started = raw.ask(
            1,
            "initialize",
            protocolVersion="2025-06-18",
            capabilities={},
            clientInfo={"name": "test", "version": "1"},
        )
        assert started["result"]["serverInfo"]["name"] == "graphmem"
        raw.send(b'{"jsonrpc": "2.0", "method": "notifications/initialized"}')
        bad = (b"\xff\xfe", b"", b"{", b"[]", b"null", b'{"jsonrpc": "1.0"}', b"[" * 5000)
        for number, line in enumerate(bad, start=10):
            raw.send(line)
            answer = raw.ask(number, "tools/call", name="recall", arguments={"query": "/b *"})
            assert answer["result"]["structuredContent"]["notes"] == []
        failing = raw.ask(30, "tools/call", name="show", arguments={"note_id": "x"})
        assert failing["result"]["isError"] is True
        assert "error" in raw.ask(31, "no/such/method")
        kept = raw.ask(32, "tools/call", name="remember", arguments={"content": KETTLE})
        assert kept["result"]["structuredContent"]["outcome"] == "added"
    finally:
        code, err = raw.end()
    assert code == 0
    assert b"DEBUG" in err
    assert all(json.loads(line)["jsonrpc"] == "2.0" for line in raw.lines)


def test_a_store_that_does_not_open_is_said_on_stderr(tmp_path: Path) -> None:
    done = CommandLine(tmp_path)("mcp", "--url", str(tmp_path / "no" / "folder" / "x.graphmem"))
    assert (done.code, done.out) == (1, "")
    assert done.err.startswith("error: ")


def test_others_are_kept_out_unless_named(tmp_path: Path) -> None:
    done = CommandLine(tmp_path)("mcp", "--url", ":memory:", "--http", "--host", "0.0.0.0")  # noqa: S104
    assert (done.code, done.out) == (1, "")
    assert "--allow-host" in done.err


@pytest.fixture(scope="module")
def address(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    process = subprocess.Popen(
        [GRAPHMEM, "mcp", "--url", ":memory:", "--http", "--port", "0"],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env=environment(tmp_path_factory.mktemp("http")),
    )
    assert process.stderr is not None
    match = re.search(r"http://127\.0\.0\.1:\d+/mcp", process.stderr.readline())
    assert match is not None
    yield match[0]
    process.send_signal(signal.SIGINT)
    out, _ = process.communicate(timeout=30)
    assert (process.returncode, out) == (130, "")


def test_http_serves_the_same_tools(address: str) -> None:
    async def run() -> None:
        async with Client(address) as client:
            kept = structured(await client.call_tool("remember", {"content": KETTLE}))
        async with Client(streamable_http_client(address)) as client:
            found = structured(await client.call_tool("recall", {"query": "kettle"}))
            assert [note["id"] for note in found["notes"]] == [kept["note_id"]]

    anyio.run(run)


@pytest.mark.parametrize("header", [{"Host": "evil.example:80"}, {"Origin": "http://evil.example"}])
def test_a_page_under_a_foreign_name_is_refused(address: str, header: dict[str, str]) -> None:
    from urllib.error import HTTPError
    from urllib.request import Request, urlopen

    asked = Request(  # noqa: S310 - an address of this test
        address,
        data=b"{}",
        headers={"Content-Type": "application/json", "Accept": "application/json"} | header,
    )
    with pytest.raises(HTTPError) as refused:
        urlopen(asked, timeout=30)  # noqa: S310 - an address of this test
    assert refused.value.code in {403, 421}
    refused.value.close()


README = Path(__file__).parents[2] / "README.md"


def test_the_configuration_of_the_readme_starts_a_server(tmp_path: Path) -> None:
    blocks = re.findall(r"^```json\n(.*?)^```", README.read_text(), re.DOTALL | re.MULTILINE)
    (shown,) = (json.loads(block) for block in blocks if "mcpServers" in block)
    codex = re.search(r"^```toml\n(.*?)^```", README.read_text(), re.DOTALL | re.MULTILINE)
    assert codex is not None
    (server,) = shown["mcpServers"].values()
    assert tomllib.loads(codex[1])["mcp_servers"]["graphmem"] == server
    assert server["command"] == Path(GRAPHMEM).name

    async def do(client: Client) -> Any:
        return await client.list_tools()

    here = [argument.replace("/home/me", str(tmp_path)) for argument in server["args"]]
    parameters = StdioServerParameters(command=GRAPHMEM, args=here, env=environment(tmp_path))
    assert session(parameters, do, tmp_path / "err").tools
    assert (tmp_path / "notes.graphmem").exists()


def test_the_default_model_recalls_by_meaning(tmp_path: Path) -> None:
    status = model_status()
    if not status.ready:
        pytest.skip(f"the default model is not on this machine: {status.advice}")

    async def do(client: Client) -> None:
        for text in ("Ada always takes the aisle seat.", "The invoice printer jams on Fridays."):
            structured(await client.call_tool("remember", {"content": text}))
        found = structured(await client.call_tool("recall", {"query": "Where does she sit?"}))
        assert found["notes"][0]["content"].startswith("Ada")

    session(stdio(tmp_path, "--model", model_status().model_id), do, tmp_path / "err")
    assert_only_the_protocol(tmp_path / "out.jsonl")
