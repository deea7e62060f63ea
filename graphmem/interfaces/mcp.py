"""The MCP server: a memory as tools of an agent, over stdio or HTTP.

Namespace and store are fixed when the server starts; no call can leave them.
"""

from __future__ import annotations

import inspect
import ipaddress
import socket
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from importlib.metadata import version
from typing import Any
from urllib.parse import unquote

from pydantic import ValidationError

from graphmem.errors import ConfigurationError, GraphmemError, MissingExtra, NotFound
from graphmem.interfaces.json_view import json_text
from graphmem.interfaces.mcp_tools import MemoryTools
from graphmem.memory import Memory

try:
    import anyio
    import uvicorn
    from mcp.server.mcpserver import MCPServer, ResourceSecurity
    from mcp.server.mcpserver.exceptions import (
        ResourceError,
        ResourceNotFoundError,
        ToolError,
        UnexpectedToolError,
    )
    from mcp.server.mcpserver.tools import Tool
    from mcp.server.transport_security import TransportSecuritySettings
    from mcp_types import ToolAnnotations
except ImportError as error:
    raise MissingExtra(
        f"the MCP server needs the mcp package, version 2 or newer ({error}): "
        "pip install 'graphmem[mcp]'"
    ) from error

_LOOPBACK_NAMES = ("127.0.0.1", "localhost", "[::1]")

_INSTRUCTIONS = """\
A memory of notes that are linked with each other. Call recall before you answer from memory:
its decision tells whether the notes answer the question, and each note tells why it was found.
{writing}All tools work on the namespace {namespace!r} only."""
_WRITING = "Call remember for what should be known later, one fact a note. "
_READING = "This server is read-only. "

_READS = ToolAnnotations(read_only_hint=True, open_world_hint=False)
_ADDS = ToolAnnotations(
    read_only_hint=False, destructive_hint=False, idempotent_hint=True, open_world_hint=False
)
_REMOVES = ToolAnnotations(read_only_hint=False, destructive_hint=True, open_world_hint=False)


@dataclass(frozen=True, slots=True)
class HttpPlace:
    """Where streamable HTTP listens, at the path ``/mcp``.

    Parameters
    ----------
    host, port
        Address to bind; port 0 takes a free one.
    allowed_hosts
        Names, beside those of the loopback interface, that a request's Host header may
        have. Required for any other interface: a server that others reach must know by
        which name, or pages in a browser could reach it under a name of their own
        (DNS rebinding).
    """

    host: str = "127.0.0.1"
    port: int = 8000
    allowed_hosts: tuple[str, ...] = ()

    def bound(self) -> socket.socket:
        """Return a listening socket.

        Raises
        ------
        ConfigurationError
            Not a loopback address while `allowed_hosts` is empty, or it cannot be bound.
        """
        if not _is_loopback(self.host) and not self.allowed_hosts:
            raise ConfigurationError(
                f"{self.host} can be reached from other machines, and the server asks nobody who "
                "they are; name with --allow-host by which host name it may be reached, or "
                "use 127.0.0.1"
            )
        family = socket.AF_INET6 if ":" in self.host else socket.AF_INET
        try:
            return socket.create_server((self.host, self.port), family=family)
        except OSError as error:
            raise ConfigurationError(
                f"cannot listen on {self.host}:{self.port}: {error.strerror or error}; choose "
                "another with --port"
            ) from error

    @property
    def security(self) -> TransportSecuritySettings:
        """The check of a request's Host and Origin headers; always on."""
        names = (*_LOOPBACK_NAMES, *self.allowed_hosts)
        return TransportSecuritySettings(
            enable_dns_rebinding_protection=True,
            allowed_hosts=[form for name in names for form in (name, f"{name}:*")],
            allowed_origins=[
                f"{scheme}://{form}"
                for scheme in ("http", "https")
                for name in names
                for form in (name, f"{name}:*")
            ],
        )


def _is_loopback(host: str) -> bool:
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"


