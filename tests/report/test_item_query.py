"""A server's pages hold the same items as the report, and count them in the same way."""

from __future__ import annotations

import json
import math
import threading

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from askew.errors import ConfigError
from askew.report.items import ReportItem
from askew.report.items.flex_shelf import flex_shelf
from askew.report.items.island import island_json
from askew.report.items.query import ItemSource
from askew.report.items.shelves import shelves_of
from askew.report.words import clean
from askew.runfolder import RunFolder

from .runs import make_run, starter_items

FACETS = ("category", "scenario", "bias_type", "outcome_source", "outcome_attacked", "answered")


@pytest.fixture(scope="module")
def folder(tmp_path_factory) -> RunFolder:
    return make_run(tmp_path_factory.mktemp("runs") / "q", starter_items()[:60], no_answers=0.2)


@pytest.fixture(scope="module")
def source(folder) -> ItemSource:
    return ItemSource(folder)


@pytest.fixture(scope="module")
def items(folder) -> tuple[ReportItem, ...]:
    return flex_shelf(folder).items


def idents(page) -> list[str]:
    return [item[0] for item in page["items"]]


@given(st.data())
@settings(max_examples=40, deadline=None)
def test_filters_leave_the_items_that_have_the_values_and_counts_say_how_many(source, items, data):
    names = data.draw(st.lists(st.sampled_from(FACETS), unique=True, max_size=3))
    filters = {name: data.draw(st.sampled_from(items)).facets[name] for name in names}
    flagged = data.draw(st.sampled_from(["", "yes", "no"]))
    asked = {**filters, **({"flagged": flagged} if flagged else {})}

    def kept(but: str = "") -> list[ReportItem]:
        wanted = {name: value for name, value in filters.items() if name != but}
        return [
            item
            for item in items
            if wanted.items() <= item.facets.items()
            and (not flagged or item.flagged == (flagged == "yes"))
        ]

    page = source.page("flex", asked, limit=500)
    assert idents(page) == [item.id for item in kept()]
    assert page["matched"] == len(kept())
    for facet in source.shelves()["shelves"][0]["facets"]:
        found = [item.facets.get(facet["name"]) for item in kept(facet["name"])]
        assert page["counts"][facet["name"]] == [found.count(one) for one in facet["values"]]


@given(
    st.integers(0, 200), st.integers(0, 60), st.sampled_from(["worst", "id", "margin", "-margin"])
)
@settings(max_examples=25, deadline=None)
def test_pages_are_parts_of_one_order(source, offset, limit, sort):
    whole = idents(source.page("flex", sort=sort, limit=500))
    assert (
        idents(source.page("flex", sort=sort, offset=offset, limit=limit))
        == (whole[offset : offset + limit])
    )


def test_orders_go_by_what_they_are_named_after_and_the_undefined_come_last(source, items):
    margins = {item.id: item.numbers.get("margin", math.nan) for item in items}
    for sort, sign in (("margin", 1), ("-margin", -1)):
        found = [margins[one] for one in idents(source.page("flex", sort=sort, limit=500))]
        known = [value for value in found if value == value]
        assert known == sorted(known, key=lambda value: sign * value)
        assert len(known) < len(found)
        assert all(value != value for value in found[len(known) :])
    by_id = idents(source.page("flex", sort="id", limit=500))
    assert by_id == sorted(by_id)


def test_an_item_of_a_page_is_the_item_of_the_report(folder, source):
    whole = json.loads(island_json(shelves_of(folder), "m", "r"))
    (shelf,) = whole["shelves"]
    for raw in shelf["items"][::23]:
        page = source.one("flex", raw[0])
        assert _resolved(page["items"][0], page["texts"]) == _resolved(raw, whole["texts"])
    (empty,) = source.shelves()["shelves"]
    for facet in empty["facets"]:
        facet.pop("counts")
    assert {**empty, "items": shelf["items"]} == shelf


def _resolved(raw, texts):
    ident, title, flagged, facets, numbers, why, sides = raw
    return [
        ident,
        texts[title],
        flagged,
        facets,
        numbers,
        texts[why],
        [
            [
                texts[name],
                texts[outcome],
                shade,
                [[texts[who], texts[text], marks] for who, text, marks in turns],
                [[texts[choice], value] for choice, value in choices],
                [[name, texts[text]] for name, text in facts],
            ]
            for name, outcome, shade, turns, choices, facts in sides
        ],
    ]


def test_words_are_looked_for_in_all_texts_and_ids(source, items):
    word = items[0].title.split()[2]
    found = source.page("flex", words=word.upper(), limit=500)
    assert items[0].id in idents(found)
    assert 0 < found["matched"] < len(items)
    both = source.page("flex", {"flagged": "yes"}, words=word, limit=500)
    assert set(idents(both)) == {one.id for one in items if one.flagged} & set(idents(found))
    assert source.page("flex", words=f"{word} nowhere-at-all")["matched"] == 0


def test_what_is_not_there_is_said_to_be_so(source):
    assert source.page("flex", {"category": "no such \ud800"})["matched"] == 0
    assert source.one("flex", "no/such/pair") is None
    for asked in (
        {"filters": {"colour": "red"}},
        {"filters": {"flagged": "perhaps"}},
        {"sort": "size"},
        {"offset": -1},
        {"limit": 501},
    ):
        with pytest.raises(ConfigError):
            source.page("flex", **asked)
    with pytest.raises(ConfigError, match="clinical"):
        source.page("clinical")


def test_several_may_ask_at_once(folder):
    source, found = ItemSource(folder), []

    def ask() -> None:
        found.append(source.page("flex", words="neutral", sort="-margin", limit=5))

    threads = [threading.Thread(target=ask) for _ in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert found == found[:1] * 6


def test_names_are_shown_clean(tmp_path):
    folder = make_run(tmp_path / "a\u202eb", starter_items()[:2])
    assert ItemSource(folder).shelves("m\x1b")["run"] == clean("a\u202eb")
    assert ItemSource(folder).shelves("m\x1b")["model"] == clean("m\x1b")
