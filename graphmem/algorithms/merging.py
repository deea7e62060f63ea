"""When near-identical notes may share metadata, and the rule that unites it.

Similar embeddings do not tell order 4711 from order 4712, nor a wish from its denial: the
guard compares what an embedding blurs. It errs on the side of not merging, for a missed
union costs little and a wrong one makes a note answer for another.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from graphmem.algorithms.evolution import Proposal
from graphmem.algorithms.text import STOP_WORDS, is_blank, sentences, tokens, words
from graphmem.model import Note

UNION_RULE = "rule:union-1"
"""Name of the deterministic proposer in events."""

MIN_INFORMATIVE_TOKENS = 3
"""A text with fewer distinct tokens that say something does not evolve others."""

_FILLERS = frozenset(
    tokens(
        "ok okay k thanks thank thx yes yeah yep yup nope great good nice cool fine sure right "
        "lol haha hehe wow oh hey hi hello bye goodbye welcome please sorry awesome amazing "
        "perfect exactly absolutely definitely totally indeed agreed alright well really"
    )
)

_VALUE_WORDS = frozenset(
    """
    monday tuesday wednesday thursday friday saturday sunday
    january february march april may june july august september october november december
    jan feb mar apr jun jul aug sep sept oct nov dec mon tue wed thu fri sat sun
    today tomorrow yesterday tonight morning afternoon evening night noon midnight
    two three four five six seven eight nine ten eleven twelve dozen twenty thirty forty fifty
    hundred thousand million half once twice first second third fourth fifth last next
    """.split()  # noqa: SIM905 a word list reads better as text
)
_NEGATORS = frozenset(
    """
    no not never none nobody nothing neither nor without cannot dont doesnt didnt wont cant isnt
    wasnt arent hardly stop stopped quit nicht kein keine nie ne pas jamais nunca
    """.split()  # noqa: SIM905 a word list reads better as text
) | {"\u043d\u0435", "\u043d\u0435\u0442", "לא", "אין", "لا", "ليس"}
_UNSPACED_NEGATION = re.compile("[不没沒未無无非]|ない|ません|なかった|않|아니")


def merge_is_safe(a: str, b: str) -> bool:
    """Whether two near-identical texts say the same thing, as far as words can show.

    False when they differ in numbers, ids, dates or number words; in how often they
    negate; in a name (a capitalised word inside a sentence that the other lacks, or one at
    the start of a sentence on each side); or, in scripts without capitals, when each has a
    word the other lacks.

    Examples
    --------
    >>> merge_is_safe("Order 4711 has arrived", "Order 4712 has arrived")
    False
    >>> merge_is_safe("Ada likes tea", "Ben likes tea")
    False
    >>> merge_is_safe("She eats meat", "She doesn't eat meat")
    False
    >>> merge_is_safe("Ada prefers an aisle seat on flights", "Ada likes an aisle seat on flights")
    True
    """
    ours, theirs = _Facts.of(a), _Facts.of(b)
    if ours.values != theirs.values or ours.negations != theirs.negations:
        return False
    if ours.names - theirs.tokens or theirs.names - ours.tokens:
        return False
    if ours.openers - theirs.tokens and theirs.openers - ours.tokens:
        return False
    return not (ours.caseless - theirs.caseless and theirs.caseless - ours.caseless)


def is_informative(content: str) -> bool:
    """Whether a text says enough to lend its metadata to others.

    Examples
    --------
    >>> is_informative("ok, thanks!"), is_informative("Ada booked an aisle seat")
    (False, True)
    """
    return len(set(tokens(content)) - _FILLERS - STOP_WORDS) >= MIN_INFORMATIVE_TOKENS


@dataclass(frozen=True, slots=True)
class UnionProposer:
    """The deterministic proposer ``rule:union-1``: see :func:`propose_union`."""

    max_keywords: int = 16
    max_tags: int = 12

    def propose(
        self,
        trigger: Note,
        targets: Sequence[Note],
        similarity_by_note_id: Mapping[str, float],
    ) -> tuple[Proposal, ...]:
        """Return a proposal for each target that would change; the similarity plays no part."""
        neighbourhood = (trigger, *targets)
        proposals = (
            propose_union(
                trigger,
                target,
                neighbourhood=neighbourhood,
                max_keywords=self.max_keywords,
                max_tags=self.max_tags,
            )
            for target in targets
        )
        return tuple(proposal for proposal in proposals if proposal is not None)


def propose_union(
    trigger: Note,
    target: Note,
    *,
    neighbourhood: Iterable[Note] = (),
    max_keywords: int = 16,
    max_tags: int = 12,
) -> Proposal | None:
    """Propose the union of a pair's keywords and tags for `target`, or nothing.

    The target keeps all it has; of the trigger's words those most frequent in the
    neighbourhood come first, up to the bounds. A missing context is filled from the
    trigger unless its user left it empty on purpose. Proposing again after applying gives
    ``None``. So do low-information texts, and pairs the guard (:func:`merge_is_safe`)
    holds apart.

    Parameters
    ----------
    trigger, target
        The arriving note and the one to change.
    neighbourhood
        Notes whose metadata is counted for the order; the pair always counts.
    max_keywords, max_tags
        Bounds on the united metadata. A note that has more already keeps it.
    """
    if not is_informative(trigger.content) or not is_informative(target.content):
        return None
    by_id = {note.id: note for note in (trigger, target, *neighbourhood)}
    keywords = _united(
        target.keywords,
        trigger.keywords,
        Counter(_key(word) for note in by_id.values() for word in {*note.keywords}),
        max_keywords,
    )
    tags = _united(
        target.tags,
        trigger.tags,
        Counter(_key(tag) for note in by_id.values() for tag in {*note.tags}),
        max_tags,
    )
    fill = is_blank(target.context) and target.given.context is None
    context = trigger.context if fill else target.context
    if (keywords, tags, context) == (target.keywords, target.tags, target.context):
        return None
    if not merge_is_safe(trigger.content, target.content):
        return None
    return Proposal(target.id, target.revision, keywords, tags, context, UNION_RULE)


def _united(
    own: tuple[str, ...], offered: tuple[str, ...], frequency: Mapping[str, int], bound: int
) -> tuple[str, ...]:
    known = {_key(word) for word in own}
    new: dict[str, str] = {}
    for word in offered:
        if _key(word) not in known:
            new.setdefault(_key(word), word)
    ranked = sorted(new, key=lambda key: -frequency[key])
    room = max(bound - len(own), 0)
    return own + tuple(new[key] for key in ranked[:room])


def _key(word: str) -> str:
    return word.casefold().strip()


@dataclass(frozen=True, slots=True)
class _Facts:
    """What :func:`merge_is_safe` compares."""

    values: frozenset[str]
    negations: int
    names: frozenset[str]
    openers: frozenset[str]
    caseless: frozenset[str]
    tokens: frozenset[str]

    @classmethod
    def of(cls, text: str) -> _Facts:
        values, names, openers, caseless = set[str](), set[str](), set[str](), set[str]()
        every = set[str]()
        negations = len(_UNSPACED_NEGATION.findall(text))
        for sentence in sentences(text):
            for place, word in enumerate(words(sentence)):
                plain = word.casefold().replace("\u2019", "'")
                negations += plain in _NEGATORS or plain.endswith("n't")
                every.update(tokens(word))
                if _is_value(plain):
                    values.update(tokens(word))
                elif plain in STOP_WORDS:
                    continue
                elif plain.upper() == plain.lower():
                    caseless.update(tokens(word))
                elif word != word.lower():
                    (names if place else openers).update(tokens(word))
        return cls(
            frozenset(values),
            negations,
            frozenset(names),
            frozenset(openers),
            frozenset(caseless),
            frozenset(every),
        )


def _is_value(word: str) -> bool:
    return word in _VALUE_WORDS or any(character.isdigit() for character in word)
