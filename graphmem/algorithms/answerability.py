"""Answerability without a language model: does memory hold the answer, and in which notes.

Logistic models of a few raw signals, each a line to explain (:mod:`answer_signals`).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from math import exp, log, log1p

from graphmem.algorithms.answer_signals import AnswerSignals, measure_answer, participant
from graphmem.algorithms.diversity import term_overlap
from graphmem.algorithms.evidence import EvidenceNote, decide_from_evidence_notes
from graphmem.algorithms.ownership import ownership
from graphmem.algorithms.relevance import Ranked, Ranking
from graphmem.errors import InvalidPolicy
from graphmem.model import Candidate, Evidence, EvidenceDecision, Outcome


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
        Whether one note supports an answer; fitted on the notes as they come, most of
        which do not.
    prior
        Share of questions that memory can answer, in (0, 1). `named` and `unnamed` were
        fitted as if it were 0.5, which favours neither answer; who knows better how often
        memory is asked in vain sets it.
    identifier
        Added to the log-odds when the question names a number or code that no note has: it
        asks about a thing memory knows nothing of. Set by hand, as the development data
        hold too few such questions to fit it.
    retrieved, partial
        Least probability that memory answers, for either outcome. Balanced accuracy on the
        development data hardly changes between 0.36 and 0.48; `partial` stands at the
        careful end of that, since an invented answer costs more than a refusal.
    supports
        Least probability at which a note is cited; the best note is cited in any case.
        Well above the share of judged notes that support an answer in the development data
        (0.08), as a caller reads two or three cited notes, not ten.
    """

    name: str
    named: LogisticModel
    unnamed: LogisticModel
    note: LogisticModel
    prior: float = 0.5
    identifier: float = -6.0
    retrieved: float = 0.6
    partial: float = 0.45
    supports: float = 0.15

    def __post_init__(self) -> None:
        if not 0.0 < self.prior < 1.0:
            raise InvalidPolicy(f"prior: {self.prior} lies outside (0, 1)")
        if not 0.0 <= self.partial <= self.retrieved <= 1.0 or not 0.0 <= self.supports <= 1.0:
            raise InvalidPolicy("thresholds must lie in [0, 1], and partial below retrieved")


EVIDENCE_POLICY = EvidencePolicy(
    name="evidence-6",
    named=LogisticModel(-4.24, {"advantage": 8.25, "strength": 1.9, "lead": 1.78, "nearest": 4.79}),
    unnamed=LogisticModel(-6.48, {"strength": 4.8, "nearest": 7.37, "unknown": -1.05}),
    note=LogisticModel(
        -2.19,
        {"coverage": 1.4, "ownership": 0.54, "speaker": 1.14, "log_rank": -1.47, "answers": 0.58},
    ),
)
"""Fitted by ``python -m graphmem.evaluation.answerability_fitting`` on the development parts
of LoCoMo (CC BY-NC 4.0) and LongMemEval_S (MIT), embedded with all-MiniLM-L6-v2."""

JUDGED_NOTES = 10
"""How many notes at the head of a ranking are judged one by one."""

NEAR_DUPLICATE = 0.8
"""Jaccard similarity of terms from which on two notes say the same in the same words."""


def judge(
    ranking: Ranking,
    *,
    allow_parametric: bool = False,
    required: int = 1,
    policy: EvidencePolicy = EVIDENCE_POLICY,
) -> EvidenceDecision:
    """Decide whether the candidates hold the answer, and which notes support it.

    Parameters
    ----------
    ranking
        The authorised candidates in order; the first :data:`JUDGED_NOTES` are judged.
    allow_parametric
        Whether an answer without evidence may be given.
    required
        How many supporting notes an answer needs; fewer are PARTIAL.
    policy
        Coefficients and thresholds.

    Returns
    -------
    EvidenceDecision
        ``answerable`` is the probability that memory answers the question; ``evidence``
        cites note ids and content revisions with the probability of each note; the reason
        names what decided.
    """
    if not len(ranking):
        return decide_from_evidence_notes((), allow_parametric=allow_parametric, required=required)
    signals = measure_answer(ranking.table)
    answerable = answer_probability(policy, signals.values)
    judged = judge_notes(ranking, signals, answerable, policy)
    answers = outcome_of(policy, answerable) is not Outcome.UNKNOWN
    notes = _evidence_notes(judged, policy, answers=answers)
    decision = decide_from_evidence_notes(
        notes, allow_parametric=allow_parametric, required=required
    )
    if decision.outcome is Outcome.RETRIEVED:
        decision = replace(decision, outcome=outcome_of(policy, answerable))
    decision = replace(
        decision,
        answerable=answerable,
        evidence=_cited(decision, judged),
        independent_sources=_sources_behind(ranking, decision),
        judged=judged,
        signals=signals.values,
    )
    return replace(decision, reason=_explain(signals, decision, required))


def answer_probability(policy: EvidencePolicy, signals: Mapping[str, float]) -> float:
    """Return the probability that memory answers, at the policy's prior."""
    model = policy.named if signals["named"] else policy.unnamed
    odds = model.log_odds(signals) + log(policy.prior / (1.0 - policy.prior))
    if signals["unknown_identifiers"]:
        odds += policy.identifier
    return logistic(odds)


def outcome_of(policy: EvidencePolicy, answerable: float) -> Outcome:
    """Return what a probability means before the caller's own conditions come in."""
    if answerable >= policy.retrieved:
        return Outcome.RETRIEVED
    return Outcome.PARTIAL if answerable >= policy.partial else Outcome.UNKNOWN


