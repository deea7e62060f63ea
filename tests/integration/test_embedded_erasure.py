"""What is erased is gone from the bytes on disk, while the store is still open."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest
from contract.builders import apply, change, directions, link, make_event, make_note, new, unit

from graphmem import open_memory
from graphmem.model import Scope
from graphmem.stores.embedded import journal
from graphmem.stores.embedded.store import NetworkXStore

SCOPE = Scope("ns")
SECRET = "quetzalcoatl"
SENTENCES = directions(98, 99)
OF_THE_SECRET = (SECRET.encode(), b"secret-id", unit(99).tobytes(), SENTENCES.tobytes())


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "store.graphmem"


def traces(path: Path, *needles: bytes) -> list[str]:
    """Which files beside `path` hold one of the needles."""
    return sorted(
        each.name
        for each in path.parent.iterdir()
        if any(needle in each.read_bytes() for needle in needles)
    )


def filled(path: Path, *, wait: float = 30.0) -> NetworkXStore:
    store = NetworkXStore.open(path, wait=wait)
    secret = make_note("secret-id", "ns", content=f"the word is {SECRET}", tags=(SECRET,))
    others = [make_note(f"n{n}", "ns", content="plain " * 40) for n in range(50)]
    apply(
        store,
        SCOPE,
        replace(new(secret, unit(99), ["word", SECRET]), sentences=SENTENCES),
        *(new(note, unit(n), ["plain"]) for n, note in enumerate(others)),
        links=[link("secret-id", "n1")],
        events=[make_event(secret, 2)],
    )
    return store


def test_an_erased_note_leaves_no_bytes(path: Path) -> None:
    store = filled(path)
    assert all(traces(path, each) for each in OF_THE_SECRET)
    apply(store, SCOPE, erased=["secret-id"])
    assert traces(path, *OF_THE_SECRET) == []
    store.close()
    assert traces(path, *OF_THE_SECRET) == []


def test_words_taken_out_of_a_neighbour_leave_no_bytes(path: Path) -> None:
    store = filled(path)
    neighbour = store.get(SCOPE, ["n1"])["n1"]
    carried = change(neighbour, unit(7), ["plain", SECRET], tags=(SECRET,))
    apply(store, SCOPE, carried)
    redacted = replace(carried.note, tags=(), revision=3)
    apply(
        store,
        SCOPE,
        change(replace(redacted, revision=2), unit(8), ["plain"]),
        erased=["secret-id"],
    )
    assert traces(path, SECRET.encode()) == []
    store.close()
    assert traces(path, SECRET.encode()) == []


def test_a_dropped_namespace_leaves_no_bytes(path: Path) -> None:
    store = filled(path)
    assert store.drop_namespace("ns") == 51
    assert traces(path, *OF_THE_SECRET, b"plain", unit(3).tobytes()) == []
    store.close()


def test_what_a_reader_held_back_is_gone_at_the_latest_on_closing(path: Path) -> None:
    store, reader = filled(path, wait=0.2), NetworkXStore.open(path)
    with reader._session.view():  # another process in the middle of a read
        apply(store, SCOPE, erased=["secret-id"])
    reader.close()
    store.close()
    assert traces(path, SECRET.encode(), b"secret-id") == []


def test_only_what_removes_something_writes_the_file_anew(
    path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    rewritten: list[str] = []
    rewrite = journal.Journal.rewrite

    def counting(self: journal.Journal) -> bool:
        rewritten.append(self.place)
        return rewrite(self)

    monkeypatch.setattr(journal.Journal, "rewrite", counting)
    with open_memory(path, embedder="hashing-64") as memory:
        memory.add("the kettle is blue", id="a")
        memory.recall("kettle")
    assert rewritten == []  # neither a first note nor use that is written at the end
    with open_memory(path, embedder="hashing-64") as memory:
        memory.erase(id="a")
    assert rewritten == [str(path)]
