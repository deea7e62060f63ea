"""Keywords, tags and context of a note, made from its text without a language model.

Keywords are salient phrases as they are written, tags the few topics among them, and the
context the sentence that says most. The phrases are those of RAKE (Rose et al., 2010: runs
of words between stop words and punctuation), scored by how often their words occur and
whether they are names or numbers.
"""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence, Set
from dataclasses import dataclass
from operator import attrgetter
from typing import NamedTuple

from graphmem.algorithms.remembering import remembered
from graphmem.algorithms.text import STOP_WORDS, VOWEL_SIGNS, is_blank, sentences, tokens, words

MAX_KEYWORDS = 8
MAX_TAGS = 3
MAX_PHRASE_WORDS = 3
MAX_KEYWORD_LENGTH = 60
"""Characters of a keyword or tag; longer ones are not made."""
MAX_CONTEXT_LENGTH = 240
"""Characters of a derived context; a longer sentence is cut at a word."""
ANALYSED_LENGTH = 20_000
"""Characters looked at: what a long text is about shows early."""

_WEAK = frozenset(
    """
    yes yeah yep ok okay oh hey hi hello wow lol haha hmm well thanks thank please sorry bye
    really actually maybe probably quite much many lot lots thing things something anything
    everything someone everyone stuff kind sort way ways bit got get gets getting go goes going
    gonna wanna went come came make makes made take takes took know knows knew think thinks
    thought say says said tell told see saw look looks looking like likes want wants wanted need
    needs feel feels felt try tried use used put let good great nice cool new also still even
    ever never always today tomorrow yesterday one two first last next time times day days week
    year sure right back since though yet already around may might must shall us
    """.split()  # noqa: SIM905 a word list reads better as text
)
_HASHTAG = re.compile(r"(?<!\w)#(\w[\w-]*)")
_BREAK = re.compile(rf"[^\w\s{VOWEL_SIGNS}.:'\u2019@/&+#-]+|[.:\-](?=\s|$)|\s[-.:]")
_UNSPACED_WORD = re.compile(
    "[\u3400-\u4dbf\u4e00-\u9fff\u3005]{2,}|[\u30a1-\u30fa\u30fc]{2,}|[\uac00-\ud7a3]{2,}"
)
_FUNCTION_CHARACTER = re.compile("[的了在是和与及就都也很把被从到这那有我你他她它们吗呢吧不]")
_UNSPACED = re.compile(
    "[\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff]"
)


@dataclass(frozen=True, slots=True)
class Construction:
    """Metadata of a note: salient phrases, topics, and one sentence of context."""

    keywords: tuple[str, ...]
    tags: tuple[str, ...]
    context: str


def construct_note(
    content: str,
    *,
    keywords: Iterable[str] | None = None,
    tags: Iterable[str] | None = None,
    context: str | None = None,
) -> Construction:
    """Return the metadata of a note: what is given as it is, the rest from its text.

    Derived keywords (at most 8, best first) are written as in the text; derived tags (at
    most 3) are in lower case, hashtags before names before other topics. A text with a
    word, number or emoji always gets at least one of each. A text of symbols only gets
    neither, and itself as context.

    Parameters
    ----------
    content
        The text.
    keywords, tags, context
        Values that stand; an empty one stands too. A lone text is one keyword or tag.

    Examples
    --------
    >>> made = construct_note("Ada Lovelace prefers aisle seats. She said so. #travel")
    >>> made.keywords
    ('Ada Lovelace', 'prefers aisle seats', 'travel')
    >>> made.tags, made.context
    (('travel', 'ada lovelace', 'prefers aisle seats'), 'Ada Lovelace prefers aisle seats.')
    """
    head = content[:ANALYSED_LENGTH]
    parts = sentences(head)
    phrases = _phrases(head, parts) if keywords is None or tags is None else ()
    made = tuple(phrase.text for phrase in phrases[:MAX_KEYWORDS])
    return Construction(
        keywords=made if keywords is None else _given(keywords),
        tags=_tags(head, phrases) if tags is None else _given(tags),
        context=_context(head, parts) if context is None else context,
    )


def _given(values: Iterable[str]) -> tuple[str, ...]:
    return tuple(dict.fromkeys((values,) if isinstance(values, str) else values))


class _Word(NamedTuple):
    """A word as written, and what its phrases are judged by."""

    text: str
    stems: tuple[str, ...]
    is_weak: bool
    is_unspaced: bool
    is_capital: bool
    is_acronym: bool
    has_digit: bool


class _Phrase(NamedTuple):
    text: str
    stems: Set[str]
    score: float
    is_name: bool


_SCORE = attrgetter("score")
_ROOTS = [math.sqrt(words) for words in range(MAX_PHRASE_WORDS + 1)]

_Placed = tuple[_Word, bool]
"""A word, and whether it looks like a name where it stands."""


def _word(text: str) -> _Word:
    return _remembered_word(text) if len(text) <= MAX_KEYWORD_LENGTH else _analysed(text)


@remembered(1 << 15)
def _remembered_word(text: str) -> _Word:
    return _analysed(text)


