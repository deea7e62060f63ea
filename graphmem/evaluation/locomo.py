"""LoCoMo: long conversations of two people over months (Maharana et al., 2024)."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from datetime import datetime, timedelta
from pathlib import Path

from graphmem.evaluation.datasets import (
    Case,
    JsonObject,
    Question,
    Turn,
    load_json,
    not_of_kind,
    opaque,
    parse_date,
)

LOCOMO_CATEGORIES: Mapping[int, str] = {
    1: "multi-hop",
    2: "temporal",
    3: "open-domain",
    4: "single-hop",
    5: "adversarial",
}
"""Names of the categories; the questions of `adversarial` have no answer."""


def dialogue_ids(evidence: Iterable[str]) -> tuple[tuple[int, int], ...]:
    """Return (session, turn) of every reference in `evidence`, once each, in order.

    The published file holds two references in one string and stray colons; a string without
    both numbers is no reference.

    >>> dialogue_ids(["D8:6; D9:17", "D:11:26", "D", "D8:6"])
    ((8, 6), (9, 17), (11, 26))
    """
    found = (
        (int(session), int(turn))
        for text in evidence
        for session, turn in re.findall(r"D:?(\d+):(\d+)", text)
    )
    return tuple(dict.fromkeys(found))


def locomoparse_date(text: str) -> datetime:
    """Parse a session's date.

    >>> locomoparse_date("1:56 pm on 8 May, 2023").isoformat()
    '2023-05-08T13:56:00+00:00'
    """
    return parse_date(text, "%I:%M %p on %d %B, %Y")


def read_locomo(path: Path, corrections: Path | None = None) -> Iterator[Case]:
    """Yield one case per conversation of a LoCoMo file (``.json`` or ``.json.xz``).

    A turn is its text, the caption of a shared image in brackets, the speaker as
    author, the session as source. `corrections` is the file of the public audit: its
    ``evidence_after`` replaces the evidence of the question it names. Questions are asked at
    the date of the last session.

    Raises
    ------
    TransferError
        A file cannot be read or is not of this kind.
    """
    corrected = _corrections(corrections) if corrections is not None else {}
    conversations = load_json(path)
    if not isinstance(conversations, list):
        raise not_of_kind(path, "LoCoMo", "a list of conversations was expected")
    for conversation in conversations:
        try:
            yield _locomo_case(conversation, corrected)
        except (AttributeError, KeyError, TypeError, ValueError) as error:
            raise not_of_kind(path, "LoCoMo", repr(error)) from error


def _locomo_case(data: JsonObject, corrected: Mapping[tuple[str, int], list[str]]) -> Case:
    case_id = str(data["sample_id"])
    sessions = _locomo_sessions(data["conversation"])
    turns = tuple(
        _locomo_turn(case_id, number, position, turn, began)
        for number, began, spoken in sessions
        for position, turn in enumerate(spoken, start=1)
    )
    known = frozenset(turn.id for turn in turns)
    asked_at = max(began for _, began, _ in sessions)
    questions = tuple(
        _locomo_question(case_id, index, qa, asked_at, known, corrected)
        for index, qa in enumerate(data["qa"])
    )
    return Case(case_id, turns, questions)


def _locomo_sessions(
    conversation: JsonObject,
) -> list[tuple[int, datetime, list[JsonObject]]]:
    numbers = sorted(
        int(match.group(1))
        for key in conversation
        if (match := re.fullmatch(r"session_(\d+)", key)) and conversation[key]
    )
    return [
        (
            number,
            locomoparse_date(conversation[f"session_{number}_date_time"]),
            conversation[f"session_{number}"],
        )
        for number in numbers
    ]


def _locomo_turn(
    case_id: str, session: int, position: int, turn: JsonObject, began: datetime
) -> Turn:
    caption = turn.get("blip_caption")
    text = str(turn["text"])
    session_number, turn_number = dialogue_ids([turn["dia_id"]])[0]
    return Turn(
        id=opaque("locomo", case_id, session_number, turn_number),
        source_id=opaque("locomo", case_id, session),
        position=position,
        role="user",
        author=str(turn["speaker"]),
        created_at=began + timedelta(seconds=position),
        content=f"{text} [{caption}]" if caption else text,
    )


def _locomo_question(
    case_id: str,
    index: int,
    qa: JsonObject,
    asked_at: datetime,
    known: frozenset[str],
    corrected: Mapping[tuple[str, int], list[str]],
) -> Question:
    evidence = dialogue_ids(corrected.get((case_id, index), qa.get("evidence", [])))
    answerable = int(qa["category"]) != 5
    gold = {
        opaque("locomo", case_id, session, turn): opaque("locomo", case_id, session)
        for session, turn in evidence
        if answerable
    }
    return Question(
        id=f"{case_id}/{index}",
        text=str(qa["question"]),
        category=LOCOMO_CATEGORIES[int(qa["category"])],
        asked_at=asked_at,
        gold_notes=known & gold.keys(),
        gold_sources=frozenset(gold[note] for note in known & gold.keys()),
        answerable=answerable,
    )


def _corrections(path: Path) -> dict[tuple[str, int], list[str]]:
    entries = load_json(path)
    try:
        return {
            (str(entry["sample_id"]), int(entry["qa_index"])): list(entry["evidence_after"])
            for entry in entries
        }
    except (KeyError, TypeError, ValueError) as error:
        raise not_of_kind(path, "LoCoMo corrections", repr(error)) from error
