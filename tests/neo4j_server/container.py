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

BOLT_PORT, HTTP_PORT = 7687, 7474


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
    server = Neo4jContainer(image=release.image, password=password)
    with server.with_exposed_ports(BOLT_PORT, HTTP_PORT) as running:
        web = f"{running.get_container_host_ip()}:{running.get_exposed_port(HTTP_PORT)}"
        yield Address(
            uri=running.get_connection_url(), password=password, browser=f"http://{web}/browser/"
        )
