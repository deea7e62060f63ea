"""The client of a language model, against a real server that speaks the protocol."""

from __future__ import annotations

import socket
import subprocess
import sys
from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack
from email.utils import formatdate

import pytest
from chat_server import Answer, ChatServer, Request, Script, chat_server, completion

from graphmem.errors import ConfigurationError, LanguageModelError
from graphmem.providers.language import ChatModel, resolve_language_model

SCHEMA = {"type": "object", "properties": {"a": {"type": "string"}}}

Serve = Callable[[Script | str], ChatServer]


@pytest.fixture
def serve() -> Iterator[Serve]:
    with ExitStack() as stack:
        yield lambda script: stack.enter_context(chat_server(script))


class Waits:
    """Counts the seconds that were to be slept; the clock moves with them."""

    def __init__(self) -> None:
        self.slept: list[float] = []
        self.now = 0.0

    def sleep(self, seconds: float) -> None:
        self.slept.append(seconds)
        self.now += seconds

    def monotonic(self) -> float:
        return self.now


@pytest.fixture
def waits() -> Waits:
    return Waits()


def model_at(url: str, waits: Waits, **options: object) -> ChatModel:
    return ChatModel(url, "small", sleep=waits.sleep, monotonic=waits.monotonic, **options)


def then(*answers: Answer) -> Script:
    """Give these answers in order, the last one again and again."""
    return lambda _, number: answers[min(number, len(answers) - 1)]


def test_a_question_and_its_answer(serve: Serve, waits: Waits) -> None:
    server = serve('{"a": "b"}')
    model = model_at(server.url, waits, api_key="s3cret")
    assert model.complete("What?", schema=SCHEMA) == '{"a": "b"}'
    (request,) = server.requests
    assert request.path == "/v1/chat/completions"
    assert request.headers["authorization"] == "Bearer s3cret"
    assert (request.prompt, request.body["model"], request.body["temperature"]) == (
        "What?",
        "small",
        0,
    )
    wanted = request.body["response_format"]
    assert (wanted["type"], wanted["json_schema"]["schema"]) == ("json_schema", SCHEMA)
    assert model.model_id == "small"


def test_cost_and_time_are_counted(serve: Serve, waits: Waits) -> None:
    server = serve(then(Answer("a"), Answer(status=429), Answer("b"), Answer("")))
    model = model_at(server.url, waits)
    model.complete("1", schema=SCHEMA)
    model.complete("2", schema=SCHEMA)
    with pytest.raises(LanguageModelError):
        model.complete("3", schema=SCHEMA)
    usage = model.usage
    assert (usage.calls, usage.failures) == (4, 1)
    assert (usage.prompt_tokens, usage.completion_tokens) == (60, 15)
    assert usage.seconds > 0


