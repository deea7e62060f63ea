"""How much a note matters: at write time, as ranked, and over time.

Sources: write-time importance from Zeph's proposal; heat from MemoryOS (arXiv 2506.06326);
retention after Ebbinghaus' forgetting curve as in MemoryBank (arXiv 2305.10250).
"""

from __future__ import annotations

import math
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import lru_cache

from graphmem.errors import InvalidInput, InvalidPolicy

MARKERS = ("remember:", "important:", "always:", "never forget:", "key point:", "critical:")
"""Starts of a text or line that mark it as important."""

STANDING_PHRASES = (
    "prefer", "prefers", "preferred", "preference", "favorite", "favourite", "always", "never",
    "every time", "from now on", "don't ever", "do not ever", "make sure", "must not", "can't eat",
    "cannot eat", "can't stand", "allergic to", "allergy to", "intolerant to", "hate", "hates",
    "dislike", "dislikes", "loves", "i love", "vegetarian", "vegan", "please call me",
    "my name is", "my birthday", "deadline",
)  # fmt: skip
"""Phrases of preferences and standing instructions."""

MARKER_REACH = 500
"""Only what begins within this many characters counts as marked."""

ROLE_WEIGHTS: Mapping[str, float] = {"user": 0.7, "assistant": 0.4}
"""Weight of the speaker's role; any other role counts 0.5."""

_OTHER_ROLE = 0.5
_RECALL_STEP = 0.1
_FEEDBACK_STEP = 0.3
_REINFORCEMENT = 0.2


@dataclass(frozen=True, slots=True)
class ImportanceRules:
    """What the marker part of :func:`importance_score` recognises.

    Parameters
    ----------
    markers
        Starts of the text or of a line that count as marker 1, case-insensitively.
    standing_phrases
        Phrases that, as whole words, count as marker `standing_strength`: preferences and
        standing instructions. Without any, the formula is Zeph's exactly.
    standing_strength
        Strength of a standing phrase in [0, 1].
    role_weights
        Weight of each role in [0, 1]; roles not named count 0.5.
    """

    markers: tuple[str, ...] = MARKERS
    standing_phrases: tuple[str, ...] = STANDING_PHRASES
    standing_strength: float = 0.5
    role_weights: Mapping[str, float] = field(default_factory=lambda: dict(ROLE_WEIGHTS))

    def __post_init__(self) -> None:
        for value in (self.standing_strength, *self.role_weights.values()):
            if not 0.0 <= value <= 1.0:
                raise InvalidPolicy(f"importance: a strength must be in [0, 1], not {value!r}")
        if not all(phrase.strip() for phrase in (*self.markers, *self.standing_phrases)):
            raise InvalidPolicy("importance: a marker or phrase must not be blank")


DEFAULT_RULES = ImportanceRules()


def importance_score(
    content: str,
    *,
    role: str = "user",
    feedback: int = 0,
    rules: ImportanceRules = DEFAULT_RULES,
) -> float:
    """Return the importance of a text at write time, in [0, 1].

    ``clamp(0.50 * marker + 0.30 * density + 0.20 * role, 0, 1)`` (Zeph), where marker is
    described at :class:`ImportanceRules`, ``density = x / (1 + x)`` with ``x =
    characters / 300``, and role is 0.7 for a user, 0.4 for an assistant, else 0.5.
    `feedback` then moves it as in :func:`ranked_importance`; 0 leaves the formula exact.

    Examples
    --------
    >>> importance_score("x" * 300)  # 0.30 * 0.5 + 0.20 * 0.7
    0.29
    >>> round(importance_score("Remember: " + "x" * 290, role="assistant"), 3)
    0.73
    >>> importance_score("Ada prefers tea") > importance_score("Ada ordered tea")
    True
    """
    characters = len(content) / 300
    density = characters / (1 + characters)
    marker = _marker(content, rules)
    speaker = rules.role_weights.get(role, _OTHER_ROLE)
    score = 0.50 * marker + 0.30 * density + 0.20 * speaker
    return ranked_importance(min(max(score, 0.0), 1.0), 0, feedback)


def ranked_importance(importance: float, recall_count: int = 0, feedback: int = 0) -> float:
    """Return the importance a note is ranked with, in [0, 1].

    ``importance + (1 - importance) * u`` with ``u = x / (1 + x)`` and ``x = 0.1 *
    ln(1 + recall_count) + 0.3 * ln(1 + feedback)``; negative feedback divides the result
    by ``1 + 0.3 * ln(1 - feedback)`` instead. It grows with each argument, never leaves
    [0, 1], and equals the stored importance while a note was neither recalled nor rated.

    Raises
    ------
    InvalidInput
        `importance` outside [0, 1] or a negative `recall_count`.

    Examples
    --------
    >>> ranked_importance(0.5)
    0.5
    >>> [round(ranked_importance(0.5, count), 3) for count in (1, 10, 100)]
    [0.532, 0.597, 0.658]
    >>> [round(ranked_importance(0.5, feedback=sign), 3) for sign in (1, -1)]
    [0.586, 0.414]
    """
    if not 0.0 <= importance <= 1.0:
        raise InvalidInput(f"importance must be in [0, 1], not {importance!r}")
    if recall_count < 0:
        raise InvalidInput(f"recall_count must not be negative, not {recall_count!r}")
    if not recall_count and not feedback:
        return importance
    lift = _RECALL_STEP * math.log1p(recall_count) + _FEEDBACK_STEP * math.log1p(max(feedback, 0))
    raised = importance + (1.0 - importance) * lift / (1.0 + lift)
    return min(raised, 1.0) / (1.0 + _FEEDBACK_STEP * math.log1p(max(-feedback, 0)))


