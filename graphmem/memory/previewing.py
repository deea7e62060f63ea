"""What adding notes would do, without adding them: nothing is embedded or written."""

from __future__ import annotations

import time
from collections.abc import Iterable

from graphmem.memory.entry import checked_many
from graphmem.memory.setup import Setup
from graphmem.memory.writing import changed, drafts_of
from graphmem.model import AddReport, NoteInput


def preview(setup: Setup, inputs: Iterable[NoteInput]) -> AddReport:
    """Check inputs and compare them with what is stored; see ``Memory.preview``."""
    started = time.perf_counter()
    drafts, rejected = drafts_of(
        enumerate(checked_many(inputs, "inputs")), setup.scope, setup.policy.naive_times
    )
    known = dict(setup.store.get(setup.scope, [draft.note_id for draft in drafts]))
    now = setup.now()
    outcomes = []
    for draft in drafts:
        change = changed(known.get(draft.note_id), draft, setup.scope, now)
        known[draft.note_id] = change.note
        outcomes.append(change.outcome)
    return AddReport(
        added=outcomes.count("added"),
        revised=outcomes.count("revised"),
        unchanged=outcomes.count("unchanged"),
        rejected=tuple((rejection.index, rejection.reason) for rejection in rejected),
        links=0,
        evolved=0,
        seconds=time.perf_counter() - started,
    )
