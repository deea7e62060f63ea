"""add, add_many and revise: checked inputs, one embedding call and one write a batch."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Iterable, Iterator, Sequence, Sized
from dataclasses import dataclass
from itertools import islice

from graphmem.errors import Conflict, EmbeddingError, InvalidNote, StoreError
from graphmem.memory.consulting import advice_for, described, fallbacks_of, rehearse
from graphmem.memory.entry import checked_limit, checked_many
from graphmem.memory.note_vectors import EmbeddedTexts
from graphmem.memory.setup import Setup
from graphmem.memory.workspace import sentences_of, text_to_embed
from graphmem.memory.writing import Draft, Forecast, Rejection, Writer, drafts_of
from graphmem.model import AddReceipt, AddReport, Note, NoteInput, WritePlan
from graphmem.ports import ScopeReader

Progress = Callable[[int, int | None], None]
"""Called after each batch with the number of inputs done and their total, when known."""

REVISIONS_TRIED = 100
"""How often a revision is made anew because others change the same note."""


@dataclass(frozen=True, slots=True)
class Batch:
    """What became of the inputs of one batch."""

    receipts: tuple[AddReceipt, ...]
    rejected: tuple[Rejection, ...]
    fallbacks: tuple[tuple[int, str], ...] = ()


def add_one(setup: Setup, given: NoteInput, expected_revision: int | None = None) -> AddReceipt:
    """Add one note; raise what a batch would have rejected."""
    batch = add_batch(setup, [(0, given)], expected_revision)
    for rejection in batch.rejected:
        raise rejection.error
    return batch.receipts[0]


def revise(
    setup: Setup,
    note_id: object,
    revised: Callable[[Note], NoteInput],
    expected_revision: int | None,
) -> AddReceipt:
    """Store what `revised` makes of a note as it is; made again when the note moved on.

    So a field that is not given keeps what another writer gave it meanwhile, and a note
    erased meanwhile does not come back.

    Raises
    ------
    NotFound
        There is no such note, or not any more.
    Conflict
        The note is not at `expected_revision`, or never stood still.
    """
    if expected_revision is not None:
        checked_limit(expected_revision, "expected_revision")
    for _ in range(REVISIONS_TRIED):
        note = setup.note(note_id)
        expected = note.revision if expected_revision is None else expected_revision
        try:
            return add_one(setup, revised(note), expected)
        except Conflict:
            if expected_revision is not None:
                raise
    raise Conflict(f"note {note_id!r} kept changing; nothing was changed, try again")


def add_many(
    setup: Setup, inputs: Iterable[NoteInput], batch_size: int, progress: Progress | None
) -> AddReport:
    """Add inputs batch by batch; an interruption keeps whole batches."""
    started = time.perf_counter()
    total = len(inputs) if isinstance(inputs, Sized) else None
    batches: list[Batch] = []
    done = 0
    try:
        for chunk in _chunks(enumerate(checked_many(inputs, "inputs")), batch_size):
            batches.append(add_batch(setup, chunk))
            done += len(chunk)
            if progress is not None:
                progress(done, total)
    except (KeyboardInterrupt, StoreError) as stop:
        stop.add_note(f"{done} inputs were handled in whole batches and are kept; add the rest")
        raise
    return _report(batches, time.perf_counter() - started)


def _report(batches: Sequence[Batch], seconds: float) -> AddReport:
    receipts = [receipt for batch in batches for receipt in batch.receipts]
    outcomes = [receipt.outcome for receipt in receipts]
    return AddReport(
        added=outcomes.count("added"),
        revised=outcomes.count("revised"),
        unchanged=outcomes.count("unchanged"),
        rejected=tuple((r.index, r.reason) for batch in batches for r in batch.rejected),
        links=sum(len(receipt.links) for receipt in receipts),
        evolved=sum(len(receipt.evolved) for receipt in receipts),
        seconds=seconds,
        fallbacks=tuple(each for batch in batches for each in batch.fallbacks),
    )


def _chunks(
    items: Iterable[tuple[int, NoteInput]], size: int
) -> Iterator[Sequence[tuple[int, NoteInput]]]:
    iterator = iter(items)
    while chunk := list(islice(iterator, min(size, sys.maxsize))):
        yield chunk


def add_batch(
    setup: Setup, inputs: Iterable[tuple[int, object]], expected_revision: int | None = None
) -> Batch:
    """Check, embed and store one batch: the accepted inputs whole, or nothing.

    Raises
    ------
    Conflict
        `expected_revision` is given and a stored note is at another one.
    """
    drafts, rejected = drafts_of(inputs, setup.scope, setup.policy.naive_times)
    if not drafts:
        return Batch((), tuple(rejected))
    drafts = described(setup, drafts)
    forecast = Forecast(setup.scope, setup.now())
    embedded, unusable = _embed(setup, drafts, forecast)
    rejected += unusable
    faulty = {rejection.index for rejection in unusable}
    drafts = [draft for draft in drafts if draft.index not in faulty]
    return _store(setup, drafts, forecast, embedded, rejected, expected_revision)


def _embed(
    setup: Setup, drafts: Sequence[Draft], forecast: Forecast
) -> tuple[EmbeddedTexts, list[Rejection]]:
    """Embed, in one call, the texts and sentences that are not stored as they are, each once."""
    stored = setup.store.get(setup.scope, [draft.note_id for draft in drafts])
    wanted: dict[str, list[Draft]] = {}
    sentences: dict[str, None] = {}
    for draft in drafts:
        existing = stored.get(draft.note_id)
        change = forecast.change(draft, existing)
        if existing is None or change.text != text_to_embed(existing):
            wanted.setdefault(change.text, []).append(draft)
        if existing is None or sentences_of(change.note) != sentences_of(existing):
            sentences |= dict.fromkeys(sentences_of(change.note))
    embedded = EmbeddedTexts.by(setup.encoding.encode, (*wanted, *sentences))
    rejected: list[Rejection] = []
    for text, users in wanted.items():
        if (fault := embedded.fault(text)) is not None:
            error = EmbeddingError(f"not stored: {fault}")
            rejected += [Rejection(draft.index, error) for draft in users]
    return embedded, rejected


def _store(
    setup: Setup,
    drafts: Sequence[Draft],
    forecast: Forecast,
    embedded: EmbeddedTexts,
    rejected: Sequence[Rejection],
    expected_revision: int | None,
) -> Batch:
    outcome = Batch((), tuple(rejected))
    advice = advice_for(setup)

    def decide(reader: ScopeReader) -> WritePlan:
        nonlocal outcome
        work = setup.workspace(reader)
        hidden = work.hidden([draft.note_id for draft in drafts])
        visible = [draft for draft in drafts if draft.note_id not in hidden]
        refused = [_taken(draft) for draft in drafts if draft.note_id in hidden]
        if expected_revision is not None:
            for draft in visible:
                _expect(work.note(draft.note_id), expected_revision)
        proposer = setup.proposer
        if advice is not None:
            proposer = advice.within(work.vector_of, forecast.now)
        writer = Writer(work, forecast, setup.policy.links, proposer)
        receipts = writer.add(visible, embedded)
        outcome = Batch(tuple(receipts), (*rejected, *refused), fallbacks_of(visible))
        return work.plan(setup.encoding.identity)

    if drafts:
        if advice is not None:
            rehearse(setup, decide, advice)
        setup.store.write(setup.scope, decide)
    return outcome


def _expect(note: Note | None, expected: int) -> None:
    revision = None if note is None else note.revision
    if revision != expected:
        raise Conflict(
            f"the note is at revision {revision}, not {expected}; nothing was changed. Read it "
            "again and repeat the change"
        )


def _taken(draft: Draft) -> Rejection:
    problem = "is taken by a note outside this memory's allow-list; choose another id"
    return Rejection(draft.index, InvalidNote("id", problem))
