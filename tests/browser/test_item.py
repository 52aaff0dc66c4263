"""One item in the explorer: its link, its texts and their covers, and the steps to the next."""

from __future__ import annotations

from urllib.parse import quote

import pytest
from playwright.sync_api import expect

from askew.report.items import ReportItem, Side, Turn
from tests.browser.pages import opened, pair, pairs, shelf, topics, write

COUNT = 120


@pytest.fixture(scope="module")
def address(tmp_path_factory):
    path = tmp_path_factory.mktemp("page") / "report.html"
    return write(path, [pairs(COUNT), topics()])


def test_a_link_to_an_item_opens_it_wherever_it_stands(page, address):
    item = pairs(COUNT).items[110]
    opened(page, address, f"#item/flex/{quote(item.id, safe='')}")
    assert page.locator(".detail h3").inner_text() == item.id
    assert page.evaluate("document.activeElement.tagName") == "H3"
    assert page.locator("a.row[aria-current]").inner_text().startswith(item.id)
    assert page.locator(".position").inner_text() == "111 of 120"
    assert page.locator(".page-number").inner_text() == "101 to 120"


def test_an_id_may_hold_any_sign(page, address):
    item = topics().items[4]
    assert "/" in item.id
    opened(page, address, "#items/boundary")
    page.get_by_role("link", name="Topic 4").click()
    assert page.locator(".detail h3").inner_text() == item.id
    assert page.evaluate("location.hash") == f"#item/boundary/{quote(item.id, safe='')}"
    page.reload()
    expect(page.locator(".detail h3")).to_have_text(item.id)


def test_the_item_shows_both_sides_with_what_came_of_them(page, address):
    item = pair(1)
    opened(page, address, f"#item/flex/{quote(item.id, safe='')}")
    page.get_by_role("button", name="Show text").click()
    detail = page.locator(".detail")
    assert item.why in detail.inner_text()
    sides = detail.locator(".side")
    assert sides.count() == 2
    first, second = (box["x"] for box in (sides.nth(0).bounding_box(), sides.nth(1).bounding_box()))
    assert first < second  # next to each other
    assert sides.nth(1).locator("h4 .outcome").inner_text() == item.facets["outcome_attacked"]
    assert sides.nth(1).locator(".who").all_inner_texts()[:2] == ["prompt", "reply"]
    assert sides.nth(1).locator(".text").first.inner_text() == item.sides[1].turns[0].text
    start, end = item.sides[1].turns[0].marks[0]
    assert detail.locator("mark").all_inner_texts() == [item.sides[1].turns[0].text[start:end]]
    options = sides.nth(1).locator(".options li")
    assert options.locator(".number").all_inner_texts() == ["−0.40", "−1.31", "−2.70"]
    widths = options.locator(".fill").evaluate_all(
        "(all) => all.map((one) => Number.parseFloat(one.style.width))"
    )
    assert widths[0] == 100
    assert widths == sorted(widths, reverse=True)
    facts = dict(
        zip(
            detail.locator(".about dt").all_inner_texts(),
            detail.locator(".about dd").all_inner_texts(),
            strict=True,
        )
    )
    assert facts == {
        "Attack": "Competing objectives",
        "Bias type": "Disability",
        "Under attack": item.facets["outcome_attacked"],
        "Margin": "3.99",
        "Identifier": item.id,
    }


def test_a_mark_beyond_the_basic_plane_stands_where_it_should(page, tmp_path):
    text = "👩🏽 a woman\r\nof 40"
    turn = Turn("prompt", text, ((5, 10), (text.index("40"), len(text))))
    item = ReportItem("x", "t", True, {}, {}, (Side("s", "", "plain", (turn,)),))
    address = write(tmp_path / "marks.html", [shelf([item])])
    opened(page, address, "#item/flex/x")
    page.get_by_role("button", name="Show text").click()
    assert page.locator("mark").all_inner_texts() == [text[5:10], "40"]


def test_texts_are_covered_until_asked_for(page, address):
    secret = pair(1).sides[0].turns[0].text
    opened(page, address, f"#item/flex/{quote(pair(1).id, safe='')}")
    whole = "document.documentElement.outerHTML"
    assert secret not in page.evaluate(whole)
    assert "The older man" not in page.evaluate(whole)  # nor the options
    assert secret not in page.locator("body").aria_snapshot()
    assert "covered" in page.locator(".side").first.inner_text()
    show = page.get_by_role("button", name="Show text")
    show.click()
    expect(page.locator(".text").first).to_have_text(secret)
    expect(show).to_be_focused()
    assert show.get_attribute("aria-pressed") == "true"
    page.get_by_role("button", name="Next", exact=True).click()
    expect(page.locator(".covered")).to_have_count(2)  # the next one is covered again
    page.get_by_role("button", name="Previous", exact=True).click()
    expect(page.locator(".text").first).to_have_text(secret)
    show.click()
    expect(page.locator(".covered")).to_have_count(2)
    assert secret not in page.evaluate(whole)


