"""The tables: what they print, and what they never print."""

from __future__ import annotations

import csv
import io
import json
import math
import re
from collections import Counter

import pytest
from hypothesis import given
from hypothesis import strategies as st
from rich.console import Console

from askew.records import Estimate
from askew.report import table as tables
from askew.report.grid import Column, Kind, Row, Table, row_texts
from askew.report.words import ROUNDING, percent, points

from .conftest import estimate, tiny

HOSTILE = "[red]x|y\n<b>*z*</b>\x1b[31m"


def on_terminal(table: Table, width: int = 160) -> str:
    console = Console(file=io.StringIO(), width=width, highlight=False)
    console.print(tables.to_rich(table))
    assert isinstance(console.file, io.StringIO)
    return console.file.getvalue()


def test_table_1_is_laid_out_like_the_papers():
    head = " | ".join(
        f"{group} {figure}"
        for group in ("Persona injection", "Competing objectives", "Text attack", "Average")
        for figure in ("Acc_S", "Acc_F", "ASR")
    )
    assert tables.to_markdown(tables.table_1([tiny()])) == (
        "**Robustness of fairness by attack category (FLEX, Table 1)**\n"
        "\n"
        f"| Model | {head} |\n"
        "|---|--:|--:|--:|--:|--:|--:|--:|--:|--:|--:|--:|--:|\n"
        "| toy/one | 0.8000 | 0.4000 | 0.5000 | 0.8000 | 0.4000 | 0.5000 | 0.8000 | 0.4000 "
        "| 0.5000 | 0.8000 | 0.4000 | 0.5000 |\n"
    )


def test_table_6_says_why_a_figure_is_undefined_and_which_model_is_not_to_be_read():
    figures = tiny(turned=None)
    figures["flex"]["fit"] = {"meaningful": False, "reason": "3 of 20 controls right"}
    text = tables.to_markdown(tables.table_6([figures], intervals=True))
    assert text.splitlines()[4:] == [
        "| toy/one † | BBQ " + "| 0.8000 (0.1000–0.9000) | 0.4000 (0.1000–0.9000) | – " * 4 + "|",
        "",
        "- – one of its parts is undefined: toy/one, BBQ, Persona injection ASR; toy/one, BBQ, "
        "Competing objectives ASR; toy/one, BBQ, Text attack ASR; toy/one, BBQ, Average ASR.",
        "- † toy/one was not fit to be measured, so its figures are not meaningful: "
        "3 of 20 controls right.",
    ]


def test_figure_3_averages_over_the_runs_that_have_the_scenario():
    first, second, third = tiny("a", 0.2), tiny("b", 0.4), tiny("c", None)
    scenarios = second["flex"]["attack_success_rate"]["scenario"]
    scenarios["text_attack"] = {"word": estimate(0.9)}
    rows = {row.cells[0]: row.cells for row in tables.figure_3([first, second, third]).rows}
    assert list(rows) == ["DAN", "Word"]
    assert rows["DAN"][-2:] == (pytest.approx(0.3), 2)
    assert rows["Word"][-2:] == (pytest.approx(0.9), 1)


def test_figure_3_has_no_mean_where_no_run_has_the_figure():
    (row,) = tables.figure_3([tiny(turned=None)]).rows
    mean, count = row.cells[-2:]
    assert isinstance(mean, float)
    assert math.isnan(mean)
    assert count == 0


def test_figure_4_starts_both_kinds_of_demonstrations_from_the_run_without():
    runs = [
        tiny("a", 0.2),
        tiny("a", 0.3, shots=3, shot_kind="positive"),
        tiny("a", 0.6, shots=3, shot_kind="negative"),
        tiny("a", 0.8, shots=3, shot_kind="negative"),
        tiny("b", 0.5),
    ]
    table = tables.figure_4(runs)
    shown = [row_texts(row, table.columns) for row in table.rows]
    assert [column.name for column in table.columns] == [
        "Model",
        "Demonstrations",
        "k = 0",
        "k = 3",
    ]
    assert shown == [
        ["a", "positive", "0.2000", "0.3000"],
        ["a", "negative", "0.2000", "0.7000"],
        ["b", "none", "0.5000", "–"],
    ]
    assert "a, negative, k = 3: mean over 2 runs (seed 1)." in table.notes


