import json
from importlib.util import find_spec
from pathlib import Path

import pytest
from cli_process import CommandLine

from graphmem.evaluation.benchmark.crowd import Place, measure_crowd
from graphmem.evaluation.benchmark.process import measure_cold_recall

CONVERSATION = {
    "sample_id": "own-1",
    "conversation": {
        "speaker_a": "Ana",
        "speaker_b": "Ben",
        "session_1_date_time": "1:56 pm on 8 May, 2023",
        "session_1": [
            {"speaker": "Ana", "dia_id": "D1:1", "text": "I adopted a grey cat called Pebble."},
            {"speaker": "Ben", "dia_id": "D1:2", "text": "My train to Ghent leaves at nine."},
        ],
        "session_2_date_time": "2:00 pm on 9 June, 2023",
        "session_2": [
            {"speaker": "Ben", "dia_id": "D2:1", "text": "I bought a red kayak."},
            {"speaker": "Ana", "dia_id": "D2:2", "text": "Pebble broke the blue vase."},
        ],
    },
    "qa": [
        {"question": "What is Ana's cat called?", "answer": "Pebble", "evidence": ["D1:1"],
         "category": 4},
        {"question": "What did Ben buy?", "answer": "a kayak", "evidence": ["D1:2"],
         "category": 1},
        {"question": "When did Ana buy a kayak?", "evidence": ["D2:1"], "category": 5},
    ],
}  # fmt: skip
CORRECTION = {"sample_id": "own-1", "qa_index": 1, "evidence_after": ["D2:1"]}


@pytest.fixture
def cli(tmp_path: Path) -> CommandLine:
    (tmp_path / "locomo.json").write_text(json.dumps([CONVERSATION]))
    (tmp_path / "corrections.json").write_text(json.dumps([CORRECTION]))
    return CommandLine(tmp_path)


def test_locomo_as_json(cli: CommandLine) -> None:
    report = cli.ok(
        *("eval", "locomo", "locomo.json", "--corrections", "corrections.json"),
        *("--cache", "cache.sqlite", "--json"),
    ).json
    assert (report["questions"], report["with_gold"], report["unanswerable"]) == (3, 2, 1)
    assert (report["policy"], report["model"]) == ("graphmem-1", "hashing-256")
    assert set(report["overall"]["recall"]) == {"1", "5", "10", "20"}
    assert report["overall"]["recall"]["10"]["complete"] == 1.0
    assert 0 <= report["answerability_auroc"] <= 1
    assert report["seconds"] > 0


def test_locomo_for_people_in_a_store_that_it_leaves_as_it_was(cli: CommandLine) -> None:
    cli.ok("add", "mine", "--url", "mine.graphmem")
    before = cli.ok("export", "--url", "mine.graphmem").out
    out = cli.ok(
        *("eval", "locomo", "locomo.json", "--url", "mine.graphmem"),
        *("--policy", "weighted", "--cache", "cache.sqlite"),
    ).out
    for part in ("locomo", "weighted", "evidence", "by category", "bm25", "minus", "AUROC"):
        assert part in out
    assert "Question by question" not in out
    assert cli.ok("export", "--url", "mine.graphmem").out == before
    assert cli.ok("namespaces", "--url", "mine.graphmem", "--json").json == ["default"]


def test_questions_are_diagnosed_one_by_one(cli: CommandLine) -> None:
    arguments = ("eval", "locomo", "locomo.json", "--cache", "cache.sqlite", "--questions")
    out = cli(*arguments, env={"COLUMNS": "120"}).out
    assert "Question by question" in out
    row = next(line for line in out.splitlines() if "own-1/0" in line)
    assert row.split()[1:] == ["single-hop", "1", "graphmem-1", "1", "1.0", "1.0"]
    shown = cli.ok(*arguments, "--json").json["per_question"][0]["rankers"]["graphmem-1"]
    assert shown == {"gold_ranks": [1], "gold_ranks@10": [1], "any@5": 1.0, "all@5": 1.0}


def test_eval_never_writes_where_the_environment_points(cli: CommandLine) -> None:
    arguments = ("eval", "locomo", "locomo.json", "--cache", "cache.sqlite", "--json")
    assert cli(*arguments, env={"GRAPHMEM_URL": "mine.graphmem"}).code == 0
    assert not (cli.home / "mine.graphmem").exists()


@pytest.mark.parametrize(
    "arguments",
    [
        ["locomo", "missing.json"],
        ["locomo", "corrections.json"],
        ["locomo", "locomo.json", "--corrections", "locomo.json"],
        ["locomo", "locomo.json", "--policy", "nonsense"],
        ["longmemeval", "locomo.json"],
    ],
)
def test_what_cannot_be_measured(cli: CommandLine, arguments: list[str]) -> None:
    done = cli("eval", *arguments, "--cache", "cache.sqlite", "--json")
    assert (done.code, done.out) == (1, ""), done
    assert done.err.startswith("error: ")
    assert done.err.count("\n") == 1


@pytest.mark.parametrize("command", ["locomo", "longmemeval"])
def test_eval_explains_itself(cli: CommandLine, command: str) -> None:
    out = " ".join(cli.ok("eval", command, "--help").out.split())
    assert f"Example: graphmem eval {command}" in out
    assert "--json" in out
    assert "--url" in out


def test_bench_reports_ratios(cli: CommandLine) -> None:
    report = cli.ok("bench", "--size", "300", "--part", "sizes", "--json").json
    assert report["machine"]
    assert {line["notes"] for line in report["measurements"]} == {300}
    assert all(line["measured"] > 0 < line["bare"] for line in report["measurements"])
    assert "Example: graphmem bench" in " ".join(cli.ok("bench", "--help").out.split())
    assert cli("bench", "--size", "0").code == 2
    assert cli("bench", "--part", "nothing").code == 2


def test_a_recall_of_a_new_process_is_measured(tmp_path: Path) -> None:
    (line,) = measure_cold_recall(tmp_path, notes=5, runs=1)
    assert "graphmem recall" in line.what
    assert line.measured > line.bare > 0


def test_readers_and_a_writer_are_measured(tmp_path: Path) -> None:
    place = Place(str(tmp_path / "crowd.graphmem"), "default")
    recalls, adds = measure_crowd(place, "embedded", notes=20, readers=2, seconds=0.2)
    assert recalls.measured > 0 < recalls.bare
    assert adds.measured > 0 < adds.bare


@pytest.mark.skipif(find_spec("engrama") is not None, reason="the peer is installed")
def test_a_peer_that_is_not_installed_is_named(cli: CommandLine) -> None:
    refused = cli("bench", "--part", "peers")
    assert refused.code == 1
    assert "pip install engrama" in refused.err


def test_answerability_is_measured_by_a_command_of_its_own(cli: CommandLine) -> None:
    arguments = ("eval", "answerability", "locomo", "locomo.json", "--model", "hashing-64")
    done = cli.ok(*arguments, "--cache", "cache.sqlite", "--json")
    found = done.json
    assert found["dataset"] == "locomo"
    assert {"adversarial", "name swapped", "evidence deleted"} <= found["splits"].keys()
    assert set(found["splits"]["adversarial"]["auroc"]) == {"value", "low", "high"}
    assert sum(found["outcomes"]["answerable"].values()) == 2
    table = cli.ok(*arguments, "--cache", "cache.sqlite").out
    assert "name swapped" in table
    assert "Reliability" in table
