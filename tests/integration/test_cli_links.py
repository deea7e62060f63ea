import json
from pathlib import Path

import pytest
from cli_process import CommandLine

PASSAGES = {
    "Pocahontas Mounds": "An archaeological site in Hinds County, Mississippi.",
    "History of Mississippi": "Near Pocahontas Mounds, the state joined the Union in 1817.",
    "Joe Creason Park": "A municipal park in Louisville, Kentucky.",
    "Redmond, Utah": "A town in Sevier County, first settled in 1876.",
}
QUESTIONS = [
    {
        "id": "m1",
        "question": "When did the state of Pocahontas Mounds join the Union?",
        "paragraphs": [
            {"title": title, "paragraph_text": text, "is_supporting": number < 2}
            for number, (title, text) in enumerate(PASSAGES.items())
        ],
    }
]


@pytest.fixture
def cli(tmp_path: Path) -> CommandLine:
    (tmp_path / "musique.json").write_text(json.dumps(QUESTIONS))
    return CommandLine(tmp_path)


def test_links_of_passages_as_json(cli: CommandLine) -> None:
    report = cli.ok("eval", "links", "musique.json", "--cache", "cache.sqlite", "--json").json
    assert (report["dataset"], report["model"]) == ("multihop", "hashing-256")
    pairs = report["tasks"]["pairs"]
    assert (pairs["pairs"], pairs["gold"]) == (6, 1)
    assert pairs["measures"]["similarity"]["average_precision"]["value"] == 1.0
    assert {line["reference"] for line in pairs["comparisons"]} == {
        "stored-links",
        "reference-cosine",
    }
    assert set(report["tasks"]["questions"]["measures"]) == {
        "recall",
        "reference-mission-protocol",
        "reference-cosine",
    }


def test_links_for_people(cli: CommandLine) -> None:
    out = cli.ok("eval", "links", "musique.json", "--cache", "cache.sqlite").out
    for part in ("What one question needs", "stored-links", "F1 held out", "average precision"):
        assert part in out


def test_what_is_no_data_set(cli: CommandLine) -> None:
    (cli.home / "other.json").write_text("[1]")
    for path in ("other.json", "missing.json"):
        done = cli("eval", "links", path, "--json")
        assert (done.code, done.out) == (1, ""), done
        assert done.err.startswith("error: ")


def test_calibrate_proposes_and_changes_nothing(cli: CommandLine) -> None:
    lines = "".join(json.dumps({"content": f"note {n} on {n * 7}"}) + "\n" for n in range(20))
    (cli.home / "notes.jsonl").write_text(lines)
    cli.ok("import", "notes.jsonl", "--url", "notes.graphmem")
    before = cli.ok("export", "--url", "notes.graphmem").out
    made = cli.ok("calibrate", "--url", "notes.graphmem", "--json").json
    assert made["method"] == "random-pairs"
    assert (made["model"], made["pairs"]) == ("hashing-256", 190)
    assert 0 <= made["policy"]["link_threshold"] <= made["policy"]["evolution_threshold"] <= 1
    out = cli.ok("calibrate", "--url", "notes.graphmem").out
    assert f"LinkPolicy(link_threshold={made['policy']['link_threshold']}" in out
    assert cli.ok("export", "--url", "notes.graphmem").out == before


def test_calibrate_from_labelled_notes(cli: CommandLine) -> None:
    for note, text in (("a", "the green kettle"), ("b", "the green kettle!"), ("c", "moon rock")):
        cli.ok("add", text, "--id", note, "--url", "notes.graphmem")
    pairs = [{"a": "a", "b": "b", "related": True}, {"a": "a", "b": "c", "related": False}]
    (cli.home / "pairs.jsonl").write_text("".join(json.dumps(pair) + "\n" for pair in pairs))
    arguments = ("calibrate", "--pairs", "pairs.jsonl", "--url", "notes.graphmem", "--json")
    made = cli.ok(*arguments).json
    assert (made["method"], made["f1"]) == ("labelled-pairs", 1.0)
    (cli.home / "pairs.jsonl").write_text('{"a": 1}')
    done = cli(*arguments)
    assert (done.code, done.out) == (1, "")
    assert "line 1" in done.err
