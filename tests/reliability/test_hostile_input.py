"""Hostile input by every door: a clear error or the right result, and nothing else changed."""

from __future__ import annotations

import json
import random
import traceback
import zipfile
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import anyio
import pytest
from cli_process import CommandLine
from contract.memories import Place, file_place
from import_samples import (
    write_chatgpt,
    write_claude,
    write_csv,
    write_jsonl,
    write_log,
    write_vault,
    zipped,
)
from mcp import Client, MCPError
from neo4j_server.erasure import erase_everything
from neo4j_server.server import Address
from reliability.hostile import TEXTS, cases
from reliability.operations import damage
from reliability.tally import Tally

from graphmem import GraphmemError, Memory, open_memory
from graphmem.interfaces.mcp import memory_server
from graphmem.interfaces.picture import picture_memory
from graphmem.interfaces.view import render_page
from graphmem.transfer import export_path, import_path

SAMPLES: dict[str, Callable[[Path, int], None]] = {
    "chatgpt.json": write_chatgpt,
    "claude.json": write_claude,
    "talk.log": write_log,
    "notes.csv": write_csv,
    "notes.jsonl": write_jsonl,
}


@pytest.fixture(params=["embedded", pytest.param("neo4j", marks=pytest.mark.neo4j)])
def place(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Place]:
    """An empty store for memories with the contract suite's embedder."""
    if request.param == "embedded":
        opened = file_place(tmp_path)
    else:
        address: Address = request.getfixturevalue("neo4j_address")
        erase_everything(address)
        opened = Place(address.uri, address.auth)
    yield opened
    opened.close()


def guarded(call: Callable[[], object], tally: Tally, where: str) -> object:
    """Return the result or the error; any but ours is a violation."""
    tally.operations += 1
    tally.faults += 1
    try:
        return call()
    except GraphmemError as error:
        tally.holds(str(error).strip(), f"{where}: an error without words")
        return error
    except (Exception, RecursionError):
        tally.holds(False, f"{where}: {traceback.format_exc(limit=-2)}")
        return None


def test_every_call_of_a_memory(
    place: Place, tally: Callable[[str], Tally], amount: Callable[[int, int], int]
) -> None:
    memory = place.open()
    kind = "Neo4j" if place.auth else "embedded"
    count = tally(f"hostile calls, {kind}")
    memory.add("The ferry is late", id="n", tags=["sea"])
    kept = memory.scoped(memory.namespace + " other")
    kept.add("Not to be touched", id="n")
    every = amount(61 if place.auth else 7, 7 if place.auth else 1)
    for number, (name, way, given) in enumerate(cases()):
        if number % every:
            continue
        where = f"{name} of {given!r:.60}" if not isinstance(given, list | dict) else name
        notes = memory.stats().notes
        result = guarded(lambda way=way, given=given: way(memory, given), count, where)
        if isinstance(result, GraphmemError):
            count.holds(memory.stats().notes == notes, f"{where}: refused, yet something changed")
        elif name == "content" and isinstance(given, str):
            (found,) = [note for note in memory.notes() if note.content == given]
            count.holds(found.content == given, f"{where}: {found.content!r:.60}")
    count.holds(memory.get("n").id == "n", "the first note is gone")
    count.holds(kept.stats().notes == 1, "another namespace was touched")
    count.holds(not damage(memory), f"check: {damage(memory)}")
    kept.erase(everything=True)


def test_every_tool_of_the_server(
    tally: Callable[[str], Tally], amount: Callable[[int, int], int]
) -> None:
    count = tally("hostile MCP calls")
    arguments: dict[str, Callable[[Any], dict[str, Any]]] = {
        "remember": lambda x: {"content": x, "tags": [x]},
        "recall": lambda x: {"question": x},
        "show": lambda x: {"note_id": x},
        "links": lambda x: {"note_id": x},
        "history": lambda x: {"note_id": x},
        "undo": lambda x: {"event_id": x},
        "forget": lambda x: {"note_id": x},
    }
    odd: tuple[Any, ...] = (None, 7, -1.5, True, [], {}, {"a": []}, [[["x"]]], "x" * 200_000)
    encodable = [text for text in TEXTS if text.isascii() or text.isprintable()]

    async def session() -> None:
        with open_memory(":memory:", embedder="hashing-64") as memory:
            async with Client(memory_server(memory)) as client:
                for tool, fields in arguments.items():
                    for given in (*encodable[:: amount(6, 1)], *odd):
                        count.operations += 1
                        count.faults += 1
                        try:
                            result = await client.call_tool(tool, fields(given))
                        except MCPError:
                            continue
                        said = "".join(getattr(each, "text", "") for each in result.content)
                        count.holds("Traceback" not in said, f"{tool} {given!r:.60}: {said[:300]}")
                answer = await client.call_tool("remember", {"content": "Still here."})
                count.holds(not answer.is_error, "the server no longer works")

    anyio.run(session)


