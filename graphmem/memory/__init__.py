"""The one facade over store, embedder and algorithms, and the steps it sequences."""

from graphmem.memory.facade import Memory

__all__ = ["Memory"]
