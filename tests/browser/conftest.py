"""A real web browser for tests: Chromium from the system's packages, without a download.

Tests of the marker ``browser`` are skipped with the reason where there is none, and fail
under ``GRAPHMEM_REQUIRE_BROWSER=1``. Pictures of what was seen are kept in the run's
temporary folder, or in ``GRAPHMEM_SCREENSHOTS``.
"""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Error, Page, sync_playwright

PROGRAMS = ("chromium", "chromium-browser", "google-chrome-stable", "google-chrome")
SIZE = {"width": 1400, "height": 1000}

Photograph = Callable[[Page, str], Path]
"""Keeps a picture of a page under a name and returns its file."""


def _absent(reason: str) -> None:
    if os.environ.get("GRAPHMEM_REQUIRE_BROWSER") == "1":
        pytest.fail(f"{reason} (GRAPHMEM_REQUIRE_BROWSER=1)")
    pytest.skip(reason)


@pytest.fixture(scope="module")
def chromium() -> Iterator[Browser]:
    """Chromium of this machine, without a window.

    Its driver keeps an event loop running in this thread, in which no test with a loop of
    its own could run: so it ends with each module.
    """
    program = next(filter(None, map(shutil.which, PROGRAMS)), None)
    if program is None:
        _absent(f"no Chromium for tests: none of {', '.join(PROGRAMS)} is on the PATH")
    # Chromium's own sandbox cannot start for root, as whom CI runs.
    arguments = ["--no-sandbox"] if os.getuid() == 0 else []
    with sync_playwright() as playwright:
        try:
            browser = playwright.chromium.launch(executable_path=program, args=arguments)
        except Error as error:
            _absent(f"Chromium does not start: {error.message.splitlines()[0]}")
        yield browser
        browser.close()


@pytest.fixture(scope="session")
def photograph(tmp_path_factory: pytest.TempPathFactory) -> Photograph:
    named = os.environ.get("GRAPHMEM_SCREENSHOTS")
    folder = Path(named) if named else tmp_path_factory.mktemp("screenshots")
    folder.mkdir(parents=True, exist_ok=True)

    def take(page: Page, name: str) -> Path:
        path = folder / f"{name}.png"
        page.screenshot(path=path)
        return path

    return take


@pytest.fixture
def page(chromium: Browser) -> Iterator[Page]:
    """A page in a profile of its own; an error of its scripts fails the test."""
    context = chromium.new_context(viewport=SIZE)  # type: ignore[arg-type] # a typed dict
    errors: list[Error] = []
    page = context.new_page()
    page.on("pageerror", lambda error: errors.append(error))
    yield page
    context.close()
    assert not errors
