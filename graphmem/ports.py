"""What graphmem needs from the outside, as Protocols with their contract in words.

The contract suite in ``tests/contract`` is these words as tests; both stores pass it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from datetime import datetime
from pathlib import Path
from typing import Literal, Protocol, runtime_checkable

from graphmem.model import (
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

EmbeddingRole = Literal["note", "query"]


@runtime_checkable
class Embedder(Protocol):
    """Turns texts into vectors.

    `model_id` and `dimension` are part of a store's identity: a store built with one model
    refuses another.
    """

    @property
    def model_id(self) -> str:
        """Stable name of the model, such as ``sentence-transformers/all-MiniLM-L6-v2``."""
        ...

    @property
    def dimension(self) -> int:
        """Length of a vector."""
        ...

    def encode(self, texts: Sequence[str], *, role: EmbeddingRole = "note") -> Vector:
        """Return float32 vectors of shape (len(texts), dimension), L2-normalised.

        Deterministic: a text's vector does not depend on the other texts of the call
        beyond 1e-6.
        """
        ...


class ScopeReader(Protocol):
    """Consistent reads of one scope inside one write (see :meth:`NoteStore.write`)."""

    def model(self) -> ModelIdentity | None:
        """Return the model the store was built with; ``None`` while nothing was embedded."""
        ...

    def notes(self, ids: Sequence[str]) -> Mapping[str, Note]:
        """Return the notes of these ids the scope may see, archived ones included."""
        ...

    def taken(self, ids: Sequence[str]) -> frozenset[str]:
        """Return which ids exist in the namespace, seen by the scope or not."""
        ...

    def nearest(
        self, vectors: Vector, limit: int, at_least: float = -1.0
    ) -> tuple[tuple[Neighbour, ...], ...]:
        """Return for each row of `vectors` the `limit` notes of highest raw cosine.

        Only notes of the scope that have a vector and are not archived, and whose cosine is
        `at_least` so high. Each row is sorted by (-cosine, id). Exact for a namespace of up
        to 20,000 notes.
        """
        ...

    def vectors(self, ids: Sequence[str]) -> Mapping[str, Vector]:
        """Return the stored vectors, shape (dimension,), of those ids that have one."""
        ...

    def links(self, ids: Sequence[str]) -> tuple[Link, ...]:
        """Return the stored links with at least one end in `ids`, by (pair, kind).

        Stored are RELATED and SUPERSEDES; FOLLOWS is derived.
        """
        ...

    def events(self, ids: Sequence[str]) -> tuple[EvolutionEvent, ...]:
        """Return the events of these notes, ordered by (note_id, revision)."""
        ...

    def triggered(self, ids: Sequence[str]) -> tuple[EvolutionEvent, ...]:
        """Return the events these notes triggered in others, ordered by (note_id, revision)."""
        ...

    def of_source(self, source_id: str) -> tuple[str, ...]:
        """Return the ids of the scope's notes of one source, archived included, sorted."""
        ...


