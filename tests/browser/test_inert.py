"""Whatever a model or a data file wrote stays text: as it comes out of an island, and even raw."""

from __future__ import annotations

import base64
import gzip
import json
from urllib.parse import quote

import pytest
from playwright.sync_api import expect

from askew.report.items import Facet, Number, ReportItem, Shelf, Side, Turn
from askew.report.items.island import island_json
from askew.report.words import clean
from tests.browser.pages import html, opened, write
from tests.hostile.texts import PAGE as HOSTILE

OURS = {
    *("A", "BDI", "BUTTON", "DD", "DIV", "DL", "DT", "FORM", "H3", "H4", "INPUT", "KBD", "LABEL"),
    *("LI", "MARK", "OL", "OPTION", "P", "SECTION", "SELECT", "SPAN", "STRONG", "UL"),
}
FOUND = """() => {
  const all = [...document.querySelectorAll("#explorer *")];
  const attributes = all.flatMap((one) => [...one.attributes].map((each) => [one.tagName, each]));
  return {
    tags: [...new Set(all.map((one) => one.tagName))],
    attributes: [...new Set(attributes.map(([, each]) => each.name))],
    links: attributes.filter(([, each]) => each.name === "href").map(([, each]) => each.value),
    styles: attributes.filter(([, each]) => each.name === "style").map(([, each]) => each.value),
    theirs: document.querySelectorAll("#theirs, img, script:not(body > script), svg").length,
    hacked: window.hacked,
    polluted: {}.polluted,
    wide: document.documentElement.scrollWidth > innerWidth,
  };
}"""
ATTRIBUTES = {
    *("aria-controls", "aria-current", "aria-disabled", "aria-hidden", "aria-label"),
    *("aria-pressed", "aria-selected", "aria-labelledby", "autocomplete", "class", "data-key"),
    *("dir", "enterkeyhint", "for", "hidden", "href", "id", "role", "spellcheck", "start", "style"),
    *("tabindex", "type", "value"),
}


def everywhere(*texts: str) -> Shelf:
    """A shelf on which every text stands in every place that data or a model can reach."""
    return Shelf(
        "flex",
        "pairs",
        "turned",
        (Facet("one", "One", {text: text for text in texts}),),
        (Number("score", "Score"),),
        tuple(map(item_of, texts)),
        len(texts),
        len(texts),
        "; ".join(texts),
    )


def item_of(text: str) -> ReportItem:
    side = Side(
        text, text, "plain", (Turn(text, text, ((0, 1),)),), ((text, -1.0),), ((text, text),)
    )
    return ReportItem(text, text, True, {"one": text}, {"score": 1.0}, (side, side), text)


def raw_source(texts: list[str]) -> str:
    """An island whose texts nobody has cleaned."""
    holders = [f"@{place}@" for place in range(len(texts))]
    whole = island_json([everywhere(*holders)], "toy/one", "run-1")
    for holder, text in zip(holders, texts, strict=True):
        whole = whole.replace(holder.encode(), json.dumps(text).encode("ascii")[1:-1])
    packed = base64.b64encode(gzip.compress(whole)).decode("ascii")
    return f'<script type="application/octet-stream" id="askew-items">{packed}</script>'


def check(page) -> None:
    found = page.evaluate(FOUND)
    assert set(found["tags"]) <= OURS
    assert set(found["attributes"]) <= ATTRIBUTES
    assert all(link.startswith(("#items/", "#item/")) for link in found["links"])
    assert set(found["styles"]) <= {"width: 100%;"}
    assert found["theirs"] == 0
    assert found["hacked"] is None
    assert found["polluted"] is None
    assert not found["wide"]


@pytest.mark.parametrize("raw", [False, True], ids=["cleaned", "raw"])
def test_hostile_texts_in_every_place_are_texts(page, tmp_path, raw):
    texts = list(HOSTILE.values())
    shelves = [everywhere(*texts)]
    page.set_viewport_size({"width": 390, "height": 800})
    address = write(tmp_path / "x.html", shelves, source=raw_source(texts) if raw else None)
    opened(page, address)
    check(page)
    page.get_by_label("Show all texts").check()
    for place, text in enumerate(texts):
        page.locator("a.row").nth(place).click()
        expect(page.locator(".position")).to_have_text(f"{place + 1} of {len(texts)}")
        shown = page.locator(".detail .text").first.text_content()
        assert not set("\x00\x1b\x7f\u202e\u2066\ufffe\r") & set(shown)
        if text and text.isprintable() and text == clean(text):
            assert shown == text
        check(page)
    for name, text in HOSTILE.items():
        page.get_by_label("Search all texts").fill(text[:300] if text.isprintable() else name)
        page.get_by_label("Search all texts").press("Enter")
        check(page)
    opened(page, address)
    for place in range(len(texts)):
        page.get_by_label("One").select_option(index=place + 1)
        expect(page.locator(".chip")).to_have_count(1)
        page.get_by_role("button", name="Remove the filter").click()
        expect(page.locator(".chip")).to_have_count(0)
    check(page)


def test_hostile_links_change_nothing(page, tmp_path):
    address = write(tmp_path / "x.html", [everywhere("calm", "calmer")])
    opened(page, address)
    for raw in HOSTILE.values():
        text = quote(raw.encode("utf-8", "replace").decode("utf-8")[:300], safe="")
        for place in (
            f"#items/flex?q={text}&one={text}&sort={text}&{text}=1",
            f"#item/flex/{text}",
            f"#items/{text}",
        ):
            page.evaluate("(place) => { location.hash = place; }", place)
            page.wait_for_timeout(20)
            check(page)


def test_the_policy_stops_what_is_not_the_pages_own_script(page, tmp_path, watch):
    """The second wall: markup that did get in could still run nothing."""
    whole = html(
        [everywhere("calm", "calmer")], before='<img src="x.png" onerror="window.hacked = 1">'
    )
    (tmp_path / "x.html").write_text(
        whole.replace("</main>", "<script>window.hacked = 1</script></main>"), encoding="utf-8"
    )
    opened(page, (tmp_path / "x.html").as_uri())
    assert page.evaluate("window.hacked") is None
    assert (
        page.evaluate("fetch('https://example.invalid/').then(() => 'sent', () => 'stopped')")
        == "stopped"
    )
    assert any("Content Security Policy" in said for said in watch.complaints)
    watch.complaints.clear()
    watch.requests.clear()
