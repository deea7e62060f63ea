"""The block of YAML between ``---`` lines at the top of a Markdown file."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

from pydantic import BaseModel, ConfigDict, ValidationError

from graphmem.errors import InvalidInput
from graphmem.transfer.decoding import explain
from graphmem.transfer.records import SourceField
from graphmem.transfer.times import parse_time
from graphmem.transfer.yaml_text import read_yaml

_BLOCK = re.compile(r"---[ \t]*\r?\n(?P<yaml>.*?)^(?:---|\.\.\.)[ \t]*(?:\r?\n|\Z)", re.S | re.M)
OWN = "graphmem"
"""The field under which an export keeps what is not a note's for everyone."""
_DATES = ("created_at", "created", "date")
_LISTS = ("tags", "keywords")
_TEXTS = ("author", "context", "role")


class ExportedNote(BaseModel):
    """What front matter says of a note beyond the fields anyone may write."""

    model_config = ConfigDict(strict=True, frozen=True, extra="forbid")

    id: str
    source: SourceField | None = None
    metadata: dict[str, Any] = {}
    related: list[str] = []


@dataclass(frozen=True, slots=True)
class FrontMatter:
    """What a file says about itself.

    Attributes
    ----------
    aliases
        Other names by which wikilinks may call the file.
    metadata
        The fields that are not a note's own, as they are written.
    exported
        What graphmem's own export says about the one note the file is.
    body
        Where the text after the block begins.
    problem
        Why the block could not be read; then nothing of it was.
    """

    body: int = 0
    tags: tuple[str, ...] | None = None
    keywords: tuple[str, ...] | None = None
    author: str | None = None
    context: str | None = None
    role: str = "user"
    importance: float | None = None
    created_at: datetime | None = None
    aliases: tuple[str, ...] = ()
    metadata: Mapping[str, object] = field(default_factory=dict)
    exported: ExportedNote | None = None
    problem: str | None = None


def read_front_matter(text: str) -> FrontMatter:
    r"""Return what the block at the top of a file means for its notes.

    ``tags``, ``keywords``, ``author``, ``context``, ``role``, ``importance`` and the date
    (``created_at``, ``created`` or ``date``) are a note's own, where they can be read as
    such; everything else is metadata. Without a block the body is the whole text.

    Examples
    --------
    >>> found = read_front_matter("---\ntags: [a]\nmood: fine\n---\n# Title")
    >>> found.tags, found.metadata, found.body
    (('a',), {'mood': 'fine'}, 29)
    """
    match = _BLOCK.match(text)
    if match is None:
        return FrontMatter()
    try:
        fields = _fields(match["yaml"])
        return _meaning(fields, match.end())
    except ValueError as error:
        return FrontMatter(body=match.end(), problem=str(error))


def _fields(block: str) -> dict[str, object]:
    fields = read_yaml(block)
    if fields is None:
        return {}
    if not isinstance(fields, dict):
        raise ValueError("is no mapping of names to values")
    return {str(name): value for name, value in fields.items()}


def _meaning(fields: Mapping[str, object], body: int) -> FrontMatter:
    left = dict(fields)
    words = {name: _words(left.pop(name)) for name in _LISTS if name in left}
    texts = {name: str(left.pop(name)) for name in _TEXTS if _is_text(left.get(name))}
    return FrontMatter(
        body=body,
        tags=words.get("tags"),
        keywords=words.get("keywords"),
        author=texts.get("author"),
        context=texts.get("context"),
        role=texts.get("role", "user"),
        importance=_importance(left),
        created_at=_date(left),
        aliases=_names(fields.get("aliases")),
        exported=_exported(left),
        metadata=left,
    )


def _exported(left: dict[str, object]) -> ExportedNote | None:
    """Take what graphmem's own export adds."""
    own = left.pop(OWN, None)
    if own is None:
        return None
    try:
        return ExportedNote.model_validate(own)
    except ValidationError as error:
        raise ValueError(f"{OWN}: {explain(error)}") from error


def _importance(left: dict[str, object]) -> float | None:
    value = left.get("importance")
    if isinstance(value, bool) or not isinstance(value, (int, float)) or not 0 <= value <= 1:
        return None
    del left["importance"]
    return float(value)


def _is_text(value: object) -> bool:
    return isinstance(value, str) and bool(value.strip())


def _names(value: object) -> tuple[str, ...]:
    if isinstance(value, str):
        return (value,)
    return tuple(str(item) for item in value if item) if isinstance(value, list) else ()


def _words(value: object) -> tuple[str, ...]:
    items: Sequence[object]
    if isinstance(value, list):
        items = value
    else:
        items = re.split(r"[,\s]+", str(value)) if value is not None else ()
    words = (str(item).strip().lstrip("#") for item in items if item is not None)
    return tuple(dict.fromkeys(word for word in words if word))


def _date(left: dict[str, object]) -> datetime | None:
    """Take the first date that can be read; one that cannot stays in the metadata."""
    for name in _DATES:
        value = left.get(name)
        if not isinstance(value, str):
            continue
        try:
            moment = parse_time(value.strip())
        except InvalidInput:
            continue
        del left[name]
        return moment
    return None
