"""A TCP relay that counts round trips: how often the client spoke after the server did."""

from __future__ import annotations

import socket
import threading
from contextlib import suppress
from dataclasses import dataclass, field
from types import TracebackType

_CHUNK = 1 << 16


@dataclass
class _Count:
    trips: int = 0
    client_spoke: bool = False
    lock: threading.Lock = field(default_factory=threading.Lock)

    def client(self) -> None:
        with self.lock:
            if not self.client_spoke:
                self.trips += 1
            self.client_spoke = True

    def server(self) -> None:
        with self.lock:
            self.client_spoke = False


class CountingProxy:
    """Relays a loopback port to a server; `trips` counts the changes from server to client.

    A request counts once, in however many packets it comes; so does its answer.
    """

    def __init__(self, host: str, port: int) -> None:
        self._target = (host, port)
        self._listener = socket.create_server(("127.0.0.1", 0))
        self._sockets: list[socket.socket] = [self._listener]
        self._threads: list[threading.Thread] = []
        self._count = _Count()

    @property
    def port(self) -> int:
        port: int = self._listener.getsockname()[1]
        return port

    @property
    def trips(self) -> int:
        return self._count.trips

    def __enter__(self) -> CountingProxy:
        self._spawn(self._accept)
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        for each in self._sockets:
            close_now(each)
        for thread in self._threads:
            thread.join(10)

    def _spawn(self, work: object, *arguments: object) -> None:
        assert callable(work)
        thread = threading.Thread(target=work, args=arguments, daemon=True)
        self._threads.append(thread)
        thread.start()

    def _accept(self) -> None:
        while True:
            try:
                client, _ = self._listener.accept()
            except OSError:
                return
            server = socket.create_connection(self._target)
            self._sockets += [client, server]
            self._spawn(self._relay, client, server, self._count.client)
            self._spawn(self._relay, server, client, self._count.server)

    @staticmethod
    def _relay(source: socket.socket, target: socket.socket, spoke: object) -> None:
        assert callable(spoke)
        while True:
            try:
                data = source.recv(_CHUNK)
                if not data:
                    break
                spoke()
                target.sendall(data)
            except OSError:
                break
        close_now(target)


def close_now(each: socket.socket) -> None:
    """Close a socket that another thread may be waiting on."""
    with suppress(OSError):
        each.shutdown(socket.SHUT_RDWR)
    each.close()
