"""Every form of file, imported on both stores: clean, interrupted and repeated."""

from __future__ import annotations

from io import BytesIO
from pathlib import Path

import pytest
from contract.memories import Clock, Place, notes_of
from import_samples import SAMPLES, write_vault

from graphmem import Memory, TransferError
from graphmem.transfer import export_path, export_stream, import_path
from graphmem.transfer.jsonl import import_jsonl


class CutError(Exception):
    """Stands for whatever ends a process in the middle."""


def interrupt_after(notes: int) -> object:
    def progress(done: int, total: int | None) -> None:
        if done >= notes:
            raise CutError

    return progress


def exported(memory: Memory) -> bytes:
    out = BytesIO()
    export_stream(memory, out, vectors=True)
    return out.getvalue()


@pytest.mark.parametrize("form", SAMPLES)
def test_interrupted_and_repeated_is_one_clean_run(
    form: str, place: Place, clock: Clock, tmp_path: Path
) -> None:
    name, write = SAMPLES[form]
    path = tmp_path / name
    write(path)
    memory = place.open(clock=clock)
    with pytest.raises(CutError):
        import_path(memory, path, progress=interrupt_after(200))  # type: ignore[arg-type] # a callable
    held = memory.stats().notes
    assert 200 <= held < 300
    finished = import_path(memory, path)
    assert (finished.added, finished.unchanged) == (memory.stats().notes - held, held)
    state = exported(memory)
    memory.drop_namespace(memory.namespace)
    clean = import_path(memory, path)
    assert (clean.rejected, clean.revised) == ((), 0)
    assert exported(memory) == state
    assert import_path(memory, path).unchanged == clean.added
    assert exported(memory) == state
    assert memory.check().ok


def test_a_restoration_that_was_interrupted_is_finished(place: Place, clock: Clock) -> None:
    memory = place.open(clock=clock)
    for number, marker in enumerate(("east", "twin", "near")):
        memory.add(f"the harbour log [{marker}]", id=f"n{number}", tags=[f"tag {marker}"])
    whole = exported(memory)
    lines = whole.splitlines(keepends=True)
    notes = [line for line in lines if b'"record":"note"' in line]
    assert b'"record":"link"' in whole
    assert b'"record":"event"' in whole
    memory.drop_namespace(memory.namespace)
    import_jsonl(memory, [lines[0], *notes])
    assert memory.links("n0") == ()
    report = import_jsonl(memory, lines)
    assert (report.added, report.unchanged, report.rejected) == (0, 3, ())
    assert exported(memory) == whole


def test_a_dry_run_tells_and_writes_nothing(memory: Memory, tmp_path: Path) -> None:
    write_vault(tmp_path / "vault", files=3)
    told = import_path(memory, tmp_path / "vault", dry_run=True)
    assert (told.added, told.dry_run, memory.stats().notes) == (13, True, 0)
    done = import_path(memory, tmp_path / "vault")
    assert (done.added, done.dangling) == (told.added, told.dangling)
    before = exported(memory)
    (tmp_path / "vault" / "days" / "day 1.md").unlink()
    told = import_path(memory, tmp_path / "vault", dry_run=True)
    assert (told.removed, told.unchanged) == (4, 9)
    assert exported(memory) == before


# --- Markdown ----------------------------------------------------------------------------


@pytest.fixture
def vault(tmp_path: Path) -> Path:
    folder = tmp_path / "vault"
    folder.mkdir()
    (folder / "a.md").write_text("# One\n\nalpha [[b]]\n\n# Two\n\nbeta [[a#One]]\n\n# Three\nend")
    (folder / "b.md").write_text("---\naliases: [Bee]\ntags: [x]\n---\ngamma [[a]]")
    return folder


ONE, TWO, THREE = "vault/a.md#one", "vault/a.md#two", "vault/a.md#three"


def pairs(memory: Memory) -> list[tuple[str, str]]:
    found = {link.pair for note in memory.notes() for link in memory.links(note.id)}
    return sorted(found)


def test_passages_know_their_place_and_links(memory: Memory, vault: Path) -> None:
    report = import_path(memory, vault)
    assert (report.added, report.links, report.dangling) == (4, 2, ())
    text = (vault / "a.md").read_text()
    for note in notes_of(memory):
        assert note.source is not None
        if note.source.id == "vault/a.md":
            assert text[note.source.start : note.source.end] == note.content
    assert pairs(memory) == [(ONE, TWO), (ONE, "vault/b.md")]
    (link,) = (link for link in memory.links("vault/b.md"))
    assert link.weight == 1.0
    assert memory.get(TWO).metadata == {"headings": ["Two"], "wikilinks": ["a#One"]}
    assert memory.get("vault/b.md").tags == ("x",)
    assert [link.pair for link in memory.neighbourhood(TWO).links if link.kind == "FOLLOWS"] == [
        (THREE, TWO),
        (TWO, ONE),
    ]


