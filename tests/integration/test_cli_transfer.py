import json
from pathlib import Path
from typing import Any

import pytest
from cli_process import CommandLine

SEAT = (
    "Ada prefers aisle seats on long flights because her knees hurt after an hour or two, and "
    "she never checks a bag when the trip is shorter than a week"
)
LINES: list[dict[str, Any]] = [
    {
        "id": "n1",
        "text": "first half\u2028second half \u0085 \u2029 \x0b\x0c\x1c end",
        "created_at": "2024-02-29T23:59:59.123456+05:30",
        "tags": ["travel"],
        "source": "chat",
        "position": 1,
        "author": "Zoë",
    },
    {"id": "n2", "text": SEAT, "mood": "fine"},
    {"id": "n3", "content": SEAT + "!", "tags": "cabin"},
    {"id": "n4", "content": "a\r\nb", "source": {"id": "chat", "position": 2}},
]


def as_lines(*lines: object) -> bytes:
    return b"".join(json.dumps(line, ensure_ascii=False).encode() + b"\n" for line in lines)


@pytest.fixture
def cli(tmp_path: Path) -> CommandLine:
    return CommandLine(tmp_path, url="notes.graphmem")


@pytest.fixture
def filled(cli: CommandLine) -> CommandLine:
    cli.ok("import", "-", stdin=as_lines(*LINES))
    cli.ok("feedback", "n1", "up")
    cli.ok("archive", "n4")
    return cli


def test_import_counts_and_repeats_without_change(cli: CommandLine) -> None:
    (cli.home / "notes.jsonl").write_bytes(as_lines(*LINES))
    first = cli.ok("import", "notes.jsonl", "--json").json
    assert (first["added"], first["unchanged"], first["rejected"]) == (4, 0, [])
    assert first["kept_as_metadata"] == ["mood"]
    again = cli.ok("import", "notes.jsonl")
    assert "0 added, 0 revised, 4 unchanged" in again.out
    note = cli.ok("show", "n1", "--json").json
    assert note["content"] == LINES[0]["text"]
    assert note["created_at"] == "2024-02-29T18:29:59.123456Z"
    assert cli.ok("show", "n2", "--json").json["metadata"] == {"mood": "fine"}


@pytest.mark.parametrize("prefix", [b"", b"\xef\xbb\xbf"])
@pytest.mark.parametrize("end", [b"\n", b"\r\n"])
def test_bom_and_line_ends_change_nothing(cli: CommandLine, prefix: bytes, end: bytes) -> None:
    data = prefix + as_lines(*LINES).replace(b"\n", end)
    report = cli.ok("import", "-", "--json", stdin=data).json
    assert report["added"] == 4
    assert cli.ok("show", "n1", "--json").json["content"] == LINES[0]["text"]


def test_bad_lines_are_named_and_the_others_imported(cli: CommandLine) -> None:
    data = (
        as_lines({"id": "a", "text": "good first"})
        + b"{not json}\n"
        + b'{"text": "\xff\xfe"}\n'
        + b"\n"
        + as_lines(
            {"text": "late", "created_at": "2025-02-30T00:00:00Z"},
            {"text": "naive", "created_at": "2025-02-03T00:00:00"},
            {"id": "b"},
            {"text": "  "},
        )
        + b'{"text": "broken \\udc8f tail"}\n'
        + as_lines({"id": "z", "text": "good last"})
    )
    done = cli("import", "-", "--json", stdin=data)
    assert done.code == 1
    report = json.loads(done.out)
    assert report["added"] == 2
    assert [bad["number"] for bad in report["rejected"]] == [2, 3, 5, 6, 7, 8, 9]
    for part in ("line 2: is not JSON", "line 3: is not UTF-8", "line 5: created_at"):
        assert part in done.err
    assert "line 6: created_at" in done.err
    assert "neither 'content' nor 'text'" in done.err
    assert cli.ok("stats", "--json").json["notes"] == 2


def test_import_of_nothing(cli: CommandLine) -> None:
    assert cli.ok("import", "-", "--json", stdin=b"").json["added"] == 0


def test_export_survives_a_round_trip_byte_for_byte(filled: CommandLine) -> None:
    first = filled.ok("export").out
    kinds = [json.loads(line)["record"] for line in first.split("\n") if line]
    assert kinds == ["header", *["note"] * 4, "link", *["event"] * kinds.count("event"), "end"]
    assert kinds.count("event") == 2
    assert len(first.splitlines()) == len(kinds)
    other = CommandLine(filled.home, url="other.graphmem")
    report = other.ok("import", "-", "--json", stdin=first).json
    assert (report["added"], report["links"], report["events"]) == (4, 1, 2)
    assert other.ok("export").out == first
    again = other.ok("import", "-", "--json", stdin=first).json
    assert (again["added"], again["unchanged"], again["links"]) == (0, 4, 0)
    assert other.ok("export").out == first
    assert other.ok("check").code == 0


