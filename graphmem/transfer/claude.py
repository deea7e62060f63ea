"""Claude's data export: ``conversations.json``, each conversation a list of messages."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Annotated, Any, BinaryIO

from pydantic import BaseModel, BeforeValidator, ConfigDict

from graphmem.model import NoteInput, Source
from graphmem.transfer.conversations import Named, Spoken, conversations
from graphmem.transfer.decoding import explain
from graphmem.transfer.intake import ImportOptions, Incoming, Item
from graphmem.transfer.records import WrittenTime
from graphmem.transfer.report import Refusal, Tally

AUTHOR = "Claude"
_ROLES = {"human": "user"}


def _listed(value: object) -> object:
    return [] if value is None else value


class _Part(BaseModel):
    model_config = ConfigDict(extra="ignore", frozen=True)


class _File(_Part):
    file_name: str | None = None


class _Message(_Part):
    uuid: str | None = None
    sender: str
    text: str | None = None
    content: Annotated[list[dict[str, Any]], BeforeValidator(_listed)] = []
    attachments: Annotated[list[_File], BeforeValidator(_listed)] = []
    files: Annotated[list[_File], BeforeValidator(_listed)] = []
    created_at: WrittenTime | None = None


class _Conversation(_Part):
    chat_messages: list[Any]
    uuid: str | None = None
    name: str | None = None


def is_claude(element: object) -> bool:
    """Whether an element of the array looks like one of Claude's conversations."""
    return isinstance(element, Mapping) and "chat_messages" in element


def claude_notes(file: BinaryIO, name: str, options: ImportOptions, tally: Tally) -> Iterator[Item]:
    """Yield the messages of every conversation as notes, in order."""
    number = 0
    try:
        for number, element in enumerate(conversations(file, name), start=1):
            try:
                conversation = _Conversation.model_validate(element)
            except ValueError as error:
                yield Refusal(f"conversation {number}", explain(error))
                continue
            yield from _messages(conversation, f"conversation {number}")
    except ValueError as error:
        yield Refusal(f"after conversation {number}", str(error))


def _messages(conversation: _Conversation, place: str) -> Iterator[Item]:
    source = conversation.uuid or conversation.name or place
    for position, given in enumerate(conversation.chat_messages, start=1):
        where = f"{place}, message {position}"
        try:
            message = _Message.model_validate(given)
        except ValueError as error:
            yield Refusal(where, explain(error))
            continue
        spoken = _spoken(message)
        if not spoken.text.strip():
            continue
        details = {"title": conversation.name, "parts": list(spoken.parts)}
        note = NoteInput(
            spoken.text,
            id=f"{source}:{message.uuid}" if message.uuid else None,
            source=Source(source, position=position),
            role=_ROLES.get(message.sender, message.sender),
            author=AUTHOR if message.sender == "assistant" else None,
            created_at=message.created_at,
            metadata={name: value for name, value in details.items() if value} or None,
        )
        yield Incoming(note, where)


def _spoken(message: _Message) -> Spoken:
    parts = [_part(part) for part in message.content]
    if not any(isinstance(part, str) and part.strip() for part in parts) and message.text:
        parts = [message.text, *(part for part in parts if isinstance(part, Named))]
    parts += [Named(f"file: {f.file_name or 'unnamed'}") for f in message.attachments]
    parts += [Named(f"file: {f.file_name or 'unnamed'}") for f in message.files]
    return Spoken.of(parts)


def _part(part: Mapping[str, Any]) -> str | Named:
    kind, text, tool = part.get("type"), part.get("text"), part.get("name")
    if isinstance(text, str):
        return text
    name = kind if isinstance(kind, str) else "part"
    return Named(f"{name}: {tool}" if isinstance(tool, str) and tool else name)