def test_names_that_quote_a_text_are_covered_with_it(page, address):
    item, topic = pair(1), topics().items[1]
    opened(page, address, f"#item/flex/{quote(item.id, safe='')}")
    whole = "document.documentElement.outerHTML"
    assert "could not be trusted" not in page.evaluate(whole)
    page.get_by_role("button", name="Show text").click()
    expect(page.locator(".detail h3")).to_have_text(item.title)
    expect(page.locator("a.row .title").first).to_have_text(item.title)
    assert page.locator("a.row .title").nth(1).inner_text() == pairs(COUNT).items[1].id
    opened(page, address, f"#item/boundary/{quote(topic.id, safe='')}")
    assert page.locator(".side h4").first.inner_text().startswith("Question 1")
    assert topic.sides[0].title not in page.evaluate(whole)
    page.get_by_label("Show all texts").check()
    expect(page.locator(".side h4").first).to_contain_text(topic.sides[0].title)


def test_a_row_says_what_sort_it_is_and_what_came_of_its_sides(page, address):
    opened(page, address, "#items/flex?category=competing_objectives")
    row = page.locator("a.row").first
    assert row.locator(".sorts").inner_text() == "Disability · antistereotyped"
    assert row.locator(".outcome").all_inner_texts() == ["neutral", "antistereotyped"]
    opened(page, address, "#items/boundary")
    row = page.locator("a.row").first
    assert row.locator(".outcome").all_text_contents() == ["leans × 3"]


def test_show_all_texts_is_remembered_for_the_tab_and_no_longer(page, address, chromium):
    place = f"#item/flex/{quote(pair(1).id, safe='')}"
    opened(page, address, place)
    page.get_by_label("Show all texts").check()
    expect(page.locator(".text").first).to_be_visible()
    assert page.get_by_role("button", name="Show text").count() == 0
    page.reload()
    expect(page.locator(".text").first).to_be_visible()
    assert page.get_by_label("Show all texts").is_checked()
    context = chromium.new_context()
    other = context.new_page()
    opened(other, address, place)
    assert other.locator(".text").count() == 0
    context.close()
    page.get_by_label("Show all texts").uncheck()
    expect(page.locator(".covered").first).to_be_visible()


def test_a_browser_that_keeps_nothing_still_shows_texts(page, address):
    page.add_init_script(
        "for (const name of ['sessionStorage', 'localStorage']) {"
        "  Object.defineProperty(window, name, {get() { throw new Error('forbidden'); }});"
        "}"
    )
    opened(page, address, f"#item/flex/{quote(pair(1).id, safe='')}")
    page.get_by_label("Show all texts").check()
    expect(page.locator(".text").first).to_be_visible()
    page.get_by_label("Colours").select_option("dark")
    assert page.evaluate("document.documentElement.dataset.theme") == "dark"


def test_searched_words_are_marked_in_the_text(page, address):
    opened(page, address, "#items/flex?q=word13")
    page.get_by_label("Show all texts").check()
    page.locator("a.row").first.click()
    assert page.locator("mark.hit").first.inner_text() == "word13"


def test_copy_link_gives_an_address_that_opens_the_item(page, address):
    opened(page, address, "#items/flex?flagged=yes")
    page.context.grant_permissions(["clipboard-read", "clipboard-write"])
    page.locator("a.row").first.click()
    title = page.locator(".detail h3").inner_text()
    page.get_by_role("button", name="Copy link").click()
    expect(page.locator(".copied")).to_have_text("Link copied.")
    copied = page.evaluate("navigator.clipboard.readText()")
    assert "?" not in copied.partition("#")[2]
    page.goto("about:blank")
    page.goto(copied)
    expect(page.locator(".detail h3")).to_have_text(title)


def test_where_nothing_can_be_copied_the_link_is_shown(page, address):
    page.add_init_script("Object.defineProperty(Navigator.prototype, 'clipboard', {value: null})")
    opened(page, address, f"#item/flex/{quote(pair(1).id, safe='')}")
    page.get_by_role("button", name="Copy link").click()
    shown = page.get_by_label("Link", exact=True)
    expect(shown).to_be_focused()
    assert shown.input_value().startswith(address + "#item/flex/")


def test_steps_from_item_to_item_keep_the_focus_and_stop_at_the_ends(page, address):
    first = pairs(COUNT).items[0]
    opened(page, address, f"#item/flex/{quote(first.id, safe='')}")
    before = page.get_by_role("button", name="Previous", exact=True)
    assert before.get_attribute("aria-disabled") == "true"
    before.click(force=True)
    assert page.locator(".position").inner_text() == "1 of 120"
    page.get_by_role("button", name="Next", exact=True).click()
    expect(page.locator(".position")).to_have_text("2 of 120")
    expect(page.get_by_role("button", name="Next", exact=True)).to_be_focused()
    opened(page, address, f"#item/flex/{quote(pairs(COUNT).items[49].id, safe='')}")
    page.get_by_role("button", name="Next", exact=True).click()  # over a page's end
    expect(page.locator(".position")).to_have_text("51 of 120")
    expect(page.locator(".page-number")).to_have_text("51 to 100")
