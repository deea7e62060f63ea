"""Whom a note is about: how far it speaks of its own author, or of the one it addresses."""

from __future__ import annotations

import re
from collections.abc import Collection

READ_LENGTH = 2000
"""Only so many characters of a note are read for its pronouns."""

# A contraction such as "I'm" or "you're" is found by its first part.
_FIRST_PERSON = re.compile(r"\b(?:i|im|ive|me|my|mine|myself|we|us|our|ours|ourselves)\b")
_SECOND_PERSON = re.compile(r"\b(?:you|your|yours|yourself|yourselves)\b")


def self_reference(text: str) -> float:
    r"""Return how far a text speaks of the one who says it.

    .. math:: \frac{1 + I}{2 + I + you + question}

    with the number of first and second person words, and 1 for a text that ends in a
    question mark. English only: a text without such words, of any language, is neutral.

    Returns
    -------
    float
        In (0, 1); 0.5 is neutral.

    Examples
    --------
    >>> self_reference("I ran my first marathon"), self_reference("How was your day?")
    (0.75, 0.25)
    >>> self_reference("猫が好きです")
    0.5
    """
    read = text[:READ_LENGTH].lower().replace("\u2019", "'")
    own = len(_FIRST_PERSON.findall(read))
    addressed = len(_SECOND_PERSON.findall(read))
    asks = text.rstrip().endswith(("?", "\uff1f"))
    return (1 + own) / (2 + own + addressed + asks)


def ownership(text: str, author: str | None, person: str, people: Collection[str]) -> float:
    r"""Return how far a note is about a person rather than about anyone else.

    What a note does not say of its author it says of the others, in equal parts. The share
    of the person is compared with that of the strongest other:

    .. math:: \frac{a_{person}}{a_{person} + \max_{q \neq person} a_q}

    Parameters
    ----------
    text, author
        The note.
    person
        The person asked about, one of `people`.
    people
        Everyone who takes part; an assistant does not.

    Returns
    -------
    float
        In (0, 1); 0.5 when the author is not one of `people` or is alone.

    Examples
    --------
    >>> ownership("I ran my first marathon", "Ben", "Ben", ["Ana", "Ben"])
    0.75
    >>> ownership("I ran my first marathon", "Ben", "Ana", ["Ana", "Ben"])
    0.25
    """
    if author not in people or len(people) < 2:
        return 0.5
    own = self_reference(text)
    rest = (1 - own) / (len(people) - 1)
    return own / (own + rest) if author == person else rest / (own + rest)