def link_weight_reinforced(confidence: float, retrievals: int, relevance: float = 1.0) -> float:
    """Return a link's weight after use: ``min(1, c * (1 + 0.2 * r * ln(1 + n)))`` (Zeph).

    Parameters
    ----------
    confidence
        Weight before use, in [0, 1].
    retrievals
        How often the link lay on the path of a returned note.
    relevance
        In [0, 1]; scales the gain, so that links of stale notes do not become immortal.

    Examples
    --------
    >>> link_weight_reinforced(0.75, 0)
    0.75
    >>> round(link_weight_reinforced(0.75, 3), 4), link_weight_reinforced(0.9, 10_000)
    (0.9579, 1.0)
    >>> link_weight_reinforced(0.75, 100, relevance=0.0)
    0.75
    """
    _check_range("confidence", confidence, 1.0)
    _check_range("relevance", relevance, 1.0)
    _check_range("retrievals", retrievals)
    gain = _REINFORCEMENT * relevance * math.log1p(retrievals)
    return min(1.0, confidence * (1.0 + gain))


def link_weight_decayed(weight: float, days: float, *, rate: float = 0.95) -> float:
    """Return a link's weight after `days` without retrieval: ``weight * rate ** days``.

    Examples
    --------
    >>> round(link_weight_decayed(0.8, 1), 3), round(link_weight_decayed(0.8, 0.5), 4)
    (0.76, 0.7797)
    """
    _check_range("weight", weight, 1.0)
    _check_range("days", days)
    _check_range("rate", rate, 1.0)
    return float(weight * rate**days)


def heat(
    recall_count: int,
    interactions: int,
    hours_since_access: float,
    *,
    alpha: float = 0.3,
    beta: float = 0.2,
    gamma: float = 0.5,
    mu: float = 24.0,
) -> float:
    """Return how hot a note is: ``a ln(1+visits) + b ln(1+interactions) + g exp(-dt/mu)``.

    MemoryOS (arXiv 2506.06326, eq. 4) with its two counts log-damped, so that heat stays
    comparable with values in [0, 1].

    Parameters
    ----------
    recall_count, interactions
        Visits, and further interactions such as revisions and feedback; at least 0.
    hours_since_access
        dt, at least 0.
    alpha, beta, gamma
        Weights.
    mu
        Time constant in hours.

    Examples
    --------
    >>> heat(0, 0, 0.0), round(heat(10, 0, 24.0), 3)
    (0.5, 0.903)
    """
    for name, count in (("recall_count", recall_count), ("interactions", interactions)):
        _check_range(name, count)
    _check_range("hours_since_access", hours_since_access)
    if not mu > 0.0:
        raise InvalidInput(f"mu must be positive, not {mu!r}")
    recency = math.exp(-hours_since_access / mu)
    return alpha * math.log1p(recall_count) + beta * math.log1p(interactions) + gamma * recency


def retention(
    seconds_since_access: float, recall_count: int, *, stability: float = 86_400
) -> float:
    """Return how much of a note is retained, in [0, 1]: ``exp(-t / (S * (1 + ln(1+n))))``.

    Ebbinghaus' forgetting curve as in MemoryBank (arXiv 2305.10250): each recall makes the
    memory more stable.

    Examples
    --------
    >>> round(retention(86_400, 0), 3), round(retention(86_400, 10), 3)
    (0.368, 0.745)
    """
    _check_range("seconds_since_access", seconds_since_access)
    _check_range("recall_count", recall_count)
    if not stability > 0.0:
        raise InvalidInput(f"stability must be positive, not {stability!r}")
    return math.exp(-seconds_since_access / (stability * (1.0 + math.log1p(recall_count))))


def _check_range(name: str, value: float, highest: float = math.inf) -> None:
    if not (math.isfinite(value) and 0.0 <= value <= highest):
        wanted = f"in [0, {highest:g}]" if math.isfinite(highest) else "finite and at least 0"
        raise InvalidInput(f"{name} must be {wanted}, not {value!r}")


def _marker(content: str, rules: ImportanceRules) -> float:
    if rules.markers:
        found = _line_start_pattern(rules.markers).search(content)
        if found is not None and found.start() < MARKER_REACH:
            return 1.0
    if rules.standing_phrases and rules.standing_strength > 0.0:
        head = content[:MARKER_REACH].replace("\u2019", "'")
        if _may_hold(head, rules.standing_phrases) and _phrase_pattern(
            rules.standing_phrases
        ).search(head):
            return rules.standing_strength
    return 0.0


def _may_hold(text: str, phrases: tuple[str, ...]) -> bool:
    """Whether a phrase may occur: a quick look that spares most texts the slow pattern."""
    if not text.isascii():
        return True  # letters such as the Kelvin sign match without being equal in lower case
    lowered = text.lower()
    return any(phrase in lowered for phrase in _lowered(phrases))


@lru_cache(maxsize=32)
def _lowered(phrases: tuple[str, ...]) -> tuple[str, ...]:
    return tuple(phrase.lower() for phrase in phrases)


@lru_cache(maxsize=32)
def _line_start_pattern(markers: tuple[str, ...]) -> re.Pattern[str]:
    choices = "|".join(map(re.escape, markers))
    return re.compile(rf"^[^\S\n]*(?:{choices})", re.IGNORECASE | re.MULTILINE)


@lru_cache(maxsize=32)
def _phrase_pattern(phrases: tuple[str, ...]) -> re.Pattern[str]:
    choices = "|".join(map(re.escape, phrases))
    return re.compile(rf"(?<!\w)(?:{choices})(?!\w)", re.IGNORECASE)
