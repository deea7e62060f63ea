"""When a newer note of the same person changes what an older one said.

A link tells that two notes are about the same thing. Whether the newer *replaces* the older
is another question, and most differences do not answer it: a run of 5 km and one of 7 km
are two runs. So only lasting claims are compared (a flight's hour, a favourite tea, what
somebody does not eat), and only when two clauses say the same but for one value, or the
newer one itself says that something changed ("now", "no longer").
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from itertools import product

from graphmem.algorithms.claims import NAMED_BY, PREFERENCES, STATES, Claim, claims_of
from graphmem.algorithms.text import STOP_WORDS, tokens
from graphmem.model import Disagreement, DisagreementKind, Link, Note, supersedes

MAX_VALUE_WORDS = 4
"""A value is this short; a longer difference is another statement."""

LIFTED_WORDS = 8
"""In a clause of up to so many words, "fish is fine now" is about fish."""

_WEEKDAY = re.compile(r"(?:mon|tues|wednes|thurs|fri|satur|sun)days?")
_MONTH = re.compile(
    r"january|february|march|april|may|june|july|august|september|october|november|december"
)
_CLOCK = re.compile(r"\d{1,2}(?:[:.]\d\d)?(?:am|pm)|\d{1,2}:\d\d|noon|midnight")
_NUMBER = re.compile(
    r"[£$€]?\d[\d.,]*(?:st|nd|rd|th|%|k|km|kg|g)?|two|three|four|five|six|seven|eight|nine|ten"
    r"|eleven|twelve|dozen|twenty|thirty|forty|fifty|hundred|thousand"
)
_VALUES = (
    (_WEEKDAY, DisagreementKind.DATE),
    (_MONTH, DisagreementKind.DATE),
    (_CLOCK, DisagreementKind.DATE),
    (_NUMBER, DisagreementKind.NUMBER),
)


def superseding(one: Note, other: Note, cosine: float, now: datetime) -> Link | None:
    """Return the SUPERSEDES link between two linked notes, from the newer to the older.

    Parameters
    ----------
    one, other
        Two notes about the same thing, in any order.
    cosine
        Their raw cosine, in [-1, 1]; the link keeps it.
    now
        When the link is made.

    Returns
    -------
    Link or None
        ``None`` unless both are a user's, of the same author and of different times, and
        :func:`find_disagreement` finds that the newer one says otherwise.
    """
    if one.created_at == other.created_at or not _same_person(one, other):
        return None
    newer, older = (one, other) if one.created_at > other.created_at else (other, one)
    reason = find_disagreement(newer.content, older.content)
    return None if reason is None else supersedes(newer.id, older.id, cosine, now, reason)


def may_supersede(role: str, content: str) -> bool:
    """Whether a note of this role and text claims anything that another could contradict."""
    return role == "user" and bool(claims_of(content))


def _same_person(one: Note, other: Note) -> bool:
    return one.author == other.author and one.role == other.role == "user"


def find_disagreement(newer: str, older: str) -> Disagreement | None:
    """Return in what the newer text of a person changes the older one, or nothing.

    Examples
    --------
    >>> found = find_disagreement("My flight is at 11:30 now.", "My flight is at 9:15.")
    >>> (str(found.kind), found.before, found.after)
    ('date', '9:15', '11:30')
    >>> found = find_disagreement("I don't eat meat any more", "I eat meat")
    >>> (str(found.kind), found.before, found.after)
    ('negation', 'I eat meat', "I don't eat meat any more")
    >>> found = find_disagreement("My favourite tea is genmaicha", "My favourite tea is sencha")
    >>> (str(found.kind), found.before, found.after)
    ('preference', 'sencha', 'genmaicha')

    Two runs are two runs, two people two people, and another order of words no change:

    >>> find_disagreement("I ran 7 km today", "I ran 5 km today")
    >>> find_disagreement("Ada's flight is at 11:30", "Ben's flight is at 9:15")
    >>> find_disagreement("My flight is at 9:15 on Monday", "On Monday my flight is at 9:15")
    """
    ours, theirs = claims_of(newer), claims_of(older)
    said = {claim.frame for claim in ours}
    for mine, other in product(ours, theirs):
        found = _compare(mine, other)
        if found is not None and not (other.frame in said and mine.frame != other.frame):
            return found
    return None


def _compare(newer: Claim, older: Claim) -> Disagreement | None:
    if newer.frame == older.frame:
        return _denial(newer, older)
    return _other_favourite(newer, older) or _other_value(newer, older) or _lifted(newer, older)


# --- denied ----------------------------------------------------------------------------


def _denial(newer: Claim, older: Claim) -> Disagreement | None:
    """Find the same words, once affirmed and once denied."""
    if newer.negative == older.negative or newer.pointing or not _content(newer.frame):
        return None
    return Disagreement(DisagreementKind.NEGATION, older.text, newer.text)


def _lifted(newer: Claim, older: Claim) -> Disagreement | None:
    """Find what one denies and the other affirms, when the newer speaks of a change."""
    if not newer.change or newer.negative == older.negative:
        return None
    affirmed, denied = (older, newer) if newer.negative else (newer, older)
    if len(affirmed.frame) > LIFTED_WORDS or not STATES.intersection(affirmed.frame):
        return None
    shared = denied.denied & _content(affirmed.frame)
    if not shared or not (_about(shared, affirmed, denied) or _alike(affirmed, denied)):
        return None
    return Disagreement(DisagreementKind.NEGATION, older.text, newer.text)


def _about(shared: frozenset[str], affirmed: Claim, denied: Claim) -> bool:
    """Whether "no fish" is set against "fish is fine"."""
    return denied.denies_first and not shared.isdisjoint(affirmed.subject)


def _alike(one: Claim, other: Claim) -> bool:
    """Whether two clauses have one subject, and one says nothing the other lacks."""
    ours, theirs = _content(one.frame), _content(other.frame)
    return one.subject == other.subject and (ours <= theirs or theirs <= ours)


def _content(frame: Sequence[str]) -> frozenset[str]:
    """Return the words that name something."""
    return frozenset(word for word in frame if word not in STOP_WORDS and word not in STATES)


# --- another value in the same words -----------------------------------------------------


def _other_value(newer: Claim, older: Claim) -> Disagreement | None:
    """Find the same words but for one value, behind a beginning of two words or more."""
    if newer.negative or older.negative or newer.pointing:
        return None
    start, end = _shared_ends(newer.frame, older.frame)
    said, before = _Value.within(newer, start, end), _Value.within(older, start, end)
    if start < 2 or not (said.short and before.short):
        return None
    if start > min(newer.indefinite, older.indefinite) and not newer.change:
        return None
    beginning = frozenset(newer.frame[:start])
    kind = said.differs(before, beginning, certain=bool(end) or newer.change)
    return None if kind is None else Disagreement(kind, before.text, said.text)


def _shared_ends(a: Sequence[str], b: Sequence[str]) -> tuple[int, int]:
    """Return how many words two clauses share at their beginning, and at their end."""
    room = min(len(a), len(b))
    start = next((i for i in range(room) if a[i] != b[i]), room)
    room -= start
    end = next((i for i in range(room) if a[-1 - i] != b[-1 - i]), room)
    return start, end


@dataclass(frozen=True, slots=True)
class _Value:
    """The words in which one clause differs from another."""

    words: tuple[str, ...]
    surface: tuple[str, ...]

    @classmethod
    def within(cls, claim: Claim, start: int, end: int) -> _Value:
        stop = len(claim.frame) - end
        return cls(claim.frame[start:stop], claim.surface[start:stop])

    @property
    def short(self) -> bool:
        return 0 < len(self.words) <= MAX_VALUE_WORDS

    @property
    def text(self) -> str:
        return " ".join(self.surface)

    def differs(
        self, before: _Value, beginning: frozenset[str], *, certain: bool
    ) -> DisagreementKind | None:
        """Return what kind of other value this is; ``None`` when both may hold.

        `certain` says that the clauses end alike too, or that the newer speaks of a change.
        """
        if PREFERENCES & beginning:
            return DisagreementKind.PREFERENCE if certain else None
        if not STATES & beginning:
            return None
        values = [(kind, self._of(form), before._of(form)) for form, kind in _VALUES]
        other = [(kind, a and b) for kind, a, b in values if a != b]
        if len(other) == 1 and other[0][1] and self._rest() == before._rest():
            return other[0][0]
        if NAMED_BY & beginning and self._is_name() and before._is_name():
            return DisagreementKind.NAME
        return None

    def _of(self, pattern: re.Pattern[str]) -> frozenset[str]:
        return frozenset(word for word in self.words if pattern.fullmatch(word))

    def _rest(self) -> frozenset[str]:
        """Return what is no value and no preposition: a unit, or the thing counted."""
        return frozenset(
            word
            for word in self.words
            if word not in STOP_WORDS and not any(p.fullmatch(word) for p, _ in _VALUES)
        )

    def _is_name(self) -> bool:
        return any(word != word.casefold() for word in self.surface)


# --- another favourite -------------------------------------------------------------------


def _other_favourite(newer: Claim, older: Claim) -> Disagreement | None:
    """Find another favourite of the same kind, named before or after the word."""
    mine, theirs = _Favourite.of(newer), _Favourite.of(older)
    if mine is None or theirs is None or mine.kind != theirs.kind:
        return None
    if set(tokens(mine.value)) & set(tokens(theirs.value)):
        return None
    return Disagreement(DisagreementKind.PREFERENCE, theirs.value, mine.value)


@dataclass(frozen=True, slots=True)
class _Favourite:
    """Whose favourite of what kind, in stems, and what it is."""

    kind: tuple[str, ...]
    value: str

    @classmethod
    def of(cls, claim: Claim) -> _Favourite | None:
        """Read "my favourite tea is sencha" and "sencha is my favourite tea"."""
        frame = claim.frame
        if claim.negative or "favourite" not in frame or "one" in frame:
            return None
        at = frame.index("favourite")
        if not 1 <= at < len(frame) - 1:
            return None
        kind = (frame[at - 1], *tokens(frame[at + 1]))
        copula = frame[at + 2] if at + 2 < len(frame) else ""
        if copula in ("is", "are"):
            return cls(kind, " ".join(claim.surface[at + 3 :][:MAX_VALUE_WORDS]))
        before = [w for w in claim.surface[: at - 1] if w.casefold() not in ("is", "are")]
        if not before or len(before) > MAX_VALUE_WORDS:
            return None
        told = {word.casefold() for word in before} <= STOP_WORDS
        if told and not claim.change:
            return None  # "that is my favourite tea", without a word of change
        return cls(kind, claim.text if told else " ".join(before))
