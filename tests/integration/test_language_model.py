"""A language model behind a real endpoint, from good to hopeless; and none, with no socket."""

from __future__ import annotations

import json
import subprocess
import sys
from itertools import count
from pathlib import Path
from threading import Barrier, get_ident

import pytest
from chat_server import Answer, Request, chat_server, completion
from cli_process import CommandLine

from graphmem import NoteInput, open_memory
from graphmem.providers.language import ChatModel

GOOD = json.dumps(
    {"keywords": ["kettle"], "tags": ["kitchen"], "context": "About a kettle.", "importance": 7}
)

BAD = (
    Answer(""),
    Answer("I am sorry, I cannot do that."),
    Answer(f"```json\n{GOOD[:-25]}\n```"),
    Answer(GOOD[:-1] + ",}"),
    Answer("<think>hmm {"),
    Answer('{"keywords": 7, "tags": null, "importance": "high"}'),
    Answer('{"changes": "all"}'),
    Answer("[" * 3000),
    Answer("nul \0 and \ud800"),
    Answer(body=b"<html>502</html>"),
    Answer(body=b""),
    Answer(body=completion(GOOD)[:-40]),
    Answer(status=429, headers={"Retry-After": "0"}),
    Answer(status=500),
    Answer(status=401, text="no such key"),
    Answer(GOOD, delay=0.2),
)


def patient(url: str) -> ChatModel:
    """A client that neither sleeps nor rests, so that every answer of the script is met."""
    ticks = count(step=120)
    return ChatModel(
        url, "bad", timeout=0.05, sleep=lambda _: None, monotonic=lambda: float(next(ticks))
    )


def test_a_thousand_notes_survive_a_bad_model(tmp_path: Path) -> None:
    texts = [f"note {number} tells of kettle {number * 7919 % 1000}" for number in range(1000)]
    with chat_server(lambda _, number: BAD[number % len(BAD)]) as server:
        model = patient(server.url)
        with open_memory(
            tmp_path / "notes.graphmem", embedder="hashing-64", language_model=model
        ) as memory:
            report = memory.add_many(
                [NoteInput(text, id=f"n{number}") for number, text in enumerate(texts)]
            )
    assert (report.added, report.rejected) == (1000, ())
    assert [index for index, _ in report.fallbacks] == list(range(1000))
    assert all(reason for _, reason in report.fallbacks)
    assert len({reason for _, reason in report.fallbacks}) >= 6
    usage = model.usage
    assert usage.calls >= 1000
    assert 0 < usage.failures < usage.calls
    with open_memory(tmp_path / "notes.graphmem", embedder="hashing-64") as memory:
        assert {note.id: note.content for note in memory.notes()} == {
            f"n{number}": text for number, text in enumerate(texts)
        }
        assert all(note.keywords and note.context for note in memory.notes())
        assert memory.check().ok


def test_new_notes_are_asked_about_together() -> None:
    together = Barrier(4)

    def meeting(_request: Request, _number: int) -> Answer:
        together.wait(timeout=30)  # broken unless four questions are open at once
        return Answer(GOOD)

    unlike = ["kettle", "harbour", "violin", "glacier", "ledger", "orchard", "comet", "saddle"]
    with (
        chat_server(meeting) as server,
        open_memory(
            ":memory:",
            embedder="hashing-64",
            language_model=ChatModel(server.url, "small", concurrency=4),
        ) as memory,
    ):
        report = memory.add_many([NoteInput(word) for word in unlike])
        assert (report.added, report.fallbacks) == (8, ())
        assert all(note.tags == ("kitchen",) for note in memory.notes())


class OneByOne:
    """A model of the caller's that says nothing of threads."""

    model_id = "own"

    def __init__(self) -> None:
        self.threads: set[int] = set()

    def complete(self, prompt: str, *, schema: object) -> str:
        self.threads.add(get_ident())
        return GOOD


def test_a_model_that_says_nothing_of_threads_stays_in_the_callers() -> None:
    model = OneByOne()
    with open_memory(":memory:", embedder="hashing-64", language_model=model) as memory:
        memory.add_many([NoteInput(f"kettle number {number}") for number in range(8)])
    assert model.threads == {get_ident()}


def test_an_endpoint_in_the_environment_is_used(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with chat_server(GOOD) as server:
        monkeypatch.setenv("GRAPHMEM_LLM_URL", server.url)
        monkeypatch.setenv("GRAPHMEM_LLM_MODEL", "small")
        monkeypatch.setenv("GRAPHMEM_LLM_API_KEY", "s3cret")
        with open_memory(":memory:", embedder="hashing-64") as memory:
            receipt = memory.add("the kettle is blue", id="n")
            note = memory.get("n")
            assert isinstance(memory.language_model, ChatModel)
            assert memory.language_model.usage.calls == 1
    assert (note.tags, note.context) == (("kitchen",), "About a kettle.")
    assert note.importance == pytest.approx(6 / 9)
    assert receipt.constructor == "small:construct-1"
    (request,) = server.requests
    assert request.headers["authorization"] == "Bearer s3cret"
    assert "the kettle is blue" in request.prompt


def test_evolution_is_advised_by_the_endpoint() -> None:
    def script(request: Request, number: int) -> Answer:
        if "Neighbours" not in request.prompt:
            return Answer(GOOD)
        changes = [{"id": "old", "tags": ["advised"], "context": "", "keywords": [], "links": []}]
        return Answer(f"<think>well</think>{json.dumps({'changes': changes})}")

    with (
        chat_server(script) as server,
        open_memory(
            ":memory:", embedder="hashing-64", language_model=f"{server.url}#small"
        ) as memory,
    ):
        memory.add("the blue kettle stands on the shelf", id="old")
        receipt = memory.add("the blue kettle stands on the shelf!", id="new")
        assert memory.get("old").tags == ("advised",)
        (event,) = receipt.evolved
        assert event.proposer == "small:evolve-2"


REFUSE_SOCKETS = """
import sys
def refuse(event, arguments):
    if event.startswith("socket.") and event != "socket.gethostname":
        raise RuntimeError(f"a socket was used: {event} {arguments}")
sys.addaudithook(refuse)
from graphmem import NoteInput, open_memory
with open_memory("notes.graphmem", embedder=EMBEDDER) as memory:
    memory.add("the blue kettle stands on the shelf", id="a")
    memory.add_many([NoteInput("the blue kettle stands on the shelf!"), NoteInput("grey lamp")])
    found = memory.recall("where is the kettle?")
    print(len(found.notes), memory.language_model)
"""


@pytest.mark.parametrize("embedder", ["hashing-64", None])
def test_without_an_endpoint_no_socket_is_opened(tmp_path: Path, embedder: str | None) -> None:
    if embedder is None:
        from graphmem.providers.model_status import model_status

        status = model_status()
        if not status.ready:
            pytest.skip(f"the default model is not on this machine: {status.advice}")
    environment = CommandLine(tmp_path).environment
    del environment["GRAPHMEM_EMBEDDER"]
    done = subprocess.run(
        [sys.executable, "-c", REFUSE_SOCKETS.replace("EMBEDDER", repr(embedder))],
        env=environment,
        cwd=tmp_path,
        capture_output=True,
        text=True,
        check=False,
        timeout=300,
    )
    assert done.returncode == 0, done.stderr
    assert done.stdout == "3 None\n"
