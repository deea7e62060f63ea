"""A namespace as the CSV files that ``neo4j-admin database import`` reads.

The folder holds one file a kind of node and relationship, typed headers in the first row,
and ``import.args`` with the arguments of the importer. It makes a new database, as the
importer does; graphmem opens it and builds its indexes then.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import IO

from graphmem.errors import TransferError
from graphmem.memory import Memory
from graphmem.model import EvolutionEvent, Link, ModelIdentity, NoteRecord
from graphmem.stores.neo4j.rows import (
    event_row,
    link_row,
    note_properties,
    use_properties,
)
from graphmem.stores.neo4j.schema import SCHEMA_VERSION, SENTENCES, SLOTS
from graphmem.stores.neo4j.vector_rows import listed_vectors
from graphmem.transfer.chains import Chains
from graphmem.transfer.encoding import Counts
from graphmem.transfer.files import whole_folder
from graphmem.transfer.times import format_time

ARRAY_DELIMITER = "\x1f"
"""Parts the items of a list; a control character, so that no word of a text has it."""
ARGUMENTS = "import.args"

_NOTE = {
    "id": "id:ID(Note)",
    "namespace": "namespace:string",
    "title": "title:string",
    "content": "content:string",
    "role": "role:string",
    "author": "author:string",
    "source_id": "source_id:string",
    "source_revision": "source_revision:string",
    "source_position": "source_position:long",
    "source_start": "source_start:long",
    "source_end": "source_end:long",
    "created_at": "created_at:datetime",
    "keywords": "keywords:string[]",
    "tags": "tags:string[]",
    "context": "context:string",
    "importance_score": "importance_score:double",
    "metadata": "metadata:string",
    "feedback": "feedback:long",
    "revision": "revision:long",
    "content_revision": "content_revision:long",
    "archived": "archived:boolean",
    "given": "given:string",
    "terms": "terms:string[]",
    "odd_terms": "odd_terms:string[]",
    "term_count": "term_count:long",
    "recall_count": "recall_count:long",
    "last_accessed_at": "last_accessed_at:datetime",
    "written": "written:long",
}
_VECTORS = {
    "id": "id:ID(NoteVectors)",
    "namespace": "namespace:string",
    SLOTS[0]: f"{SLOTS[0]}:double[]",
    SENTENCES[SLOTS[0]]: f"{SENTENCES[SLOTS[0]]}:byte[]",
}
_EVENT = {
    "id": "id:ID(EvolutionEvent)",
    "namespace": "namespace:string",
    "note_id": "note_id:string",
    "kind": "kind:string",
    "revision": "revision:long",
    "at": "at:datetime",
    "proposer": "proposer:string",
    "trigger_id": "trigger_id:string",
    "similarity": "similarity:double",
    "before": "before:string",
    "after": "after:string",
    "linked": "linked:string",
    "unlinked": "unlinked:string",
}
_RELATED = {
    "from_id": ":START_ID(Note)",
    "to_id": ":END_ID(Note)",
    "namespace": "namespace:string",
    "pair": "pair:string",
    "weight": "weight:double",
    "cosine": "cosine:double",
    "created_at": "created_at:datetime",
    "retrievals": "retrievals:long",
    "last_retrieved_at": "last_retrieved_at:datetime",
}
_SUPERSEDES = {
    "from_id": ":START_ID(Note)",
    "to_id": ":END_ID(Note)",
    "namespace": "namespace:string",
    "pair": "pair:string",
    "weight": "weight:double",
    "cosine": "cosine:double",
    "created_at": "created_at:datetime",
    "reason": "reason:string",
    "before": "before:string",
    "after": "after:string",
}
_SOURCE = {"id": "id:ID(Source)", "namespace": "namespace:string"}
_NAMESPACE = {
    "name": "name:string",
    "epoch": "epoch:string",
    "writes": "writes:long",
    "erasures": "erasures:long",
    "notes": "notes:long",
    "terms": "terms:long",
}
_STORE = {
    "name": "name:string",
    "schema_version": "schema_version:long",
    "slot": "slot:string",
    "changes": "changes:long",
    "model_id": "model_id:string",
    "dimension": "dimension:long",
}
_WRITES = 1


def _between(start: str, end: str) -> dict[str, str]:
    return {"start": f":START_ID({start})", "end": f":END_ID({end})"}


@dataclass(frozen=True, slots=True)
class _Table:
    """One file: what the importer calls it, and its columns with their headers."""

    argument: str
    file: str
    columns: Mapping[str, str]


_TABLES = (
    _Table("--nodes=GraphMem", "store.csv", _STORE),
    _Table("--nodes=Namespace", "namespaces.csv", _NAMESPACE),
    _Table("--nodes=Note", "notes.csv", _NOTE),
    _Table("--nodes=NoteVectors", "vectors.csv", _VECTORS),
    _Table("--nodes=Source", "sources.csv", _SOURCE),
    _Table("--nodes=EvolutionEvent", "events.csv", _EVENT),
    _Table("--relationships=RELATED", "related.csv", _RELATED),
    _Table("--relationships=SUPERSEDES", "supersedes.csv", _SUPERSEDES),
    _Table("--relationships=FOLLOWS", "follows.csv", _between("Note", "Note")),
    _Table("--relationships=FROM", "from.csv", _between("Note", "Source")),
    _Table("--relationships=CHANGED", "changed.csv", _between("EvolutionEvent", "Note")),
    _Table("--relationships=TRIGGERED_BY", "triggered.csv", _between("EvolutionEvent", "Note")),
)


def column_names(file: str) -> frozenset[str]:
    """Return the properties a file of the folder has columns for."""
    return frozenset(_columns(file))


def _columns(file: str) -> Mapping[str, str]:
    return next(table.columns for table in _TABLES if table.file == file)


def export_admin_csv(memory: Memory, folder: Path, *, vectors: bool = False) -> Counts:
    """Write the folder; return how many notes, links and events it holds.

    Without `vectors` the notes come without embeddings: run ``graphmem reindex`` on the
    server afterwards.

    Raises
    ------
    TransferError
        The folder is there already or cannot be written, or a list has an item with the
        character that parts items; nothing was written.
    """
    with whole_folder(folder) as scratch:
        with ExitStack() as stack:
            files = {
                table.file: stack.enter_context(_new_file(scratch / table.file))
                for table in _TABLES
            }
            tables = _Tables(memory.namespace, files)
            tables.write(memory, vectors)
        (scratch / ARGUMENTS).write_text(_arguments(), encoding="utf-8")
    return tables.counts


def _new_file(path: Path) -> IO[str]:
    return path.open("w", newline="", encoding="utf-8")


def _arguments() -> str:
    """Return the importer's arguments, one a line, to be run within the folder."""
    # The importer of Neo4j 2026 takes no file name without a folder before it.
    lines = [f"{table.argument}=./{table.file}" for table in _TABLES]
    lines += ["--array-delimiter=U+001F", "--multiline-fields=true"]
    return "".join(f"{line}\n" for line in lines)


