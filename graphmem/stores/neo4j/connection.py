"""One Neo4j database behind a driver: reads in one round trip, writes retried as a whole.

Reads are auto-commit statements (the driver's ``execute_query`` would cost a round trip
more) and are repeated here when the server says that a repetition may help. All sessions
share their bookmarks, so that in a cluster this process reads its own writes wherever it
is routed. What other processes wrote is seen once it reached the member that answers; on
one server that is at once.
"""

from __future__ import annotations

import random
import re
import time
from collections.abc import Callable, Mapping
from contextlib import ExitStack
from types import MappingProxyType
from typing import Any, LiteralString, TypeVar
from urllib.parse import urlsplit

import neo4j
from neo4j import GraphDatabase, ManagedTransaction, Record
from neo4j.exceptions import DriverError, Neo4jError

from graphmem.errors import ClosedMemory, ConfigurationError, InvalidInput
from graphmem.stores.neo4j import cypher
from graphmem.stores.neo4j.errors import translated

T = TypeVar("T")
Parameters = Mapping[str, Any]

ATTEMPTS = 10
"""For statements the server rolled back: in a crowd of writers some deadlock again and again."""

ANOTHER_CAME_FIRST = frozenset(
    (
        "Neo.ClientError.Schema.EquivalentSchemaRuleAlreadyExists",
        "Neo.ClientError.Schema.IndexDropFailed",
    )
)
"""IF [NOT] EXISTS looks before it locks: of two at once the later fails with one of these. Said
again, it finds nothing left to do."""

ATTEMPTS_TO_CONNECT = 5
FIRST_PAUSE_SECONDS = 0.1
LONGEST_PAUSE_SECONDS = 1.0
CONNECTION_TIMEOUT_SECONDS = 10.0
RETRY_SECONDS = 60.0
"""How long the driver repeats a write that deadlocks or loses its leader."""

_DRIVER_SETTINGS: Mapping[str, Any] = MappingProxyType(
    {
        "connection_timeout": CONNECTION_TIMEOUT_SECONDS,
        "connection_acquisition_timeout": RETRY_SECONDS,
        "max_transaction_retry_time": RETRY_SECONDS,
        # Hosted servers and load balancers drop idle connections without a word.
        "liveness_check_timeout": 240.0,
        "max_connection_lifetime": 3000.0,
        "telemetry_disabled": True,
        "notifications_min_severity": "OFF",
        "user_agent": "graphmem",
    }
)


def address_of(uri: str) -> str:
    """Return scheme, host and port of an address, without credentials.

    >>> address_of("neo4j+s://ada:secret@graph.example:7687/path")
    'neo4j+s://graph.example:7687'
    """
    parts = urlsplit(uri)
    return f"{parts.scheme}://{parts.netloc.rpartition('@')[2]}"


def _version_of(text: str) -> tuple[int, ...]:
    return tuple(int(part) for part in re.findall(r"\d+", text)[:2])


def run(transaction: ManagedTransaction, name: str, **parameters: Any) -> list[Record]:
    """Run a statement of ``cypher/queries`` within a transaction."""
    return list(_sent(lambda: transaction.run(cypher.query(name), parameters)))


def _sent(send: Callable[[], neo4j.Result]) -> neo4j.Result:
    try:
        return send()
    except UnicodeEncodeError as error:
        raise InvalidInput(
            "a text holds a lone surrogate, which UTF-8 cannot; nothing was changed"
        ) from error
    except OverflowError as error:
        raise InvalidInput("a whole number needs more than 64 bits; nothing was changed") from error


def _pause(number: int) -> None:
    longest = min(FIRST_PAUSE_SECONDS * 2 ** (number - 1), LONGEST_PAUSE_SECONDS)
    # Those that deadlocked with each other must not meet again.
    time.sleep(longest * random.uniform(0.5, 1.0))  # noqa: S311 - spread, not secrecy


