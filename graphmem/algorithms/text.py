"""Text as graphmem reads it: tokens shared by both stores, words, sentences, blankness.

Rules of a token, the same for notes and questions:

- Unicode NFKC and casefold, so full-width and compatibility forms equal their plain ones.
- Accents on Latin and Greek letters are folded: ``cafe``, ``Café`` and its decomposed form
  are one token. Hebrew points, Arabic vowel signs and the Cyrillic ``ё`` likewise.
  All decimal digits become ASCII digits.
- Latin words are stemmed with the English Snowball algorithm, Cyrillic words with the
  Russian one; English stop words are left out unless the text has nothing else.
- A compound such as ``tb-relay``, ``A/B`` or ``2023-05-07`` gives its parts and itself;
  a decimal number and ``C++`` give only themselves.
- Chinese, Japanese and Korean runs give bigrams, or the single character of a run of one;
  unspaced scripts of South East Asia give trigrams; each emoji is a token.
- Hebrew and Arabic words also give the word without its attached article or preposition.

A token is never empty, holds no whitespace and at most ``MAX_TOKEN_LENGTH`` characters.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable, Iterator

import snowballstemmer  # type: ignore[import-untyped]  # publishes no types

from graphmem.algorithms.remembering import remembered

TERMS_VERSION = "terms-1"
"""Changes when the same text gives other terms: stored terms are then out of date."""

EMBEDDING_TEXT_VERSION = "embedding-text-1"
"""Changes when :func:`embedding_text` gives another text for the same note."""

SENTENCES_VERSION = "sentences-1"
"""Changes when :func:`sentences_to_embed` gives others for the same note."""

SHORT_SENTENCE = 12
"""A sentence of so many characters or fewer ("Thank you!") says too little for a vector."""

MOST_SENTENCES = 16
"""So many sentences of a note get vectors of their own."""

MAX_TOKEN_LENGTH = 64
"""Longer words are cut to this many characters (Lucene splits tokens at 255)."""

_REMEMBERED_LENGTH = 1024

STOP_WORDS = frozenset(
    """
    a about above after again against all am an and any are aren't as at be because been
    before being below between both but by can can't cannot could couldn't did didn't do does
    doesn't doing don't down during each few for from further had hadn't has hasn't have
    haven't having he he'd he'll he's her here here's hers herself him himself his how how's i
    i'd i'll i'm i've if in into is isn't it it's its itself just let's me more most mustn't my
    myself no nor not now of off on once only or other ought our ours ourselves out over own
    same shan't she she'd she'll she's should shouldn't so some such than that that's the their
    theirs them themselves then there there's these they they'd they'll they're they've this
    those through to too under until up very was wasn't we we'd we'll we're we've were weren't
    what what's when when's where where's which while who who's whom why why's will with won't
    would wouldn't you you'd you'll you're you've your yours yourself yourselves
    im ive dont didnt doesnt isnt wasnt cant youre thats
    """.split()  # noqa: SIM905 a word list reads better as text
)

_HAN = "\u2e80-\u2fdf\u3005-\u3007\u3021-\u3029\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff"
_HAN += "\U00020000-\U0003ffff"
_HIRAGANA = "\u3041-\u309f"
_KATAKANA = "\u30a0-\u30ff\u31f0-\u31ff"
_HANGUL = "\u1100-\u11ff\u3130-\u318f\ua960-\ua97f\uac00-\ud7ff"
_SOUTH_EAST_ASIAN = "\u0e01-\u0e4e\u0e81-\u0ece\u0f40-\u0fbc\u1000-\u109f\u1780-\u17d3"
# `\w` does not cover combining vowels, so the scripts that spell with them are named.
VOWEL_SIGNS = "\u0730-\u074a\u07a6-\u07b0\u0900-\u0963\u0966-\u0dff" + _SOUTH_EAST_ASIAN
_FLAG = "\U0001f1e6-\U0001f1ff"
_EMOJI = "\u2600-\u27bf\u2b50\u2b55\U0001f300-\U0001f3fa\U0001f400-\U0001faff"

_WORD = rf"[\w{VOWEL_SIGNS}]+"
_JOINER = r"[-./@:&+'\u2019]"
_CHUNK = re.compile(
    rf"{_WORD}(?:(?:{_JOINER}|,(?=\d)){_WORD})*(?:\+\+|\#(?!\w))?|[{_FLAG}]{{2}}|[{_EMOJI}]"
)
_PICTURE = re.compile(f"[{_FLAG}{_EMOJI}]")
_ASCII_CHUNK = re.compile(r"\w+(?:(?:[-./@:&+']|,(?=\d))\w+)*(?:\+\+|#(?!\w))?")
_SEPARATOR = re.compile(r"[^\w" + VOWEL_SIGNS + r"]+|_+")
_SCRIPT_RUN = re.compile(
    rf"(?P<bigrams>[{_HAN}]+|[{_KATAKANA}]+|[{_HANGUL}]+)|(?P<hiragana>[{_HIRAGANA}]+)"
    rf"|(?P<trigrams>[{_SOUTH_EAST_ASIAN}]+)"
    rf"|(?P<word>[^{_HAN}{_KATAKANA}{_HANGUL}{_HIRAGANA}{_SOUTH_EAST_ASIAN}]+)"
)
_NGRAM_SCRIPT = re.compile(f"[{_HAN}{_HIRAGANA}{_KATAKANA}{_HANGUL}{_SOUTH_EAST_ASIAN}]")
_IDEOGRAPH = re.compile(f"[{_HAN}]")
_NUMBER = re.compile(r"\d+(?:,\d{3})+(?:\.\d+)?|\d+[.,]\d+")
_THOUSANDS = re.compile(r"\d{1,3}(?:,\d{3})+(?:\.\d+)?")
_CONTRACTION = re.compile(r"(?<=[^\W_])'(?:s|d|m|ll|re|ve|t)$|'$")
_WRITTEN_TOGETHER = re.compile(r"[^\W\d_]+(?:-[^\W\d_]+)+")

_FOLDED_MARK = re.compile(r"(?<=[A-Za-zͰ-Ͽ\u0300-\u036f])[\u0300-\u036f]+")
_DROPPED = re.compile(
    "[\u00ad\u034f\u0591-\u05bd\u05bf\u05c1\u05c2\u05c4\u05c5\u05c7\u0610-\u061a\u061c\u0640"
    "\u064b-\u065f\u0670\u200c-\u200f\u202a-\u202e\u2060-\u206f\ufe00-\ufe0f\ufeff"
    "\U0001f3fb-\U0001f3ff]+"
)
_FOREIGN_DIGIT = re.compile(r"[^\D0-9]")
_LETTERS = str.maketrans(
    {"ø": "o", "ł": "l", "đ": "d", "ð": "d", "ħ": "h", "\u0131": "i", "æ": "ae", "œ": "oe",
     "þ": "th", "\u0451": "\u0435", "ى": "ي", "ة": "\u0647",
     "\u2019": "'", "\u02bc": "'", "\u2010": "-", "\u2011": "-"}
)  # fmt: skip
_HEBREW_PREFIX = re.compile("[והבכלמש]+(?=[\u05d0-\u05ea]{3})")
_ARABIC_PREFIX = re.compile("(?:[وفبك]?ال|لل|و)(?=[\u0621-\u064a]{3})")


def tokens(text: str) -> tuple[str, ...]:
    """Return the tokens of a text in order, with repetition.

    Parameters
    ----------
    text
        Any text; time grows linearly with its length.

    Returns
    -------
    tuple of str
        Tokens by the rules of this module; empty when the text has no word, number or
        emoji.

    Examples
    --------
    >>> tokens("Nightly A/B testing of C++ starts Monday.")
    ('night', 'b', 'a/b', 'test', 'c++', 'start', 'monday')
    >>> tokens("Cafe\u0301 Zu\u0308rich") == tokens("café zürich") == tokens("CAFE ZURICH")
    True
    >>> tokens("多租户隔离")
    ('多租', '租户', '户隔', '隔离')
    >>> tokens("to be or not to be")
    ('to', 'be', 'or', 'not', 'to', 'be')
    >>> tokens("&& / ||")
    ()
    """
    # A phrase is looked at when it is found, embedded and indexed.
    return _remembered_tokens(text) if len(text) <= _REMEMBERED_LENGTH else _tokens(text)


@remembered(1 << 13)
def _remembered_tokens(text: str) -> tuple[str, ...]:
    return _tokens(text)


def _tokens(text: str) -> tuple[str, ...]:
    folded = _fold(text)
    pattern = _ASCII_CHUNK if folded.isascii() else _CHUNK
    chunks: list[str] = pattern.findall(folded)
    found: list[str] = []
    for chunk in chunks:
        found.extend(_analyse(chunk) if len(chunk) <= MAX_TOKEN_LENGTH else _chunk_tokens(chunk))
    if found or not chunks:
        return tuple(found)
    return tuple(part[:MAX_TOKEN_LENGTH] for chunk in chunks for part in _parts(chunk))


def index_terms(
    content: str,
    keywords: Iterable[str] = (),
    tags: Iterable[str] = (),
    author: str | None = None,
) -> tuple[str, ...]:
    """Return the terms a note is indexed under.

    The tokens of the content with repetition, then each further token of tags, keywords
    and author once, then each ideograph of the content once, so that a question of a
    single character finds the word it stands in.

    Examples
    --------
    >>> index_terms("Invoice sent", keywords=["invoice"], tags=["newmarker"], author="Ada")
    ('invoic', 'sent', 'newmark', 'ada')
    >>> index_terms("我喜欢猫")
    ('我喜', '喜欢', '欢猫', '我', '喜', '欢', '猫')
    """
    terms = list(tokens(content))
    seen = set(terms)
    fields = [*tags, *keywords, *([author] if author is not None else [])]
    extra = [token for field in fields for token in tokens(field)]
    if not content.isascii():
        extra.extend(_IDEOGRAPH.findall(_fold(content)))
    for term in extra:
        if term not in seen:
            seen.add(term)
            terms.append(term)
    return tuple(terms)


def embedding_text(
    content: str,
    *,
    keywords: Iterable[str] = (),
    tags: Iterable[str] = (),
    context: str = "",
) -> str:
    r"""Return the text a note is embedded as: content, then what its metadata adds to it.

    A-MEM (arXiv 2502.12110, eq. 3) embeds ``concat(content, K, G, X)``. Words that stand in
    the content already would only weigh it twice, so a keyword, a tag or the context is
    added when it has at least one token the text so far lacks.

    Examples
    --------
    >>> embedding_text("Ada prefers aisle seats", keywords=["aisle seats", "flight"])
    'Ada prefers aisle seats\nflight'
    """
    known = set(tokens(content))
    added: list[str] = []
    for field in (*keywords, *tags, context):
        new = set(tokens(field)) - known
        if new:
            known |= new
            added.append(field)
    return "\n".join([content, ", ".join(added)]) if added else content


def is_blank(text: str) -> bool:
    r"""Whether a text shows nothing: only spaces, controls, zero-width or filler characters.

    Examples
    --------
    >>> [is_blank(text) for text in ("", " \n", "\u00a0\u200b", "x", "…")]
    [True, True, True, False, False]
    """
    if text[:1].isascii() and text[:1].isalnum():
        return False
    return all(
        character.isspace()
        or unicodedata.category(character) in {"Cc", "Cf", "Zs", "Zl", "Zp"}
        or character in "\u034f\u115f\u1160\u17b4\u17b5\u2800\u3164\uffa0"
        or "\ufe00" <= character <= "\ufe0f"
        for character in text
    )


_SURFACE = re.compile(rf"{_WORD}(?:(?:{_JOINER}|,(?=\d)){_WORD})*(?:\+\+|\#(?!\w))?")
_SENTENCE_END = re.compile(
    r"(?<![.!?…])[.!?…]+[\"'”\u2019)\]]*\s+|[。\uff01\uff1f]+[」』”]*\s*|\n\s*"
)
_ABBREVIATION = re.compile(
    r"(?:^|[\s(])(?:[A-Za-z]|[A-Za-z](?:\.[A-Za-z])+"
    r"|Mr|Mrs|Ms|Dr|Prof|St|Jr|Sr|vs|etc|No|Nr|approx|ca|cf|Inc|Ltd|Co)\.\s+$"
)


def words(text: str) -> tuple[str, ...]:
    """Return the words and numbers of a text as they are written (NFC), in order.

    Examples
    --------
    >>> words("Ada's C++ code, v2.1!")
    ("Ada's", 'C++', 'code', 'v2.1')
    """
    return tuple(_SURFACE.findall(unicodedata.normalize("NFC", text)))


def sentences(text: str) -> tuple[str, ...]:
    r"""Return the sentences of a text, stripped, in order; lines end a sentence too.

    Examples
    --------
    >>> sentences("Dr. Roy called. Invoice 4.5 is late!\nNext")
    ('Dr. Roy called.', 'Invoice 4.5 is late!', 'Next')
    """
    return tuple(part for part in map(str.strip, _split_sentences(text)) if not is_blank(part))


def sentences_to_embed(content: str, *, role: str = "user") -> tuple[str, ...]:
    """Return the sentences of a note that get vectors of their own, in order.

    A long message says several things, and its one vector lies between them. Of two or more
    sentences the first :data:`MOST_SENTENCES` that are longer than :data:`SHORT_SENTENCE`
    characters are embedded, each distinct one once; a note of one sentence has its own vector.
    An assistant's replies are left out: they are long, and seldom what a question is about.

    Examples
    --------
    >>> sentences_to_embed("Thank you! I bought a red kayak today.")
    ('I bought a red kayak today.',)
    >>> sentences_to_embed("I bought a red kayak today.")
    ()
    >>> sentences_to_embed("Nice kayak you have. Enjoy the lake!", role="assistant")
    ()
    """
    if role == "assistant":
        return ()
    found = sentences(content)
    if len(found) < 2:
        return ()
    long = dict.fromkeys(each for each in found if len(each) > SHORT_SENTENCE)
    return tuple(long)[:MOST_SENTENCES]


def _split_sentences(text: str) -> Iterator[str]:
    start = 0
    for end in _SENTENCE_END.finditer(text):
        # A look-back of a few characters keeps the whole split linear.
        before = text[max(start, end.start() - 12) : end.end()]
        if "\n" not in end.group() and _ABBREVIATION.search(before):
            continue
        yield text[start : end.end()]
        start = end.end()
    yield text[start:]


def _fold(text: str) -> str:
    if text.isascii():
        return text.lower()
    composed = unicodedata.normalize("NFKC", unicodedata.normalize("NFKC", text).casefold())
    plain = _FOLDED_MARK.sub("", unicodedata.normalize("NFD", composed))
    plain = unicodedata.normalize("NFC", _DROPPED.sub("", plain)).translate(_LETTERS)
    return _FOREIGN_DIGIT.sub(lambda digit: str(unicodedata.decimal(digit.group())), plain)


@remembered(1 << 16)
def _analyse(chunk: str) -> tuple[str, ...]:
    return tuple(_chunk_tokens(chunk))


def _chunk_tokens(chunk: str) -> Iterator[str]:
    """Yield the tokens of one folded run of word characters and joiners."""
    if chunk in STOP_WORDS:
        return
    if chunk.isalnum() and chunk.isascii():
        yield _stem(chunk)
    elif _PICTURE.match(chunk):
        yield chunk
    elif chunk.endswith(("++", "#")) and chunk.rstrip("+#").isalnum():
        yield chunk[-MAX_TOKEN_LENGTH:]
    elif _NUMBER.fullmatch(chunk):
        plain = chunk.replace(",", "") if _THOUSANDS.fullmatch(chunk) else chunk
        yield plain[:MAX_TOKEN_LENGTH]
    else:
        yield from _compound_tokens(_CONTRACTION.sub("", chunk))


def _compound_tokens(chunk: str) -> Iterator[str]:
    parts = _parts(chunk)
    for part in parts:
        yield from _word_tokens(part)
    if len(parts) > 1 and len(chunk) <= MAX_TOKEN_LENGTH and not _NGRAM_SCRIPT.search(chunk):
        together = _WRITTEN_TOGETHER.fullmatch(chunk)
        yield _stem(chunk.replace("-", "")) if together else chunk


def _parts(chunk: str) -> list[str]:
    return [part for part in _SEPARATOR.split(chunk) if part]


def _word_tokens(word: str) -> Iterator[str]:
    if word in STOP_WORDS:
        return
    if word.isascii():
        yield _stem(word)
        return
    for run in _SCRIPT_RUN.finditer(word):
        part = run.group()
        if run.lastgroup == "bigrams":
            yield from _ngrams(part, 2)
        elif run.lastgroup == "hiragana":
            # A lone hiragana is a particle unless it is all there is.
            if len(part) > 1 or part == word:
                yield from _ngrams(part, 2)
        elif run.lastgroup == "trigrams":
            yield from _ngrams(part, 3)
        elif part not in STOP_WORDS:
            yield _stem(part)
            yield from _without_prefix(part)


def _ngrams(run: str, size: int) -> Iterator[str]:
    if len(run) <= size:
        yield run
        return
    for start in range(len(run) - size + 1):
        yield run[start : start + size]


def _without_prefix(word: str) -> Iterator[str]:
    prefix = _HEBREW_PREFIX.match(word) or _ARABIC_PREFIX.match(word)
    if prefix is not None:
        yield word[prefix.end() :][:MAX_TOKEN_LENGTH]


def _stem(word: str) -> str:
    if len(word) > MAX_TOKEN_LENGTH:
        return word[:MAX_TOKEN_LENGTH]
    # A stemmer keeps state while it works, so each call has its own: threads cannot mix.
    if word.isascii():
        stem = snowballstemmer.stemmer("english").stemWord(word)
    elif "\u0430" <= word[0] <= "\u044f":
        stem = snowballstemmer.stemmer("russian").stemWord(word)
    else:
        return word
    return stem or word