def test_an_edit_touches_what_changed_only(memory: Memory, vault: Path) -> None:
    import_path(memory, vault)
    before = {note.id: note for note in notes_of(memory)}
    text = (vault / "a.md").read_text()
    (vault / "a.md").write_text(text.replace("beta", "delta") + "\n\n# Four\nmore")
    report = import_path(memory, vault)
    assert (report.added, report.revised, report.unchanged, report.removed) == (1, 1, 3, 0)
    after = {note.id: note for note in notes_of(memory)}
    for note_id in (ONE, THREE, "vault/b.md"):
        assert after[note_id] == before[note_id]
    assert (after[TWO].revision, after[TWO].content_revision) == (2, 2)
    assert after[TWO].created_at == before[TWO].created_at
    assert [event.kind for event in memory.history(TWO)] == ["revised"]
    assert pairs(memory) == [(ONE, TWO), (ONE, "vault/b.md")]
    memory.undo(f"{TWO}@2")
    assert pairs(memory) == [(ONE, TWO), (ONE, "vault/b.md")]


def test_what_is_gone_is_removed_and_nothing_else(memory: Memory, vault: Path) -> None:
    import_path(memory, vault)
    memory.add("by hand", id="mine")
    (vault / "a.md").write_text("# One\n\nalpha [[b]]\n\n# Three\nend")
    report = import_path(memory, vault)
    assert (report.removed, report.added) == (1, 0)
    (vault / "b.md").unlink()
    report = import_path(memory, vault)
    assert [note.id for note in notes_of(memory)] == ["mine", ONE, THREE]
    assert [str(each) for each in report.dangling] == ["a.md: [[b]]: there is no such note"]
    assert memory.check().ok


def test_a_file_that_cannot_be_read_now_keeps_its_notes(memory: Memory, vault: Path) -> None:
    import_path(memory, vault)
    (vault / "b.md").write_bytes(b"\xff\xfe broken")
    report = import_path(memory, vault)
    assert report.removed == 0
    assert memory.get("vault/b.md").content == "gamma [[a]]"
    assert [str(each) for each in report.rejected] == ["b.md: is not UTF-8 at byte 1"]


def test_another_folder_of_the_same_name_removes_nothing(
    memory: Memory, vault: Path, tmp_path: Path
) -> None:
    import_path(memory, vault)
    before = exported(memory)
    other = tmp_path / "else" / "vault"
    other.mkdir(parents=True)
    with pytest.raises(TransferError, match="another name"):  # as when a disk is not there
        import_path(memory, other)
    (other / "c.md").write_text("other")
    with pytest.raises(TransferError, match="another name"):
        import_path(memory, other)
    assert exported(memory) == before
    assert import_path(memory, other, name="second").added == 1


def test_a_missing_note_that_appears_is_linked(memory: Memory, vault: Path) -> None:
    (vault / "b.md").write_text("to [[Later]]")
    import_path(memory, vault)
    (vault / "later.md").write_text("here it is")
    report = import_path(memory, vault)
    assert (report.added, report.revised, report.dangling) == (1, 0, ())
    assert ("vault/b.md", "vault/later.md") in pairs(memory)


def test_a_markdown_export_imports_as_the_same_notes(
    place: Place, clock: Clock, tmp_path: Path
) -> None:
    memory = place.open(clock=clock)
    awkward = "---\nnot: front matter\n---\r\n# Head\n\n[[x]] \u2028 \x85 tail\n\n"
    memory.add(awkward, id="odd/ id#1", author="Zoë", tags=["1e5", "no"], metadata={"n": None})
    memory.add("the harbour [east]", id="a", metadata={"big": 2**70, "on": "no", "f": 1e22})
    memory.add("the harbour [near]", id="b")
    memory.connect([("a", "odd/ id#1")])
    export_path(memory, tmp_path / "out", format="markdown")
    twin = memory.scoped(memory.namespace + " twin")
    report = import_path(twin, tmp_path / "out")
    assert (report.added, report.rejected, report.dangling) == (3, (), ())
    for note in memory.notes():
        copy = twin.get(note.id)
        assert (copy.content, copy.author, copy.tags) == (note.content, note.author, note.tags)
        assert (copy.created_at, copy.metadata) == (note.created_at, note.metadata)
        assert (copy.keywords, copy.context) == (note.keywords, note.context)
        assert copy.source == note.source
    assert pairs(twin) == pairs(memory)
    export_path(twin, tmp_path / "again", format="markdown")
    files = sorted((tmp_path / "out").iterdir())
    assert [file.name for file in files] == sorted(f.name for f in (tmp_path / "again").iterdir())
    for file in files:
        assert (tmp_path / "again" / file.name).read_bytes() == file.read_bytes()
