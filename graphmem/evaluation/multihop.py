"""The collections of multi-hop questions in a file or archive, whatever their kind."""

from __future__ import annotations

import tarfile
import tempfile
from collections.abc import Iterator
from pathlib import Path

from graphmem.errors import TransferError
from graphmem.evaluation.datasets import JsonObject, load_json
from graphmem.evaluation.passages import Collection, read_hotpotqa, read_musique


def is_musique(record: JsonObject) -> bool:
    """Whether the first record of a file is a question of MuSiQue."""
    return "paragraphs" in record


def is_hotpotqa(record: JsonObject) -> bool:
    """Whether the first record of a file is a question of HotpotQA."""
    return "supporting_facts" in record and "context" in record


def read_multihop(path: Path) -> Iterator[Collection]:
    """Yield the collections of a JSON file, or of every such file in a tar archive.

    Other members of an archive are left alone.

    Raises
    ------
    TransferError
        The file cannot be read or holds no questions over passages.
    """
    if not tarfile.is_tarfile(path):
        yield _collection(path)
        return
    found = False
    with tempfile.TemporaryDirectory() as folder:
        for member in _unpacked(path, Path(folder)):
            first = _first_question(member)
            if first is not None and (is_musique(first) or is_hotpotqa(first)):
                found = True
                yield _collection(member)
    if not found:
        raise TransferError(f"{path} holds no file of MuSiQue or HotpotQA questions.")


def _collection(path: Path) -> Collection:
    first = _first_question(path)
    if first is None:
        raise TransferError(f"{path} holds no questions over passages.")
    return read_musique(path) if is_musique(first) else read_hotpotqa(path)


def _first_question(path: Path) -> JsonObject | None:
    """Return the first record when the file is a list of objects, as questions are."""
    records = load_json(path)
    first = records[0] if isinstance(records, list) and records else None
    return first if isinstance(first, dict) else None


def _unpacked(path: Path, folder: Path) -> Iterator[Path]:
    """Yield the JSON members of an archive, by name, unpacked one at a time."""
    try:
        with tarfile.open(path) as archive:
            members = [m for m in archive.getmembers() if m.isfile() and m.name.endswith(".json")]
            for number, member in enumerate(sorted(members, key=lambda m: m.name)):
                source = archive.extractfile(member)
                if source is not None:
                    target = folder / f"{number}.json"
                    target.write_bytes(source.read())
                    yield target
    except (OSError, tarfile.TarError, EOFError) as error:
        raise TransferError(f"{path} cannot be read: {error}. Nothing was evaluated.") from error
