"""Exports other programs read: networkx, a Cypher parser's rules, neo4j-admin's headers."""

from __future__ import annotations

import os
import re
from datetime import UTC, datetime
from io import BytesIO
from pathlib import Path

import networkx as nx
import pytest
from hypothesis import given
from hypothesis import strategies as st
from note_samples import sample_note

from graphmem import (
    Disagreement,
    DisagreementKind,
    Memory,
    Source,
    TransferError,
    open_memory,
)
from graphmem.model import supersedes
from graphmem.stores.neo4j.rows import event_row, link_row, note_properties, use_properties
from graphmem.transfer import export_path, export_stream, import_path
from graphmem.transfer.admin_csv import cell, column_names
from graphmem.transfer.cypher_script import literal


@pytest.fixture
def memory() -> Memory:
    opened = open_memory(":memory:", embedder="hashing-64")
    for number in range(1, 4):
        opened.add(
            f"Ada likes tea & <cake> in the morning \x0b \r\n {'!' * number}",
            id=f"n{number}\x01" if number == 3 else f"n{number}",
            source=Source("s", position=number),
        )
    opened.add("apart \ufffe")
    opened.archive("n2")
    return opened


def test_graphml_opens_in_networkx_with_equal_counts(memory: Memory) -> None:
    out = BytesIO()
    counts = export_stream(memory, out, format="graphml")
    graph = nx.read_graphml(BytesIO(out.getvalue()), force_multigraph=True)
    stats = memory.stats()
    assert (graph.number_of_nodes(), counts.notes) == (4, 4)
    assert graph.number_of_edges() == counts.links == stats.related + 2
    kinds = [kind for *_, kind in graph.edges(data="kind")]
    assert (kinds.count("RELATED"), kinds.count("FOLLOWS")) == (stats.related, 2)
    assert stats.related >= 1
    note = graph.nodes["n1"]
    assert note["content"] == memory.get("n1").content.replace("\x0b", "\ufffd")
    assert (note["position"], note["archived"]) == (1, False)
    assert graph.nodes["n2"]["archived"] is True
    odd = next(node for node in graph if node.startswith("n3"))
    assert graph.has_edge(odd, "n2")
    weights = [weight for *_, weight in graph.edges(data="weight")]
    assert all(0 <= weight <= 1 for weight in weights)


@given(st.text(st.characters(blacklist_categories=["Cs"]), max_size=30))
def test_a_literal_is_one_line_and_nothing_leaves_it(text: str) -> None:
    written = literal(text)
    assert len(written.splitlines()) == 1
    # What is between the quotes holds no bare quote and no odd backslash.
    assert re.fullmatch(r"'(?:[^'\\]|\\.)*'(?: \+ '(?:[^'\\]|\\.)*')*", written)


def test_the_columns_are_what_the_store_keeps() -> None:
    note = sample_note("n")
    kept = note_properties(note, ("a",)).keys() | use_properties(note).keys()
    assert column_names("notes.csv") == kept | {
        "id",
        "namespace",
        "written",
    }
    assert column_names("vectors.csv") == {"id", "namespace", "embedding", "sentences"}
    memory = open_memory(":memory:", embedder="hashing-64")
    memory.add("Ada likes tea in the morning", id="a")
    memory.add("Ada likes tea in the morning!", id="b")
    memory.revise("a", content="other")
    memory.connect([("a", "b")])
    (link,) = memory.links("a")
    assert column_names("related.csv") == link_row(link)["properties"].keys() | {
        "from_id",
        "to_id",
        "pair",
        "namespace",
    }
    reason = Disagreement(DisagreementKind.NUMBER, "3", "4")
    superseding = link_row(supersedes("b", "a", 0.8, None, reason))
    assert column_names("supersedes.csv") == superseding["properties"].keys() | {
        "from_id",
        "to_id",
        "pair",
        "namespace",
    }
    event = event_row(memory.history("a")[0])
    assert column_names("events.csv") == event["properties"].keys() | {"id", "namespace"}


