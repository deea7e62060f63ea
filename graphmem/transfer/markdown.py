"""A Markdown text as passages: one before the first heading, and one for each heading.

A passage begins at its heading and ends before the next one of any level; it is the text as
it stands in the file, so ``text[start:end]`` is the content of its note.
"""

from __future__ import annotations

import re
import unicodedata
from bisect import bisect_right
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

from markdown_it import MarkdownIt
from markdown_it.rules_inline import StateInline
from markdown_it.token import Token

_LINE = re.compile(r"[^\r\n]*(?:\r\n|\r|\n|\Z)")
_ATTACHMENT = re.compile(r"\.(?!md$|markdown$)\w{1,5}$", re.IGNORECASE)
"""The name of a picture, sound or other file that ``![[...]]`` shows in the text."""
_CUT = re.compile(r"[^\w]+")
_SPACE = " \t\r\n\f\v"


@dataclass(frozen=True, slots=True)
class Passage:
    """One passage of a file.

    Attributes
    ----------
    start, end
        Character offsets within the file.
    headings
        The heading and those above it, outermost first; empty before the first heading.
    links
        Targets of its wikilinks as they are written, without the text after ``|``.
    """

    start: int
    end: int
    headings: tuple[str, ...]
    links: tuple[str, ...]


def passages(text: str, start: int = 0) -> tuple[Passage, ...]:
    r"""Return the passages of a text from `start` on, those without a visible character left out.

    Examples
    --------
    >>> text = "hello [[Ada]]\n# Trip\nfly\n## Packing\nsocks"
    >>> [(text[p.start : p.end], p.headings, p.links) for p in passages(text)]
    ... # doctest: +NORMALIZE_WHITESPACE
    [('hello [[Ada]]', (), ('Ada',)), ('# Trip\nfly', ('Trip',), ()),
     ('## Packing\nsocks', ('Trip', 'Packing'), ())]
    """
    body = text[start:]
    tokens = _parser().parse(body)
    offsets = [start + match.start() for match in _LINE.finditer(body)]
    titles = _titles(tokens)
    cuts = [0, *(line for line, _ in titles)]
    links: list[dict[str, None]] = [{} for _ in cuts]
    for token in tokens:
        if token.map is not None:
            found = dict.fromkeys(t.content for t in token.children or () if t.type == "wikilink")
            links[bisect_right(cuts, token.map[0]) - 1 if titles else 0].update(found)
    made = []
    for index, line in enumerate(cuts):
        end = offsets[cuts[index + 1]] if index + 1 < len(cuts) else len(text)
        span = _trimmed(text, offsets[line] if index else start, end)
        if span is not None:
            headings = titles[index - 1][1] if index else ()
            made.append(Passage(*span, headings, tuple(links[index])))
    return tuple(made)


def _titles(tokens: Sequence[Token]) -> list[tuple[int, tuple[str, ...]]]:
    """Return the line of each heading of the text itself, with the headings above it."""
    titles: list[tuple[int, tuple[str, ...]]] = []
    above: list[tuple[int, str]] = []
    for token, inline in pairwise(tokens):
        if token.type != "heading_open" or token.level != 0 or token.map is None:
            continue
        level = int(token.tag[1:])
        above = [(depth, title) for depth, title in above if depth < level]
        above.append((level, " ".join(inline.content.split())))
        titles.append((token.map[0], tuple(title for _, title in above)))
    return titles


def _trimmed(text: str, start: int, end: int) -> tuple[int, int] | None:
    while start < end and text[start] in _SPACE:
        start += 1
    while end > start and text[end - 1] in _SPACE:
        end -= 1
    return (start, end) if start < end else None


def _parser() -> MarkdownIt:
    parser = MarkdownIt("commonmark")
    parser.inline.ruler.before("link", "wikilink", _wikilink)
    return parser


def _wikilink(state: StateInline, silent: bool) -> bool:
    """Read ``[[target]]`` or ``[[target|shown]]``; inside code it never comes this far."""
    if not state.src.startswith("[[", state.pos):
        return False
    end = state.src.find("]]", state.pos + 2, state.posMax)
    inner = state.src[state.pos + 2 : end] if end > 0 else ""
    if not inner.strip() or "\n" in inner or "[" in inner:
        return False
    target = inner.partition("|")[0].strip()
    embedded = state.pos > 0 and state.src[state.pos - 1] == "!"
    if not silent:
        kind = "embed" if embedded and _ATTACHMENT.search(target) else "wikilink"
        state.push(kind, "", 0).content = target
    state.pos = end + 2
    return True


def slug(title: str) -> str:
    """Return a heading as part of an id.

    Examples
    --------
    >>> slug("What to pack? (*Summer*)")
    'what-to-pack-summer'
    """
    folded = unicodedata.normalize("NFKC", title).casefold()
    return _CUT.sub("-", folded).strip("-_") or "-"
