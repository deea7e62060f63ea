"""The account of an import: what became of each note, and what was left out and why."""

from __future__ import annotations

from dataclasses import dataclass

from graphmem.model import AddReport

MOST_LISTED = 1000
"""Refusals a report lists; the others are only counted, so that its size stays bounded."""


@dataclass(frozen=True, slots=True)
class Refusal:
    """Something that was left out: where it stands and why.

    Attributes
    ----------
    place
        In words, such as ``line 3`` or ``trips/berlin.md``.
    number
        1-based number of the line, where there are lines.
    """

    place: str
    reason: str
    number: int | None = None

    @classmethod
    def at_line(cls, number: int, reason: str) -> Refusal:
        """Return the refusal of one line."""
        return cls(f"line {number}", reason, number)

    def __str__(self) -> str:
        return f"{self.place}: {self.reason}"


@dataclass(frozen=True, slots=True)
class ImportReport:
    """What one import did, or with `dry_run` would do.

    Attributes
    ----------
    added, revised, unchanged, removed
        Notes by what became of them. Removed are notes whose passage is gone from an
        imported Markdown folder.
    rejected
        What was left out, in order, each with its reason; at most `MOST_LISTED`.
    rejected_count
        How many were left out.
    links, events
        Links and events made, or records of an export that were stored as they are.
    skipped
        What is no note by its kind, such as a picture in a Markdown folder.
    dangling
        Wikilinks to notes that are not there.
    kept_as_metadata
        Names of fields that are not a note's own and went to its metadata.
    read_as_utc
        How many times had no zone and were read as UTC.
    seconds
        Duration.
    """

    added: int
    revised: int
    unchanged: int
    rejected: tuple[Refusal, ...]
    rejected_count: int = 0
    removed: int = 0
    links: int = 0
    events: int = 0
    skipped: tuple[Refusal, ...] = ()
    dangling: tuple[Refusal, ...] = ()
    kept_as_metadata: tuple[str, ...] = ()
    read_as_utc: int = 0
    dry_run: bool = False
    seconds: float = 0.0


class Refusals:
    """Counts refusals and keeps the first of them."""

    def __init__(self) -> None:
        self.count = 0
        self._listed: list[Refusal] = []

    def add(self, refusal: Refusal) -> None:
        """Count one more."""
        self.count += 1
        if len(self._listed) < MOST_LISTED:
            self._listed.append(refusal)

    @property
    def listed(self) -> tuple[Refusal, ...]:
        """The first of them, in order."""
        return tuple(self._listed)


class Tally:
    """The running account of one import."""

    def __init__(self) -> None:
        self.rejected = Refusals()
        self.skipped = Refusals()
        self.dangling = Refusals()
        self.foreign: dict[str, None] = {}
        self.removed = self.links = self.read_as_utc = 0
        self._added = self._revised = self._unchanged = self._evolved = 0

    @property
    def done(self) -> int:
        """Notes that were looked at so far."""
        return self._added + self._revised + self._unchanged

    def count(self, report: AddReport) -> None:
        """Take in what became of one batch; its refusals are told apart by the caller."""
        self._added += report.added
        self._revised += report.revised
        self._unchanged += report.unchanged
        self._evolved += report.evolved
        self.links += report.links

    def report(self, *, dry_run: bool, seconds: float) -> ImportReport:
        """Return the account as a value."""
        return ImportReport(
            added=self._added,
            revised=self._revised,
            unchanged=self._unchanged,
            rejected=self.rejected.listed,
            rejected_count=self.rejected.count,
            removed=self.removed,
            links=self.links,
            events=self._evolved,
            skipped=self.skipped.listed,
            dangling=self.dangling.listed,
            kept_as_metadata=tuple(self.foreign),
            read_as_utc=self.read_as_utc,
            dry_run=dry_run,
            seconds=seconds,
        )
