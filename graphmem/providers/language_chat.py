"""A language model behind any endpoint that speaks the chat-completions protocol.

Nothing here runs unless an endpoint was named. A call that brings no usable text ends in
``LanguageModelError`` within bounded time; what to do then is its caller's to decide.
"""

from __future__ import annotations

import itertools
import threading
import time
import weakref
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, replace
from email.utils import parsedate_to_datetime
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit, urlunsplit

from pydantic import BaseModel, ValidationError

from graphmem.errors import LanguageModelError, MissingExtra

if TYPE_CHECKING:
    from openai import OpenAI

EXTRA = "language-model"

_NO_KEY = "none"
"""Sent where no key is set: the client wants one, and must not look for another's."""

DEFAULT_CONCURRENCY = 4
"""Questions put at once: small servers answer so many together, hosted ones more."""

_PATIENCE = 3
_REST = 60.0
_LONGEST_WAIT = 20.0


@dataclass(frozen=True, slots=True)
class Usage:
    """What a language model has cost so far.

    Attributes
    ----------
    calls
        Requests that were sent, retries included.
    failures
        Questions that brought no usable text.
    prompt_tokens, completion_tokens
        As the endpoint counts them; 0 where it does not.
    seconds
        Time spent on requests, waiting between them not counted.
    """

    calls: int = 0
    failures: int = 0
    prompt_tokens: int = 0
    completion_tokens: int = 0
    seconds: float = 0.0


class ChatModel:
    """A model of an endpoint that speaks the chat-completions protocol.

    Too many requests (429), errors of the server and refused connections are tried again,
    later each time, or when the endpoint says so (``Retry-After``); a timeout is not, since
    the next would last as long. After three questions in a row without an answer the
    endpoint is left alone for a minute, so that a bulk add does not wait for each note.
    Safe to use from several threads.

    Parameters
    ----------
    url
        Base address, such as ``http://localhost:11434/v1``.
    model
        Name of the model as the endpoint knows it.
    api_key
        Sent as a bearer token; never shown.
    timeout
        Seconds one request may take.
    attempts
        Requests one question may take.
    concurrency
        Questions the endpoint may be asked at once.
    sleep, monotonic
        Waiting and the clock behind it.
    """

    def __init__(
        self,
        url: str,
        model: str,
        *,
        api_key: str | None = None,
        timeout: float = 30.0,
        attempts: int = 4,
        concurrency: int = DEFAULT_CONCURRENCY,
        sleep: Callable[[float], None] = time.sleep,
        monotonic: Callable[[], float] = time.monotonic,
    ) -> None:
        self._url = url
        self._place = _without_userinfo(url)
        self._model = model
        self._api_key = api_key
        self._timeout = timeout
        self._attempts = attempts
        self._concurrency = concurrency
        self._sleep = sleep
        self._rest = _EndpointRest(monotonic)
        self._lock = threading.Lock()
        self._usage = Usage()
        self._client: OpenAI | None = None
        self._form = 0

    def __repr__(self) -> str:
        return f"<ChatModel {self._model!r} at {self._place}>"

    @property
    def model_id(self) -> str:
        """Name of the model as the endpoint knows it."""
        return self._model

    @property
    def concurrency(self) -> int:
        """Questions the endpoint may be asked at once."""
        return self._concurrency

    @property
    def endpoint(self) -> str:
        """Address of the endpoint, without user and password."""
        return self._place

    @property
    def usage(self) -> Usage:
        """What was asked and spent so far."""
        with self._lock:
            return self._usage

    def complete(self, prompt: str, *, schema: Mapping[str, object]) -> str:
        """Return the model's reply, which follows `schema` where the endpoint enforces it.

        Raises
        ------
        LanguageModelError
            The endpoint cannot be reached, refuses, or answers without text.
        MissingExtra
            The openai package is not installed.
        """
        client = self._opened()
        try:
            self._rest.check()
            with self._translated():
                return self._asked(client, prompt, schema)
        except LanguageModelError:
            self._count(failures=1)
            raise

    def _asked(self, client: OpenAI, prompt: str, schema: Mapping[str, object]) -> str:
        """Ask in the richest form the endpoint takes; the first that works is kept."""
        from openai import BadRequestError, UnprocessableEntityError

        for form in range(self._form, len(_FORMS) - 1):
            try:
                reply = self._patiently(client, prompt, _FORMS[form](schema))
            except (BadRequestError, UnprocessableEntityError):
                continue
            self._form = form
            return reply
        reply = self._patiently(client, prompt, _FORMS[-1](schema))
        self._form = len(_FORMS) - 1
        return reply

    def _patiently(self, client: OpenAI, prompt: str, form: Mapping[str, Any]) -> str:
        from openai import APIConnectionError, APITimeoutError, InternalServerError, RateLimitError

        for attempt in itertools.count(1):
            try:
                reply = self._once(client, prompt, form)
            except (RateLimitError, InternalServerError, APIConnectionError) as error:
                if attempt >= self._attempts or isinstance(error, APITimeoutError):
                    self._rest.failed()
                    raise
                self._sleep(_wait(attempt, error))
            else:
                break
        self._rest.answered()
        return reply

    def _once(self, client: OpenAI, prompt: str, form: Mapping[str, Any]) -> str:
        from openai import omit

        started = time.perf_counter()
        try:
            response = client.chat.completions.with_raw_response.create(
                model=self._model,
                messages=[{"role": "user", "content": prompt}],
                # The client would take these from the environment of another service.
                extra_headers={"OpenAI-Organization": omit, "OpenAI-Project": omit},
                **form,
            )
        finally:
            self._count(calls=1, seconds=time.perf_counter() - started)
        return self._read(response.text)

    def _read(self, body: str) -> str:
        try:
            completion = _Completion.model_validate_json(body)
        except ValidationError as error:
            raise LanguageModelError(f"{self._place} answered with no chat completion") from error
        spent = completion.usage or _Tokens()
        self._count(
            prompt_tokens=spent.prompt_tokens or 0, completion_tokens=spent.completion_tokens or 0
        )
        text = completion.choices[0].message.content if completion.choices else None
        if not text or not text.strip():
            raise LanguageModelError(f"{self._model} answered without text")
        return text

    @contextmanager
    def _translated(self) -> Iterator[None]:
        from openai import APIStatusError, APITimeoutError, OpenAIError

        try:
            yield
        except APITimeoutError as error:
            raise LanguageModelError(
                f"{self._place} gave no answer within {self._timeout:g} s"
            ) from error
        except APIStatusError as error:
            raise LanguageModelError(
                f"{self._place} refused with {error.status_code}: {self._said(error)}"
            ) from error
        except OpenAIError as error:
            raise LanguageModelError(f"{self._place}: {self._said(error)}") from error

    def _said(self, error: Exception) -> str:
        line = (str(error).strip().splitlines() or [type(error).__name__])[0][:200]
        return line.replace(self._api_key, "***") if self._api_key else line

    def _opened(self) -> OpenAI:
        with self._lock:
            if self._client is None:
                self._client = _client(self._url, self._api_key or _NO_KEY, self._timeout)
                weakref.finalize(self, self._client.close)
            return self._client

    def _count(self, **spent: float) -> None:
        with self._lock:
            before = self._usage
            self._usage = replace(
                before, **{name: getattr(before, name) + more for name, more in spent.items()}
            )


