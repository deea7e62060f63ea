"""A small namespace beside a huge one, and words too common to seed a recall.

The crowd is written once a store: three thousand notes that crowd round one direction.
"""

from __future__ import annotations

import uuid
from collections.abc import Iterator
from dataclasses import dataclass, replace

import numpy as np
import pytest
from contract.builders import (
    EAST,
    MODEL,
    by_rank,
    ids,
    lexical,
    make_note,
    nearby,
    question,
    unit,
)
from contract.stores import STORES, Shelter

from graphmem.model import TERM_CAP, NoteFilter, NoteRecord, Scope, Vector
from graphmem.ports import NoteStore

CROWD, FEW = 3000, 30


@dataclass(frozen=True)
class Beside:
    store: NoteStore
    huge: Scope
    small: Scope


def close_to_east(seed: int) -> Vector:
    vector: Vector = EAST + np.float32(0.05) * unit(seed)
    return np.asarray(vector / np.linalg.norm(vector), np.float32)


@pytest.fixture(scope="module", params=STORES)
def beside(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Beside]:
    with Shelter(request, str(request.param), tmp_path_factory.mktemp("crowd")) as store:
        huge, small = Scope(f"huge-{uuid.uuid4()}"), Scope(f"small-{uuid.uuid4()}")
        crowd = [
            NoteRecord(
                make_note(
                    f"n{i:04}",
                    huge.namespace,
                    source=f"s{i % 40}",
                    author="Ada" if i % 100 == 0 else "Eve",
                    tags=("few",) if i % 100 == 1 else (),
                ),
                ("every", "most") if i < CROWD - 10 else ("every", "rare"),
                close_to_east(i),
            )
            for i in range(CROWD)
        ]
        few = [
            NoteRecord(make_note(f"n{i:04}", small.namespace), ("every", "rare"), -EAST)
            for i in range(FEW)
        ]
        store.load(huge, crowd, [], [], MODEL)
        store.load(small, few, [], [], MODEL)
        yield Beside(store, huge, small)


def few_ids() -> list[str]:
    return [f"n{i:04}" for i in range(FEW)]


def test_a_small_namespace_gets_all_its_neighbours(beside: Beside) -> None:
    (found,) = beside.store.nearest(beside.small, EAST[None], FEW + 5)
    assert [each.note_id for each in found] == few_ids()
    assert found[0].cosine == pytest.approx(-1.0, abs=1e-6)


def test_a_small_namespace_gets_all_its_candidates(beside: Beside) -> None:
    found = beside.store.candidates(beside.small, nearby(vector_seeds=FEW + 5))
    assert ids(found) == few_ids()
    found = beside.store.candidates(beside.small, lexical("rare", "most"))
    assert by_rank(found, "lexical_rank") == few_ids()
    assert (found.note_count, found.average_terms) == (FEW, 2.0)
    assert found.document_frequency == {"rare": FEW, "most": 0}


def test_a_huge_namespace_is_exact(beside: Beside) -> None:
    asked = np.stack([unit(5000 + i) for i in range(5)])
    matrix = np.stack([close_to_east(i) for i in range(CROWD)]).astype(np.float64)
    for vector, found in zip(asked, beside.store.nearest(beside.huge, asked, 20), strict=True):
        cosines = matrix @ vector.astype(np.float64)
        best = np.argsort(-cosines)[:20]
        np.testing.assert_allclose([each.cosine for each in found], cosines[best], atol=1e-6)
        assert len({each.note_id for each in found}) == 20


def test_an_allow_list_of_few_among_many_gets_them_all(beside: Beside) -> None:
    seeing = replace(beside.huge, authors=frozenset({"Ada"}))
    expected = [f"n{i:04}" for i in range(0, CROWD, 100)]
    (found,) = beside.store.nearest(seeing, -EAST[None], 99)
    assert sorted(each.note_id for each in found) == expected
    assert ids(beside.store.candidates(seeing, nearby(vector_seeds=99))) == expected
    found_by_word = beside.store.candidates(seeing, lexical("every"))
    assert ids(found_by_word) == expected
    assert found_by_word.document_frequency == {"every": len(expected)}


def test_a_filter_to_few_among_many_gets_them_all(beside: Beside) -> None:
    where = NoteFilter(tags=frozenset({"few"}))
    expected = [f"n{i:04}" for i in range(1, CROWD, 100)]
    (found,) = beside.store.nearest(beside.huge, -EAST[None], 99, where)
    assert sorted(each.note_id for each in found) == expected
    assert ids(beside.store.candidates(beside.huge, question(-EAST, "every", where=where))) == (
        expected
    )


def test_a_word_in_too_many_notes_seeds_nothing(beside: Beside) -> None:
    found = beside.store.candidates(beside.huge, lexical("every", "rare", "most"))
    assert ids(found) == [f"n{i:04}" for i in range(CROWD - 10, CROWD)]
    assert found.document_frequency == {"every": TERM_CAP, "rare": 10, "most": TERM_CAP}
    assert (found.note_count, found.average_terms) == (CROWD, 2.0)


@pytest.mark.parametrize("terms", [("every", "most"), ("most", "every"), ("every", "no", "most")])
def test_of_words_that_are_all_too_common_the_rarest_seeds(
    beside: Beside, terms: tuple[str, ...]
) -> None:
    found = beside.store.candidates(beside.huge, lexical(*terms, lexical_seeds=CROWD))
    assert len(found.candidates) == CROWD - 10
    first = beside.store.candidates(beside.huge, lexical(*terms, lexical_seeds=3))
    assert by_rank(first, "lexical_rank") == ["n0000", "n0001", "n0002"]


def test_the_only_word_seeds_however_common(beside: Beside) -> None:
    found = beside.store.candidates(beside.huge, lexical("every", lexical_seeds=5))
    assert by_rank(found, "lexical_rank") == [f"n{i:04}" for i in range(5)]
    assert found.document_frequency == {"every": TERM_CAP}


def test_pages_hold_every_note_once(beside: Beside) -> None:
    assert [note.id for note in beside.store.notes(beside.huge)] == [
        f"n{i:04}" for i in range(CROWD)
    ]
    records = list(beside.store.records(beside.huge))
    assert [record.note.id for record in records] == [f"n{i:04}" for i in range(CROWD)]
    assert all(
        record.embedding is not None and record.embedding.tobytes() == close_to_east(i).tobytes()
        for i, record in enumerate(records)
    )


def test_counts_of_both(beside: Beside) -> None:
    assert beside.store.stats(beside.huge).notes == CROWD
    assert beside.store.stats(beside.huge).sources == 40
    assert beside.store.stats(beside.small).notes == FEW
    assert beside.store.check(beside.huge).ok
