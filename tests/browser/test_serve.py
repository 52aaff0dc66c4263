"""Served runs in a real browser: from the list to a report to one item, all of it from loopback.

The items that are shown are those of the run folder, asked for page by page.
"""

from __future__ import annotations

import os
import re
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from tests.browser.axe import faults
from tests.hostile.texts import PAGE
from tests.report.runs import make_run, starter_items
from tests.report.several_runs import all_three

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Page

ITEMS = 40  # each in three pairs
PAIRS = 3 * ITEMS


@dataclass
class Seen:
    """What a page asked for, and what it complained of."""

    requests: list[str]
    complaints: list[str]


@pytest.fixture(scope="module")
def runs(tmp_path_factory) -> Path:
    path = tmp_path_factory.mktemp("runs")

    def whole(estimates: dict) -> None:
        estimates["flex"]["missing_pairs"] = 0

    make_run(path / "alpha", starter_items(ITEMS), model="toy/alpha", change=whole)
    make_run(path / "beta", starter_items(8), model="toy/<b>beta</b>", meaningful=False)
    said = " ".join(PAGE.values())
    make_run(path / "hostile", starter_items(3), model=PAGE["script"], reply=said, no_answers=0)
    three = all_three(tmp_path_factory.mktemp("three") / "three")
    three.path.rename(path / "three")
    return path


@pytest.fixture(scope="module")
def address(runs, chromium) -> Iterator[str]:
    """What `askew serve` prints."""
    server = subprocess.Popen(
        [sys.executable, "-c", "from askew.cli import main; main()", "serve", str(runs)],
        stdout=subprocess.PIPE,
        text=True,
        env=os.environ | {"PYTHONUNBUFFERED": "1"},
    )
    try:
        assert server.stdout is not None
        (url,) = re.findall(r"http://\S+", server.stdout.readline())
        yield url
    finally:
        server.terminate()
        server.communicate(timeout=20)


@pytest.fixture
def seen() -> Seen:
    return Seen([], [])


@pytest.fixture
def tab(chromium: Browser, address: str, seen: Seen) -> Iterator[Page]:
    """A tab that must reach the server alone and complain of nothing."""
    context = chromium.new_context(viewport={"width": 1280, "height": 900})
    page = context.new_page()
    page.set_default_timeout(20_000)
    page.on("request", lambda request: seen.requests.append(request.url))
    page.on("pageerror", lambda error: seen.complaints.append(str(error)))
    page.on(
        "console",
        lambda said: seen.complaints.append(said.text) if said.type != "log" else None,
    )
    yield page
    context.close()
    assert seen.complaints == []
    outside = [
        url for url in seen.requests if not url.startswith((address, "data:", "blob:", "about:"))
    ]
    assert [url for url in outside if not url.endswith("/favicon.ico")] == []


def test_from_the_list_to_a_report_to_its_items(tab, address, seen):
    tab.goto(address)
    tab.get_by_label("Model or name").fill("ALPHA")
    tab.get_by_role("button", name="Find").click()
    assert tab.get_by_role("status").inner_text().startswith("1 of 4 runs")
    tab.get_by_role("link", name="alpha").click()
    tab.wait_for_selector(".explorer .status:has-text('pairs')")
    assert f"{PAIRS} of {PAIRS} pairs" in tab.locator(".explorer .status").inner_text()
    assert tab.locator("a.row").count() == 50
    assert [url for url in seen.requests if "/api/alpha/items?" in url]


def test_a_filter_in_the_address_asks_the_server_for_those_items_alone(tab, address, seen):
    tab.goto(f"{address}run/alpha#items/flex?category=text_attack&flagged=yes")
    tab.wait_for_selector("a.row")
    asked = [url for url in seen.requests if "/api/alpha/items?" in url]
    assert any("category=text_attack" in url and "flagged=yes" in url for url in asked)
    said = tab.locator(".explorer .status").inner_text()
    assert 0 < int(said.split(" of ")[0]) < ITEMS + 1
    assert f"of {PAIRS} pairs" in said


