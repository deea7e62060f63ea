# What developers type; `just` lists it.
_default:
    @just --list

# See it work on the embedded store.
demo:
    uv run --no-dev graphmem demo

# Quick tests: offline, without Java, Docker or model weights.
unit *arguments:
    uv run pytest tests/unit {{ arguments }}

# All tests; those that need a Neo4j server are skipped with their reason where there is none.
test *arguments:
    uv run pytest {{ arguments }}

# Break things on purpose, in full; ends with a table of operations, faults and violations.
reliability *arguments:
    cd tests && uv run python -m reliability {{ arguments }}

# Style, types and the floors of imports.
check:
    uv run ruff check .
    uv run ruff format --check .
    uv run mypy
    uv run lint-imports

# Mend the style.
format:
    uv run ruff check --fix .
    uv run ruff format .

# All that must hold before a change lands.
ci:
    bash .ci/run

# A Neo4j server for trying things out, without Docker.
neo4j *arguments:
    cd tests && uv run python -m neo4j_server {{ arguments }}

# Compare both embedding lanes live (installs torch, some 5 GB, into an environment of its own).
lanes:
    UV_PROJECT_ENVIRONMENT=.venv-lanes uv run --extra sentence-transformers pytest tests/integration/test_embedding_lanes.py

# Move every pinned package to its newest version.
pins:
    python3 .ci/pins.py

# Build wheel and sdist into dist/.
build:
    uv build
