"""``open_memory``: the only place that names concrete stores and embedders."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

from graphmem.algorithms.merging import UnionProposer
from graphmem.errors import ConfigurationError, InvalidInput, ReadOnlyStore
from graphmem.memory import Memory
from graphmem.memory.encoding import Encoding
from graphmem.memory.entry import checked_filter, checked_id
from graphmem.memory.setup import Setup
from graphmem.model import Scope
from graphmem.policy import Policy, resolve_policy
from graphmem.ports import Clock, Embedder, LanguageModel, NoteStore
from graphmem.providers.embedding import resolve_embedder
from graphmem.providers.language import resolve_language_model
from graphmem.settings import NEO4J_SCHEMES, Settings, default_path, read_settings

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
    namespace: str = "default",
    embedder: str | Embedder | None = None,
    language_model: str | LanguageModel | None = None,
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
        The scope: this memory reads and writes nothing outside it.
    embedder
        ``None`` for the default model, a model's name, or an object with the ``Embedder``
        protocol.
    language_model
        Makes keywords, tags, context and importance of new notes and proposes how near-
        identical ones evolve; the built-in rules, which need none, stay the fallback. A
        model's name at ``GRAPHMEM_LLM_URL``, an address such as
        ``http://localhost:11434/v1#qwen3:4b``, or an object with the ``LanguageModel``
        protocol. ``None`` takes ``GRAPHMEM_LLM_URL`` and ``GRAPHMEM_LLM_MODEL``, and where
        they are not set no model: then nothing leaves the machine. ``"none"`` is no model
        even there.
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
    settings = read_settings()
    chosen = resolve_policy(policy)
    scope = _scope(namespace, authorise)
    wanted = settings.embedder if embedder is None else embedder

    def resolve(choice: str | Embedder | None) -> Embedder:
        return resolve_embedder(choice, model_dir=settings.model_dir)

    model = _language_model(settings, language_model)
    store = open_store(settings.address if url is None else url, settings, auth)
    setup = Setup(
        store=store,
        encoding=Encoding(lambda: resolve(wanted), store.model),
        scope=scope,
        policy=chosen,
        proposer=UnionProposer(chosen.links.max_keywords, chosen.links.max_tags),
        clock=clock or _utc_now,
        language_model=model,
    )
    return Memory(setup, resolve_embedder=resolve)


def open_store(
    url: str | Path, settings: Settings | None = None, auth: tuple[str, str] | None = None
) -> NoteStore:
    """Open the store at an address; see :func:`open_memory` for the forms it may have.

    Raises
    ------
    ConfigurationError
        The address has a scheme no store answers to.
    """
    address = str(url)
    scheme, separator, _ = address.partition("://")
    if not separator:
        return _open_embedded(address)
    if scheme in NEO4J_SCHEMES:
        return _open_neo4j(address, settings or read_settings(), auth)
    known = ", ".join(f"{name}://" for name in NEO4J_SCHEMES)
    raise ConfigurationError(f"no store answers to {scheme}://; use a path, :memory:, or {known}")


def _open_embedded(address: str) -> NoteStore:
    from graphmem.stores.embedded.store import NetworkXStore

    if not address.strip() or "\0" in address:
        raise ConfigurationError(f"{address!r} is no path; name a file or use :memory:")
    _make_own_folder(address)
    return NetworkXStore(address)


def _make_own_folder(address: str) -> None:
    """Make the folder of the default file; a folder the user names must be there."""
    if address != str(default_path()):
        return
    folder = Path(address).parent
    try:
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    except OSError as error:
        raise ReadOnlyStore(
            f"cannot make the folder {folder}: {error.strerror}; name a file with url or "
            "GRAPHMEM_URL"
        ) from error


def _open_neo4j(address: str, settings: Settings, auth: tuple[str, str] | None) -> NoteStore:
    from graphmem.stores.neo4j.store import Neo4jStore

    if auth is None:
        if settings.neo4j_password is None:
            raise ConfigurationError(
                "a Neo4j address needs a user and a password: pass auth=(user, password) or "
                "set NEO4J_USERNAME and NEO4J_PASSWORD"
            )
        auth = (settings.neo4j_username, settings.neo4j_password.get_secret_value())
    return Neo4jStore(address, auth=auth, database=settings.neo4j_database)


def _scope(
    namespace: str, authorise: Authorisation | Mapping[str, Iterable[str] | None] | None
) -> Scope:
    try:
        name = checked_id(namespace, "namespace")
    except InvalidInput as error:
        raise ConfigurationError(str(error)) from error
    if authorise is None:
        return Scope(name)
    given = authorise if isinstance(authorise, Authorisation) else _named(authorise)
    allowed = checked_filter(
        sources=given.sources, authors=given.authors, tags=None, since=None, until=None
    )
    return Scope(name, allowed.sources, allowed.authors)


def _named(authorise: Mapping[str, Iterable[str] | None]) -> Authorisation:
    unknown = sorted(set(authorise) - {"sources", "authors"})
    if unknown:
        raise ConfigurationError(
            f"authorise knows sources and authors, not {unknown[0]!r}; nothing was opened"
        )
    return Authorisation(authorise.get("sources"), authorise.get("authors"))


def _language_model(settings: Settings, choice: str | LanguageModel | None) -> LanguageModel | None:
    key = settings.llm_api_key
    return resolve_language_model(
        choice,
        url=settings.llm_url,
        model=settings.llm_model,
        concurrency=settings.llm_concurrency,
        api_key=None if key is None else key.get_secret_value(),
    )


def _utc_now() -> datetime:
    return datetime.now(UTC)
