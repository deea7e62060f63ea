"""What the report of superseding pairs shows."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path

from graphmem import NoteInput
from graphmem.evaluation.contradictions import contradictions
from graphmem.evaluation.retrieval import Setting


def test_each_pair_is_shown_with_both_texts(tmp_path: Path) -> None:
    at = datetime(2025, 1, 1, tzinfo=UTC)
    notes = [
        NoteInput(f"We have {count} cats in our house", created_at=at.replace(month=count))
        for count in (3, 4)
    ]
    setting = Setting(embedder="hashing-64", cache=tmp_path / "cache.sqlite")
    notes.append(NoteInput("The kettle is blue"))
    report = contradictions("two", lambda memory: memory.add_many(notes), setting)
    assert list(report.lines()) == [
        "two: 3 notes, 1 links, 1 superseding",
        f"  number: 3 -> 4 (cosine {report.found[0].link.cosine:.2f})",
        "    older: We have 3 cats in our house",
        "    newer: We have 4 cats in our house",
    ]
