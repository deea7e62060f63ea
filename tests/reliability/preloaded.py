"""What forked writers find imported and warm: imported once, by the fork server.

The work at import is the point: it would otherwise cost each of a thousand processes a second.
"""

from __future__ import annotations

from graphmem import open_memory

with open_memory(":memory:", embedder="hashing-64") as warm:
    warm.add("The ferry is late on Monday.")
    warm.recall("Which ferry is late?", track=False)