def test_nothing_of_another_service_is_sent(
    serve: Serve, waits: Waits, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("OPENAI_API_KEY", "OPENAI_ORG_ID", "OPENAI_PROJECT_ID", "OPENAI_ADMIN_KEY"):
        monkeypatch.setenv(name, "foreign")
    monkeypatch.setenv("OPENAI_BASE_URL", "http://192.0.2.1/v1")
    server = serve("x")
    model_at(server.url, waits).complete("q", schema=SCHEMA)
    (request,) = server.requests
    assert "foreign" not in str(request.headers)


@pytest.mark.parametrize(
    ("refused", "kept"),
    [
        (lambda body: body.get("response_format", {}).get("type") == "json_schema", "json_object"),
        (lambda body: "response_format" in body, None),
        (lambda body: "temperature" in body, None),
    ],
)
@pytest.mark.parametrize("status", [400, 422])
def test_an_endpoint_that_knows_less_is_asked_more_plainly(
    serve: Serve,
    waits: Waits,
    refused: Callable[[Mapping[str, object]], bool],
    kept: str | None,
    status: int,
) -> None:
    def script(request: Request, number: int) -> Answer:
        return Answer("unsupported", status=status) if refused(request.body) else Answer("yes")

    server = serve(script)
    model = model_at(server.url, waits)
    assert model.complete("q", schema=SCHEMA) == "yes"
    asked = len(server.requests)
    assert model.complete("q", schema=SCHEMA) == "yes"
    assert len(server.requests) == asked + 1  # what worked is kept
    assert server.requests[-1].body.get("response_format", {}).get("type") == kept


def test_a_question_refused_in_every_form_changes_nothing_for_the_next(
    serve: Serve, waits: Waits
) -> None:
    def script(request: Request, number: int) -> Answer:
        return Answer("too long", status=400) if request.prompt == "long" else Answer("yes")

    server = serve(script)
    model = model_at(server.url, waits)
    with pytest.raises(LanguageModelError, match=r"400.*too long"):
        model.complete("long", schema=SCHEMA)
    model.complete("short", schema=SCHEMA)
    assert server.requests[-1].body["response_format"]["type"] == "json_schema"


@pytest.mark.parametrize(
    ("header", "waited"),
    [({"Retry-After": "7"}, 7.0), ({}, 1.0), ({"Retry-After": "3600"}, 20.0)],
)
def test_too_many_requests_are_waited_out(
    serve: Serve, waits: Waits, header: dict[str, str], waited: float
) -> None:
    server = serve(then(Answer("slow down", 429, header), Answer("yes")))
    assert model_at(server.url, waits).complete("q", schema=SCHEMA) == "yes"
    assert waits.slept == [waited]


def test_a_date_to_retry_after_is_read(serve: Serve, waits: Waits) -> None:
    past = formatdate(0, usegmt=True)
    server = serve(then(Answer(status=503, headers={"Retry-After": past}), Answer("yes")))
    assert model_at(server.url, waits).complete("q", schema=SCHEMA) == "yes"
    assert waits.slept == [0.0]


def test_waiting_grows_and_ends(serve: Serve, waits: Waits) -> None:
    server = serve(then(Answer("busy", status=503, headers={"Retry-After": "soon"})))
    with pytest.raises(LanguageModelError, match=r"503.*busy"):
        model_at(server.url, waits).complete("q", schema=SCHEMA)
    assert waits.slept == [1.0, 2.0, 4.0]
    assert len(server.requests) == 4


@pytest.mark.parametrize("status", [401, 403, 404, 409])
def test_a_refusal_is_not_repeated(serve: Serve, waits: Waits, status: int) -> None:
    server = serve(then(Answer("key s3cret is not known", status=status)))
    model = model_at(server.url, waits, api_key="s3cret")
    with pytest.raises(LanguageModelError, match=str(status)) as refused:
        model.complete("q", schema=SCHEMA)
    assert "s3cret" not in str(refused.value)
    assert len(server.requests) == 1


def test_an_endpoint_that_hangs_is_given_up_and_then_left_alone(serve: Serve, waits: Waits) -> None:
    server = serve(then(*[Answer("late", delay=1.0)] * 3, Answer("yes")))
    model = model_at(server.url, waits, timeout=0.1)
    for _ in range(3):
        with pytest.raises(LanguageModelError, match=r"within 0\.1 s"):
            model.complete("q", schema=SCHEMA)
    assert waits.slept == []
    with pytest.raises(LanguageModelError, match="not asked again for 60 s"):
        model.complete("q", schema=SCHEMA)
    assert len(server.requests) == 3
    waits.now += 61
    assert model.complete("q", schema=SCHEMA) == "yes"
    assert model.usage.failures == 4


def test_nobody_there(waits: Waits) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
    with pytest.raises(LanguageModelError, match=f"127.0.0.1:{port}"):
        model_at(f"http://user:pass@127.0.0.1:{port}/v1", waits).complete("q", schema=SCHEMA)


@pytest.mark.parametrize(
    "body",
    [
        b"",
        b"<html>proxy</html>",
        b"{}",
        b"null",
        b'{"choices": []}',
        b'{"choices": [{"message": null}]}',
        b'{"choices": [{"message": {"content": null}}]}',
        b'{"choices": [{"message": {"content": [1]}}]}',
        completion(None),
        completion("  \n"),
        completion("cut")[:-20],
    ],
)
def test_an_answer_without_text_is_no_answer(serve: Serve, waits: Waits, body: bytes) -> None:
    server = serve(then(Answer(body=body)))
    with pytest.raises(LanguageModelError, match="answered"):
        model_at(server.url, waits).complete("q", schema=SCHEMA)


def test_a_smaller_answer_than_the_protocol_asks_for_is_enough(serve: Serve, waits: Waits) -> None:
    server = serve(then(Answer(body=b'{"choices": [{"message": {"content": "yes"}}]}')))
    assert model_at(server.url, waits).complete("q", schema=SCHEMA) == "yes"


# --- choosing one


class Own:
    model_id = "own"

    def complete(self, prompt: str, *, schema: Mapping[str, object]) -> str:
        return prompt


def test_without_an_address_there_is_none() -> None:
    assert resolve_language_model(None) is None
    assert resolve_language_model(None, model="m", api_key="k") is None
    assert resolve_language_model("none", url="http://a/v1", model="m") is None


def test_an_object_with_the_protocol_is_taken_as_it_is() -> None:
    own = Own()
    assert resolve_language_model(own, url="http://x/v1") is own


@pytest.mark.parametrize(
    ("choice", "settings", "shown"),
    [
        (None, {"url": "http://a/v1", "model": "m"}, "'m' at http://a/v1"),
        ("n", {"url": "http://a/v1", "model": "m"}, "'n' at http://a/v1"),
        ("http://b/v1#n", {}, "'n' at http://b/v1"),
        ("http://b/v1", {"model": "m"}, "'m' at http://b/v1"),
        ("https://u:secret@b/v1#n:4b", {}, "'n:4b' at https://b/v1"),
    ],
)
def test_names_and_addresses(choice: str | None, settings: dict[str, str], shown: str) -> None:
    assert shown in repr(resolve_language_model(choice, **settings))


def test_a_key_goes_to_its_own_endpoint_only(serve: Serve) -> None:
    server = serve("x")
    settings = {"url": "http://192.0.2.1/v1", "api_key": "s3cret"}
    other = resolve_language_model(f"{server.url}#m", **settings)
    assert other is not None
    other.complete("q", schema=SCHEMA)
    assert "s3cret" not in str(server.requests[0].headers)


@pytest.mark.parametrize(
    ("choice", "settings", "said"),
    [
        ("m", {}, "GRAPHMEM_LLM_URL"),
        (None, {"url": "http://a/v1"}, "GRAPHMEM_LLM_MODEL"),
        ("http://b/v1", {}, "GRAPHMEM_LLM_MODEL"),
        ("ftp://b/v1#m", {}, "ftp://"),
        (" ", {"url": "http://a/v1"}, "blank"),
        (object(), {}, "model_id, complete"),
    ],
)
def test_what_cannot_be_chosen(choice: str, settings: dict[str, str], said: str) -> None:
    with pytest.raises(ConfigurationError, match=said):
        resolve_language_model(choice, **settings)


@pytest.mark.parametrize(
    "asked",
    [
        "ChatModel('http://localhost:9/v1', 'm').complete('q', schema={})",
        "resolve_language_model('http://localhost:9/v1#m')",
    ],
)
def test_without_the_package_the_extra_is_named(asked: str) -> None:
    code = (
        "import importlib.util as util, sys\n"
        "sys.modules['openai'] = None\n"
        "find = util.find_spec\n"
        "util.find_spec = lambda name, *more: None if name == 'openai' else find(name, *more)\n"
        "from graphmem import MissingExtra\n"
        "from graphmem.providers.language import ChatModel, resolve_language_model\n"
        "try:\n"
        f"    {asked}\n"
        "except MissingExtra as error:\n"
        "    print(error)\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True, timeout=60
    )
    assert "graphmem[language-model]" in done.stdout
