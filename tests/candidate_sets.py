"""Candidate sets made by hand, for tests of signals and rankings."""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import UTC, datetime
from itertools import pairwise
from typing import Any

from graphmem.algorithms.candidate_table import CandidateTable, Question
from graphmem.algorithms.text import index_terms, tokens
from graphmem.model import Candidate, CandidateSet, Link, LinkKind, Note, Source

DAY = datetime(2023, 7, 12, 15, tzinfo=UTC)


@dataclass(frozen=True)
class Said:
    """One note of a made-up set: where it stands and how near it is to the question."""

    content: str
    cosine: float | None = 0.0
    source: str | None = None
    position: int | None = None
    author: str | None = None
    role: str = "user"
    at: datetime = DAY
    sentence: float | None = None
    fields: dict[str, Any] = field(default_factory=dict)


def table(question: str, *said: Said, at: datetime = DAY) -> CandidateTable:
    """The table of a whole scope: notes ``n00``, ``n01``, ... chained within their source."""
    notes = [_note(number, each) for number, each in enumerate(said)]
    terms = [index_terms(each.content, author=each.author) for each in said]
    asked = tokens(question)
    found = CandidateSet(
        candidates=tuple(
            Candidate(note, own, each.cosine, sentence_cosine=each.sentence)
            for note, own, each in zip(notes, terms, said, strict=True)
        ),
        links=_follows(notes),
        note_count=len(said),
        average_terms=sum(map(len, terms)) / max(1, len(said)),
        document_frequency={term: sum(term in own for own in terms) for term in asked},
    )
    return CandidateTable(Question(question, asked, at), found)


def _note(number: int, said: Said) -> Note:
    source = None if said.source is None else Source(said.source, position=said.position)
    values: dict[str, Any] = {
        "id": f"n{number:02}", "namespace": "default", "content": said.content,
        "role": said.role, "author": said.author, "source": source, "created_at": said.at,
        "keywords": (), "tags": (), "context": "", "importance": 0.5, "metadata": {},
        "last_accessed_at": said.at,
    }  # fmt: skip
    return Note(**(values | said.fields))


def _follows(notes: list[Note]) -> tuple[Link, ...]:
    chains: dict[str, list[Note]] = {}
    for note in notes:
        if note.source is not None and note.source.position is not None:
            chains.setdefault(note.source.id, []).append(note)
    return tuple(
        Link(later.id, earlier.id, 1.0, 1.0, LinkKind.FOLLOWS)
        for chain in chains.values()
        for earlier, later in pairwise(chain)
    )
