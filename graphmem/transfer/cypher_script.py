"""A namespace as a Cypher script that rebuilds it on a Neo4j server.

The statements are the Neo4j store's own, with literals in the place of parameters: what
they build is what graphmem would have written there, and graphmem opens it. No text of a
note can leave its literal (see :func:`literal`); no literal holds a raw line end, so a
statement ends where a line ends with a semicolon.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import datetime
from itertools import groupby, islice
from typing import BinaryIO, TypeVar

from graphmem.memory import Memory
from graphmem.memory.upkeep import MemoryRecord
from graphmem.model import EvolutionEvent, Link, LinkKind, ModelIdentity, NoteRecord
from graphmem.stores.neo4j import cypher
from graphmem.stores.neo4j.rows import (
    as_sent,
    event_row,
    link_row,
    note_properties,
    use_properties,
)
from graphmem.stores.neo4j.schema import SCHEMA_VERSION, SLOTS
from graphmem.stores.neo4j.vector_rows import listed_vectors
from graphmem.transfer.chains import Chains
from graphmem.transfer.encoding import Counts, Record
from graphmem.transfer.times import format_time

BATCH = 200
"""Notes, links or events of one statement."""

_LINK_STATEMENTS = {
    "upsert_links": LinkKind.RELATED,
    "upsert_superseding": LinkKind.SUPERSEDES,
}

_PARAMETER = re.compile(r"\$(\w+)")
_NAME = re.compile(r"[A-Za-z_]\w*\Z", re.ASCII)
_ESCAPES = {
    "\\": "\\\\",
    "'": "\\'",
    "\n": "\\n",
    "\r": "\\r",
    "\t": "\\t",
    "\b": "\\b",
    "\f": "\\f",
}
_SPECIAL = re.compile(r"[\\'\x00-\x1f\x7f\x85\u2028\u2029]")

T = TypeVar("T")


class Expression(str):
    """Cypher that stands for a value, written as it is; never made from a note."""

    __slots__ = ()


def literal(value: object) -> str:
    r"""Return a value as a Cypher literal in one line.

    Examples
    --------
    >>> print(literal({"it's": ["a\nb", 1.5, None, True]}))
    {`it's`: ['a\nb', 1.5, null, true]}
    """
    if isinstance(value, Expression):
        return str(value)
    if isinstance(value, str):
        return _text(value)
    if value is None or isinstance(value, bool):
        return {None: "null", True: "true", False: "false"}[value]
    if isinstance(value, int):
        return str(value)
    if isinstance(value, float):
        return repr(value).replace("e+", "e")
    if isinstance(value, datetime):
        return f"datetime('{format_time(value)}')"
    if isinstance(value, Mapping):
        return "{" + ", ".join(f"{_key(k)}: {literal(v)}" for k, v in value.items()) + "}"
    if isinstance(value, Iterable):
        return "[" + ", ".join(literal(item) for item in value) + "]"
    raise TypeError(f"no Cypher literal for {type(value).__name__}")


def _text(value: str) -> str:
    # The older parser reads \u with four digits before it reads anything else, also after
    # an escaped backslash: such a text is put together from two.
    return " + ".join(
        "'" + _SPECIAL.sub(_escaped, part) + "'" for part in re.split(r"(?<=\\)(?=u)", value)
    )


def _escaped(match: re.Match[str]) -> str:
    character = match[0]
    return _ESCAPES.get(character) or f"\\u{ord(character):04X}"


def _key(name: object) -> str:
    text = str(name)
    return text if _NAME.match(text) else "`" + text.replace("`", "``") + "`"


def export_cypher(memory: Memory, out: BinaryIO, *, vectors: bool = False) -> Counts:
    """Write the script; return how many notes, links and events it makes.

    Without `vectors` the notes come without embeddings: run ``graphmem reindex`` on the
    server afterwards. The script may run again with the same outcome.
    """
    script = _Script(memory, out, vectors)
    script.write()
    return script.counts


class _Script:
    """One script while it is written, and what is counted on the way."""

    def __init__(self, memory: Memory, out: BinaryIO, vectors: bool) -> None:
        self._memory = memory
        self._out = out
        self._vectors = vectors
        self._chains = Chains()
        self.counts = Counts()

    def write(self) -> None:
        self._line("// A namespace of graphmem. Run it with: cypher-shell -f FILE")
        for statement in cypher.schema():
            self._line(f"{statement};")
        self._run("await_indexes", seconds=600)
        self._run("begin_graph", schema_version=SCHEMA_VERSION)
        self._run("lock_namespace")
        for kind, records in groupby(self._memory.dump(vectors=self._vectors), type):
            for batch in _batches(records):
                self._put(kind, batch)
        for links in _batches(self._chains.links()):
            self._run(
                "chain", pairs=[{"later": link.from_id, "earlier": link.to_id} for link in links]
            )
        self._run("mend_counters", notes=self._counted_notes(), terms=self._counted_terms())

    def _put(self, kind: type[object], batch: Sequence[MemoryRecord]) -> None:
        notes = [item for item in batch if isinstance(item, NoteRecord)]
        links = [item for item in batch if isinstance(item, Link)]
        events = [item for item in batch if isinstance(item, EvolutionEvent)]
        if kind is ModelIdentity:
            self._put_model([item for item in batch if isinstance(item, ModelIdentity)])
        elif kind is NoteRecord:
            self._put_notes(notes)
        elif kind is Link:
            self._put_links(links)
        else:
            self._run("upsert_events", rows=[as_sent(event_row(event)) for event in events])
        counted: list[Record] = [*notes, *links, *events]
        for record in counted:
            self.counts = self.counts.plus(record)

    def _put_links(self, links: Sequence[Link]) -> None:
        for statement, kind in _LINK_STATEMENTS.items():
            rows = [as_sent(link_row(link)) for link in links if link.kind is kind]
            if rows:
                self._run(statement, rows=rows)

    def _put_model(self, models: Sequence[ModelIdentity]) -> None:
        if self._vectors:
            for model in models:
                self._run("adopt_model", model_id=model.model_id, dimension=model.dimension)

    def _put_notes(self, records: Sequence[NoteRecord]) -> None:
        for record in records:
            self._chains.add(record.note)
        rows = [
            as_sent(
                {
                    "id": record.note.id,
                    "first": as_sent({"properties": {}}),
                    "properties": note_properties(record.note, record.terms)
                    | use_properties(record.note),
                }
            )
            | {"vectors": listed_vectors(SLOTS[0], record) or None}
            for record in records
        ]
        self._run("upsert_notes", rows=rows, writes=self._current_write())
        sources = [
            {"id": record.note.id, "source_id": record.note.source.id}
            for record in records
            if record.note.source is not None
        ]
        if sources:
            self._run("assign_sources", rows=sources)

    def _current_write(self) -> Expression:
        """Return the number of the namespace's write, which only the server knows."""
        name = literal(self._memory.namespace)
        return Expression(
            f"head(COLLECT {{ MATCH (s:Namespace {{name: {name}}}) RETURN s.writes }})"
        )

    def _counted_notes(self) -> Expression:
        return Expression(f"COUNT {{ {self._current_notes()} RETURN n }}")

    def _counted_terms(self) -> Expression:
        counts = f"COLLECT {{ {self._current_notes()} RETURN n.term_count }}"
        return Expression(f"reduce(sum = 0, count IN {counts} | sum + count)")

    def _current_notes(self) -> str:
        name = literal(self._memory.namespace)
        return f"MATCH (n:Note {{namespace: {name}}}) WHERE NOT n.archived"

    def _run(self, name: str, **parameters: object) -> None:
        """Write a statement of the store with literals for its parameters."""
        given = {"namespace": self._memory.namespace} | parameters
        self._line(_PARAMETER.sub(lambda match: literal(given[match[1]]), cypher.query(name)) + ";")

    def _line(self, text: str) -> None:
        self._out.write(text.encode("utf-8") + b"\n")


def _batches(items: Iterable[T]) -> Iterator[Sequence[T]]:
    iterator = iter(items)
    while batch := list(islice(iterator, BATCH)):
        yield batch
