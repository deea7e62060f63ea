"""Changing the embedding model of the whole store.

New vectors are written beside the old ones, page by page, into the property that is not in
force; each carries the revision it was made of. The last transaction holds every namespace,
embeds what changed meanwhile, and puts the other property and the model in force.
"""

from __future__ import annotations

import uuid
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from typing import Any

from neo4j import ManagedTransaction

from graphmem.errors import Conflict
from graphmem.model import ModelIdentity, Note, NoteVectors
from graphmem.stores.agreement import checked_pages
from graphmem.stores.neo4j import cypher
from graphmem.stores.neo4j.connection import Connection, run
from graphmem.stores.neo4j.rows import note_of
from graphmem.stores.neo4j.schema import (
    SENTENCES,
    build_vector_index,
    drop_vector_index,
    graph_state,
    other_slot,
)
from graphmem.stores.neo4j.vector_rows import sentences_sent
from graphmem.stores.neo4j.vectors import Ask

NOTES_A_PAGE = 500


class Reindexing:
    """One change of model.

    Parameters
    ----------
    pages
        Returns the vectors of the notes it is given and of their sentences.
    """

    def __init__(
        self,
        connection: Connection,
        model: ModelIdentity,
        pages: Callable[[Sequence[Note]], NoteVectors],
    ) -> None:
        self._connection = connection
        self._model = model
        self._pages = pages
        self._token = uuid.uuid4().hex
        self._old = graph_state(connection).slot
        self._new = other_slot(self._old)

    def run(self) -> None:
        """Embed everything and change over.

        Raises
        ------
        Conflict
            Another change of model began meanwhile.
        EmbeddingError
            `pages` returned vectors of another shape, or not finite ones.
        """
        self._connection.write(partial(run, name="begin_reindex", token=self._token))
        self._clear(self._new)
        try:
            self._embed_everything()
            build_vector_index(self._connection, self._new, self._model.dimension)
            self._connection.write(self._change_over)
        except BaseException:
            self._abandon()
            raise
        drop_vector_index(self._connection, self._old)
        self._clear(self._old)

    def _embed_everything(self) -> None:
        for row in self._connection.read("namespaces"):
            for notes in self._unstaged(self._connection.read, row["name"]):
                rows = self._rows(notes)
                self._connection.write(partial(self._stage, namespace=row["name"], rows=rows))

    def _unstaged(self, ask: Ask, namespace: str) -> Iterator[list[Note]]:
        after = ""
        while True:
            found = ask(
                "unstaged_page",
                namespace=namespace,
                after=after,
                page=NOTES_A_PAGE,
                token=self._token,
            )
            if not found:
                return
            notes = [note_of(namespace, row["note"]) for row in found]
            after = notes[-1].id
            yield notes

    def _rows(self, notes: Sequence[Note]) -> list[dict[str, Any]]:
        made = checked_pages(self._pages(notes), self._model, len(notes))
        rows = []
        for note, vector, sentences in zip(notes, made.notes, made.sentences, strict=True):
            properties = {
                self._new: vector.tolist(),
                SENTENCES[self._new]: sentences_sent(sentences),
            }
            rows.append({"id": note.id, "revision": note.revision, "properties": properties})
        return rows

    def _stage(
        self, transaction: ManagedTransaction, *, namespace: str, rows: list[dict[str, Any]]
    ) -> None:
        found = run(
            transaction, "stage_embeddings", namespace=namespace, rows=rows, token=self._token
        )
        if not found[0]["staged"]:
            self._check_token(run(transaction, "lock_store")[0]["token"])

    def _change_over(self, transaction: ManagedTransaction) -> None:
        held = run(transaction, "lock_store")
        self._check_token(held[0]["token"])
        for name in (row["name"] for row in held if row["name"] is not None):
            for notes in self._unstaged(partial(run, transaction), name):
                self._stage(transaction, namespace=name, rows=self._rows(notes))
        run(
            transaction,
            "change_model",
            slot=self._new,
            model_id=self._model.model_id,
            dimension=self._model.dimension,
        )

    def _check_token(self, token: str | None) -> None:
        if token != self._token:
            raise Conflict(
                "another reindexing of this store began meanwhile; this one changed nothing"
            )

    def _abandon(self) -> None:
        # What another change of model put in force meanwhile is not ours to remove.
        if graph_state(self._connection).slot != self._new:
            self._clear(self._new)
            drop_vector_index(self._connection, self._new)

    def _clear(self, slot: str) -> None:
        self._connection.define(
            cypher.query("clear_embeddings"),
            slot=slot,
            cleared={slot: None, SENTENCES[slot]: None, "staged": None},
        )
