"""``open_memory``: the only place that names concrete stores and embedders."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from urllib.parse import urlsplit

from graphmem.algorithms.evolution import UnionProposer
from graphmem.errors import ConfigurationError, InvalidQuery
from graphmem.memory import Memory
from graphmem.memory.encoding import Encoding
from graphmem.memory.entry import checked_id, checked_names
from graphmem.memory.setup import Setup
from graphmem.model import Scope
from graphmem.policy import Policy, resolve_policy
from graphmem.ports import Clock, Embedder, LanguageModel, NoteStore
from graphmem.settings import Settings, load_settings

MEMORY_URL = ":memory:"
"""The embedded store with nothing on disk."""


@dataclass(frozen=True, slots=True)
class Authorisation:
    """An allow-list: what a memory may see and write; ``None`` allows all.

    A note passes when its source is among `sources` and its author among `authors`.
    """

    sources: Iterable[str] | None = None
    authors: Iterable[str] | None = None


def open_memory(
    url: str | Path | None = None,
    *,
    namespace: str | None = None,
    embedder: str | Embedder | None = None,
    language_model: LanguageModel | None = None,
    policy: Policy | str | None = None,
    auth: tuple[str, str] | None = None,
    authorise: Authorisation | Mapping[str, Iterable[str] | None] | None = None,
    clock: Clock | None = None,
) -> Memory:
    """Open the memory of one namespace.

    No model is loaded before the first text needs it.

    Parameters
    ----------
    url
        ``:memory:``, a path, or a Neo4j address (``neo4j://``, ``neo4j+s://``,
        ``neo4j+ssc://``, ``bolt://``, ``bolt+s://``). ``None`` takes ``GRAPHMEM_URL``,
        then ``NEO4J_URI``, then a file in the user's data folder.
    namespace
        The scope: this memory reads and writes nothing outside it. ``None`` takes
        ``GRAPHMEM_NAMESPACE``, then ``default``.
    embedder
        ``None`` for the default model, a model's name, or an object with the ``Embedder``
        protocol.
    language_model
        Proposes evolved metadata instead of the built-in rule, which stays the fallback.
    policy
        Thresholds and weights, or the name of a built-in policy.
    auth
        User and password of a Neo4j server; otherwise ``NEO4J_USERNAME`` and
        ``NEO4J_PASSWORD``.
    authorise
        Allow-list of sources and authors; notes outside it do not exist for this memory.
    clock
        Returns the current moment, aware.

    Raises
    ------
    ConfigurationError
        The address, namespace or a setting cannot be used.
    StoreError
        The store cannot be opened (see ``graphmem.errors``).
    """
    settings = load_settings()
    chosen = policy if isinstance(policy, Policy) else resolve_policy(policy)
    scope = _scope(settings.namespace if namespace is None else namespace, authorise)
    store = open_store(url, settings, auth)
    wanted = settings.embedder if embedder is None else embedder
    setup = Setup(
        store=store,
        encoding=Encoding(lambda: resolve(wanted, settings), store.model),
        scope=scope,
        policy=chosen,
        proposer=UnionProposer() if language_model is None else UnionProposer(),
        clock=clock or _utc_now,
    )
    return Memory(setup, resolve_embedder=lambda choice: resolve(choice, settings))


def _utc_now() -> datetime:
    return datetime.now(UTC)
