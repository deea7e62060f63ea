"""The same random operations on every store leave the same state and find the same notes.

The reference store is the model. Plans are built from its state, some of them wrong on
purpose; after every step the whole state of each store is compared with the model's.
"""

from __future__ import annotations

import itertools
import uuid
from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from datetime import datetime
from pathlib import Path

import hypothesis.strategies as st
from contract.builders import (
    MODEL,
    Snapshot,
    assert_same_candidates,
    chain,
    directions,
    later,
    link,
    make_event,
    make_note,
    snapshot,
    unit,
)
from contract.stores import Graph
from hypothesis import HealthCheck, Phase, settings
from hypothesis.stateful import RuleBasedStateMachine, invariant, rule, run_state_machine_as_test
from reference_store import ReferenceStore

from graphmem.errors import GraphmemError
from graphmem.model import (
    NO_SENTENCES,
    CandidateQuery,
    Disagreement,
    DisagreementKind,
    EvolutionEvent,
    Link,
    Note,
    NoteFilter,
    NoteRecord,
    NoteWrite,
    Scope,
    SentenceVectors,
    Stats,
    Use,
    WritePlan,
    supersedes,
)
from graphmem.ports import NoteStore
from graphmem.stores.embedded.store import NetworkXStore

IDS = ("a", "b", "c", "d", "e", "f")
PAIRS = tuple(itertools.combinations(IDS, 2))
WORDS = ("ship", "harbour", "quay", "AND", "tb-")

ids = st.sampled_from(IDS)
sources = st.sampled_from([None, "s", "t"])
authors = st.sampled_from([None, "Ada", "Bob"])
eighths = st.integers(0, 8).map(lambda n: n / 8)
words = st.lists(st.sampled_from(WORDS), max_size=4).map(tuple)
moments = st.integers(0, 50).map(later)
vectors = st.one_of(st.none(), st.integers(0, 5))
namespaces = st.sampled_from([0, 1])
allowed = st.sampled_from([None, frozenset({"Ada"}), frozenset({"Ada", "Bob"})])


@dataclass(frozen=True)
class Draft:
    """What a note is to become; identity and revision are filled in from the model."""

    id: str
    source: str | None
    position: int | None
    author: str | None
    tags: tuple[str, ...]
    importance: float
    created_at: datetime
    archived: bool
    terms: tuple[str, ...]
    vector: int | None
    sentences: int | None
    slip: int

    def spoken(self) -> SentenceVectors | None:
        """As many sentences as said; ``None`` keeps those that are stored."""
        if self.sentences is None:
            return None
        return directions(*range(self.sentences)) if self.sentences else NO_SENTENCES

    def note(self, namespace: str, revision: int) -> Note:
        return make_note(
            self.id,
            namespace,
            source=self.source,
            position=self.position,
            author=self.author,
            tags=self.tags,
            importance=self.importance,
            created_at=self.created_at,
            archived=self.archived,
            revision=revision,
            content=f"{self.id} {self.terms} {self.vector}",
        )


