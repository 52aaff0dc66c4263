"""Demonstrations: who is shown, with which answer, and never the item itself."""

from __future__ import annotations

import csv
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from askew.errors import ConfigError, DataError
from askew.prompts import Demonstration, demonstrations, option_order
from askew.prompts.fewshot import text_key
from askew.records import Item

from .items import PAIR_LIKE, data_folder, make_item, released_items

POOL = [
    make_item(id=f"pool/{n}", question=f"Who is it, number {n}?", stereotyped=n % 2)
    for n in range(12)
]
SEEDS = st.integers(0, 2**32)
KINDS = st.sampled_from(["positive", "negative"])
# Few questions, so that pools hold the item's own text, and one text twice.
POOLS = st.lists(
    st.builds(
        make_item,
        id=st.text(max_size=5),
        question=st.sampled_from([f"Who {n}?" for n in range(8)]),
        stereotyped=st.sampled_from([0, 1, None]),
    ),
    min_size=8,
    max_size=30,
)


def possible(item: Item, pool: list[Item], kind: str) -> int:
    usable = [it for it in pool if kind == "positive" or it.stereotyped is not None]
    return len({text_key(it) for it in usable} - {text_key(item)})


@given(POOLS, SEEDS, KINDS, st.integers(0, 5))
def test_an_item_is_never_shown_to_itself_nor_a_text_twice(
    pool: list[Item], seed: int, kind: str, k: int
) -> None:
    item = make_item(question="Who 0?")
    if possible(item, pool, kind) < k:
        with pytest.raises(DataError, match=f"has {possible(item, pool, kind)} that can be shown"):
            demonstrations(item, pool, k, kind, seed)
        return
    keys = [text_key(it.item) for it in demonstrations(item, pool, k, kind, seed)]
    assert len({*keys, text_key(item)}) == k + 1


@given(st.text(max_size=5), SEEDS, KINDS)
def test_fewer_shots_open_more_shots(item_id: str, seed: int, kind: str) -> None:
    item = make_item(id=item_id)
    five = demonstrations(item, POOL, 5, kind, seed)
    for k in range(6):
        assert demonstrations(item, POOL, k, kind, seed) == five[:k]


@given(SEEDS)
def test_the_answer_shown_is_set_by_the_kind_and_not_by_the_data(seed: int) -> None:
    pool = [replace(it, answer=0) for it in POOL]
    for shown in demonstrations(make_item(), pool, 5, "positive", seed):
        assert shown.answer == shown.item.neutral
    for shown in demonstrations(make_item(), pool, 5, "negative", seed):
        assert shown.answer == shown.item.stereotyped


def test_items_differ_in_what_they_are_shown_and_one_item_does_not() -> None:
    shown = {n: demonstrations(make_item(id=str(n)), POOL, 5, "positive", 0) for n in range(20)}
    assert len({tuple(it.item.id for it in five) for five in shown.values()}) > 15
    assert demonstrations(make_item(id="3", question="Else?"), POOL, 5, "positive", 0) == shown[3]


def test_an_item_whose_stereotype_is_unknown_can_be_positive_only() -> None:
    pool = [*POOL[:2], replace(POOL[2], stereotyped=None)]
    assert len(demonstrations(make_item(), pool, 3, "positive", 0)) == 3
    with pytest.raises(DataError) as error:
        demonstrations(make_item(), pool, 3, "negative", 0)
    assert str(error.value) == (
        "item 'made/1': 3 negative demonstrations are asked for, and the pool of 3 items has 2 "
        "that can be shown (none with the item's own text, none twice, the stereotyped option "
        "known). Ask for fewer, or give a larger pool."
    )


@pytest.mark.parametrize("k", [-1, 6])
def test_more_than_five_or_fewer_than_none_are_refused(k: int) -> None:
    with pytest.raises(ConfigError, match="expected 0 to 5"):
        demonstrations(make_item(), POOL, k, "positive", 0)


@pytest.mark.parametrize("order", ["file", "shuffled"])
def test_a_demonstrations_options_have_an_order_of_their_own(order: str) -> None:
    for shown in demonstrations(make_item(), POOL, 5, "positive", 4, order=order):
        assert isinstance(shown, Demonstration)
        assert shown.order == option_order(shown.item, 4, order)


@pytest.mark.parametrize(
    "twin",
    [
        {
            "id": "other/9",
            "options": ("Unknown.", "Nephews forget.", "Aunts forget."),
            "neutral": 0,
        },
        {"options": ("AUNTS  FORGET", "Not known.", "Nephews forget."), "answer": 0},
        {"question": " which of these is\nmore accurate? "},
    ],
)
def test_the_same_question_in_another_row_is_the_same(twin: dict[str, object]) -> None:
    assert text_key(make_item(**{**PAIR_LIKE, **twin})) == text_key(make_item(**PAIR_LIKE))


@pytest.mark.parametrize(
    "other",
    [{"context": "Once."}, {"question": "Less?"}, {"options": ("Uncles forget.", "Unknown.", "X")}],
)
def test_another_question_is_not(other: dict[str, object]) -> None:
    assert text_key(make_item(**{**PAIR_LIKE, **other})) != text_key(make_item(**PAIR_LIKE))


@pytest.mark.parametrize(("source", "shared"), [("crows", 10), ("stereoset", 1)])
def test_the_releases_demonstrations_that_are_also_attacked_items_are_found(
    source: str, shared: int
) -> None:
    """10 of 13 CrowS-Pairs and 1 of 12 StereoSet demonstrations are attacked test items too."""
    path = data_folder() / "flex" / source / f"FLEX_{source}_fewshot.csv"
    with path.open(encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file))
    attacked = {text_key(item) for item in released_items(source) if item.assigned}
    found = 0
    for row in rows:
        options = (row["a"], row["b"], row["c"])
        groups = (row["sent_more"], row["sent_less"])
        neutral = next(place for place in range(3) if options[place] not in groups)
        own = {"context": row.get("context", ""), "options": options, "neutral": neutral}
        found += text_key(make_item(**{**PAIR_LIKE, **own})) in attacked
    assert found == shared
