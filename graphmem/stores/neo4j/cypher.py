"""The Cypher of this project: files of the top-level ``cypher/`` folder, read once.

A checkout has them beside the package, a wheel inside it. Their first line is a comment
with the title, which Neo4j Browser shows as well.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from importlib.resources.abc import Traversable
from pathlib import Path
from typing import LiteralString

_LOOKUP: LiteralString = (
    "CALL db.index.vector.queryNodes('vectors_' + g.slot, fetch, $vector) YIELD node AS v, score"
)
_CONDITION = re.compile(r"\s*AND \(\$(sources|authors|tags|since|until) IS NULL OR .*\)$")
"""A condition of a scope or filter, on a line of its own."""
_MIGRATION = re.compile(r"(\d+)_\w+\.cypher")


@dataclass(frozen=True, slots=True)
class Migration:
    """One change of the schema: the version it makes and its statements, in order."""

    version: int
    statements: tuple[LiteralString, ...]


@cache
def folder() -> Traversable:
    """Return the folder with the files: the checkout's, else the package's."""
    checkout = Path(__file__).parents[3]
    if (checkout / "pyproject.toml").is_file() and (checkout / "cypher").is_dir():
        return checkout / "cypher"
    return files("graphmem") / "cypher"


@cache
def query(name: str) -> LiteralString:
    """Return the one statement of ``queries/<name>.cypher``."""
    return _text(folder() / "queries" / f"{name}.cypher")


@cache
def bench(name: str) -> LiteralString:
    """Return the one statement of ``bench/<name>.cypher``: what graphmem is compared with."""
    return _text(folder() / "bench" / f"{name}.cypher")


@cache
def candidates(*, unfiltered: bool) -> LiteralString:
    """Return the query ``candidates``; `unfiltered`, without the conditions that then hold.

    The server plans and checks some sixty conditions less.
    """
    if not unfiltered:
        return query("candidates")
    shown = query("candidates").replace("$archived OR ", "")
    kept: list[LiteralString] = [line for line in shown.split("\n") if not _CONDITION.match(line)]
    newline: LiteralString = "\n"
    return newline.join(kept)


@cache
def candidates_by_search(slot: str, *, unfiltered: bool = False) -> LiteralString:
    """Return :func:`candidates` with its index lookup by the ``SEARCH`` clause.

    The clause, for the vector index of `slot`, is that of ``search/<slot>.cypher``.
    """
    prefix, clause = _text(folder() / "search" / f"{slot}.cypher").split("MATCH", maxsplit=1)
    before, after = candidates(unfiltered=unfiltered).split(_LOOKUP)
    return prefix + before + "MATCH" + clause.rsplit("RETURN", maxsplit=1)[0] + after


@cache
def schema() -> tuple[LiteralString, ...]:
    """Return the statements of ``schema.cypher``, in order."""
    return _statements(folder() / "schema.cypher")


@cache
def schema_names() -> frozenset[str]:
    """Return the names of the indexes and constraints that ``schema.cypher`` makes."""
    return frozenset(re.findall(r"(\w+) IF NOT EXISTS", "\n".join(schema())))


@cache
def migrations() -> tuple[Migration, ...]:
    """Return the files of ``migrations/``, in order of version."""
    found = []
    for file in (folder() / "migrations").iterdir():
        if match := _MIGRATION.fullmatch(file.name):
            found.append(Migration(int(match[1]), _statements(file)))
    return tuple(sorted(found, key=lambda migration: migration.version))


def _statements(file: Traversable) -> tuple[LiteralString, ...]:
    return tuple(part.strip() for part in _text(file).split(";\n") if part.strip())


def _text(file: Traversable) -> LiteralString:
    return file.read_text(encoding="utf-8").strip().removesuffix(";")
