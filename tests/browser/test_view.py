"""Pages of ``graphmem view`` in a real browser: drawn, read, searched, harmless, alone."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from datetime import UTC, datetime, timedelta
from math import hypot
from pathlib import Path

import pytest
from browser.conftest import Photograph
from neo4j_server.erasure import erase_everything
from neo4j_server.server import Address
from playwright.sync_api import Page, expect
from stub_embedder import StubEmbedder, at_cosine

from graphmem import Memory, NoteInput, Source, open_memory
from graphmem.interfaces.picture import (
    EdgeKind,
    Fact,
    Picture,
    PictureEdge,
    PictureNode,
    Role,
    picture_memory,
    picture_note,
    picture_recall,
    picture_source,
)
from graphmem.interfaces.view import inline_frame, write_page

pytestmark = pytest.mark.browser

DAY = datetime(2025, 3, 1, 12, tzinfo=UTC)
EVIL = "</script><img src=x onerror=\"self.harmed=1\"><b>bold</b> ${title} & 'quoted'"
SEATS = at_cosine(1.0)
EMBEDDER = StubEmbedder(
    {
        "aisle": SEATS,
        "window": at_cosine(0.8, axis=1),
        "harmed": at_cosine(0.75, axis=2),
        "kind": at_cosine(0.1, axis=3),
    }
)

OpenMemory = Callable[[], Memory]


@pytest.fixture(params=["embedded", "neo4j"])
def memory(request: pytest.FixtureRequest) -> Iterator[Memory]:
    """Four notes on each store: two linked, one of them hostile, three in one source."""
    with ExitStack() as stack:
        if request.param == "embedded":
            opened = open_memory(":memory:", namespace="view", embedder=EMBEDDER)
        else:
            address: Address = request.getfixturevalue("neo4j_address")
            erase_everything(address)
            opened = open_memory(
                address.uri, namespace="view", embedder=EMBEDDER, auth=address.auth
            )
        memory = stack.enter_context(opened)
        texts = {"n1": "Ada takes the aisle", "n2": "Ben wants the window", "n3": EVIL}
        memory.add_many(
            NoteInput(
                text, id=note_id, author="Ada" if note_id == "n1" else "Ben <b>",
                source=Source("chat", position=place), created_at=DAY + timedelta(hours=place),
            )
            for place, (note_id, text) in enumerate(texts.items())
        )  # fmt: skip
        memory.add("Nothing of the kind", id="n4", created_at=DAY)
        yield memory


class Requests:
    """What a page asked the network for."""

    def __init__(self, page: Page) -> None:
        self.urls: list[str] = []
        page.on("request", lambda request: self.urls.append(request.url))

    @property
    def external(self) -> list[str]:
        return [url for url in self.urls if not url.startswith("file://")]


def show(page: Page, picture: Picture, path: Path) -> Requests:
    requests = Requests(page)
    write_page(picture, path)
    page.goto(path.as_uri())
    expect(page.locator("#counts")).not_to_be_empty()
    assert len(requests.urls) == 1
    return requests


def test_a_note_and_its_surroundings_are_drawn_and_read(
    memory: Memory, page: Page, tmp_path: Path, photograph: Photograph
) -> None:
    requests = show(page, picture_note(memory, "n1"), tmp_path / "note.html")
    expect(page.locator("#nodes .node")).to_have_count(3)
    expect(page.locator("#edges .edge.RELATED")).to_have_count(2)
    expect(page.locator("#edges .edge.FOLLOWS")).to_have_count(2)
    expect(page.locator("#counts")).to_have_text("3 notes, 2 links")

    page.locator("#nodes .node.start").hover()
    card = page.locator("#card")
    expect(card.locator("#text")).to_have_text("Ada takes the aisle")
    expect(card).to_contain_text("chat, position 0")
    expect(page.locator("svg.some .node.lit")).to_have_count(3)
    photograph(page, "view_note_hover")

    page.mouse.move(5, 500)
    expect(card).to_be_hidden()
    page.locator(".edge.RELATED .touch").first.hover(force=True)
    expect(card).to_contain_text("weight0.8")
    assert requests.external == []


def test_hostile_text_is_shown_and_harms_nothing(
    memory: Memory, page: Page, tmp_path: Path
) -> None:
    show(page, picture_note(memory, "n3"), tmp_path / "evil.html")
    page.locator("#nodes .node.start").hover()
    expect(page.locator("#text")).to_have_text(EVIL)
    assert page.evaluate("window.harmed") is None
    assert page.locator("img, b").count() == 0
    assert "Ben <b>" in page.locator("#legend").inner_text()


def test_a_source_is_drawn_in_order(memory: Memory, page: Page, tmp_path: Path) -> None:
    show(page, picture_source(memory, "chat"), tmp_path / "source.html")
    expect(page.locator("#nodes .node")).to_have_count(3)
    expect(page.locator("#edges .edge.FOLLOWS")).to_have_count(2)


def test_a_recall_is_drawn_with_paths_scores_and_evidence(
    memory: Memory, page: Page, tmp_path: Path, photograph: Photograph
) -> None:
    result = memory.recall("who takes the aisle?", 3, at=DAY, track=False)
    show(page, picture_recall(memory, result), tmp_path / "recall.html")
    expect(page.locator(".node.question")).to_have_count(1)
    expect(page.locator("#nodes .node.result, #nodes .node.evidence")).to_have_count(
        len(result.notes)
    )
    assert page.locator("#edges .edge.seed").count() >= 1

    best = result.notes[0]
    page.locator("#nodes .node", has_not=page.locator("rect")).first.hover()
    expect(page.locator("#text")).to_have_text(best.note.content)
    expect(page.locator("#facts")).to_contain_text(f"score{best.score:.3f}")
    expect(page.locator("#facts")).to_contain_text(f"path{best.path[0]}")
    photograph(page, "view_recall_hover")
    page.locator(".node.question").hover()
    expect(page.locator("#facts")).to_contain_text(result.decision.reason)


def test_words_are_searched_and_a_hit_is_kept_open(
    memory: Memory, page: Page, tmp_path: Path
) -> None:
    show(page, picture_memory(memory), tmp_path / "all.html")
    expect(page.locator("#nodes .node")).to_have_count(4)
    page.fill("#search", "WINDOW ben")
    expect(page.locator("#found")).to_have_text("1 of 4 notes")
    expect(page.locator(".node.hit")).to_have_count(1)
    page.press("#search", "Enter")
    expect(page.locator("#card.kept #text")).to_have_text("Ben wants the window")
    page.keyboard.press("Escape")
    expect(page.locator("#card")).to_be_hidden()
    page.fill("#search", "nowhere")
    expect(page.locator("#found")).to_have_text("0 of 4 notes")


def test_weaker_links_can_be_hidden(memory: Memory, page: Page, tmp_path: Path) -> None:
    show(page, picture_memory(memory), tmp_path / "all.html")
    visible = page.locator("#edges .edge.RELATED:not(.gone)")
    expect(visible).to_have_count(2)
    page.locator("#weight").fill("0.78")
    expect(visible).to_have_count(1)


def test_the_keyboard_reads_and_keeps_notes(memory: Memory, page: Page, tmp_path: Path) -> None:
    show(page, picture_source(memory, "chat"), tmp_path / "source.html")
    page.focus("#fit")
    page.keyboard.press("Tab")
    expect(page.locator("#text")).to_have_text("Ada takes the aisle")
    page.keyboard.press("Enter")
    expect(page.locator("#card.kept")).to_be_visible()


def crowd(count: int) -> Picture:
    """A picture of `count` notes by four authors in groups of some thirty."""
    draw = random.Random(7)
    nodes = tuple(
        PictureNode(
            id=f"n{index}", role=Role.NOTE, caption=f"Note {index} says something of it",
            text=f"Note {index} says something of it, at length", group=f"Author {index % 4}",
            weight=draw.random(), facts=(Fact("id", f"n{index}"),),
        )
        for index in range(count)
    )  # fmt: skip
    edges = tuple(
        PictureEdge(
            from_id=f"n{index}", to_id=f"n{draw.randrange(index - index % 30, index)}",
            kind=EdgeKind.RELATED, weight=draw.uniform(0.72, 1.0), walked=False, facts=(),
        )
        for index in range(1, count)
        for _ in range(2)
        if index % 30
    )  # fmt: skip
    return Picture("A crowd", nodes, edges)


@pytest.mark.parametrize("count", [10, 500])
def test_a_picture_is_legible(
    page: Page, tmp_path: Path, photograph: Photograph, count: int
) -> None:
    show(page, crowd(count), tmp_path / "crowd.html")
    expect(page.locator("#nodes .node")).to_have_count(count)
    boxes = "elements => elements.map(e => { const b = e.getBoundingClientRect();"
    boxes += " return [b.left, b.top, b.right, b.bottom]; })"
    points = page.locator("#nodes .node circle").evaluate_all(boxes)
    captions = page.locator("#captions .caption:not(.gone)").evaluate_all(boxes)
    photograph(page, f"view_{count}_notes")

    inside = page.locator("#graph").bounding_box()
    assert inside is not None
    assert all(inside["x"] <= box[0] and inside["y"] <= box[1] for box in points)
    assert all(box[2] <= inside["x"] + inside["width"] for box in points)
    assert min(box[2] - box[0] for box in points) >= 6  # large enough to be hit
    assert sum(covers(a, b) for i, a in enumerate(points) for b in points[:i]) <= count / 50
    assert len(captions) >= 8
    assert not any(overlap(a, b, 3) for i, a in enumerate(captions) for b in captions[:i])

    page.locator("#nodes .node").nth(count - 1).hover(force=True)
    expect(page.locator("#facts")).to_contain_text(f"n{count - 1}")


def overlap(one: list[float], other: list[float], by: float = 0) -> bool:
    """Whether two boxes share more than `by` pixels in both directions."""
    across = min(one[2], other[2]) - max(one[0], other[0])
    along = min(one[3], other[3]) - max(one[1], other[1])
    return across > by and along > by


def covers(one: list[float], other: list[float]) -> bool:
    """Whether two discs in these boxes overlap by more than a pixel."""
    across = (one[0] + one[2] - other[0] - other[2]) / 2
    along = (one[1] + one[3] - other[1] - other[3]) / 2
    radii = (one[2] - one[0] + other[2] - other[0]) / 2
    return hypot(across, along) < radii - 1


def test_a_picture_stands_inside_a_notebook(page: Page, tmp_path: Path) -> None:
    frame = inline_frame(crowd(10))
    (tmp_path / "book.html").write_text(f"<!DOCTYPE html><body>{frame}", encoding="utf-8")
    page.goto((tmp_path / "book.html").as_uri())
    inner = page.frame_locator("iframe")
    expect(inner.locator("#nodes .node")).to_have_count(10)


def test_an_empty_part_is_drawn_without_an_error(page: Page, tmp_path: Path) -> None:
    show(page, crowd(1), tmp_path / "one.html")
    expect(page.locator("#nodes .node")).to_have_count(1)
