"""The driver's errors as graphmem's, in one place."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from neo4j.exceptions import (
    AuthError,
    ClientError,
    ConstraintError,
    DriverError,
    Forbidden,
    IncompleteCommit,
    Neo4jError,
    ServiceUnavailable,
    SessionExpired,
    TransientError,
)
from neo4j.exceptions import (
    ConfigurationError as DriverConfigurationError,
)

from graphmem.errors import (
    ConfigurationError,
    Conflict,
    GraphmemError,
    ReadOnlyStore,
    StoreError,
    StoreUnavailable,
)


@contextmanager
def translated(place: str) -> Iterator[None]:
    """Raise the driver's errors as those of ``graphmem.errors``, naming the server.

    Parameters
    ----------
    place
        The server's address, without credentials.
    """
    try:
        yield
    except (Neo4jError, DriverError) as error:
        raise _translate(error, place) from error


def _translate(error: Neo4jError | DriverError, place: str) -> GraphmemError:
    kept = "nothing was changed"
    match error:
        case Forbidden():
            return ReadOnlyStore(
                f"{place} does not permit this user to do that; {kept}: {_said(error)}"
            )
        case AuthError():
            return StoreUnavailable(f"{place} refused the user or password; {kept}: check both")
        case IncompleteCommit():
            return StoreUnavailable(
                f"{place} went away while it committed: the change is stored whole or not at "
                "all, and nobody can say which; look before you repeat it"
            )
        case ServiceUnavailable() | SessionExpired():
            return StoreUnavailable(
                f"{place} does not answer; is the server running and the address right? {kept}"
            )
        case TransientError():
            return StoreUnavailable(
                f"{place} could not finish the work for now; {kept}, try again: {_said(error)}"
            )
        case ConstraintError():
            return Conflict(f"another writer came first at {place}; {kept}, try again")
        case ClientError(code="Neo.ClientError.Database.DatabaseNotFound"):
            return ConfigurationError(f"{place} has no database of that name: {_said(error)}")
        case DriverConfigurationError():
            return ConfigurationError(f"the address of {place} cannot be used: {error}")
        case _:
            return StoreError(f"{place} could not do the work; {kept}: {_said(error)}")


def _said(error: Exception) -> str:
    return str(getattr(error, "message", None) or error)