drafts = st.builds(
    Draft,
    id=ids,
    source=sources,
    position=st.one_of(st.none(), st.integers(-2, 4)),
    author=authors,
    tags=st.sampled_from([(), ("x",), ("y", "x")]),
    importance=eighths,
    created_at=moments,
    archived=st.sampled_from([False, False, False, True]),
    terms=words,
    vector=vectors,
    sentences=st.sampled_from([None, None, 0, 1, 3]),
    slip=st.sampled_from([0] * 14 + [1, -1]),
)
links = st.builds(
    lambda pair, cosine, weight, used: link(
        pair[0],
        pair[1],
        cosine,
        weight=weight,
        retrievals=used,
        last_retrieved_at=later(used) if used else None,
    ),
    pair=st.sampled_from(PAIRS),
    cosine=eighths,
    weight=eighths,
    used=st.integers(0, 3),
)
changes_of_mind = st.builds(
    lambda ends, cosine, kind: supersedes(
        *ends, cosine, later(7), Disagreement(kind, ends[0], "\u2192 'x'")
    ),
    ends=st.tuples(ids, ids),
    cosine=eighths,
    kind=st.sampled_from(DisagreementKind),
)
filters = st.builds(
    NoteFilter,
    sources=st.sampled_from([None, None, frozenset({"s"}), frozenset({"s", "t"})]),
    authors=allowed,
    tags=st.sampled_from([None, None, frozenset({"x"})]),
    since=st.one_of(st.none(), moments),
    until=st.one_of(st.none(), moments),
    as_of=st.one_of(st.none(), moments),
    archived=st.booleans(),
)
queries = st.builds(
    CandidateQuery,
    vector=st.integers(100, 120).map(unit),
    terms=st.lists(st.sampled_from([*WORDS, "absent"]), max_size=4).map(tuple),
    where=st.one_of(st.just(NoteFilter()), filters),
    vector_seeds=st.integers(0, 4),
    lexical_seeds=st.integers(0, 4),
    expand=st.integers(0, 3),
    hops=st.integers(0, 3),
    fanout=st.integers(0, 3),
    min_weight=eighths,
    window=st.integers(0, 3),
    source_notes=st.integers(0, 3),
)

Operation = Callable[[NoteStore], object]


