"""What enters graphmem is checked here, once, before anything is computed or stored.

One rule for every text (content, ids, tags, metadata, questions): no NUL and no lone
surrogate, because neither survives every store; refused, never replaced. Everything else,
emoji, right-to-left and unspaced scripts included, is kept character for character.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping
from datetime import UTC, datetime
from typing import Annotated, Any, Literal, TypeAlias, TypeVar

from pydantic import (
    AfterValidator,
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Field,
    ValidationError,
)

from graphmem.algorithms.text import is_blank
from graphmem.errors import InvalidInput, InvalidNote, InvalidQuery
from graphmem.model import Json, NoteFilter, NoteInput, Source

MAX_CONTENT = 1_000_000
"""Characters a note may have."""
MAX_ID = 512
"""Characters an id, author, role, tag or metadata key may have."""
MAX_LIST = 64
"""Tags or keywords a note may be given."""
MAX_DEPTH = 16
"""How deep metadata may nest."""
MAX_INTEGER = 2**63 - 1

T = TypeVar("T")

NaiveTimes = Literal["refuse", "utc"]


def unstorable(text: str) -> str | None:
    """Say why a text cannot be stored, or ``None`` when it can."""
    if "\0" in text:
        return f"holds a NUL character at {text.index(chr(0))}; remove it"
    try:
        text.encode("utf-8")
    except UnicodeEncodeError as error:
        return f"holds a lone surrogate at {error.start}, which is not a character; remove it"
    return None


def _text(value: str) -> str:
    problem = unstorable(value)
    if problem:
        raise ValueError(problem)
    return value


def _storable(value: object) -> object:
    return _text(value) if isinstance(value, str) else value


def _shown(value: str) -> str:
    if is_blank(_text(value)):
        raise ValueError("is blank")
    return value


def _identifier(value: str) -> str:
    if _shown(value) != value.strip():
        raise ValueError("begins or ends with white space; remove it")
    return value


def _one_or_many(value: object) -> object:
    if value is None:
        return None
    if isinstance(value, str):
        return (value,)
    if isinstance(value, Iterable) and not isinstance(value, (bytes, Mapping)):
        # A set has no order of its own, and both stores must get the same one.
        return tuple(sorted(value, key=str) if isinstance(value, (set, frozenset)) else value)
    raise ValueError("must be a text or several texts")


def _distinct(values: tuple[str, ...] | None) -> tuple[str, ...] | None:
    return values if values is None else tuple(dict.fromkeys(values))


def _json(value: object, depth: int = 0) -> Json:
    if depth > MAX_DEPTH:
        raise ValueError(f"nests deeper than {MAX_DEPTH}")
    if value is None or isinstance(value, (bool, int)):
        return value
    if isinstance(value, str):
        return _text(value)
    if isinstance(value, float):
        if not math.isfinite(value):
            raise ValueError(f"is {value}, which is not a finite number")
        return value
    if isinstance(value, (list, tuple)):
        return [_json(item, depth + 1) for item in value]
    if isinstance(value, Mapping):
        return {_key(key): _json(item, depth + 1) for key, item in value.items()}
    raise ValueError(
        f"is a {type(value).__name__}; metadata holds texts, numbers, booleans, None, lists "
        "and mappings of these"
    )


def _key(key: object) -> str:
    if not isinstance(key, str) or is_blank(_text(key)) or len(key) > MAX_ID:
        raise ValueError(f"key {key!r} must be a text of 1 to {MAX_ID} characters")
    return key


def _metadata(value: object) -> dict[str, Json] | None:
    if value is None:
        return None
    if not isinstance(value, Mapping):
        raise ValueError("must be a mapping")
    checked: dict[str, Json] = {}
    for key, item in value.items():
        try:
            checked[_key(key)] = _json(item)
        except ValueError as error:
            raise ValueError(f"{key!r} {error}") from error
    return checked


Content: TypeAlias = Annotated[
    str,
    Field(strict=True, max_length=MAX_CONTENT),
    BeforeValidator(_storable),
    AfterValidator(_shown),
]
Identifier: TypeAlias = Annotated[
    str,
    Field(strict=True, max_length=MAX_ID),
    BeforeValidator(_storable),
    AfterValidator(_identifier),
]
Word: TypeAlias = Annotated[
    str,
    Field(strict=True, max_length=MAX_ID),
    BeforeValidator(_storable),
    AfterValidator(_shown),
]
Words: TypeAlias = Annotated[
    tuple[Word, ...] | None,
    Field(max_length=MAX_LIST),
    BeforeValidator(_one_or_many),
    AfterValidator(_distinct),
]
Whole: TypeAlias = Annotated[int, Field(strict=True, ge=-MAX_INTEGER, le=MAX_INTEGER)]


class _Entry(BaseModel):
    model_config = ConfigDict(
        frozen=True, extra="forbid", from_attributes=True, arbitrary_types_allowed=True
    )


class SourceEntry(_Entry):
    """A source, checked."""

    id: Identifier
    revision: Word | None = None
    position: Whole | None = None
    start: Annotated[int, Field(strict=True, ge=0, le=MAX_INTEGER)] | None = None
    end: Annotated[int, Field(strict=True, ge=0, le=MAX_INTEGER)] | None = None


class NoteEntry(_Entry):
    """A note as it may be stored: every field checked, lists made tuples, times in UTC."""

    content: Content
    id: Identifier | None
    source: SourceEntry | None
    role: Identifier
    author: Identifier | None
    created_at: datetime | None
    keywords: Words
    tags: Words
    context: Word | None
    importance: Annotated[float, Field(strict=True, ge=0, le=1, allow_inf_nan=False)] | None
    metadata: Annotated[dict[str, Any] | None, BeforeValidator(_metadata)]

    @property
    def place(self) -> Source | None:
        """The source as a value of the model."""
        if self.source is None:
            return None
        s = self.source
        return Source(s.id, s.revision, s.position, s.start, s.end)


def checked_note(given: object, *, naive_times: NaiveTimes = "refuse") -> NoteEntry:
    """Return the checked form of an input.

    Raises
    ------
    InvalidNote
        Names the field and what is wrong with it; nothing was stored.
    """
    if not isinstance(given, NoteInput):
        raise InvalidNote("note", f"must be a NoteInput, not {type(given).__name__}")
    created_at = given.created_at
    if created_at is not None:
        created_at = _note_time(created_at, naive_times)
    try:
        return NoteEntry(
            content=given.content,
            id=given.id,
            source=SourceEntry.model_validate(given.source) if given.source else None,
            role=given.role,
            author=given.author,
            created_at=created_at,
            keywords=given.keywords,  # type: ignore[arg-type]  # made a tuple by its validator
            tags=given.tags,  # type: ignore[arg-type]  # made a tuple by its validator
            context=given.context,
            importance=given.importance,
            metadata=given.metadata,  # type: ignore[arg-type]  # made JSON by its validator
        )
    except ValidationError as error:
        raise _invalid_note(error) from error


def _invalid_note(error: ValidationError) -> InvalidNote:
    first = error.errors()[0]
    field = ".".join(str(part) for part in first["loc"])
    if error.title == SourceEntry.__name__:
        field = f"source.{field}" if field else "source"
    message = first["msg"].removeprefix("Value error, ")
    return InvalidNote(field, message[:1].lower() + message[1:])


def _note_time(value: object, naive: NaiveTimes) -> datetime:
    try:
        return checked_time(value, naive=naive)
    except InvalidInput as error:
        raise InvalidNote("created_at", str(error)) from error


def checked_time(value: object, *, naive: NaiveTimes = "refuse") -> datetime:
    """Return an aware datetime in UTC.

    Raises
    ------
    InvalidInput
        Not a datetime, without a zone (unless `naive` is ``utc``), or out of range in UTC.
    """
    if not isinstance(value, datetime):
        raise InvalidInput(f"must be a datetime, not {type(value).__name__}")
    if value.utcoffset() is None:
        if naive == "utc":
            return value.replace(tzinfo=UTC)
        raise InvalidInput(
            "has no time zone, so its moment is unknown; add one, such as tzinfo=timezone.utc"
        )
    try:
        return value.astimezone(UTC)
    except OverflowError as error:
        raise InvalidInput("lies outside the years 1 to 9999 in UTC") from error


def checked_query(query: object) -> str:
    """Return a question that can be asked.

    Raises
    ------
    InvalidQuery
        Not a text, blank, too long, or holding a NUL or lone surrogate.
    """
    if not isinstance(query, str):
        raise InvalidQuery(f"the query must be a text, not {type(query).__name__}")
    problem = unstorable(query)
    if problem:
        raise InvalidQuery(f"the query {problem}")
    if is_blank(query):
        raise InvalidQuery("the query is blank; ask with at least one visible character")
    if len(query) > MAX_CONTENT:
        raise InvalidQuery(f"the query has more than {MAX_CONTENT} characters")
    return query


def checked_limit(limit: object, name: str = "limit") -> int:
    """Return a whole number of at least 1.

    Raises
    ------
    InvalidQuery
        Zero, negative, or not an ``int``.
    """
    if isinstance(limit, bool) or not isinstance(limit, int):
        raise InvalidQuery(f"{name} must be a whole number, not {limit!r:.200}")
    if limit < 1:
        raise InvalidQuery(f"{name} must be at least 1, not {limit}")
    return limit


def checked_weight(weight: object) -> float:
    """Return the lowest weight a link may have.

    Raises
    ------
    InvalidQuery
        No number.
    """
    if isinstance(weight, bool) or not isinstance(weight, int | float) or weight != weight:
        raise InvalidQuery(f"min_weight must be a number, not {_kind(weight)}")
    return float(min(max(weight, -1), 2))  # beyond [0, 1] all links pass, or none


def checked_many(values: Iterable[T], name: str) -> Iterator[T]:
    """Return an iterator over what should be several values.

    Raises
    ------
    InvalidInput
        They cannot be iterated over.
    """
    try:
        return iter(values)
    except TypeError as error:
        raise InvalidInput(
            f"{name} must be an iterable, not {_kind(values)}; nothing was changed"
        ) from error


def checked_pair(value: object) -> tuple[str, str]:
    """Return the ids of two notes.

    Raises
    ------
    InvalidInput
        Not two ids.
    """
    if not isinstance(value, list | tuple) or len(value) != 2:
        raise InvalidInput(f"a pair must be two ids, not {_kind(value)}; nothing was changed")
    return checked_id(value[0]), checked_id(value[1])


def _kind(value: object) -> str:
    """Name the type: a value of any kind may be endless, or have no words."""
    return f"a value of type {type(value).__name__}"


def checked_id(value: object, name: str = "id") -> str:
    """Return an id that can exist.

    Raises
    ------
    InvalidInput
        Not a text, blank, padded, too long or unstorable.
    """
    if not isinstance(value, str):
        raise InvalidInput(f"{name} must be a text, not {type(value).__name__}")
    if len(value) > MAX_ID:
        raise InvalidInput(f"{name} has more than {MAX_ID} characters")
    try:
        return _identifier(value)
    except ValueError as error:
        raise InvalidInput(f"{name} {error}") from error


def checked_filter(
    *,
    sources: Iterable[str] | str | None,
    authors: Iterable[str] | str | None,
    tags: Iterable[str] | str | None,
    since: datetime | None,
    until: datetime | None,
    as_of: datetime | None = None,
    archived: bool = False,
) -> NoteFilter:
    """Return a filter from what a caller gave.

    Raises
    ------
    InvalidQuery
        Names the argument that cannot be used.
    """
    return NoteFilter(
        sources=_names(sources, "sources"),
        authors=_names(authors, "authors"),
        tags=_names(tags, "tags"),
        since=_filter_time(since, "since"),
        until=_filter_time(until, "until"),
        as_of=_filter_time(as_of, "as_of"),
        archived=archived,
    )


def _names(values: Iterable[str] | str | None, name: str) -> frozenset[str] | None:
    if values is None:
        return None
    try:
        names = frozenset((values,) if isinstance(values, str) else values)
    except TypeError as error:
        raise InvalidQuery(f"{name} must be a text or several texts") from error
    for value in names:
        if not isinstance(value, str):
            raise InvalidQuery(f"{name} must be texts, not {type(value).__name__}")
        problem = unstorable(value)
        if problem:
            raise InvalidQuery(f"{name}: {value!r} {problem}")
    return names


def _filter_time(value: datetime | None, name: str) -> datetime | None:
    if value is None:
        return None
    try:
        return checked_time(value)
    except InvalidInput as error:
        raise InvalidQuery(f"{name} {error}") from error
