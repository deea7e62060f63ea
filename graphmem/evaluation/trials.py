"""Questions that memory can answer and such that it cannot, made from public data sets.

Every trial is one recall through the public interface, without a trace, at the question's
own date. Gold evidence decides what a trial is and scores it; no decision sees it.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from enum import StrEnum
from pathlib import Path
from typing import TypeAlias

from graphmem.evaluation.datasets import Case, Question
from graphmem.evaluation.locomo import read_locomo
from graphmem.evaluation.longmemeval import read_longmemeval
from graphmem.evaluation.retrieval import Setting, filled
from graphmem.memory import Memory
from graphmem.model import EvidenceDecision

Progress: TypeAlias = Callable[[str, int], None]
"""Called after each case with its id and the number of trials made so far."""

OTHER_HAYSTACKS = (1, 7)
"""Whose questions a haystack is asked beside its own: those so many cases further on."""


class Split(StrEnum):
    """What kind of trial it is; memory answers ``answerable`` ones only."""

    ANSWERABLE = "answerable"
    ADVERSARIAL = "adversarial"
    SWAPPED = "name swapped"
    OTHER = "other conversation"
    RENAMED = "other conversation, renamed"
    DELETED = "evidence deleted"
    ABSTENTION = "abstention"
    HAYSTACK = "other haystack"
    REMOVED = "evidence sessions removed"


@dataclass(frozen=True, slots=True)
class Trial:
    """One question asked of one memory.

    Attributes
    ----------
    question, case
        Ids of the data set: the question, and the conversation or haystack asked.
    category
        The data set's name of the kind of question.
    split
        What kind of trial it is.
    gold
        Ids of the notes that hold the answer; empty unless memory answers.
    decision
        What recall decided.
    """

    question: str
    case: str
    category: str
    split: Split
    gold: frozenset[str]
    decision: EvidenceDecision

    @property
    def answerable(self) -> bool:
        """Whether memory holds the answer."""
        return self.split is Split.ANSWERABLE


def locomo_trials(
    path: Path,
    *,
    corrections: Path | None = None,
    setting: Setting,
    progress: Progress | None = None,
) -> tuple[Trial, ...]:
    """Ask LoCoMo's questions, those without an answer, and altered ones.

    ``adversarial`` are category 5. ``name swapped`` are answerable questions that name one
    of the two speakers, asked about the other. ``other conversation`` are answerable
    questions of the next conversation as they are; ``renamed`` are the same with this one's
    names, and those that name nobody.
    ``evidence deleted`` are answerable questions whose evidence was archived.

    Raises
    ------
    TransferError
        A file cannot be read or is not of this kind.
    """
    cases = list(read_locomo(path, corrections))
    trials: list[Trial] = []
    with setting.open() as memory:
        for number, case in enumerate(cases):
            following = cases[(number + 1) % len(cases)]
            with filled(memory, case) as own:
                trials.extend(_of_conversation(own, case, following))
            if progress is not None:
                progress(case.id, len(trials))
    return tuple(trials)


def longmemeval_trials(
    path: Path, *, setting: Setting, progress: Progress | None = None
) -> tuple[Trial, ...]:
    """Ask LongMemEval's questions, those of other haystacks, and with evidence removed.

    ``abstention`` are the questions whose id ends in ``_abs``. ``other haystack`` are
    questions of two other cases. ``evidence sessions removed`` are answerable questions
    asked of the other sessions only.

    Raises
    ------
    TransferError
        The file cannot be read or is not of this kind.
    """
    asked = [case.questions[0] for case in read_longmemeval(path)]
    trials: list[Trial] = []
    with setting.open() as memory:
        for number, case in enumerate(read_longmemeval(path)):
            others = [asked[(number + step) % len(asked)] for step in OTHER_HAYSTACKS]
            with filled(memory, case) as own:
                trials.extend(_of_haystack(own, case, others))
            if progress is not None:
                progress(case.id, len(trials))
    return tuple(trials)


def _of_conversation(memory: Memory, case: Case, following: Case) -> Iterator[Trial]:
    speakers, others = _speakers(case), _speakers(following)
    for question in case.questions:
        split = Split.ANSWERABLE if question.answerable else Split.ADVERSARIAL
        yield _ask(memory, case, question, split)
        if not question.answerable:
            continue
        swapped = _swapped(question.text, speakers)
        if swapped is not None:
            yield _ask(memory, case, question, Split.SWAPPED, swapped)
        if question.gold_notes:
            with _archived(memory, question.gold_notes):
                yield _ask(memory, case, question, Split.DELETED)
    asked_at = case.questions[0].asked_at
    for question in following.questions:
        if question.answerable:
            renamed = _renamed(question.text, others, speakers)
            foreign = replace(question, asked_at=asked_at)
            if renamed != question.text:
                yield _ask(memory, case, foreign, Split.OTHER)
            yield _ask(memory, case, foreign, Split.RENAMED, renamed)


def _of_haystack(memory: Memory, case: Case, others: Sequence[Question]) -> Iterator[Trial]:
    for question in case.questions:
        split = Split.ANSWERABLE if question.answerable else Split.ABSTENTION
        yield _ask(memory, case, question, split)
        left = {turn.source_id for turn in case.turns} - question.gold_sources
        if question.answerable and left:
            yield _ask(memory, case, question, Split.REMOVED, sources=sorted(left))
    for question in others:
        if question.id != case.id:
            yield _ask(memory, case, question, Split.HAYSTACK)


def _ask(
    memory: Memory,
    case: Case,
    question: Question,
    split: Split,
    text: str | None = None,
    sources: Sequence[str] | None = None,
) -> Trial:
    result = memory.recall(
        question.text if text is None else text,
        at=question.asked_at,
        sources=sources,
        track=False,
    )
    gold = question.gold_notes if split is Split.ANSWERABLE else frozenset()
    return Trial(question.id, case.id, question.category, split, gold, result.decision)


@contextmanager
def _archived(memory: Memory, note_ids: frozenset[str]) -> Iterator[None]:
    """Hide notes for a while."""
    for note_id in sorted(note_ids):
        memory.archive(note_id)
    try:
        yield
    finally:
        for note_id in sorted(note_ids):
            memory.restore(note_id)


def _speakers(case: Case) -> tuple[str, ...]:
    return tuple(sorted({turn.author for turn in case.turns if turn.author is not None}))


def _swapped(text: str, speakers: Sequence[str]) -> str | None:
    """Return the question about the other speaker, or ``None`` unless it names just one."""
    named = [name for name in speakers if re.search(rf"\b{re.escape(name)}\b", text)]
    if len(named) != 1 or len(speakers) != 2:
        return None
    other = speakers[1 - speakers.index(named[0])]
    return re.sub(rf"\b{re.escape(named[0])}\b", other, text)


def _renamed(text: str, names: Sequence[str], others: Sequence[str]) -> str:
    for name, other in zip(names, others, strict=False):
        text = re.sub(rf"\b{re.escape(name)}\b", other, text)
    return text
