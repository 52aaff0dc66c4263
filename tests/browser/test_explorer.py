"""The items explorer as a reader uses it, opened from disk and without a network."""

from __future__ import annotations

import re

import pytest
from playwright.sync_api import expect

from tests.browser.pages import CATEGORIES, opened, pair, pairs, shelf, topics, write

COUNT = 260
LINK = "#items/flex?category=persona_injection&flagged=yes"
MARKUP = f"""
<p><a class="to-items" href="{LINK.replace("&", "&amp;")}">18 of 30</a></p>
<figure><svg width="40" height="20" role="img" aria-label="one mark">
<a href="#items/flex?category=text_attack"><rect width="40" height="20"></rect></a></svg></figure>
<div style="height: 150vh"></div>
"""


@pytest.fixture(scope="module")
def address(tmp_path_factory):
    path = tmp_path_factory.mktemp("page") / "report.html"
    return write(path, [pairs(COUNT), topics()], before=MARKUP)


def names(page) -> list[str]:
    return page.locator("a.row .title").all_inner_texts()


def status(page):
    return page.locator(".explorer .status")


def hash_of(page) -> str:
    return page.evaluate("location.hash")


def expected(**wanted) -> list:
    """The items that a filter leaves, in the order of the shelf."""
    return [
        item
        for item in pairs(COUNT).items
        if all(item.facets[name] == value for name, value in wanted.items())
    ]


def test_it_opens_with_all_items_the_findings_first(page, address):
    opened(page, address)
    expect(status(page)).to_have_text("260 of 260 pairs")
    assert names(page) == [item.id for item in pairs(COUNT).items[:50]]
    assert page.get_by_role("tab", selected=True).inner_text() == "Pairs 260"


def test_a_filter_leaves_its_items_and_the_counts_of_the_others_follow(page, address):
    opened(page, address)
    page.get_by_label("Attack", exact=True).select_option(label="Text attack (86)")
    left = expected(category="text_attack")
    expect(status(page)).to_contain_text(f"{len(left)} of 260 pairs")
    of_age = [item for item in left if item.facets["bias_type"] == "age"]
    page.get_by_label("Bias type").select_option(label=f"Age ({len(of_age)})")
    expect(status(page)).to_contain_text(f"{len(of_age)} of 260 pairs")
    # A facet's own counts say what choosing another of its values would leave.
    other = expected(category="persona_injection", bias_type="age")
    options = page.get_by_label("Attack", exact=True).locator("option").all_inner_texts()
    assert f"Persona injection ({len(other)})" in options
    assert sorted(names(page)) == sorted(item.id for item in of_age)


def test_the_filters_in_force_are_said_and_can_be_taken_off_one_by_one(page, address):
    opened(page, address, LINK + "&q=word13")
    chips = page.locator(".chip")
    assert chips.all_text_contents() == [
        "Remove the filter Attack: Persona injection×",
        "Remove the filter turned by the attack×",
        "Remove the filter Words: “word13”×",
    ]
    expect(status(page)).to_contain_text(
        "filtered by Attack: Persona injection, turned by the attack, Words: “word13”"
    )
    page.get_by_role("button", name="turned by the attack").click()
    page.wait_for_url(re.compile("q=word13$"))
    assert hash_of(page) == "#items/flex?category=persona_injection&q=word13"
    assert page.evaluate("document.activeElement.className") == "status"
    page.get_by_role("button", name="Clear all").click()
    expect(status(page)).to_have_text("260 of 260 pairs")
    assert hash_of(page) == "#items/flex"


def test_findings_only(page, address):
    opened(page, address)
    page.get_by_label("Findings only").check()
    expect(status(page)).to_contain_text("104 of 260 pairs")
    assert page.locator("a.row:not(.flagged)").count() == 0
    page.get_by_label("Findings only").uncheck()
    expect(status(page)).to_have_text("260 of 260 pairs")


@pytest.mark.parametrize(
    ("words", "found"),
    [
        ("QUESTION 17:", {17, 117, 217}),  # any case, and all the words
        ("undetermined", set()),
        ("determined (42)", {42}),  # an option
        ("age_00007", {7}),  # the identifier
        ("reply", set()),  # who speaks is no text of the item's
        (".*", set()),  # no pattern
    ],
)
def test_search_finds_items_by_all_their_texts_and_all_the_words(page, address, words, found):
    opened(page, address)
    page.get_by_label("Search all texts").fill(words)
    expect(page.locator(".chip")).to_have_count(1)
    assert {int(re.findall(r"\d+", name)[0]) for name in names(page)} == found
    expect(status(page)).to_contain_text(f"{len(found)} of 260 pairs")


