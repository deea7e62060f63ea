"""Thresholds and weights as frozen, validated, named values.

A policy says how notes are linked, which candidates a recall ranks and how. Three are
built in: ``graphmem-1`` (the default), ``mission`` (recency .15, importance .15, plain BM25
relevance .70) and ``weighted`` (a plain weighted sum, importance inside the score).
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Annotated, Literal, TypeAlias

from pydantic import BaseModel, ConfigDict, Field, ValidationError, model_validator

from graphmem.errors import InvalidPolicy

Unit: TypeAlias = Annotated[float, Field(ge=0.0, le=1.0, allow_inf_nan=False)]
Weight: TypeAlias = Annotated[float, Field(ge=0.0, allow_inf_nan=False)]
Count: TypeAlias = Annotated[int, Field(ge=0, strict=True)]
Limit: TypeAlias = Annotated[int, Field(ge=1, strict=True)]
SignalWeights: TypeAlias = Mapping[str, Annotated[float, Field(allow_inf_nan=False)]]


class PolicyValue(BaseModel):
    """A frozen group of settings; a value out of range raises ``InvalidPolicy``."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    if not TYPE_CHECKING:  # keeps the typed constructor that pydantic declares

        def __init__(self, **values: object) -> None:
            try:
                super().__init__(**values)
            except ValidationError as error:
                first = error.errors()[0]
                where = ".".join(str(part) for part in first["loc"]) or type(self).__name__
                raise InvalidPolicy(f"{type(self).__name__}: {where}: {first['msg']}") from error


class LinkPolicy(PolicyValue):
    """How notes are linked and evolve; similarities are raw cosine clipped to [0, 1].

    Parameters
    ----------
    link_threshold, evolution_threshold
        A candidate at or above the first is linked, at or above the second also evolves.
    limit
        How many of the most similar candidates are looked at, before the thresholds.
    evolve
        Whether near-identical notes evolve at all.
    supersede
        Whether linked notes are compared for what the newer one says otherwise.
    max_keywords, max_tags
        Bounds on the united metadata of an evolved note.
    """

    link_threshold: Unit = 0.72
    evolution_threshold: Unit = 0.91
    limit: Limit = 10
    evolve: bool = True
    supersede: bool = True
    max_keywords: Limit = 16
    max_tags: Limit = 12

    @model_validator(mode="after")
    def _ordered(self) -> LinkPolicy:
        if self.link_threshold > self.evolution_threshold:
            raise ValueError("link_threshold must not exceed evolution_threshold")
        return self


class CandidatePolicy(PolicyValue):
    """Which notes a recall ranks; see ``NoteStore.candidates`` for each limit."""

    vector_seeds: Count = 100
    lexical_seeds: Count = 100
    expand: Count = 15
    hops: Annotated[int, Field(ge=0, le=3, strict=True)] = 1
    fanout: Count = 8
    min_weight: Unit = 0.0
    window: Annotated[int, Field(ge=0, le=10, strict=True)] = 2
    source_notes: Count = 4


class SalienceRanking(PolicyValue):
    """Min-max normalised recency, importance and relevance; Generative Agents (2304.03442)."""

    kind: Literal["salience"] = "salience"
    recency: Weight = 0.15
    importance: Weight = 0.15
    relevance: Weight = 0.70
    recency_decay: Annotated[float, Field(gt=0.0, le=1.0)] = 0.995


class WeightedRanking(PolicyValue):
    """final = alpha*vector + beta*keyword + gamma*importance + decay term; no min-max."""

    kind: Literal["weighted"] = "weighted"
    alpha: Weight = 0.7
    beta: Weight = 0.3
    gamma: Weight = 0.15
    decay_weight: Weight = 0.05
    decay: Annotated[float, Field(gt=0.0, le=1.0)] = 0.995


class RelevancePolicy(PolicyValue):
    """Relevance as a weighted sum of named signals (see ``algorithms.signals``).

    Weights may be negative: a signal can speak against a note. Names are checked where
    the signals are defined.

    Parameters
    ----------
    weights
        Weights for ranking notes.
    source_weights
        Weights for ranking sources, each by the best of its candidates; without any, a
        source ranks by the score of its best note.
    source_breadth
        How much of its second best candidate, as far as that stands above the median of all
        candidates, a source adds; only with `source_weights`.
    """

    weights: SignalWeights
    source_weights: SignalWeights | None = None
    source_breadth: Weight = 0.0


class Policy(PolicyValue):
    """Everything a memory decides by, under one name that results cite.

    Parameters
    ----------
    diversity
        Re-orders the head of a ranking by maximal marginal relevance with this trade-off, 1
        keeping its order; ``None``, the default, leaves it alone: questions that need
        several pieces of evidence lose more by it than they gain.
    naive_times
        Whether a time without zone is refused or read as UTC.
    """

    name: Annotated[str, Field(min_length=1)]
    links: LinkPolicy = LinkPolicy()
    candidates: CandidatePolicy = CandidatePolicy()
    relevance: RelevancePolicy
    ranking: Annotated[SalienceRanking | WeightedRanking, Field(discriminator="kind")] = (
        SalienceRanking()
    )
    diversity: Unit | None = None
    naive_times: Literal["refuse", "utc"] = "refuse"


DEFAULT_POLICY = Policy(
    name="graphmem-1",
    # Fitted by ``python -m graphmem.evaluation.fitting`` on the development parts of LoCoMo
    # (CC BY-NC 4.0) and LongMemEval_S (MIT), each counting the same, embedded with
    # all-MiniLM-L6-v2; magnitudes sum to 1.
    relevance=RelevancePolicy(
        weights={
            "lexical": 0.036,
            "closest": 0.177,
            "author": 0.116,
            "role": 0.100,
            "statement": 0.014,
            "told": 0.016,
            "density": 0.077,
            "time": 0.117,
            "dated": 0.059,
            "beside": 0.039,
            "beside_two": 0.050,
            "exchange": 0.150,
            "source": 0.050,
        },
        source_weights={
            "lexical": 0.034,
            "closest": 0.329,
            "author": 0.110,
            "role": -0.003,
            "density": 0.032,
            "time": 0.153,
            "dated": 0.045,
            "beside_two": 0.105,
            "rarest": 0.109,
            "source": 0.079,
        },
        source_breadth=0.3,
    ),
    ranking=SalienceRanking(recency=0.05, importance=0.05, relevance=0.90),
)
MISSION_POLICY = Policy(name="mission", relevance=RelevancePolicy(weights={"lexical": 1.0}))
WEIGHTED_POLICY = Policy(
    name="weighted",
    relevance=RelevancePolicy(weights={"vector": 0.7, "lexical": 0.3}),
    ranking=WeightedRanking(),
)

POLICIES: Mapping[str, Policy] = {
    policy.name: policy for policy in (DEFAULT_POLICY, MISSION_POLICY, WEIGHTED_POLICY)
}


def resolve_policy(choice: Policy | str | None) -> Policy:
    """Return the policy of that name, the policy itself, or the default for ``None``.

    Raises
    ------
    InvalidPolicy
        No policy has that name; the message lists those that exist.
    """
    if choice is None:
        return DEFAULT_POLICY
    if isinstance(choice, Policy):
        return choice
    if choice in list(POLICIES):  # compared, not hashed: it may be of any type
        return POLICIES[choice]
    known = ", ".join(sorted(POLICIES))
    raise InvalidPolicy(f"no policy {choice!r}; known: {known}, or pass a Policy")
