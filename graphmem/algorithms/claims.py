"""What a text claims to be so, lastingly: the clauses that a later text can contradict.

Clause by clause. What happened, what is asked and what might be makes no claim. The word
lists are English; a text in another language makes no claim.
"""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from graphmem.algorithms.remembering import remembered
from graphmem.algorithms.text import sentences, words

MAX_TEXT_LENGTH = 600
"""In characters; a longer text is material, such as a pasted article, and claims nothing."""

MAX_CLAUSE_WORDS = 24
"""A longer clause is told, not claimed."""

REMEMBERED = 1 << 13
"""Texts whose claims are kept, so that a note linked to ten others is read once."""

PREFERENCES = frozenset({"favourite", "prefer", "prefers"})
STATES = frozenset(
    """
    is are am have has cost costs weigh weighs need needs live lives living work works working
    start starts begin begins end ends open opens close closes leave leaves land lands arrive
    arrives take takes pay pays earn earns eat eats drink drinks sleep sleeps run runs moved
    scheduled postponed due based called named allergic
    """.split()  # noqa: SIM905 a word list reads better as text
)
NAMED_BY = frozenset(
    {"live", "lives", "living", "work", "works", "working", "based", "called", "named", "moved"}
)
"""Words behind which another name is another answer to the same question."""

_CLAIMING = STATES | PREFERENCES
_PAST = frozenset(
    """
    was were had did been went gone saw seen ran made took taken bought came met ate drank slept
    said told found gave left felt got heard kept knew lost read sent spent thought won wrote
    began became brought built caught chose drove fell flew grew held led paid put rode sat sold
    spoke stood taught wore yesterday today tonight ago last recently earlier
    """.split()  # noqa: SIM905 a word list reads better as text
)
_STATE_ED = frozenset(
    {"moved", "scheduled", "postponed", "based", "called", "named", "married", "retired"}
)
_OWNERS = frozenset({"my", "our", "his", "her", "their", "your"})
_ARTICLES = frozenset({"a", "an"})
_POINTING = frozenset(
    "this that these those it there here which who he she they such same".split()  # noqa: SIM905 a word list reads better as text
)
_UNSAID = frozenset(
    """
    a an the now currently actually really still just also well so ok okay oh yes yeah and but
    then again anymore more very too quite only instead please update correction remember
    """.split()  # noqa: SIM905 a word list reads better as text
)
_NEGATORS = frozenset({"not", "never", "no", "cannot", "without", "longer"})
_OPEN_HINTS = ("if", "ould", "might", "maybe", "perhaps", "hop", "wish", "guess", "think", "may")
_OPEN = re.compile(
    r"(?<!\d )\bmay\b(?! \d)"
    r"|\b(?:if|would|could|might|maybe|perhaps|should|hope|hoping|wish|guess|think)\b"
)
_CLAUSE_END = re.compile(r"[,;:](?=\s|$)|\s[-\u2013\u2014]+\s|\s+(?:but|because|since|while)\s+")
_CHANGE = re.compile(
    r"\b(?:now|no longer|after all|any ?more|instead|again|from now on|these days|changed|switched"
    r"|moved to|postponed|rescheduled|not yet|update|correction)\b",
    re.I,
)
_CONTRACTIONS = tuple(
    (re.compile(pattern, re.I), full)
    for pattern, full in (
        (r"\bcan't\b", "can not"),
        (r"\bwon't\b", "will not"),
        (r"n't\b", " not"),
        (r"'m\b", " am"),
        (r"'re\b", " are"),
        (r"'ve\b", " have"),
        (r"\b(it|that|he|she|there|what|where)'s\b", r"\1 is"),
    )
)
_SPELLED = re.compile(r"no longer|after all|favorite", re.I)
_SPELLINGS = tuple(
    (re.compile(pattern, re.I), full)
    for pattern, full in (
        (r"\bno longer\b", "not"),
        (r"\bafter all\b", ""),
        (r"\bfavorite(s?)\b", r"favourite\1"),
    )
)


