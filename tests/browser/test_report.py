"""A whole report in a real browser: three audits on one page, for everybody and for any browser."""

from __future__ import annotations

import pytest

from askew.report.page import write_report
from tests.browser.axe import faults
from tests.browser.pages import opened
from tests.report.several_runs import all_three

try:
    from playwright.sync_api import expect
except ImportError:  # the fixtures say so
    expect = None

NO_STORAGE = """for (const name of ["localStorage", "sessionStorage"]) {
  Object.defineProperty(window, name, { get() { throw new DOMException("no", "SecurityError"); } });
}"""
SENSE = """() => {
  const all = (selector) => [...document.querySelectorAll(selector)];
  const named = (one) => one.getAttribute("aria-label") ?? one.getAttribute("aria-labelledby");
  return {
    headings: all("h1, h2, h3, h4, h5, h6").filter((one) => one.checkVisibility())
      .map((one) => [Number(one.tagName[1]), one.textContent.trim()]),
    landmarks: all("header.top, main, main > nav, footer").map((one) => one.tagName),
    sections: all("main > section").filter((one) => !document.getElementById(named(one))).length,
    tables: all("table").filter((one) => !one.caption?.textContent.trim()).length,
    pictures: all("svg[role]").filter((one) => !named(one)).length,
    links: all("svg a").filter((one) => !named(one) && !one.querySelector("title")).length,
    dead: all('a[href^="#"]').map((one) => one.getAttribute("href"))
      .filter((at) => !/^#items?[/?]/.test(at) && !document.getElementById(at.slice(1))),
    twice: all("[id]").length - new Set(all("[id]").map((one) => one.id)).size,
  };
}"""


@pytest.fixture(scope="module")
def address(tmp_path_factory):
    return write_report(all_three(tmp_path_factory.mktemp("three") / "run")).as_uri()


@pytest.mark.parametrize(("scheme", "width"), [("light", 1280), ("dark", 390)])
def test_axe_finds_no_serious_fault_on_the_whole_page(page, address, scheme, width):
    page.emulate_media(color_scheme=scheme, reduced_motion="reduce")
    page.set_viewport_size({"width": width, "height": 900})
    opened(page, address)
    assert page.evaluate("document.documentElement.scrollWidth") <= width
    page.locator("[data-map-canvas]").focus()
    page.locator("a.row").first.click()
    page.get_by_role("button", name="Show text").click()
    expect(page.locator(".detail .text").first).to_be_visible()
    assert faults(page) == []
    assert page.evaluate("document.documentElement.scrollWidth") <= width


def test_the_page_makes_sense_to_a_screen_reader(page, address):
    opened(page, address)
    sense = page.evaluate(SENSE)
    levels = [level for level, _ in sense["headings"]]
    assert levels.count(1) == 1
    steps = zip(sense["headings"], sense["headings"][1:], strict=False)
    assert [pair for pair in steps if pair[1][0] > pair[0][0] + 1] == []
    assert all(text for _, text in sense["headings"])
    assert sense["landmarks"] == ["HEADER", "MAIN", "NAV", "FOOTER"]
    for fault in ("sections", "tables", "pictures", "links", "twice"):
        assert sense[fault] == 0, fault
    assert sense["dead"] == []


@pytest.mark.parametrize(("width", "height"), [(1280, 900), (390, 844)])
def test_the_first_screen_says_model_fitness_and_findings(page, address, width, height):
    page.set_viewport_size({"width": width, "height": height})
    opened(page, address)
    for selector in (".subject strong", ".fitness li:last-child .badge", "#found"):
        box = page.locator(selector).bounding_box()
        assert box["y"] + box["height"] <= height, selector


def test_without_scripts_everything_but_the_explorer_is_there(chromium, address):
    context = chromium.new_context(java_script_enabled=False, offline=True)
    tab = context.new_page()
    tab.goto(address)
    for selector in ("#overview", "#flex", "#clinical", "#boundary", "#items", "#methods"):
        assert tab.locator(selector).is_visible(), selector
    assert tab.locator(".map-drawn svg[role]").first.is_visible()
    assert "JavaScript" in tab.locator("#items").inner_text()
    assert tab.locator("button:visible, canvas:visible").count() == 0
    context.close()


def test_a_browser_that_keeps_nothing_shows_the_same_page(page, address):
    page.add_init_script(NO_STORAGE)
    opened(page, address, "#items/flex?flagged=yes")
    page.get_by_label("Colours").select_option("dark")
    page.get_by_label("Show all texts").check()
    page.locator("a.row").first.click()
    expect(page.locator(".detail .text").first).to_be_visible()


def test_high_contrast_keeps_what_colour_alone_would_say(page, address):
    page.emulate_media(forced_colors="active")
    opened(page, address, "#items/flex?sort=id")
    shades = page.locator("#flex .swatch:not(.ring)").evaluate_all(
        "found => [...new Set(found.map(one => getComputedStyle(one).backgroundColor))]"
    )
    assert len(shades) >= 4
    edges = page.evaluate(
        """() => [["[role=tab][aria-selected=true]", "[role=tab][aria-selected=false]"],
          [".row.flagged", ".row:not(.flagged)"]].map((pair) => pair.map((one) => {
            const { borderLeftColor, borderBottomColor } =
              getComputedStyle(document.querySelector(`#explorer ${one}`));
            return one.startsWith(".row") ? borderLeftColor : borderBottomColor;
          }))"""
    )
    assert all(chosen != other for chosen, other in edges)


def test_a_keyboard_goes_from_a_finding_to_its_items_to_one_and_back(page, address):
    opened(page, address)
    finding = page.locator(".claims a.to-items").first
    finding.focus()
    page.keyboard.press("Enter")
    expect(page.locator(".status")).to_be_focused()
    row = page.locator("a.row").first
    row.focus()
    page.keyboard.press("Enter")
    expect(page.locator(".detail h3")).to_be_focused()
    page.keyboard.press("Escape")
    expect(row).to_be_focused()
    page.go_back()
    page.go_back()
    page.go_back()
    expect(page.locator(".chip")).to_have_count(0)


def test_an_item_names_the_call_that_it_rests_on(page, address):
    opened(page, address, "#items/flex")
    page.locator("a.row").first.click()
    page.get_by_role("button", name="Show text").click()
    call = page.locator(".readings div", has_text="Call").first.locator("dd").inner_text()
    key = call.split(",")[0]
    assert len(key) == 12
    assert set(key) <= set("0123456789abcdef")
    page.get_by_label("Search all texts").fill(key)  # no word of a text: a search passes it over
    expect(page.locator(".status")).to_contain_text("0 of")
