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
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

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
    phrases = _phrases(head) if keywords is None or tags is None else ()
    made = tuple(phrase.text for phrase in phrases[:MAX_KEYWORDS])
    return Construction(
        keywords=made if keywords is None else _given(keywords),
        tags=_tags(head, phrases) if tags is None else _given(tags),
        context=_context(head) if context is None else context,
    )


def _given(values: Iterable[str]) -> tuple[str, ...]:
    return tuple(dict.fromkeys((values,) if isinstance(values, str) else values))


@dataclass(frozen=True, slots=True)
class _Phrase:
    text: str
    stems: frozenset[str]
    score: float
    is_name: bool


def _phrases(text: str) -> tuple[_Phrase, ...]:
    """Return the distinct phrases of a text, best first; each brings a word of its own."""
    runs = [run for sentence in sentences(text) for run in _runs(sentence)]
    frequency = Counter(stem for run in runs for word, _ in run for stem in tokens(word))
    chosen: list[_Phrase] = []
    covered: set[str] = set()
    candidates = (_scored(run, frequency) for run in runs)
    for phrase in sorted(candidates, key=lambda phrase: -phrase.score):
        if phrase.stems <= covered or len(phrase.text) > MAX_KEYWORD_LENGTH:
            continue
        covered |= phrase.stems
        chosen.append(phrase)
    return tuple(chosen) or _fallback(text)


def _fallback(text: str) -> tuple[_Phrase, ...]:
    """Return the plain words, or the emoji, of a text that has no salient phrase."""
    plain = dict.fromkeys(word[:MAX_KEYWORD_LENGTH] for word in words(text) if tokens(word))
    found = plain or dict.fromkeys(tokens(text))
    return tuple(_Phrase(word, frozenset(tokens(word)), 0.0, is_name=False) for word in found)


_Word = tuple[str, bool]
"""A word as written, and whether it looks like a name where it stands."""


def _runs(sentence: str) -> Iterator[tuple[_Word, ...]]:
    """Yield the runs of salient words between stop words and punctuation."""
    opening = True
    for part in _BREAK.split(sentence):
        run: list[_Word] = []
        for word in words(part):
            if _UNSPACED.search(word):
                yield from (((piece, False),) for piece in _pieces(word))
            elif _is_weak(word):
                yield from _cut(run)
                run = []
            else:
                run.append((word, _is_name(word, opening=opening)))
            opening = False
        yield from _cut(run)


def _cut(run: list[_Word]) -> Iterator[tuple[_Word, ...]]:
    """Yield a run in pieces of at most three words; a full name is a piece of its own."""
    if len(run) > 1 and run[1][1] and run[0][0][:1].isupper():
        run[0] = (run[0][0], True)
    piece: list[_Word] = []
    for word, is_name in run:
        after_name = len(piece) > 1 and all(named for _, named in piece) and not is_name
        before_name = bool(piece) and is_name and not piece[-1][1]
        if len(piece) == MAX_PHRASE_WORDS or after_name or before_name:
            yield tuple(piece)
            piece = []
        piece.append((word, is_name))
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


def _is_weak(word: str) -> bool:
    plain = word.casefold().replace("\u2019", "'")
    stem = plain.removesuffix("'s")
    return plain in STOP_WORDS or stem in STOP_WORDS or stem in _WEAK or not tokens(word)


def _is_name(word: str, *, opening: bool) -> bool:
    # An acronym is a name anywhere, another capital only where no sentence begins.
    return word[:1].isupper() and (not opening or (len(word) > 1 and word.isupper()))


def _scored(run: tuple[_Word, ...], frequency: Counter[str]) -> _Phrase:
    text = " ".join(word for word, _ in run).removesuffix("'s").removesuffix("\u2019s")
    stems = frozenset(stem for word, _ in run for stem in tokens(word))
    weight = sum(
        (1.0 + math.log(max(frequency[stem] for stem in tokens(word))))
        * (1.5 if name or any(map(str.isdigit, word)) else 1.0)
        for word, name in run
    )
    is_name = any(name for _, name in run)
    return _Phrase(text, stems, weight / math.sqrt(len(run)), is_name)


def _tags(text: str, phrases: tuple[_Phrase, ...]) -> tuple[str, ...]:
    names = [phrase.text for phrase in phrases if phrase.is_name]
    topics = [phrase.text for phrase in phrases if not phrase.is_name]
    ordered = [*_HASHTAG.findall(text), *names, *topics]
    found = dict.fromkeys(tag.casefold() for tag in ordered if len(tag) <= MAX_KEYWORD_LENGTH)
    return tuple(found)[:MAX_TAGS]


def _context(text: str) -> str:
    parts = sentences(text)
    if not parts:
        return "" if is_blank(text) else _shortened(text.strip())
    counts = Counter(token for part in parts for token in set(tokens(part)) - STOP_WORDS)

    def information(part: str) -> float:
        own = set(tokens(part)) - STOP_WORDS
        return sum(1.0 + math.log(counts[token]) for token in own) / math.sqrt(1 + len(own))

    return _shortened(max(parts, key=information))


def _shortened(sentence: str) -> str:
    if len(sentence) <= MAX_CONTEXT_LENGTH:
        return sentence
    cut = sentence[: MAX_CONTEXT_LENGTH - 1]
    space = cut.rfind(" ")
    return (cut[:space] if space > MAX_CONTEXT_LENGTH // 2 else cut).rstrip() + "…"
