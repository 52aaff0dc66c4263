"""What is packed into a page comes out of it again, shown as everywhere, whatever was written."""

from __future__ import annotations

import base64
import gzip
import json
import re
from collections.abc import Iterator
from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from askew.errors import RunError
from askew.report.items import SHADES, Facet, Number, ReportItem, Shelf, Side, Turn, item_link
from askew.report.items.island import island, island_json, marks_record, opened
from askew.report.items.shelves import shelves_of
from askew.report.words import clean

HOSTILE = [
    "",
    "plain",
    "</script><script>alert(1)</script>",
    "<!--",
    "]]>",
    "\x00\x1b[31m",
    "\ud800 half",
    "half \udfff",
    "\u202eturned",
    "a\r\nb\rc\n",
    "\U0001f600 emoji \U0001f44d",
    "\ufffe\ufdd0",
    "&lt;b&gt; ${x} `y` \u2028\u2029",
]
texts = st.one_of(st.sampled_from(HOSTILE), st.text(max_size=40))
shown_texts = texts.map(clean)
finite = st.floats(allow_nan=False, allow_infinity=False)


def marked(draw, text: str) -> tuple[tuple[int, int], ...]:
    ends = sorted(draw(st.sets(st.integers(0, len(text)), max_size=6)))
    pairs = tuple(zip(ends[::2], ends[1::2], strict=False))
    return pairs


@st.composite
def turns(draw) -> Turn:
    text = draw(shown_texts)
    return Turn(draw(shown_texts), text, marked(draw, text))


sides = st.builds(
    Side,
    shown_texts,
    shown_texts,
    st.sampled_from(SHADES),
    st.lists(turns(), max_size=3).map(tuple),
    st.lists(st.tuples(shown_texts, finite), max_size=3).map(tuple),
    st.lists(st.tuples(shown_texts, shown_texts), max_size=3).map(tuple),
)


@st.composite
def shelves(draw) -> Shelf:
    values = draw(st.lists(st.text(max_size=8), unique=True, max_size=4))
    labels = {value: said for value in values if (said := draw(shown_texts)) != clean(value)}
    labels |= {value: clean(value) for value in values if value not in labels}
    labels = {value: said for value, said in labels.items() if said != value}
    items = [
        ReportItem(
            draw(st.text(max_size=12)),
            draw(shown_texts),
            draw(st.booleans()),
            {"kind": draw(st.sampled_from(values))} if values and draw(st.booleans()) else {},
            {"size": draw(finite)} if draw(st.booleans()) else {},
            draw(st.lists(sides, max_size=2).map(tuple)),
            draw(shown_texts),
        )
        for _ in range(draw(st.integers(0, 3)))
    ]
    return Shelf(
        "flex",
        "pairs",
        "turned",
        (Facet("kind", "Kind", labels, tuple(values)),),
        (Number("size", "Size", 3),),
        tuple(items),
        draw(st.integers(0, 10**6)),
        draw(st.integers(0, 10**6)),
        draw(shown_texts),
    )


@given(st.lists(shelves(), max_size=2).map(tuple), shown_texts, shown_texts)
@settings(max_examples=60, deadline=None)
def test_what_is_packed_comes_out_again(made, model, run):
    page = f"<p>before</p>{island(made, model, run)}<p>behind</p>"
    assert opened(page) == (made, model, run)


@given(st.lists(texts, min_size=1, max_size=6))
@settings(max_examples=60, deadline=None)
def test_every_text_is_shown_as_everywhere_and_no_markup_leaves_the_island(written):
    side = Side(written[0], written[0], "plain", tuple(Turn("user", one) for one in written))
    item = ReportItem("id", written[0], True, {}, {}, (side,), written[0])
    shelf = Shelf("flex", "pairs", "turned", (), (), (item,), 1, 1, written[0])
    page = island([shelf], written[0], written[0])
    assert page.count("<") == 2
    ((found,), model, _) = opened(page)
    assert model == clean(written[0])
    assert [turn.text for turn in found.items[0].sides[0].turns] == [clean(one) for one in written]


@given(st.data())
@settings(max_examples=100, deadline=None)
def test_marks_are_counted_as_a_browser_counts(data):
    text = data.draw(texts)
    marks = marked(data.draw, text)
    for (start, end), (first, last) in zip(
        marks, marks_record(Turn("user", text, marks)), strict=True
    ):
        units = clean(text).encode("utf-16-le")
        held = units[2 * first : 2 * last].decode("utf-16-le")
        # A mark that parts an end of a line of two signs ends before both.
        parted = [text[place - 1 : place + 1] == "\r\n" for place in (start, end)]
        assert held == clean(text[start - parted[0] : end - parted[1]])


def test_the_bytes_are_the_same_each_time(run):
    first, second = (island(shelves_of(run), "m", "r") for _ in range(2))
    assert first == second


def test_a_text_is_there_once_however_often_it_is_said(run):
    shelves = shelves_of(run)
    record = json.loads(island_json(shelves, "m", "r"))
    assert len(record["texts"]) == len(set(record["texts"]))
    assert opened(island(shelves, "m", "r")).shelves == shelves
    numbers = set(range(len(record["texts"])))
    assert set(_places(record)) == numbers


def _places(record) -> Iterator[int]:
    for shelf in record["shelves"]:
        for _, title, _, _, _, why, sides in shelf["items"]:
            yield title
            if why >= 0:
                yield why
            for name, outcome, _, turns, choices, facts in sides:
                yield from (place for place in (name, outcome) if place >= 0)
                yield from (place for who, text, _ in turns for place in (who, text))
                yield from (place for place, _ in choices)
                yield from (place for _, place in facts)


def test_a_link_to_a_name_that_no_address_can_hold_is_a_link_all_the_same():
    assert item_link("flex", "a\ud800/b") == "#item/flex/a%5Cud800%2Fb"


def test_a_page_without_items_or_of_another_version_is_refused(run):
    with pytest.raises(RunError, match="holds no items"):
        opened("<html></html>")
    page = island(shelves_of(run), "m", "r")
    packed = re.search(r">([^<]+)<", page)[1]
    other = gzip.decompress(base64.b64decode(packed)).replace(b'"version":1', b'"version":9')
    later = page.replace(packed, base64.b64encode(gzip.compress(other)).decode())
    with pytest.raises(RunError, match="version 9"):
        opened(later)


def test_values_that_only_items_tell_are_offered_as_well():
    item = ReportItem("id", "t", False, {"kind": "z"}, {}, ())
    shelf = Shelf("flex", "p", "f", (Facet("kind", "Kind", {}, ("a",)),), (), (item,), 1, 0)
    found = opened(island([shelf], "", "")).shelves[0]
    assert found.facets[0].values == ("a", "z")
    assert replace(found, facets=shelf.facets) == shelf
