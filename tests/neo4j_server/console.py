"""Looking at, and damaging, a test server's graph behind a store's back."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from neo4j import GraphDatabase

from neo4j_server.server import Address


class Console:
    """Runs statements of a test."""

    def __init__(self, session: Any) -> None:
        self._session = session

    def __call__(self, statement: str, **parameters: object) -> list[dict[str, Any]]:
        return [record.data() for record in self._session.run(statement, parameters)]

    def profile(self, statement: str, **parameters: object) -> set[str]:
        """The operators of a statement's plan; nothing is executed."""
        summary = self._session.run(f"EXPLAIN {statement}", parameters).consume()
        return set(_operators(summary.plan))

    def rolled_back(self, statement: str, **parameters: object) -> list[dict[str, Any]]:
        """Execute a statement in a transaction and undo it."""
        with self._session.begin_transaction() as transaction:
            rows = [record.data() for record in transaction.run(statement, parameters)]
            transaction.rollback()
        return rows


@contextmanager
def console(address: Address) -> Iterator[Console]:
    with (
        GraphDatabase.driver(
            address.uri, auth=address.auth, notifications_min_severity="OFF"
        ) as driver,
        driver.session(database=address.database) as session,
    ):
        yield Console(session)


def _operators(plan: dict[str, Any]) -> Iterator[str]:
    yield plan["operatorType"].split("@")[0]
    for child in plan.get("children", ()):
        yield from _operators(child)