@dataclass(frozen=True, slots=True)
class Claim:
    """One clause that states how something is.

    Attributes
    ----------
    text
        The clause as it stands.
    frame
        Its words in lower case, without articles, hedges, negators and words of change.
    surface
        The same words as they are written.
    denied
        The one or two words behind a negator.
    negative
        Whether it denies something.
    pointing
        Whether it begins with a word such as "this": what it is about stands elsewhere.
    denies_first
        Whether it begins with a negator: "no fish".
    indefinite
        The place in `frame` of the first word that "a" or "an" stood before: "a meeting"
        is another one each time. The length of `frame` when there is none.
    """

    text: str
    frame: tuple[str, ...]
    surface: tuple[str, ...]
    denied: frozenset[str]
    negative: bool
    pointing: bool
    denies_first: bool
    indefinite: int

    @property
    def change(self) -> bool:
        """Whether it says that something changed."""
        return _CHANGE.search(self.text) is not None

    @property
    def subject(self) -> tuple[str, ...]:
        """What it is about, as far as its first words tell: "i", "my flight", "fish"."""
        return self.frame[: 2 if self.frame[:1] and self.frame[0] in _OWNERS else 1]


@remembered(REMEMBERED)
def claims_of(text: str) -> tuple[Claim, ...]:
    """Return the claims of a text, in order; most texts make none.

    Examples
    --------
    >>> [claim.frame for claim in claims_of("Ok, I'm a vegetarian now. Shall we eat?")]
    [('i', 'am', 'vegetarian')]
    >>> claims_of("I ran 5 km yesterday. I might run again.")
    ()
    """
    return tuple(_claims(text)) if len(text) <= MAX_TEXT_LENGTH else ()


def _claims(text: str) -> Iterator[Claim]:
    for sentence in sentences(text):
        if _is_open(sentence):
            continue
        for clause in _CLAUSE_END.split(sentence):
            claim = _claim(clause)
            if claim is not None:
                yield claim


def _is_open(sentence: str) -> bool:
    """Whether a sentence asks, or says what might be."""
    if sentence.endswith("?"):
        return True
    lower = sentence.lower()
    return any(map(lower.__contains__, _OPEN_HINTS)) and _OPEN.search(lower) is not None


def _claim(clause: str) -> Claim | None:
    written = words(_expanded(clause))
    if not 2 <= len(written) <= MAX_CLAUSE_WORDS:
        return None
    plain = [word.casefold() for word in written]
    if not _PAST.isdisjoint(plain) or any(map(_happened, plain)):
        return None
    if _NEGATORS.isdisjoint(plain) and _CLAIMING.isdisjoint(plain):
        return None
    negators = [place for place, word in enumerate(plain) if word in _NEGATORS]
    if plain[0] in STATES:
        return None
    kept = [place for place in range(len(plain)) if not _unsaid(plain, place)]
    return Claim(
        text=clause.strip(" .!?\"'"),
        frame=tuple(plain[place] for place in kept),
        surface=tuple(written[place] for place in kept),
        denied=frozenset(word for at in negators for word in plain[at + 1 : at + 3]),
        negative=bool(negators),
        pointing=bool(kept) and plain[kept[0]] in _POINTING,
        denies_first=any(plain[at] not in _UNSAID for at in negators if at < min(kept, default=0)),
        indefinite=bisect_left(kept, _first_article(plain)),
    )


def _first_article(plain: Sequence[str]) -> int:
    if _ARTICLES.isdisjoint(plain):
        return len(plain)
    return next(at for at, word in enumerate(plain) if word in _ARTICLES)


def _happened(word: str) -> bool:
    return word.endswith("ed") and len(word) > 4 and word not in _STATE_ED


def _unsaid(plain: Sequence[str], place: int) -> bool:
    """Whether a word is a filler, a negator, or the "do" of "do not" and "any" of "any more"."""
    word = plain[place]
    follows = plain[place + 1] if place + 1 < len(plain) else ""
    if word in ("do", "does"):
        return follows in _NEGATORS
    return word in _UNSAID or word in _NEGATORS or (word == "any" and follows == "more")


def _expanded(clause: str) -> str:
    plain = clause.replace("\u2019", "'")
    for pattern, full in _CONTRACTIONS if "'" in plain else ():
        plain = pattern.sub(full, plain)
    for pattern, full in _SPELLINGS if _SPELLED.search(plain) else ():
        plain = pattern.sub(full, plain)
    return plain
