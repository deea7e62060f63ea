"""What is asked of a language model around a write: always before it, never inside."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import TypeAlias

from graphmem.memory.constructing import NoteConstructor
from graphmem.memory.entry import NoteEntry
from graphmem.memory.proposing import Advice, EvolutionAdviser
from graphmem.memory.replies import ask_each
from graphmem.memory.setup import Setup
from graphmem.memory.writing import Draft
from graphmem.model import Note, WritePlan
from graphmem.ports import ScopeReader

_Text: TypeAlias = tuple[str, str]
"""A note's id and its content."""


def described(setup: Setup, drafts: Sequence[Draft]) -> list[Draft]:
    """Return the drafts with what the language model, if any, makes of their new texts."""
    if setup.language_model is None:
        return list(drafts)
    constructor = NoteConstructor(setup.language_model)
    stored = setup.store.get(setup.scope, [draft.note_id for draft in drafts])
    entries: dict[_Text, NoteEntry] = {}
    for draft in drafts:
        if _worth_asking(draft, stored.get(draft.note_id)):
            entries.setdefault(_text(draft), draft.entry)
    answers = ask_each(setup.language_model, constructor.make, list(entries.values()))
    made = dict(zip(entries, answers, strict=True))
    return [replace(draft, made=made.get(_text(draft), draft.made)) for draft in drafts]


def _text(draft: Draft) -> _Text:
    return draft.note_id, draft.entry.content


def _worth_asking(draft: Draft, existing: Note | None) -> bool:
    entry = draft.entry
    if existing is not None and existing.content == entry.content:
        return False
    return None in (entry.keywords, entry.tags, entry.context, entry.importance)


def fallbacks_of(drafts: Sequence[Draft]) -> tuple[tuple[int, str], ...]:
    """Return, by index, why the rules had to do for the language model."""
    return tuple(
        (draft.index, draft.made.fallback) for draft in drafts if draft.made.fallback is not None
    )


def advice_for(setup: Setup) -> Advice | None:
    """Return what gathers a language model's advice on evolution, where there is one."""
    if setup.language_model is None or not setup.policy.links.evolve:
        return None
    return Advice(EvolutionAdviser(setup.language_model), setup.proposer)


def rehearse(setup: Setup, decide: Callable[[ScopeReader], WritePlan], advice: Advice) -> None:
    """Run a write without effect, and ask what it raises, until nothing is left to ask."""

    def rehearsal(reader: ScopeReader) -> WritePlan:
        decide(reader)
        return WritePlan()

    setup.store.write(setup.scope, rehearsal)
    while advice.ask():
        setup.store.write(setup.scope, rehearsal)
