"""A real HTTP server that speaks the chat-completions protocol from a script."""

from __future__ import annotations

import json
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any


@dataclass(frozen=True)
class Answer:
    """What the server sends back; a `text` is put where a completion has it."""

    text: str | None = None
    status: int = 200
    headers: dict[str, str] = field(default_factory=dict)
    body: bytes | None = None
    delay: float = 0.0

    @property
    def content(self) -> bytes:
        if self.body is not None:
            return self.body
        if self.status != 200:
            return json.dumps({"error": {"message": self.text or "no", "type": "e"}}).encode()
        return completion(self.text)


def completion(text: str | None) -> bytes:
    """A completion as servers of this protocol send it."""
    return json.dumps(
        {
            "id": "chatcmpl-1",
            "object": "chat.completion",
            "created": 1751360400,
            "model": "scripted",
            "choices": [
                {
                    "index": 0,
                    "message": {"role": "assistant", "content": text},
                    "finish_reason": "stop",
                }
            ],
            "usage": {"prompt_tokens": 20, "completion_tokens": 5, "total_tokens": 25},
        }
    ).encode()


@dataclass(frozen=True)
class Request:
    """One request as it arrived, the names of its headers in lower case."""

    path: str
    headers: dict[str, str]
    body: Any

    @property
    def prompt(self) -> str:
        text: str = self.body["messages"][-1]["content"]
        return text


Script = Callable[[Request, int], Answer]
"""From a request and its number, counted from 0, to the answer."""


@dataclass
class ChatServer:
    """A running server: its address and what it was asked."""

    script: Script
    url: str = ""
    requests: list[Request] = field(default_factory=list)


@contextmanager
def chat_server(script: Script | str) -> Iterator[ChatServer]:
    """Serve `script`, or the same text to everyone, on a free port of this machine."""
    answer = script
    serving = ChatServer((lambda _, __: Answer(answer)) if isinstance(answer, str) else answer)
    lock = threading.Lock()

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_POST(self) -> None:
            body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
            lowered = {name.lower(): value for name, value in self.headers.items()}
            with lock:
                request = Request(self.path, lowered, body)
                number = len(serving.requests)
                serving.requests.append(request)
            given = serving.script(request, number)
            time.sleep(given.delay)
            content = given.content
            self.send_response(given.status)
            for name, value in given.headers.items():
                self.send_header(name, value)
            self.send_header("Content-Type", "application/json")
            self.send_header("Content-Length", str(len(content)))
            self.end_headers()
            self.wfile.write(content)

        def log_message(self, format: str, *args: object) -> None:  # noqa: A002 - as inherited
            """Keep the test's output clean."""

    class Server(ThreadingHTTPServer):
        daemon_threads = True
        block_on_close = False

        def handle_error(self, request: object, client_address: object) -> None:
            """A client that gave up is part of the tests."""

    with Server(("127.0.0.1", 0), Handler) as server:
        thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
        thread.start()
        serving.url = f"http://127.0.0.1:{server.server_address[1]}/v1"
        try:
            yield serving
        finally:
            server.shutdown()
            thread.join()