def test_every_command(
    tmp_path: Path, tally: Callable[[str], Tally], amount: Callable[[int, int], int]
) -> None:
    count, run = tally("hostile command lines"), CommandLine(tmp_path, url="cli.graphmem")
    run.ok("add", "The ferry is late", "--id", "n")
    commands: tuple[Callable[[str], list[str]], ...] = (
        lambda x: ["add", "--", x],
        lambda x: ["add", "odd", "--id", x, "--source", x, "--tag", x, "--author", x],
        lambda x: ["recall", "--json", "--", x],
        lambda x: ["show", "--", x],
        lambda x: ["links", "--namespace", x, "--", x],
        lambda x: ["erase", "--yes", "--", x],
        lambda x: ["import", "--", x],
        lambda x: ["export", "--format", x, "--", "out"],
        lambda x: ["undo", "--url", x, "--", x],
    )
    texts = [text for text in TEXTS if "\0" not in text and len(text) < 100_000 and _utf8(text)]
    for number, text in enumerate(texts[:: amount(8, 1)]):
        for command in commands[number % 3 :: 3] if amount(1, 0) else commands:
            line = command(text)
            count.operations += 1
            count.faults += 1
            done = run(*line)
            where = f"{' '.join(line)!r:.120}"
            count.holds(done.code in (0, 1, 2), f"{where}: ended with {done.code}")
            count.holds("Traceback" not in done.err + done.out, f"{where}: {done.err[-400:]}")
            if done.code == 0 and "--json" in line:
                json.loads(done.out)
    count.holds(run.ok("show", "n", "--json").json, "the first note is gone")


def _utf8(text: str) -> bool:
    return not any("\ud800" <= character <= "\udfff" for character in text)


def test_every_importer(
    tmp_path: Path, tally: Callable[[str], Tally], amount: Callable[[int, int], int]
) -> None:
    count, chance = tally("hostile files"), random.Random(5)
    with open_memory(":memory:", embedder="hashing-64") as memory:
        for name, data in crafted().items():
            path = tmp_path / name
            path.write_bytes(data)
            guarded(lambda path=path: import_path(memory, path), count, f"import {name}")
        for name, write in SAMPLES.items():
            sound = tmp_path / f"sound-{name}"
            write(sound, 12)
            for number in range(amount(12, 600)):
                path = tmp_path / f"{number}-{name}"
                path.write_bytes(mutated(sound.read_bytes(), chance))
                form = {"talk.log": "log", "notes.csv": "csv", "notes.jsonl": "jsonl"}.get(
                    name, name.partition(".")[0]
                )
                for chosen in ("auto", form):
                    guarded(
                        lambda path=path, chosen=chosen: import_path(memory, path, format=chosen),
                        count,
                        f"import a damaged {name} as {chosen}",
                    )
                path.unlink()
        archive = zipped(tmp_path / "sound-chatgpt.json")
        for number in range(amount(12, 400)):
            path = tmp_path / f"{number}.zip"
            path.write_bytes(mutated(archive.read_bytes(), chance))
            guarded(lambda path=path: import_path(memory, path), count, "import a damaged archive")
        count.holds(not damage(memory), f"check: {damage(memory)}")
        outside = [path for path in tmp_path.parent.iterdir() if "escape" in path.name]
        count.holds(not outside, f"written outside: {outside}")


def mutated(data: bytes, chance: random.Random) -> bytes:
    """Return the bytes with a few of them replaced, doubled, cut out or cut off."""
    broken = bytearray(data)
    for _ in range(chance.randint(1, 8)):
        at, length = chance.randrange(len(broken) + 1), chance.randint(0, 40)
        match chance.randrange(4):
            case 0:
                broken[at : at + length] = chance.randbytes(length)
            case 1:
                broken[at:at] = broken[at : at + length]
            case 2:
                del broken[at : at + length]
            case _:
                token = chance.choice([b"\0", b"\xff", b"{", b"[" * 50, b'"', b"1e999", b"\r\n"])
                broken[at : at + 1] = token
    return bytes(broken[: chance.randrange(len(broken) + 1)] if chance.random() < 0.1 else broken)


