from pathlib import Path

import pytest
from cli_process import CommandLine

SEAT = (
    "Ada prefers aisle seats on long flights because her knees hurt after an hour or two, and "
    "she never checks a bag when the trip is shorter than a week"
)


@pytest.fixture
def cli(tmp_path: Path) -> CommandLine:
    return CommandLine(tmp_path, url=str(tmp_path / "notes.graphmem"))


@pytest.fixture
def evolved(cli: CommandLine) -> CommandLine:
    """A memory where n1 was evolved by the arrival of n2."""
    cli.ok("add", SEAT, "--id", "n1", "--tag", "travel", "--created-at", "2025-07-01T09:00+02:00")
    done = cli.ok("add", f"{SEAT}!", "--id", "n2", "--tag", "cabin", "--json")
    assert [event["note_id"] for event in done.json["evolved"]] == ["n1"]
    return cli


def test_add_tells_what_it_did(cli: CommandLine) -> None:
    first = cli.ok("add", SEAT, "--id", "n1", "--source", "chat", "--position", "3")
    assert first.out.startswith("added n1 (revision 1")
    again = cli.ok("add", SEAT, "--id", "n1", "--source", "chat", "--position", "3")
    assert again.out.startswith("unchanged n1 (revision 1")
    other = cli.ok("add", "Ada gave up flying", "--id", "n1")
    assert other.out.startswith("revised n1 (revision 2")


def test_add_keeps_every_field(cli: CommandLine) -> None:
    cli.ok(
        *("add", "-", "--id", "n1", "--author", "Ada", "--role", "assistant"),
        *("--source", "chat-7", "--position", "3", "--created-at", "2025-07-01T09:00+02:00"),
        *("--keyword", "one", "--keyword", "two", "--tag", "red", "--context", "About seats."),
        *("--importance", "0.75", "--metadata", '{"page": 4, "ok": false}'),
        stdin="Zoë's note\nin two lines\n",
    )
    note = cli.ok("show", "n1", "--json").json
    assert note["content"] == "Zoë's note\nin two lines"
    assert note["source"]["id"], note["source"]["position"] == ("chat-7", 3)
    assert note["created_at"] == "2025-07-01T07:00:00Z"
    assert (note["author"], note["role"]) == ("Ada", "assistant")
    assert (note["keywords"], note["tags"]) == (["one", "two"], ["red"])
    assert (note["context"], note["importance"]) == ("About seats.", 0.75)
    assert note["metadata"] == {"page": 4, "ok": False}


def test_show_for_people(evolved: CommandLine) -> None:
    out = evolved.ok("show", "n1").out
    assert out.startswith(SEAT[:60])
    assert "2025-07-01 07:00 UTC" in out


def test_links(evolved: CommandLine) -> None:
    evolved.ok("add", "Something else entirely", "--id", "n3")
    links = evolved.ok("links", "n1", "--json").json["links"]
    assert [(link["from_id"], link["to_id"], link["kind"]) for link in links] == [
        ("n1", "n2", "RELATED")
    ]
    assert f"{links[0]['weight']:.3f}" in evolved.ok("links", "n1").out
    assert "No links." in evolved.ok("links", "n3").out
    assert evolved.ok("links", "n1", "--min-weight", "1.0", "--json").json["links"] == []


def test_links_show_the_chain_of_a_source(cli: CommandLine) -> None:
    cli.ok("add", "first words", "--id", "a", "--source", "s", "--position", "1")
    cli.ok("add", "and then others", "--id", "b", "--source", "s", "--position", "2")
    assert "FOLLOWS" in cli.ok("links", "b").out
    assert "followed by" in cli.ok("links", "a").out


def test_history_and_undo(evolved: CommandLine) -> None:
    before = evolved.ok("history", "n1", "--json").json
    assert [event["kind"] for event in before] == ["evolved"]
    shown = evolved.ok("history", "n1").out
    assert "triggered by n2" in shown
    assert "travel, cabin" in shown
    undone = evolved.ok("undo", before[0]["id"], "--json").json
    assert undone["kind"] == "undone"
    assert evolved.ok("show", "n1", "--json").json["tags"] == ["travel"]
    again = evolved("undo", before[0]["id"])
    assert (again.code, again.out) == (1, "")
    assert again.err.startswith("error: ")


def test_history_of_an_untouched_note(evolved: CommandLine) -> None:
    assert "Nothing has changed" in evolved.ok("history", "n2").out


def test_feedback(evolved: CommandLine) -> None:
    evolved.ok("feedback", "n1", "up")
    assert "+2" in evolved.ok("feedback", "n1", "up").out
    assert evolved.ok("feedback", "n1", "down", "--json").json["feedback"] == 1


def test_archive_and_restore(evolved: CommandLine) -> None:
    evolved.ok("archive", "n2")
    assert evolved.ok("show", "n2", "--json").json["archived"] is True
    assert evolved.ok("links", "n1", "--json").json["links"] == []
    assert evolved.ok("restore", "n2", "--json").json["archived"] is False


