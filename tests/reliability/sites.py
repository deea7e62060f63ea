"""Where stores of both kinds are, and processes that change them until they are killed."""

from __future__ import annotations

import os
import signal
from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path

import neo4j
from reliability.operations import MAIN, Clock
from reliability.writer import die_before

from graphmem import Memory, open_memory
from graphmem.stores.neo4j import connection as neo4j_connection


@dataclass(frozen=True)
class Site:
    """Where a store is; picklable."""

    url: str
    auth: tuple[str, str] | None = None

    @property
    def kind(self) -> str:
        return "embedded" if self.auth is None else "Neo4j"

    def open(self, model: str, clock: Callable[[], datetime] | None = None) -> Memory:
        return open_memory(
            self.url, auth=self.auth, embedder=model, namespace=MAIN, clock=clock or Clock()
        )


def change_model(site: Site, old: str, new: str, statements: int, opened: str) -> None:
    """Reindex; die before that statement, or leave the killing to others where it is 0."""
    if statements:
        die_before_any(statements)
    with site.open(old) as memory:
        memory.stats()
        Path(opened).touch()
        memory.reindex(new)


def open_until_killed(site: Site, model: str, statements: int) -> None:
    """Open a store, which migrates it, and die before that statement."""
    die_before_any(statements)
    with site.open(model) as memory:
        memory.stats()


def die_before_any(statements: int) -> None:
    """Kill this process before that statement to SQLite or to Neo4j, whichever it is."""
    die_before(statements)
    sent, left = neo4j_connection._sent, iter(range(statements, -1, -1))

    def count_and_send(send: Callable[[], neo4j.Result]) -> neo4j.Result:
        if next(left) == 0:
            os.kill(os.getpid(), signal.SIGKILL)
        return sent(send)

    neo4j_connection._sent = count_and_send
