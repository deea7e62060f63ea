"""graphmem: the note network an AI agent remembers with.

>>> from graphmem import open_memory
>>> with open_memory(":memory:") as memory:  # doctest: +SKIP
...     memory.add("Ada prefers aisle seats", author="Ada")
...     memory.recall("which seat does Ada like?").notes[0].note.content
'Ada prefers aisle seats'

Names are imported when first used, so that ``import graphmem`` costs next to nothing.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from graphmem.algorithms.blending import SalienceWeights
    from graphmem.algorithms.contradiction import (
        find_disagreement,
    )
    from graphmem.algorithms.evidence import (
        EvidenceNote,
        decide_from_evidence_notes,
    )
    from graphmem.algorithms.evolution import (
        EvolutionPlan,
        plan_note_evolution,
    )
    from graphmem.algorithms.importance import (
        heat,
        importance_score,
        link_weight_decayed,
        link_weight_reinforced,
        ranked_importance,
        retention,
    )
    from graphmem.algorithms.provenance import (
        Action,
        Decision,
        Declaration,
        InputRevision,
        Receipt,
        plan_rebuild,
    )
    from graphmem.algorithms.salience import (
        MemorySignal,
        SalientMemory,
        WeightedSignal,
        rank_salient_memories,
        rank_weighted_memories,
    )
    from graphmem.errors import (
        ClosedMemory,
        ConfigurationError,
        Conflict,
        EmbeddingError,
        EmbeddingMismatch,
        GraphmemError,
        InvalidInput,
        InvalidNote,
        InvalidPolicy,
        InvalidQuery,
        LanguageModelError,
        MissingExtra,
        ModelUnavailable,
        NotAuthorised,
        NotFound,
        ReadOnlyStore,
        StoreCorrupt,
        StoreError,
        StoreUnavailable,
        TransferError,
        UnsupportedSchema,
    )
    from graphmem.memory import (
        Memory,
    )
    from graphmem.memory.deriving import (
        RebuildReport,
    )
    from graphmem.model import (
        AddReceipt,
        AddReport,
        CheckReport,
        Considered,
        Disagreement,
        DisagreementKind,
        EraseReceipt,
        EventKind,
        Evidence,
        EvidenceDecision,
        EvolutionEvent,
        Given,
        Link,
        LinkKind,
        ModelIdentity,
        Neighbour,
        Neighbourhood,
        Note,
        NoteInput,
        NoteRecord,
        NoteState,
        Outcome,
        RankedNote,
        RankedSource,
        RecallResult,
        Source,
        Stats,
        Step,
        StepKind,
    )
    from graphmem.opening import (
        Authorisation,
        open_memory,
    )
    from graphmem.policy import (
        CandidatePolicy,
        LinkPolicy,
        Policy,
        RelevancePolicy,
        SalienceRanking,
        WeightedRanking,
    )
    from graphmem.ports import (
        Embedder,
        LanguageModel,
        NoteStore,
    )

__version__ = "0.1.0"

_HOME = {
    "graphmem.algorithms.blending": ("SalienceWeights",),
    "graphmem.algorithms.contradiction": ("find_disagreement",),
    "graphmem.algorithms.evidence": (
        "EvidenceNote",
        "decide_from_evidence_notes",
    ),
    "graphmem.algorithms.evolution": (
        "EvolutionPlan",
        "plan_note_evolution",
    ),
    "graphmem.algorithms.importance": (
        "heat",
        "importance_score",
        "link_weight_decayed",
        "link_weight_reinforced",
        "ranked_importance",
        "retention",
    ),
    "graphmem.algorithms.provenance": (
        "Action",
        "Decision",
        "Declaration",
        "InputRevision",
        "Receipt",
        "plan_rebuild",
    ),
    "graphmem.algorithms.salience": (
        "MemorySignal",
        "SalientMemory",
        "WeightedSignal",
        "rank_salient_memories",
        "rank_weighted_memories",
    ),
    "graphmem.errors": (
        "ClosedMemory",
        "ConfigurationError",
        "Conflict",
        "EmbeddingError",
        "EmbeddingMismatch",
        "GraphmemError",
        "InvalidInput",
        "InvalidNote",
        "InvalidPolicy",
        "InvalidQuery",
        "LanguageModelError",
        "MissingExtra",
        "ModelUnavailable",
        "NotAuthorised",
        "NotFound",
        "ReadOnlyStore",
        "StoreCorrupt",
        "StoreError",
        "StoreUnavailable",
        "TransferError",
        "UnsupportedSchema",
    ),
    "graphmem.memory": ("Memory",),
    "graphmem.memory.deriving": ("RebuildReport",),
    "graphmem.model": (
        "AddReceipt",
        "AddReport",
        "CheckReport",
        "Considered",
        "Disagreement",
        "DisagreementKind",
        "EraseReceipt",
        "EventKind",
        "Evidence",
        "EvidenceDecision",
        "EvolutionEvent",
        "Given",
        "Link",
        "LinkKind",
        "ModelIdentity",
        "Neighbour",
        "Neighbourhood",
        "Note",
        "NoteInput",
        "NoteRecord",
        "NoteState",
        "Outcome",
        "RankedNote",
        "RankedSource",
        "RecallResult",
        "Source",
        "Stats",
        "Step",
        "StepKind",
    ),
    "graphmem.opening": (
        "Authorisation",
        "open_memory",
    ),
    "graphmem.policy": (
        "CandidatePolicy",
        "LinkPolicy",
        "Policy",
        "RelevancePolicy",
        "SalienceRanking",
        "WeightedRanking",
    ),
    "graphmem.ports": (
        "Embedder",
        "LanguageModel",
        "NoteStore",
    ),
}
_MODULE_OF = {name: module for module, names in _HOME.items() for name in names}

__all__ = [
    "Action",
    "AddReceipt",
    "AddReport",
    "Authorisation",
    "CandidatePolicy",
    "CheckReport",
    "ClosedMemory",
    "ConfigurationError",
    "Conflict",
    "Considered",
    "Decision",
    "Declaration",
    "Disagreement",
    "DisagreementKind",
    "Embedder",
    "EmbeddingError",
    "EmbeddingMismatch",
    "EraseReceipt",
    "EventKind",
    "Evidence",
    "EvidenceDecision",
    "EvidenceNote",
    "EvolutionEvent",
    "EvolutionPlan",
    "Given",
    "GraphmemError",
    "InputRevision",
    "InvalidInput",
    "InvalidNote",
    "InvalidPolicy",
    "InvalidQuery",
    "LanguageModel",
    "LanguageModelError",
    "Link",
    "LinkKind",
    "LinkPolicy",
    "Memory",
    "MemorySignal",
    "MissingExtra",
    "ModelIdentity",
    "ModelUnavailable",
    "Neighbour",
    "Neighbourhood",
    "NotAuthorised",
    "NotFound",
    "Note",
    "NoteInput",
    "NoteRecord",
    "NoteState",
    "NoteStore",
    "Outcome",
    "Policy",
    "RankedNote",
    "RankedSource",
    "ReadOnlyStore",
    "RebuildReport",
    "RecallResult",
    "Receipt",
    "RelevancePolicy",
    "SalienceRanking",
    "SalienceWeights",
    "SalientMemory",
    "Source",
    "Stats",
    "Step",
    "StepKind",
    "StoreCorrupt",
    "StoreError",
    "StoreUnavailable",
    "TransferError",
    "UnsupportedSchema",
    "WeightedRanking",
    "WeightedSignal",
    "__version__",
    "decide_from_evidence_notes",
    "find_disagreement",
    "heat",
    "importance_score",
    "link_weight_decayed",
    "link_weight_reinforced",
    "open_memory",
    "plan_note_evolution",
    "plan_rebuild",
    "rank_salient_memories",
    "rank_weighted_memories",
    "ranked_importance",
    "retention",
]


def __getattr__(name: str) -> object:
    if name not in _MODULE_OF:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    value: object = getattr(import_module(_MODULE_OF[name]), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted(__all__)
