"""The embedded store beside its bare limits."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path
from statistics import median

from graphmem.algorithms.answerability import judge
from graphmem.algorithms.candidate_table import CandidateTable, Question
from graphmem.algorithms.relevance import rank_candidates
from graphmem.algorithms.text import tokens
from graphmem.evaluation.benchmark.bare import (
    bare_commit,
    bare_insert,
    bare_links,
    bare_open,
    bare_recall,
    bare_scan,
    make_bare_table,
    rows_of,
)
from graphmem.evaluation.benchmark.data import Planted, PlantedEmbedder, planted_notes
from graphmem.evaluation.benchmark.measurement import QUESTIONS, SINGLE_ADDS, Measurement
from graphmem.evaluation.benchmark.timing import p95, resident_bytes, timed
from graphmem.memory import Memory
from graphmem.memory.recalling import candidate_query
from graphmem.model import NoteFilter, Scope
from graphmem.opening import open_memory
from graphmem.stores.embedded.store import NetworkXStore

EXTRA_MS = 5.0
"""What the scan limit allows for everything that is not the scan."""
STORE = "embedded"
_MB = 2.0**20


def measure_embedded(size: int, folder: Path) -> Iterator[Measurement]:
    """Measure writing, recall, opening and memory at `size` notes; files go to `folder`."""
    planted = planted_notes(size + SINGLE_ADDS, QUESTIONS)
    place = folder / "bench.graphmem"
    yield _bulk(planted, size, place)
    yield from _memory(planted, size, place)
    with open_memory(place, embedder=PlantedEmbedder(planted), language_model="none") as memory:
        yield from _recalls(memory, planted, size)
        yield _decisions(memory, planted, size, place)
        yield _single_adds(memory, planted, size, folder)
    yield _opening(planted, place, size)


def _bulk(planted: Planted, size: int, place: Path) -> Measurement:
    bare = timed(bare_links, planted.vectors[:size])
    with open_memory(place, embedder=PlantedEmbedder(planted), language_model="none") as memory:
        measured = timed(memory.add_many, planted.notes[:size])
    rows = rows_of(place)
    bare += timed(bare_insert, place.with_name("same-rows.sqlite"), rows)
    limit = "one blocked matrix product + one SQLite bulk insert of the same rows"
    return Measurement("add_many with linking", STORE, size, limit, measured, bare)


def _memory(planted: Planted, size: int, place: Path) -> Iterator[Measurement]:
    before = resident_bytes()
    with open_memory(place, embedder=PlantedEmbedder(planted), language_model="none") as memory:
        for question in planted.questions:
            memory.recall(question, track=False)
        after = resident_bytes()
    if before is None or after is None:
        return
    text = sum(len(note.content.encode()) for note in planted.notes[:size])
    held = planted.vectors[:size].nbytes + text
    limit = "float32 vectors + text"
    grown = (after - before) / _MB
    yield Measurement("resident memory", STORE, size, limit, grown, held / _MB, unit="MB")


def _recalls(memory: Memory, planted: Planted, size: int) -> Iterator[Measurement]:
    vectors = planted.vectors[:size].copy()
    documents = [tokens(note.content) for note in planted.notes[:size]]
    considered = []
    for question in planted.questions:  # warm: bodies and links of what is asked are loaded
        considered.append(memory.recall(question, track=False).considered.candidates)
    measured = [timed(memory.recall, question, track=False) for question in planted.questions]
    # After all recalls: the threads of a scan keep spinning, which would slow down what follows.
    ranked, scanned = [], []
    for row, question in enumerate(planted.questions):
        terms, asked = tokens(question), planted.asked[row]
        ranked.append(timed(bare_recall, vectors, documents, asked, terms, considered[row]))
        scanned.append(timed(bare_scan, vectors, asked) + EXTRA_MS)
    bm25 = "numpy exact scan + rank-bm25 over as many candidates"
    scan = "numpy exact scan + 5 ms"
    yield Measurement("recall, median", STORE, size, bm25, median(measured), median(ranked))
    yield Measurement("recall, p95", STORE, size, scan, p95(measured), p95(scanned))


def _decisions(memory: Memory, planted: Planted, size: int, place: Path) -> Measurement:
    """Time the evidence decision alone, on what the same recall has ranked."""
    scope, policy = Scope(memory.namespace), memory.policy
    store = NetworkXStore.open(place)
    measured, bare = [], []
    for row, text in enumerate(planted.questions):
        question = Question(text, tokens(text), datetime.now(UTC))
        asked = candidate_query(planted.asked[row], question.terms, NoteFilter(), policy.candidates)
        found = store.candidates(scope, asked)
        ranking = rank_candidates(CandidateTable(question, found), policy)
        decision = timed(judge, ranking)
        measured.append(timed(memory.recall, text, track=False))
        bare.append(measured[-1] - decision)
    store.close()
    limit = "the same recall without its evidence decision"
    return Measurement("recall, median", STORE, size, limit, median(measured), median(bare))


def _single_adds(memory: Memory, planted: Planted, size: int, folder: Path) -> Measurement:
    connection = sqlite3.connect(folder / "single.sqlite")
    make_bare_table(connection)
    vectors = planted.vectors[:size]
    measured, bare = [], []
    for number, note in enumerate(planted.notes[size:]):
        measured.append(timed(memory.add_many, [note]))
        vector = planted.vectors[size + number]
        bare.append(
            timed(bare_commit, connection, number, vector) + timed(bare_scan, vectors, vector)
        )
    connection.close()
    limit = "one small durable SQLite transaction + one scan"
    return Measurement("one add, p95", STORE, size, limit, p95(measured), p95(bare))


def _opening(planted: Planted, place: Path, size: int) -> Measurement:
    def first_answer() -> None:
        with open_memory(place, embedder=PlantedEmbedder(planted), language_model="none") as memory:
            memory.recall(planted.questions[0], track=False)

    measured, bare = [], []
    for _ in range(3):
        measured.append(timed(first_answer))
        bare.append(timed(bare_open, place))
    limit = "reading the file's bytes; arrays of its vectors, terms and ids"
    return Measurement("open and first recall", STORE, size, limit, median(measured), median(bare))