def judge_notes(
    ranking: Ranking, signals: AnswerSignals, answerable: float, policy: EvidencePolicy
) -> tuple[Evidence, ...]:
    """Return the head of the ranking with the probability that each note supports an answer."""
    judged = []
    for rank, row in enumerate(ranking.order[:JUDGED_NOTES].tolist()):
        candidate = ranking.table.candidates[row]
        measured = {
            "coverage": float(signals.of_notes[row]),
            **_whose(candidate, signals),
            "log_rank": log1p(rank),
            "answers": log(max(answerable, 1e-9)),
        }
        note = candidate.note
        supports = logistic(policy.note.log_odds(measured))
        judged.append(Evidence(note.id, note.content_revision, supports, measured))
    return tuple(judged)


def _whose(candidate: Candidate, signals: AnswerSignals) -> dict[str, float]:
    person, note = signals.person, candidate.note
    if person is None:
        return {"ownership": 0.5, "speaker": 1.0}
    return {
        "ownership": ownership(note.content, note.author, person, signals.people),
        "speaker": float(participant(candidate) == person),
    }


def _evidence_notes(
    judged: Sequence[Evidence], policy: EvidencePolicy, *, answers: bool
) -> list[EvidenceNote]:
    cited = min(policy.supports, max(note.supports for note in judged))
    return [
        EvidenceNote(
            note.note_id,
            relevant=note.supports >= cited,
            supports_answer=answers and note.supports >= cited,
            revision=note.revision,
            probability=note.supports,
        )
        for note in judged
    ]


def _cited(decision: EvidenceDecision, judged: Sequence[Evidence]) -> tuple[Evidence, ...]:
    """Return the notes the decision cites with the signals behind them."""
    by_id = {note.note_id: note for note in judged}
    return tuple(by_id[cited.note_id] for cited in decision.evidence)


def _sources_behind(ranking: Ranking, decision: EvidenceDecision) -> int:
    cited = [note.note_id for note in decision.evidence]
    if not cited:
        return 0
    heads = {ranked.candidate.note.id: ranked for ranked in ranking.best(JUDGED_NOTES)}
    return independent_sources([heads[note_id] for note_id in cited])


def independent_sources(notes: Sequence[Ranked]) -> int:
    """Return how many sources notes come from once near duplicates are taken out.

    A note without a source is its own. Of near duplicates (a Jaccard similarity of terms of
    at least :data:`NEAR_DUPLICATE`) only the first counts. Links count for nothing.
    """
    similarity = term_overlap([ranked.candidate.terms for ranked in notes])
    kept: list[int] = []
    for row in range(len(notes)):
        if all(similarity[row, other] < NEAR_DUPLICATE for other in kept):
            kept.append(row)
    sources = set()
    for row in kept:
        note = notes[row].candidate.note
        sources.add(("note", note.id) if note.source is None else ("source", note.source.id))
    return len(sources)


def logistic(log_odds: float) -> float:
    """Return the probability of log-odds, in [0, 1], without overflow.

    >>> logistic(0.0), logistic(-1000.0), logistic(1000.0)
    (0.5, 0.0, 1.0)
    """
    if log_odds > 0:
        return 1.0 / (1.0 + exp(-log_odds))
    return exp(log_odds) / (1.0 + exp(log_odds))


_MANY = 3
"""How many words a reason names at most."""


def _explain(signals: AnswerSignals, decision: EvidenceDecision, required: int) -> str:
    """Say in words which signal spoke for or against an answer."""
    if decision.evidence:
        return "; ".join(_speaking_for(signals, decision, required))
    parts = _speaking_against(signals)
    if decision.outcome is Outcome.PARAMETRIC:
        parts.append("an answer from general knowledge is allowed")
    return "; ".join(parts)


def _speaking_for(signals: AnswerSignals, decision: EvidenceDecision, required: int) -> list[str]:
    count, sources = len(decision.evidence), decision.independent_sources
    parts = ["1 note supports an answer" if count == 1 else f"{count} notes support an answer"]
    if count > 1:
        parts[0] += f", from {sources} independent source{'s' if sources > 1 else ''}"
    parts.append(f"{_of_whom(signals)} holds {signals.coverage:.0%} of what is asked")
    if decision.outcome is Outcome.PARTIAL:
        few = count < required
        parts.append(
            f"{required} are needed" if few else f"not certain enough ({decision.answerable:.2f})"
        )
    return parts


def _speaking_against(signals: AnswerSignals) -> list[str]:
    parts = []
    if signals.person and signals.advantage < 0:
        about = _quoted(signals.rival_words)
        best = f"the best note about {about}" if about else "the note that matches best"
        whose = f"is {signals.rival}'s" if signals.rival else "is about others"
        parts.append(f"{best} {whose}, the question asks about {signals.person}")
    if signals.unknown_words:
        first = dict.fromkeys((*signals.unknown_identifiers, *signals.unknown_words))
        parts.append(f"no note mentions {_quoted(tuple(first))}")
    if not parts:
        parts.append(
            f"not even {_of_whom(signals)} holds more than {signals.coverage:.0%} of what is asked"
        )
    return parts


def _of_whom(signals: AnswerSignals) -> str:
    return f"one of {signals.person}'s notes" if signals.person else "one note"


def _quoted(words: Sequence[str]) -> str:
    shown = ", ".join(map(repr, words[:_MANY]))
    return f"{shown} and {len(words) - _MANY} more" if len(words) > _MANY else shown
