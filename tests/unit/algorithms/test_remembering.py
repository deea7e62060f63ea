from __future__ import annotations

import functools
import gc

from graphmem import NoteInput, open_memory

CACHE = type(functools.lru_cache(len))
OF_RULES = {"_lowered", "_line_start_pattern", "_phrase_pattern"}
ANALYSING = ("graphmem.algorithms", "graphmem.memory", "graphmem.providers")


def remembered() -> dict[str, int]:
    """Say which functions that see texts keep results, however they do it, and how many."""
    caches = [each for each in gc.get_objects() if isinstance(each, CACHE)]
    ours = [each for each in caches if (each.__module__ or "").startswith(ANALYSING)]
    sizes = {each.__qualname__: each.cache_info().currsize for each in ours}
    return {name: size for name, size in sizes.items() if size and name not in OF_RULES}


def test_analysed_texts_are_forgotten_when_a_note_is_erased() -> None:
    with open_memory(":memory:", embedder="hashing-64") as memory:
        memory.add_many(
            [NoteInput("my kettle is green now", id="a"), NoteInput("my kettle is green", id="b")]
        )
        assert {"_analyse", "_remembered_word", "claims_of"} <= remembered().keys()
        memory.erase(id="a")
        assert remembered() == {}