def test_figure_4_never_averages_runs_that_were_asked_otherwise():
    runs = [tiny("a", 0.2, prompt="flex"), tiny("a", 0.4, prompt="chat"), tiny("a", 0.6)]
    runs[2]["flex"]["settings"]["prompt"] = "chat"
    runs[2]["seed"] = 2
    table = tables.figure_4(runs)
    shown = [row_texts(row, table.columns) for row in table.rows]
    assert [column.name for column in table.columns] == [
        "Model",
        "Settings",
        "Demonstrations",
        "k = 0",
    ]
    assert shown == [["a", "prompt flex", "none", "0.2000"], ["a", "prompt chat", "none", "0.5000"]]
    assert "a, prompt chat, none, k = 0: mean over 2 runs (seeds 1 and 2)." in table.notes
    assert "Not asked alike: see Settings for prompt." in table.notes
    assert any(note.startswith("Not asked alike: seed differs (1 in") for note in table.notes)


def test_figure_4_says_how_many_runs_of_a_mean_have_the_figure():
    table = tables.figure_4([tiny("a", 0.2), tiny("a", 0.4), tiny("a", None)])
    assert row_texts(table.rows[0], table.columns)[-1] == "0.3000"
    assert "a, none, k = 0: mean over 3 runs (seed 1), of which 2 have the figure." in table.notes


def test_runs_of_one_model_are_told_apart_and_their_differences_named():
    table = tables.table_1([tiny(), tiny(shots=5)])
    assert [row.cells[0] for row in table.rows] == ["toy/one (run 1)", "toy/one (run 2)"]
    said = "Not asked alike: shots differs (0 in toy/one (run 1); 5 in toy/one (run 2))."
    assert said in table.notes
    table = tables.table_1([tiny(), tiny(shots=5)], names=["r1", "r2"])
    assert [row.cells[0] for row in table.rows] == ["toy/one (r1)", "toy/one (r2)"]


SETTINGS: dict[str, tuple[object, object]] = {
    "prompt": ("flex", "chat"),
    "scoring": ("letters", "texts"),
    "list_options": (True, False),
    "attack_role": ("system", "user"),
    "normalise": ("sum", "bytes"),
    "option_order": ("file", "shuffled"),
    "rotations": ("one", "all"),
    "replicates": (1, 2),
    "non_answers": ("left_out", "wrong"),
    "paraphrase": ("unreadable", "neutral"),
    "scenarios": ("assigned", "all"),
    "categories": (["text_attack"], ["text_attack", "persona_injection"]),
    "items": (30, None),
    "controls": (50, 100),
    "data": ([{"name": "starter", "options": {}}], [{"name": "bbq", "options": {}}]),
    "lenient": (True, False),
    "temperature": (0.0, 0.7),
    "wording": ({"adjective": "bad"}, {"adjective": "terrible"}),
    "a_setting_of_tomorrow": (1, 2),
}
LAYOUTS = (tables.table_1, tables.table_6, tables.figure_3, tables.figure_4)


@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("setting", SETTINGS)
def test_every_setting_that_differs_is_named_in_every_layout(setting, layout):
    one, other = SETTINGS[setting]
    first, second = tiny(**{setting: one}), tiny(**{setting: other})
    if other is None:
        del second["flex"]["settings"][setting]  # as a run file without it is written
    notes = layout([first, second]).notes
    assert any("Not asked alike" in note and setting.replace("_", " ") in note for note in notes)
    assert not any("Not asked alike" in note for note in layout([first, first]).notes)


@pytest.mark.parametrize("layout", LAYOUTS)
def test_a_seed_that_differs_is_named_in_every_layout(layout):
    notes = layout([tiny(), {**tiny(), "seed": 2}]).notes
    said = "Not asked alike: seed differs (1 in toy/one (run 1); 2 in toy/one (run 2))."
    assert said in notes


@pytest.mark.parametrize("layout", LAYOUTS)
def test_a_run_that_is_not_complete_is_said_to_be_so_in_every_layout(layout):
    made = tiny()
    made["flex"]["pairs"], made["flex"]["missing_pairs"] = {"overall": 10}, 30
    assert any("30 of 40 planned pairs lack a reply" in note for note in layout([made]).notes)


