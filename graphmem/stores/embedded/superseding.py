"""The SUPERSEDES links of a namespace: few, so that memory holds them all once one is asked."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator

from graphmem.model import Link

Fetch = Callable[[], Iterable[Link]]
"""Reads from the file every SUPERSEDES link of the namespace."""


class Superseding:
    """SUPERSEDES links by both ends, read from the file when one is asked for.

    Parameters
    ----------
    fetch
        Reads them.
    """

    def __init__(self, fetch: Fetch) -> None:
        self._fetch = fetch
        self._older: dict[str, dict[str, Link]] | None = None

    def __iter__(self) -> Iterator[Link]:
        """Yield every link, by (from_id, to_id)."""
        older = self._loaded()
        for newer_id in sorted(older):
            yield from (older[newer_id][each] for each in sorted(older[newer_id]))

    def among(self, ids: Collection[str]) -> list[Link]:
        """Return the links whose two ends are in `ids`, by (from_id, to_id)."""
        older = self._loaded()
        if not older:
            return []
        within = set(ids)
        return [
            older[newer_id][each]
            for newer_id in sorted(within & older.keys())
            for each in sorted(within & older[newer_id].keys())
        ]

    def touching(self, ids: Collection[str]) -> list[Link]:
        """Return the links with at least one end in `ids`, by (from_id, to_id)."""
        within = set(ids)
        return [link for link in self if not within.isdisjoint(link.pair)]

    def put(self, link: Link) -> None:
        """Add or replace a link, if they were read."""
        if self._older is not None:
            self._add(self._older, link)

    def drop(self, newer_id: str, older_id: str) -> None:
        """Remove a link, if they were read."""
        if self._older is not None:
            self._older.get(newer_id, {}).pop(older_id, None)

    def reset(self) -> None:
        """Have the links be read anew when one is asked."""
        self._older = None

    def _loaded(self) -> dict[str, dict[str, Link]]:
        if self._older is None:
            self._older = {}
            for link in self._fetch():
                self._add(self._older, link)
        return self._older

    @staticmethod
    def _add(older: dict[str, dict[str, Link]], link: Link) -> None:
        older.setdefault(link.from_id, {})[link.to_id] = link
