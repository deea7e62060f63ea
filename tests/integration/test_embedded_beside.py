"""Two open stores on one file, and threads on one store."""

from __future__ import annotations

import random
import threading
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from pathlib import Path

import pytest
from contract.builders import (
    MODEL,
    apply,
    assert_same_candidates,
    change,
    directions,
    later,
    lexical,
    link,
    make_event,
    make_note,
    new,
    question,
    snapshot,
    unit,
    use,
)

from graphmem.errors import Conflict, StoreUnavailable
from graphmem.model import (
    NO_SENTENCES,
    Disagreement,
    DisagreementKind,
    ModelIdentity,
    Note,
    NoteFilter,
    NoteVectors,
    NoteWrite,
    Scope,
    WritePlan,
    supersedes,
)
from graphmem.ports import ScopeReader
from graphmem.stores.embedded import journal
from graphmem.stores.embedded.store import NetworkXStore

SCOPE = Scope("ns")
WORDS = ["red", "green", "blue", "grey"]


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "store.graphmem"


@pytest.fixture
def pair(path: Path) -> Iterator[tuple[NetworkXStore, NetworkXStore]]:
    left, right = NetworkXStore.open(path), NetworkXStore.open(path)
    yield left, right
    left.close()
    right.close()


class Actor:
    """Makes random changes through one of several stores on a file."""

    def __init__(self, stores: tuple[NetworkXStore, ...], seed: int) -> None:
        self.stores = stores
        self.random = random.Random(seed)

    def step(self) -> None:
        store = self.random.choice(self.stores)
        notes = list(store.notes(SCOPE, NoteFilter(archived=True)))
        actions: list[Callable[[NetworkXStore, list[Note]], None]] = [self.add]
        if len(notes) > 2:
            actions += [self.revise, self.connect, self.archive, self.erase, self.recall]
        self.random.choice(actions)(store, notes)

    def add(self, store: NetworkXStore, notes: list[Note]) -> None:
        id_ = f"n{self.random.randrange(10**6)}"
        note = make_note(
            id_,
            "ns",
            source=self.random.choice([None, "s", "t"]),
            position=self.random.choice([None, 1, 2, 3]),
            tags=tuple(self.random.sample(WORDS, 1)),
        )
        vector = self.random.choice([None, unit(self.random.randrange(50))])
        apply(store, SCOPE, new(note, vector, self.random.choices(WORDS, k=3)))

    def revise(self, store: NetworkXStore, notes: list[Note]) -> None:
        note = self.random.choice(notes)
        vector = self.random.choice([None, unit(self.random.randrange(50))])
        changed = change(note, vector, self.random.choices(WORDS, k=2), tags=("new",))
        apply(store, SCOPE, changed, events=[make_event(note, note.revision + 1)])

    def archive(self, store: NetworkXStore, notes: list[Note]) -> None:
        note = self.random.choice(notes)
        apply(store, SCOPE, change(note, None, (), archived=not note.archived))

    def connect(self, store: NetworkXStore, notes: list[Note]) -> None:
        a, b = (note.id for note in self.random.sample(notes, 2))
        made = link(a, b, self.random.random())
        if self.random.random() < 0.3:
            apply(store, SCOPE, unlinks=[made.pair])
        else:
            apply(store, SCOPE, links=[made])

    def erase(self, store: NetworkXStore, notes: list[Note]) -> None:
        apply(store, SCOPE, erased=[self.random.choice(notes).id])

    def recall(self, store: NetworkXStore, notes: list[Note]) -> None:
        a, b = (note.id for note in self.random.sample(notes, 2))
        pair = (min(a, b), max(a, b))
        store.record_use(SCOPE, use(a, b, pairs=[pair], at=later(self.random.random())))
        apply(store, SCOPE)  # an empty write leaves it pending
        apply(store, SCOPE, dropped_events=["none"])  # any other makes it durable


