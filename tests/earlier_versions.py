"""Stores that earlier versions wrote, and what is in them, read without graphmem."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Iterable
from contextlib import closing
from datetime import datetime
from pathlib import Path
from typing import Any, NamedTuple

from neo4j_server.console import console
from neo4j_server.erasure import erase_everything
from neo4j_server.server import Address

from graphmem import Link, LinkKind, Memory
from graphmem.model import NoteRecord

FIXTURES = Path(__file__).parent / "fixtures"
FILES = tuple(sorted(FIXTURES.glob("embedded_version_*.sqlite")))
GRAPHS = tuple(sorted(FIXTURES.glob("neo4j_version_*.json")))
MODEL = "hashing-32"


def version_of(fixture: Path) -> int:
    return int(fixture.stem.rpartition("_")[2])


class Told(NamedTuple):
    """What is compared of a note."""

    namespace: str
    id: str
    content: str
    revision: int
    feedback: int
    recalls: int
    tags: tuple[str, ...]
    archived: bool


class Holdings(NamedTuple):
    """What a store holds, in the words of its own rows."""

    notes: frozenset[Told]
    related: frozenset[tuple[str, str, float]]
    events: frozenset[tuple[str, int]]


def holdings(memory: Memory) -> Holdings:
    """Return what graphmem says a store holds."""
    notes, related, events = [], [], []
    for name in memory.namespaces():
        scoped = memory.scoped(name)
        for note in scoped.notes(archived=True):
            notes.append(
                Told(
                    name, note.id, note.content, note.revision, note.feedback,
                    note.recall_count, note.tags, note.archived,
                )
            )  # fmt: skip
            events += [(note.id, event.revision) for event in scoped.history(note.id)]
        links = (item for item in scoped.dump(vectors=False) if isinstance(item, Link))
        related += [(*each.pair, each.cosine) for each in links if each.kind is LinkKind.RELATED]
    return Holdings(frozenset(notes), frozenset(related), frozenset(events))


def holdings_of_file(path: Path) -> Holdings:
    """Return what the rows of an embedded file say."""
    with closing(sqlite3.connect(path)) as connection:
        columns = [row[1] for row in connection.execute("PRAGMA table_info(note)")]
        recalls = "recall_count" if "recall_count" in columns else "0"
        notes = connection.execute(
            f"SELECT s.name, id, content, revision, feedback, {recalls}, tags, archived "  # noqa: S608  # one of two words
            "FROM note JOIN namespace s ON s.number = namespace"
        ).fetchall()
        related = connection.execute(
            "SELECT a.id, b.id, cosine FROM link "
            "JOIN note a ON a.key = low JOIN note b ON b.key = high"
        ).fetchall()
        events = connection.execute("SELECT note_id, revision FROM event").fetchall()
    return Holdings(
        frozenset(
            Told(*row[:6], tuple(filter(None, row[6].split("\x1f"))), bool(row[7])) for row in notes
        ),
        frozenset((*sorted(row[:2]), row[2]) for row in related),
        frozenset(events),
    )


Item = list[Any]
"""A node (labels, properties) or an edge (number of a node, type, number, properties)."""


def holdings_of_graph(items: Iterable[Item]) -> Holdings:
    """Return what the nodes and edges of a graph say."""
    nodes = [item for item in items if isinstance(item[0], list)]
    edges = [item for item in items if not isinstance(item[0], list)]
    notes = [fields for labels, fields in nodes if "Note" in labels]
    related = [
        (nodes[a][1], nodes[b][1], fields) for a, kind, b, fields in edges if kind == "RELATED"
    ]
    return Holdings(
        frozenset(
            Told(
                n["namespace"], n["id"], n["content"], n["revision"], n["feedback"],
                n.get("recall_count", 0), tuple(n["tags"]), n["archived"],
            )
            for n in notes
        ),
        frozenset((*sorted((a["id"], b["id"])), fields["cosine"]) for a, b, fields in related),
        frozenset(
            (fields["note_id"], fields["revision"])
            for labels, fields in nodes
            if "EvolutionEvent" in labels
        ),
    )  # fmt: skip


def graph_of(fixture: Path) -> list[Item]:
    """Return the nodes and edges an earlier version wrote."""
    found: list[Item] = json.loads(fixture.read_text(encoding="utf-8"))
    return found


Vectors = dict[tuple[str, str], tuple[tuple[float, ...], bytes]]
"""The vector of each note, by namespace and id, and those of its sentences as stored."""


def vectors(memory: Memory) -> Vectors:
    """Return the vectors of a store's notes."""
    return {
        (name, item.note.id): (
            tuple(item.embedding.tolist()),
            b"" if item.sentences is None else item.sentences.tobytes(),
        )
        for name in memory.namespaces()
        for item in memory.scoped(name).dump()
        if isinstance(item, NoteRecord) and item.embedding is not None
    }


def vectors_of_graph(items: Iterable[Item]) -> Vectors:
    """Return the vectors that lie on an earlier version's notes, or on nodes of their own."""
    fields = (item[-1] for item in items if isinstance(item[0], list))
    return {
        (each["namespace"], each["id"]): (
            tuple(each["embedding"]),
            bytes.fromhex(each["sentences"]["bytes"]) if "sentences" in each else b"",
        )
        for each in fields
        if "embedding" in each
    }


def plant(address: Address, items: Iterable[Item]) -> None:
    """Empty a server and put a graph into it."""
    erase_everything(address)
    with console(address) as ask:
        made: list[str] = []
        for item in items:
            fields = {key: _value(value) for key, value in item[-1].items()}
            if isinstance(item[0], list):
                (row,) = ask(
                    f"CREATE (n:{':'.join(item[0])}) SET n = $fields RETURN elementId(n) AS id",
                    fields=fields,
                )
                made.append(row["id"])
            else:
                ask(
                    "MATCH (a), (b) WHERE elementId(a) = $a AND elementId(b) = $b "
                    f"CREATE (a)-[r:{item[1]}]->(b) SET r = $fields",
                    a=made[item[0]],
                    b=made[item[2]],
                    fields=fields,
                )


def _value(stored: Any) -> object:
    """Return a property as it was; JSON has no moments and no bytes."""
    if isinstance(stored, dict) and "bytes" in stored:
        return bytes.fromhex(stored["bytes"])
    if isinstance(stored, dict):
        return datetime.fromisoformat(stored["moment"][:26] + "+00:00")
    return stored
