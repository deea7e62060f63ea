"""What the demo shows: the corpus in a memory, its links, an evolution, and its questions."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from graphmem.demo import DemoQuestion, QuestionKind, corpus, questions
from graphmem.errors import Conflict
from graphmem.evaluation.metrics import auroc
from graphmem.memory import Memory
from graphmem.memory.adding import Progress
from graphmem.model import (
    AddReport,
    EventKind,
    EvolutionEvent,
    Link,
    Note,
    NoteRecord,
    Outcome,
    RecallResult,
    Stats,
)

CUTOFFS = (1, 5, 10)
"""Ranks at which recall is reported."""

SHOWN_QUESTIONS = ("q06", "q17", "q23", "q29", "q31")
"""The questions the demo explains: two through the graph, a change of mind, one in
Japanese, and one about the wrong person."""

SHOWN_LINKS = 5
_BATCH = 32  # small, so that the progress bar moves


@dataclass(frozen=True, slots=True)
class LinkedPair:
    """A RELATED link with its two notes, the earlier one first."""

    link: Link
    earlier: Note
    later: Note


@dataclass(frozen=True, slots=True)
class Evolution:
    """A change of a note and the note whose arrival caused it."""

    event: EvolutionEvent
    note: Note
    trigger: Note


@dataclass(frozen=True, slots=True)
class Answer:
    """A question and what recall returned for it."""

    question: DemoQuestion
    result: RecallResult

    def recall_at(self, cutoff: int) -> float:
        """Return the share of the gold notes among the first `cutoff`, in [0, 1]."""
        found = {ranked.note.id for ranked in self.result.notes[:cutoff]}
        return len(found.intersection(self.question.gold)) / len(self.question.gold)

    @property
    def refused(self) -> bool:
        """Whether the decision was that memory does not hold the answer."""
        return self.result.decision.outcome is Outcome.UNKNOWN


@dataclass(frozen=True, slots=True)
class KindScore:
    """Evidence recall of one kind of question: the mean share of gold notes found."""

    kind: str
    questions: int
    recall: tuple[float, ...]


@dataclass(frozen=True, slots=True)
class Score:
    """The figures over all questions.

    Attributes
    ----------
    by_kind, overall
        Evidence recall at :data:`CUTOFFS` over the answerable questions.
    refused, unanswerable
        How many of the questions without an answer were refused.
    kept, answerable
        How many of those with an answer were not refused.
    auroc
        Probability that a question with an answer has the higher ``answerable`` than one
        without; ties count half. 0.5 is chance, 1 is perfect.
    """

    by_kind: tuple[KindScore, ...]
    overall: KindScore
    refused: int
    unanswerable: int
    kept: int
    answerable: int
    auroc: float


@dataclass(frozen=True, slots=True)
class Tour:
    """Everything the demo tells, as values."""

    added: AddReport
    stats: Stats
    links: tuple[LinkedPair, ...]
    kept_apart: LinkedPair | None
    evolution: Evolution | None
    answers: tuple[Answer, ...]
    score: Score


def fill(memory: Memory, progress: Progress | None = None) -> AddReport:
    """Add the corpus; a second time changes nothing.

    Raises
    ------
    Conflict
        The namespace holds notes and none of them is of the corpus; nothing was added.
    """
    notes = corpus()
    own = {note.id for note in notes}
    held = {note.id for note in memory.notes(archived=True)}
    if held and held.isdisjoint(own):
        raise Conflict(
            f"namespace {memory.namespace!r} holds {len(held)} notes that are not the demo's; "
            "nothing was added; choose another with --namespace"
        )
    return memory.add_many(notes, batch_size=_BATCH, progress=progress)


def take_tour(memory: Memory, added: AddReport) -> Tour:
    """Look at the filled memory and ask every question; leaves no trace of use."""
    notes: dict[str, Note] = {}
    links: list[Link] = []
    events: list[EvolutionEvent] = []
    for record in memory.dump(vectors=False):
        if isinstance(record, NoteRecord):
            notes[record.note.id] = record.note
        elif isinstance(record, Link):
            links.append(record)
        elif isinstance(record, EvolutionEvent) and record.kind is EventKind.EVOLVED:
            events.append(record)
    links.sort(key=lambda link: (-link.cosine, link.pair))
    answers = tuple(ask(memory, question) for question in questions())
    return Tour(
        added=added,
        stats=memory.stats(),
        links=tuple(_pair(link, notes) for link in links[:SHOWN_LINKS]),
        kept_apart=_kept_apart(links, events, notes),
        evolution=_clearest(events, notes),
        answers=answers,
        score=score(answers),
    )


def ask(memory: Memory, question: DemoQuestion) -> Answer:
    """Recall for one question at its date, without counting the use."""
    result = memory.recall(question.question, max(CUTOFFS), at=question.at, track=False)
    return Answer(question, result)


def shown(tour: Tour) -> tuple[Answer, ...]:
    """Return the answers the demo explains, in its order."""
    by_id = {answer.question.id: answer for answer in tour.answers}
    return tuple(by_id[question_id] for question_id in SHOWN_QUESTIONS)


def score(answers: Sequence[Answer]) -> Score:
    """Return the figures over all answers."""
    asked = [answer for answer in answers if answer.question.answerable]
    without = [answer for answer in answers if not answer.question.answerable]
    kinds = [kind for kind in QuestionKind if kind is not QuestionKind.UNANSWERABLE]
    return Score(
        by_kind=tuple(
            _kind_score(kind, [answer for answer in asked if answer.question.kind is kind])
            for kind in kinds
        ),
        overall=_kind_score("all", asked),
        refused=sum(answer.refused for answer in without),
        unanswerable=len(without),
        kept=sum(not answer.refused for answer in asked),
        answerable=len(asked),
        auroc=auroc(
            [answer.result.decision.answerable for answer in (*asked, *without)],
            [True] * len(asked) + [False] * len(without),
        ),
    )


def _kind_score(kind: str, answers: Sequence[Answer]) -> KindScore:
    recall = tuple(
        sum(answer.recall_at(cutoff) for answer in answers) / len(answers) for cutoff in CUTOFFS
    )
    return KindScore(str(kind), len(answers), recall)


def _pair(link: Link, notes: dict[str, Note]) -> LinkedPair:
    first, second = (notes[end] for end in link.pair)
    if (second.created_at, second.id) < (first.created_at, first.id):
        first, second = second, first
    return LinkedPair(link, first, second)


def _kept_apart(
    links: Iterable[Link], events: Iterable[EvolutionEvent], notes: dict[str, Note]
) -> LinkedPair | None:
    """Return the most similar pair that did not evolve each other."""
    evolved = {frozenset((event.note_id, event.trigger_id)) for event in events}
    for link in links:
        if frozenset(link.pair) not in evolved:
            return _pair(link, notes)
    return None


def _clearest(events: Iterable[EvolutionEvent], notes: dict[str, Note]) -> Evolution | None:
    """Return the evolution that brought most new keywords."""

    def gain(event: EvolutionEvent) -> tuple[int, str]:
        new = set(event.after.keywords) - set(event.before.keywords)
        return -len(new), event.id

    for event in sorted(events, key=gain):
        if event.trigger_id in notes:
            return Evolution(event, notes[event.note_id], notes[event.trigger_id])
    return None
