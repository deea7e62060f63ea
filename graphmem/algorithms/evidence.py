"""The evidence decision: whether what was retrieved answers the question."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from graphmem.errors import InvalidInput
from graphmem.model import Evidence, EvidenceDecision, Outcome


@dataclass(frozen=True, slots=True)
class EvidenceNote:
    """The judgment on one retrieved note.

    Attributes
    ----------
    document_id
        Identifier of the note, unique within a decision.
    relevant
        Whether the note is about what is asked.
    supports_answer
        Whether it supports an answer; only a relevant note can.
    revision
        The content revision that was judged, from 1.
    probability
        Probability in [0, 1] that it supports an answer; ``None`` takes the judgment as
        certain.
    """

    document_id: str
    relevant: bool
    supports_answer: bool
    revision: int = 1
    probability: float | None = None

    @property
    def certainty(self) -> float:
        """The probability of support, or 1 or 0 as it was judged."""
        return float(self.supports_answer) if self.probability is None else self.probability


def decide_from_evidence_notes(
    notes: Iterable[EvidenceNote],
    *,
    allow_parametric: bool = False,
    required: int = 1,
) -> EvidenceDecision:
    """Decide from judgments whether the retrieved notes answer the question.

    `required` or more supporting notes: RETRIEVED. Some, but fewer: PARTIAL. None:
    PARAMETRIC when the caller allows an answer from the language model's own knowledge,
    else UNKNOWN.

    Parameters
    ----------
    notes
        The judgments, each note once.
    allow_parametric
        Whether an answer without evidence may be given.
    required
        How many supporting notes the answer needs.

    Returns
    -------
    EvidenceDecision
        Cites the supporting notes with their revisions, the most certain first, ties by
        id. ``answerable`` is the highest probability of support of any note.

    Raises
    ------
    InvalidInput
        An id is empty or given twice, a note supports without being relevant, a
        probability lies outside [0, 1], or `required` or a revision is below 1.

    References
    ----------
    Yu et al., "Chain-of-Note: Enhancing Robustness in Retrieval-Augmented Language
    Models", 2023, arXiv:2311.09210.

    Examples
    --------
    >>> decision = decide_from_evidence_notes([
    ...     EvidenceNote("n1", relevant=True, supports_answer=True, revision=2),
    ...     EvidenceNote("n2", relevant=True, supports_answer=False),
    ... ])
    >>> str(decision.outcome), [(cited.note_id, cited.revision) for cited in decision.evidence]
    ('retrieved', [('n1', 2)])
    >>> str(decide_from_evidence_notes([]).outcome)
    'unknown'
    """
    judged = tuple(notes)
    _require_consistent(judged, required)
    supporting = sorted(
        (note for note in judged if note.supports_answer),
        key=lambda note: (-note.certainty, note.document_id),
    )
    if len(supporting) >= required:
        outcome = Outcome.RETRIEVED
    elif supporting:
        outcome = Outcome.PARTIAL
    else:
        outcome = Outcome.PARAMETRIC if allow_parametric else Outcome.UNKNOWN
    return EvidenceDecision(
        outcome=outcome,
        answerable=max((note.certainty for note in judged), default=0.0),
        evidence=tuple(
            Evidence(note.document_id, note.revision, note.certainty) for note in supporting
        ),
        reason=_reason(judged, len(supporting), required, outcome),
    )


def _require_consistent(notes: Sequence[EvidenceNote], required: int) -> None:
    if required < 1:
        raise InvalidInput(f"required: {required} is below 1")
    seen: set[str] = set()
    for note in notes:
        if not note.document_id:
            raise InvalidInput("document_id: an id is empty")
        if note.document_id in seen:
            raise InvalidInput(f"document_id: {note.document_id!r} is judged twice")
        seen.add(note.document_id)
        if note.supports_answer and not note.relevant:
            raise InvalidInput(
                f"supports_answer: note {note.document_id!r} cannot support an answer without "
                "being relevant"
            )
        if note.revision < 1:
            raise InvalidInput(f"revision: {note.revision} of {note.document_id!r} is below 1")
        if note.probability is not None and not 0.0 <= note.probability <= 1.0:
            raise InvalidInput(
                f"probability: {note.probability} of {note.document_id!r} lies outside [0, 1]"
            )


def _reason(notes: Sequence[EvidenceNote], supporting: int, required: int, outcome: Outcome) -> str:
    relevant = sum(note.relevant for note in notes)
    if not notes:
        found = "no note was retrieved"
    elif not relevant:
        found = f"none of {len(notes)} retrieved notes is relevant"
    elif not supporting:
        found = f"no note supports an answer, though {relevant} of {len(notes)} are relevant"
    else:
        found = f"{supporting} of {len(notes)} retrieved notes support an answer"
    if outcome is Outcome.PARTIAL:
        return f"{found}, where {required} are needed"
    if outcome is Outcome.PARAMETRIC:
        return f"{found}; an answer from general knowledge is allowed"
    return found