def assert_agree(stores: tuple[NetworkXStore, ...], path: Path) -> None:
    fresh = NetworkXStore.open(path)
    query = question(unit(3), *WORDS, vector_seeds=5, lexical_seeds=5, expand=3, hops=2)
    expected = snapshot(fresh, SCOPE)
    for store in stores:
        assert snapshot(store, SCOPE) == expected
        assert_same_candidates(store.candidates(SCOPE, query), fresh.candidates(SCOPE, query))
        tagged = NoteFilter(tags=frozenset({"red", "new"}))
        assert list(store.notes(SCOPE, tagged)) == list(fresh.notes(SCOPE, tagged))
        assert store.check(SCOPE).problems == ()
    fresh.close()


@pytest.mark.parametrize("seed", range(8))
def test_what_one_changes_the_other_has_as_if_opened_afresh(
    pair: tuple[NetworkXStore, NetworkXStore], path: Path, seed: int
) -> None:
    actor = Actor(pair, seed)
    for step in range(60):
        actor.step()
        if step % 20 == 19:
            assert_agree(pair, path)


def test_words_that_came_and_went_between_two_reads_cost_no_other_word(
    pair: tuple[NetworkXStore, NetworkXStore], path: Path
) -> None:
    left, right = pair
    apply(left, SCOPE, new(make_note("first", "ns"), unit(1), ["red"]))
    assert len(list(left.notes(SCOPE))) == 1
    apply(right, SCOPE, new(make_note("second", "ns"), unit(2), ["green", "blue"]))
    (second,) = right.get(SCOPE, ["second"]).values()
    apply(right, SCOPE, change(second, unit(2), ["green"]))
    (found,) = left.candidates(SCOPE, lexical("green")).candidates
    assert (found.note.id, found.terms) == ("second", ("green",))
    assert_agree(pair, path)


