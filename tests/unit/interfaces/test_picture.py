"""Pictures of the note graph as values and as pages; what they look like is tested in Chromium."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path

import numpy as np
import pytest
from stub_embedder import StubEmbedder, at_cosine

from graphmem import Memory, NoteInput, Source, open_memory
from graphmem.errors import NotFound, TransferError
from graphmem.interfaces.layout import force_layout
from graphmem.interfaces.picture import (
    EdgeKind,
    Picture,
    Role,
    picture_memory,
    picture_note,
    picture_recall,
    picture_source,
)
from graphmem.interfaces.view import inline_frame, render_page, write_page

DAY = datetime(2025, 3, 1, 12, tzinfo=UTC)
EMBEDDER = StubEmbedder({"aisle": at_cosine(1.0), "window": at_cosine(0.8, axis=1)})


@pytest.fixture
def memory() -> Iterator[Memory]:
    """Five notes in one source and one outside; the first two are linked."""
    texts = ["the aisle", "the window", "third", "fourth", "fifth"]
    with open_memory(":memory:", embedder=EMBEDDER) as memory:
        memory.add_many(
            NoteInput(
                text, id=f"n{place}", author="Ada", source=Source("chat", position=place),
                created_at=DAY + timedelta(hours=place),
            )
            for place, text in enumerate(texts)
        )  # fmt: skip
        memory.add("outside", id="x", created_at=DAY)
        yield memory


def pairs(picture: Picture, kind: EdgeKind) -> set[tuple[str, str]]:
    return {(edge.from_id, edge.to_id) for edge in picture.edges if edge.kind is kind}


def test_a_note_is_pictured_with_its_surroundings(memory: Memory) -> None:
    near, far = picture_note(memory, "n0"), picture_note(memory, "n0", hops=2)
    assert {node.id for node in near.nodes} == {"n0", "n1"}
    assert {node.id for node in far.nodes} == {"n0", "n1", "n2"}
    assert pairs(near, EdgeKind.RELATED) == {("n0", "n1")}
    assert pairs(near, EdgeKind.FOLLOWS) == {("n1", "n0")}
    assert [node.id for node in near.nodes if node.role is Role.START] == ["n0"]


def test_a_source_is_pictured_from_its_beginning(memory: Memory) -> None:
    picture = picture_source(memory, "chat", limit=3)
    assert [node.id for node in picture.nodes] == ["n0", "n1", "n2"]
    assert picture.left_out == 2
    assert pairs(picture, EdgeKind.FOLLOWS) == {("n1", "n0"), ("n2", "n1")}


def test_the_newest_notes_of_a_memory_are_pictured(memory: Memory) -> None:
    picture = picture_memory(memory, limit=4)
    assert [node.id for node in picture.nodes] == ["n4", "n3", "n2", "n1"]
    assert picture.left_out == 2
    assert pairs(picture, EdgeKind.FOLLOWS) == {("n4", "n3"), ("n3", "n2"), ("n2", "n1")}


def test_a_memory_is_pictured_with_the_links_its_store_walks(memory: Memory) -> None:
    memory.add("a second window", id="n9", source=Source("chat", position=3), created_at=DAY)
    memory.archive("n2")
    picture = picture_memory(memory)
    ids = [node.id for node in picture.nodes]
    assert "n2" not in ids
    walked = {link.pair for name in ids for link in memory.neighbourhood(name).links}
    assert {(edge.from_id, edge.to_id) for edge in picture.edges} == walked


def test_a_recall_is_pictured_with_the_paths_it_took(memory: Memory) -> None:
    result = memory.recall("the aisle", 6, track=False)
    picture = picture_recall(memory, result)
    ids = {node.id for node in picture.nodes}
    assert {each.note.id for each in result.notes} < ids
    for edge in picture.edges:
        assert {edge.from_id, edge.to_id} <= ids
    question = next(node.id for node in picture.nodes if node.role is Role.QUESTION)
    for each in result.notes:  # from the question every note is reached along walked edges
        reached, ends = {question}, set()
        while ends != reached:
            ends = set(reached)
            reached |= {
                edge.to_id for edge in picture.edges if edge.walked and edge.from_id in ends
            }
        assert each.note.id in reached
    evidence = {each.note_id for each in result.decision.evidence}
    assert {node.id for node in picture.nodes if node.role is Role.EVIDENCE} == evidence
    assert memory.stats().recalls == 0


@pytest.mark.parametrize("missing", [picture_note, picture_source])
def test_what_is_not_there_is_said(memory: Memory, missing: object) -> None:
    assert callable(missing)
    with pytest.raises(NotFound):
        missing(memory, "nowhere")


def test_an_empty_namespace_is_said(memory: Memory) -> None:
    with pytest.raises(NotFound, match="holds no note"):
        picture_memory(memory.scoped("empty"))


def content(page: str) -> dict[str, list[dict[str, object]]]:
    found = re.search(r'<script type="application/json" id="picture">(.*?)</script>', page, re.S)
    assert found is not None
    parsed: dict[str, list[dict[str, object]]] = json.loads(found[1])
    return parsed


def test_a_page_is_one_file_that_asks_for_nothing(memory: Memory) -> None:
    page = render_page(picture_memory(memory))
    assert re.findall(r"(?:src|href|url)\s*[=(]", page.split("<script type")[0]) == []
    assert set(re.findall(r"https?://[^\s\"']+", page)) == {"http://www.w3.org/2000/svg"}
    assert "default-src 'none'" in page
    assert page.count("sha256-") == 2
    assert len(content(page)["nodes"]) == 6


def test_text_cannot_leave_its_place_in_the_page(memory: Memory) -> None:
    hostile = "</script><script>alert(1)</script><!-- ${data} \u2028 & \"'"
    memory.add(hostile, id="evil", author=hostile, source=Source(hostile))
    page = render_page(picture_source(memory, hostile))
    assert "<script>alert" not in page
    assert "<!--" not in page
    assert content(page)["nodes"][0]["text"] == hostile
    assert "</script><script>" not in inline_frame(picture_source(memory, hostile))


def test_the_same_graph_gives_the_same_page(memory: Memory) -> None:
    assert render_page(picture_memory(memory)) == render_page(picture_memory(memory))


def test_a_file_that_cannot_be_written_is_named(memory: Memory, tmp_path: Path) -> None:
    with pytest.raises(TransferError, match="choose another file"):
        write_page(picture_memory(memory), tmp_path / "missing" / "page.html")


def test_linked_points_lie_together_and_none_on_another() -> None:
    groups = np.repeat(np.arange(5), 20)
    draw = np.random.default_rng(3)
    linked = np.array(
        [
            (one, draw.choice(np.flatnonzero(groups == groups[one])))
            for one in range(100)
            for _ in "ab"
        ]
    )
    linked = linked[linked[:, 0] != linked[:, 1]]
    places = force_layout(100, linked, np.ones(len(linked)))
    distance = np.hypot(*(places[:, None] - places[None]).transpose(2, 0, 1))
    same = groups[:, None] == groups[None]
    others = ~np.eye(100, dtype=bool)
    assert distance[same & others].mean() < 0.6 * distance[~same].mean()
    assert distance[others].min() > 0.4
    assert np.abs(places.mean(axis=0)).max() < 1e-9


@pytest.mark.parametrize("count", [0, 1, 2])
def test_few_points_have_a_place(count: int) -> None:
    places = force_layout(count, np.zeros((0, 2), dtype=np.int64), np.zeros(0))
    assert places.shape == (count, 2)
    assert np.isfinite(places).all()
