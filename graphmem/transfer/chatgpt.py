"""ChatGPT's data export: ``conversations.json``, each conversation a tree of messages.

Editing a question or asking for another answer branches the tree; what a person sees is
the path from the root to ``current_node``, and that is what is imported.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from datetime import datetime
from typing import Any, BinaryIO

from pydantic import BaseModel, ConfigDict

from graphmem.model import NoteInput, Source
from graphmem.transfer.conversations import Named, Spoken, conversations, moment_of
from graphmem.transfer.decoding import explain
from graphmem.transfer.intake import ImportOptions, Incoming, Item
from graphmem.transfer.report import Refusal, Tally

AUTHOR = "ChatGPT"
HIDDEN_TYPES = frozenset(
    {"model_editable_context", "reasoning_recap", "thoughts", "user_editable_context"}
)
"""Kinds of content that the application does not show as messages."""


class _Part(BaseModel):
    model_config = ConfigDict(extra="ignore", frozen=True)


class _Author(_Part):
    role: str = "user"
    name: str | None = None


class _Content(_Part):
    content_type: str = "text"
    parts: list[Any] | None = None
    text: str | None = None


class _Metadata(_Part):
    is_visually_hidden_from_conversation: bool | None = None


class _Message(_Part):
    id: str | None = None
    author: _Author = _Author()
    create_time: float | None = None
    content: _Content | None = None
    metadata: _Metadata | None = None


class _Node(_Part):
    parent: str | None = None
    message: dict[str, Any] | None = None


class _Conversation(_Part):
    mapping: dict[str, _Node]
    current_node: str | None = None
    conversation_id: str | None = None
    id: str | None = None
    title: str | None = None
    create_time: float | None = None


def is_chatgpt(element: object) -> bool:
    """Whether an element of the array looks like one of ChatGPT's conversations."""
    return isinstance(element, Mapping) and "mapping" in element


def chatgpt_notes(
    file: BinaryIO, name: str, options: ImportOptions, tally: Tally
) -> Iterator[Item]:
    """Yield the messages of every conversation as notes, in the order they were shown."""
    number = 0
    try:
        for number, element in enumerate(conversations(file, name), start=1):
            try:
                conversation = _Conversation.model_validate(element)
                yield from _messages(conversation, f"conversation {number}")
            except ValueError as error:
                yield Refusal(f"conversation {number}", explain(error))
    except ValueError as error:
        yield Refusal(f"after conversation {number}", str(error))


def _messages(conversation: _Conversation, place: str) -> Iterator[Item]:
    source = conversation.conversation_id or conversation.id or conversation.title or place
    latest = moment_of(conversation.create_time)
    for position, (node_id, node) in enumerate(shown_branch(conversation), start=1):
        if node.message is None:
            continue
        where = f"{place}, message {position}"
        try:
            message = _Message.model_validate(node.message)
            latest = moment_of(message.create_time) or latest
            spoken = _spoken(message)
        except ValueError as error:
            yield Refusal(where, explain(error))
            continue
        if spoken.text.strip():
            note = replace(
                _note(message, spoken, latest, conversation.title),
                id=f"{source}:{message.id or node_id}",
                source=Source(source, position=position),
            )
            yield Incoming(note, where)


def shown_branch(conversation: _Conversation) -> list[tuple[str, _Node]]:
    """Return the nodes from the root to the current one.

    Raises
    ------
    ValueError
        The nodes form a loop.
    """
    mapping = conversation.mapping
    current = conversation.current_node
    node_id = current if current in mapping else _latest(conversation)
    path: dict[str, _Node] = {}
    while node_id is not None and node_id in mapping:
        if node_id in path:
            raise ValueError(f"its messages form a loop at {node_id!r}; nothing of it was imported")
        path[node_id] = mapping[node_id]
        node_id = mapping[node_id].parent
    return list(reversed(path.items()))


def _latest(conversation: _Conversation) -> str | None:
    """Return the node of the latest message, for exports that name no current one."""

    def written(node_id: str) -> float:
        message = conversation.mapping[node_id].message or {}
        time = message.get("create_time")
        return float(time) if isinstance(time, (int, float)) else float("-inf")

    return max(conversation.mapping, key=written, default=None)


def _spoken(message: _Message) -> Spoken:
    content = message.content
    hidden = message.metadata is not None and message.metadata.is_visually_hidden_from_conversation
    if content is None or hidden or content.content_type in HIDDEN_TYPES:
        return Spoken("")
    if content.parts is not None:
        return Spoken.of([_part(part) for part in content.parts])
    return Spoken(content.text) if content.text else Spoken.of([Named(content.content_type)])


def _part(part: object) -> str | Named:
    if isinstance(part, str):
        return part
    if isinstance(part, Mapping):
        text, kind = part.get("text"), part.get("content_type")
        if isinstance(text, str) and text:
            return text
        return Named(kind if isinstance(kind, str) else "part")
    return Named("part")


def _note(
    message: _Message, spoken: Spoken, moment: datetime | None, title: str | None
) -> NoteInput:
    role = message.author.role
    details = {"title": title, "parts": list(spoken.parts), "tool": message.author.name}
    return NoteInput(
        spoken.text,
        role=role,
        author=AUTHOR if role == "assistant" else None,
        created_at=moment,
        metadata={name: value for name, value in details.items() if value} or None,
    )
