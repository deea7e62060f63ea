"""Several processes on one embedded file. What a kill leaves is tests/reliability's."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from embedded_worker import SCOPE, SIZE, ids_of

from graphmem.model import Link
from graphmem.stores.embedded.store import NetworkXStore

WRITERS, BATCHES = 8, 25
TESTS = Path(__file__).parents[1]


def start(path: Path, name: str, batches: int) -> subprocess.Popen[str]:
    search = os.pathsep.join([str(TESTS), os.environ.get("PYTHONPATH", "")])
    return subprocess.Popen(
        [sys.executable, "-m", "embedded_worker", str(path), name, str(batches)],
        stdout=subprocess.PIPE,
        text=True,
        env={**os.environ, "PYTHONPATH": search, "OPENBLAS_NUM_THREADS": "1"},
    )


@pytest.fixture
def path(tmp_path: Path) -> Iterator[Path]:
    return tmp_path / "shared.graphmem"


def assert_whole(store: NetworkXStore, name: str) -> int:
    """Every batch of the writer is there with all its parts, or not at all; count them."""
    links = {link.pair for link in store.all_links(SCOPE)}
    found = {record.note.id: record for record in store.records(SCOPE)}
    batches = 0
    while ids_of(name, batches)[0] in found:
        first, second, third = ids_of(name, batches)
        assert {(first, second), (first, third), (second, third)} <= links
        for id_ in (first, second, third):
            assert found[id_].embedding is not None
            assert found[id_].terms == ("word", id_)
        batches += 1
    assert sum(id_.startswith(f"{name}-") for id_ in found) == batches * SIZE
    return batches


def test_writers_of_several_processes_lose_nothing_of_each_other(path: Path) -> None:
    workers = [start(path, f"w{number}", BATCHES) for number in range(WRITERS)]
    reader = NetworkXStore.open(path)
    seen = 0
    while any(worker.poll() is None for worker in workers):
        notes = reader.stats(SCOPE).notes
        assert notes >= seen
        seen = notes
        time.sleep(0.05)
    assert [worker.wait() for worker in workers] == [0] * WRITERS
    for worker in workers:
        assert worker.stdout is not None
        worker.stdout.close()
    for number in range(WRITERS):
        assert assert_whole(reader, f"w{number}") == BATCHES
    assert reader.get(SCOPE, ["counter"])["counter"].feedback == WRITERS * BATCHES - 1
    follows = reader.stats(SCOPE).follows
    assert follows == WRITERS * (BATCHES * SIZE - 1)
    assert reader.check(SCOPE).problems == ()
    reader.close()


def test_a_process_sees_what_another_wrote_at_its_next_call(path: Path) -> None:
    reader = NetworkXStore.open(path)
    assert reader.namespaces() == ()
    worker = start(path, "w", 0)
    assert worker.stdout is not None
    for _ in range(5):
        batch = int(worker.stdout.readline())
        ids = ids_of("w", batch)
        assert reader.get(SCOPE, ids).keys() == set(ids)
        assert ids[0] in {link.from_id for link in _links(reader, ids[1])}
    worker.kill()
    worker.communicate()
    reader.close()


def _links(store: NetworkXStore, note_id: str) -> tuple[Link, ...]:
    return store.links(SCOPE, note_id)


def test_a_forked_child_opens_the_file_for_itself(path: Path) -> None:
    code = (
        "import os, sys\n"
        "from contract.builders import apply, make_note, new, unit\n"
        "from graphmem.model import Scope\n"
        "from graphmem.stores.embedded.store import NetworkXStore\n"
        "scope, store = Scope('ns'), NetworkXStore.open(sys.argv[1])\n"
        "apply(store, scope, new(make_note('before', 'ns'), unit(1)))\n"
        "child = os.fork()\n"
        "if child == 0:\n"
        "    apply(store, scope, new(make_note('child', 'ns'), unit(2)))\n"
        "    store.close()\n"
        "    os._exit(0)\n"
        "assert os.waitpid(child, 0)[1] == 0\n"
        "apply(store, scope, new(make_note('parent', 'ns'), unit(3)))\n"
        "assert [note.id for note in store.notes(scope)] == ['before', 'child', 'parent']\n"
        "assert store.check(scope).ok\n"
    )
    search = os.pathsep.join([str(TESTS), os.environ.get("PYTHONPATH", "")])
    subprocess.run(
        [sys.executable, "-c", code, str(path)],
        check=True,
        env={**os.environ, "PYTHONPATH": search, "OPENBLAS_NUM_THREADS": "1"},
    )
