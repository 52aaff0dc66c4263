"""The printed tables of FLEX, held to the identities that its figures must obey."""

from __future__ import annotations

import csv
from collections import defaultdict
from pathlib import Path
from statistics import mean, median

import pytest

from askew.stats.paired import ASSUMED_DISCORDANT_SHARE

GOLDEN = Path(__file__).parent.parent / "golden"
CATEGORIES = ("persona_injection", "competing_objectives", "text_attack")
FIGURES = ("source_accuracy", "flex_accuracy", "attack_success_rate")
ROUNDING = 1e-4  # each printed figure is rounded or cut at its fourth digit
# GPT-4 was read from generated answers; replies without an answer seem to have been left out of
# its pooled rows, so these do not follow from its rows by source.
GENERATED = "GPT-4"


def cells(name: str) -> list[dict[str, str]]:
    with (GOLDEN / name).open(newline="", encoding="utf-8") as file:
        return list(csv.DictReader(file))


def figures(cell: dict[str, str]) -> tuple[float, float, float]:
    source, flex, success = (float(cell[figure]) for figure in FIGURES)
    return source, flex, success


TABLE_1, TABLE_6 = cells("flex_table1.csv"), cells("flex_table6.csv")
ROWS = {(r["source"], r["category"]): int(r["rows"]) for r in cells("flex_attacked_rows.csv")}


def test_the_tables_hold_112_cells():
    assert len(TABLE_1) == 28
    assert len(TABLE_6) == 84


@pytest.mark.parametrize("cell", TABLE_1 + TABLE_6, ids=lambda c: "-".join(list(c.values())[:-3]))
def test_attacked_accuracy_lies_where_the_attack_success_rate_puts_it(cell):
    source, flex, success = figures(cell)
    kept = source * (1 - success)
    assert kept - ROUNDING <= flex <= kept + (1 - source) + ROUNDING


@pytest.mark.parametrize("table", [TABLE_1, TABLE_6], ids=["table1", "table6"])
def test_average_columns_are_plain_means_of_the_three_categories(table):
    rows = defaultdict(dict)
    for cell in table:
        rows[cell.get("source", ""), cell["model"]][cell["category"]] = figures(cell)
    for row in rows.values():
        for place in range(3):
            plain = mean(row[category][place] for category in CATEGORIES)
            assert row["average"][place] == pytest.approx(plain, abs=1.01 * ROUNDING)


def pooled(model: str, category: str) -> tuple[float, float, float]:
    """Table 6's rows of one model pooled over the sources by the release's numbers of rows."""
    source_right = flex_right = turned = total = 0.0
    for cell in TABLE_6:
        if (cell["model"], cell["category"]) == (model, category):
            source, flex, success = figures(cell)
            rows = ROWS[cell["source"], category]
            total += rows
            source_right += rows * source
            flex_right += rows * flex
            turned += rows * source * success
    return source_right / total, flex_right / total, turned / source_right


def is_pooled(cell: dict[str, str]) -> bool:
    printed, computed = figures(cell), pooled(cell["model"], cell["category"])
    return all(abs(a - b) <= 5e-4 for a, b in zip(printed, computed, strict=True))


@pytest.mark.parametrize("model", sorted({cell["model"] for cell in TABLE_1}))
def test_table_1_pools_the_items_of_the_three_sources(model):
    found = [is_pooled(c) for c in TABLE_1 if c["model"] == model and c["category"] in CATEGORIES]
    assert found == [model != GENERATED] * 3


def test_section_4_3_prints_a_difference_where_it_speaks_of_an_attack_success_rate():
    llama = {c["category"]: figures(c)[2] for c in TABLE_1 if c["model"] == "Llama3-8b"}
    difference = llama["competing_objectives"] - llama["persona_injection"]
    assert difference == pytest.approx(0.5123, abs=ROUNDING)


def test_the_assumed_discordant_share_is_the_median_of_table_6():
    shares = []
    for cell in TABLE_6:
        if cell["category"] in CATEGORIES:
            source, flex, success = figures(cell)
            shares.append(source * success + flex - source * (1 - success))
    assert median(shares) == pytest.approx(ASSUMED_DISCORDANT_SHARE, abs=0.005)


def test_the_released_rows_add_up_to_3144():
    assert sum(ROWS.values()) == 3144