class Connection:
    """An open driver for one database; safe to use from several threads."""

    def __init__(
        self, driver: neo4j.Driver, place: str, database: str, version: tuple[int, ...]
    ) -> None:
        self._driver = driver
        self._bookmarks = GraphDatabase.bookmark_manager()
        self._closed = False
        self.place = place
        self.database = database
        self.version = version

    def __repr__(self) -> str:
        return f"Connection({self.place!r}, database={self.database!r})"

    @classmethod
    def open(cls, uri: str, auth: tuple[str, str] | None, database: str | None) -> Connection:
        """Connect, log in and find the database's name.

        Raises
        ------
        ConfigurationError
            The address or database cannot be used.
        StoreUnavailable
            The server does not answer or refuses the password.
        """
        place = address_of(uri)
        if "@" in urlsplit(uri).netloc:
            raise ConfigurationError(
                f"{place}: give user and password by `auth` or NEO4J_USERNAME and "
                "NEO4J_PASSWORD, not in the address"
            )
        try:
            with translated(place), ExitStack() as stack:
                driver = GraphDatabase.driver(uri, auth=auth, **_DRIVER_SETTINGS)
                stack.callback(driver.close)
                with driver.session(database=database) as session:
                    result = session.run(cypher.query("server"))
                    version = _version_of(result.single(strict=True)["version"])
                    name = result.consume().database
                stack.pop_all()
        except ValueError as error:
            raise ConfigurationError(f"{place} is not an address: {error}") from error
        return cls(driver, place, name or database or "neo4j", version)

    def read(self, name: str, **parameters: Any) -> list[Record]:
        """Run a reading statement of ``cypher/queries``: one round trip."""
        return self.read_by(cypher.query(name), **parameters)

    def read_by(self, statement: LiteralString, **parameters: Any) -> list[Record]:
        """Run a reading statement: one round trip."""
        with translated(self.place):
            return self._repeated(lambda: self._auto_commit(statement, parameters, "READ"))

    def update(self, name: str, **parameters: Any) -> list[Record]:
        """Run a writing statement of ``cypher/queries`` on its own: one round trip.

        Repeated only when the server says that it was rolled back.
        """
        return self.update_by(cypher.query(name), **parameters)

    def update_by(self, statement: LiteralString, **parameters: Any) -> list[Record]:
        """Run a writing statement on its own: one round trip, repeated as by :meth:`update`."""
        with translated(self.place):
            return self._repeated(
                lambda: self._auto_commit(statement, parameters, "WRITE"), (Neo4jError,)
            )

    def define(self, statement: LiteralString, **parameters: Any) -> None:
        """Run a statement that cannot share a transaction: of the schema or a migration."""
        with translated(self.place):
            self._repeated(lambda: self._defined(statement, parameters))

    def write(self, work: Callable[[ManagedTransaction], T]) -> T:
        """Run `work` in one transaction; repeated as a whole when the server asks for it."""
        with translated(self.place), self._session("WRITE") as session:
            return session.execute_write(work)

    def close(self) -> None:
        """Release the driver; a second call does nothing."""
        if not self._closed:
            self._closed = True
            with translated(self.place):
                self._driver.close()

    def _session(self, access: str) -> neo4j.Session:
        if self._closed:
            raise ClosedMemory(f"the memory on {self.place} is closed; open it again")
        return self._driver.session(
            database=self.database,
            default_access_mode=access,
            bookmark_manager=self._bookmarks,
            fetch_size=-1,
        )

    def _auto_commit(
        self, statement: LiteralString, parameters: Parameters, access: str
    ) -> list[Record]:
        with self._session(access) as session:
            return list(_sent(lambda: session.run(statement, dict(parameters))))

    def _defined(self, statement: LiteralString, parameters: Parameters) -> None:
        try:
            self._auto_commit(statement, parameters, "WRITE")
        except Neo4jError as error:
            if error.code not in ANOTHER_CAME_FIRST:
                raise
            self._auto_commit(statement, parameters, "WRITE")

    @staticmethod
    def _repeated(
        attempt: Callable[[], T],
        temporary: tuple[type[Neo4jError | DriverError], ...] = (Neo4jError, DriverError),
    ) -> T:
        number = 0
        while True:
            number += 1
            try:
                return attempt()
            except temporary as error:
                attempts = ATTEMPTS if isinstance(error, Neo4jError) else ATTEMPTS_TO_CONNECT
                if number >= attempts or not error.is_retryable():
                    raise
                _pause(number)
