"""Multi-hop questions over passages: MuSiQue and HotpotQA, as gold links of documents."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import TypeAlias

from graphmem.evaluation.datasets import JsonObject, load_json, not_of_kind, opaque

_Entry: TypeAlias = tuple[str, str, list[tuple[str, str, bool]]]
"""Question id, question, and its passages as (title, text, supporting)."""


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


def read_musique(path: Path) -> Collection:
    """Read questions of MuSiQue with their paragraphs.

    Raises
    ------
    TransferError
        The file cannot be read or is not of this kind.
    """
    try:
        return _collection("musique", map(_musique_entry, load_json(path)))
    except (KeyError, TypeError, ValueError) as error:
        raise not_of_kind(path, "MuSiQue", repr(error)) from error


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
        return _collection("hotpotqa", map(_hotpotqa_entry, load_json(path)))
    except (KeyError, TypeError, ValueError) as error:
        raise not_of_kind(path, "HotpotQA", repr(error)) from error


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
