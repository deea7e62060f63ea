"""LongMemEval: questions over a haystack of chat sessions (Wu et al., 2025)."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from datetime import datetime, timedelta
from pathlib import Path

from graphmem.algorithms.text import is_blank
from graphmem.errors import TransferError
from graphmem.evaluation.datasets import (
    Case,
    JsonObject,
    Question,
    Turn,
    not_of_kind,
    opaque,
    parse_date,
    read_records,
)


def longmemevalparse_date(text: str) -> datetime:
    """Parse a session's or question's date.

    >>> longmemevalparse_date("2023/08/11 (Fri) 15:58").isoformat()
    '2023-08-11T15:58:00+00:00'
    """
    return parse_date(re.sub(r"\s*\([A-Za-z]+\)\s*", " ", text), "%Y/%m/%d %H:%M")


def read_longmemeval(path: Path, questions: frozenset[str] | None = None) -> Iterator[Case]:
    """Yield one case per question of a LongMemEval file.

    The file is the original JSON list, or JSON Lines, either one also as ``.xz``. The session of
    a turn is its source; turns without text are left out. A session that occurs
    twice in a haystack is two sources, of which the first is gold when the session is. With
    `questions` only those ids are read.

    Raises
    ------
    TransferError
        The file cannot be read, is not of this kind, or lacks one of `questions`.
    """
    missing = set(questions or ())
    for data in read_records(path):
        try:
            question_id = str(data["question_id"])
            if questions is None or question_id in questions:
                missing.discard(question_id)
                yield _longmemeval_case(data)
        except (AttributeError, KeyError, TypeError, ValueError) as error:
            raise not_of_kind(path, "LongMemEval", repr(error)) from error
    if missing:
        raise TransferError(f"{path}: no question has the id {', '.join(sorted(missing))}.")


def _longmemeval_case(data: JsonObject) -> Case:
    question_id = str(data["question_id"])
    answerable = not question_id.endswith("_abs")
    unseen = set(data["answer_session_ids"]) if answerable else set()
    turns: list[Turn] = []
    gold_turns: set[str] = set()
    gold_sources: set[str] = set()
    sessions = zip(
        data["haystack_session_ids"], data["haystack_dates"], data["haystack_sessions"],
        strict=True,
    )  # fmt: skip
    for index, (session_id, date, spoken) in enumerate(sessions):
        source_id = opaque("longmemeval", question_id, session_id, index)
        said = list(_longmemeval_turns(source_id, longmemevalparse_date(date), spoken))
        turns.extend(turn for turn, _ in said)
        if session_id in unseen:
            unseen.discard(session_id)
            gold_sources.add(source_id)
            gold_turns.update(turn.id for turn, has_answer in said if has_answer)
    question = Question(
        id=question_id,
        text=str(data["question"]),
        category=str(data["question_type"]),
        asked_at=longmemevalparse_date(data["question_date"]),
        gold_notes=frozenset(gold_turns),
        gold_sources=frozenset(gold_sources),
        answerable=answerable,
    )
    return Case(question_id, tuple(turns), (question,))


def _longmemeval_turns(
    source_id: str, began: datetime, spoken: Iterable[JsonObject]
) -> Iterator[tuple[Turn, bool]]:
    for position, turn in enumerate(spoken):
        content = str(turn["content"])
        if not is_blank(content):
            made = Turn(
                id=opaque(source_id, position),
                source_id=source_id,
                position=position,
                role=str(turn["role"]),
                author=None,
                created_at=began + timedelta(seconds=position),
                content=content,
            )
            yield made, bool(turn.get("has_answer", False))
