"""A small hand-written corpus: three people, one year, and questions about them.

It is what ``graphmem demo`` shows, and test data: about 150 notes from diaries, chats with
an assistant, meeting minutes and a group chat, with changes of mind, near duplicates,
numbers that look alike and some Japanese. Every question names the notes that answer it;
the unanswerable ones name none.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum
from importlib.resources import files

from pydantic import BaseModel, ConfigDict

from graphmem.model import NoteInput
from graphmem.transfer.decoding import decode_plain, parse_object
from graphmem.transfer.lines import numbered_lines
from graphmem.transfer.records import Instant

__all__ = ["DemoQuestion", "QuestionKind", "corpus", "questions"]


class QuestionKind(StrEnum):
    """What a question tries."""

    FACT = "fact"
    CHANGE = "change"
    NUMBER = "number"
    SEVERAL = "several"
    LINKED = "linked"
    INSTRUCTION = "instruction"
    JAPANESE = "japanese"
    UNANSWERABLE = "unanswerable"


@dataclass(frozen=True, slots=True)
class DemoQuestion:
    """A question with the notes that answer it.

    Attributes
    ----------
    id, question
        Identity and text.
    at
        Moment of asking, in UTC; later than every gold note.
    kind
        What the question tries.
    answer
        The answer in words, or why there is none.
    gold
        Ids of the notes that hold the answer; empty when nothing does.
    """

    id: str
    question: str
    at: datetime
    kind: QuestionKind
    answer: str
    gold: tuple[str, ...]

    @property
    def answerable(self) -> bool:
        """Whether the corpus holds the answer."""
        return bool(self.gold)


class _QuestionLine(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")

    id: str
    question: str
    at: Instant
    kind: QuestionKind
    answer: str
    gold: tuple[str, ...]


def corpus() -> tuple[NoteInput, ...]:
    """Return the notes in order of time, ready for ``add_many``."""
    return tuple(decode_plain(parse_object(text))[0] for text in _lines("corpus.jsonl"))


def questions() -> tuple[DemoQuestion, ...]:
    """Return the questions in order of id."""
    lines = (_QuestionLine.model_validate(parse_object(t)) for t in _lines("questions.jsonl"))
    return tuple(DemoQuestion(q.id, q.question, q.at, q.kind, q.answer, q.gold) for q in lines)


def _lines(name: str) -> Iterator[str]:
    with files(__package__).joinpath(name).open("rb") as raw:
        for line in numbered_lines(raw):
            yield line.text
