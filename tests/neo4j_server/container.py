"""The same servers as containers, where a Docker engine answers."""

from __future__ import annotations

import gc
import secrets
import warnings
from collections.abc import Iterator
from contextlib import contextmanager

import docker
from docker.errors import DockerException
from testcontainers.community.neo4j import Neo4jContainer

from neo4j_server.server import Address, Release


def docker_answers() -> bool:
    """Whether an engine answers a ping; an installed client alone does not count."""
    with warnings.catch_warnings():
        # The client leaves its socket to the garbage collector when nobody answers.
        warnings.simplefilter("ignore", ResourceWarning)
        answered = _ping()
        gc.collect()
    return answered


def _ping() -> bool:
    try:
        client = docker.from_env(timeout=5)
        try:
            return bool(client.ping())
        finally:
            client.close()
    except (DockerException, OSError):
        return False


@contextmanager
def container(release: Release) -> Iterator[Address]:
    """Run the release's official image."""
    password = secrets.token_hex(12)
    with Neo4jContainer(image=release.image, password=password) as running:
        yield Address(uri=running.get_connection_url(), password=password)
