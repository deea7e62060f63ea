"""docker/compose.yaml, which is not started here: valid, safe, and the version under test."""

from __future__ import annotations

import json
from importlib.resources import files
from pathlib import Path
from typing import Any

import jsonschema
import pytest
import yaml
from neo4j_server.server import LTS

COMPOSE = Path(__file__).parents[2] / "docker" / "compose.yaml"
SCHEMA = files("check_jsonschema") / "builtin_schemas" / "vendor" / "compose-spec.json"


@pytest.fixture
def compose() -> dict[str, Any]:
    loaded: dict[str, Any] = yaml.safe_load(COMPOSE.read_text(encoding="utf-8"))
    return loaded


def validate(document: dict[str, Any]) -> None:
    schema = json.loads(SCHEMA.read_text(encoding="utf-8"))
    jsonschema.validators.validator_for(schema)(schema).validate(document)


def test_it_is_a_valid_compose_file(compose: dict[str, Any]) -> None:
    validate(compose)


def test_the_schema_refuses_a_wrong_one(compose: dict[str, Any]) -> None:
    compose["services"]["neo4j"]["health-check"] = {}
    with pytest.raises(jsonschema.ValidationError, match="health-check"):
        validate(compose)


def test_its_image_is_the_one_the_tests_run(compose: dict[str, Any]) -> None:
    assert compose["services"]["neo4j"]["image"] == LTS.image


def test_the_password_comes_from_the_environment_and_must_be_set(compose: dict[str, Any]) -> None:
    auth = compose["services"]["neo4j"]["environment"]["NEO4J_AUTH"]
    assert auth.startswith("neo4j/${NEO4J_PASSWORD:?")


def test_data_outlives_the_container_and_ports_are_local(compose: dict[str, Any]) -> None:
    service = compose["services"]["neo4j"]
    assert "data:/data" in service["volumes"]
    assert "data" in compose["volumes"]
    assert all(port.startswith("127.0.0.1:") for port in service["ports"])
    assert service["healthcheck"]["test"][0] == "CMD-SHELL"
