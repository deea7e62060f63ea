"""What an import promises whatever the format is: bounds, changes on the way, odd names."""

from __future__ import annotations

from io import BytesIO
from pathlib import Path

import pytest
from import_samples import write_jsonl

from graphmem import Memory, TransferError, open_memory
from graphmem.transfer import import_path, import_stream
from graphmem.transfer.lines import bounded_lines, numbered_lines
from graphmem.transfer.report import MOST_LISTED


@pytest.fixture
def memory() -> Memory:
    return open_memory(":memory:", embedder="hashing-64")


def test_a_file_that_changes_meanwhile_is_told(memory: Memory, tmp_path: Path) -> None:
    path = tmp_path / "notes.jsonl"
    write_jsonl(path, lines=600)

    def append(done: int, total: int | None) -> None:
        with path.open("a") as file:
            file.write("\n")

    report = import_path(memory, path, progress=append)
    assert (report.added, report.rejected_count) == (600, 1)
    assert "changed while it was read" in str(report.rejected[-1])
    assert import_path(memory, path).rejected == ()


def test_a_report_stays_bounded(memory: Memory) -> None:
    bad = b"nonsense\n" * (MOST_LISTED + 50)
    report = import_stream(memory, BytesIO(bad + b'{"text": "good"}'), format="jsonl")
    assert (report.added, report.rejected_count) == (1, MOST_LISTED + 50)
    assert len(report.rejected) == MOST_LISTED


@pytest.mark.parametrize("encoding", ["windows-1252", "utf-16", "utf-16-le", "shift_jis"])
@pytest.mark.parametrize("form", ["csv", "jsonl", "log"])
def test_any_encoding_can_be_said(memory: Memory, form: str, encoding: str) -> None:
    word = "猫" if encoding == "shift_jis" else "für Zoë"
    filler = "x" * 70_000  # so that a character falls on the border of two reads
    text = {
        "csv": f"text;author\r\n{word};Ana\r\n{filler}{word};Ana\r\n",
        "jsonl": f'{{"text": "{word}"}}\n{{"text": "{filler}{word}"}}\n',
        "log": f"Ana: {word}\nAna: {filler}{word}\n",
    }[form]
    file = BytesIO(text.encode(encoding))
    assert import_stream(memory, file, format=form, encoding=encoding).added == 2
    assert {note.content[-len(word) :] for note in memory.notes()} == {word}


def test_utf_16_is_told_by_its_mark(memory: Memory, tmp_path: Path) -> None:
    (tmp_path / "sheet.csv").write_bytes("text\tauthor\r\nfür Zoë\tAna\r\n".encode("utf-16"))
    assert import_path(memory, tmp_path / "sheet.csv").rejected == ()
    assert [note.content for note in memory.notes()] == ["für Zoë"]


@pytest.mark.parametrize("encoding", ["klingon", "base64"])
def test_an_encoding_nobody_knows(memory: Memory, encoding: str) -> None:
    with pytest.raises(TransferError, match="no encoding"):
        import_stream(memory, BytesIO(b"text\nx\n"), format="csv", encoding=encoding)


@pytest.mark.parametrize(
    ("encoding", "broken"), [("utf-16", b"no mark"), ("shift_jis", b"\x81"), ("utf-8", b"\xff")]
)
def test_a_file_in_another_encoding_than_said(memory: Memory, encoding: str, broken: bytes) -> None:
    whole = b"" if encoding == "utf-16" else b"Ana: " + b"x" * 70_000 + b"\n"
    file = BytesIO(whole + broken)
    with pytest.raises(TransferError, match=f"file is not {encoding}.*--encoding"):
        import_stream(memory, file, format="log", name="file", encoding=encoding)


def test_an_overlong_line_is_passed_over() -> None:
    data = BytesIO(b"one\n" + b"x" * 100 + b"\ntwo\n")
    held = list(bounded_lines(data, longest=10))
    assert [len(line) for line in held] == [4, 11, 4]
    assert [line.number for line in numbered_lines(held)] == [1, 2, 3]


@pytest.mark.parametrize(
    "name", ["C#.md", "C# and F#.md", "'\"\\.md", "ünïcödé.md", "a b.markdown"]
)
def test_any_name_can_be_followed(memory: Memory, tmp_path: Path, name: str) -> None:
    folder = tmp_path / "vault"
    folder.mkdir()
    (folder / name).write_text("# One\ntext\n# Two\nmore", encoding="utf-8")
    assert import_path(memory, folder).added == 2
    (folder / name).write_text("# One\ntext", encoding="utf-8")
    assert import_path(memory, folder).removed == 1


def test_headings_beyond_any_id_have_notes_of_their_own(memory: Memory, tmp_path: Path) -> None:
    path = tmp_path / "long.md"
    path.write_text(f"# {'a' * 600}\nx\n# {'a' * 600}b\ny\n# Same\nx\n# Same\ny\n# Same 2\nz")
    assert import_path(memory, path).added == 5
    assert import_path(memory, path).unchanged == 5


@pytest.mark.parametrize("form", ["markdown", "xml"])
def test_a_stream_is_of_a_form_that_streams(memory: Memory, form: str) -> None:
    with pytest.raises(TransferError):
        import_stream(memory, BytesIO(b"x"), format=form)


def test_a_folder_without_markdown_is_no_import(memory: Memory, tmp_path: Path) -> None:
    with pytest.raises(TransferError, match="no Markdown file"):
        import_path(memory, tmp_path)
