"""Settings from the environment."""

from pathlib import Path

import pytest

from graphmem.errors import ConfigurationError
from graphmem.settings import default_path, read_settings

NAMES = (
    "GRAPHMEM_URL",
    "GRAPHMEM_NAMESPACE",
    "GRAPHMEM_EMBEDDER",
    "GRAPHMEM_MODEL_DIR",
    "GRAPHMEM_LLM_URL",
    "GRAPHMEM_LLM_MODEL",
    "GRAPHMEM_LLM_API_KEY",
    "NEO4J_URI",
    "NEO4J_USERNAME",
    "NEO4J_PASSWORD",
    "NEO4J_DATABASE",
)


@pytest.fixture(autouse=True)
def clean_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in NAMES:
        monkeypatch.delenv(name, raising=False)


def test_without_variables_everything_has_its_default() -> None:
    settings = read_settings()
    assert (settings.url, settings.namespace, settings.embedder) == (None, "default", None)
    assert (settings.model_dir, settings.neo4j_uri, settings.neo4j_password) == (None, None, None)
    assert (settings.neo4j_username, settings.neo4j_database) == ("neo4j", None)


def test_every_variable_is_read(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    values = dict.fromkeys(NAMES, "x") | {
        "GRAPHMEM_MODEL_DIR": str(tmp_path),
        "GRAPHMEM_LLM_URL": "http://localhost:11434/v1",
        "GRAPHMEM_LLM_API_KEY": "secret",
        "NEO4J_URI": "neo4j+s://db.example:7687",
        "NEO4J_PASSWORD": "hush",
    }
    for name, value in values.items():
        monkeypatch.setenv(name, value)
    settings = read_settings()
    assert (settings.url, settings.namespace, settings.embedder) == ("x", "x", "x")
    assert settings.model_dir == tmp_path
    assert (settings.llm_url, settings.llm_model) == ("http://localhost:11434/v1", "x")
    assert settings.llm_api_key is not None
    assert settings.llm_api_key.get_secret_value() == "secret"
    assert "secret" not in repr(settings)
    assert settings.neo4j_uri == "neo4j+s://db.example:7687"
    assert (settings.neo4j_username, settings.neo4j_database) == ("x", "x")
    assert settings.neo4j_password is not None
    assert settings.neo4j_password.get_secret_value() == "hush"


def test_the_address_is_url_then_neo4j_then_the_file(monkeypatch: pytest.MonkeyPatch) -> None:
    assert read_settings().address == str(default_path())
    monkeypatch.setenv("NEO4J_URI", "bolt://localhost")
    assert read_settings().address == "bolt://localhost"
    monkeypatch.setenv("GRAPHMEM_URL", ":memory:")
    assert read_settings().address == ":memory:"


def test_an_empty_variable_counts_as_not_set(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in NAMES:
        monkeypatch.setenv(name, "")
    assert read_settings().namespace == "default"
    assert read_settings().neo4j_password is None


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("NEO4J_URI", "http://user:hush@localhost"),
        ("NEO4J_URI", "localhost:7687"),
        ("NEO4J_URI", "neo4j://"),
        ("GRAPHMEM_MODEL_DIR", "/no/such/hush"),
        ("GRAPHMEM_MODEL_DIR", "~nobody-of-this-name/hush"),
        ("GRAPHMEM_MODEL_DIR", "/hush" * 2000),
        ("GRAPHMEM_NAMESPACE", "  "),
        ("GRAPHMEM_URL", "\t"),
        ("GRAPHMEM_LLM_URL", "user:hush@localhost:11434"),
        ("GRAPHMEM_LLM_MODEL", " "),
    ],
)
def test_a_value_that_cannot_be_used_names_its_variable(
    monkeypatch: pytest.MonkeyPatch, name: str, value: str
) -> None:
    monkeypatch.setenv(name, value)
    with pytest.raises(ConfigurationError, match=name) as caught:
        read_settings()
    # A traceback shows the cause as well.
    assert "user:hush" not in f"{caught.value} {caught.value.__cause__}"


def test_no_printed_form_shows_the_password(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("NEO4J_PASSWORD", "hush-hush")
    settings = read_settings()
    assert "hush-hush" not in repr(settings) + str(settings) + str(settings.model_dump())


def test_the_default_file_lies_in_the_users_data_folder(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr("platformdirs.user_data_path", lambda *_, **__: tmp_path)
    assert default_path() == tmp_path / "memory.graphmem"
