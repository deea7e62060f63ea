"""What a language model replied, read as anything from outside is: with suspicion."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import TypeVar

from pydantic import BaseModel, ValidationError

from graphmem.errors import LanguageModelError
from graphmem.ports import ConcurrentModel, LanguageModel

Reply = TypeVar("Reply", bound=BaseModel)
Item = TypeVar("Item")
Answer = TypeVar("Answer")

_TRIES = 100
"""Opening braces looked at; prose has few."""


def ask(model: LanguageModel, prompt: str, schema: Mapping[str, object]) -> str:
    """Return the model's reply.

    Raises
    ------
    LanguageModelError
        There is none; an error of the model's own is its cause.
    """
    try:
        reply: object = model.complete(prompt, schema=schema)
    except LanguageModelError:
        raise
    except Exception as error:  # a model of the caller's may raise anything
        raise LanguageModelError(f"{type(error).__name__}: {error}") from error
    if not isinstance(reply, str):
        raise LanguageModelError(f"the reply is no text but a {type(reply).__name__}")
    return reply


def ask_each(
    model: LanguageModel, question: Callable[[Item], Answer], items: Sequence[Item]
) -> list[Answer]:
    """Return what `question`, which asks the model, says of each item, in order.

    As many at once as the model takes.
    """
    width = min(model.concurrency if isinstance(model, ConcurrentModel) else 1, len(items))
    if width <= 1:
        return [question(item) for item in items]
    with ThreadPoolExecutor(width, thread_name_prefix="graphmem-model") as threads:
        return list(threads.map(question, items))


def read_reply(text: str, form: type[Reply]) -> Reply:
    r"""Return the first JSON object of a reply that has the wanted form.

    Fences and prose around it are skipped, and so are the thoughts of reasoning models. JSON
    that is cut off or malformed is not mended: what is missing would be guessed.

    Raises
    ------
    LanguageModelError
        There is no such object; says what was wrong with the likeliest one.

    Examples
    --------
    >>> class Colour(BaseModel):
    ...     colour: str
    >>> read_reply('<think>{red?}</think> Sure!\n```json\n{"colour": "blue"}\n```', Colour)
    Colour(colour='blue')
    """
    problem = "the reply holds no JSON object"
    for found in json_objects(text):
        try:
            return form.model_validate(found)
        except ValidationError as error:
            first = error.errors()[0]
            place = ".".join(str(part) for part in first["loc"]) or "it"
            problem = f"the reply has not the form asked for ({place}: {first['msg']})"
    raise LanguageModelError(problem)


def json_objects(text: str) -> Iterator[Mapping[str, object]]:
    """Yield the JSON objects in a text, in order, outer ones before those inside them."""
    answer = _without_thoughts(text)
    decoder = json.JSONDecoder()
    start = answer.find("{")
    for _ in range(_TRIES):
        if start < 0:
            return
        try:
            found, _end = decoder.raw_decode(answer, start)
        except (ValueError, RecursionError):
            pass  # the next brace may open one that is whole
        else:
            yield found
        start = answer.find("{", start + 1)


def _without_thoughts(text: str) -> str:
    """Cut what stands between think tags; thoughts without an end are all there is."""
    before, opened, rest = text.partition("<think>")
    if not opened:
        return text.rpartition("</think>")[2]  # some servers send the end tag only
    return before + rest.rpartition("</think>")[2] if "</think>" in rest else before
