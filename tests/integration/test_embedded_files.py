"""What a file may be: new, old, newer, foreign, damaged, out of reach."""

from __future__ import annotations

import hashlib
import os
import shutil
import sqlite3
from collections.abc import Callable
from pathlib import Path

import pytest
from contract.builders import (
    apply,
    change,
    full_note,
    link,
    make_event,
    make_note,
    new,
    question,
    snapshot,
    unit,
    use,
)

from graphmem.errors import (
    ClosedMemory,
    GraphmemError,
    StoreCorrupt,
    StoreError,
    StoreUnavailable,
    TransferError,
    UnsupportedSchema,
)
from graphmem.model import DEFAULT_IMPORTANCE, Scope, Source
from graphmem.stores.embedded import journal
from graphmem.stores.embedded.schema import VERSION
from graphmem.stores.embedded.store import NetworkXStore

SCOPE = Scope("ns")
FIXTURE = Path(__file__).parents[1] / "fixtures" / "embedded_version_1.sqlite"


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "store.graphmem"


def fill(path: Path, count: int = 200) -> None:
    store = NetworkXStore.open(path)
    notes = [make_note(f"n{number:03}", "ns", content="x" * 300) for number in range(count)]
    apply(store, SCOPE, *(new(note, unit(n), ["word"]) for n, note in enumerate(notes)))
    store.close()


def state_of(folder: Path) -> dict[str, str]:
    return {each.name: hashlib.sha256(each.read_bytes()).hexdigest() for each in folder.iterdir()}


# --- migration --------------------------------------------------------------------------


def columns_of(path: Path) -> tuple[int, set[str]]:
    connection = sqlite3.connect(path)
    try:
        version = connection.execute("PRAGMA user_version").fetchone()[0]
        return version, {row[1] for row in connection.execute("PRAGMA table_info(note)")}
    finally:
        connection.close()


def test_the_fixture_is_from_before_both_fields() -> None:
    version, columns = columns_of(FIXTURE)
    assert version == 1
    assert not {"importance_score", "recall_count"} & columns


def test_a_file_from_before_both_fields_opens_and_loses_nothing(path: Path) -> None:
    shutil.copy(FIXTURE, path)
    store, scope = NetworkXStore.open(path), Scope("default")
    notes = {note.id: note for note in store.notes(scope)}
    assert list(notes) == ["n1", "n2", "n3"]
    assert {note.importance for note in notes.values()} == {DEFAULT_IMPORTANCE}
    assert {note.recall_count for note in notes.values()} == {0}
    assert notes["n1"].content == "Ada prefers aisle seats"
    assert notes["n1"].tags == ("travel", "seat")
    assert notes["n1"].source == Source("chat-7", position=1)
    assert notes["n1"].metadata == {"day": "Monday"}
    assert notes["n1"].feedback == 1
    (event,) = store.events(scope, "n1")
    assert event.before.importance == event.after.importance == DEFAULT_IMPORTANCE
    assert event.after.tags == ("travel", "seat")
    (found,) = store.links(scope, "n1")
    assert (found.weight, found.cosine, found.retrievals) == (0.75, 0.8, 2)
    records = {record.note.id: record for record in store.records(scope)}
    assert records["n1"].terms == ("ada", "prefer", "aisl", "seat")
    assert records["n2"].embedding is not None
    assert records["n3"].embedding is None
    assert store.namespaces() == ("default", "other")
    assert store.check(scope).problems == ()
    assert store.stats(scope).schema_version == VERSION
    store.close()
    version, columns = columns_of(path)
    assert version == VERSION
    assert {"importance_score", "recall_count"} <= columns


def test_two_that_open_an_old_file_at_once_migrate_it_once(path: Path) -> None:
    shutil.copy(FIXTURE, path)
    old = sqlite3.connect(path)  # a reader that opened before
    assert old.execute("SELECT count(*) FROM note").fetchone() == (4,)
    left, right = NetworkXStore.open(path), NetworkXStore.open(path)
    assert left.stats(Scope("default")) == right.stats(Scope("default"))
    for each in (left, right, old):
        each.close()


# --- refused files ----------------------------------------------------------------------


def a_text(path: Path) -> None:
    path.write_text("Dear diary, this is not a database.\n" * 50)


def another_program(path: Path) -> None:
    connection = sqlite3.connect(path)
    connection.execute("CREATE TABLE note (id TEXT)")
    connection.close()


