"""The embedded store: a networkx graph and numpy arrays in memory, SQLite on disk."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import nullcontext
from dataclasses import replace
from itertools import islice
from pathlib import Path

import numpy as np

from graphmem.errors import StoreCorrupt
from graphmem.model import (
    Candidate,
    CandidateQuery,
    CandidateSet,
    CheckReport,
    EvolutionEvent,
    Link,
    ModelIdentity,
    Neighbour,
    Neighbourhood,
    Note,
    NoteFilter,
    NoteRecord,
    NoteVectors,
    Scope,
    Stats,
    Use,
    Vector,
    WritePlan,
)
from graphmem.ports import ScopeReader
from graphmem.stores.agreement import agreed_model, check_sentences
from graphmem.stores.embedded.applying import Application
from graphmem.stores.embedded.integrity import inspect, mend
from graphmem.stores.embedded.journal import MEMORY, Change
from graphmem.stores.embedded.reader import EmbeddedReader
from graphmem.stores.embedded.reindexing import reindex
from graphmem.stores.embedded.retrieval import (
    find_candidates,
    links_among,
    seen_from,
    surroundings,
)
from graphmem.stores.embedded.rows import to_micros
from graphmem.stores.embedded.session import Session
from graphmem.stores.embedded.shard import EVERY_NOTE
from graphmem.stores.sentences import best_cosines

_PAGE = 512
_CURRENT = NoteFilter()


class NetworkXStore:
    """Notes, links and events in one durable file, searched in memory.

    A namespace is loaded at first use: columns and vectors as arrays, links as a networkx
    graph that grows around what is touched; texts stay in the file until returned. Several
    processes may open one file; each sees the writes of the others at its next call. The
    file is opened by :meth:`open`, or else at first use.

    Parameters
    ----------
    place
        Path of the file, or ``:memory:`` for nothing on disk.
    wait
        Seconds a write waits for writers of other processes before ``StoreUnavailable``.
    """

    def __init__(self, place: str | Path, *, wait: float = 30.0) -> None:
        self._session = Session(str(place), wait)

    @classmethod
    def open(cls, place: str | Path, *, wait: float = 30.0) -> NetworkXStore:
        """Open the store and its file, made if there is none.

        Raises
        ------
        UnsupportedSchema
            A newer graphmem wrote the file, or it is not graphmem's; it stays as it was.
        StoreCorrupt
            The file is damaged; the message says what can be read.
        ReadOnlyStore
            The place cannot be written.
        StoreUnavailable
            The folder is missing, or another process holds the file.
        """
        store = cls(place, wait=wait)
        try:
            store.model()
        except BaseException:
            store.close()
            raise
        return store

    @property
    def label(self) -> str:
        """Kind and place in words."""
        place = self._session.place
        return "embedded in memory" if place == MEMORY else f"embedded {place}"

    def model(self) -> ModelIdentity | None:
        """Return the model the store was built with; ``None`` while nothing was embedded."""
        with self._session.view():
            return self._session.model

    # --- writing -----------------------------------------------------------------------

    def write(self, scope: Scope, decide: Callable[[ScopeReader], WritePlan]) -> WritePlan:
        """Let `decide` read the scope and apply the plan it returns, as one transaction."""
        session = self._session
        with session.writing():
            plan = decide(EmbeddedReader(session, scope))
            if plan.empty:
                return plan
            with session.applying():
                vectors = (write.embedding for write in plan.notes)
                model = agreed_model(session.model, plan.model, vectors)
                check_sentences(model, (write.sentences for write in plan.notes))
                application = Application.begin(
                    session.loaded(scope.namespace), session.tables, scope.namespace
                )
                application.apply(plan)
                session.commit(scope.namespace, application.aftermath, model)
            return plan

    def load(
        self,
        scope: Scope,
        notes: Sequence[NoteRecord],
        links: Sequence[Link],
        events: Sequence[EvolutionEvent],
        model: ModelIdentity | None,
    ) -> None:
        """Store records as they are, counters included, as one transaction."""
        session = self._session
        with session.writing(), session.applying():
            agreed = agreed_model(session.model, model, (record.embedding for record in notes))
            check_sentences(agreed, (record.sentences for record in notes))
            application = Application.begin(
                session.loaded(scope.namespace), session.tables, scope.namespace
            )
            application.load(notes, links, events)
            session.commit(scope.namespace, application.aftermath, agreed)

    def record_use(self, scope: Scope, use: Use) -> None:
        """Count one recall; in the file within a second, or at the next write or `close`."""
        with self._session.shard(scope.namespace) as shard:
            notes = shard.keys(shard.visible(scope, use.note_ids))
            pairs = []
            for pair in dict.fromkeys(use.pairs):
                rows = shard.visible(scope, pair)
                if len(rows) == 2:
                    low, high = shard.keys(rows)
                    pairs.append((low, high))
            self._session.count_use(notes, pairs, to_micros(use.at))

    def replace_model(
        self, model: ModelIdentity, pages: Callable[[Sequence[Note]], NoteVectors]
    ) -> None:
        """Re-embed every note of every namespace and change the store's model."""
        reindex(self._session, model, pages)

    def drop_namespace(self, namespace: str) -> int:
        """Remove a namespace whole; return how many notes it had."""
        session = self._session
        with session.writing(), session.applying():
            number = session.tables.namespace_number(namespace)
            if number is None:
                return 0
            count = session.tables.drop_namespace(number)
            session.commit_whole(Change(number, None))
            return count

    # --- recall ------------------------------------------------------------------------

    def candidates(self, scope: Scope, query: CandidateQuery) -> CandidateSet:
        """Return the graph-expanded set a recall ranks, in one read of the store."""
        session = self._session
        with session.shard(scope.namespace) as shard:
            if shard.vectors.dimension:
                agreed_model(session.model, None, (query.vector,))
            found = find_candidates(shard, scope, query)
            bodies = session.bodies(shard, scope.namespace, found.rows)
            sentences = session.sentences(shard, found.rows)
            links = session.with_use(shard, found.links)
        return CandidateSet(
            candidates=tuple(
                map(
                    Candidate,
                    (note for note, _ in bodies),
                    (terms for _, terms in bodies),
                    found.cosines,
                    map(found.vector_ranks.get, found.rows),
                    map(found.lexical_ranks.get, found.rows),
                    best_cosines(sentences, query.vector),
                )
            ),
            links=links,
            note_count=found.note_count,
            average_terms=found.average_terms,
            document_frequency=found.document_frequency,
            term_counts=found.term_counts,
        )

    def nearest(
        self, scope: Scope, vectors: Vector, limit: int, where: NoteFilter = _CURRENT
    ) -> tuple[tuple[Neighbour, ...], ...]:
        """Return for each vector the `limit` notes of highest cosine, by (-cosine, id)."""
        return EmbeddedReader(self._session, scope).nearest(vectors, limit, where=where)

    # --- reading -----------------------------------------------------------------------

    def get(self, scope: Scope, ids: Sequence[str]) -> Mapping[str, Note]:
        """Return the notes of these ids the scope may see, archived ones included."""
        return EmbeddedReader(self._session, scope).notes(ids)

    def links(self, scope: Scope, note_id: str, min_weight: float = 0.0) -> tuple[Link, ...]:
        """Return the note's RELATED links to current visible notes, strongest first."""
        with self._session.shard(scope.namespace) as shard:
            if not shard.visible(scope, (note_id,)):
                return ()
            others = {link.other(note_id): link for link in shard.links.of(note_id)}
            kept = [
                others[shard.ids[row]]
                for row in shard.visible(scope, others)
                if not shard.columns.archived[row]
            ]
            strong = [link for link in kept if link.weight >= min_weight]
            strong.sort(key=lambda link: (-link.weight, link.other(note_id)))
            return self._session.with_use(shard, strong)

    def neighbourhood(
        self, scope: Scope, note_id: str, hops: int = 1, limit: int = 500
    ) -> Neighbourhood:
        """Return the note, what is within `hops` along RELATED and FOLLOWS, and the links."""
        with self._session.shard(scope.namespace) as shard:
            starts = shard.visible(scope, (note_id,))
            if not starts:
                return Neighbourhood((), ())
            rows = shard.sorted_by_id(surroundings(shard, scope, starts[0], hops, limit))
            seen = seen_from(shard, scope, starts[0])
            links = self._session.with_use(shard, links_among(shard, rows, 0.0, seen))
            bodies = self._session.bodies(shard, scope.namespace, rows)
            return Neighbourhood(tuple(note for note, _ in bodies), links)

    def events(self, scope: Scope, note_id: str) -> tuple[EvolutionEvent, ...]:
        """Return the note's events in order of revision; empty when it cannot be seen."""
        return EmbeddedReader(self._session, scope).events((note_id,))

    def event(self, scope: Scope, event_id: str) -> EvolutionEvent | None:
        """Return one event, or ``None``."""
        with self._session.shard(scope.namespace) as shard:
            if shard.number is None:
                return None
            found = self._session.tables.event(shard.number, event_id)
            return found if found and shard.visible(scope, (found.note_id,)) else None

    # --- the whole scope ---------------------------------------------------------------

    def notes(self, scope: Scope, where: NoteFilter = _CURRENT) -> Iterator[Note]:
        """Iterate over the notes ordered by id, in pages."""
        for ids in self._pages(scope, where):
            with self._session.shard(scope.namespace) as shard:
                rows = shard.visible(scope, ids)
                bodies = self._session.bodies(shard, scope.namespace, rows)
            yield from (note for note, _ in bodies)

    def records(self, scope: Scope) -> Iterator[NoteRecord]:
        """Iterate over all notes with terms and vectors, archived included, by id."""
        for ids in self._pages(scope, EVERY_NOTE):
            with self._session.shard(scope.namespace) as shard:
                rows = shard.visible(scope, ids)
                bodies = self._session.bodies(shard, scope.namespace, rows)
                vectors = [shard.vectors.of(row) for row in rows]
                sentences = self._session.sentences(shard, rows)
            for (note, terms), vector, own in zip(bodies, vectors, sentences, strict=True):
                yield NoteRecord(note, terms, vector, None if own is None else own.copy())

    def all_links(self, scope: Scope) -> Iterator[Link]:
        """Iterate over the stored links whose two ends the scope may see, by (pair, kind)."""
        for ids in self._pages(scope, EVERY_NOTE):
            with self._session.shard(scope.namespace) as shard:
                keys = shard.keys(shard.visible(scope, ids))
                links = shard.as_links(self._session.tables.links_from(keys))
                on_page = set(ids)
                links += (each for each in shard.superseding if each.from_id in on_page)
                seen = [link for link in links if shard.visible(scope, (link.to_id,))]
                page = self._session.with_use(shard, seen)
            yield from sorted(page, key=lambda link: (link.pair, link.kind))

    def all_events(self, scope: Scope) -> Iterator[EvolutionEvent]:
        """Iterate over the events of visible notes, by (note_id, revision)."""
        for ids in self._pages(scope, EVERY_NOTE):
            with self._session.shard(scope.namespace) as shard:
                page = self._session.tables.events_of(shard.keys(shard.visible(scope, ids)))
            yield from page

    def namespaces(self) -> tuple[str, ...]:
        """Return the namespaces that hold a note, sorted."""
        with self._session.view():
            return tuple(name for _, name in self._session.tables.namespaces())

    def stats(self, scope: Scope) -> Stats:
        """Count what the scope may see."""
        session = self._session
        with session.shard(scope.namespace) as shard:
            seen = shard.mask(scope)
            rows = np.flatnonzero(seen).tolist()
            keys = shard.keys(rows)
            sources = shard.columns.source[seen]
            pending = session.pending.notes
            return Stats(
                namespace=scope.namespace,
                notes=len(rows),
                archived=int(shard.columns.archived[seen].sum()),
                related=session.tables.count_links_among(keys),
                follows=len(shard.sources.follows_among(np.array(rows, dtype=np.intp), seen)),
                sources=len(np.unique(sources[sources >= 0])),
                events=session.tables.count_events(keys),
                recalls=session.tables.recalls(keys)
                + sum(pending[key].times for key in keys if key in pending),
                model=session.model,
                schema_version=session.journal.version(),
                store=self.label,
                superseding=sum(
                    len(shard.visible(scope, link.pair)) == 2 for link in shard.superseding
                ),
            )

    def check(self, scope: Scope, *, repair: bool = False) -> CheckReport:
        """Compare the parts of the store with each other; with `repair`, mend what can be.

        A file too damaged for that is replaced by a new one with all that can be read of it;
        the damaged one stays beside it.
        """
        try:
            return self._check(scope, repair=repair)
        except StoreCorrupt as damage:
            if not repair or self._session.place == MEMORY:
                raise
            saved = self._session.salvage()
            report = self._check(scope, repair=True)
            return replace(
                report,
                problems=(str(damage), *report.problems),
                repaired=(str(saved), *report.repaired),
            )

    def _check(self, scope: Scope, *, repair: bool) -> CheckReport:
        session = self._session
        with session.writing() if repair else nullcontext():
            with session.shard(scope.namespace) as shard:
                found = list(inspect(session.journal.connection, shard, scope))
                counted = self.stats(scope)
                number = shard.number
            if repair and (lost := [each.problem for each in found if each.unreadable]):
                raise StoreCorrupt(f"{session.place} is damaged: {'; '.join(lost)}")
            if repair and number is not None and any(each.repair for each in found):
                with session.applying():
                    mend(session.journal.connection, found)
                    session.commit_whole(Change(number, None))
        return CheckReport(
            notes=counted.notes,
            links=counted.related,
            events=counted.events,
            problems=tuple(each.problem for each in found),
            repaired=tuple(each.mended for each in found if each.repair) if repair else (),
        )

    def backup(self, path: str | Path) -> None:
        """Copy the whole file, as it is now, to a new one.

        Raises
        ------
        TransferError
            There is something at `path` already, or it cannot be written.
        """
        self._session.backup(Path(path))

    def close(self) -> None:
        """Write what is pending and release the file; a second call does nothing."""
        self._session.close()

    def _pages(self, scope: Scope, where: NoteFilter) -> Iterator[list[str]]:
        """Return the ids of what passes, sorted, in pages."""
        with self._session.shard(scope.namespace) as shard:
            found = np.flatnonzero(shard.mask(scope, where)).tolist()
            ids = iter(sorted(shard.ids[row] for row in found))
        while page := list(islice(ids, _PAGE)):
            yield page