def test_a_store_that_fell_behind_the_log_of_changes_reads_all_anew(
    pair: tuple[NetworkXStore, NetworkXStore], path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(journal, "_CHANGES_KEPT", 3)
    left, right = pair
    apply(left, SCOPE, new(make_note("first", "ns"), unit(1)))
    assert right.get(SCOPE, ["first"])
    for number in range(10):
        apply(left, SCOPE, new(make_note(f"n{number}", "ns"), unit(number)))
    assert len(list(right.notes(SCOPE))) == 11
    assert_agree(pair, path)


def test_a_decision_is_made_on_what_others_have_written(
    pair: tuple[NetworkXStore, NetworkXStore],
) -> None:
    left, right = pair
    apply(left, SCOPE, new(make_note("n", "ns"), unit(1)))
    for _ in range(3):
        for store in pair:

            def decide(reader: ScopeReader) -> WritePlan:
                note = reader.notes(["n"])["n"]
                return WritePlan(notes=(change(note, feedback=note.feedback + 1),))

            store.write(SCOPE, decide)
    assert left.get(SCOPE, ["n"])["n"].feedback == 6
    assert right.get(SCOPE, ["n"])["n"].revision == 7


def test_a_stale_revision_is_refused_in_both(pair: tuple[NetworkXStore, NetworkXStore]) -> None:
    left, right = pair
    note = make_note("n", "ns")
    apply(left, SCOPE, new(note, unit(1)))
    apply(right, SCOPE, change(note))
    with pytest.raises(Conflict, match="at revision 2"):
        apply(left, SCOPE, change(note))


def test_dropping_a_namespace_and_changing_the_model_reach_the_other(
    pair: tuple[NetworkXStore, NetworkXStore],
) -> None:
    left, right = pair
    gone = Scope("gone")
    apply(left, SCOPE, new(make_note("n", "ns"), unit(1)))
    apply(left, gone, new(make_note("n", "gone"), unit(1)))
    assert right.namespaces() == ("gone", "ns")
    assert right.get(gone, ["n"])
    assert left.drop_namespace("gone") == 1
    assert right.get(gone, ["n"]) == {}
    assert right.namespaces() == ("ns",)
    other = ModelIdentity("other", 3)
    left.replace_model(
        other, lambda notes: NoteVectors(unit(5, 3)[None].repeat(len(notes), axis=0))
    )
    assert right.model() == other
    assert right.nearest(SCOPE, unit(5, 3)[None], 1)[0][0].cosine == pytest.approx(1.0)


def test_a_namespace_seen_empty_shows_what_comes_to_be_in_it(
    pair: tuple[NetworkXStore, NetworkXStore],
) -> None:
    left, right = pair
    assert right.get(SCOPE, ["n"]) == {}
    apply(left, SCOPE, new(make_note("n", "ns"), unit(1)))
    assert right.get(SCOPE, ["n"]).keys() == {"n"}


def test_a_note_changed_while_it_is_embedded_anew_is_embedded_again(path: Path) -> None:
    store, beside = NetworkXStore.open(path), NetworkXStore.open(path)
    note = make_note("n", "ns", content="old")
    apply(store, SCOPE, new(note, unit(1)))
    embedded: list[str] = []

    def pages(notes: Sequence[Note]) -> NoteVectors:
        if not embedded:
            apply(beside, SCOPE, change(note, unit(2), content="changed"))
            apply(beside, SCOPE, new(make_note("late", "ns"), unit(3)))
        embedded.extend(each.content for each in notes)
        return NoteVectors(unit(7, 4)[None].repeat(len(notes), axis=0))

    store.replace_model(ModelIdentity("other", 4), pages)
    assert embedded[0] == "old"
    assert sorted(embedded[1:]) == ["changed", "note late"]
    for each in (store, beside):
        assert all(record.embedding is not None for record in each.records(SCOPE))
        assert each.check(SCOPE).problems == ()
    store.close()
    beside.close()


def test_a_writer_that_waits_too_long_says_so_and_changes_nothing(path: Path) -> None:
    holder, waiting = NetworkXStore.open(path), NetworkXStore.open(path, wait=0.2)

    def decide(reader: ScopeReader) -> WritePlan:
        with pytest.raises(StoreUnavailable, match="held by another"):
            apply(waiting, SCOPE, new(make_note("late", "ns"), unit(2)))
        return WritePlan(notes=(new(make_note("n", "ns"), unit(1)),), model=MODEL)

    holder.write(SCOPE, decide)
    assert [note.id for note in waiting.notes(SCOPE)] == ["n"]
    apply(waiting, SCOPE, new(make_note("late", "ns"), unit(2)))
    holder.close()
    waiting.close()


def test_readers_go_on_while_another_store_writes(path: Path) -> None:
    writer, reader = NetworkXStore.open(path), NetworkXStore.open(path)
    apply(writer, SCOPE, new(make_note("n", "ns"), unit(1)))

    def decide(inner: ScopeReader) -> WritePlan:
        assert reader.get(SCOPE, ["n"]).keys() == {"n"}
        reader.record_use(SCOPE, use("n"))
        return WritePlan(notes=(new(make_note("m", "ns"), unit(2)),))

    writer.write(SCOPE, decide)
    assert reader.get(SCOPE, ["n", "m"]).keys() == {"n", "m"}
    reader.close()
    assert writer.get(SCOPE, ["n"])["n"].recall_count == 1
    writer.close()


@pytest.mark.parametrize("place", [":memory:", "file"])
def test_threads_write_and_read_one_store(place: str, path: Path) -> None:
    store = NetworkXStore.open(path if place == "file" else place)
    apply(store, SCOPE, new(make_note("n", "ns"), unit(0), ["word"]))
    failures: list[BaseException] = []

    def write(name: int) -> None:
        for number in range(15):

            def decide(reader: ScopeReader, number: int = number) -> WritePlan:
                note = reader.notes(["n"])["n"]
                added = new(make_note(f"{name}-{number}", "ns"), unit(number), ["word"])
                return WritePlan(
                    notes=(added, change(note, None, ["word"], feedback=note.feedback + 1)),
                    links=(link(f"{name}-{number}", "n"),),
                )

            store.write(SCOPE, decide)

    def read(_: int) -> None:
        for _ in range(40):
            found = store.candidates(SCOPE, question(unit(1), "word"))
            ids = {candidate.note.id for candidate in found.candidates}
            assert len(ids) == found.note_count
            assert all(set(each.pair) <= ids for each in found.links)
            store.record_use(SCOPE, use("n"))

    def guarded(work: Callable[[int], None], number: int) -> None:
        try:
            work(number)
        except BaseException as error:  # reported by the assertion below
            failures.append(error)

    threads = [
        threading.Thread(target=guarded, args=(work, number))
        for number in range(3)
        for work in (write, read)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert failures == []
    note = store.get(SCOPE, ["n"])["n"]
    assert (note.feedback, note.recall_count) == (45, 120)
    assert store.stats(SCOPE).related == 45
    assert store.check(SCOPE).problems == ()
    store.close()


def test_what_supersedes_what_reaches_one_that_has_it_in_memory(
    pair: tuple[NetworkXStore, NetworkXStore],
) -> None:
    left, right = pair
    reason = Disagreement(DisagreementKind.NUMBER, "3", "4")
    first, second = (supersedes("a", other, 0.5, None, reason) for other in "bc")
    apply(left, SCOPE, *(new(make_note(id_, "ns"), unit(1)) for id_ in "abc"), links=[first])
    for store, links, gone in (
        (right, [], []), (left, [second], []), (right, [], [first]), (right, [first], [second]),
    ):  # fmt: skip
        apply(store, SCOPE, links=links, unsuperseded=[each.pair for each in gone])
        seen = [list(each.all_links(SCOPE)) for each in pair]
        assert seen[0] == seen[1]
    assert seen[0] == [first]
    apply(left, SCOPE, erased=["b"])
    assert right.neighbourhood(SCOPE, "a").links == ()
    assert right.check(SCOPE).problems == ()


def test_a_changed_link_and_its_use_reach_one_that_has_it_in_memory(
    pair: tuple[NetworkXStore, NetworkXStore],
) -> None:
    left, right = pair
    apply(left, SCOPE, *(new(make_note(id_, "ns"), unit(1)) for id_ in "abc"))
    apply(left, SCOPE, links=[link("a", "b", 0.8), link("a", "c", 0.7)])
    assert [each.weight for each in right.links(SCOPE, "a")] == [0.8, 0.7]
    apply(left, SCOPE, links=[link("a", "b", 0.8, weight=0.2)])
    assert [each.weight for each in right.links(SCOPE, "a")] == [0.7, 0.2]
    apply(left, SCOPE, unlinks=[("a", "c")])
    assert [each.weight for each in right.links(SCOPE, "a")] == [0.2]
    assert right.links(SCOPE, "c") == ()
    left.record_use(SCOPE, use("b", pairs=[("a", "b")], at=later(3)))
    apply(left, SCOPE, dropped_events=["none"])  # writes what is pending
    assert right.links(SCOPE, "b")[0].last_retrieved_at == later(3)
    assert right.get(SCOPE, ["b"])["b"].recall_count == 1


def test_sentences_another_process_changes_are_read_anew(
    pair: tuple[NetworkXStore, NetworkXStore],
) -> None:
    left, right = pair

    def best(store: NetworkXStore) -> dict[str, float | None]:
        found = store.candidates(SCOPE, question(unit(9), "red"))
        return {each.note.id: each.sentence_cosine for each in found.candidates}

    def spoken(write: NoteWrite, *seeds: int) -> NoteWrite:
        return replace(write, sentences=directions(*seeds) if seeds else NO_SENTENCES)

    a, b = make_note("a", "ns"), make_note("b", "ns")
    apply(left, SCOPE, spoken(new(a, unit(1), ["red"]), 1), spoken(new(b, unit(2), ["red"]), 2))
    first = best(right)
    assert first == best(left)
    apply(left, SCOPE, spoken(change(a, None, ["red"]), 3, 4))
    assert best(right) == best(left) != first
    apply(right, SCOPE, spoken(change(b, None, ["red"])))
    assert best(left) == best(right) | {"b": None}
    apply(right, SCOPE, erased=["b"], model=None)
    apply(right, SCOPE, spoken(new(b, unit(2), ["red"]), 2))
    assert best(left)["b"] == first["b"]
    left.drop_namespace("ns")
    apply(left, SCOPE, new(a, unit(1), ["red"]))
    assert best(right) == {"a": None}
