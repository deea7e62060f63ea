"""Values of the model as text and tables for a terminal."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from datetime import UTC, datetime

from rich import box
from rich.console import Group, RenderableType
from rich.table import Table
from rich.text import Text

from graphmem.interfaces.console import safe
from graphmem.memory.upkeep import Maintenance
from graphmem.model import (
    AddReceipt,
    CheckReport,
    EraseReceipt,
    EvidenceDecision,
    EvolutionEvent,
    Link,
    LinkKind,
    Note,
    NoteState,
    Outcome,
    RankedNote,
    RankedSource,
    RecallResult,
    Stats,
    Step,
)

EXCERPT = 120
"""Characters of a note's text in a table cell."""

_OUTCOME_STYLE = {
    Outcome.RETRIEVED: "green",
    Outcome.PARTIAL: "yellow",
    Outcome.PARAMETRIC: "yellow",
    Outcome.UNKNOWN: "red",
}


def excerpt(text: str, length: int = EXCERPT) -> str:
    """Return the beginning of a text on one line, cut at a word.

    Examples
    --------
    >>> excerpt("Ada prefers aisle seats", 14)
    'Ada prefers…'
    """
    line = " ".join(safe(text).split())
    if len(line) <= length:
        return line
    head = line[: length - 1]
    cut = head.rfind(" ")
    return (head[:cut] if cut > length // 2 else head) + "…"


def day(moment: datetime) -> str:
    """Return the date in UTC."""
    return moment.astimezone(UTC).strftime("%Y-%m-%d")


def minute(moment: datetime) -> str:
    """Return the date and time in UTC."""
    return moment.astimezone(UTC).strftime("%Y-%m-%d %H:%M UTC")


def plain_table(*columns: str, title: str | None = None) -> Table:
    """Return an empty table in the one style of this command line."""
    table = Table(
        title=title, box=box.SIMPLE_HEAD, title_justify="left", title_style="bold", pad_edge=False
    )
    for column in columns:
        table.add_column(column)
    return table


# --- recall ----------------------------------------------------------------------------


def recall_view(result: RecallResult, *, by_source: bool = False) -> RenderableType:
    """Return the ranked notes or sources, their score's parts, and the decision."""
    if not result.notes:
        return Group(Text("No note was found.", style="dim"), decision_view(result))
    ranking = _source_table(result.sources) if by_source else ranked_table(result.notes)
    return Group(ranking, decision_view(result))


def ranked_table(notes: Sequence[RankedNote]) -> Table:
    """Return one row a note: its score, the parts that sum to it, and its path."""
    return numbered_table([(str(rank), ranked) for rank, ranked in enumerate(notes, start=1)])


def numbered_table(rows: Sequence[tuple[str, RankedNote]]) -> Table:
    """Return :func:`ranked_table` of notes that bring the label of their rank."""
    parts = _part_names([ranked.contributions for _, ranked in rows])
    table = plain_table("#")
    table.add_column("Note", overflow="fold", ratio=1)
    table.add_column("Score", justify="right", style="bold")
    for part in parts:
        table.add_column(part, justify="right")
    table.add_column("Path", overflow="fold")
    for label, ranked in rows:
        table.add_row(
            label,
            Text("\n").join([_note_cell(ranked.note), *_changes(ranked)]),
            f"{ranked.score:.3f}",
            *(_part(ranked.contributions, part) for part in parts),
            path_text(ranked.path),
        )
    return table


def _source_table(sources: Sequence[RankedSource]) -> Table:
    table = plain_table("#")
    table.add_column("Source", overflow="fold", style="cyan", min_width=12)
    table.add_column("Score", justify="right", style="bold")
    table.add_column("Parts", overflow="fold", ratio=1)
    table.add_column("Notes that speak for it", overflow="fold", ratio=2)
    for rank, ranked in enumerate(sources, start=1):
        table.add_row(
            str(rank),
            Text(safe(ranked.source_id)),
            f"{ranked.score:.3f}",
            _parts(ranked.contributions),
            Text("\n").join(_note_cell(note.note) for note in ranked.notes[:3]),
        )
    return table


def _parts(contributions: Mapping[str, float]) -> str:
    """Return the parts that count, the largest first: a source has too many for columns."""
    shown = sorted(contributions.items(), key=lambda part: (-abs(part[1]), part[0]))
    return ", ".join(f"{name} {value:.3f}" for name, value in shown if abs(value) >= 0.0005)


def _part_names(contributions: Sequence[Mapping[str, float]]) -> tuple[str, ...]:
    totals: dict[str, float] = {}
    for parts in contributions:
        for name, value in parts.items():
            totals[name] = totals.get(name, 0.0) + abs(value)
    return tuple(sorted(totals, key=lambda name: (-totals[name], name)))


def _part(contributions: Mapping[str, float], name: str) -> str:
    return f"{contributions[name]:.3f}" if name in contributions else "-"


def _note_cell(note: Note) -> Text:
    about = " · ".join(part for part in (note.id, note.author or "", day(note.created_at)) if part)
    return Text.assemble(excerpt(note.content), "\n", (safe(about), "dim"))


def _changes(ranked: RankedNote) -> Iterator[Text]:
    """Yield what a note says otherwise than older ones, and newer ones than it."""
    for link in ranked.supersedes:
        yield Text(safe(f"newer than {link.to_id} ({link.reason})"), style="green")
    for link in ranked.superseded_by:
        yield Text(safe(f"outdated by {link.from_id} ({link.reason})"), style="yellow")


def path_text(path: Sequence[Step]) -> Text:
    """Return a path: how its start was found, then edge by edge to the note."""
    found = " + ".join(step.kind for step in path if step.from_id is None)
    edges = [str(step) for step in path if step.from_id is not None]
    return Text(safe(" → ".join([f"seed {found}", *edges] if found else edges)), style="dim")


def decision_view(result: RecallResult) -> RenderableType:
    """Return whether memory holds the answer, why, and what was considered."""
    decision, seen = result.decision, result.considered
    considered = (
        f"Candidates: {seen.candidates}, of them {seen.seeds} found by the question and "
        f"{seen.expanded} through the graph; {seen.cut} cut. Policy {result.policy}."
    )
    return Group(decision_text(decision), Text(considered, style="dim"))


def decision_text(decision: EvidenceDecision) -> Text:
    """Return outcome, probability, reason and the cited notes."""
    style = f"bold {_OUTCOME_STYLE[decision.outcome]}"
    cited = ", ".join(
        f"{item.note_id} r{item.revision} ({item.supports:.2f})" for item in decision.evidence
    )
    text = Text.assemble(
        "Evidence: ",
        (decision.outcome.value, style),
        f" (answerable {decision.answerable:.2f}). {safe(decision.reason)}",
    )
    return text.append(f"\nCites {safe(cited)}.") if cited else text


# --- single notes, links, history ------------------------------------------------------


def receipt_text(receipt: AddReceipt) -> Text:
    """Return what one add did."""
    text = Text.assemble(
        (receipt.outcome, "bold green"),
        f" {safe(receipt.note_id)} (revision {receipt.revision}, "
        f"importance {receipt.importance:.2f})",
    )
    for link in receipt.links:
        text.append(f"\n  RELATED {link.weight:.2f} with {safe(link.other(receipt.note_id))}")
    for link in receipt.superseding:
        text.append(
            f"\n  SUPERSEDES {safe(link.from_id)} -> {safe(link.to_id)} ({safe(str(link.reason))})"
        )
    for event in receipt.evolved:
        text.append(f"\n  evolved {safe(event.note_id)} (event {safe(event.id)})")
    return text


def note_view(note: Note) -> RenderableType:
    """Return a note with all that is stored about it."""
    table = Table.grid(padding=(0, 2))
    table.add_column(style="dim")
    table.add_column(overflow="fold")
    for name, value in _note_rows(note):
        if value:
            table.add_row(name, Text(safe(value)))
    lines = note.content.split("\n")
    return Group(Text("\n".join(safe(line) for line in lines), style="bold"), table)


def _note_rows(note: Note) -> tuple[tuple[str, str], ...]:
    source = note.source
    place = ""
    if source is not None:
        revision = f", revision {source.revision}" if source.revision else ""
        position = f", position {source.position}" if source.position is not None else ""
        place = f"{source.id}{revision}{position}"
    return (
        ("id", note.id),
        ("namespace", note.namespace),
        ("author", f"{note.author} ({note.role})" if note.author else note.role),
        ("source", place),
        ("written", minute(note.created_at)),
        ("context", note.context),
        ("keywords", ", ".join(note.keywords)),
        ("tags", ", ".join(note.tags)),
        ("importance", f"{note.importance:.2f}"),
        ("feedback", f"{note.feedback:+d}" if note.feedback else ""),
        ("recalled", f"{note.recall_count} times, last use {minute(note.last_accessed_at)}"),
        ("revision", f"{note.revision} (content {note.content_revision})"),
        ("archived", "yes" if note.archived else ""),
        ("metadata", ", ".join(f"{k}={v!r}" for k, v in note.metadata.items())),
    )


def links_table(note_id: str, links: Sequence[Link], notes: Mapping[str, Note]) -> Table:
    """Return one row a link of the note, strongest first as given."""
    table = plain_table("Kind")
    table.add_column("Weight", justify="right")
    table.add_column("Cosine", justify="right")
    table.add_column("Recalled", justify="right")
    table.add_column("With")
    for link in links:
        other = notes.get(link.other(note_id))
        related = link.kind is LinkKind.RELATED
        measured = link.kind is not LinkKind.FOLLOWS
        table.add_row(
            _kind_text(note_id, link),
            f"{link.weight:.3f}" if measured else "",
            f"{link.cosine:.3f}" if measured else "",
            str(link.retrievals) if related else "",
            _note_cell(other) if other else Text(safe(link.other(note_id))),
        )
    return table


_BACKWARDS = {
    LinkKind.RELATED: "RELATED",
    LinkKind.FOLLOWS: "followed by",
    LinkKind.SUPERSEDES: "superseded by",
}


def _kind_text(note_id: str, link: Link) -> Text:
    """Return how a note stands to the other end, and why when it is outdated."""
    name = link.kind.value if link.from_id == note_id else _BACKWARDS[link.kind]
    return Text(name if link.reason is None else f"{name}\n{safe(str(link.reason))}")


def events_view(events: Sequence[EvolutionEvent]) -> RenderableType:
    """Return the changes of a note, oldest first."""
    if not events:
        return Text("Nothing has changed since the note was added.", style="dim")
    return Group(*(event_view(event) for event in events))


def event_view(event: EvolutionEvent) -> RenderableType:
    """Return one change: what, when, why, and each field before and after."""
    head = Text.assemble((event.kind.value, "bold"), f" {safe(event.id)} at {minute(event.at)}")
    head.append(f" by {safe(event.proposer)}")
    if event.trigger_id is not None:
        head.append(f", triggered by {safe(event.trigger_id)}")
    if event.similarity is not None:
        head.append(f" (cosine {event.similarity:.3f})")
    table = plain_table("", "before", "after")
    for name, before, after in _state_changes(event.before, event.after):
        table.add_row(Text(name, style="dim"), Text(before), _marked(before, after))
    for label, links in (("linked", event.linked), ("unlinked", event.unlinked)):
        if links:
            told = ", ".join(_told(event.note_id, link) for link in links)
            head.append(f"\n  {label} {safe(told)}")
    return Group(head, table) if table.row_count else head


def _told(note_id: str, link: Link) -> str:
    """Return a link of a note in brief: its other end, or what supersedes what and why."""
    if link.reason is not None:
        return f"{link.from_id} SUPERSEDES {link.to_id} ({link.reason})"
    return f"{link.other(note_id)} {link.weight:.2f}"


def _state_changes(before: NoteState, after: NoteState) -> list[tuple[str, str, str]]:
    pairs = (
        ("content", before.content, after.content),
        ("keywords", ", ".join(before.keywords), ", ".join(after.keywords)),
        ("tags", ", ".join(before.tags), ", ".join(after.tags)),
        ("context", before.context, after.context),
        ("author", before.author or "", after.author or ""),
        ("written", minute(before.created_at), minute(after.created_at)),
        ("importance", f"{before.importance:.2f}", f"{after.importance:.2f}"),
        ("metadata", str(dict(before.metadata)), str(dict(after.metadata))),
        ("archived", str(before.archived), str(after.archived)),
    )
    return [(name, safe(old), safe(new)) for name, old, new in pairs if old != new]


def _marked(before: str, after: str) -> Text:
    """Return the new text with the listed words that were not there before in green."""
    known = set(before.split(", "))
    return Text(", ").join(
        Text(word, style="" if word in known else "green") for word in after.split(", ")
    )


def erased_text(receipt: EraseReceipt) -> Text:
    """Return what an erasure removed and whether it was verified."""
    count = len(receipt.note_ids)
    text = Text.assemble(
        ("erased", "bold"),
        f" {count} note{'' if count == 1 else 's'}, {receipt.links} links, "
        f"{receipt.events} events; ",
        ("verified gone", "green") if receipt.verified else ("NOT verified", "bold red"),
    )
    if receipt.redacted:
        text.append(f"\n  redacted in {safe(', '.join(receipt.redacted))}")
    return text


# --- the store as a whole --------------------------------------------------------------


def _links_counted(stats: Stats) -> str:
    counted = f"{stats.related} RELATED, {stats.follows} FOLLOWS"
    return f"{counted}, {stats.superseding} SUPERSEDES" if stats.superseding else counted


def stats_table(stats: Stats) -> Table:
    """Return the counts of a scope."""
    table = Table.grid(padding=(0, 2))
    table.add_column(style="dim")
    table.add_column()
    model = stats.model
    rows = (
        ("store", f"{stats.store}, schema {stats.schema_version}"),
        ("namespace", stats.namespace),
        ("model", f"{model.model_id}, {model.dimension} dimensions" if model else "none yet"),
        ("notes", f"{stats.notes} ({stats.archived} archived) from {stats.sources} sources"),
        ("links", _links_counted(stats)),
        ("events", str(stats.events)),
        ("recalls", str(stats.recalls)),
    )
    for name, value in rows:
        table.add_row(name, Text(safe(value)))
    return table


def check_text(report: CheckReport) -> Text:
    """Return the verdict and each problem on a line."""
    verdict = ("ok", "bold green") if report.ok else ("damaged", "bold red")
    text = Text.assemble(
        verdict, f": {report.notes} notes, {report.links} links, {report.events} events"
    )
    for problem in report.problems:
        text.append(f"\n  problem: {safe(problem)}")
    for repaired in report.repaired:
        text.append(f"\n  repaired: {safe(repaired)}")
    return text


def maintenance_text(done: Maintenance) -> Text:
    """Return how many links moved and which notes could be archived."""
    text = Text(f"{done.links_changed} link weights moved")
    if done.archive_proposals:
        text.append(f"; {len(done.archive_proposals)} notes could be archived:")
    for note_id in done.archive_proposals:
        text.append(f"\n  {safe(note_id)}")
    return text
