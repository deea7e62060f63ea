"""Which linked notes say otherwise, as part of the write that links them."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime

from graphmem.algorithms.contradiction import superseding
from graphmem.memory.workspace import Workspace
from graphmem.model import Link, LinkKind, Note


def contradict(work: Workspace, note: Note, links: Sequence[Link], now: datetime) -> list[Link]:
    """Put a SUPERSEDES beside each RELATED link whose two notes disagree; return what was put.

    A note written late with an early date is superseded by the newer ones it is linked with.
    """
    found: list[Link] = []
    for link in links:
        other = work.note(link.other(note.id))
        made = other and superseding(note, other, link.cosine, now)
        if made:
            work.link(made)
            found.append(made)
    return found


def outdated(work: Workspace, before: Note | None, after: Note, *, relink: bool) -> list[Link]:
    """Return the links that do not outlive a change of a note.

    All of them when it is linked anew; what supersedes what when another person said it, or
    at another time.
    """
    if before is None or not (relink or _said_otherwise(before, after)):
        return []
    links = work.links_of(after.id)
    return [link for link in links if relink or link.kind is LinkKind.SUPERSEDES]


def to_compare(
    work: Workspace, before: Note | None, after: Note, made: Sequence[Link], *, relink: bool
) -> Sequence[Link]:
    """Return the RELATED links whose two notes have to be compared after a change."""
    if relink or before is None or not _said_otherwise(before, after):
        return made
    return [link for link in work.links_of(after.id) if link.kind is LinkKind.RELATED]


def _said_otherwise(before: Note, after: Note) -> bool:
    """Whether a note is of another time, author or role now."""
    said = (after.created_at, after.author, after.role)
    return (before.created_at, before.author, before.role) != said