def a_newer_version(path: Path) -> None:
    fill(path, 1)
    connection = sqlite3.connect(path)
    connection.execute(f"PRAGMA user_version = {VERSION + 1}")
    connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    connection.close()


def a_header_cut_short(path: Path) -> None:
    fill(path, 1)
    os.truncate(path, 60)


@pytest.mark.parametrize(
    ("make", "error", "words"),
    [
        (a_text, UnsupportedSchema, "not a SQLite file"),
        (another_program, UnsupportedSchema, "another program"),
        (a_newer_version, UnsupportedSchema, f"version {VERSION + 1}"),
        (a_header_cut_short, StoreCorrupt, "nothing in it can be read"),
    ],
)
def test_a_file_that_is_refused_stays_as_it_was(
    path: Path, make: Callable[[Path], None], error: type[GraphmemError], words: str
) -> None:
    make(path)
    before = state_of(path.parent)
    with pytest.raises(error, match=words):
        NetworkXStore.open(path)
    assert state_of(path.parent) == before


def test_an_empty_file_becomes_a_store(path: Path) -> None:
    path.touch()
    store = NetworkXStore.open(path)
    apply(store, SCOPE, new(make_note("n", "ns"), unit(1)))
    store.close()
    assert columns_of(path)[0] == VERSION


def test_a_folder_and_a_missing_folder_are_refused(tmp_path: Path) -> None:
    with pytest.raises(StoreUnavailable, match="is a folder"):
        NetworkXStore.open(tmp_path)
    with pytest.raises(StoreUnavailable, match="does not exist"):
        NetworkXStore.open(tmp_path / "missing" / "store.graphmem")
    assert list(tmp_path.iterdir()) == []


def test_a_pipe_is_refused_and_stays(tmp_path: Path) -> None:
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    with pytest.raises(StoreUnavailable, match="is a pipe or a device"):
        NetworkXStore.open(pipe)
    assert (pipe.is_fifo(), list(tmp_path.iterdir())) == (True, [pipe])


