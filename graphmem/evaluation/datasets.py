"""Readers for the public data sets, as notes to add and questions to ask.

Every reader yields :class:`Case` values: the notes of one namespace and the questions asked
of it. Identifiers are digests, so that nothing a ranking can see (an ``answer_`` prefix, the
order of a file) tells the gold notes from the others.
"""

from __future__ import annotations

import hashlib
import json
import lzma
import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import IO, Any, TypeAlias

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


@dataclass(frozen=True, slots=True)
class Passage:
    """One passage of a document collection."""

    id: str
    title: str
    text: str


@dataclass(frozen=True, slots=True)
class PassageQuestion:
    """A question with the passages it was asked over and those it needs together."""

    id: str
    text: str
    passages: tuple[str, ...]
    gold: frozenset[str]


@dataclass(frozen=True, slots=True)
class Collection:
    """A collection of passages and the questions that link them."""

    name: str
    passages: tuple[Passage, ...]
    questions: tuple[PassageQuestion, ...]


def opaque(*parts: str | int) -> str:
    """Return an identifier that tells nothing about `parts`, and is the same every time.

    >>> opaque("conv-26", 1, 3) == opaque("conv-26", 1, 3) != opaque("conv-26", 1, 4)
    True
    >>> len(opaque("conv-26"))
    16
    """
    joined = "\x1f".join(str(part) for part in parts)
    return hashlib.sha256(joined.encode()).hexdigest()[:16]


# --- LoCoMo ------------------------------------------------------------------------------

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


def locomo_date(text: str) -> datetime:
    """Parse a session's date.

    >>> locomo_date("1:56 pm on 8 May, 2023").isoformat()
    '2023-05-08T13:56:00+00:00'
    """
    return _date(text, "%I:%M %p on %d %B, %Y")


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
    conversations = _load_json(path)
    if not isinstance(conversations, list):
        raise _not_of_kind(path, "LoCoMo", "a list of conversations was expected")
    for conversation in conversations:
        try:
            yield _locomo_case(conversation, corrected)
        except (AttributeError, KeyError, TypeError, ValueError) as error:
            raise _not_of_kind(path, "LoCoMo", repr(error)) from error


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
            locomo_date(conversation[f"session_{number}_date_time"]),
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
    entries = _load_json(path)
    try:
        return {
            (str(entry["sample_id"]), int(entry["qa_index"])): list(entry["evidence_after"])
            for entry in entries
        }
    except (KeyError, TypeError, ValueError) as error:
        raise _not_of_kind(path, "LoCoMo corrections", repr(error)) from error


# --- LongMemEval -------------------------------------------------------------------------


def longmemeval_date(text: str) -> datetime:
    """Parse a session's or question's date.

    >>> longmemeval_date("2023/08/11 (Fri) 15:58").isoformat()
    '2023-08-11T15:58:00+00:00'
    """
    return _date(re.sub(r"\s*\([A-Za-z]+\)\s*", " ", text), "%Y/%m/%d %H:%M")


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
    for data in _records(path):
        try:
            question_id = str(data["question_id"])
            if questions is None or question_id in questions:
                missing.discard(question_id)
                yield _longmemeval_case(data)
        except (AttributeError, KeyError, TypeError, ValueError) as error:
            raise _not_of_kind(path, "LongMemEval", repr(error)) from error
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
        said = list(_longmemeval_turns(source_id, longmemeval_date(date), spoken))
        turns.extend(turn for turn, _ in said)
        if session_id in unseen:
            unseen.discard(session_id)
            gold_sources.add(source_id)
            gold_turns.update(turn.id for turn, has_answer in said if has_answer)
    question = Question(
        id=question_id,
        text=str(data["question"]),
        category=str(data["question_type"]),
        asked_at=longmemeval_date(data["question_date"]),
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
        if content.strip():
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


# --- multi-hop passages ------------------------------------------------------------------

_Entry: TypeAlias = tuple[str, str, list[tuple[str, str, bool]]]
"""Question id, question, and its passages as (title, text, supporting)."""


def read_musique(path: Path) -> Collection:
    """Read questions of MuSiQue with their paragraphs.

    Raises
    ------
    TransferError
        The file cannot be read or is not of this kind.
    """
    try:
        return _collection("musique", map(_musique_entry, _load_json(path)))
    except (KeyError, TypeError, ValueError) as error:
        raise _not_of_kind(path, "MuSiQue", repr(error)) from error


def _musique_entry(entry: JsonObject) -> _Entry:
    parts = [
        (str(part["title"]), str(part["paragraph_text"]), bool(part["is_supporting"]))
        for part in entry["paragraphs"]
    ]
    return str(entry["id"]), str(entry["question"]), parts


def read_hotpotqa(path: Path) -> Collection:
    """Read questions of HotpotQA (distractor setting) with their paragraphs.

    Raises
    ------
    TransferError
        The file cannot be read or is not of this kind.
    """
    try:
        return _collection("hotpotqa", map(_hotpotqa_entry, _load_json(path)))
    except (KeyError, TypeError, ValueError) as error:
        raise _not_of_kind(path, "HotpotQA", repr(error)) from error


def _hotpotqa_entry(entry: JsonObject) -> _Entry:
    supporting = {fact[0] for fact in entry["supporting_facts"]}
    parts = [
        (str(title), "".join(sentences), title in supporting)
        for title, sentences in entry["context"]
    ]
    return str(entry["_id"]), str(entry["question"]), parts


def _collection(name: str, entries: Iterable[_Entry]) -> Collection:
    passages: dict[str, Passage] = {}
    questions = []
    for question_id, text, parts in entries:
        ids = []
        gold = set()
        for title, body, supporting in parts:
            passage = Passage(opaque(name, title, body), title, body)
            passages[passage.id] = passage
            ids.append(passage.id)
            if supporting:
                gold.add(passage.id)
        questions.append(
            PassageQuestion(question_id, text, tuple(dict.fromkeys(ids)), frozenset(gold))
        )
    ordered = tuple(passages[key] for key in sorted(passages))
    return Collection(name, ordered, tuple(questions))


# --- files -------------------------------------------------------------------------------


def _date(text: str, form: str) -> datetime:
    return datetime.strptime(text.strip(), form).replace(tzinfo=UTC)


def _open(path: Path) -> IO[str]:
    if path.suffix == ".xz":
        return lzma.open(path, "rt", encoding="utf-8")
    return path.open(encoding="utf-8")


def _load_json(path: Path) -> Any:
    try:
        with _open(path) as file:
            return json.load(file)
    except (OSError, lzma.LZMAError, UnicodeDecodeError, json.JSONDecodeError) as error:
        raise TransferError(f"{path} cannot be read: {error}. Nothing was evaluated.") from error


def _records(path: Path) -> Iterator[JsonObject]:
    """Yield the objects of a JSON list or of JSON Lines, without holding all of the latter."""
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


def _not_of_kind(path: Path, kind: str, problem: str) -> TransferError:
    return TransferError(f"{path} is not a {kind} file: {problem}.")