def crafted() -> dict[str, bytes]:
    """Files made to break a reader, by name."""
    deep = b"[" * 100_000 + b"]" * 100_000
    bomb = b"\n".join([b"a0: &a0 [x]", *(b"a%d: &a%d [%s]" % (
        n, n, b",".join([b"*a%d" % (n - 1)] * 9)) for n in range(1, 30))])  # fmt: skip
    return {
        "deep.json": deep,
        "deep.jsonl": b'{"content": "x", "metadata": {"a": ' + deep + b"}}\n",
        "huge-number.jsonl": b'{"content": "x", "importance": ' + b"9" * 5000 + b"}\n",
        "keys.jsonl": b'{"content": "x", "content": "y", "id": {"$ne": null}}\n',
        "surrogate.jsonl": b'{"content": "\\ud800"}\n{"content": "fine"}\n',
        "long-line.jsonl": b'{"content": "' + b"x" * 3_000_000 + b'"}\n',
        "binary.jsonl": bytes(range(256)) * 50,
        "utf16.csv": "content,id\nfine,1\n".encode("utf-16"),
        "quotes.csv": b'content,id\n"never closed,1\n' * 2000,
        "formula.csv": b"content,id\n=cmd|' /C calc'!A0,=1+1\n",
        "columns.csv": b"content" + b",c" * 20_000 + b"\nx\n",
        "nul.csv": b"content,id\nfine\0,1\n",
        "alias.md": b"---\n" + bomb + b"\n---\ntext\n",
        "object.md": b"---\ntags: !!python/object/apply:os.system [id]\n---\ntext\n",
        "front.md": b"---\n" + b"- [" * 3000 + b"\n---\ntext",
        "deep.md": b">" * 20_000 + b" text\n" + b"[" * 20_000,
        "empty.zip": b"PK\x05\x06" + bytes(18),
        "escape.zip": archive({"../../escape.json": b"[]", "conversations.json": b"[]"}),
        "bomb.zip": archive({"conversations.json": b"[" + b" " * 60_000_000 + b"]"}),
        "links.zip": archive({"conversations.json": b'[{"mapping": {"a": {"parent": "a"}}, '
                                                    b'"current_node": "a"}]'}),
        "names.zip": archive({"é/conversations.json": b"[]"}).replace("é".encode(), b"\xff\xff"),
        "name.zip": archive({"é/conversations.json": b"[]"}).replace("é".encode(), b"\xff\xff", 1),
        "numbers.zip": archive({"conversations.json": b"[]"}).replace(b"\x14\0\0\0", b"\xff" * 4),
        "first-row.csv": b'content,"x;y"+\n1,2\n',
        "control.md": b"---\n- |\n  text\n- >-\x02  folded\n---\ntext\n",
        "claude.json": b'[{"uuid": "u", "chat_messages": [{"text": null, "sender": 7}]}]',
        "chatgpt.json": b'[{"mapping": {"a": {"id": "a", "parent": "b", "message": []}}}]',
        "times.log": b"[99:99] Ada: hello\n2024-02-30 25:00 Ben: hello\n" * 50,
    }  # fmt: skip


def archive(members: dict[str, bytes]) -> bytes:
    from io import BytesIO

    buffer = BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED) as file:
        for name, data in members.items():
            file.writestr(name, data)
    return buffer.getvalue()


@pytest.fixture
def hostile_notes() -> Memory:
    """A memory whose every text is hostile."""
    memory = open_memory(":memory:", embedder="hashing-64")
    for number, text in enumerate(TEXTS):
        try:
            memory.add(text, id=f"{number} {text[:50]}", tags=[text[:40]], author=text[:40])
        except GraphmemError:
            continue
    return memory


def test_what_leaves_is_text_wherever_it_goes(
    tmp_path: Path, hostile_notes: Memory, tally: Callable[[str], Tally]
) -> None:
    count, memory = tally("hostile exports"), hostile_notes
    notes = memory.stats().notes
    count.holds(notes > 60, f"only {notes} hostile notes were taken")
    page = render_page(picture_memory(memory))
    count.holds(page.count("<script>alert") == 0, "a note's markup is in the page as markup")
    count.holds("<img src=x" not in page, "a note's markup is in the page as markup")
    for form in ("jsonl", "graphml", "cypher", "csv", "markdown"):
        place = tmp_path / "inside" / f"out.{form}"
        place.parent.mkdir(exist_ok=True)
        guarded(lambda p=place, f=form: export_path(memory, p, format=f), count, f"export {form}")
    outside = [path.name for path in tmp_path.iterdir() if path.name != "inside"]
    count.holds(not outside, f"written outside: {outside}")
    ElementTree.parse(tmp_path / "inside" / "out.graphml")  # noqa: S314 - our own file
    for form in ("jsonl", "markdown"):
        with open_memory(":memory:", embedder="hashing-64") as again:
            import_path(again, tmp_path / "inside" / f"out.{form}")
            count.holds(
                again.stats().notes >= notes - 8 if form == "markdown" else
                again.stats().notes == notes,
                f"{again.stats().notes} of {notes} notes came back from {form}",
            )  # fmt: skip
    memory.close()


def test_a_vault_cannot_lead_out_of_its_folder(
    tmp_path: Path, tally: Callable[[str], Tally]
) -> None:
    count, vault = tally("hostile vault"), tmp_path / "vault"
    write_vault(vault, 8)
    secret = tmp_path / "secret.md"
    secret.write_text("# Secret\nthe password is swordfish\n")
    (vault / "link.md").symlink_to(secret)
    (vault / "up").symlink_to(tmp_path, target_is_directory=True)
    (vault / "loop").symlink_to(vault, target_is_directory=True)
    (vault / "trap.md").write_text("See [[../secret]] and [[/etc/passwd]] and ![[../secret.md]]")
    with open_memory(":memory:", embedder="hashing-64") as memory:
        guarded(lambda: import_path(memory, vault), count, "import a vault with ways out")
        held = [note.content for note in memory.notes() if "swordfish" in note.content]
        count.holds(not held, "a file outside the vault was imported")