def test_an_item_opens_with_its_prompt_and_reply(tab, address):
    tab.goto(f"{address}run/alpha#items/flex")
    tab.locator("a.row").first.click()
    tab.wait_for_url(re.compile(r"#item/flex/"))
    link = tab.evaluate("location.hash")
    assert (
        tab.get_by_role("heading", name="asked plainly")
        .or_(tab.locator("#items").get_by_text("prompt", exact=False).first)
        .first.is_visible()
    )
    tab.goto(f"{address}run/alpha{link}")
    assert tab.evaluate("location.hash") == link


@pytest.mark.parametrize("audit", ["flex", "clinical", "boundary"])
def test_the_items_of_every_audit_are_filtered_and_opened(tab, address, seen, audit):
    tab.goto(f"{address}run/three#items/{audit}?flagged=yes")
    tab.locator("a.row").first.click()
    tab.wait_for_url(re.compile(rf"#item/{audit}/"))
    tab.wait_for_selector("#items h3, #items h4")
    asked = [url for url in seen.requests if "/api/three/items?" in url]
    assert any(f"audit={audit}" in url and "flagged=yes" in url for url in asked)


def test_names_that_hold_markup_are_text(tab, address):
    tab.goto(address)
    assert tab.get_by_text("toy/<b>beta</b>").is_visible()
    assert tab.locator("main b").count() == 0


HARM = """() => ({
  theirs: document.querySelectorAll("#theirs, img[src=x], iframe, object, foreignObject").length,
  scripts: [...document.scripts].filter((one) => one.text.length < 200 && !one.type).length,
  handlers: [...document.querySelectorAll("*")].flatMap((one) => [...one.attributes])
    .filter((one) => one.name.startsWith("on")).length,
  links: [...document.querySelectorAll("[href], [src]")]
    .map((one) => one.getAttribute("href") || one.getAttribute("src"))
    .filter((one) => /^\\s*(javascript|data:text)/i.test(one)).length,
  hacked: window.hacked !== undefined,
})"""


def test_what_models_wrote_is_text_and_nothing_of_it_runs(tab, address, seen):
    """In the list, a report, its items, one item, and the JSON itself opened as a page."""
    tab.on("dialog", lambda dialog: (seen.complaints.append(dialog.message), dialog.dismiss()))
    harmless = {"theirs": 0, "scripts": 0, "handlers": 0, "links": 0, "hacked": False}
    tab.goto(address)
    assert tab.get_by_text(PAGE["script"]).is_visible()
    assert tab.evaluate(HARM) == harmless
    tab.goto(f"{address}run/hostile#items/flex")
    tab.locator("a.row").first.click()
    tab.wait_for_url(re.compile(r"#item/flex/"))
    tab.get_by_label("Show all texts").check()
    tab.locator("#items .text", has_text=PAGE["script"]).first.wait_for()
    shown = tab.locator("#items").text_content()
    for name in ("script", "handler", "end", "link", "svg", "attribute", "markdown"):
        assert PAGE[name] in shown, name
    assert not set("\x00\x1b\x7f\u202e") & set(shown)
    assert tab.evaluate(HARM) == harmless
    (asked,) = {url for url in seen.requests if "/api/hostile/item?" in url}
    answered = tab.goto(asked)
    assert answered.headers["content-type"] == "application/json; charset=utf-8"
    assert answered.headers["x-content-type-options"] == "nosniff"
    assert PAGE["script"] in answered.json().__repr__()
    assert tab.evaluate(HARM) == harmless


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_the_list_has_no_serious_fault_of_accessibility(tab, address, scheme):
    tab.emulate_media(color_scheme=scheme)
    tab.goto(address)
    assert faults(tab) == []


def test_the_list_reads_on_a_phone(tab, address):
    tab.set_viewport_size({"width": 360, "height": 740})
    tab.goto(address)
    assert tab.evaluate("document.documentElement.scrollWidth") <= 360


def test_the_list_is_used_with_the_keyboard_alone(tab, address):
    tab.goto(address)
    tab.keyboard.press("Tab")
    assert tab.evaluate("document.activeElement.textContent") == "To the runs"
    tab.keyboard.press("Tab")
    tab.keyboard.type("beta")
    tab.keyboard.press("Enter")
    tab.wait_for_url(re.compile("model=beta"))
    assert tab.locator("li.run").count() == 1
