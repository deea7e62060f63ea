from __future__ import annotations

import random

import numpy as np
import pytest

from graphmem.stores.embedded.columns import NO_POSITION, NONE, Columns, NewRows
from graphmem.stores.embedded.sources import Sources

SOURCES = 3


class Notes:
    """Rows with a source, a position and an importance, and the orders kept of them."""

    def __init__(self, seed: int) -> None:
        self.random = random.Random(seed)
        self.columns = Columns()
        self.ids: list[str] = []
        self.sources = Sources(self.columns, self.ids)

    def fields(self, source: int) -> NewRows:
        position = self.random.choice([None, *range(4)])
        importance = self.random.choice([0.2, 0.5])
        return NewRows([0], [0], [False], [position], [importance], [0], [source], [NONE])

    def add(self) -> None:
        source = self.random.choice([NONE, *range(SOURCES)])
        self.columns.extend(self.fields(source))
        self.ids.append(f"{self.random.randrange(10**6):06}")
        self.sources.enter(self.columns.count - 1, source)

    def change(self, row: int) -> None:
        source = int(self.columns.source[row])
        self.sources.leave(row)
        self.columns.change(row, self.fields(source))
        self.sources.enter(row, source, known=True)

    def kill(self, row: int) -> None:
        self.sources.leave(row)
        self.columns.kill(row)

    def step(self) -> None:
        alive = np.flatnonzero(self.columns.alive).tolist()
        roll = self.random.random()
        if roll < 0.5 or not alive:
            self.add()
        elif roll < 0.8:
            self.change(self.random.choice(alive))
        else:
            self.kill(self.random.choice(alive))

    def of(self, source: int) -> list[int]:
        held = (self.columns.source == source) & self.columns.alive
        return np.flatnonzero(held).tolist()

    def assert_in_order(self) -> None:
        everything = np.ones(self.columns.count, dtype=bool)
        for source in range(SOURCES):
            rows = self.of(source)
            ranked = sorted(rows, key=lambda row: (-self.columns.importance[row], self.ids[row]))
            assert self.sources.first(source, 5, everything) == ranked[:5]
            placed = [row for row in rows if self.columns.position[row] != NO_POSITION]
            placed.sort(key=lambda row: (self.columns.position[row], self.ids[row]))
            before, after = self.sources.steps(np.array(placed, dtype=np.intp), everything)
            assert before.tolist() == [NONE, *placed[:-1]][: len(placed)]
            assert after.tolist() == [*placed[1:], NONE][: len(placed)]


def test_orders_kept_through_changes_are_those_built_afresh() -> None:
    for seed in range(20):
        notes = Notes(seed)
        for _ in range(60):
            notes.step()
            notes.assert_in_order()


@pytest.mark.parametrize("share", [0.0, 0.02, 0.5, 0.95])
def test_steps_skip_what_is_not_seen_however_long(share: float) -> None:
    columns, ids = Columns(), [f"{row:04}" for row in range(600)]
    sources = Sources(columns, ids)
    zeros = [0] * 600
    positions: list[int | None] = [row % 200 if row % 7 else None for row in range(600)]
    source = [row % 2 for row in range(600)]
    columns.extend(
        NewRows(range(600), zeros, [False] * 600, positions, [0.5] * 600, zeros, source, zeros)
    )
    sources.pack()
    seen = np.random.default_rng(1).random(600) < share
    rows = np.arange(600)
    before, after = sources.steps(rows, seen)
    for number in (0, 1):
        chain = [row for row in range(600) if source[row] == number and positions[row] is not None]
        chain.sort(key=lambda row: (positions[row], ids[row]))
        for place, row in enumerate(chain):
            earlier = [each for each in chain[:place] if seen[each]]
            later = [each for each in chain[place + 1 :] if seen[each]]
            assert before[row] == (earlier[-1] if earlier else NONE)
            assert after[row] == (later[0] if later else NONE)
    assert set(before[::7].tolist()) == {NONE}


def test_the_first_of_a_long_source_are_found_behind_those_filtered_out() -> None:
    columns, ids = Columns(), [f"{row:04}" for row in range(500)]
    sources = Sources(columns, ids)
    none, zeros = [None] * 500, [0] * 500
    columns.extend(
        NewRows(range(500), zeros, [False] * 500, none, [0.5] * 500, zeros, zeros, [NONE] * 500)
    )
    sources.pack()
    eligible = np.zeros(500, dtype=bool)
    eligible[[3, 300, 400, 450]] = True
    assert sources.first(0, 3, eligible) == [3, 300, 400]