class StoresAgree(RuleBasedStateMachine):
    """Plays each operation on the model, then on the stores under test."""

    def __init__(self, opened: Iterable[NoteStore]) -> None:
        super().__init__()
        run = uuid.uuid4()
        self.scopes = (Scope(f"{run}"), Scope(f"{run}/2"))
        self.model = ReferenceStore()
        self.stores: tuple[NoteStore, ...] = tuple(opened)
        self.events = itertools.count(2)
        self.clock = itertools.count(100)

    def play(self, operation: Operation) -> None:
        """Run it everywhere; all succeed with equal answers or all refuse."""
        expected = outcome(operation, self.model)
        for store in self.stores:
            assert outcome(operation, store) == expected, store.label

    def revision(self, scope: Scope, id_: str) -> int:
        note = self.model.get(scope, [id_]).get(id_)
        return note.revision if note else 0

    @rule(
        which=namespaces,
        changes=st.lists(drafts, max_size=4, unique_by=lambda draft: draft.id),
        made=st.lists(links, max_size=4, unique_by=lambda each: each.pair),
        unmade=st.sets(st.sampled_from(PAIRS), max_size=2),
        told=st.sets(ids, max_size=2),
        erased=st.sets(ids, max_size=1),
        dropped=st.booleans(),
    )
    def write(
        self,
        which: int,
        changes: list[Draft],
        made: list[Link],
        unmade: set[tuple[str, str]],
        told: set[str],
        erased: set[str],
        dropped: bool,
    ) -> None:
        scope = self.scopes[which]
        erased -= {draft.id for draft in changes}
        writes = []
        for draft in changes:
            now = self.revision(scope, draft.id)
            writes.append(
                NoteWrite(
                    draft.note(scope.namespace, now + 1),
                    draft.terms,
                    None if draft.vector is None else unit(draft.vector),
                    max(now + draft.slip, 0),
                    draft.spoken(),
                )
            )
        plan = WritePlan(
            notes=tuple(writes),
            links=tuple(each for each in made if not erased & set(each.pair)),
            unlinks=tuple(sorted(unmade - {each.pair for each in made})),
            events=tuple(self.event(scope, id_) for id_ in sorted(told - erased)),
            dropped_events=tuple(
                event.id for event in itertools.islice(self.model.all_events(scope), int(dropped))
            ),
            erased=tuple(sorted(erased)),
            model=MODEL,
        )
        self.play(lambda store: store.write(scope, lambda reader: plan))

    def event(self, scope: Scope, id_: str) -> EvolutionEvent:
        stored = self.model.get(scope, [id_]).get(id_)
        note = stored or make_note(id_, scope.namespace)
        return make_event(note, next(self.events), trigger="a" if id_ > "c" else None)

    @rule(which=namespaces, kept=st.sets(ids, max_size=3), made=st.lists(links, max_size=2))
    def relink(self, which: int, kept: set[str], made: list[Link]) -> None:
        """Links among notes that are there, so that walks have somewhere to go."""
        scope = self.scopes[which]
        there = set(self.model.get(scope, IDS))
        chosen = {each.pair: each for each in made if there >= set(each.pair)}
        plan = WritePlan(links=tuple(chosen.values()), model=MODEL)
        self.play(lambda store: store.write(scope, lambda reader: plan))

    @rule(
        which=namespaces,
        made=st.lists(changes_of_mind, max_size=2, unique_by=lambda each: each.pair),
        unmade=st.sets(st.tuples(ids, ids), max_size=2),
        blind=st.sampled_from([False, False, False, True]),
    )
    def supersede(
        self, which: int, made: list[Link], unmade: set[tuple[str, str]], blind: bool
    ) -> None:
        """SUPERSEDES links, mostly among notes that are there."""
        scope = self.scopes[which]
        there = set(self.model.get(scope, IDS))
        chosen = [each for each in made if blind or there >= set(each.pair)]
        gone = unmade - {each.pair for each in chosen}
        plan = WritePlan(links=tuple(chosen), unsuperseded=tuple(sorted(gone)), model=MODEL)
        self.play(lambda store: store.write(scope, lambda reader: plan))

    @rule(
        which=namespaces,
        authors=allowed,
        used=st.sets(ids, max_size=3),
        pairs=st.sets(st.sampled_from(PAIRS), max_size=3),
        late=st.booleans(),
    )
    def use(
        self,
        which: int,
        authors: frozenset[str] | None,
        used: set[str],
        pairs: set[tuple[str, str]],
        late: bool,
    ) -> None:
        scope = replace(self.scopes[which], authors=authors)
        at = later(-next(self.clock) if late else next(self.clock))
        counted = Use(tuple(sorted(used)), tuple(sorted(pairs)), at)
        self.play(lambda store: store.record_use(scope, counted))
        self.settle()

    def settle(self) -> None:
        """Make the use visible to other handles, where that may take a moment."""

    @rule(
        which=namespaces,
        loaded=st.lists(drafts, max_size=3, unique_by=lambda draft: draft.id),
        made=st.lists(links, max_size=2, unique_by=lambda each: each.pair),
    )
    def load(self, which: int, loaded: list[Draft], made: list[Link]) -> None:
        scope = self.scopes[which]
        records = [
            NoteRecord(
                replace(draft.note(scope.namespace, draft.slip + 5), recall_count=3),
                draft.terms,
                None if draft.vector is None else unit(draft.vector),
                draft.spoken(),
            )
            for draft in loaded
        ]
        self.play(lambda store: store.load(scope, records, made, [], MODEL))

    @rule(which=namespaces, sure=st.sampled_from([False, False, False, True]))
    def drop(self, which: int, sure: bool) -> None:
        if sure:
            self.play(lambda store: store.drop_namespace(self.scopes[which].namespace))

    @rule(which=namespaces, authors=allowed, query=queries)
    def recall(self, which: int, authors: frozenset[str] | None, query: CandidateQuery) -> None:
        scope = replace(self.scopes[which], authors=authors)
        expected = self.model.candidates(scope, query)
        for store in self.stores:
            assert_same_candidates(store.candidates(scope, query), expected)

    @rule(
        which=namespaces,
        authors=allowed,
        where=filters,
        limit=st.integers(0, 7),
        seed=st.integers(100, 120),
    )
    def nearest(
        self,
        which: int,
        authors: frozenset[str] | None,
        where: NoteFilter,
        limit: int,
        seed: int,
    ) -> None:
        scope = replace(self.scopes[which], authors=authors)
        (expected,) = self.model.nearest(scope, unit(seed)[None], limit, where)
        for store in self.stores:
            (found,) = store.nearest(scope, unit(seed)[None], limit, where)
            assert [each.note_id for each in found] == [each.note_id for each in expected]
            for each, other in zip(found, expected, strict=True):
                assert abs(each.cosine - other.cosine) <= 1e-6

    @rule(
        which=namespaces,
        authors=allowed,
        where=filters,
        start=ids,
        hops=st.integers(0, 4),
        limit=st.integers(1, 6),
        weight=eighths,
    )
    def look(
        self,
        which: int,
        authors: frozenset[str] | None,
        where: NoteFilter,
        start: str,
        hops: int,
        limit: int,
        weight: float,
    ) -> None:
        scope = replace(self.scopes[which], authors=authors)
        self.play(lambda store: store.neighbourhood(scope, start, hops, limit))
        self.play(lambda store: store.links(scope, start, weight))
        self.play(lambda store: store.events(scope, start))
        self.play(lambda store: list(store.notes(scope, where)))
        self.play(lambda store: counts(store.stats(scope)))
        self.play(lambda store: chain(store, scope))

    @invariant()
    def states_agree(self) -> None:
        for scope in self.scopes:
            expected = contents(self.model, scope)
            for store in self.stores:
                assert contents(store, scope) == expected, store.label

    def teardown(self) -> None:
        for scope, store in itertools.product(self.scopes, self.stores):
            assert store.check(scope).ok
            store.drop_namespace(scope.namespace)


