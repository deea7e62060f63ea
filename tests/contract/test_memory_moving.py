"""What a memory holds moves to another store and back without a change, and ranks alike there."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from datetime import datetime, timedelta, timezone
from io import BytesIO
from pathlib import Path

import numpy as np
import pytest
from contract.memories import (
    MARKERS,
    NOON,
    Clock,
    Place,
    add_all,
    assert_same_graph,
    ids,
    notes_of,
    state,
)
from contract.stores import Graph
from stub_embedder import StubEmbedder, scattered

from graphmem import Conflict, Memory, NoteInput, RecallResult, Source
from graphmem.demo import corpus, questions
from graphmem.model import Vector
from graphmem.ports import EmbeddingRole
from graphmem.providers.hashing import HashingEmbedder
from graphmem.transfer.copying import copy_namespace
from graphmem.transfer.jsonl import export_jsonl, import_jsonl


class Textured:
    """Shared words make texts similar, and no two cosines are equal by accident.

    Counts of words alone tie at every turn, and near-ties within the promised 1e-6 may
    rank differently on the two stores.
    """

    model_id, dimension = "textured-256", 256

    def __init__(self) -> None:
        self._words = HashingEmbedder(self.dimension)

    def encode(self, texts: Sequence[str], *, role: EmbeddingRole = "note") -> Vector:
        texture = np.stack([scattered(text, self.dimension) for text in texts])
        vectors = self._words.encode(texts, role=role) + np.float32(0.1) * texture
        return np.asarray(vectors / np.linalg.norm(vectors, axis=1, keepdims=True), np.float32)


def exported(memory: Memory, *, vectors: bool = False) -> bytes:
    out = BytesIO()
    export_jsonl(memory, out, vectors=vectors)
    return out.getvalue()


def restored(memory: Memory, text: bytes) -> Memory:
    report = import_jsonl(memory, text.splitlines(keepends=True))
    assert report.rejected == ()
    return memory


def lived_in(memory: Memory, clock: Clock) -> None:
    """A memory with history, use, feedback and awkward values of every kind."""
    india = timezone(timedelta(hours=5, minutes=30))
    add_all(
        memory,
        [
            NoteInput(
                "Ada keeps the harbour log [east]",
                id="a",
                source=Source("s", "r1", 1, 0, 9),
                author="Ada",
                tags=["log"],
                created_at=datetime(2024, 2, 29, 23, 59, 59, 123456, tzinfo=india),
                metadata={"day": None, "pages": [1, 1.0, True], "big": 2**63, "é": {"k": 0.0}},
                importance=1 / 3,
            ),
            NoteInput("Ada keeps the harbour log [twin]", id="b", tags=["other"]),
            NoteInput("first half\u2028second half \u0085 \x0b\x0c\x1c [near]", id="c"),
            NoteInput(
                "café cafe\u0301 \U0001f600 多租户 שלום\r\n", id="ids\u2029 with'\"\\`", role="x"
            ),
            NoteInput("an idle note [west]", id="d", source=Source("s", position=2)),
        ],
    )
    clock.forward(hours=1)
    memory.recall("harbour log [east]", limit=3)
    memory.revise("c", content="other words\u2028[cousin]", tags=["t"])
    memory.feedback("a", -1)
    memory.archive("d")
    memory.undo("a@2")
    memory.maintain(at=clock.forward(days=3))


def test_a_dump_loads_as_it_was(place: Place, tmp_path: Path, clock: Clock) -> None:
    origin = Place(str(tmp_path / "origin.graphmem"), namespace=place.namespace).open(clock=clock)
    lived_in(origin, clock)
    target = place.open(clock=clock)
    assert target.load(origin.dump()) == 5
    assert state(target) == state(origin)
    back = Place(str(tmp_path / "back.graphmem"), namespace=place.namespace).open(clock=clock)
    back.load(target.dump())
    assert state(back) == state(origin)
    assert target.check().ok
    assert target.recall("harbour [east]", track=False) == origin.recall(
        "harbour [east]", track=False
    )
    for memory in (origin, back):
        memory.close()


def test_an_export_of_an_import_is_the_same_bytes(place: Place, clock: Clock) -> None:
    memory = place.open(clock=clock)
    lived_in(memory, clock)
    first = exported(memory)
    memory.drop_namespace(memory.namespace)
    assert exported(restored(memory, first)) == first
    assert memory.get("a").created_at == datetime(2024, 2, 29, 18, 29, 59, 123456, NOON.tzinfo)
    whole = exported(memory, vectors=True)
    memory.drop_namespace(memory.namespace)
    assert exported(restored(memory, whole), vectors=True) == whole
    assert exported(memory) == first


def test_a_copy_there_and_back_exports_the_same_bytes(
    place: Place, tmp_path: Path, clock: Clock
) -> None:
    origin = Place(str(tmp_path / "origin.graphmem"), namespace=place.namespace).open(clock=clock)
    back = Place(str(tmp_path / "back.graphmem"), namespace=place.namespace).open(clock=clock)
    lived_in(origin, clock)
    target = place.open(clock=clock)
    copy_namespace(origin, target)
    copy_namespace(target, back)
    assert exported(target) == exported(origin) == exported(back)
    with pytest.raises(Conflict):
        copy_namespace(origin, target)
    origin.close()
    back.close()


def test_an_empty_file_is_no_error(memory: Memory) -> None:
    report = import_jsonl(memory, [])
    assert (report.added, report.rejected) == (0, ())
    assert memory.recall("anything").notes == ()


def test_line_ends_and_a_mark_change_nothing(place: Place, clock: Clock) -> None:
    memory = place.open(clock=clock)
    lived_in(memory, clock)
    text = exported(memory)
    notes = notes_of(memory)
    for variant in (text.replace(b"\n", b"\r\n"), b"\xef\xbb\xbf" + text, text + b"\n\n"):
        memory.drop_namespace(memory.namespace)
        # Lines of a binary file end at b"\n" only.
        import_jsonl(memory, BytesIO(variant))
        assert notes_of(memory) == notes


def test_a_dump_moves_into_another_namespace(place: Place, clock: Clock) -> None:
    memory = place.open(clock=clock)
    lived_in(memory, clock)
    other = memory.scoped(memory.namespace + " copy")
    other.load(memory.dump())
    assert {note.namespace for note in other.notes()} == {other.namespace}
    assert [note.id for note in notes_of(other)] == [note.id for note in notes_of(memory)]
    assert other.stats().related == memory.stats().related
    assert other.history("a")[0] == memory.history("a")[0]
    assert other.check().ok


# --- both stores rank alike --------------------------------------------------------------


@pytest.fixture(scope="module")
def demo(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Memory]:
    """The demo corpus on the embedded store."""
    folder = tmp_path_factory.mktemp("demo")
    memory = Place(str(folder / "demo.graphmem"), namespace="demo").open(
        embedder=Textured(), clock=Clock()
    )
    assert memory.add_many(corpus()).rejected == ()
    yield memory
    memory.close()


@pytest.fixture(scope="module")
def demo_on_neo4j(request: pytest.FixtureRequest) -> Iterator[Memory]:
    """The demo corpus on Neo4j, added there."""
    graph: Graph = request.getfixturevalue("graph")
    graph.empty()
    memory = graph.place(shared=False).open(embedder=Textured(), clock=Clock(), namespace="demo")
    assert memory.add_many(corpus()).rejected == ()
    yield memory
    memory.close()
    graph.empty()


def test_both_stores_hold_the_same_graph(demo: Memory, demo_on_neo4j: Memory) -> None:
    assert state(demo_on_neo4j) == state(demo)
    assert exported(demo_on_neo4j) == exported(demo)


@pytest.mark.parametrize("policy", ["graphmem-1", "mission", "weighted"])
def test_both_stores_give_the_same_answers(
    demo: Memory, demo_on_neo4j: Memory, policy: str
) -> None:
    for question in questions():
        ours, theirs = (
            memory.recall(question.question, at=question.at, track=False, policy=policy)
            for memory in (demo, demo_on_neo4j)
        )
        assert_same_result(ours, theirs)


def assert_same_result(ours: RecallResult, theirs: RecallResult) -> None:
    """Equal ids, paths and decisions; numbers to 1e-6."""
    assert ids(ours) == ids(theirs)
    for a, b in zip(ours.notes, theirs.notes, strict=True):
        assert a.note == b.note
        assert a.score == pytest.approx(b.score, abs=1e-6)
        assert dict(a.contributions) == pytest.approx(dict(b.contributions), abs=1e-6)
        assert dict(a.signals) == pytest.approx(dict(b.signals), abs=1e-6)
        assert [(step.kind, step.from_id) for step in a.path] == [
            (step.kind, step.from_id) for step in b.path
        ]
    assert [s.source_id for s in ours.sources] == [s.source_id for s in theirs.sources]
    assert ours.considered == theirs.considered
    assert ours.decision.outcome == theirs.decision.outcome
    assert ours.decision.answerable == pytest.approx(theirs.decision.answerable, abs=1e-6)


def test_the_demo_adds_alike_one_by_one(demo: Memory, tmp_path: Path) -> None:
    memory = Place(str(tmp_path / "single.graphmem"), namespace="demo").open(
        embedder=Textured(), clock=Clock()
    )
    add_all(memory, corpus())
    assert_same_graph(list(memory.dump()), list(demo.dump()))
    memory.close()


def test_the_demo_is_rich_enough_to_tell(demo: Memory) -> None:
    stats = demo.stats()
    assert stats.notes >= 140
    assert stats.related > 8
    assert stats.follows > 50
    assert len(questions()) >= 40


def test_markers_are_apart() -> None:
    """The vectors on which these suites stand."""
    (east, near) = StubEmbedder(MARKERS).encode(["[east]", "[near]"])
    assert east @ near == pytest.approx(0.8, abs=1e-6)
