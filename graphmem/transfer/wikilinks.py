"""Which note a wikilink means."""

from __future__ import annotations

import posixpath
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import PurePosixPath

from graphmem.transfer.markdown import slug


@dataclass(frozen=True, slots=True)
class Target:
    """A passage a wikilink may mean: the id of its note and its headings."""

    note_id: str
    headings: tuple[str, ...]


@dataclass(slots=True)
class Names:
    """The files of a folder by everything they may be called.

    ``[[Name]]`` is the file of that name in any folder, the nearest to the top when there
    are several; ``[[folder/Name]]`` the file of that path, from the top or from where the
    link stands; ``[[Alias]]`` the file whose front matter has the alias. ``#Heading`` means
    a passage of the file, else its first. Case, and ``.md`` at the end, do not matter.
    """

    _passages: dict[str, tuple[Target, ...]] = field(default_factory=dict)
    _paths: dict[str, str] = field(default_factory=dict)
    _names: dict[str, str] = field(default_factory=dict)
    _aliases: dict[str, str] = field(default_factory=dict)

    def add(self, name: str, aliases: Sequence[str], targets: Sequence[Target]) -> None:
        """Take in a file under its path relative to the folder."""
        self._passages[name] = tuple(targets)
        path = PurePosixPath(name)
        self._paths.setdefault(_key(name), name)
        held = self._names.get(_key(path.name))
        if held is None or _depth(name) < _depth(held):
            self._names[_key(path.name)] = name
        for alias in aliases:
            self._aliases.setdefault(alias.strip().casefold(), name)

    def resolve(self, link: str, origin: str) -> str:
        """Return the id of the note that a link in the file `origin` means.

        Raises
        ------
        ValueError
            Says why it means none.
        """
        written, _, heading = link.partition("#")
        name = self._file(written.strip(), origin) if written.strip() else origin
        targets = self._passages.get(name, ())
        wanted = heading.split("^")[0].strip().rpartition("#")[2]
        if not targets:
            raise ValueError("the file it means holds no note")
        if not wanted:
            return targets[0].note_id
        for target in targets:
            if target.headings and slug(target.headings[-1]) == slug(wanted):
                return target.note_id
        raise ValueError(f"{name} has no heading {wanted!r}")

    def _file(self, written: str, origin: str) -> str:
        nearby = posixpath.normpath(posixpath.join(posixpath.dirname(origin), written))
        from_top = posixpath.normpath(written.lstrip("/"))
        if nearby.startswith("..") and from_top.startswith(".."):
            raise ValueError("it leads out of the folder")
        for name in (
            self._paths.get(_key(nearby)),
            self._paths.get(_key(from_top)),
            self._names.get(_key(written)) if "/" not in written else None,
            self._aliases.get(written.casefold()),
        ):
            if name is not None:
                return name
        raise ValueError("there is no such note")


def _key(name: str) -> str:
    folded = name.casefold()
    return folded.removesuffix(".md").removesuffix(".markdown")


def _depth(name: str) -> tuple[int, str]:
    return name.count("/"), name
