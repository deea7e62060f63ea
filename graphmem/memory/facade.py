"""``Memory``: what users call. It sequences the steps and holds no algorithm."""

from __future__ import annotations

from graphmem.memory.facade_reading import MemoryReading
from graphmem.memory.facade_upkeep import MemoryUpkeep
from graphmem.memory.facade_writing import MemoryWriting


class Memory(MemoryWriting, MemoryReading, MemoryUpkeep):
    """A note network: adds, links and evolves notes, and recalls them with reasons.

    Made by :func:`graphmem.open_memory`. Safe to use from several threads. Every method
    raises ``ClosedMemory`` after :meth:`close`.
    """