class _EndpointRest:
    """Leaves an endpoint alone that did not answer several times in a row."""

    def __init__(self, monotonic: Callable[[], float]) -> None:
        self._monotonic = monotonic
        self._failures = 0
        self._until = 0.0

    def check(self) -> None:
        left = self._until - self._monotonic()
        if left > 0:
            raise LanguageModelError(
                f"the endpoint did not answer {_PATIENCE} times in a row; not asked again for "
                f"{left:.0f} s"
            )

    def failed(self) -> None:
        self._failures += 1
        if self._failures >= _PATIENCE:
            self._until = self._monotonic() + _REST

    def answered(self) -> None:
        self._failures = 0


class _Message(BaseModel):
    content: str | None = None


class _Choice(BaseModel):
    message: _Message


class _Tokens(BaseModel):
    prompt_tokens: int | None = None
    completion_tokens: int | None = None


class _Completion(BaseModel):
    """What is read of an answer; servers differ in the rest."""

    choices: list[_Choice]
    usage: _Tokens | None = None


def _by_schema(schema: Mapping[str, object]) -> Mapping[str, Any]:
    wanted = {"name": "reply", "schema": dict(schema)}
    return {"response_format": {"type": "json_schema", "json_schema": wanted}, "temperature": 0}


def _as_json(schema: Mapping[str, object]) -> Mapping[str, Any]:
    return {"response_format": {"type": "json_object"}, "temperature": 0}


def _plain(schema: Mapping[str, object]) -> Mapping[str, Any]:
    return {"temperature": 0}


def _bare(schema: Mapping[str, object]) -> Mapping[str, Any]:
    return {}


_FORMS = (_by_schema, _as_json, _plain, _bare)
"""Ways to ask, richest first: many servers know no schema, some models no temperature."""


def missing_package() -> MissingExtra:
    """Return the error that names the extra to install."""
    return MissingExtra(
        "a language model needs the openai package, which is not installed: "
        f"pip install 'graphmem[{EXTRA}]'. Without a language model everything else works: "
        "leave GRAPHMEM_LLM_URL unset"
    )


def _without_userinfo(url: str) -> str:
    parts = urlsplit(url)
    return urlunsplit(parts._replace(netloc=parts.netloc.rpartition("@")[2]))


def _client(url: str, api_key: str, timeout: float) -> OpenAI:
    try:
        from openai import OpenAI
    except ModuleNotFoundError as error:
        raise missing_package() from error
    return OpenAI(base_url=url, api_key=api_key, timeout=timeout, max_retries=0)


def _wait(attempt: int, error: Exception) -> float:
    """Return how long to wait before the next attempt: as the endpoint says, else 1, 2, 4 s."""
    response = getattr(error, "response", None)
    said = None if response is None else _seconds(response.headers.get("retry-after"))
    return min(2.0 ** (attempt - 1) if said is None else said, _LONGEST_WAIT)


def _seconds(retry_after: str | None) -> float | None:
    """Read a Retry-After header: seconds or an HTTP date."""
    if retry_after is None:
        return None
    try:
        return max(0.0, float(retry_after))
    except ValueError:
        pass
    try:
        return max(0.0, parsedate_to_datetime(retry_after).timestamp() - time.time())
    except ValueError:
        return None
