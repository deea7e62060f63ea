"""A folder of Markdown files as notes that follow the folder.

Each passage is a note whose source is its file, with the digest of the file as revision and
the offsets of the passage. Its id is made of the file's path and its headings, so that an
edited passage is a new revision of the same note, and one that is gone is removed. A
passage that stayed as it was, at its place in the order, is left alone: it keeps the
revision and offsets of the version of the file it was taken from.

Wikilinks are kept twice: as they are written, in the note's metadata (``wikilinks``), and
as RELATED links made by hand (``Memory.connect``) between the notes they tie.
"""

from __future__ import annotations

import time
from collections.abc import Iterable, Iterator, Sequence
from itertools import islice
from pathlib import Path

from graphmem.errors import TransferError
from graphmem.memory import Memory
from graphmem.transfer.folder import Found, markdown_files, read_markdown
from graphmem.transfer.held_passages import HeldPassages
from graphmem.transfer.intake import ImportOptions, Item, take_in
from graphmem.transfer.markdown_file import MarkdownFile, file_revision, read_file
from graphmem.transfer.report import ImportReport, Refusal, Tally
from graphmem.transfer.wikilinks import Names

_PAIRS = 500
"""Links made in one write."""


def import_markdown(memory: Memory, path: Path, options: ImportOptions) -> ImportReport:
    """Bring a folder, or one file, of Markdown into a memory; see ``import_path``.

    Raises
    ------
    TransferError
        The folder cannot be read, or the memory holds notes of another folder of the same
        name; nothing was changed.
    """
    started = time.monotonic()
    tally = Tally()
    files: Sequence[Found | Refusal]
    if path.is_dir():
        name = options.name or path.resolve().name
        files = list(markdown_files(path, tally))
    else:
        name = options.name or ""
        files = [Found(path, path.name)]
    folder = MarkdownFolder(memory, name, files, options, tally)
    if path.is_dir():
        folder.refuse_another()
        if not files:
            raise TransferError(
                f"cannot read {path}: the folder holds no Markdown file; nothing was imported"
            )
    folder.remove_what_is_gone(whole_files=path.is_dir())
    take_in(memory, folder.notes(), options, tally)
    folder.link()
    return tally.report(dry_run=options.dry_run, seconds=time.monotonic() - started)


class MarkdownFolder:
    """One import of a folder: what is there, what was there, and what ties it together."""

    def __init__(
        self,
        memory: Memory,
        name: str,
        files: Sequence[Found | Refusal],
        options: ImportOptions,
        tally: Tally,
    ) -> None:
        self._memory = memory
        self._name = name
        self._files = [found for found in files if isinstance(found, Found)]
        self._refused = [found for found in files if isinstance(found, Refusal)]
        self._options = options
        self._tally = tally
        self._held = HeldPassages.of(
            memory, [self._source(found.name) for found in self._files], name
        )
        self._names = Names()
        self._wanted: list[tuple[str, str, str]] = []

    def _source(self, file: str) -> str:
        return f"{self._name}/{file}" if self._name else file

    def refuse_another(self) -> None:
        """Refuse a folder that shares nothing but its name with what was imported before."""
        held = self._held.sources
        if held and held.isdisjoint(self._source(found.name) for found in self._files):
            raise TransferError(
                f"the memory holds notes of {len(held)} files of a folder named {self._name!r}, "
                "and this folder has none of them. Nothing was changed; give this folder "
                "another name (command line: --name), or erase the sources of the other"
            )

    def remove_what_is_gone(self, *, whole_files: bool) -> None:
        """Erase notes of passages, and with `whole_files` of files, that are no longer there."""
        here = {self._source(found.name): found for found in self._files}
        for source in sorted(self._held.sources):
            gone: set[str] = set()
            if source in here:
                gone = self._gone_from(source, here[source])
            elif whole_files and not self._was_refused(source):
                gone = self._held.ids(source)
            self._tally.removed += len(gone)
            for note_id in sorted(gone):
                self._held.forget(source, note_id)
                if not self._options.dry_run:
                    self._memory.erase(id=note_id)

    def _was_refused(self, source: str) -> bool:
        """Whether a file may still be there although it was not found."""
        places = [self._source(refusal.place) for refusal in self._refused]
        return any(source == place or source.startswith(f"{place}/") for place in places)

    def _gone_from(self, source: str, found: Found) -> set[str]:
        try:
            read = read_markdown(found.path)
        except ValueError:
            return set()  # reported when its notes are read
        if self._held.revisions(source) == {file_revision(read.text)}:
            return set()
        return self._held.ids(source) - read_file(read, found, source).ids

    def notes(self) -> Iterator[Item]:
        """Yield the passages of every file; what they link to is remembered."""
        yield from self._refused
        for found in self._files:
            source = self._source(found.name)
            try:
                file = read_file(read_markdown(found.path), found, source)
            except ValueError as error:
                yield Refusal(found.name, str(error))
                continue
            if file.problem is not None:
                yield Refusal(
                    found.name, f"only its front matter, the text is imported: {file.problem}"
                )
            self._remember(found, file)
            yield from file.incoming(self._held, self._options, self._tally)

    def _remember(self, found: Found, file: MarkdownFile) -> None:
        self._names.add(found.name, file.aliases, file.targets)
        for note_id, link in file.links:
            self._wanted.append((note_id, found.name, link))

    def link(self) -> None:
        """Tie the notes that wikilinks tie; tell of those that lead nowhere."""
        pairs: dict[tuple[str, str], None] = {}
        for note_id, origin, link in self._wanted:
            try:
                target = self._names.resolve(link, origin)
            except ValueError as error:
                self._tally.dangling.add(Refusal(origin, f"[[{link}]]: {error}"))
            else:
                pairs[note_id, target] = None
        if pairs and not self._options.dry_run:
            self._connect(pairs)

    def _connect(self, pairs: Iterable[tuple[str, str]]) -> None:
        ends = {note_id for pair in pairs for note_id in pair}
        stored = {note.id for note in self._memory.notes(archived=True) if note.id in ends}
        ready = iter([pair for pair in pairs if stored.issuperset(pair)])
        while some := list(islice(ready, _PAIRS)):
            self._tally.links += len(self._memory.connect(some))