class NoteStore(Protocol):
    """Keeps notes, links and events of many namespaces.

    Clauses that hold for every method:

    - A call sees its scope only: namespace, then allow-lists, before any count, limit,
      hop or statistic.
    - Similarities are raw cosine in [-1, 1]; ties are broken by id; vectors are float32;
      times are aware UTC with microseconds.
    - Returned values are copies.
    - Lower-level errors arrive as those of ``graphmem.errors``; a failed call changed
      nothing.
    - A call sees every write acknowledged before it, also those of other processes.
    - Safe to call from several threads.
    - FOLLOWS is derived: within a source the notes with a position form one chain in order
      of (position, id), each pointing to the one before it. The store keeps it so after
      every write and erasure, for late positions too. A call walks and returns the chain
      of the notes it may see: those that its scope, its filter or their archiving hide are
      skipped, as if they were not there.
    """

    @property
    def label(self) -> str:
        """Kind and place in words, without credentials, such as ``embedded demo.graphmem``."""
        ...

    def model(self) -> ModelIdentity | None:
        """Return the model the store was built with; ``None`` while nothing was embedded."""
        ...

    def write(self, scope: Scope, decide: Callable[[ScopeReader], WritePlan]) -> WritePlan:
        """Let `decide` read the scope and apply the plan it returns, as one transaction.

        No other write to the namespace comes between the reads and the plan. `decide` may
        be called again when the store has to retry: it must not have effects of its own.

        Application is whole or not at all: notes (compare-and-swap on
        ``expected_revision``), unlinks of RELATED and of SUPERSEDES, links (created, or weight,
        cosine, reason and use counters replaced), events,
        dropped events, erased notes with their links and events, and FOLLOWS of the touched
        sources. Of ``plan.reweighted`` only the weight is stored, and links that are gone are
        left out. ``plan.model`` is stored when the store has none yet. An upsert keeps the
        stored ``recall_count`` and ``last_accessed_at`` (use is
        written by `record_use` and `load` only; on a new note those of the plan are
        taken). When this returns the write is durable.

        Raises
        ------
        Conflict
            An expected revision does not match.
        EmbeddingMismatch
            ``plan.model`` or the length of a vector, also of a sentence, differs from the
            store's model.
        EmbeddingError
            A vector is not finite, or a sentence's is all zeros.
        """
        ...

    def record_use(self, scope: Scope, use: Use) -> None:
        """Count one recall: ``recall_count + 1`` and ``last_accessed_at = max(old, at)``.

        For exactly the notes in ``use.note_ids`` the scope may see; ``retrievals + 1`` and
        ``last_retrieved_at`` for the RELATED links in ``use.pairs``. May become durable up
        to a second later; own reads see it at once; `close` flushes it.
        """
        ...

    def candidates(self, scope: Scope, query: CandidateQuery) -> CandidateSet:
        """Return the graph-expanded set a recall ranks, in one read of the store.

        All steps see only notes of the scope that pass ``query.where``.

        1. Vector seeds: the ``vector_seeds`` notes of highest cosine, by (-cosine, id).
        2. Lexical seeds: for each distinct query term t, df(t) = number of notes whose
           terms contain t. A term with df > TERM_CAP seeds nothing (but if that is so for
           every term, the rarest is used all the same). Each note found scores the sum
           over its matched terms, in order of ``query.terms``, of the integer
           ``round(1e6 * ln(1 + (N - df + 0.5) / (df + 0.5)))``. Seeds are the
           ``lexical_seeds`` notes by (-score, number of terms, id).
        3. Expansion starts at the seeds with vector_rank < ``expand`` or lexical_rank <
           ``expand``:
           RELATED: ``hops`` times from the newly reached notes, along the note's up to
           ``fanout`` strongest links with weight >= ``min_weight``, by (-weight, other id);
           FOLLOWS: up to ``window`` steps each way;
           same source: of the start's source the first ``source_notes`` by
           (-importance, id). Nothing is reached through a note outside the scope or
           filter.
        4. Every candidate carries its cosine, the best one of its sentences (to 1e-6), and its
           terms; the links are, among the candidates, the RELATED ones with weight >=
           ``min_weight`` that have an end at a start or at a note reached by fewer than
           ``hops`` hops along RELATED, all FOLLOWS and all SUPERSEDES.
        """
        ...

    def nearest(
        self, scope: Scope, vectors: Vector, limit: int, where: NoteFilter = NoteFilter()
    ) -> tuple[tuple[Neighbour, ...], ...]:
        """Return as :meth:`ScopeReader.nearest`, within `where`."""
        ...

    def get(self, scope: Scope, ids: Sequence[str]) -> Mapping[str, Note]:
        """Return the notes of these ids the scope may see, archived ones included."""
        ...

    def links(self, scope: Scope, note_id: str, min_weight: float = 0.0) -> tuple[Link, ...]:
        """Return the note's RELATED links to notes the scope may see.

        Archived ends are left out. Sorted by (-weight, other end).
        """
        ...

    def neighbourhood(
        self, scope: Scope, note_id: str, hops: int = 1, limit: int = 500
    ) -> Neighbourhood:
        """Return the note, what is within `hops` along RELATED and FOLLOWS, and all links.

        Nearest hops first, then by id, cut at `limit`; notes ordered by id, links by
        (kind, from_id, to_id). Archived notes are neither returned nor walked through,
        except the start. Empty when the scope cannot see the note.
        """
        ...

    def events(self, scope: Scope, note_id: str) -> tuple[EvolutionEvent, ...]:
        """Return the note's events in order of revision; empty when it cannot be seen."""
        ...

    def event(self, scope: Scope, event_id: str) -> EvolutionEvent | None:
        """Return one event, or ``None``."""
        ...

    def notes(self, scope: Scope, where: NoteFilter = NoteFilter()) -> Iterator[Note]:
        """Iterate over the notes ordered by id, in pages: memory stays bounded."""
        ...

    def records(self, scope: Scope) -> Iterator[NoteRecord]:
        """Iterate over all notes with terms and vectors, archived included, by id.

        Their sentences' vectors come as they were stored, byte for byte.
        """
        ...

    def all_links(self, scope: Scope) -> Iterator[Link]:
        """Iterate over the stored links whose two ends the scope may see, by (pair, kind)."""
        ...

    def all_events(self, scope: Scope) -> Iterator[EvolutionEvent]:
        """Iterate over the events of visible notes, by (note_id, revision)."""
        ...

    def load(
        self,
        scope: Scope,
        notes: Sequence[NoteRecord],
        links: Sequence[Link],
        events: Sequence[EvolutionEvent],
        model: ModelIdentity | None,
    ) -> None:
        """Store records as they are, counters included, as one transaction.

        Replaces notes, links and events of the same identity. The ends of links and the
        notes of events must exist or be in the call.
        """
        ...

    def replace_model(
        self, model: ModelIdentity, pages: Callable[[Sequence[Note]], NoteVectors]
    ) -> None:
        """Re-embed every note of every namespace and change the store's model.

        `pages` returns the vectors of the notes it is given and of their sentences, of
        ``model.dimension`` numbers each. Until the end the old vectors and model stay in
        force; the change is one step.
        """
        ...

    def namespaces(self) -> tuple[str, ...]:
        """Return the namespaces that hold a note, sorted."""
        ...

    def drop_namespace(self, namespace: str) -> int:
        """Remove a namespace whole; return how many notes it had."""
        ...

    def stats(self, scope: Scope) -> Stats:
        """Count what the scope may see."""
        ...

    def check(self, scope: Scope, *, repair: bool = False) -> CheckReport:
        """Compare the parts of the store with each other; with `repair`, mend what can be."""
        ...

    def close(self) -> None:
        """Flush and release; a second call does nothing."""
        ...


@runtime_checkable
class Backup(Protocol):
    """A store that can copy itself while others write."""

    def backup(self, path: Path) -> None:
        """Write a consistent copy to a file that must not exist yet."""
        ...


class LanguageModel(Protocol):
    """An optional language model behind one call.

    `complete` returns the reply's text. It raises ``LanguageModelError`` when there is no
    usable reply; callers fall back and record that they did.
    """

    @property
    def model_id(self) -> str:
        """Stable name of the model."""
        ...

    def complete(self, prompt: str, *, schema: Mapping[str, object]) -> str:
        """Return a reply to `prompt` that should follow the JSON `schema`."""
        ...


@runtime_checkable
class ConcurrentModel(Protocol):
    """A language model that may be asked from several threads at once.

    `concurrency` is how many questions it takes at the same time. A model that does not
    say so is asked one question after the other.
    """

    @property
    def concurrency(self) -> int:
        """Questions it takes at once; at least 1."""
        ...


Clock = Callable[[], datetime]
"""Returns the current moment, aware."""
