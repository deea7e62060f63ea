"""Passwords and what notes say are in no log, error, repr or list of processes."""

from __future__ import annotations

import logging
from collections.abc import Callable
from pathlib import Path

import pytest
from neo4j_server.server import Address
from reliability.tally import Tally
from typer.main import get_command

from graphmem import GraphmemError, Memory, open_memory
from graphmem.interfaces.cli import app
from graphmem.settings import read_settings

PASSWORD = "swordfish-41-swordfish"
CONTENT = "the-treasure-is-under-the-oak"


def use(memory: Memory) -> None:
    """Make a memory do a bit of everything, errors included."""
    memory.add(f"We know that {CONTENT} since Monday", id="n", author=CONTENT)
    memory.recall(f"Where? {CONTENT}")
    memory.revise("n", content=f"We doubt that {CONTENT}")
    memory.undo(memory.history("n")[-1].id)
    refused = (
        lambda: memory.add(f"{CONTENT} \0"),
        lambda: memory.add("fine", metadata={"k": object()}),
        lambda: memory.revise("n", content=CONTENT, expected_revision=99),
        lambda: memory.get("nobody"),
    )
    for call in refused:
        with pytest.raises(GraphmemError) as told:
            call()
        assert CONTENT not in str(told.value)
    memory.erase(id="n")


def test_an_embedded_memory_logs_and_shows_nothing(
    tmp_path: Path, caplog: pytest.LogCaptureFixture, tally: Callable[[str], Tally]
) -> None:
    count = tally("secrets, embedded")
    caplog.set_level(logging.DEBUG)
    with open_memory(tmp_path / "s.graphmem", embedder="hashing-64") as memory:
        use(memory)
        count.operations += 8
        count.holds(CONTENT not in repr(memory), "repr of the memory")
    count.holds(CONTENT not in caplog.text, f"the log: {caplog.text[:300]}")


@pytest.mark.neo4j
def test_a_servers_password_and_notes_stay_inside(
    neo4j_address: Address, caplog: pytest.LogCaptureFixture, tally: Callable[[str], Tally]
) -> None:
    count = tally("secrets, Neo4j")
    caplog.set_level(logging.DEBUG)
    uri, auth = neo4j_address.uri, neo4j_address.auth
    with open_memory(uri, auth=auth, namespace="secrets", embedder="hashing-64") as memory:
        store = memory._parts.store
        try:
            use(memory)
        except GraphmemError as error:  # the graph may be of another test's model
            count.holds(CONTENT not in str(error), f"an error: {error}")
        for shown in (repr(memory), repr(store), store.label, repr(store.__dict__)):
            count.holds(auth[1] not in shown, f"the password is in {shown[:80]}")
    count.operations += 8
    # The driver's own debug log repeats what it sends, never the password.
    ours = "\n".join(r.getMessage() for r in caplog.records if not r.name.startswith("neo4j"))
    count.holds(CONTENT not in ours, f"the log: {ours[:300]}")
    count.holds(auth[1] not in caplog.text, "the password is in a log")
    for wrong in ((uri, ("neo4j", PASSWORD)), ("bolt://127.0.0.1:9", ("neo4j", PASSWORD))):
        with pytest.raises(GraphmemError) as refused:
            open_memory(wrong[0], auth=wrong[1]).stats()
        chain = [refused.value, refused.value.__cause__, refused.value.__context__]
        count.operations += 1
        count.holds(PASSWORD not in repr(chain) + str(chain), f"{wrong[0]}: {refused.value}")
    with pytest.raises(GraphmemError) as refused:
        open_memory(f"bolt://neo4j:{PASSWORD}@127.0.0.1:9")
    count.holds(PASSWORD not in str(refused.value), f"an address: {refused.value}")


def test_settings_hide_what_is_secret(
    monkeypatch: pytest.MonkeyPatch, tally: Callable[[str], Tally]
) -> None:
    count = tally("secrets, settings")
    for name in ("NEO4J_PASSWORD", "GRAPHMEM_LLM_API_KEY"):
        monkeypatch.setenv(name, PASSWORD)
    settings = read_settings()
    count.operations += 1
    count.holds(PASSWORD not in repr(settings) + str(settings), "the settings")


def test_no_command_takes_a_password_as_an_argument(tally: Callable[[str], Tally]) -> None:
    """What stands on a command line stands in the list of processes."""
    count = tally("secrets, command line")
    group = get_command(app)
    context = group.make_context("graphmem", [], resilient_parsing=True)
    commands = group.list_commands(context)  # type: ignore[attr-defined] # it is a group
    for name in commands:
        command = group.get_command(context, name)  # type: ignore[attr-defined] # as above
        options = [option for parameter in command.params for option in parameter.opts]
        count.operations += 1
        secret = [o for o in options if "password" in o or "key" in o.split("-")]
        count.holds(not secret, f"{name}: {secret}")
    count.holds(len(commands) > 10, "hardly a command was looked at")
