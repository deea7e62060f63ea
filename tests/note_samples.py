"""Notes for tests of pure functions, with only the interesting fields spelled out."""

from __future__ import annotations

from datetime import UTC, datetime

from graphmem.model import Given, Note

START = datetime(2024, 5, 1, tzinfo=UTC)
NOTHING_GIVEN = Given()


def sample_note(
    note_id: str,
    content: str = "Ada booked an aisle seat to Berlin",
    *,
    keywords: tuple[str, ...] = (),
    tags: tuple[str, ...] = (),
    context: str = "",
    revision: int = 1,
    given: Given = NOTHING_GIVEN,
) -> Note:
    """Return a note of namespace ``test``."""
    return Note(
        id=note_id,
        namespace="test",
        content=content,
        role="user",
        author=None,
        source=None,
        created_at=START,
        keywords=keywords,
        tags=tags,
        context=context,
        importance=0.5,
        metadata={},
        last_accessed_at=START,
        revision=revision,
        given=given,
    )
