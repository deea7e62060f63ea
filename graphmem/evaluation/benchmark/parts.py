"""What a benchmark can measure; imports nothing, for the command line names it early."""

from __future__ import annotations

from enum import StrEnum


class Part(StrEnum):
    """What a benchmark measures."""

    SIZES = "sizes"
    """The store at each size."""
    READERS = "readers"
    """Many readers beside a writer."""
    PROCESS = "process"
    """A recall from a cold process; embedded only."""
    EMBEDDING = "embedding"
    """The embedding lanes, where both are installed; embedded only."""
    PEERS = "peers"
    """Other libraries on the same data; they have to be installed."""


DEFAULT_PARTS = (Part.SIZES, Part.READERS, Part.PROCESS, Part.EMBEDDING)
