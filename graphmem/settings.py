"""What graphmem reads from the environment, and where its default file lives."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import platformdirs
from pydantic import AfterValidator, Field, SecretStr, ValidationError
from pydantic_settings import BaseSettings, SettingsConfigDict

from graphmem.errors import ConfigurationError

NEO4J_SCHEMES = ("neo4j", "neo4j+s", "neo4j+ssc", "bolt", "bolt+s", "bolt+ssc")
"""Schemes of an address that means a Neo4j server."""


def _neo4j_address(value: str) -> str:
    scheme, separator, rest = value.partition("://")
    if not separator or scheme not in NEO4J_SCHEMES or not rest:
        # The value itself is not repeated: a password may stand in it.
        raise ValueError(f"must start with one of {', '.join(NEO4J_SCHEMES)}, then ://host:port")
    return value


def _existing_directory(value: Path) -> Path:
    try:
        path = value.expanduser()
        found = path.is_dir()
    except (OSError, RuntimeError) as error:  # a name too long, or the home of nobody
        raise ValueError(f"is not a directory: {error}") from error
    if not found:
        raise ValueError(f"is not a directory: {path}")
    return path


def _not_blank(value: str) -> str:
    if not value.strip():
        raise ValueError("must not be blank")
    return value


def _http_address(value: str) -> str:
    if not value.startswith(("http://", "https://")):
        # The value itself is not repeated: a key may stand in it.
        raise ValueError("must start with http:// or https://, such as http://localhost:11434/v1")
    return value


class Settings(BaseSettings):
    """The environment's say; an argument given in code goes before it.

    Made by :func:`read_settings`. A variable that is set but empty counts as not set. The
    password and the key are never part of a printed form.

    Attributes
    ----------
    url
        ``GRAPHMEM_URL``: where a memory opens when no url is given.
    namespace
        ``GRAPHMEM_NAMESPACE``: namespace of the command line when none is given.
    embedder
        ``GRAPHMEM_EMBEDDER``: name of the embedding model; ``None`` is the default model.
    model_dir
        ``GRAPHMEM_MODEL_DIR``: directory with the default model's official files.
    llm_url, llm_model, llm_api_key
        ``GRAPHMEM_LLM_URL``, ``GRAPHMEM_LLM_MODEL``, ``GRAPHMEM_LLM_API_KEY``: endpoint of a
        language model, the model's name there, and the key it wants. Without the first
        there is no language model, and nothing leaves the machine.
    llm_concurrency
        ``GRAPHMEM_LLM_CONCURRENCY``: how many questions the endpoint is asked at once.
    neo4j_uri, neo4j_username, neo4j_password, neo4j_database
        ``NEO4J_URI`` and its companions, as everywhere in that ecosystem;
        ``None`` for the database is the server's default.
    """

    model_config = SettingsConfigDict(
        frozen=True, extra="ignore", env_ignore_empty=True, hide_input_in_errors=True
    )

    url: Annotated[str, AfterValidator(_not_blank)] | None = Field(
        default=None, validation_alias="GRAPHMEM_URL"
    )
    namespace: Annotated[str, AfterValidator(_not_blank)] = Field(
        default="default", validation_alias="GRAPHMEM_NAMESPACE"
    )
    embedder: Annotated[str, AfterValidator(_not_blank)] | None = Field(
        default=None, validation_alias="GRAPHMEM_EMBEDDER"
    )
    model_dir: Annotated[Path, AfterValidator(_existing_directory)] | None = Field(
        default=None, validation_alias="GRAPHMEM_MODEL_DIR"
    )
    llm_url: Annotated[str, AfterValidator(_http_address)] | None = Field(
        default=None, validation_alias="GRAPHMEM_LLM_URL"
    )
    llm_model: Annotated[str, AfterValidator(_not_blank)] | None = Field(
        default=None, validation_alias="GRAPHMEM_LLM_MODEL"
    )
    llm_api_key: SecretStr | None = Field(default=None, validation_alias="GRAPHMEM_LLM_API_KEY")
    llm_concurrency: Annotated[int, Field(ge=1, le=256)] = Field(
        default=4, validation_alias="GRAPHMEM_LLM_CONCURRENCY"
    )
    neo4j_uri: Annotated[str, AfterValidator(_neo4j_address)] | None = Field(
        default=None, validation_alias="NEO4J_URI"
    )
    neo4j_username: str = Field(default="neo4j", validation_alias="NEO4J_USERNAME")
    neo4j_password: SecretStr | None = Field(default=None, validation_alias="NEO4J_PASSWORD")
    neo4j_database: str | None = Field(default=None, validation_alias="NEO4J_DATABASE")

    @property
    def address(self) -> str:
        """Where a memory opens when the code names no place.

        ``GRAPHMEM_URL``, else ``NEO4J_URI``, else the durable file of :func:`default_path`.
        """
        return self.url or self.neo4j_uri or str(default_path())


def read_settings() -> Settings:
    """Read the environment.

    Raises
    ------
    ConfigurationError
        A variable has a value that cannot be used; names the variable.
    """
    try:
        return Settings()
    except ValidationError as error:
        problems = "; ".join(_problem(detail["loc"], detail["msg"]) for detail in error.errors())
        raise ConfigurationError(f"the environment cannot be used: {problems}") from error


def default_path() -> Path:
    """Return the durable file used when nothing else is said; its folder may not exist yet."""
    return platformdirs.user_data_path("graphmem", appauthor=False) / "memory.graphmem"


def _problem(place: tuple[int | str, ...], message: str) -> str:
    return f"{place[0] if place else 'a value'} {message.removeprefix('Value error, ')}"
