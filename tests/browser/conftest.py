"""A real browser for the tests of a folder: Chromium, driven by Playwright, with no network.

The tests here are plain functions: Playwright's blocking interface holds an event loop of its own
while a module's browser is open, so no `async def` may stand in these modules.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field

import pytest

from tests.browser.finding import ARGUMENTS, find_browser, none_here

try:
    from playwright.sync_api import Browser, Page, sync_playwright
except ImportError:  # tests that ask for the browser say so
    sync_playwright = None


@dataclass
class Watch:
    """What a page did that a report must never do.

    Attributes:
        complaints: errors and warnings of the console, and errors that no script caught.
        dialogs: what was asked in a window of its own.
        requests: addresses outside the page.
    """

    complaints: list[str] = field(default_factory=list)
    dialogs: list[str] = field(default_factory=list)
    requests: list[str] = field(default_factory=list)

    def on(self, page: Page) -> None:
        """Watch a page from now on."""
        page.on("console", self._console)
        page.on("pageerror", lambda error: self.complaints.append(str(error)))
        page.on("dialog", self._dialog)
        page.on("request", self._request)

    def _console(self, message) -> None:
        if message.type in ("error", "warning"):
            self.complaints.append(message.text)

    def _dialog(self, dialog) -> None:
        self.dialogs.append(dialog.message)
        dialog.dismiss()

    def _request(self, request) -> None:
        if not request.url.startswith(("file:", "data:", "blob:", "about:")):
            self.requests.append(request.url)


@pytest.fixture(scope="module")
def chromium() -> Iterator[Browser]:
    """One browser for a module; skips where there is none (see `none_here`)."""
    if sync_playwright is None:
        none_here("playwright is not installed; it comes with askew[dev]")
    program = find_browser()
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=program, args=list(ARGUMENTS))
        yield browser
        browser.close()


@pytest.fixture
def watch() -> Watch:
    """What this test's page did; a test may look at it or empty it before its end."""
    return Watch()


@pytest.fixture
def page(chromium: Browser, watch: Watch) -> Iterator[Page]:
    """A fresh tab without network; whatever it complains of, asks or requests fails the test."""
    context = chromium.new_context(
        offline=True, accept_downloads=True, viewport={"width": 1280, "height": 900}
    )
    tab = context.new_page()
    tab.set_default_timeout(10_000)
    watch.on(tab)
    yield tab
    context.close()
    assert watch == Watch()