class _Tables:
    """The open files and what is counted while they are written."""

    def __init__(self, namespace: str, files: Mapping[str, IO[str]]) -> None:
        self._namespace = namespace
        self._files = files
        self._chains = Chains()
        self._sources: set[str] = set()
        self._notes: set[str] = set()
        self._current = self._terms = 0
        self._model: ModelIdentity | None = None
        self.counts = Counts()

    def write(self, memory: Memory, vectors: bool) -> None:
        for table in _TABLES:
            self._files[table.file].write(",".join(table.columns.values()) + "\n")
        for record in memory.dump(vectors=vectors):
            if isinstance(record, ModelIdentity):
                self._model = record if vectors else None
                continue
            self.counts = self.counts.plus(record)
            if isinstance(record, NoteRecord):
                self._note(record)
            elif isinstance(record, Link):
                self._link(record)
            else:
                self._event(record)
        for link in self._chains.links():
            self._row("follows.csv", {"start": link.from_id, "end": link.to_id})
        for source in sorted(self._sources):
            self._row("sources.csv", {"id": source})
        self._store()

    def _note(self, record: NoteRecord) -> None:
        note = record.note
        properties = note_properties(note, record.terms) | use_properties(note)
        self._row("notes.csv", properties | {"id": note.id, "written": _WRITES})
        if vectors := listed_vectors(SLOTS[0], record):
            self._row("vectors.csv", {"id": note.id, **vectors})
        self._notes.add(note.id)
        self._chains.add(note)
        if note.source is not None:
            self._sources.add(note.source.id)
            self._row("from.csv", {"start": note.id, "end": note.source.id})
        if not note.archived:
            self._current += 1
            self._terms += len(record.terms)

    def _link(self, link: Link) -> None:
        row = link_row(link)
        ends = {name: row[name] for name in ("from_id", "to_id", "pair")}
        file = "related.csv" if link.reason is None else "supersedes.csv"
        self._row(file, row["properties"] | ends)

    def _event(self, event: EvolutionEvent) -> None:
        row = event_row(event)
        self._row("events.csv", row["properties"] | {"id": event.id})
        self._row("changed.csv", {"start": event.id, "end": event.note_id})
        if event.trigger_id in self._notes:
            self._row("triggered.csv", {"start": event.id, "end": event.trigger_id})

    def _store(self) -> None:
        model = self._model
        store: dict[str, object] = {"name": "graphmem", "slot": SLOTS[0], "changes": 0}
        if model is not None:
            store |= {"model_id": model.model_id, "dimension": model.dimension}
        store["schema_version"] = SCHEMA_VERSION
        self._row("store.csv", store)
        self._row(
            "namespaces.csv",
            {
                "name": self._namespace,
                "epoch": "imported",
                "writes": _WRITES,
                "erasures": 0,
                "notes": self._current,
                "terms": self._terms,
            },
        )

    def _row(self, file: str, values: Mapping[str, object]) -> None:
        given: dict[str, object] = {"namespace": self._namespace, **values}
        self._files[file].write(",".join(cell(given.get(name)) for name in _columns(file)) + "\n")


def cell(value: object) -> str:
    r"""Return a value as a cell: nothing for ``None``, texts always in quotes.

    Examples
    --------
    >>> print(cell("say 'hi'"), cell(True), cell([1.5, 2.0]) == '"1.5\x1f2.0"')
    "say 'hi'" true True
    """
    if value is None:
        return ""
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, (int, float)):
        return repr(value)
    if isinstance(value, datetime):
        return format_time(value)
    if isinstance(value, (list, tuple)):
        return _quoted(ARRAY_DELIMITER.join(_items(value)))
    return _quoted(str(value))


def _items(values: Sequence[object]) -> Iterator[str]:
    for value in values:
        text = value if isinstance(value, str) else repr(value)
        if ARRAY_DELIMITER in text:
            raise TransferError(
                f"{text!r} holds U+001F, which parts the items of lists here; nothing was "
                "written. Export as JSON lines or Cypher"
            )
        yield text


def _quoted(text: str) -> str:
    return '"' + text.replace('"', '""') + '"'