def test_typing_does_not_fill_the_history(page, address):
    opened(page, address)
    before = page.evaluate("history.length")
    page.get_by_label("Search all texts").press_sequentially("word13 word20", delay=1)
    expect(page.locator(".chip")).to_contain_text("word13 word20")
    page.get_by_label("Search all texts").press_sequentially("1")
    expect(page.locator(".chip")).to_contain_text("word13 word201")
    assert page.evaluate("history.length") == before


def test_sorting_by_a_number_leaves_the_undefined_for_the_end(page, address):
    opened(page, address)
    page.get_by_label("Order").select_option(label="Margin, lowest first")
    page.wait_for_url(re.compile("sort=margin"))
    first = page.locator("a.row").first
    assert "Age_00259" not in first.inner_text()  # 259 = 37 · 7 has no margin
    assert "Age_00258" in first.inner_text()
    assert "1.42" in first.inner_text()
    opened(page, address, "#items/flex?sort=-margin&page=6")
    assert page.locator("a.row .number").all_text_contents()[-1] == "Margin –"
    opened(page, address, "#items/flex?sort=id")
    assert names(page)[:3] == [pair(number).id for number in (0, 1, 2)]


def test_pages_of_fifty(page, address):
    opened(page, address)
    page.get_by_role("button", name="Next page").click()
    expect(page.locator(".page-number")).to_have_text("51 to 100")
    assert names(page) == [item.id for item in pairs(COUNT).items[50:100]]
    assert hash_of(page) == "#items/flex?page=2"
    page.go_back()
    expect(page.locator(".page-number")).to_have_text("1 to 50")
    opened(page, address, "#items/flex?page=99")
    expect(page.locator(".page-number")).to_have_text("251 to 260")


@pytest.mark.parametrize(
    ("place", "said"),
    [
        ("#item/flex/nothing%20of%20this%20name", "no item “nothing of this name”"),
        ("#item/flex/", "no item “”"),
        ("#item/flex/%E0%A4%A", "cannot be read"),
        ("#item/clinical/x", "no items of an audit “clinical”"),
        ("#items/clinical?category=x", "no items of an audit “clinical”"),
        ("#items/flex?colour=red", "“colour: red”"),
        ("#items/flex?sort=beauty", "an order “beauty”"),
        ("#items/flex?__proto__=x&constructor=y", "“constructor: y”"),
    ],
)
def test_a_link_to_what_is_not_there_says_so(page, address, place, said):
    opened(page, address, place)
    expect(page.locator(".notice")).to_contain_text(said)
    assert page.locator(".notice").evaluate("(it) => it === document.activeElement")
    assert page.locator("a.row").count() > 0
    page.get_by_role("tab", name="Topics").click()  # and it goes with the next step
    expect(page.locator(".notice")).to_be_hidden()


def test_a_value_that_no_item_has_leaves_nothing_and_can_be_taken_off(page, address):
    opened(page, address, "#items/flex?category=flattery")
    expect(status(page)).to_contain_text("0 of 260 pairs")
    assert "Nothing is left" in page.locator(".empty").inner_text()
    page.get_by_role("button", name="Attack: flattery").click()
    expect(status(page)).to_have_text("260 of 260 pairs")


def test_a_part_of_the_items_is_said_to_be_a_part(page, tmp_path):
    some = shelf([pair(number) for number in range(20)], total=500, note="Twenty of 500 are here.")
    address = write(tmp_path / "part.html", [some])
    opened(page, address, "#item/flex/Age_00400")
    assert "Twenty of 500 are here." in page.locator(".note").inner_text()
    assert "holds only some" in page.locator(".notice").inner_text()
    assert page.get_by_role("tab").count() == 0  # one audit needs none


def test_back_and_forward_lead_through_what_was_seen(page, address):
    opened(page, address)
    page.locator("a.to-items").click()
    expect(page.locator(".chip")).to_have_count(2)
    page.locator("a.row").nth(1).click()
    expect(page.locator(".detail h3")).to_be_visible()
    title = page.locator(".detail h3").inner_text()
    page.get_by_role("tab", name="Topics").click()
    expect(status(page)).to_have_text("12 of 12 topics")
    page.go_back()
    expect(page.locator(".detail h3")).to_have_text(title)
    page.go_back()
    expect(page.locator(".detail h3")).to_have_count(0)
    expect(page.locator(".chip")).to_have_count(2)
    page.go_back()
    expect(status(page)).to_have_text("260 of 260 pairs")
    page.go_forward()
    page.go_forward()
    expect(page.locator(".detail h3")).to_have_text(title)
    expect(page.locator(".chip")).to_have_count(2)


