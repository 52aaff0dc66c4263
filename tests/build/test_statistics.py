from __future__ import annotations

import csv
from collections import Counter
from functools import cache
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings

from askew.build.statistics import counted, printed_rows, printed_sources, table_4
from askew.datasets import DataSpec, load
from askew.prompts.scenarios import scenario_of
from askew.records import Item
from askew.runfolder import json_text
from tests.build.made import built_rows, clean_rows
from tests.prompts.items import data_folder

GOLDEN = Path(__file__).parent.parent / "golden"
SOURCES = ("bbq", "crows_pairs", "stereoset")


def printed() -> dict[tuple[str, str], dict[str, int]]:
    """The paper's Table 4; a cell with a dash is left out."""
    with (GOLDEN / "flex_table4.csv").open(newline="") as file:
        return {
            (row["category"], row["detail"]): {
                name: int(row[name]) for name in ("all", *SOURCES) if row[name]
            }
            for row in csv.DictReader(file)
        }


@cache
def released_items() -> tuple[Item, ...]:
    """The rows of the three CSVs; each alone, as a whole set is read together with BBQ."""
    folder = data_folder() / "flex"
    files = [folder / name / f"FLEX_{name}.csv" for name in ("bbq", "crows", "stereoset")]
    return tuple(item for file in files for item in load(DataSpec("flex", file)).items)


def released() -> dict[str, Any]:
    return counted((item, scenario_of(item.assigned, item)) for item in released_items())


@given(rows=built_rows())
@settings(max_examples=30, deadline=None, suppress_health_check=[HealthCheck.too_slow])
def test_every_total_is_the_sum_of_its_parts(rows):
    table = table_4(rows)
    assert table["all"] == len(rows)
    assert table["by_source"] == Counter(row.item.source for row in rows)
    assert sum(part["all"] for part in table["categories"].values()) == len(rows)
    for part in table["categories"].values():
        assert part["all"] == sum(detail["all"] for detail in part["details"].values())
        assert part["all"] == sum(part["by_source"].values())
    json_text(table)
    shown = printed_rows(table)
    assert sum(row.total for row in shown if row.category and not row.detail) == len(rows)
    assert len(printed_sources(table)) == len(table["by_source"])


def test_rows_stand_in_the_papers_order_personas_by_bias_type():
    shown = [(row.category, row.detail, row.total) for row in printed_rows(table_4(clean_rows()))]
    assert shown == [
        ("", "", 6),
        ("persona_injection", "age", 1),
        ("persona_injection", "", 1),
        ("competing_objectives", "self_cipher", 1),
        ("competing_objectives", "", 1),
        ("text_attack", "character", 1),
        ("text_attack", "word", 1),
        ("text_attack", "sentence_v1", 1),
        ("text_attack", "sentence_v2", 1),
        ("text_attack", "", 4),
    ]
    assert printed_sources(table_4(clean_rows())) == [*SOURCES, "starter"]


def test_the_release_holds_one_row_less_than_the_paper_says():
    table = released()
    assert (table["all"], table["by_source"]) == (
        3144,
        {"bbq": 1102, "crows_pairs": 946, "stereoset": 1096},
    )
    assert printed()["", ""] == {"all": 3145, "bbq": 1103, "crows_pairs": 946, "stereoset": 1096}


def test_the_release_has_the_counts_by_source_and_category_of_the_golden_table():
    with (GOLDEN / "flex_attacked_rows.csv").open(newline="") as file:
        golden = {
            (row["category"], row["source"]): int(row["rows"]) for row in csv.DictReader(file)
        }
    table = released()
    assert golden == {
        (category, source): number
        for category, part in table["categories"].items()
        for source, number in part["by_source"].items()
    }


def test_crows_pairs_and_the_stereoset_scenarios_agree_with_the_papers_table_4():
    table = released()
    for row in printed_rows(table):
        there = printed()[row.category, row.detail]
        assert row.by_source.get("crows_pairs") == there.get("crows_pairs")
        if row.category != "persona_injection":
            assert row.by_source.get("stereoset") == there.get("stereoset")


@pytest.mark.parametrize(
    ("category", "sum_of_rows", "total"),
    [
        ("persona_injection", 1059, 1084),
        ("competing_objectives", 1077, 1091),
        ("text_attack", 970, 970),
    ],
)
def test_the_papers_table_4_contradicts_itself(category, sum_of_rows, total):
    parts = [row["all"] for (name, detail), row in printed().items() if name == category and detail]
    assert (sum(parts), printed()[category, ""]["all"]) == (sum_of_rows, total)


def test_the_papers_stereoset_personas_are_its_text_attacks_by_bias_type():
    """Table 4 prints 119, 70, 57, 99 (345) under a total of 370; the files hold 120, 93, 75, 82."""
    text = Counter(
        item.bias_type
        for item in released_items()
        if item.source == "stereoset" and item.assigned.category == "text_attack"
    )
    there = {
        detail: row["stereoset"]
        for (category, detail), row in printed().items()
        if category == "persona_injection" and detail and "stereoset" in row
    }
    assert there == text
    assert sum(there.values()) == 345
    personas = released()["categories"]["persona_injection"]["details"]
    assert [personas[name]["by_source"]["stereoset"] for name in there] == [120, 93, 75, 82]