@pytest.fixture
def changed() -> Memory:
    opened = open_memory(":memory:", embedder="hashing-64")
    for number, day in ((3, 1), (4, 2)):
        at = datetime(2025, 3, day, tzinfo=UTC)
        opened.add(f"We have {number} cats in our house", id=f"n{number}", created_at=at)
    assert opened.stats().superseding == 1
    return opened


def test_every_export_tells_what_was_superseded(changed: Memory, tmp_path: Path) -> None:
    out = BytesIO()
    export_stream(changed, out, format="graphml")
    graph = nx.read_graphml(BytesIO(out.getvalue()), force_multigraph=True)
    reasons = {
        (*ends, fields["reason"])
        for *ends, fields in graph.edges(data=True)
        if fields["kind"] == "SUPERSEDES"
    }
    assert reasons == {("n4", "n3", "number: 3 -> 4")}
    script = BytesIO()
    export_stream(changed, script, format="cypher")
    assert script.getvalue().decode().count("-[r:SUPERSEDES {") == 1
    export_path(changed, tmp_path / "csv", format="csv")
    rows = (tmp_path / "csv" / "supersedes.csv").read_text().splitlines()
    assert len(rows) == 2
    assert rows[1].startswith('"n4","n3"')
    assert rows[1].endswith('"number","3","4"')


def test_json_lines_bring_back_what_was_superseded(changed: Memory, tmp_path: Path) -> None:
    changed.revise("n4", content="We have 5 cats in our house")
    place = tmp_path / "all.jsonl"
    export_path(changed, place)
    twin = open_memory(":memory:", embedder="hashing-64")
    for links in (2, 0):
        report = import_path(twin, place)
        assert (report.links, tuple(report.rejected)) == (links, ())
    assert twin.neighbourhood("n3").links == changed.neighbourhood("n3").links
    assert twin.history("n4") == changed.history("n4")
    (event,) = twin.history("n4")
    assert [link.reason for link in event.unlinked][1:] == [
        Disagreement(DisagreementKind.NUMBER, "3", "4")
    ]


def test_a_cell_is_a_text_and_nothing_else() -> None:
    assert cell('=1+1,"x"\n') == '"=1+1,""x""\n"'
    assert (cell(None), cell(""), cell([]), cell(False)) == ("", '""', '""', "false")
    with pytest.raises(TransferError, match="U\\+001F"):
        cell(["a\x1fb"])


@pytest.mark.parametrize("form", ["csv", "markdown"])
def test_a_folder_appears_whole_or_not_at_all(form: str, memory: Memory, tmp_path: Path) -> None:
    place = tmp_path / "out"
    place.mkdir()
    (place / "mine.txt").write_text("kept")
    with pytest.raises(TransferError, match="there already"):
        export_path(memory, place, format=form)
    assert [file.name for file in tmp_path.rglob("*.*")] == ["mine.txt"]
    export_path(memory, tmp_path / "new", format=form)
    assert len(list((tmp_path / "new").iterdir())) > 1
    with pytest.raises(TransferError, match="cannot write"):
        export_path(memory, tmp_path / "no" / "where", format=form)


def test_a_pipe_is_written_to_and_stays(memory: Memory, tmp_path: Path) -> None:
    pipe, plain = tmp_path / "pipe", tmp_path / "notes.jsonl"
    os.mkfifo(pipe)
    with os.fdopen(os.open(pipe, os.O_RDONLY | os.O_NONBLOCK), "rb") as reader:
        export_path(memory, pipe, format="jsonl")
        read = reader.read()
    export_path(memory, plain, format="jsonl")
    assert pipe.is_fifo()
    assert read == plain.read_bytes() != b""


def test_forms_that_do_not_exist_or_do_not_fit(memory: Memory, tmp_path: Path) -> None:
    with pytest.raises(TransferError, match="jsonl, graphml"):
        export_path(memory, tmp_path / "x", format="xlsx")
    with pytest.raises(TransferError, match="is a folder"):
        export_stream(memory, BytesIO(), format="markdown")
    assert list(tmp_path.iterdir()) == []