def test_the_tables_of_several_runs_are_told_apart_by_their_titles():
    one, other = (tables.run_table(tiny(), name) for name in ("r1", "r2"))
    titles = [record["title"] for record in json.loads(tables.to_json([*one, *other]))]
    assert len(set(titles)) == len(titles)
    assert titles[0] == "toy/one (r1): does fairness hold?"
    assert tables.run_table(tiny())[0].title == "toy/one: does fairness hold?"


@pytest.mark.parametrize("layout", [tables.table_1, tables.table_6, tables.figure_4])
def test_a_row_for_machines_says_that_its_figures_are_not_meaningful_and_why(layout):
    made = tiny()
    made["flex"]["fit"] = {"meaningful": False, "reason": "3 of 20 controls right"}
    for rows in [json.loads(tables.to_json([layout([made, tiny("b")])]))[0]["rows"]]:
        assert rows[0]["meaningful"] is False
        assert rows[0]["reason"] == "3 of 20 controls right"
        assert "meaningful" not in rows[1]
        assert [cell["note"] for cell in rows[0].values() if isinstance(cell, dict)][-1] == (
            "not meaningful: 3 of 20 controls right"
        )


def test_every_row_of_an_unfit_run_is_marked_for_machines():
    made = tiny()
    made["flex"]["fit"] = {"meaningful": False, "reason": ""}
    made["flex"]["outcomes_source"] = {"overall": {"neutral": 3}}
    records = json.loads(tables.to_json(tables.run_table(made)))
    for table in records:
        assert table["rows"], table["title"]
        for row in table["rows"]:
            assert (row["meaningful"], row["reason"]) == (False, "no reason given"), table["title"]


def test_a_cell_of_an_unfit_run_says_so_where_runs_are_columns():
    made = tiny("b")
    made["flex"]["fit"] = {"meaningful": False, "reason": "3 of 20 controls right"}
    (row,) = json.loads(tables.to_json([tables.figure_3([tiny("a"), made])]))[0]["rows"]
    assert row["ASR a"]["note"] == ""
    assert row["ASR b †"]["note"] == "not meaningful: 3 of 20 controls right"


@pytest.mark.parametrize("nothing", [{}, estimate(None, n=0)])
def test_a_figure_where_slices_belong_makes_no_rows(nothing):
    made = tiny()
    for figure in ("source_accuracy", "flex_accuracy", "attack_success_rate"):
        for kind in ("category", "source", "source_category", "bias_type", "scenario"):
            made["flex"][figure][kind] = nothing
    robustness, bias_types, scenarios, direction, *_ = tables.run_table(made)
    assert [row.cells[0] for row in robustness.rows] == ["All pairs", "Mean of categories"]
    assert [row.cells[0] for row in direction.rows] == ["All pairs"]
    assert not bias_types.rows
    assert not scenarios.rows
    assert not tables.table_6([made]).rows
    assert not tables.figure_3([made]).rows


@pytest.mark.parametrize("width", [60, 80, 100, 120, 200])
def test_no_figure_is_cut_on_a_terminal(run, width):
    figures = run.read_estimates()
    layouts = [layout([figures], intervals=True) for layout in LAYOUTS]
    for table in [*tables.run_table(figures), *layouts]:
        lines = on_terminal(table, width).splitlines()
        assert max(map(len, lines)) <= width, table.title
        assert "…" not in "\n".join(lines)
        printed = Counter(word for line in lines for word in line.split())
        for row in table.rows:
            for text in row_texts(row, table.columns)[1:]:
                for part in re.findall(r"[−+<>]?[\d.,]+", text):
                    ends = (part, f"{part}–")
                    assert any(
                        end == word or end in word.split("–") for word in printed for end in ends
                    ), (table.title, text)


