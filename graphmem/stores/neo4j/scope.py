"""A scope and a filter as parameters of the statements in ``cypher/queries``."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

from graphmem.model import NoteFilter, Scope
from graphmem.stores.neo4j.rows import in_utc

_STEP = timedelta(microseconds=1)


@dataclass(frozen=True, slots=True)
class Visibility:
    """What a read may see: the scope's and the filter's conditions as one.

    `until` is exclusive. ``None`` asks nothing.
    """

    namespace: str
    sources: frozenset[str] | None
    authors: frozenset[str] | None
    tags: frozenset[str] | None = None
    since: datetime | None = None
    until: datetime | None = None
    archived: bool = False

    @classmethod
    def of(cls, scope: Scope, where: NoteFilter) -> Visibility:
        """Return the conditions of both."""
        return cls(
            namespace=scope.namespace,
            sources=_both(scope.sources, where.sources),
            authors=_both(scope.authors, where.authors),
            tags=where.tags,
            since=where.since,
            until=_earlier(where.until, _after(where.as_of)),
            archived=where.archived,
        )

    @property
    def unfiltered(self) -> bool:
        """Whether exactly the namespace's current notes are seen."""
        asked = (self.sources, self.authors, self.tags, self.since, self.until)
        return not self.archived and all(condition is None for condition in asked)

    @property
    def parameters(self) -> dict[str, Any]:
        """The parameters the statements that take a filter expect."""
        return {
            "namespace": self.namespace,
            "sources": _listed(self.sources),
            "authors": _listed(self.authors),
            "tags": _listed(self.tags),
            "since": in_utc(self.since),
            "until": in_utc(self.until),
            "archived": self.archived,
        }


def scope_parameters(scope: Scope) -> dict[str, Any]:
    """Return the parameters of statements that ask only for the scope."""
    return {
        "namespace": scope.namespace,
        "sources": _listed(scope.sources),
        "authors": _listed(scope.authors),
    }


def _both(one: frozenset[str] | None, other: frozenset[str] | None) -> frozenset[str] | None:
    if one is None or other is None:
        return other if one is None else one
    return one & other


def _after(moment: datetime | None) -> datetime | None:
    # Times have microseconds: "at or before" is "before the next one". The last moment of
    # the calendar has no next one and excludes nothing.
    if moment is None or moment.replace(tzinfo=None) > datetime.max - _STEP:
        return None
    return moment + _STEP


def _earlier(one: datetime | None, other: datetime | None) -> datetime | None:
    if one is None or other is None:
        return other if one is None else one
    return min(one, other)


def _listed(values: frozenset[str] | None) -> list[str] | None:
    return None if values is None else sorted(values)