class WithFiles(StoresAgree):
    """An in-memory store, and one file behind two handles that take turns."""

    def __init__(self, folder: Path) -> None:
        place = folder / f"{uuid.uuid4()}.graphmem"
        super().__init__([NetworkXStore(":memory:"), NetworkXStore(place), NetworkXStore(place)])
        self.place, self.turn = place, 1

    def play(self, operation: Operation) -> None:
        self.turn = 3 - self.turn
        expected = outcome(operation, self.model)
        for store in (self.stores[0], self.stores[self.turn]):
            assert outcome(operation, store) == expected, store.label

    def settle(self) -> None:
        """Close and reopen the handle that counted."""
        handles = list(self.stores)
        handles[self.turn].close()
        handles[self.turn] = NetworkXStore(self.place)
        self.stores = tuple(handles)

    def teardown(self) -> None:
        super().teardown()
        for store in self.stores:
            store.close()


def outcome(operation: Operation, store: NoteStore) -> object:
    """The answer, or that the store refused."""
    try:
        return operation(store)
    except GraphmemError:
        return "refused"


def contents(store: NoteStore, scope: Scope) -> Snapshot:
    """What the scope holds; the model belongs to the whole store, which others may share."""
    return replace(snapshot(store, scope), model=None)


def counts(stats: Stats) -> Stats:
    return replace(stats, schema_version=0, store="", model=None)


def profile(examples: int, steps: int) -> settings:
    """The same run everywhere: derived from the machine itself, not from chance."""
    return settings(
        max_examples=examples,
        stateful_step_count=steps,
        derandomize=True,
        deadline=None,
        database=None,
        # A failure prints its steps; shortening them (Phase.shrink) takes minutes.
        phases=[Phase.explicit, Phase.generate],
        suppress_health_check=list(HealthCheck),
    )


def play(machine: Callable[[], RuleBasedStateMachine], how: settings) -> None:
    # Typed as a class, but documented to take whatever makes a machine.
    run_state_machine_as_test(machine, settings=how)  # type: ignore[arg-type]


def test_embedded_stores_do_as_the_model_does(tmp_path: Path) -> None:
    play(lambda: WithFiles(tmp_path), profile(40, 30))


def test_neo4j_does_as_the_model_does(graph: Graph) -> None:
    play(lambda: StoresAgree([graph.shared()]), profile(6, 25))


def test_the_next_neo4j_does_as_the_model_does(graph_2026: Graph) -> None:
    play(lambda: StoresAgree([graph_2026.shared()]), profile(2, 20))