@pytest.mark.parametrize(
    ("selector", "category"),
    [("a.to-items", "persona_injection"), ("figure svg a", "text_attack")],
)
def test_a_figures_link_lands_on_its_items(page, address, selector, category):
    opened(page, address)
    assert not page.locator(".explorer .status").evaluate(IN_VIEW)
    page.locator(selector).click()
    expect(page.locator(".chip").first).to_contain_text(CATEGORIES[category])
    expect(status(page)).to_be_focused()
    assert page.locator(".explorer .status").evaluate(IN_VIEW)
    page.evaluate("scrollTo(0, 0)")
    page.locator(selector).click()  # the same again: the address does not change
    expect(status(page)).to_be_focused()
    assert page.locator(".explorer .status").evaluate(IN_VIEW)


IN_VIEW = """(it) => {
  const box = it.getBoundingClientRect();
  return box.top >= 0 && box.bottom <= innerHeight;
}"""


def test_links_to_other_parts_of_the_page_leave_the_explorer_as_it_is(page, address):
    opened(page, address, LINK)
    page.evaluate("location.hash = '#elsewhere'")
    page.wait_for_timeout(100)
    assert page.locator(".chip").count() == 2
    page.get_by_label("Findings only").uncheck()
    expect(page.locator(".chip")).to_have_count(1)


def test_all_of_it_by_keyboard(page, address):
    opened(page, address)

    def to(name: str) -> None:
        for _ in range(90):
            page.keyboard.press("Tab")
            if name in page.evaluate(
                "document.activeElement.innerText || document.activeElement"
                ".labels?.[0]?.innerText || ''"
            ):
                return
        raise AssertionError(f"Tab does not reach {name}")

    to("Pairs")
    page.keyboard.press("ArrowRight")
    expect(status(page)).to_have_text("12 of 12 topics")
    page.keyboard.press("ArrowLeft")
    expect(status(page)).to_have_text("260 of 260 pairs")
    to("Findings only")
    page.keyboard.press(" ")
    expect(status(page)).to_contain_text("104 of 260 pairs")
    findings = [item.id for item in pairs(COUNT).items if item.flagged]
    to(findings[0])
    page.keyboard.press("j")
    expect(page.locator(".detail h3")).to_have_text(findings[1])
    page.keyboard.press("ArrowDown")
    expect(page.locator(".detail h3")).to_have_text(findings[2])
    page.keyboard.press("k")
    expect(page.locator(".detail h3")).to_have_text(findings[1])
    assert findings[1] in page.evaluate("document.activeElement.innerText")
    page.keyboard.press("Enter")
    expect(page.locator(".detail h3")).to_be_focused()
    page.keyboard.press("j")
    expect(page.locator(".detail h3")).to_have_text(findings[2])
    page.keyboard.press("Shift+Tab")  # the tools stand before the heading
    for _ in range(6):
        if page.evaluate("document.activeElement.innerText") == "Show text":
            break
        page.keyboard.press("Shift+Tab")
    page.keyboard.press("Enter")
    expect(page.locator(".text").first).to_be_visible()
    assert page.evaluate("document.activeElement.innerText") == "Show text"


def test_no_items_at_all(page, tmp_path):
    address = write(tmp_path / "none.html", [shelf([])])
    opened(page, address)
    expect(status(page)).to_have_text("0 of 0 pairs")
    assert page.locator(".empty").inner_text() == "This run has no pairs."


def test_a_torn_file_says_so(page, tmp_path, watch):
    from tests.browser.pages import html

    whole = html([pairs(30)])
    start = whole.index("gzip+base64") + 400
    (tmp_path / "torn.html").write_text(whole[:start] + whole[start + 400 :], encoding="utf-8")
    page.goto((tmp_path / "torn.html").as_uri())
    expect(page.locator(".explorer .notice")).to_contain_text("cannot be read")
    assert watch.complaints == []


def test_an_old_browser_is_told_what_it_takes(page, address):
    page.add_init_script("delete window.DecompressionStream")
    page.goto(address)
    expect(page.locator(".explorer .notice")).to_contain_text("Safari 16.4")


def test_the_script_holds_nothing_that_could_make_markup_of_a_text():
    from askew.report.scripts import script

    for word in (
        "innerHTML",
        "outerHTML",
        "insertAdjacentHTML",
        "eval(",
        "new Function",
        "document.write",
        "srcdoc",
        "DOMParser",
        "createContextualFragment",
    ):
        assert word not in script(), word
