"""Data sets as link cases: the notes of one namespace and which of them belong together."""

from __future__ import annotations

import tarfile
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Literal, TypeAlias

from graphmem.errors import TransferError
from graphmem.evaluation.datasets import Case, read_records
from graphmem.evaluation.locomo import read_locomo
from graphmem.evaluation.longmemeval import read_longmemeval
from graphmem.evaluation.multihop import is_hotpotqa, is_musique, read_multihop
from graphmem.evaluation.passages import Collection
from graphmem.model import NoteInput

Level: TypeAlias = Literal["note", "source"]
"""What the two ends of a link are."""

DataKind: TypeAlias = Literal["longmemeval", "locomo", "multihop"]

_TIMELESS = datetime(2024, 1, 1, tzinfo=UTC)
"""Encyclopaedia passages carry no date; one for all keeps recency out of their ranking."""


@dataclass(frozen=True, slots=True)
class LinkQuestion:
    """A question and the ends (notes or sources) it needs together.

    `among` are the ends it was asked over; ``None`` is the whole namespace.
    """

    id: str
    text: str
    asked_at: datetime
    gold: frozenset[str]
    among: tuple[str, ...] | None = None


@dataclass(frozen=True, slots=True)
class LinkCase:
    """The notes of one namespace and the questions that tell which belong together."""

    id: str
    level: Level
    notes: tuple[NoteInput, ...]
    questions: tuple[LinkQuestion, ...]


def kind_of(path: Path) -> DataKind:
    """Tell a data set by its shape: the keys of its first record, or that it is an archive.

    Raises
    ------
    TransferError
        The file cannot be read or is of no known kind.
    """
    if path.is_file() and tarfile.is_tarfile(path):
        return "multihop"
    first = next(read_records(path), None)
    if isinstance(first, dict):
        if "haystack_sessions" in first:
            return "longmemeval"
        if "conversation" in first and "qa" in first:
            return "locomo"
        if is_musique(first) or is_hotpotqa(first):
            return "multihop"
    raise TransferError(
        f"{path} is no data set of a known shape: LongMemEval, LoCoMo, MuSiQue or HotpotQA."
    )


def read_link_cases(path: Path, kind: DataKind, corrections: Path | None) -> Iterator[LinkCase]:
    """Yield the cases of a data set; raises ``TransferError``."""
    if kind == "multihop":
        yield from map(_of_passages, read_multihop(path))
    elif kind == "locomo":
        yield from map(_of_conversation, read_locomo(path, corrections))
    else:
        yield from (
            case for case in map(_of_conversation, read_longmemeval(path)) if case.questions
        )


def _of_conversation(case: Case) -> LinkCase:
    """Return sessions as ends; a question without an answer tells nothing about links."""
    questions = tuple(
        LinkQuestion(question.id, question.text, question.asked_at, question.gold_sources)
        for question in case.questions
        if question.answerable and question.gold_sources
    )
    return LinkCase(case.id, "source", tuple(turn.note() for turn in case.turns), questions)


def _of_passages(collection: Collection) -> LinkCase:
    notes = tuple(
        NoteInput(f"{passage.title}\n{passage.text}", id=passage.id, created_at=_TIMELESS)
        for passage in collection.passages
    )
    questions = tuple(
        LinkQuestion(question.id, question.text, _TIMELESS, question.gold, question.passages)
        for question in collection.questions
        if question.gold
    )
    return LinkCase(collection.name, "note", notes, questions)


def ends_of(case: LinkCase) -> Sequence[str]:
    """Return the ids of everything a link of this case can join, sorted."""
    if case.level == "note":
        return sorted({str(note.id) for note in case.notes})
    return sorted({note.source.id for note in case.notes if note.source is not None})