def memory_server(memory: Memory, *, read_only: bool = False) -> MCPServer[Any]:
    """Return a server over an open memory; the caller closes the memory.

    Parameters
    ----------
    read_only
        Offer only the tools that read; recalls leave no trace.
    """
    writing = _READING if read_only else _WRITING
    server: MCPServer[Any] = MCPServer(
        "graphmem",
        version=version("graphmem"),
        instructions=_INSTRUCTIONS.format(writing=writing, namespace=memory.namespace),
        tools=list(_tools(MemoryTools(memory, read_only=read_only), read_only)),
    )
    _add_note_resource(server, memory)
    return server


def serve_stdio(server: MCPServer[Any]) -> None:
    """Serve until stdin ends; stdout carries the protocol and nothing else."""
    anyio.run(server.run_stdio_async)


def serve_http(server: MCPServer[Any], place: HttpPlace, listening: socket.socket) -> None:
    """Serve streamable HTTP on a socket of :meth:`HttpPlace.bound` until interrupted."""
    app = server.streamable_http_app(host=place.host, transport_security=place.security)
    # Without a configuration of its own uvicorn logs where everything else does: to stderr.
    config = uvicorn.Config(app, log_config=None, timeout_graceful_shutdown=2)
    with listening:
        anyio.run(uvicorn.Server(config).serve, [listening])


class _StrictTool(Tool):
    """A tool that says in words what was wrong with a call."""

    async def run(
        self,
        arguments: dict[str, Any],  # as in the SDK's signature
        context: Any,
        convert_result: bool = False,
    ) -> Any:
        known = self.parameters["properties"]
        unknown = sorted(arguments.keys() - known.keys())
        if unknown:
            raise ToolError(
                f"{self.name} has no argument {unknown[0]!r}; it takes {', '.join(known)}. "
                "Nothing was done"
            )
        try:
            return await super().run(arguments, context, convert_result)
        except UnexpectedToolError as error:
            if isinstance(error.__cause__, GraphmemError):
                raise ToolError(str(error.__cause__)) from error.__cause__
            raise
        except ToolError as error:
            if isinstance(error.__cause__, ValidationError):
                raise ToolError(_in_words(error.__cause__)) from error.__cause__
            raise


def _in_words(error: ValidationError) -> str:
    problems = []
    for detail in error.errors():
        field = ".".join(str(part) for part in detail["loc"])
        message = detail["msg"].removeprefix("Value error, ")
        given = "" if detail["type"] in ("missing", "value_error") else f", not {detail['input']!r}"
        problems.append(f"{field}: {message[:1].lower()}{message[1:]}{given:.80}")
    return f"{'; '.join(problems)}. Nothing was done"


def _tools(tools: MemoryTools, read_only: bool) -> Sequence[Tool]:
    reading = (tools.recall, tools.show, tools.links, tools.history)
    made = [_tool(call, _READS) for call in reading]
    if not read_only:
        made += [
            _tool(tools.remember, _ADDS),
            _tool(tools.undo, _REMOVES),
            _tool(tools.forget, _REMOVES),
        ]
    return made


def _tool(call: Callable[..., object], annotations: ToolAnnotations) -> Tool:
    tool = _StrictTool.from_function(
        call, description=inspect.getdoc(call), annotations=annotations
    )
    tool.parameters["additionalProperties"] = False
    return tool


def _add_note_resource(server: MCPServer[Any], memory: Memory) -> None:
    @server.resource(
        "graphmem://notes/{note_id}",
        name="note",
        description="A stored note as JSON; the id percent-encoded.",
        mime_type="application/json",
        # An id is no path: a note may well be called "a/../b".
        security=ResourceSecurity(exempt_params={"note_id"}),
    )
    def note(note_id: str) -> str:
        try:
            return json_text(memory.get(unquote(note_id)))
        except NotFound as error:
            raise ResourceNotFoundError(str(error)) from error
        except GraphmemError as error:
            raise ResourceError(str(error)) from error