def test_export_with_vectors_needs_no_model_to_come_back(filled: CommandLine) -> None:
    exported = filled.ok("export", "--embeddings").out
    other = CommandLine(filled.home, url="other.graphmem")
    done = other("import", "-", stdin=exported, env={"GRAPHMEM_EMBEDDER": "hashing-64"})
    assert done.code == 0, done
    assert other.ok("export", "--embeddings").out == exported


def test_export_to_a_file_appears_whole(filled: CommandLine) -> None:
    done = filled.ok("export", "out.jsonl", "--json").json
    assert done["counts"]["notes"] == 4
    assert (filled.home / "out.jsonl").read_bytes().decode() == filled.ok("export").out
    refused = filled("export", "no/such/folder/out.jsonl")
    assert (refused.code, refused.out) == (1, "")
    assert "cannot write" in refused.err
    assert sorted(p.name for p in filled.home.glob("*out.jsonl*")) == ["out.jsonl"]


def test_import_keeps_what_is_there_unless_told_to_overwrite(filled: CommandLine) -> None:
    exported = filled.ok("export").out
    filled.ok("add", "Ada gave up flying", "--id", "n2")
    kept = filled("import", "-", "--json", stdin=exported)
    assert kept.code == 1
    assert "note 'n2' is there already in another state" in kept.err
    assert filled.ok("show", "n2", "--json").json["content"] == "Ada gave up flying"
    filled.ok("import", "-", "--overwrite", stdin=exported)
    assert filled.ok("show", "n2", "--json").json["content"] == LINES[1]["text"]


def test_cut_off_and_newer_exports(filled: CommandLine) -> None:
    lines = filled.ok("export").out.split("\n")
    other = CommandLine(filled.home, url="other.graphmem")
    cut = other("import", "-", stdin="\n".join(lines[:3]) + "\n")
    assert cut.code == 1
    assert "cut off" in cut.err
    assert other.ok("stats", "--json").json["notes"] == 2
    newer = other("import", "-", stdin=lines[0].replace('"version":1', '"version":2'))
    assert (newer.code, newer.out) == (1, "")
    assert "version 2" in newer.err


def test_damaged_export_lines_are_reported_with_what_hangs_on_them(filled: CommandLine) -> None:
    lines = filled.ok("export").out.split("\n")
    bad = next(i for i, line in enumerate(lines) if '"id":"n3"' in line and '"note"' in line)
    lines[bad] = lines[bad].replace('"importance":', '"importance":1e9,"was":')
    other = CommandLine(filled.home, url="other.graphmem")
    done = other("import", "-", "--json", stdin="\n".join(lines))
    assert done.code == 1
    report = json.loads(done.out)
    assert (report["added"], report["links"]) == (3, 0)
    assert "importance" in done.err
    assert "link to note 'n3', which was not imported" in done.err
    assert other.ok("check").code == 0


def test_copy_there_and_back(filled: CommandLine) -> None:
    first = filled.ok("export").out
    done = filled.ok("copy", "notes.graphmem", "copy.graphmem", "--json").json
    assert done == {"notes": 4, "links": 1, "events": 2}
    filled.ok("copy", "copy.graphmem", "back.graphmem")
    assert CommandLine(filled.home, url="back.graphmem").ok("export").out == first
    refused = filled("copy", "notes.graphmem", "copy.graphmem")
    assert (refused.code, refused.out) == (1, "")
    assert "holds 4 notes already" in refused.err
    filled.ok("copy", "notes.graphmem", "copy.graphmem", "--overwrite")
    assert CommandLine(filled.home, url="copy.graphmem").ok("export").out == first


def test_copy_into_another_namespace_and_model(filled: CommandLine) -> None:
    filled.ok("copy", "notes.graphmem", "notes.graphmem", "--to-namespace", "twin")
    assert filled.ok("stats", "-n", "twin", "--json").json["notes"] == 4
    other_model = {"GRAPHMEM_EMBEDDER": "hashing-64"}
    done = filled("copy", "notes.graphmem", "small.graphmem", "--reembed", env=other_model)
    assert done.code == 0, done
    small = CommandLine(filled.home, url="small.graphmem")
    assert small.ok("stats", "--json").json["model"]["dimension"] == 64


@pytest.mark.parametrize("name", ["missing.jsonl", "."])
def test_import_of_what_cannot_be_read(cli: CommandLine, name: str) -> None:
    done = cli("import", name)
    assert (done.code, done.out) == (1, "")
    assert f"error: cannot read {name}" in done.err