def _analysed(text: str) -> _Word:
    stems = tokens(text)
    plain = text.casefold().replace("\u2019", "'")
    stem = plain.removesuffix("'s")
    return _Word(
        text=text,
        stems=stems,
        is_weak=plain in STOP_WORDS or stem in STOP_WORDS or stem in _WEAK or not stems,
        is_unspaced=_UNSPACED.search(text) is not None,
        is_capital=text[:1].isupper(),
        is_acronym=len(text) > 1 and text.isupper(),
        has_digit=any(map(str.isdigit, text)),
    )


def _phrases(text: str, parts: Sequence[str]) -> tuple[_Phrase, ...]:
    """Return the distinct phrases of a text, best first; each brings a word of its own."""
    runs = [run for sentence in parts for run in _runs(sentence)]
    frequency = Counter([stem for run in runs for word, _ in run for stem in word.stems])
    repeated = {stem: 1.0 + math.log(count) for stem, count in frequency.items()}
    chosen: list[_Phrase] = []
    covered: set[str] = set()
    candidates = [_scored(run, repeated) for run in runs]
    candidates.sort(key=_SCORE, reverse=True)  # stable: of equal ones the first stays first
    for phrase in candidates:
        if phrase.stems <= covered or len(phrase.text) > MAX_KEYWORD_LENGTH:
            continue
        covered |= phrase.stems
        chosen.append(phrase)
    return tuple(chosen) or _fallback(text)


def _fallback(text: str) -> tuple[_Phrase, ...]:
    """Return the plain words, or the emoji, of a text that has no salient phrase."""
    plain = dict.fromkeys(word[:MAX_KEYWORD_LENGTH] for word in words(text) if tokens(word))
    found = plain or dict.fromkeys(tokens(text))
    return tuple(_Phrase(word, set(tokens(word)), 0.0, is_name=False) for word in found)


def _runs(sentence: str) -> Iterator[tuple[_Placed, ...]]:
    """Yield the runs of salient words between stop words and punctuation."""
    opening = True
    for part in _BREAK.split(sentence):
        run: list[_Placed] = []
        for word in map(_word, words(part)):
            if word.is_unspaced:
                yield from (((_word(piece), False),) for piece in _pieces(word.text))
            elif word.is_weak:
                if run:
                    yield from _cut(run)
                    run = []
            else:
                # An acronym is a name anywhere, another capital only where no sentence begins.
                is_name = word.is_capital and (not opening or word.is_acronym)
                run.append((word, is_name))
            opening = False
        yield from _cut(run)


def _cut(run: list[_Placed]) -> Iterator[tuple[_Placed, ...]]:
    """Yield a run in pieces of at most three words; a full name is a piece of its own."""
    if len(run) > 1 and run[1][1] and run[0][0].is_capital:
        run[0] = (run[0][0], True)
    piece: list[_Placed] = []
    all_named = True
    for placed in run:
        is_name = placed[1]
        if piece:
            after_name = all_named and not is_name and len(piece) > 1
            before_name = is_name and not piece[-1][1]
            if after_name or before_name or len(piece) == MAX_PHRASE_WORDS:
                yield tuple(piece)
                piece = []
                all_named = True
        piece.append(placed)
        all_named = all_named and is_name
    if piece:
        yield tuple(piece)


def _pieces(word: str) -> Iterator[str]:
    found = [
        piece
        for run in _UNSPACED_WORD.findall(word)
        for piece in _FUNCTION_CHARACTER.split(run)
        if len(piece) > 1
    ]
    yield from found or [word]


def _scored(run: tuple[_Placed, ...], repeated: Mapping[str, float]) -> _Phrase:
    """Score a run by its words; `repeated` is what each stem weighs for how often it occurs."""
    stems: set[str] = set()
    weight, is_name = 0.0, False
    for word, named in run:
        stems.update(word.stems)
        is_name = is_name or named
        said = max([repeated[stem] for stem in word.stems])
        weight += said * 1.5 if named or word.has_digit else said
    text = " ".join([word.text for word, _ in run]).removesuffix("'s").removesuffix("\u2019s")
    return _Phrase(text, stems, weight / _ROOTS[len(run)], is_name)


def _tags(text: str, phrases: tuple[_Phrase, ...]) -> tuple[str, ...]:
    names = [phrase.text for phrase in phrases if phrase.is_name]
    topics = [phrase.text for phrase in phrases if not phrase.is_name]
    ordered = [*_HASHTAG.findall(text), *names, *topics]
    found = dict.fromkeys(tag.casefold() for tag in ordered if len(tag) <= MAX_KEYWORD_LENGTH)
    return tuple(found)[:MAX_TAGS]


def _context(text: str, parts: Sequence[str]) -> str:
    if not parts:
        return "" if is_blank(text) else _shortened(text.strip())
    if len(parts) == 1:
        return _shortened(parts[0])
    counts = Counter(token for part in parts for token in set(tokens(part)) - STOP_WORDS)

    def information(part: str) -> float:
        own = set(tokens(part)) - STOP_WORDS
        # Summed exactly: a set has no order, and equal sentences must stay a tie.
        return math.fsum(1.0 + math.log(counts[token]) for token in own) / math.sqrt(1 + len(own))

    return _shortened(max(parts, key=information))


def _shortened(sentence: str) -> str:
    if len(sentence) <= MAX_CONTEXT_LENGTH:
        return sentence
    cut = sentence[: MAX_CONTEXT_LENGTH - 1]
    space = cut.rfind(" ")
    return (cut[:space] if space > MAX_CONTEXT_LENGTH // 2 else cut).rstrip() + "…"
