"""The explorer for everybody: axe-core, a phone, light and dark, keyboard, print, no scripts."""

from __future__ import annotations

import pytest
from playwright.sync_api import expect

from tests.browser.axe import faults
from tests.browser.pages import opened, pairs, topics, write

TABLE = """
<div class="scroll" role="region" aria-label="Rates" tabindex="0"><table>
<caption><span>Rates</span></caption>
<thead><tr><th scope="col">Attack</th><th scope="col">ASR</th></tr></thead>
<tbody><tr><th scope="row">DAN</th><td>12 %</td></tr></tbody></table></div>
<figure data-download="rates"><figcaption>Rates</figcaption>
<svg width="40" height="20" role="img" aria-label="Rates"><rect width="40" height="20"></rect>
</svg></figure>
"""


@pytest.fixture(scope="module")
def address(tmp_path_factory):
    path = tmp_path_factory.mktemp("page") / "report.html"
    return write(path, [pairs(120), topics()], before=TABLE)


@pytest.mark.parametrize("width", [1280, 390])
@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_axe_finds_no_serious_fault(page, address, scheme, width):
    page.emulate_media(color_scheme=scheme)
    page.set_viewport_size({"width": width, "height": 900})
    opened(page, address)
    assert faults(page) == []
    page.get_by_label("Show all texts").check()
    page.get_by_label("Search all texts").fill("word13")
    page.get_by_label("Findings only").check()
    expect(page.locator(".chip")).to_have_count(2)
    page.locator("a.row").nth(1).click()
    expect(page.locator(".text").first).to_be_visible()
    assert faults(page) == []


def test_axe_finds_none_where_texts_are_covered_or_a_link_was_wrong(page, address):
    opened(page, address, "#items/flex?sort=-margin")
    page.locator("a.row").nth(1).click()
    expect(page.locator(".covered").first).to_be_visible()
    assert faults(page) == []
    opened(page, address, "#item/flex/none-such?colour=red")
    assert faults(page) == []


def test_the_faults_looked_for_are_found_where_they_are(page, address):
    opened(page, address)
    page.evaluate(
        "document.querySelector('.status').style.color = '#ddd';"
        "document.querySelector('label[for=theme]').remove();"
    )
    assert {fault.partition(":")[0] for fault in faults(page)} >= {"color-contrast", "select-name"}


@pytest.mark.parametrize("width", [390, 320])
def test_a_phone_scrolls_no_way_but_down(page, address, width):
    page.set_viewport_size({"width": width, "height": 800})
    opened(page, address, "#items/flex?category=persona_injection&flagged=yes&q=word13")
    page.locator("a.row").first.click()
    expect(page.locator(".detail h3")).to_be_focused()
    assert page.evaluate("document.documentElement.scrollWidth") <= width
    list_, item = (page.locator(one).bounding_box() for one in (".side-list", ".detail"))
    assert list_["y"] + list_["height"] <= item["y"] + 1
    assert 0 <= page.locator(".detail h3").bounding_box()["y"] < 600  # it has come into view
    page.get_by_role("button", name="Back to the list").click()
    expect(page.locator(".detail h3")).to_have_count(0)
    assert page.evaluate("document.activeElement.className") == "row flagged"


def test_the_focus_is_seen_wherever_tab_takes_it(page, address):
    opened(page, address)
    seen = set()
    for _ in range(24):
        page.keyboard.press("Tab")
        name, style, width = page.evaluate(
            "(() => { const at = document.activeElement, style = getComputedStyle(at);"
            "return [at.tagName, style.outlineStyle, Number.parseFloat(style.outlineWidth)]; })()"
        )
        assert style != "none", name
        assert width >= 2, name
        seen.add(name)
    assert {"BUTTON", "INPUT", "SELECT", "A"} <= seen


def test_the_number_of_items_left_is_told_without_being_asked(page, address):
    opened(page, address)
    live = page.get_by_role("status").filter(has_text="pairs")
    page.get_by_label("Findings only").check()
    expect(live).to_contain_text("48 of 120 pairs")


def test_colours_can_be_chosen_and_are_kept(page, address):
    opened(page, address)
    root = page.locator("html")
    page.get_by_label("Colours").select_option("dark")
    expect(root).to_have_attribute("data-theme", "dark")
    later = page.context.new_page()
    for _ in range(50):  # the browser hands what a page kept to other pages in its own time
        opened(later, address)
        if later.locator("html").get_attribute("data-theme") == "dark":
            break
        later.wait_for_timeout(100)
    expect(later.locator("html")).to_have_attribute("data-theme", "dark")
    expect(later.get_by_label("Colours")).to_have_value("dark")
    page.get_by_label("Colours").select_option("auto")
    assert root.get_attribute("data-theme") is None


def test_without_scripts_the_page_says_what_there_would_be(chromium, address):
    context = chromium.new_context(java_script_enabled=False, offline=True)
    tab = context.new_page()
    tab.goto(address)
    text = tab.locator("#items").inner_text()
    assert "120 pairs, 48 of them turned by the attack." in text
    assert "JavaScript" in text
    assert tab.locator("button").count() == 0
    context.close()


def test_print_has_no_controls_and_no_covered_text(page, address):
    opened(page, address, "#items/flex")
    page.emulate_media(media="print")
    for selector in (".tabs", ".controls", ".rows", ".downloads", ".theme", ".pager", ".hint"):
        assert not any(one.is_visible() for one in page.locator(selector).all()), selector
    assert page.locator(".print-only").is_visible()
    page.emulate_media(media="screen")
    page.locator("a.row").first.click()
    expect(page.locator(".covered").first).to_be_visible()
    page.emulate_media(media="print")
    assert page.locator(".detail h3").is_visible()
    assert not page.locator(".covered").first.is_visible()
    page.emulate_media(media="screen")
    page.get_by_role("button", name="Show text").click()
    page.emulate_media(media="print")
    expect(page.locator(".text").first).to_be_visible()
    assert page.pdf()[:5] == b"%PDF-"
