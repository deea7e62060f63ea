"""What SUPERSEDES is found in conversations: every pair with its reason, to be read.

Nobody labelled which turns of LoCoMo or LongMemEval contradict an earlier one, so that the
precision of the rule is what a reader finds: each pair is shown with both texts.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from itertools import islice
from pathlib import Path
from typing import TypeAlias

from graphmem.evaluation.datasets import Case
from graphmem.evaluation.locomo import read_locomo
from graphmem.evaluation.longmemeval import read_longmemeval
from graphmem.evaluation.retrieval import Setting
from graphmem.memory import Memory
from graphmem.model import Link, LinkKind
from graphmem.transfer import import_path

Fill: TypeAlias = Callable[[Memory], object]
"""Puts notes into a memory."""


@dataclass(frozen=True, slots=True)
class Contradiction:
    """One SUPERSEDES link with what both notes say."""

    link: Link
    older: str
    newer: str


@dataclass(frozen=True, slots=True)
class ContradictionReport:
    """How many notes and RELATED links there are, and what supersedes what among them."""

    name: str
    notes: int
    related: int
    found: tuple[Contradiction, ...]

    def lines(self) -> Iterator[str]:
        """Yield the counts, then each pair."""
        count = len(self.found)
        yield f"{self.name}: {self.notes} notes, {self.related} links, {count} superseding"
        for each in self.found:
            yield f"  {each.link.reason} (cosine {each.link.cosine:.2f})"
            yield f"    older: {each.older}"
            yield f"    newer: {each.newer}"


def contradictions(name: str, fill: Fill, setting: Setting) -> ContradictionReport:
    """Fill a memory of its own and report what supersedes what in it."""
    with setting.open() as memory:
        fill(memory)
        return _report(name, memory)


def _report(name: str, memory: Memory) -> ContradictionReport:
    links = (item for item in memory.dump(vectors=False) if isinstance(item, Link))
    found = tuple(
        Contradiction(link, memory.get(link.to_id).content, memory.get(link.from_id).content)
        for link in links
        if link.kind is LinkKind.SUPERSEDES
    )
    stats = memory.stats()
    return ContradictionReport(name, stats.notes, stats.related, found)


def _filled(path: Path, kind: str, limit: int | None) -> Iterator[tuple[str, Fill]]:
    """Yield the name of each memory, and what fills it."""
    if kind == "notes":
        yield path.name, lambda memory: import_path(memory, path)
        return
    cases = read_locomo(path) if kind == "locomo" else read_longmemeval(path)
    for case in islice(cases, limit):
        yield case.id, partial(_add, case)


def _add(case: Case, memory: Memory) -> None:
    memory.add_many(turn.note() for turn in case.turns)


def _arguments() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m graphmem.evaluation.contradictions")
    parser.add_argument("kind", choices=["notes", "locomo", "longmemeval"])
    parser.add_argument("path", type=Path, help="the data set, or notes as JSON lines")
    parser.add_argument("--limit", type=int, help="how many conversations or haystacks")
    parser.add_argument("--cache", type=Path, help="keeps embeddings for the next run")
    return parser


def main() -> None:
    """Read the arguments, fill the memories, and print what was found."""
    given = _arguments().parse_args()
    setting = Setting(cache=given.cache)
    for name, fill in _filled(given.path, given.kind, given.limit):
        for line in contradictions(name, fill, setting).lines():
            print(line)  # noqa: T201  # a script's result


if __name__ == "__main__":
    main()
