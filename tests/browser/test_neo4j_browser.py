"""The kit in the real Neo4j Browser: logged in, favourites dropped and run, styled, clicked."""

from __future__ import annotations

import base64
import os
from collections.abc import Iterator
from pathlib import Path

import note_graph
import pytest
from browser.conftest import SIZE, Photograph
from neo4j_server.console import console
from neo4j_server.erasure import erase_everything
from neo4j_server.server import Address
from playwright.sync_api import Browser, Locator, Page, expect

from graphmem.interfaces.browser_kit import browser_address, favourites, write_kit
from graphmem.stores.neo4j.store import Neo4jStore

pytestmark = [pytest.mark.browser, pytest.mark.neo4j]

NAMESPACE = "trip"
FAVOURITES = {each.file.removesuffix(".cypher"): each for each in favourites(NAMESPACE)}
TABLES = {"recalled_most"}
"""Favourites that answer in words."""
PATIENCE = 60_000  # milliseconds: the Browser is a large program on a small machine
DROP = """([name, content]) => {
  const bytes = Uint8Array.from(atob(content), (char) => char.charCodeAt(0));
  const dataTransfer = new DataTransfer();
  dataTransfer.items.add(new File([bytes], name));
  const target = document.querySelector("[data-testid=main]");
  for (const kind of ["dragenter", "dragover", "drop"])
    target.dispatchEvent(new DragEvent(kind, {bubbles: true, cancelable: true, dataTransfer}));
}"""


class NeoBrowser:
    """Neo4j Browser as a person uses it."""

    def __init__(self, page: Page) -> None:
        self.page = page

    def part(self, name: str) -> Locator:
        return self.page.get_by_test_id(name)

    def log_in(self, address: str, password: str) -> None:
        self.page.goto(address)
        self.part("password").fill(password)
        self.part("connect").click()
        expect(self.page.get_by_text("You are connected as user")).to_be_visible()

    def drop(self, path: Path) -> None:
        content = base64.b64encode(path.read_bytes()).decode()
        self.page.evaluate(DROP, [path.name, content])

    def run_favourite(self, title: str) -> Locator:
        """Click a favourite and the triangle; return the frame with its answer."""
        drawer = self.part(f"scriptTitle-{title}")
        if not drawer.is_visible():
            self.part("navigationFavorites").click()
        drawer.click()
        self.part("editor-Run").click()
        frame = self.part("frame").first
        expect(frame.get_by_test_id("frameCommand")).to_contain_text(f"// {title}")
        return frame


@pytest.fixture(scope="module")
def address(neo4j_address: Address) -> Address:
    if not neo4j_address.browser:
        reason = "the server under test serves no Neo4j Browser: set GRAPHMEM_TEST_NEO4J_BROWSER"
        if os.environ.get("GRAPHMEM_REQUIRE_BROWSER") == "1":
            pytest.fail(f"{reason} (GRAPHMEM_REQUIRE_BROWSER=1)")
        pytest.skip(reason)
    erase_everything(neo4j_address)
    store = Neo4jStore(neo4j_address.uri, auth=neo4j_address.auth, database=neo4j_address.database)
    note_graph.fill(store, NAMESPACE)
    store.close()
    with console(neo4j_address) as ask:  # as long as a real model makes them
        ask("MATCH (v:NoteVectors) SET v.embedding = [x IN range(1, 384) | 1.0 / (x + 7)]")
    return neo4j_address


@pytest.fixture(scope="module")
def kit(address: Address, tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("kit")
    write_kit(folder, browser_address(address.uri, http=address.browser), NAMESPACE)
    return folder


@pytest.fixture(scope="module")
def neo(chromium: Browser, address: Address, kit: Path) -> Iterator[NeoBrowser]:
    """Neo4j Browser, logged in by the kit's address, with the favourites dropped on it."""
    context = chromium.new_context(viewport=SIZE)  # type: ignore[arg-type] # a typed dict
    context.set_default_timeout(PATIENCE)
    expect.set_options(timeout=PATIENCE)
    # Its fonts and figures of use lie elsewhere; the test must not depend on the network.
    context.route(lambda url: not url.startswith("http://127.0.0.1"), lambda route: route.abort())
    neo = NeoBrowser(context.new_page())
    neo.log_in(browser_address(address.uri, http=address.browser), address.password)
    neo.drop(kit / "favourites.zip")
    yield neo
    context.close()
    expect.set_options(timeout=5_000)


def drawn(frame: Locator) -> tuple[Locator, Locator]:
    nodes, relationships = frame.locator("g.node"), frame.locator("g.relationship")
    expect(nodes.first).to_be_visible()
    expect(relationships.first).to_be_attached()
    return nodes, relationships


def test_the_style_changes_sizes_and_captions(
    neo: NeoBrowser, kit: Path, photograph: Photograph
) -> None:
    title = FAVOURITES["strongest_links"].title
    nodes, relationships = drawn(neo.run_favourite(title))
    before = {node.get_attribute("r") for node in nodes.locator("circle.b-outline").all()}
    assert len(before) == 1
    kinds = set(relationships.locator("text").all_text_contents())
    assert kinds == {"RELATED", "FOLLOWS", "SUPERSEDES"}

    neo.drop(kit / "graphmem.grass")
    nodes, relationships = drawn(neo.run_favourite(title))
    expect(relationships.locator("text").filter(has_text="strong")).not_to_have_count(0)
    captions = set(relationships.locator("text").all_text_contents())
    assert {"strong", "medium", "FOLLOWS", "negation"} == captions
    # Minor, plain and important notes.
    after = {node.get_attribute("r") for node in nodes.locator("circle.b-outline").all()}
    assert after == {"30", "40", "55"}
    words = "".join(nodes.locator("text").all_text_contents())
    assert "I always take an aisle" in " ".join(words.split())
    photograph(neo.page, "browser_styled")


@pytest.mark.parametrize("name", FAVOURITES)
def test_a_favourite_draws_notes_and_links(
    neo: NeoBrowser, photograph: Photograph, name: str
) -> None:
    frame = neo.run_favourite(FAVOURITES[name].title)
    if name in TABLES:
        expect(frame.locator("table, [role=grid]").first).to_be_visible()
        expect(frame).to_contain_text("aisle seat")
    else:
        nodes, relationships = drawn(frame)
        assert nodes.count() >= 2
        assert relationships.count() >= 1
    photograph(neo.page, f"browser_{name}")


def test_a_click_on_a_note_tells_what_it_is(neo: NeoBrowser, photograph: Photograph) -> None:
    frame = neo.run_favourite(FAVOURITES["why_linked"].title)
    nodes, _ = drawn(frame)
    nodes.first.click()
    expect(frame.get_by_text("Node properties")).to_be_visible()
    photograph(neo.page, "browser_clicked_note")
    rows = dict(
        line.split("\t")[:2] for line in frame.inner_text().splitlines() if line.count("\t") >= 1
    )
    assert rows["author"] == "Ada"
    assert rows["content"] in note_graph.TEXTS.values()
    assert rows["importance_score"]
    assert rows["recall_count"] == "1"
    # The Browser lists every property; the vectors are none of the note's.
    assert not [name for name in rows if name.startswith(("embedding", "sentences"))]
