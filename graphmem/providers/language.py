"""From a name or an address to the language model behind it."""

from __future__ import annotations

from importlib.util import find_spec

from graphmem.errors import ConfigurationError
from graphmem.ports import LanguageModel
from graphmem.providers.language_chat import (
    DEFAULT_CONCURRENCY,
    ChatModel,
    Usage,
    missing_package,
)

__all__ = ["NO_LANGUAGE_MODEL", "ChatModel", "Usage", "resolve_language_model"]

NO_LANGUAGE_MODEL = "none"
"""The choice of no model, also where the settings name an endpoint."""


def resolve_language_model(
    choice: str | LanguageModel | None,
    *,
    url: str | None = None,
    model: str | None = None,
    api_key: str | None = None,
    concurrency: int = DEFAULT_CONCURRENCY,
) -> LanguageModel | None:
    """Return the language model of a choice, or ``None``; connects to nothing.

    Parameters
    ----------
    choice
        ``None`` takes `url`, and no model where that is ``None`` too; ``"none"`` takes no
        model at all. Another text is the model's name at `url`, or an address of its own
        that may name the model behind ``#``, such as
        ``http://localhost:11434/v1#qwen3:4b``. Any other object with the LanguageModel
        protocol is returned as it is.
    url, model, api_key, concurrency
        Endpoint, name, key and questions at once from the settings. The key is sent to `url`
        only.

    Raises
    ------
    ConfigurationError
        An address without a model's name, a name without an address, or no language model.
    MissingExtra
        An endpoint is named and the openai package is not installed.
    """
    if choice == NO_LANGUAGE_MODEL or (choice is None and url is None):
        return None
    if choice is not None and not isinstance(choice, str):
        return _with_protocol(choice)
    address, name = _address(choice) if choice is not None else (None, None)
    chosen, named = address or url, name or model
    if chosen is None:
        raise ConfigurationError(
            f"where is the language model {name}? Set GRAPHMEM_LLM_URL, or give its address "
            f"as http://host:port/v1#{name}"
        )
    if named is None:
        raise ConfigurationError(
            "the endpoint of a language model is given but not which model: set "
            "GRAPHMEM_LLM_MODEL, or add #name to the address"
        )
    if find_spec("openai") is None:  # said when opening, not at the first note
        raise missing_package()
    key = api_key if chosen == url else None
    return ChatModel(chosen, named, api_key=key, concurrency=concurrency)


def _address(choice: str) -> tuple[str | None, str | None]:
    if "://" not in choice:
        if not choice.strip():
            raise ConfigurationError("the language model's name is blank; leave it out for none")
        return None, choice.strip()
    address, _, name = choice.partition("#")
    if not address.startswith(("http://", "https://")):
        raise ConfigurationError(
            f"a language model's address starts with http:// or https://, not "
            f"{address.partition('://')[0]}://"
        )
    return address, name or None


def _with_protocol(choice: LanguageModel) -> LanguageModel:
    missing = [name for name in ("model_id", "complete") if not hasattr(choice, name)]
    if missing:
        raise ConfigurationError(
            f"{type(choice).__name__} is no language model: it lacks {', '.join(missing)}. Pass "
            "a name, an address, or an object with model_id and complete(prompt, schema=...)"
        )
    return choice
