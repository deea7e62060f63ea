"""The demo's tour as text for a terminal."""

from __future__ import annotations

from rich.console import Group, RenderableType
from rich.padding import Padding
from rich.rule import Rule
from rich.table import Table
from rich.text import Text

from graphmem.demo.tour import CUTOFFS, Answer, Evolution, LinkedPair, Score, Tour, shown
from graphmem.interfaces.console import safe
from graphmem.interfaces.render import day, decision_text, event_view, numbered_table, plain_table
from graphmem.model import RankedNote

_TOP = 3


def tour_view(tour: Tour) -> RenderableType:
    """Return the whole tour, in the order in which it is read."""
    return Group(
        *_remembering(tour),
        *_linking(tour),
        *_evolving(tour.evolution),
        *_recalling(tour),
        *_scoring(tour.score),
    )


def _heading(title: str, *sentences: str) -> list[RenderableType]:
    text = Text(" ".join(sentences))
    return [Text(), Rule(Text(title, style="bold"), align="left", style="dim"), text]


def _remembering(tour: Tour) -> list[RenderableType]:
    added, stats = tour.added, tour.stats
    if added.added:
        did = f"Added {added.added} notes in {added.seconds:.1f} s"
    else:
        did = f"All {added.unchanged} notes were here already"
    return _heading(
        "Remembering",
        "A year in the life of Zoë in Málaga, Daniel in Leeds and Haruka in Kyoto: diaries,",
        "chats with an assistant, meeting minutes, a group chat.",
        f"{did}: {stats.related} RELATED and {stats.follows} FOLLOWS links, {stats.events}",
        f"evolutions, {stats.sources} sources. Store: {safe(stats.store)}.",
    )


def _linking(tour: Tour) -> list[RenderableType]:
    table = plain_table("Cosine")
    for column in ("Earlier note", "Later note"):
        table.add_column(column, overflow="fold", ratio=1)
    for pair in tour.links:
        table.add_row(f"{pair.link.cosine:.3f}", _cell(pair, first=True), _cell(pair, first=False))
    parts = _heading(
        "Linking",
        "A new note is linked to what it resembles (raw cosine of at least 0.72).",
        "The strongest links:",
    )
    parts.append(table)
    if tour.kept_apart is not None:
        apart = tour.kept_apart
        parts.append(
            Text.assemble(
                (f"{safe(apart.earlier.id)} and {safe(apart.later.id)}", "cyan"),
                f" are as close as {apart.link.cosine:.3f}, but their numbers or names differ: "
                "they are linked, and their metadata is kept apart.",
            )
        )
    return parts


def _cell(pair: LinkedPair, *, first: bool) -> Text:
    note = pair.earlier if first else pair.later
    return Text.assemble(safe(note.content), "\n", (f"{note.id} · {day(note.created_at)}", "dim"))


def _evolving(evolution: Evolution | None) -> list[RenderableType]:
    if evolution is None:
        return []
    parts = _heading(
        "Evolving",
        "From 0.91 on, the older note also takes over what the newer one adds: never its",
        "text, and every change can be undone.",
    )
    parts.append(
        Text.assemble(
            ("older: ", "dim"),
            safe(evolution.note.content),
            ("\nnewer: ", "dim"),
            safe(evolution.trigger.content),
        )
    )
    parts.append(event_view(evolution.event))
    return parts


def _recalling(tour: Tour) -> list[RenderableType]:
    parts = _heading(
        "Recalling",
        "The parts of a score sum to it; the path tells how a note came in; * marks a note",
        "that holds the answer.",
    )
    for answer in shown(tour):
        parts += [Text(), _question(answer), numbered_table(_rows(answer))]
        parts.append(Padding(decision_text(answer.result.decision), (0, 0, 0, 2)))
    return parts


def _rows(answer: Answer) -> list[tuple[str, RankedNote]]:
    """Return the first notes and, from further down, those that hold the answer."""
    rows: list[tuple[str, RankedNote]] = []
    for rank, ranked in enumerate(answer.result.notes, start=1):
        gold = ranked.note.id in answer.question.gold
        if gold or rank <= _TOP:
            rows.append((f"{rank}*" if gold else str(rank), ranked))
    return rows


def _question(answer: Answer) -> Text:
    question = answer.question
    return Text.assemble(
        ("? ", "bold cyan"),
        (safe(question.question), "bold"),
        (f"  {day(question.at)}\n", "dim"),
        ("  in truth: ", "dim"),
        (safe(question.answer), "dim"),
    )


def _scoring(score: Score) -> list[RenderableType]:
    parts = _heading(
        f"All {score.answerable + score.unanswerable} questions",
        "Share of the notes that hold the answer among the first 1, 5 and 10:",
    )
    parts.append(_score_table(score))
    parts.append(
        Text.assemble(
            "Answerability: ",
            (f"{score.refused} of {score.unanswerable}", "bold"),
            " questions without an answer refused, ",
            (f"{score.kept} of {score.answerable}", "bold"),
            f" with an answer not refused; AUROC {score.auroc:.2f}.",
        )
    )
    return parts


def _score_table(score: Score) -> Table:
    table = plain_table("Kind of question")
    for column in ("Questions", *(f"recall@{cutoff}" for cutoff in CUTOFFS)):
        table.add_column(column, justify="right")
    rows = (*score.by_kind, score.overall)
    for row in rows:
        table.add_row(
            row.kind,
            str(row.questions),
            *(f"{value:.2f}" for value in row.recall),
            style="bold" if row is score.overall else "",
        )
    return table
