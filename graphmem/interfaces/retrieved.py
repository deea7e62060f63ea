"""What a retriever of another framework tells about a note beside its text."""

from __future__ import annotations

from graphmem.interfaces.json_view import as_json
from graphmem.model import EvidenceDecision, RankedNote

EXPLAINING = (
    "id",
    "score",
    "contributions",
    "signals",
    "path",
    "superseded_by",
    "decision",
    "note_metadata",
)
"""Keys that explain the retrieval; the others say where the note comes from."""


def retrieved_metadata(ranked: RankedNote, decision: EvidenceDecision) -> dict[str, object]:
    """Return the metadata of one retrieved note, as JSON values.

    ``contributions`` sum to ``score``, which orders one result; ``path`` says how the note
    came in; ``superseded_by`` names newer notes that say otherwise; ``decision`` says whether
    memory answers the question and, as ``supports``, the probability that this note does
    (``None`` when it was not judged).
    """
    note = ranked.note
    judged = {evidence.note_id: evidence.supports for evidence in decision.judged}
    return {
        "id": note.id,
        "author": note.author,
        "role": note.role,
        "created_at": as_json(note.created_at),
        "source": note.source.id if note.source else None,
        "position": note.source.position if note.source else None,
        "tags": list(note.tags),
        "score": ranked.score,
        "contributions": dict(ranked.contributions),
        "signals": dict(ranked.signals),
        "path": [str(step) for step in ranked.path],
        "superseded_by": [link.from_id for link in ranked.superseded_by],
        "decision": {
            "outcome": decision.outcome.value,
            "answerable": decision.answerable,
            "reason": decision.reason,
            "independent_sources": decision.independent_sources,
            "supports": judged.get(note.id),
        },
        "note_metadata": dict(note.metadata),
    }
