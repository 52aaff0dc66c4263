"""Every figure leads to its items: what a link asks for is there, and as many as it says."""

from __future__ import annotations

import math
import re
from collections.abc import Iterator
from urllib.parse import parse_qsl, unquote, urlsplit

import pytest

from askew.report.items import ReportItem, Shelf
from askew.report.items.island import opened
from askew.report.page import write_report

from .test_page import Page, check

AUDITS = ["flex", "clinical", "boundary"]


@pytest.fixture(scope="module")
def html(three) -> str:
    return write_report(three).read_text(encoding="utf-8")


@pytest.fixture(scope="module")
def page(html) -> Page:
    return Page(html)


@pytest.fixture(scope="module")
def shelves(html) -> dict[str, Shelf]:
    return {shelf.audit: shelf for shelf in opened(html).shelves}


def links(page: Page) -> list[str]:
    found = [str(one.get("href")) for one in page.all("a")]
    return [link for link in dict.fromkeys(found) if link.startswith(("#items/", "#item/"))]


def matching(link: str, shelves: dict[str, Shelf]) -> Iterator[ReportItem]:
    """The items that a link asks for, as the explorer reads it."""
    parts = urlsplit(link[1:])
    shelf = shelves[parts.path.partition("/")[2].partition("/")[0]]
    if link.startswith("#item/"):
        yield from (item for item in shelf.items if item.id == unquote(link.split("/", 2)[2]))
        return
    wanted = dict(parse_qsl(parts.query, strict_parsing=bool(parts.query)))
    names = {facet.name for facet in shelf.facets} | {"flagged"}
    assert set(wanted) <= names, link
    flagged = wanted.pop("flagged", None)
    for item in shelf.items:
        if flagged in (None, "yes" if item.flagged else "no") and all(
            item.facets.get(name) == value for name, value in wanted.items()
        ):
            yield item


def test_one_page_holds_every_audit_of_the_run_in_order(page):
    check(page)
    sections = [one["id"] for one in page.all("section")]
    assert sections == ["overview", *AUDITS, "items", "methods", "configuration"]


def test_every_link_within_the_page_leads_somewhere(page, shelves):
    ids = {str(attributes["id"]) for _, attributes in page.elements if "id" in attributes}
    for link in [str(one["href"]) for one in page.all("a") if "href" in one]:
        if not link.startswith(("#items/", "#item/")):
            assert link[1:] in ids, link


def test_every_link_to_items_finds_some(page, shelves):
    found = links(page)
    assert {link.split("/")[1].partition("?")[0] for link in found} == set(AUDITS)
    empty = [link for link in found if not any(matching(link, shelves))]
    # A slice of which nothing was turned has no flagged pair, and the figure says 0 %; an outcome
    # that no reply had stands in the table of outcomes with 0.
    assert all("flagged=yes" in link or "outcome_attacked" in link for link in empty), empty


def test_slopes_dots_and_bars_lead_to_items(page):
    in_pictures = [one for one in page.all("a") if "aria-label" in one and "x1" not in one]
    assert len(in_pictures) > 30
    assert all(str(one["aria-label"]).endswith("show the items") for one in in_pictures)


def test_a_link_that_says_a_number_leads_to_as_many(page, shelves):
    told = 0
    for place, (tag, attributes) in enumerate(page.elements):
        if tag != "a" or not str(attributes.get("href")).startswith("#items/"):
            continue
        said = page.text_of(place)
        number = re.match(r"(?:Show the )?([\d,]+) (pairs?|topics?)$", said)
        if number:
            told += 1
            count = len(list(matching(str(attributes["href"]), shelves)))
            assert count == int(number[1].replace(",", "")), said
    assert told >= 3


def test_rows_of_the_tables_lead_to_as_many_pairs_as_they_rest_on(html, shelves):
    rows = re.findall(
        r'<tr><th scope="row"><a class="to-items" href="([^"]+)">[^<]*</a></th>'
        r'(?:<td class="number"[^>]*>.*?</td>){3}<td class="number"[^>]*>.*?</td>'
        r'<td class="number" data-value="(\d+)">',
        html,
    )
    assert len(rows) > 10
    for link, n in rows:
        items = list(matching(link.replace("&amp;", "&"), shelves))
        assert sum(item.facets.get("answered") == "yes" for item in items) == int(n), link


def test_numeric_cells_have_all_digits_for_the_csv(page):
    cells = [one for one in page.all("td") if "data-lower" in one]
    assert len(cells) > 50
    for one in cells:
        assert float(str(one["data-lower"])) <= float(str(one["data-upper"]))
        assert math.isfinite(float(str(one["data-value"])))
        assert int(str(one["data-n"])) >= 0
