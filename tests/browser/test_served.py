"""The explorer of a page whose items stay with a server: the same list, asked for page by page."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from urllib.parse import parse_qs, quote, urlsplit

import pytest
from playwright.sync_api import expect

from askew.report.items import ReportItem, Shelf
from askew.report.items.island import Texts, items_record, json_bytes, shelf_record
from tests.browser.axe import faults
from tests.browser.pages import html, opened, pairs, topics

SHELVES = [pairs(120), topics()]
SOURCE = '<script type="application/json" id="askew-source">{"url": "api/run-1"}</script>'


class Server:
    """A server of the page and its items, as the report's script expects one.

    Attributes:
        asked: what it was asked for, in order.
        status: what it answers to questions for items.
    """

    def __init__(self) -> None:
        self.asked: list[str] = []
        self.status = 200
        outer = self

        class Handler(BaseHTTPRequestHandler):
            def do_GET(self) -> None:
                outer.asked.append(self.path)
                kind, body = outer.answer(self.path)
                self.send_response(outer.status if kind == "json" else 200 if body else 404)
                self.send_header("Content-Type", f"text/{kind}; charset=utf-8")
                self.send_header("Content-Length", str(len(body)))
                self.end_headers()
                self.wfile.write(body)

            def log_message(self, *_: object) -> None:
                """Say nothing."""

        self.server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.thread = threading.Thread(target=self.server.serve_forever)
        self.thread.start()
        self.address = f"http://127.0.0.1:{self.server.server_port}/report"

    def close(self) -> None:
        if self.thread.is_alive():
            self.server.shutdown()
            self.thread.join()
            self.server.server_close()

    def answer(self, path: str) -> tuple[str, bytes]:
        """Kind and body."""
        parts = urlsplit(path)
        if parts.path == "/report":
            return "html", html(SHELVES, source=SOURCE, served=True).encode()
        asked = {name: values[0] for name, values in parse_qs(parts.query).items()}
        if parts.path == "/api/run-1/shelves":
            records = [shelf_record(shelf) for shelf in SHELVES]
            return "json", json_bytes({"version": 1, "texts": [], "shelves": records})
        if parts.path not in ("/api/run-1/items", "/api/run-1/item"):
            return "html", b""
        (shelf,) = (shelf for shelf in SHELVES if shelf.audit == asked["audit"])
        if parts.path.endswith("/item"):
            found = [item for item in shelf.items if item.id == asked["id"]]
            return "json", record(shelf, found, len(found))
        matching = [item for item in shelf.items if matches(item, asked)]
        offset = int(asked["offset"])
        return "json", record(shelf, matching[offset : offset + int(asked["limit"])], len(matching))


def matches(item: ReportItem, asked: dict[str, str]) -> bool:
    if "flagged" in asked and not item.flagged:
        return False
    if "q" in asked and asked["q"] not in item.sides[0].turns[0].text:
        return False
    return all(item.facets[name] == asked[name] for name in item.facets if name in asked)


def record(shelf: Shelf, items: list[ReportItem], matched: int) -> bytes:
    texts = Texts()
    records = items_record(shelf, items, texts)
    return json_bytes({"texts": texts.listed(), "items": records, "matched": matched})


@pytest.fixture
def server() -> Iterator[Server]:
    running = Server()
    yield running
    running.close()


@pytest.fixture
def tab(chromium, watch, server):
    """A tab that may reach this machine; it is to ask nobody but the server."""
    context = chromium.new_context()
    page = context.new_page()
    page.set_default_timeout(10_000)
    watch.on(page)
    yield page
    context.close()
    origin = server.address.removesuffix("report")
    assert all(url.startswith(origin) for url in watch.requests)
    assert watch.dialogs == []


def test_the_list_comes_page_by_page(tab, server, watch):
    opened(tab, server.address)
    status = tab.locator(".explorer .status")
    expect(status).to_have_text("120 of 120 pairs")
    assert tab.locator("a.row").count() == 50
    tab.get_by_role("button", name="Next page").click()
    expect(tab.locator(".page-number")).to_have_text("51 to 100")
    assert tab.locator("a.row").first.inner_text().startswith(SHELVES[0].items[50].id)
    tab.get_by_label("Attack", exact=True).select_option(label="Text attack")
    expect(status).to_contain_text("40 of 120 pairs")
    tab.get_by_label("Search all texts").fill("word139")
    expect(tab.locator(".chip")).to_have_count(2)
    tab.get_by_role("tab", name="Topics").click()
    expect(status).to_have_text("12 of 12 topics")
    pages = [one for one in server.asked if "/items" in one]
    assert all("limit=50" in one or "limit=3" in one for one in pages)
    assert watch.complaints == []
    assert faults(tab) == []


def test_one_item_and_its_neighbours(tab, server, watch):
    items = SHELVES[0].items
    opened(tab, server.address)
    tab.locator("a.row").nth(49).click()
    expect(tab.locator(".position")).to_have_text("50 of 120")
    tab.get_by_role("button", name="Next", exact=True).click()
    expect(tab.locator(".detail h3")).to_have_text(items[50].id)
    opened(tab, server.address, f"#item/flex/{quote(items[80].id, safe='')}")
    expect(tab.locator(".detail h3")).to_have_text(items[80].id)
    opened(tab, server.address, "#item/flex/none")
    expect(tab.locator(".notice")).to_contain_text("no item “none”")
    assert watch.complaints == []


def test_a_server_that_fails_or_is_gone_is_told_of(tab, server, watch):
    opened(tab, server.address)
    server.status = 500
    tab.get_by_label("Findings only").check()
    expect(tab.locator(".notice")).to_contain_text("answered 500")
    server.close()
    tab.get_by_label("Findings only").uncheck()
    tab.get_by_label("Search all texts").fill("gone")
    expect(tab.locator(".notice")).to_contain_text("does not answer")
    watch.complaints.clear()  # the browser logs what the network refused
