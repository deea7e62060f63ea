"""A namespace as a folder of Markdown files: one note a file, linked by wikilinks.

Front matter holds what a note is besides its text; the text stands below it character for
character. Read back by ``import_path``, each file is its note again, under the same id.
"""

from __future__ import annotations

from pathlib import Path

from graphmem.errors import TransferError
from graphmem.memory import Memory
from graphmem.model import Link, LinkKind, Note, NoteRecord
from graphmem.transfer.encoding import Counts
from graphmem.transfer.files import whole_folder
from graphmem.transfer.front_matter import OWN
from graphmem.transfer.held_passages import digest
from graphmem.transfer.markdown import slug
from graphmem.transfer.times import format_time
from graphmem.transfer.yaml_text import LONGEST, write_yaml

_NAME_LENGTH = 48


def export_markdown(memory: Memory, folder: Path) -> Counts:
    """Write the folder; return how many notes and links it holds.

    Each note names the notes it is linked with under ``related``. Weights, events and
    counters are left to JSON lines, which is the complete form; archived notes are left
    out.

    Raises
    ------
    TransferError
        The folder is there already, or cannot be written; nothing was.
    """
    related, counts = _related(memory)
    with whole_folder(folder) as scratch:
        for note in memory.notes():
            counts = counts.plus(NoteRecord(note, (), None))
            text = markdown_text(note, sorted(related.get(note.id, ())))
            (scratch / f"{file_name(note.id, note.content)}.md").write_bytes(text.encode("utf-8"))
    return counts


def _related(memory: Memory) -> tuple[dict[str, set[str]], Counts]:
    """Return the names of each note's neighbours, by its id, and the count of links."""
    names = {note.id: file_name(note.id, note.content) for note in memory.notes()}
    related: dict[str, set[str]] = {}
    counts = Counts()
    for item in memory.dump(vectors=False):
        if (
            isinstance(item, Link)
            and item.kind is LinkKind.RELATED
            and names.keys() >= set(item.pair)
        ):
            counts = counts.plus(item)
            related.setdefault(item.from_id, set()).add(names[item.to_id])
            related.setdefault(item.to_id, set()).add(names[item.from_id])
    return related, counts


def file_name(note_id: str, content: str) -> str:
    """Return a file's name without suffix: words of the text and a digest of the id.

    Examples
    --------
    >>> file_name("n1", "# Packing: socks!")
    'packing-socks-ac6e9ee3'
    """
    words = slug(content[:200])[:_NAME_LENGTH].strip("-_")
    return f"{words}-{digest(note_id).hex()[:8]}".lstrip("-")


def markdown_text(note: Note, related: list[str]) -> str:
    """Return the file of a note.

    Raises
    ------
    TransferError
        Its front matter would be longer than what is read back.
    """
    source = note.source
    own: dict[str, object] = {"id": note.id}
    if source is not None:
        place = {
            "id": source.id,
            "revision": source.revision,
            "position": source.position,
            "start": source.start,
            "end": source.end,
        }
        own["source"] = {name: value for name, value in place.items() if value is not None}
    own["metadata"] = dict(note.metadata)
    own["related"] = [f"[[{name}]]" for name in related]
    fields: dict[str, object] = {
        "created_at": format_time(note.created_at),
        "role": note.role,
        "author": note.author,
        "tags": list(note.tags),
        "keywords": list(note.keywords),
        "context": note.context or None,
        "importance": float(note.importance),
        OWN: own,
    }
    block = write_yaml({name: value for name, value in fields.items() if value is not None})
    if len(block) > LONGEST:
        raise TransferError(
            f"note {note.id!r} has more metadata than front matter holds ({LONGEST} characters); "
            "nothing was written. Export it as JSON lines"
        )
    return f"---\n{block}---\n{note.content}\n"
