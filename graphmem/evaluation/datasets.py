"""What the readers of the public data sets share: cases, identifiers, files.

Every reader of conversations yields :class:`Case` values: the turns of one namespace and the
questions asked of it. Identifiers are digests, so that nothing a ranking can see (an
``answer_`` prefix, the order of a file) tells the gold notes from the others.
"""

from __future__ import annotations

import hashlib
import json
import lzma
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import IO, Any, Protocol

from graphmem.errors import TransferError
from graphmem.model import NoteInput, Source

JsonObject = Mapping[str, Any]
"""One JSON object as it was read; nothing of it leaves this module unchecked."""


@dataclass(frozen=True, slots=True)
class Question:
    """One question with its gold evidence.

    Attributes
    ----------
    id
        Identifier of the data set (LongMemEval) or ``conversation/index`` (LoCoMo); shown in
        reports, never seen by a ranking.
    category
        The data set's name of the kind of question.
    asked_at
        The moment of asking.
    gold_notes, gold_sources
        Ids of the notes and sources that hold the answer; empty when there is none.
    answerable
        Whether the conversation holds the answer.
    """

    id: str
    text: str
    category: str
    asked_at: datetime
    gold_notes: frozenset[str]
    gold_sources: frozenset[str]
    answerable: bool


@dataclass(frozen=True, slots=True)
class Turn:
    """One turn of a conversation, stored as one note."""

    id: str
    source_id: str
    position: int
    role: str
    author: str | None
    created_at: datetime
    content: str

    def note(self) -> NoteInput:
        """Return the note to add."""
        return NoteInput(
            content=self.content,
            id=self.id,
            source=Source(id=self.source_id, position=self.position),
            role=self.role,
            author=self.author,
            created_at=self.created_at,
        )


@dataclass(frozen=True, slots=True)
class Case:
    """The turns of one namespace and the questions asked of them."""

    id: str
    turns: tuple[Turn, ...]
    questions: tuple[Question, ...]

    @property
    def notes(self) -> Sequence[NoteInput]:
        """The turns as notes."""
        return [turn.note() for turn in self.turns]


class NotedCase(Protocol):
    """Anything to fill a namespace with, whatever is asked of it afterwards."""

    @property
    def id(self) -> str:
        """Name of the case."""
        ...

    @property
    def notes(self) -> Sequence[NoteInput]:
        """Its notes in order of time."""
        ...


def opaque(*parts: str | int) -> str:
    """Return an identifier that tells nothing about `parts`, and is the same every time.

    >>> opaque("conv-26", 1, 3) == opaque("conv-26", 1, 3) != opaque("conv-26", 1, 4)
    True
    >>> len(opaque("conv-26"))
    16
    """
    joined = "\x1f".join(str(part) for part in parts)
    return hashlib.sha256(joined.encode()).hexdigest()[:16]


def parse_date(text: str, form: str) -> datetime:
    """Read a date of the data set as UTC; raises ``ValueError``."""
    return datetime.strptime(text.strip(), form).replace(tzinfo=UTC)


def _open(path: Path) -> IO[str]:
    if path.suffix == ".xz":
        return lzma.open(path, "rt", encoding="utf-8")
    return path.open(encoding="utf-8")


def load_json(path: Path) -> Any:
    """Return the JSON value of a file, ``.xz`` or plain; raises ``TransferError``."""
    try:
        with _open(path) as file:
            return json.load(file)
    except (OSError, lzma.LZMAError, UnicodeDecodeError, json.JSONDecodeError) as error:
        raise TransferError(f"{path} cannot be read: {error}. Nothing was evaluated.") from error


def read_records(path: Path) -> Iterator[JsonObject]:
    """Yield the objects of a JSON list or of JSON Lines; raises ``TransferError``."""
    try:
        with _open(path) as file:
            if file.read(1) == "[":
                file.seek(0)
                yield from json.load(file)
                return
            file.seek(0)
            for line in file:
                if line.strip():
                    yield json.loads(line)
    except (OSError, lzma.LZMAError, UnicodeDecodeError, json.JSONDecodeError) as error:
        raise TransferError(f"{path} cannot be read: {error}.") from error


def not_of_kind(path: Path, kind: str, problem: str) -> TransferError:
    """Return the error of a file that was read but is no such data set."""
    return TransferError(f"{path} is not a {kind} file: {problem}.")
