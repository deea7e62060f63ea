"""Index terms as the full-text index holds them.

Its analyzer splits at whitespace and does nothing else, so a token is found exactly when a
note has it. What the analyzer could not hold whole (blanks, overlong tokens) stands in the
index as its digest. Each note's last term says which namespace it belongs to and whether it
is archived: a lookup that requires it never counts notes of others.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

_SPLITTING = re.compile(r"[\s\x00-\x20]")
"""Java's ``Character.isWhitespace``, and all Python knows besides."""
_LONGEST = 200
"""Lucene cuts tokens at 255 UTF-16 units."""
_STAND_IN = "\ue000"
"""From the private use area: starts the terms that are not tokens of a text."""
CURRENT_MARK = f"{_STAND_IN}current-"
"""Starts the last term of a current note."""
ARCHIVE_MARK = f"{_STAND_IN}archive-"
"""Starts the last term of an archived note."""


@dataclass(frozen=True, slots=True)
class StoredTerms:
    """A note's terms as two properties.

    Attributes
    ----------
    terms
        One entry a token, in order, and last the entry of the namespace.
    odd_terms
        The tokens that stand in `terms` as a digest, in order.
    """

    terms: list[str]
    odd_terms: list[str]


def stored_terms(tokens: Sequence[str], namespace: str, *, archived: bool) -> StoredTerms:
    r"""Return the properties that hold `tokens`.

    >>> stored_terms(("seat", "a b"), "n", archived=False).odd_terms
    ['a b']
    """
    return StoredTerms(
        terms=[*map(_indexed, tokens), owner(namespace, archived=archived)],
        odd_terms=[token for token in tokens if not _plain(token)],
    )


def tokens_of(terms: Iterable[str], odd_terms: Iterable[str] | None) -> tuple[str, ...]:
    """Return the tokens of a note from its properties, without the namespace's entry."""
    if not odd_terms:
        return tuple(terms)
    odd = iter(odd_terms)
    return tuple(next(odd) if term.startswith(_STAND_IN) else term for term in terms)


def lookup(token: str, namespace: str, *, archived: bool) -> str:
    r"""Return the index query for the namespace's notes that have the token.

    Every part is a quoted phrase of one term: nothing in it is an operator.
    """
    owners = [_quoted(owner(namespace, archived=False))]
    if archived:
        owners.append(_quoted(owner(namespace, archived=True)))
    return f"+({' '.join(owners)}) +{_quoted(_indexed(token))}"


def _plain(token: str) -> bool:
    return (
        0 < len(token) <= _LONGEST
        and not token.startswith(_STAND_IN)
        and _SPLITTING.search(token) is None
    )


def _indexed(token: str) -> str:
    return token if _plain(token) else _STAND_IN + _digest(token)


def owner(namespace: str, *, archived: bool) -> str:
    """Return the term that says whose a note is; no token of a text can be equal to it."""
    return f"{ARCHIVE_MARK if archived else CURRENT_MARK}{_digest(namespace)}"


def _digest(text: str) -> str:
    return hashlib.blake2b(text.encode("utf-8", "surrogatepass"), digest_size=16).hexdigest()


def _quoted(term: str) -> str:
    escaped = term.replace("\\", "\\\\").replace('"', '\\"')
    return f'"{escaped}"'
