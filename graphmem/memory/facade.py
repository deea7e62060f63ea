"""``Memory``: what users call. It sequences the steps and holds no algorithm."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import replace
from datetime import datetime
from pathlib import Path
from types import TracebackType
from typing import Literal

from graphmem.algorithms.provenance import Receipt
from graphmem.errors import ClosedMemory, InvalidQuery, NotAuthorised, StoreError
from graphmem.memory import adding, changing, deriving, upkeep
from graphmem.memory.adding import Progress
from graphmem.memory.connecting import connect
from graphmem.memory.deriving import RebuildReport
from graphmem.memory.entry import checked_filter, checked_id, checked_limit, checked_query
from graphmem.memory.previewing import preview
from graphmem.memory.recalling import RecallRequest, recall
from graphmem.memory.renewing import holding_of
from graphmem.memory.setup import Setup
from graphmem.memory.upkeep import Maintenance, MemoryRecord
from graphmem.model import (
    AddReceipt,
    AddReport,
    CheckReport,
    EraseReceipt,
    EvolutionEvent,
    Link,
    Neighbour,
    Neighbourhood,
    Note,
    NoteInput,
    RecallResult,
    Source,
    Stats,
)
from graphmem.policy import Policy, resolve_policy
from graphmem.ports import Backup, Embedder, LanguageModel


class Memory:
    """A note network: adds, links and evolves notes, and recalls them with reasons.

    Made by :func:`graphmem.open_memory`. Safe to use from several threads. Every method
    raises ``ClosedMemory`` after :meth:`close`.
    """

    def __init__(
        self,
        setup: Setup,
        *,
        resolve_embedder: Callable[[str | Embedder | None], Embedder],
        owner: Memory | None = None,
    ) -> None:
        self._parts = setup
        self._resolve_embedder = resolve_embedder
        self._owner = owner
        self._closed = threading.Event()

    # --- opening and closing

    def __enter__(self) -> Memory:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()

    def __repr__(self) -> str:
        state = " (closed)" if self.closed else ""
        return f"<Memory {self.namespace!r} on {self._parts.store.label}{state}>"

    @property
    def namespace(self) -> str:
        """The namespace this memory reads and writes."""
        return self._parts.scope.namespace

    @property
    def policy(self) -> Policy:
        """The policy this memory was opened with."""
        return self._parts.policy

    @property
    def language_model(self) -> LanguageModel | None:
        """The language model this memory asks; it may tell its cost as ``usage``."""
        return self._parts.language_model

    @property
    def closed(self) -> bool:
        """Whether the memory, or the one it was scoped from, was closed."""
        return self._closed.is_set() or (self._owner is not None and self._owner.closed)

    def close(self) -> None:
        """Write what is pending and release the store; a second call does nothing."""
        if not self._closed.is_set():
            self._closed.set()
            if self._owner is None:
                self._parts.store.close()

    def scoped(self, namespace: str) -> Memory:
        """Return a memory of another namespace that shares connection, model and allow-list.

        Closing it leaves this one open; closing this one closes it too.
        """
        setup = self._setup
        scope = replace(setup.scope, namespace=checked_id(namespace, "namespace"))
        return Memory(
            replace(setup, scope=scope),
            resolve_embedder=self._resolve_embedder,
            owner=self,
        )

    @property
    def _setup(self) -> Setup:
        if self.closed:
            raise ClosedMemory("this memory is closed; open it again with open_memory()")
        return self._parts

    # --- writing

    def add(
        self,
        content: str,
        *,
        id: str | None = None,  # noqa: A002  # the field's name in the public interface
        source: Source | None = None,
        role: str = "user",
        author: str | None = None,
        created_at: datetime | None = None,
        keywords: Iterable[str] | str | None = None,
        tags: Iterable[str] | str | None = None,
        context: str | None = None,
        importance: float | None = None,
        metadata: Mapping[str, object] | None = None,
    ) -> AddReceipt:
        """Add one note, link it, and let near-identical neighbours evolve.

        Adding the same content under the same id again is ``unchanged``; other content is
        a new revision. Without an id one is derived from namespace, source and content.

        Parameters
        ----------
        content
            The text, kept character for character.
        created_at
            When it was said (aware); the clock's moment when not given.
        importance
            In [0, 1]; computed from the text when not given.

        Raises
        ------
        InvalidNote
            A field cannot be stored; nothing was.
        EmbeddingError
            No usable vector, or the store was built with another model.
        NotAuthorised
            The memory's allow-list does not cover this source or author.
        """
        given = NoteInput(
            content=content,
            id=id,
            source=source,
            role=role,
            author=author,
            created_at=created_at,
            keywords=keywords,
            tags=tags,
            context=context,
            importance=importance,
            metadata=metadata,
        )
        return adding.add_one(self._setup, given)

    def add_many(
        self,
        inputs: Iterable[NoteInput],
        *,
        batch_size: int = 256,
        progress: Progress | None = None,
    ) -> AddReport:
        """Add notes in order, as if by :meth:`add`, with one embedding call a batch.

        A bad input is rejected with its reason and the others are stored. Each batch is
        stored whole or not at all; an interruption keeps the batches before it.

        Parameters
        ----------
        progress
            Called after each batch as ``progress(done, total)``; total is ``None`` for an
            iterator.
        """
        size = checked_limit(batch_size, "batch_size")
        return adding.add_many(self._setup, inputs, size, progress)

    def revise(
        self,
        id: str,  # noqa: A002  # the field's name in the public interface
        *,
        content: str | None = None,
        keywords: Iterable[str] | str | None = None,
        tags: Iterable[str] | str | None = None,
        context: str | None = None,
        importance: float | None = None,
        metadata: Mapping[str, object] | None = None,
        expected_revision: int | None = None,
    ) -> AddReceipt:
        """Give a stored note new content or fields, as a new revision.

        New content is linked anew; the earlier state stays in :meth:`history`.

        Raises
        ------
        NotFound
            No note of that id in this scope.
        Conflict
            The note is not at `expected_revision`.
        """

        def revised(note: Note) -> NoteInput:
            return NoteInput(
                content=note.content if content is None else content,
                id=note.id,
                role=note.role,
                author=note.author,
                source=note.source,
                keywords=keywords,
                tags=tags,
                context=context,
                importance=importance,
                metadata=metadata,
            )

        return adding.revise(self._setup, id, revised, expected_revision)

    def preview(self, inputs: Iterable[NoteInput]) -> AddReport:
        """Tell what :meth:`add_many` would do, without writing.

        Inputs are checked and compared with what is stored. Links, evolution and faulty
        vectors show only when the notes are added.
        """
        return preview(self._setup, inputs)

    def connect(self, pairs: Iterable[tuple[str, str]]) -> tuple[Link, ...]:
        """Link pairs of notes by hand, all in one write; returns the links it made.

        Such a link is RELATED of weight 1 with the raw cosine of its ends, and from then on
        like any other: use and age move its weight (:meth:`maintain`), new content of an
        end removes it. A pair that is linked already stays as it is; one with an archived
        end is left out.

        Raises
        ------
        NotFound
            An id names no note of this scope; nothing was linked.
        """
        return connect(self._setup, pairs)

    def feedback(self, id: str, signal: int) -> Note:  # noqa: A002  # as in the interface
        """Tell that a note was useful (+1) or not (-1); changes its ranked importance."""
        return changing.give_feedback(self._setup, id, signal)

    def archive(self, id: str) -> Note:  # noqa: A002  # as in the interface
        """Hide a note from recall and linking until :meth:`restore`; nothing is lost."""
        return changing.set_archived(self._setup, id, True)

    def restore(self, id: str) -> Note:  # noqa: A002  # as in the interface
        """Bring an archived note back."""
        return changing.set_archived(self._setup, id, False)

    def undo(self, event_id: str) -> EvolutionEvent:
        """Bring a note back to its state before an event; returns the event of the undo.

        Raises
        ------
        NotFound
            No such event in this scope.
        Conflict
            A later event of the same note stands; undo that one first.
        """
        return changing.undo(self._setup, event_id)

    def erase(
        self,
        *,
        id: str | None = None,  # noqa: A002  # as in the interface
        source: str | None = None,
        everything: bool = False,
    ) -> EraseReceipt:
        """Remove notes for good, with links, events and words carried into neighbours.

        Raises
        ------
        NotFound
            Nothing of that id or source is there (also the second time).
        """
        return changing.erase(self._setup, id, source, everything)

    # --- reading

    def recall(
        self,
        query: str,
        limit: int = 10,
        *,
        by: Literal["note", "source"] = "note",
        at: datetime | None = None,
        track: bool = True,
        sources: Iterable[str] | str | None = None,
        authors: Iterable[str] | str | None = None,
        tags: Iterable[str] | str | None = None,
        since: datetime | None = None,
        until: datetime | None = None,
        as_of: datetime | None = None,
        allow_parametric: bool = False,
        required_evidence: int = 1,
        ask_model: bool = False,
        policy: Policy | str | None = None,
    ) -> RecallResult:
        """Rank what the notes and their links say about a question.

        Parameters
        ----------
        limit
            How many notes, or sources with ``by="source"``, are returned; at least 1.
        at
            The moment of asking, for recency and expressions such as "last week"; never a
            filter. The clock's moment when not given.
        track
            Count the returned notes as used; ``False`` leaves no trace.
        sources, authors, tags, since, until, as_of
            Only notes that pass are candidates, neighbours or counted; `since` is
            inclusive, `until` exclusive, `as_of` inclusive.
        allow_parametric
            Whether the decision may leave the answer to the model's own knowledge.
        required_evidence
            How many supporting notes an answer needs; with fewer the outcome is ``partial``.
        ask_model
            Let the memory's language model read the best notes too, one call a note, and set
            what it says against the decision: agreement confirms, disagreement is
            ``partial``.
        policy
            Rank by another policy, or the name of one.

        Raises
        ------
        InvalidQuery
            A blank question, a limit below 1, or a filter that cannot be used.
        ConfigurationError
            `ask_model` without a language model.
        """
        setup = self._setup
        if by not in ("note", "source"):
            raise InvalidQuery(f'by must be "note" or "source", not {by!r}')
        where = checked_filter(
            sources=sources, authors=authors, tags=tags, since=since, until=until, as_of=as_of
        )
        request = RecallRequest(
            query=checked_query(query),
            limit=checked_limit(limit),
            by_source=by == "source",
            at=upkeep.moment(setup, at),
            where=where,
            policy=setup.policy if policy is None else resolve_policy(policy),
            allow_parametric=allow_parametric,
            required_evidence=checked_limit(required_evidence, "required_evidence"),
            ask_model=ask_model,
            track=track,
        )
        return recall(setup, request)

    def get(self, id: str) -> Note:  # noqa: A002  # as in the interface
        """Return a note; raises ``NotFound``."""
        return self._setup.note(id)

    def links(self, id: str, min_weight: float = 0.0) -> tuple[Link, ...]:  # noqa: A002  # as in the interface
        """Return the note's RELATED links, strongest first; raises ``NotFound``."""
        setup = self._setup
        return setup.store.links(setup.scope, setup.note(id).id, min_weight)

    def neighbourhood(self, id: str, hops: int = 1) -> Neighbourhood:  # noqa: A002  # as in the interface
        """Return what lies within `hops` along RELATED and FOLLOWS; raises ``NotFound``."""
        setup = self._setup
        note = setup.note(id)
        return setup.store.neighbourhood(setup.scope, note.id, checked_limit(hops, "hops"))

    def history(self, id: str) -> tuple[EvolutionEvent, ...]:  # noqa: A002  # as in the interface
        """Return every change of a note since it was added; raises ``NotFound``."""
        setup = self._setup
        return setup.store.events(setup.scope, setup.note(id).id)

    def notes(
        self,
        *,
        sources: Iterable[str] | str | None = None,
        authors: Iterable[str] | str | None = None,
        tags: Iterable[str] | str | None = None,
        since: datetime | None = None,
        until: datetime | None = None,
        archived: bool = False,
    ) -> Iterator[Note]:
        """Iterate over the notes that pass, by id; `archived` includes archived ones."""
        setup = self._setup
        where = checked_filter(
            sources=sources,
            authors=authors,
            tags=tags,
            since=since,
            until=until,
            archived=archived,
        )
        return setup.store.notes(setup.scope, where)

    def candidates(self, text: str, limit: int = 10) -> tuple[Neighbour, ...]:
        """Return the notes most similar to a text, as raw cosine before any threshold."""
        setup = self._setup
        vector = setup.encoding.encode_one(checked_query(text))
        rows = setup.store.nearest(setup.scope, vector[None, :], checked_limit(limit))
        return rows[0]

    def stats(self) -> Stats:
        """Count notes, links, sources, events and recalls of this scope."""
        setup = self._setup
        return setup.store.stats(setup.scope)

    def check(self, repair: bool = False, embeddings: bool = False) -> CheckReport:
        """Compare the parts of the store with each other; `repair` mends what can be.

        Derived data whose receipt no longer matches are problems too (summaries, and what
        was made of each note); :meth:`rebuild` mends them. With `embeddings` every text is
        embedded anew and compared, which takes as long as adding it.
        """
        setup = self._setup
        report = setup.store.check(setup.scope, repair=repair)
        stale = deriving.receipt_problems(setup, embeddings=embeddings)
        return replace(report, problems=(*report.problems, *stale))

    # --- derived data

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

    # --- upkeep

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
