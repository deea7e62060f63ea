"""A second opinion on the evidence: judgments of single notes set against the classifier's."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace

from graphmem.algorithms.evidence import EvidenceNote, decide_from_evidence_notes
from graphmem.errors import InvalidInput
from graphmem.model import EvidenceDecision, Outcome

_ANSWERS = (Outcome.RETRIEVED, Outcome.PARTIAL)


@dataclass(frozen=True, slots=True)
class Opinion:
    """What another judge says of one note: is it about the question, does it support an answer."""

    relevant: bool
    supports: bool


def weigh_opinions(
    decision: EvidenceDecision,
    opinions: Mapping[str, Opinion],
    *,
    judge: str,
    allow_parametric: bool = False,
    required: int = 1,
) -> EvidenceDecision:
    """Set the opinions of another judge against a decision.

    Where both find support, the notes the judge confirms are cited. Where neither does,
    the decision stands. Where they disagree, the outcome is PARTIAL and the notes of both
    are cited. ``answerable`` stays the classifier's: its calibration is measured, the
    judge's is not. A note without an opinion keeps the classifier's judgment.

    Parameters
    ----------
    decision
        The classifier's, with its judged notes.
    opinions
        By note id; only judged notes may be named.
    judge
        Who gave them, for the reason.
    allow_parametric, required
        As in :func:`~graphmem.algorithms.evidence.decide_from_evidence_notes`.

    Raises
    ------
    InvalidInput
        An opinion names a note that was not judged, or supports without being relevant.
    """
    judged = {note.note_id: note for note in decision.judged}
    if unknown := sorted(opinions.keys() - judged.keys()):
        raise InvalidInput(f"note {unknown[0]!r} was not judged, so nobody can second it")
    cited = {note.note_id for note in decision.evidence}
    if not opinions:
        return _said(decision, f"{judge} gave no usable judgment")
    second = decide_from_evidence_notes(
        [
            EvidenceNote(
                note.note_id,
                relevant=opinion.relevant if opinion else note.note_id in cited,
                supports_answer=opinion.supports if opinion else note.note_id in cited,
                revision=note.revision,
                probability=note.supports,
            )
            for note in decision.judged
            for opinion in [opinions.get(note.note_id)]
        ],
        allow_parametric=allow_parametric,
        required=required,
    )
    confirmed = {note.note_id for note in second.evidence}
    first_answers, second_answers = decision.outcome in _ANSWERS, second.outcome in _ANSWERS
    if not first_answers and not second_answers:
        return _said(decision, f"{judge} finds no support either")
    if first_answers and second_answers:
        evidence = tuple(judged[note.note_id] for note in second.evidence)
        agreed = replace(decision, outcome=second.outcome, evidence=evidence)
        return _said(agreed, f"{judge} confirms {len(confirmed)} of {len(judged)} notes")
    both = tuple(note for note in decision.judged if note.note_id in cited | confirmed)
    doubtful = replace(decision, outcome=Outcome.PARTIAL, evidence=both)
    if first_answers:
        return _said(doubtful, f"{judge} finds no support")
    return _said(doubtful, f"{judge} finds support in {len(confirmed)} of {len(judged)} notes")


def _said(decision: EvidenceDecision, words: str) -> EvidenceDecision:
    return replace(decision, reason=f"{decision.reason}; {words}")
