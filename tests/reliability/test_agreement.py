"""Both stores do as the model does, for longer than in `tests/contract/test_state_machine.py`."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from contract.stores import Graph
from contract.test_state_machine import Operation, StoresAgree, WithFiles, play, profile
from reliability.tally import Tally

EXAMPLES, STEPS = 25, 40


def played(tally: Tally, machine: Callable[[], StoresAgree], examples: int) -> None:
    """Play random plans; after each step all that is stored is compared."""

    def counted() -> StoresAgree:
        made = machine()
        once = made.play

        def play_and_count(operation: Operation) -> None:
            tally.operations += 1
            once(operation)

        made.play = play_and_count  # type: ignore[method-assign] # counts, and does the same
        return made

    play(counted, profile(examples, STEPS))


@pytest.fixture
def _in_full(request: pytest.FixtureRequest) -> None:
    if not request.config.getoption("--full", default=False):
        pytest.skip("the same in short: tests/contract/test_state_machine.py")


@pytest.mark.usefixtures("_in_full")
def test_files_agree_for_longer(tmp_path: Path, tally: Callable[[str], Tally]) -> None:
    played(tally("random plans, embedded"), lambda: WithFiles(tmp_path), 10 * EXAMPLES)


@pytest.mark.neo4j
@pytest.mark.usefixtures("_in_full")
@pytest.mark.parametrize("release", ["neo4j", "neo4j_2026"])
def test_servers_agree_for_longer(
    request: pytest.FixtureRequest, release: str, tally: Callable[[str], Tally]
) -> None:
    graph = Graph(request.getfixturevalue(f"{release}_address"))
    graph.empty()
    store = graph.shared()
    played(tally(f"random plans, {release}"), lambda: StoresAgree([store]), EXAMPLES)
    graph.empty()
