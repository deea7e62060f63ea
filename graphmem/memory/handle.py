"""An open memory as such: its scope, its parts, opening and closing."""

from __future__ import annotations

import threading
from collections.abc import Callable
from dataclasses import replace
from types import TracebackType
from typing import Self

from graphmem.errors import ClosedMemory
from graphmem.memory.entry import checked_id
from graphmem.memory.setup import Setup
from graphmem.policy import Policy
from graphmem.ports import Embedder, LanguageModel


class MemoryHandle:
    """What every method of a memory works with, and how it is closed."""

    def __init__(
        self,
        setup: Setup,
        *,
        resolve_embedder: Callable[[str | Embedder | None], Embedder],
        owner: MemoryHandle | None = None,
    ) -> None:
        self._parts = setup
        self._resolve_embedder = resolve_embedder
        self._owner = owner
        self._closed = threading.Event()

    # --- opening and closing

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()

    def __repr__(self) -> str:
        state = " (closed)" if self.closed else ""
        return f"<Memory {self.namespace!r} on {self._parts.store.label}{state}>"

    @property
    def namespace(self) -> str:
        """The namespace this memory reads and writes."""
        return self._parts.scope.namespace

    @property
    def policy(self) -> Policy:
        """The policy this memory was opened with."""
        return self._parts.policy

    @property
    def language_model(self) -> LanguageModel | None:
        """The language model this memory asks; it may tell its cost as ``usage``."""
        return self._parts.language_model

    @property
    def closed(self) -> bool:
        """Whether the memory, or the one it was scoped from, was closed."""
        return self._closed.is_set() or (self._owner is not None and self._owner.closed)

    def close(self) -> None:
        """Write what is pending and release the store; a second call does nothing."""
        if not self._closed.is_set():
            self._closed.set()
            if self._owner is None:
                self._parts.store.close()

    def scoped(self, namespace: str) -> Self:
        """Return a memory of another namespace that shares connection, model and allow-list.

        Closing it leaves this one open; closing this one closes it too.
        """
        setup = self._setup
        scope = replace(setup.scope, namespace=checked_id(namespace, "namespace"))
        return type(self)(
            replace(setup, scope=scope),
            resolve_embedder=self._resolve_embedder,
            owner=self,
        )

    @property
    def _setup(self) -> Setup:
        if self.closed:
            raise ClosedMemory("this memory is closed; open it again with open_memory()")
        return self._parts
