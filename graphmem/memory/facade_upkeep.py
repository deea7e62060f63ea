"""The part of ``Memory`` that derives data, moves it and keeps it up."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from datetime import datetime
from pathlib import Path

from graphmem.algorithms.provenance import Receipt
from graphmem.errors import NotAuthorised, StoreError
from graphmem.memory import deriving, upkeep
from graphmem.memory.adding import Progress
from graphmem.memory.deriving import RebuildReport
from graphmem.memory.entry import checked_id
from graphmem.memory.handle import MemoryHandle
from graphmem.memory.renewing import holding_of
from graphmem.memory.upkeep import Maintenance, MemoryRecord
from graphmem.model import (
    Note,
)
from graphmem.ports import Backup, Embedder


class MemoryUpkeep(MemoryHandle):
    """Summaries and receipts, maintenance, another model, moving and backing up."""

    def summarise(
        self, *, source: str | None = None, tag: str | None = None, sentences: int = 5
    ) -> Note:
        """Make, or renew, the summary of a source or of all notes with a tag.

        Without a language model it is extracted: the sentences of the notes most central in
        the link graph, in the order they were told. The summary is a note of the role
        ``summary`` whose metadata hold its receipt: notes and revisions, links, producer,
        settings, sha256. Called again for unchanged notes it returns the same summary.

        Raises
        ------
        NotFound
            No note has that source or tag.
        Conflict
            The notes kept changing; the summary before is kept.
        """
        return deriving.summarise(self._setup, source, tag, sentences)

    def receipts(self, id: str) -> tuple[Receipt, ...]:  # noqa: A002  # as in the interface
        """Return the receipts of what is derived from a note; raises ``NotFound``.

        Of its metadata, terms, embedding and links: ordered inputs with their revisions,
        producer with version, configuration, sha256. They are read from the note and its
        history, in the order in which one is made of the other.
        """
        setup = self._setup
        return holding_of(setup, setup.note(id)).receipts()

    def rebuild(
        self,
        plan: bool = False,
        progress: Progress | None = None,
        embeddings: bool = False,
    ) -> RebuildReport:
        """Make derived data again whose receipt no longer matches; `plan` only shows them.

        What was made of notes first: metadata, terms, what supersedes what, and with
        `embeddings`, which embeds every text anew to compare, their vectors. Then the
        summaries.

        Each decision says why: missing input, changed input, changed order, changed
        specification (another model or version). Every summary is stored on its own, so an
        interrupted rebuild goes on where it stopped.

        Parameters
        ----------
        progress
            Called after each as ``progress(done, total)``.
        """
        return deriving.rebuild(self._setup, plan, progress, embeddings=embeddings)

    def maintain(self, at: datetime | None = None) -> Maintenance:
        """Let link weights follow their use, and propose notes to archive.

        Weights are computed from cosine, retrievals and time, so calling it twice at the
        same moment changes nothing the second time. Archives nothing itself.
        """
        setup = self._setup
        return upkeep.maintain(setup, upkeep.moment(setup, at))

    def reindex(
        self, embedder: str | Embedder | None = None, progress: Progress | None = None
    ) -> int:
        """Embed every note of every namespace anew; returns how many notes there were.

        The old vectors stay in force until all new ones are there. The memory uses the
        given embedder from then on; ``None`` takes the one it was opened with.
        """
        setup = self._setup
        chosen = setup.encoding.embedder if embedder is None else self._resolve_embedder(embedder)
        return upkeep.reindex(setup, chosen, progress)

    def dump(self, *, vectors: bool = True) -> Iterator[MemoryRecord]:
        """Iterate over everything this scope holds: model, notes, links, events.

        Lossless together with :meth:`load`; without `vectors` the notes are embedded anew
        when loaded.
        """
        return upkeep.dump(self._setup, vectors)

    def load(self, records: Iterable[MemoryRecord], progress: Progress | None = None) -> int:
        """Store dumped records as they are, in this namespace; returns how many notes.

        Notes, links and events of the same identity are replaced.
        """
        return upkeep.load(self._setup, records, progress)

    def backup(self, path: str | Path) -> None:
        """Write a consistent copy of the whole store to a new file while others write.

        Raises
        ------
        StoreError
            The store makes its backups with its server's own tools.
        """
        store = self._setup.store
        if not isinstance(store, Backup):
            raise StoreError(
                f"{store.label} is backed up by its server (neo4j-admin database dump); "
                "graphmem export writes one namespace as JSON lines"
            )
        store.backup(Path(path))

    def namespaces(self) -> tuple[str, ...]:
        """Return the namespaces of the store that hold a note."""
        return self._setup.store.namespaces()

    def drop_namespace(self, namespace: str) -> int:
        """Remove a namespace whole; returns how many notes it had.

        Raises
        ------
        NotAuthorised
            This memory has an allow-list, so it cannot answer for every note.
        """
        setup = self._setup
        if setup.scope.sources is not None or setup.scope.authors is not None:
            raise NotAuthorised("a memory with an allow-list cannot drop a whole namespace")
        return setup.store.drop_namespace(checked_id(namespace, "namespace"))