def test_an_empty_file_of_others_stays_when_it_cannot_become_a_store(
    path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path.touch()

    def failing(_connection: sqlite3.Connection) -> None:
        raise sqlite3.OperationalError("no")

    monkeypatch.setattr(journal, "migrate", failing)
    with pytest.raises(StoreUnavailable):
        NetworkXStore.open(path)
    assert path.read_bytes() == b""


def test_a_backup_leaves_other_files_alone(path: Path) -> None:
    fill(path, 1)
    others = path.with_name("copy.graphmem.part")
    others.write_text("somebody's own")
    store = NetworkXStore.open(path)
    store.backup(path.with_name("copy.graphmem"))
    store.close()
    assert others.read_text() == "somebody's own"
    assert len(list(path.parent.iterdir())) == 3


# --- damaged files ----------------------------------------------------------------------


def cut_in_half(path: Path) -> None:
    os.truncate(path, path.stat().st_size // 2)


def overwritten(path: Path) -> None:
    size = path.stat().st_size
    with path.open("r+b") as file:
        file.seek(4096)
        file.write(os.urandom(size - 8192))


def read_all(path: Path) -> None:
    store = NetworkXStore.open(path)
    try:
        list(store.records(SCOPE))
    finally:
        store.close()


@pytest.mark.parametrize("damage", [cut_in_half, overwritten])
def test_a_damaged_file_says_what_can_be_read(path: Path, damage: Callable[[Path], None]) -> None:
    fill(path)
    damage(path)
    with pytest.raises(StoreCorrupt, match="can be read"):
        read_all(path)


def test_damage_in_a_page_is_found_by_a_check(path: Path) -> None:
    fill(path)
    with path.open("r+b") as file:
        file.seek(path.stat().st_size - 3 * 4096)
        file.write(os.urandom(3 * 4096))
    store = NetworkXStore.open(path)
    try:
        problems = store.check(SCOPE).problems
    except StoreError:
        return
    finally:
        store.close()
    assert problems


# --- keeping and closing ----------------------------------------------------------------


def test_what_is_stored_comes_back_after_reopening(path: Path) -> None:
    store = NetworkXStore.open(path)
    notes = full_note("n1", "ns"), make_note("n2", "ns", source="chat-7", position=4)
    apply(
        store,
        SCOPE,
        *(new(note, unit(i), ["a", "b", "a"]) for i, note in enumerate(notes)),
        links=[link("n1", "n2")],
        events=[make_event(notes[0], 2, trigger="n2")],
    )
    before = snapshot(store, SCOPE)
    store.close()
    again = NetworkXStore.open(path)
    assert snapshot(again, SCOPE) == before
    again.close()


def test_a_closed_store_is_refused_and_closing_twice_is_not(path: Path) -> None:
    store = NetworkXStore.open(path)
    pages = store.notes(SCOPE)
    store.close()
    store.close()
    for call in (
        lambda: store.model(),
        lambda: store.get(SCOPE, ["n"]),
        lambda: list(pages),
        lambda: apply(store, SCOPE, new(make_note("n", "ns"))),
        lambda: store.check(SCOPE),
    ):
        with pytest.raises(ClosedMemory):
            call()


def test_closing_leaves_one_file(path: Path) -> None:
    fill(path, 3)
    assert [each.name for each in path.parent.iterdir()] == [path.name]


def test_a_backup_is_a_store_of_its_own(path: Path, tmp_path: Path) -> None:
    copy = tmp_path / "copy.graphmem"
    store = NetworkXStore.open(path)
    apply(store, SCOPE, new(make_note("n", "ns"), unit(1)))
    store.backup(copy)
    apply(store, SCOPE, new(make_note("later", "ns"), unit(2)))
    with pytest.raises(TransferError, match="exists already"):
        store.backup(copy)
    with pytest.raises(TransferError, match="cannot be written"):
        store.backup(tmp_path / "missing" / "copy.graphmem")
    store.close()
    kept = NetworkXStore.open(copy)
    assert [note.id for note in kept.notes(SCOPE)] == ["n"]
    assert kept.check(SCOPE).problems == ()
    kept.close()
    assert sorted(each.name for each in tmp_path.iterdir()) == ["copy.graphmem", path.name]


def test_a_store_in_memory_leaves_nothing_on_disk(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    store = NetworkXStore.open(":memory:")
    apply(store, SCOPE, new(make_note("n", "ns"), unit(1)))
    store.close()
    assert list(tmp_path.iterdir()) == []


def test_a_full_disk_changes_nothing_in_file_or_memory(path: Path) -> None:
    store = NetworkXStore.open(path)
    apply(store, SCOPE, new(make_note("n", "ns"), unit(1), ["word"]))
    store.record_use(SCOPE, use("n"))
    before = snapshot(store, SCOPE)
    connection = store._session.journal.connection
    (pages,) = connection.execute("PRAGMA page_count").fetchone()
    connection.execute(f"PRAGMA max_page_count = {pages + 2}")
    big = [make_note(f"big{n}", "ns", content="x" * 50_000, tags=("big",)) for n in range(9)]
    with pytest.raises(StoreUnavailable, match="no room left"):
        apply(store, SCOPE, *(new(note, unit(2), ["big", "word"]) for note in big))
    assert snapshot(store, SCOPE) == before
    found = store.candidates(SCOPE, question(unit(2), "big", "word"))
    assert [candidate.note.id for candidate in found.candidates] == ["n"]
    assert store.check(SCOPE).problems == ()
    connection.execute("PRAGMA max_page_count = 1000000")
    apply(store, SCOPE, *(new(note, unit(2), ["big", "word"]) for note in big))
    assert store.stats(SCOPE).notes == 10
    assert store.check(SCOPE).problems == ()
    store.close()


def test_many_dead_rows_are_swept_out_of_memory() -> None:
    store = NetworkXStore.open(":memory:")
    note = make_note("n", "ns")
    apply(store, SCOPE, new(note, unit(1), ["word0"]))
    with store._session.shard("ns") as shard:
        first = shard
    for number in range(1, 1100):
        apply(store, SCOPE, change(note, None, [f"word{number}"]))
        note = store.get(SCOPE, ["n"])["n"]
    with store._session.shard("ns") as shard:
        assert shard is not first
        assert shard.columns.count < 100
    assert store.check(SCOPE).problems == ()
    store.close()


def test_a_text_that_is_no_utf_8_is_damage_and_is_not_repeated(path: Path) -> None:
    fill(path, 2)
    connection = sqlite3.connect(path)
    connection.execute("UPDATE note SET content = CAST(x'73656372657420ff' AS TEXT)")
    connection.commit()
    connection.close()
    store = NetworkXStore.open(path)
    with pytest.raises(StoreCorrupt, match="no UTF-8") as caught:
        list(store.notes(SCOPE))
    assert "secret" not in str(caught.value)
    store.close()