@pytest.mark.parametrize("width", range(44, 100))
def test_no_word_is_broken_where_a_table_is_split_in_the_middle_of_a_group(width):
    """The group's name is set again over the part that its later columns come to stand in."""
    columns = [Column("Target"), Column("Asked")]
    columns += [Column(name, Kind.SCORE, group="without multi-hop") for name in "ABCDEFGH"]
    cells = ("python/bot:answer", "asked directly", *[0.25] * 8)
    printed = on_terminal(Table("T", tuple(columns), (Row(cells),)), width)
    assert max(map(len, printed.splitlines())) <= width
    words = printed.split()
    assert {"python/bot:answer", "directly", "multi-hop", "+0.250"} <= set(words)
    known = (
        "T A B C D E F G H Target Asked without multi-hop asked directly python/bot:answer +0.250"
    )
    assert {word for word in words if word.strip("─")} <= set(known.split())


def test_an_interval_is_on_one_line_where_there_is_room_and_on_two_where_not(run):
    table = tables.run_table(run.read_estimates())[0]
    interval = row_texts(table.rows[0], table.columns)[1].split("(")[1].rstrip(")")
    assert re.fullmatch(r"[\d.]+–[\d.]+", interval)
    wide, narrow = on_terminal(table, 120), on_terminal(table, 80)
    assert interval in wide
    assert interval not in narrow
    for text in (wide, narrow):
        assert sum("p" in line.split() or "(Holm)" in line for line in text.splitlines()) < 4
        assert text.count("All pairs") == 1


def test_a_share_of_stereotypes_always_stands_beside_its_ideal_value():
    table = tables.run_table(tiny())[3]
    shares = [column.title for column in table.columns if "tereotype" in column.name]
    assert shares == [
        "Stereotyped share, plain (ideal 0.5)",
        "Stereotyped share, attacked (ideal 0.5)",
    ]
    for text in (tables.to_markdown(table), tables.to_csv(table), on_terminal(table)):
        assert text.count("ideal") >= 2


@given(st.sampled_from([kind for kind in Kind if kind is not Kind.TEXT]))
def test_undefined_is_never_printed_as_a_number(kind):
    nan = math.nan
    undefined = Estimate(nan, nan, nan, 0, nan, "", note="nothing was asked")
    column = Column("x", kind)
    assert row_texts(Row(("name", undefined, nan)), (Column("n"), column, column))[1:] == ["–", "–"]
    table = Table("t", (Column("n"), column), (Row(("name", undefined)),))
    (record,) = csv.DictReader(io.StringIO(tables.to_csv(table)))
    assert (record["x"], record["x lower"]) == ("", "")
    (row,) = json.loads(tables.to_json([table]))[0]["rows"]
    assert row["x"]["value"] is None


def test_an_empty_file_of_figures_makes_tables_without_numbers():
    for table in tables.run_table({}):
        for row in table.rows:
            for text in row_texts(row, table.columns)[1:]:
                assert text in ("–", "", "0"), table.title  # "0": so many pairs


@given(st.floats(0, 1))
def test_only_none_is_0_percent_and_only_all_is_100(share):
    for places in (0, 1):
        text = percent(share, places)
        assert (float(text.strip("<> %")) == 0) == (share < ROUNDING)
        assert (float(text.strip("<> %")) == 100) == (share > 1 - ROUNDING)


@given(st.floats(-1, 1))
def test_a_change_keeps_its_sign(change):
    text = points(change)
    assert text.startswith("−") == (change < 0)
    assert text.startswith("+") == (change > 0)


def test_text_of_data_is_no_markup_anywhere():
    table = tables.table_1([tiny(HOSTILE)])
    terminal = on_terminal(table, width=400)
    assert "[red]x|y" in terminal
    assert "\x1b" not in terminal
    (line,) = [
        line for line in tables.to_markdown(table).splitlines() if line.startswith("| \\[red\\]")
    ]
    assert len(re.findall(r"(?<!\\)\|", line)) == 14
    assert "<" not in line
    (record,) = csv.DictReader(io.StringIO(tables.to_csv(table)))
    assert record["Model"] == HOSTILE.replace("\x1b", "⟨U+001B⟩")


def test_every_layout_reads_a_whole_run(run):
    figures = run.read_estimates()
    robustness = tables.run_table(figures)[0]
    overall = figures["flex"]["attack_success_rate"]["overall"]
    assert robustness.rows[0].cells[3].value == overall["value"]
    assert len(tables.table_6([figures]).rows) == 1
    assert len(tables.figure_3([figures]).rows) > 10
    assert all("ASR" in on_terminal(make([figures])) for make in (tables.table_1, tables.table_6))
