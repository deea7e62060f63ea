"""Several processes' worth of stores on one server: nothing lost, nothing stale, no deadlock."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor

import pytest
from conftest import OpenNeo4j
from contract.builders import EAST, MODEL, later, link, make_note, new, unit, use

from graphmem.errors import Conflict, EmbeddingMismatch
from graphmem.model import CandidateQuery, ModelIdentity, NoteFilter, NoteVectors, Scope, WritePlan
from graphmem.ports import ScopeReader
from graphmem.stores.neo4j.schema import SCHEMA_VERSION
from graphmem.stores.neo4j.store import Neo4jStore

SCOPE = Scope("crowd")
WRITERS, NOTES = 8, 10


def grow(store: Neo4jStore, writer: int) -> None:
    """Add notes to one source, each linked with what the writer finds nearest."""
    for number in range(NOTES):
        note = make_note(f"w{writer}-{number}", "crowd", source="s", position=number)
        vector = unit(writer * 1000 + number)

        def decide(reader: ScopeReader, note: object = note, vector: object = vector) -> WritePlan:
            near = reader.nearest(vector[None], 2)[0]  # type: ignore[index] # bound above
            links = [link(note.id, other.note_id, 0.9) for other in near]  # type: ignore[attr-defined]
            return WritePlan(
                notes=(new(note, vector, ("seat",)),),  # type: ignore[arg-type] # bound above
                links=tuple(links),
                model=MODEL,
            )

        store.write(SCOPE, decide)


def test_writers_of_one_namespace_lose_nothing(open_neo4j_store: OpenNeo4j) -> None:
    stores = [open_neo4j_store() for _ in range(WRITERS)]
    with ThreadPoolExecutor(WRITERS) as pool:
        for done in [pool.submit(grow, store, n) for n, store in enumerate(stores)]:
            done.result()
    stats = stores[0].stats(SCOPE)
    assert stats.notes == WRITERS * NOTES
    # One chain; every note but the first found two neighbours, the second one.
    assert stats.follows == WRITERS * NOTES - 1
    assert stats.related == 2 * WRITERS * NOTES - 3
    assert stores[0].check(SCOPE).ok


def test_writers_of_one_namespace_wait_for_each_other_without_deadlocks(
    open_neo4j_store: OpenNeo4j, caplog: pytest.LogCaptureFixture
) -> None:
    """A deadlock would be repeated by the driver, after a second, and told in its log."""
    stores = [open_neo4j_store() for _ in range(WRITERS)]
    with caplog.at_level("WARNING", "neo4j"), ThreadPoolExecutor(WRITERS) as pool:
        for done in [pool.submit(grow, store, n) for n, store in enumerate(stores)]:
            done.result()
    assert "Deadlock" not in caplog.text
    assert stores[0].stats(SCOPE).notes == WRITERS * NOTES


def test_uses_counted_at_once_are_all_counted(open_neo4j_store: OpenNeo4j) -> None:
    stores = [open_neo4j_store() for _ in range(4)]
    plan = WritePlan(
        notes=(new(make_note("n1", "crowd"), EAST), new(make_note("n2", "crowd"), EAST)),
        links=(link("n1", "n2"),),
        model=MODEL,
    )
    stores[0].write(SCOPE, lambda reader: plan)

    def recall(store: Neo4jStore) -> None:
        for second in range(10):
            store.record_use(SCOPE, use("n2", "n1", pairs=[("n1", "n2")], at=later(second)))

    with ThreadPoolExecutor(4) as pool:
        for done in [pool.submit(recall, store) for store in stores]:
            done.result()
    notes = stores[0].get(SCOPE, ["n1", "n2"]).values()
    assert [note.recall_count for note in notes] == [40, 40]
    assert {note.last_accessed_at for note in notes} == {later(9)}
    assert stores[0].links(SCOPE, "n1")[0].retrievals == 40


def test_of_two_first_writers_one_model_wins(open_neo4j_store: OpenNeo4j) -> None:
    stores = [open_neo4j_store() for _ in range(6)]

    def start(number: int) -> bool:
        name, model = f"first-{number}", ModelIdentity(f"model-{number}", 8)
        plan = WritePlan(notes=(new(make_note("n1", name), unit(number)),), model=model)
        try:
            stores[number].write(Scope(name), lambda reader: plan)
        except EmbeddingMismatch:
            return False
        return True

    with ThreadPoolExecutor(6) as pool:
        outcomes = list(pool.map(start, range(6)))
    assert sum(outcomes) == 1
    winner = outcomes.index(True)
    assert stores[0].model() == ModelIdentity(f"model-{winner}", 8)
    assert stores[0].namespaces() == (f"first-{winner}",)


def test_stores_opened_at_once_make_one_schema(open_neo4j_store: OpenNeo4j) -> None:
    with ThreadPoolExecutor(6) as pool:
        stores = [done.result() for done in [pool.submit(open_neo4j_store) for _ in range(6)]]
    assert {store.stats(SCOPE).schema_version for store in stores} == {SCHEMA_VERSION}


@pytest.mark.parametrize("where", [NoteFilter(), NoteFilter(archived=True)], ids=["current", "all"])
def test_another_stores_writes_are_seen_at_once(
    open_neo4j_store: OpenNeo4j, where: NoteFilter
) -> None:
    """Vectors are copied; the copy must never answer from an older state."""
    one, other = open_neo4j_store(), open_neo4j_store()

    def seen() -> list[str]:
        return [n.note_id for n in one.nearest(SCOPE, EAST[None], 10, where)[0]]

    def write(plan: WritePlan) -> None:
        other.write(SCOPE, lambda reader: plan)

    assert seen() == []
    first, second = make_note("n1", "crowd"), make_note("n2", "crowd")
    write(WritePlan(notes=(new(first, EAST), new(second, EAST)), model=MODEL))
    assert seen() == ["n1", "n2"]
    write(WritePlan(erased=("n1",)))
    assert seen() == ["n2"]
    write(WritePlan(notes=(new(make_note("n3", "crowd"), EAST),)))
    assert seen() == ["n2", "n3"]
    assert other.drop_namespace("crowd") == 2
    assert seen() == []
    write(WritePlan(notes=(new(make_note("n4", "crowd"), EAST),)))
    assert seen() == ["n4"]


def test_a_decision_on_an_old_revision_is_refused(open_neo4j_store: OpenNeo4j) -> None:
    one, other = open_neo4j_store(), open_neo4j_store()
    plan = WritePlan(notes=(new(make_note("n1", "crowd"), EAST),), model=MODEL)
    one.write(SCOPE, lambda reader: plan)
    with pytest.raises(Conflict, match="revision 1, not 0"):
        other.write(SCOPE, lambda reader: plan)


def test_a_model_replaced_by_another_process_is_noticed(open_neo4j_store: OpenNeo4j) -> None:
    one, other = open_neo4j_store(), open_neo4j_store()
    plan = WritePlan(notes=(new(make_note("n1", "crowd"), EAST),), model=MODEL)
    one.write(SCOPE, lambda reader: plan)
    assert one.model() == MODEL
    replaced = ModelIdentity("another-8", 8)
    other.replace_model(replaced, lambda notes: NoteVectors(EAST[None].repeat(len(notes), axis=0)))
    with pytest.raises(EmbeddingMismatch, match="another-8"):
        one.candidates(SCOPE, CandidateQuery(vector=EAST, terms=()))
    with pytest.raises(EmbeddingMismatch, match="another-8"):
        one.nearest(SCOPE, EAST[None], 1)
    # It stays refused: a vector of the old model may still be on its way here.
    again = open_neo4j_store()
    assert again.model() == replaced
    assert len(again.candidates(SCOPE, CandidateQuery(vector=EAST, terms=())).candidates) == 1