def test_erase_one_note(evolved: CommandLine) -> None:
    done = evolved.ok("erase", "n2")
    assert "erased 1 note, 1 links" in done.out
    assert "verified gone" in done.out
    assert "cabin" not in evolved.ok("show", "n1", "--json").json["tags"]
    assert evolved("show", "n2").code == 1
    assert evolved("erase", "n2").code == 1


def test_erase_a_source_and_everything(evolved: CommandLine) -> None:
    evolved.ok("add", "of a chat", "--id", "c1", "--source", "chat")
    receipt = evolved.ok("erase", "--source", "chat", "--json").json
    assert receipt["note_ids"] == ["c1"]
    assert receipt["verified"] is True
    assert sorted(evolved.ok("erase", "--everything", "--yes", "--json").json["note_ids"]) == [
        "n1",
        "n2",
    ]
    assert evolved.ok("stats", "--json").json["notes"] == 0


def test_maintain(evolved: CommandLine) -> None:
    done = evolved.ok("maintain", "--at", "2035-01-01T00:00Z", "--json").json
    assert done["links_changed"] == 1
    assert "0 link weights moved" in evolved.ok("maintain", "--at", "2035-01-01T00:00Z").out


def test_reindex_with_another_model(evolved: CommandLine) -> None:
    refused = evolved("add", "x", env={"GRAPHMEM_EMBEDDER": "hashing-64"})
    assert refused.code == 1
    assert "reindex" in refused.err
    done = evolved.ok("reindex", "--model", "hashing-64", "--json").json
    assert done["notes"] == 2
    assert done["model"]["dimension"] == 64
    assert evolved("add", "x", env={"GRAPHMEM_EMBEDDER": "hashing-64"}).code == 0
    assert evolved("add", "y").code == 1


def test_stats_and_check(evolved: CommandLine) -> None:
    counts = evolved.ok("stats", "--json").json
    assert (counts["notes"], counts["related"], counts["events"]) == (2, 1, 1)
    assert "1 RELATED" in evolved.ok("stats").out
    assert evolved.ok("check", "--json").json["problems"] == []
    assert evolved.ok("check").out.startswith("ok: 2 notes")


def test_namespaces_do_not_see_each_other(evolved: CommandLine) -> None:
    evolved.ok("add", SEAT, "--id", "n1", "--namespace", "other")
    assert evolved.ok("namespaces", "--json").json == ["default", "other"]
    assert evolved.ok("namespaces").out.split() == ["default", "other"]
    assert evolved.ok("stats", "-n", "other", "--json").json["notes"] == 1
    assert evolved("show", "n2", "--namespace", "other").code == 1
    named = evolved("stats", "--json", env={"GRAPHMEM_NAMESPACE": "other"})
    assert named.json["namespace"] == "other"


@pytest.mark.parametrize(
    ("arguments", "named"),
    [
        (["show", "nobody"], "nobody"),
        (["links", "nobody"], "nobody"),
        (["history", "nobody"], "nobody"),
        (["undo", "nobody@2"], "nobody@2"),
        (["erase", "nobody"], "nobody"),
        (["erase", "--source", "nowhere"], "nowhere"),
        (["feedback", "nobody", "up"], "nobody"),
        (["add", "   "], "content"),
        (["add", "x", "--id", " padded "], "id"),
        (["add", "x", "--tag", ""], "tags"),
        (["add", "x", "--metadata", '{"": 1}'], "metadata"),
        (["stats", "--namespace", ""], "namespace"),
    ],
)
def test_errors_are_one_line_with_exit_code_1(
    cli: CommandLine, arguments: list[str], named: str
) -> None:
    cli.ok("add", SEAT)
    done = cli(*arguments, "--json")
    assert (done.code, done.out) == (1, ""), done
    assert done.err.startswith("error: ")
    assert done.err.count("\n") == 1
    assert named in done.err


@pytest.mark.parametrize(
    "arguments",
    [
        *(["recall", "seat"], ["show", "n1"], ["links", "n1"], ["history", "n1"]),
        *(
            ["stats"],
            ["namespaces"],
            ["check"],
            ["export"],
            ["view"],
            ["erase", "n1"],
            ["maintain"],
        ),
        *(
            ["erase", "n1"],
            ["rebuild"],
            ["reindex"],
            ["copy", "mistyped.graphmem", "other.graphmem"],
        ),
    ],
    ids=lambda arguments: arguments[0],
)
def test_a_mistyped_file_is_told_and_none_is_made(tmp_path: Path, arguments: list[str]) -> None:
    cli = CommandLine(tmp_path, url="mistyped.graphmem")
    done = cli(*arguments)
    assert (done.code, done.out) == (1, ""), done
    assert "no memory at mistyped.graphmem" in done.err
    assert list(tmp_path.glob("*.graphmem*")) == []
