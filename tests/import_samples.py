"""Small files of every form that can be imported, written for tests; nobody's real words."""

from __future__ import annotations

import csv
import json
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

TOPICS = ("harbour", "orchard", "bakery", "signal box", "lighthouse", "museum", "tram", "mill")


def sentence(number: int) -> str:
    """A text that differs from its neighbours in more than its number."""
    topic, other = TOPICS[number % 8], TOPICS[(number // 8) % 8]
    return (
        f"Entry {number}: the {topic} keeper {number * 7919} wrote to the {other} about {number}."
    )


def at(number: int) -> str:
    """A moment of its own for each number."""
    return f"2024-05-{1 + number // 1440:02}T{number // 60 % 24:02}:{number % 60:02}:00Z"


# --- ChatGPT ---------------------------------------------------------------------------


def node(
    node_id: str,
    parent: str | None,
    text: str | list[Any] | None = None,
    *,
    role: str = "user",
    time: float | None = None,
    **message: Any,
) -> dict[str, Any]:
    """One node of a conversation tree; without a text it has no message."""
    if text is None:
        return {"id": node_id, "parent": parent, "children": [], "message": None}
    parts = text if isinstance(text, list) else [text]
    return {
        "id": node_id,
        "parent": parent,
        "children": [],
        "message": {
            "id": f"m-{node_id}",
            "author": {"role": role, "name": None, "metadata": {}},
            "create_time": time,
            "content": {"content_type": "text", "parts": parts},
            "metadata": {},
            "recipient": "all",
            **message,
        },
    }


def tree(*nodes: dict[str, Any], current: str | None, **fields: Any) -> dict[str, Any]:
    """A conversation as ChatGPT exports it."""
    return {
        "title": "Seats",
        "create_time": 1714550000.0,
        "conversation_id": "c1",
        "mapping": {each["id"]: each for each in nodes},
        "current_node": current,
        **fields,
    }


def write_chatgpt(path: Path, messages: int = 300) -> None:
    """A long conversation with a branch that was left, and a short one."""
    nodes = [node("root", None), node("left", "root", "This branch was edited away.")]
    parent = "root"
    for number in range(messages):
        role = "assistant" if number % 2 else "user"
        nodes.append(
            node(f"n{number}", parent, sentence(number), role=role, time=1714550000.5 + number)
        )
        parent = f"n{number}"
    long = tree(*nodes, current=parent)
    short = tree(node("a", None, "Hello there"), current="a", conversation_id="c2", title="Hi")
    path.write_text(json.dumps([long, short]), encoding="utf-8")


# --- Claude ----------------------------------------------------------------------------


def write_claude(path: Path, messages: int = 300) -> None:
    """One conversation of messages with content parts."""
    chat = [
        {
            "uuid": f"u{number}",
            "sender": "assistant" if number % 2 else "human",
            "text": sentence(number),
            "content": [{"type": "text", "text": sentence(number)}],
            "created_at": at(number),
            "attachments": [],
            "files": [],
        }
        for number in range(messages)
    ]
    conversation = {"uuid": "c1", "name": "Seats", "created_at": at(0), "chat_messages": chat}
    path.write_text(json.dumps([conversation]), encoding="utf-8")


# --- the others ------------------------------------------------------------------------


def write_log(path: Path, messages: int = 300) -> None:
    lines = [f"[{at(n)}] {'Ada' if n % 2 else 'Ben'}: {sentence(n)}\n" for n in range(messages)]
    path.write_text("".join(lines), encoding="utf-8")


def write_csv(path: Path, rows: int = 300) -> None:
    with path.open("w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file)
        writer.writerow(["id", "text", "author", "created_at", "tags", "mood"])
        for number in range(rows):
            writer.writerow([f"r{number}", sentence(number), "Ada", at(number), "a; b", "=1+1"])


def write_jsonl(path: Path, lines: int = 300) -> None:
    with path.open("w", encoding="utf-8") as file:
        for number in range(lines):
            note = {"id": f"j{number}", "text": sentence(number), "created_at": at(number)}
            file.write(json.dumps(note) + "\n")


def write_vault(folder: Path, files: int = 75) -> None:
    """A folder whose notes link in a circle and to the index; some link nowhere."""
    (folder / "days").mkdir(parents=True)
    index = "# Index\n\nAll of it: [[day 0]], [[Missing]].\n"
    (folder / "index.md").write_text(index, encoding="utf-8")
    for number in range(files):
        after = (number + 1) % files
        text = (
            f"---\ntags: [log]\ndate: {at(number)}\n---\n{sentence(number)}\n\n"
            f"# Morning\n\n{sentence(number + 1000)} See [[day {after}]].\n\n"
            f"## Detail\n\n{sentence(number + 2000)} Back to [[index]].\n\n"
            f"# Evening\n\n{sentence(number + 3000)}\n"
        )
        (folder / "days" / f"day {number}.md").write_text(text, encoding="utf-8")


def zipped(path: Path, name: str = "conversations.json") -> Path:
    """The file within an archive beside it."""
    archive = path.with_suffix(".zip")
    with zipfile.ZipFile(archive, "w", zipfile.ZIP_DEFLATED) as packed:
        packed.write(path, name)
    return archive


SAMPLES: dict[str, tuple[str, Callable[[Path], None]]] = {
    "jsonl": ("notes.jsonl", write_jsonl),
    "csv": ("notes.csv", write_csv),
    "log": ("talk.log", write_log),
    "chatgpt": ("conversations.json", write_chatgpt),
    "claude": ("conversations.json", write_claude),
    "markdown": ("vault", write_vault),
}
"""Name and writer of a sample of each format; each has some 300 notes, more than one batch."""
