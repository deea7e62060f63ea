"""Answerability without a language model: does memory hold the answer, and in which notes.

Logistic models of a few raw signals, each a line to explain. Nothing that is normalised
within a result enters, nor the words of the question as such, nor any link: similarity
proposes notes, it does not corroborate them.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from math import exp, inf, log, log1p

import numpy as np
from numpy.typing import NDArray

from graphmem.algorithms.candidate_table import Question
from graphmem.algorithms.evidence import EvidenceNote, decide_from_evidence_notes
from graphmem.algorithms.lexical import TermStatistics, term_coverage
from graphmem.algorithms.ownership import ownership
from graphmem.algorithms.relevance import Ranked
from graphmem.algorithms.text import tokens, words
from graphmem.errors import InvalidPolicy
from graphmem.model import Candidate, CandidateSet, EvidenceDecision, Outcome


@dataclass(frozen=True, slots=True)
class LogisticModel:
    """Log-odds as an intercept plus named, weighted signals."""

    intercept: float
    weights: Mapping[str, float]

    def log_odds(self, signals: Mapping[str, float]) -> float:
        """Return the log-odds for these signals; each weight needs its signal."""
        return self.intercept + sum(w * signals[name] for name, w in self.weights.items())


@dataclass(frozen=True, slots=True)
class EvidencePolicy:
    """Coefficients and thresholds of the decision, under one name.

    Attributes
    ----------
    name
        Cited where the policy is reported.
    named
        Whether memory answers a question that names exactly one known person.
    unnamed
        The same for every other question.
    note
        Whether one note supports an answer.
    prior
        Share of questions that memory can answer, in (0, 1); `named` and `unnamed` were
        fitted as if it were 0.5.
    retrieved, partial
        Least probability that memory answers, for either outcome.
    supports
        Least probability at which a note is cited; the best note is cited in any case.
    """

    name: str
    named: LogisticModel
    unnamed: LogisticModel
    note: LogisticModel
    prior: float = 0.5
    retrieved: float = 0.6
    partial: float = 0.45
    supports: float = 0.15

    def __post_init__(self) -> None:
        if not 0.0 < self.prior < 1.0:
            raise InvalidPolicy(f"prior: {self.prior} lies outside (0, 1)")
        if not 0.0 <= self.partial <= self.retrieved <= 1.0 or not 0.0 <= self.supports <= 1.0:
            raise InvalidPolicy("thresholds must lie in [0, 1], and partial below retrieved")


EVIDENCE_POLICY = EvidencePolicy(
    name="evidence-1",
    named=LogisticModel(-3.33, {"advantage": 9.08, "coverage": 2.97, "cosine": 4.74}),
    unnamed=LogisticModel(-5.94, {"coverage": 3.62, "cosine": 9.47}),
    note=LogisticModel(
        -8.0, {"coverage": 2.72, "ownership": 3.72, "speaker": 3.68, "log_rank": -0.84}
    ),
)
"""Fitted on the development conversations of LoCoMo (CC BY-NC 4.0), embedded with
all-MiniLM-L6-v2: answerable against adversarial questions and those of other conversations."""

JUDGED_NOTES = 10
"""How many notes at the head of a ranking are judged one by one."""

_STRONGEST = 24
_SHARPNESS = 8.0


@dataclass(frozen=True, slots=True, eq=False)
class AnswerSignals:
    """Raw signals of a whole candidate set, and the parts they came from.

    Attributes
    ----------
    person
        The one known person the question names, or ``None``.
    rival
        Who wrote the best match among the notes of others, when a person is named.
    advantage
        How much stronger the best matches are the person's own than anyone else's. With
        strength s (coverage plus cosine) and ownership o of the 24 strongest notes:
        ln(sum(exp(8 s o)) / sum(exp(8 s (1 - o)))) / 8, a soft difference of the best.
        Above 0 for the person, below for the others; 0 when nobody is named.
    coverage
        Highest idf-weighted share of the question in one note of the person, or of anyone,
        in [0, 1]. The person's own name does not count as asked.
    cosine
        Highest raw cosine of such a note, in [0, 1].
    unknown_words
        Words of the question that no note in scope has.
    of_notes
        Coverage, shape (n,), by candidate.
    """

    person: str | None
    rival: str | None
    advantage: float
    coverage: float
    cosine: float
    unknown_words: tuple[str, ...]
    of_notes: NDArray[np.float64]


def judge(
    question: Question,
    found: CandidateSet,
    ranking: Sequence[Ranked],
    *,
    allow_parametric: bool = False,
    policy: EvidencePolicy = EVIDENCE_POLICY,
) -> EvidenceDecision:
    """Decide whether the candidates hold the answer, and which notes support it.

    Parameters
    ----------
    question
        What is asked.
    found
        The authorised candidate set.
    ranking
        Its candidates, best first; the first :data:`JUDGED_NOTES` are judged.
    allow_parametric
        Whether an answer without evidence may be given.
    policy
        Coefficients and thresholds.

    Returns
    -------
    EvidenceDecision
        ``answerable`` is the probability that memory answers the question; ``evidence``
        cites note ids and content revisions with the probability of each note; the reason
        names what decided.
    """
    if not ranking:
        return decide_from_evidence_notes((), allow_parametric=allow_parametric)
    signals = measure_evidence(question, found)
    answerable = _probability(
        policy.named if signals.person else policy.unnamed,
        {
            "advantage": signals.advantage,
            "coverage": signals.coverage,
            "cosine": signals.cosine,
        },
        policy.prior,
    )
    notes = _judge_notes(signals, found, ranking, policy, answers=answerable >= policy.partial)
    decision = decide_from_evidence_notes(notes, allow_parametric=allow_parametric)
    decision = replace(decision, answerable=answerable)
    if decision.outcome is Outcome.RETRIEVED and answerable < policy.retrieved:
        decision = replace(decision, outcome=Outcome.PARTIAL)
    return replace(decision, reason=_explain(signals, decision))


def measure_evidence(question: Question, found: CandidateSet) -> AnswerSignals:
    """Measure the raw signals of a candidate set, which may not be empty."""
    candidates = found.candidates
    people = sorted({name for c in candidates if (name := _participant(c)) is not None})
    person = _named_person(question, people)
    name_terms = frozenset(tokens(person)) if person else frozenset()
    asked = [term for term in question.terms if term not in name_terms] or question.terms
    coverage = term_coverage(asked, [c.terms for c in candidates], TermStatistics.of(found))
    cosine = np.clip([c.cosine or 0.0 for c in candidates], 0.0, 1.0)
    own = np.array([person is None or c.note.author == person for c in candidates])
    strength = coverage + cosine
    others = np.where(own, -inf, strength)
    return AnswerSignals(
        person=person,
        rival=_participant(candidates[int(others.argmax())]) if person else None,
        advantage=_advantage(candidates, strength, person, people) if person else 0.0,
        coverage=float(coverage[own].max(initial=0.0)),
        cosine=float(cosine[own].max(initial=0.0)),
        unknown_words=_unknown_words(question.text, found),
        of_notes=coverage,
    )


def _participant(candidate: Candidate) -> str | None:
    note = candidate.note
    return None if note.role == "assistant" else note.author


def _named_person(question: Question, people: Sequence[str]) -> str | None:
    """Return the one person whose first name the question holds, if it is one."""
    asked = frozenset(question.terms)
    named = [name for name in people if (terms := tokens(name)) and terms[0] in asked]
    return named[0] if len(named) == 1 else None


def _advantage(
    candidates: Sequence[Candidate],
    strength: NDArray[np.float64],
    person: str,
    people: Sequence[str],
) -> float:
    strongest = np.argsort(-strength, kind="stable")[:_STRONGEST]
    notes = [candidates[index].note for index in strongest]
    owned = np.array([ownership(n.content, n.author, person, people) for n in notes])
    mine = np.exp(_SHARPNESS * strength[strongest] * owned).sum()
    theirs = np.exp(_SHARPNESS * strength[strongest] * (1.0 - owned)).sum()
    return float(np.log(mine / theirs) / _SHARPNESS)


def _unknown_words(text: str, found: CandidateSet) -> tuple[str, ...]:
    frequency = found.document_frequency
    unknown = (
        word
        for word in words(text)
        if (terms := tokens(word)) and all(frequency.get(term, 1) == 0 for term in terms)
    )
    return tuple(dict.fromkeys(unknown))


def _judge_notes(
    signals: AnswerSignals,
    found: CandidateSet,
    ranking: Sequence[Ranked],
    policy: EvidencePolicy,
    *,
    answers: bool,
) -> list[EvidenceNote]:
    place = {candidate.note.id: index for index, candidate in enumerate(found.candidates)}
    people = sorted({name for c in found.candidates if (name := _participant(c)) is not None})
    judged = [ranked.candidate for ranked in ranking[:JUDGED_NOTES]]
    probabilities = []
    for rank, candidate in enumerate(judged):
        note, person = candidate.note, signals.person
        measured = {
            "coverage": float(signals.of_notes[place[note.id]]),
            "ownership": ownership(note.content, note.author, person, people) if person else 0.5,
            "speaker": float(person is None or note.author == person),
            "log_rank": log1p(rank),
        }
        probabilities.append(_probability(policy.note, measured))
    cited = min(policy.supports, max(probabilities))
    return [
        EvidenceNote(
            candidate.note.id,
            relevant=probability >= cited,
            supports_answer=answers and probability >= cited,
            revision=candidate.note.content_revision,
            probability=probability,
        )
        for candidate, probability in zip(judged, probabilities, strict=True)
    ]


def _probability(model: LogisticModel, signals: Mapping[str, float], prior: float = 0.5) -> float:
    odds = model.log_odds(signals) + log(prior / (1.0 - prior))
    return 1.0 / (1.0 + exp(-odds)) if odds > 0 else exp(odds) / (1.0 + exp(odds))


def _explain(signals: AnswerSignals, decision: EvidenceDecision) -> str:
    """Say in words which signal spoke for or against an answer."""
    person = signals.person
    of_whom = f"one of {person}'s notes" if person else "one note"
    parts = []
    if decision.evidence:
        count = len(decision.evidence)
        parts.append(f"{count} note{'s support' if count > 1 else ' supports'} an answer")
        parts.append(f"{of_whom} holds {signals.coverage:.0%} of what is asked")
        if decision.outcome is Outcome.PARTIAL:
            parts.append(f"not certain enough ({decision.answerable:.2f})")
        return "; ".join(parts)
    if person and signals.advantage < 0:
        whose = f"are {signals.rival}'s" if signals.rival else "are about others"
        parts.append(f"the notes that match best {whose}, the question asks about {person}")
    if signals.unknown_words:
        parts.append(f"no note mentions {', '.join(map(repr, signals.unknown_words))}")
    if not parts:
        parts.append(f"not even {of_whom} holds more than {signals.coverage:.0%} of what is asked")
    if decision.outcome is Outcome.PARAMETRIC:
        parts.append("an answer from general knowledge is allowed")
    return "; ".join(parts)
