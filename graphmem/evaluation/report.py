"""What an evaluation of retrieval found, as values that turn into JSON."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from graphmem.evaluation.metrics import Interval
from graphmem.model import Json

CUTS = (1, 5, 10, 20)
"""The k at which recall is reported."""

DIAGNOSED = 5
"""The k at which single questions are diagnosed."""

FIRST = 10
"""Gold ranks beyond this one are marked as such."""


@dataclass(frozen=True, slots=True)
class Recall:
    """Mean recall of several questions at one k; each in [0, 1].

    Attributes
    ----------
    any
        Share of the questions with at least one gold item among the first k.
    evidence
        Mean share of the gold items among the first k.
    complete
        Share of the questions with every gold item among the first k (recall-all).
    """

    any: float
    evidence: float
    complete: float

    def to_json(self) -> Json:
        """Return the three numbers by name."""
        return {"any": self.any, "evidence": self.evidence, "complete": self.complete}


@dataclass(frozen=True, slots=True)
class Category:
    """Recall of the questions of one kind, by k."""

    name: str
    questions: int
    recall: Mapping[int, Recall]

    def to_json(self) -> Json:
        """Return the number of questions and the recall at each k."""
        recall: Json = {str(k): value.to_json() for k, value in self.recall.items()}
        return {"questions": self.questions, "recall": recall}


@dataclass(frozen=True, slots=True)
class RankerResult:
    """What one ranker reached, overall and by category."""

    name: str
    overall: Category
    categories: tuple[Category, ...]

    def to_json(self) -> Json:
        """Return both as JSON."""
        return {
            "overall": self.overall.to_json(),
            "by_category": {category.name: category.to_json() for category in self.categories},
        }


@dataclass(frozen=True, slots=True)
class Comparison:
    """Paired difference of the policy and a reference in one measure at one k.

    `difference` is policy minus reference, with its 95 % bootstrap interval over questions.
    """

    reference: str
    measure: str
    k: int
    difference: Interval

    def to_json(self) -> Json:
        """Return the difference and its interval."""
        return {
            "reference": self.reference,
            "measure": self.measure,
            "k": self.k,
            "difference": self.difference.mean,
            "interval": [self.difference.low, self.difference.high],
        }


@dataclass(frozen=True, slots=True)
class Diagnosis:
    """How one ranker did on one question.

    Attributes
    ----------
    ranks
        Of the gold items, rising; ``None`` for one that was not returned.
    any, all
        Whether one, and whether every gold item is among the first :data:`DIAGNOSED`, as 1
        or 0; ``None`` for a question without gold.
    """

    ranks: tuple[int | None, ...]
    any: float | None
    all: float | None

    @property
    def shown(self) -> tuple[str, ...]:
        """The ranks as a table shows them: ``4``, ``>10 (14)``, ``>20``."""
        return tuple(
            str(shown_rank(rank)) if rank is None or rank <= FIRST else f">{FIRST} ({rank})"
            for rank in self.ranks
        )

    def to_json(self) -> Json:
        """Return the ranks, exact and cut after the first ten, with both recalls."""
        return {
            "gold_ranks": [shown_rank(rank) for rank in self.ranks],
            f"gold_ranks@{FIRST}": [shown_rank(rank, FIRST) for rank in self.ranks],
            f"any@{DIAGNOSED}": self.any,
            f"all@{DIAGNOSED}": self.all,
        }


@dataclass(frozen=True, slots=True)
class QuestionResult:
    """How one question went under each ranker.

    Attributes
    ----------
    id, category
        As in the data set.
    gold
        Number of gold items; 0 when nothing was to be found.
    answerable, answerable_score
        Whether there is an answer, and the probability the decision gave for one.
    ranks
        By ranker, the 1-based ranks of the gold items, rising; ``None`` for one that the
        ranker did not return. The policy returns the first 20, a reference ranks all.
    """

    id: str
    category: str
    gold: int
    answerable: bool
    answerable_score: float
    ranks: Mapping[str, tuple[int | None, ...]]

    def found(self, ranker: str, k: int) -> int:
        """Return how many gold items stand among the first `k`."""
        return sum(rank is not None and rank <= k for rank in self.ranks[ranker])

    def recall(self, ranker: str, k: int) -> Recall:
        """Return the three recalls of this question at `k`."""
        found = self.found(ranker, k)
        return Recall(float(found > 0), found / self.gold, float(found == self.gold))

    def hides_incomplete(self, ranker: str, k: int = DIAGNOSED) -> bool:
        """Whether something was found among the first `k`, but not everything."""
        return 0 < self.found(ranker, k) < self.gold

    def diagnosis(self, ranker: str) -> Diagnosis:
        """Return how one ranker did on this question."""
        recall = self.recall(ranker, DIAGNOSED) if self.gold else None
        return Diagnosis(
            ranks=self.ranks[ranker],
            any=None if recall is None else recall.any,
            all=None if recall is None else recall.complete,
        )

    def to_json(self) -> Json:
        """Return the question with the diagnosis of every ranker."""
        return {
            "id": self.id,
            "category": self.category,
            "gold": self.gold,
            "answerable": self.answerable,
            "answerable_score": self.answerable_score,
            "rankers": {name: self.diagnosis(name).to_json() for name in self.ranks},
        }


@dataclass(frozen=True, slots=True)
class RetrievalReport:
    """One evaluation of retrieval.

    Attributes
    ----------
    dataset, level
        What was asked, and whether ``note`` or ``source`` was ranked.
    policy, model, version
        The policy's name, the embedding model, and graphmem's version.
    questions, with_gold, unanswerable
        Questions asked; those that count for recall; those without an answer.
    answerability_auroc
        How well the decision tells answerable from unanswerable; ``None`` when the data set
        has only one of them.
    rankers
        The policy first, then the references.
    comparisons
        The policy against each reference.
    results
        Question by question, in the data set's order.
    seconds
        Wall time; all else is the same in every run.
    """

    dataset: str
    level: str
    policy: str
    model: str
    version: str
    questions: int
    with_gold: int
    unanswerable: int
    answerability_auroc: float | None
    rankers: tuple[RankerResult, ...]
    comparisons: tuple[Comparison, ...]
    results: tuple[QuestionResult, ...]
    seconds: float

    @property
    def recall(self) -> Mapping[int, Recall]:
        """The policy's overall recall, by k."""
        return self.rankers[0].overall.recall

    @property
    def incomplete(self) -> tuple[str, ...]:
        """Ids of the questions whose first five hits hold something, but not everything."""
        return tuple(result.id for result in self.results if result.hides_incomplete(self.policy))

    def to_json(self) -> dict[str, Json]:
        """Return everything as JSON values."""
        policy, *references = self.rankers
        return {
            "dataset": self.dataset,
            "level": self.level,
            "policy": self.policy,
            "model": self.model,
            "version": self.version,
            "questions": self.questions,
            "with_gold": self.with_gold,
            "unanswerable": self.unanswerable,
            "answerability_auroc": self.answerability_auroc,
            "overall": policy.overall.to_json(),
            "by_category": {category.name: category.to_json() for category in policy.categories},
            "references": {reference.name: reference.to_json() for reference in references},
            "comparisons": [comparison.to_json() for comparison in self.comparisons],
            "incomplete_at_5": list(self.incomplete),
            "per_question": [result.to_json() for result in self.results],
            "seconds": self.seconds,
        }


def shown_rank(rank: int | None, first: int | None = None) -> int | str:
    """Return a rank as reports show it, with `first` cut after that one.

    A rank that is not known lies beyond what a policy is asked for.

    >>> shown_rank(4), shown_rank(14), shown_rank(None)
    (4, 14, '>20')
    >>> shown_rank(4, 10), shown_rank(14, 10), shown_rank(None, 10)
    (4, '>10', '>10')
    """
    if first is not None and (rank is None or rank > first):
        return f">{first}"
    return f">{CUTS[-1]}" if rank is None else rank
