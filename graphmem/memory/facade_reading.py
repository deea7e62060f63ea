"""The part of ``Memory`` that reads."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import replace
from datetime import datetime
from typing import Literal

from graphmem.errors import InvalidQuery
from graphmem.memory import deriving, upkeep
from graphmem.memory.entry import checked_filter, checked_limit, checked_query, checked_weight
from graphmem.memory.handle import MemoryHandle
from graphmem.memory.recalling import RecallRequest, recall
from graphmem.model import (
    CheckReport,
    EvolutionEvent,
    Link,
    Neighbour,
    Neighbourhood,
    Note,
    RecallResult,
    Stats,
)
from graphmem.policy import Policy, resolve_policy


class MemoryReading(MemoryHandle):
    """Recall, single notes and what surrounds them, counts and checks."""

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
        return setup.store.links(setup.scope, setup.note(id).id, checked_weight(min_weight))

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
