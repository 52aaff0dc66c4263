"""The clinical tables: laid out like the paper's, equal to the estimates, silent about nothing."""

from __future__ import annotations

import csv
import io
import json
import math
from pathlib import Path
from typing import Any

import pytest

from askew.records import Estimate
from askew.report import clinical_paper_tables as paper
from askew.report.clinical_layouts import clinical_tables
from askew.report.clinical_run import DIMENSIONS, ClinicalRun
from askew.report.clinical_table import brief_table, run_table, verdict_table
from askew.report.grid import Table, to_csv, to_json, to_markdown
from askew.runfolder import RunFolder

from .clinical_runs import MODEL, figure, judged, make_clinical_run


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> RunFolder:
    path = tmp_path_factory.mktemp("clinical") / "toy-run"
    return make_clinical_run(path, forms=("direct", "single"), judges=judged())


def with_judge(model: str, judges: dict[str, Any], **clinical: Any) -> dict[str, Any]:
    settings = {"answers": ["direct", "single"], "rules": "full"}
    return {"model": model, "clinical": {"settings": settings, "judges": judges, **clinical}}


def cells(table: Table) -> list[tuple[object, ...]]:
    return [row.cells for row in table.rows]


def values(row: tuple[object, ...]) -> list[float]:
    return [cell.value for cell in row if isinstance(cell, Estimate)]


def test_the_verdict_table_holds_every_declared_comparison_with_all_digits(folder):
    figures = folder.read_estimates()
    run = ClinicalRun("", figures)
    table = verdict_table(run)
    effects = figures["clinical"]["effects"]["direct"]
    declared = {
        (attribute, contrast, name): effect
        for attribute, contrasts in effects.items()
        for contrast, endpoints in contrasts.items()
        for name, effect in endpoints.items()
        if name != "kind" and effect["family"] == "declared"
    }
    assert len(table.rows) == len(declared) > 0
    (row,) = [
        row
        for row in cells(table)
        if row[:2] == ("Gender: female against male", "Urgency (levels)")
    ]
    told = dict(zip((column.name for column in table.columns), row, strict=True))
    effect = declared["gender", "female − male", "urgency"]
    assert told["Verdict"] == effect["verdict"] == "difference"
    assert told["Excess"] == effect["estimate"]["value"] == -1.0
    assert told["p adj."] == effect["p_adjusted"]
    assert told["Margin"] == effect["margin"]
    assert told["n"] == effect["vignettes"] == 11


def test_differences_stand_first(folder):
    verdicts = [row[2] for row in cells(verdict_table(ClinicalRun("", folder.read_estimates())))]
    assert verdicts[0] == "difference"
    assert verdicts == sorted(
        verdicts, key=["difference", "equivalent within the margin", "cannot tell"].index
    )


def test_the_brief_table_has_one_row_an_attribute_and_endpoint(folder):
    table = brief_table(ClinicalRun("", folder.read_estimates()))
    places = [(str(row[0]).partition(":")[0], row[1]) for row in cells(table)]
    assert len(places) == len(set(places))
    assert cells(table)[0][2] == "1 differs"


def test_the_runs_own_tables_ask_one_question_each(folder):
    titles = [table.title for table in run_table(folder.read_estimates())]
    assert titles[0] == f"{MODEL}: do the answers move? (declared beforehand)"
    assert titles[1] == f"{MODEL}: where an attribute ought to matter"
    assert "Judge card: toy/judge" in titles
    assert len(titles) == len(set(titles))


def test_table_1_has_a_row_a_judge_and_a_group_a_data_set():
    table = paper.table_1([with_judge("a/target", judged())], intervals=True)
    assert to_markdown(table).splitlines()[:5] == [
        "**Quality of the perturbed questions, 1 to 5 (Table 1)**",
        "",
        "| Judge | toy Factual consistency | toy Clinical relevance | toy Coherence |",
        "|---|--:|--:|--:|",
        "| toy/judge | 4.5000 (4.0000–5.0000) | 4.0000 (3.0000–5.0000) | – |",
    ]
    assert any("nothing could be read" in note for note in table.notes)


def test_table_2_has_chance_and_excess_beside_every_figure():
    cell = {
        name: {"value": figure(0.5), "chance": figure(0.45), "excess": figure(0.05)}
        for name in ("bert_score_f1", "bert_score_precision", "bert_score_recall")
    }
    sets = {"race": cell, "age+gender+place": cell, "original": cell, "age+gender": cell}
    table = paper.table_2([with_judge("a/target", {}, reference={"direct": sets})])
    assert [row[1] for row in cells(table)] == [
        "Nothing (original)",
        "Age + gender",
        "Age + gender + place",
        "Race or ethnicity",
    ]
    assert values(cells(table)[0]) == [0.5, 0.45, 0.05] * 3
    assert [column.group for column in table.columns[3:6]] == ["BERTScore F1"] * 3


def test_table_2_without_an_embedder_is_undefined_and_says_so():
    table = paper.table_2([with_judge("a", {}, reference={"direct": {"age": {}}})])
    assert all(math.isnan(value) for value in values(cells(table)[0]))
    assert any("not measured in this run" in note for note in table.notes)


def test_the_other_measures_stand_from_the_first_rank_to_the_last():
    names = ("rouge1", "hit_at_10", "hit_at_3", "reference_listed", "bert_score_f1")
    cell = {name: {"value": figure(0.5)} for name in names}
    table = paper.reference_table([with_judge("a", {}, reference={"direct": {"age": cell}})])
    assert [column.group for column in table.columns[3::3]] == [
        "Reference diagnoses listed",
        "Hit at 3",
        "Hit at 10",
        "ROUGE-1",
    ]


def test_table_3_has_three_configurations_of_five_dimensions_over_several_targets():
    runs = [with_judge("a/one", judged()), with_judge("b/two", judged())]
    scores, changes = paper.table_3(runs)
    assert [row[1] for row in cells(scores)] == ["a/one", "b/two"]
    assert [column.group for column in scores.columns[3:]] == [
        *["Original QA"] * 5,
        *["w/o multi-hop"] * 5,
        *["w/ multi-hop"] * 5,
    ]
    assert [column.name for column in scores.columns[3:8]] == [
        "Age",
        "Gender",
        "Age-Gen",
        "Loc",
        "Age-Gen-Loc",
    ]
    bias = judged()["bias"]["toy/judge"]
    expected = [bias[cell][d]["value"] for cell in bias for d in DIMENSIONS]
    assert values(cells(scores)[0]) == expected
    assert cells(changes)[0][3:] == pytest.approx([0.1] * 5 + [0.2] * 5)


def test_table_3_marks_the_figures_of_a_judge_that_is_out():
    scores, _ = paper.table_3([with_judge("a", judged(out=True))])
    assert scores.rows[0].mark == "†"
    assert any("31.0% of its replies cannot be read" in note for note in scores.notes)


def test_table_3_has_a_row_for_each_multi_hop_form():
    run = with_judge("a", judged())
    run["clinical"]["settings"]["answers"] = ["direct", "single", "chained"]
    scores, _ = paper.table_3([run])
    assert [row[3] for row in cells(scores)] == [
        "multi-hop, in one prompt",
        "multi-hop, in three calls",
    ]
    assert all(math.isnan(value) for value in values(cells(scores)[1])[10:])


def test_table_5_counts_relations_with_and_without_the_filter(folder):
    (table,) = clinical_tables("table-5", [folder], intervals=True)
    assert cells(table) == [("toy", 12, 36, 24.0, "full")]


def test_table_6_has_a_row_a_temperature():
    cell = {"rouge1": {"value": figure(0.3), "chance": figure(0.2), "excess": figure(0.1)}}
    table = paper.table_6([with_judge("a", {}, sweep={"0.3": cell, "0.7": cell})])
    assert [row[:2] for row in cells(table)] == [("a", "0.3"), ("a", "0.7")]
    assert values(cells(table)[0])[:3] == [0.3, 0.2, 0.1]
    assert all(math.isnan(value) for value in values(cells(table)[0])[3:])


def test_figure_5_puts_sets_beyond_the_papers_attributes_last():
    table = paper.figure_5([with_judge("a", judged())])
    assert [row[2] for row in cells(table)] == ["Age", "Gender", "Race or ethnicity"]
    assert table.notes == ("Lower rows change attributes beyond the paper's three.",)


@pytest.mark.parametrize("layout", ["table-1", "table-2", "table-3", "table-6", "figure-5"])
def test_a_layout_without_figures_says_why_it_is_empty(layout, tmp_path):
    empty = make_clinical_run(tmp_path / "run", missing=96)
    for table in clinical_tables(layout, [empty], intervals=True):
        assert table.rows == () or table.notes
        assert table.notes


def test_every_layout_is_the_same_in_csv_and_json(folder):
    for layout in ("run", "table-1", "table-3", "table-5", "figure-5"):
        for table in clinical_tables(layout, [folder], intervals=True):
            rows = list(csv.reader(io.StringIO(to_csv(table))))
            assert len(rows) == 1 + len(table.rows)
            (parsed,) = json.loads(to_json([table]))
            assert len(parsed["rows"]) == len(table.rows)


def test_a_model_whose_answers_are_worth_nothing_is_marked_in_every_row(folder):
    figures = folder.read_estimates()
    figures["clinical"]["worth"] |= {"meaningful": False, "reason": "no better than chance."}
    table = verdict_table(ClinicalRun("", figures))
    assert all(row.objection == "no better than chance" for row in table.rows)
    assert any(note.startswith(f"† {MODEL}: no better than chance") for note in table.notes)


# The paper's own tables, as golden files: what was printed, and what does not add up in it.


def golden(name: str) -> list[dict[str, str]]:
    path = Path(__file__).parents[1] / "golden" / f"clinical_{name}.csv"
    with path.open(newline="", encoding="utf-8") as file:
        return list(csv.DictReader(file))


def test_table_3_as_printed_has_a_mean_above_its_own_scale():
    beyond = [row for row in golden("table3") if float(row["score"]) > 1]
    assert [(row["target"], row["judge"], row["dimension"]) for row in beyond] == [
        ("Mistral-7B", "LLaMA3.2-3B", "gender")
    ]


def test_three_printed_differences_of_table_3_are_wrong():
    rows = golden("table3")
    original = {
        (row["dataset"], row["target"], row["judge"], row["dimension"]): float(row["score"])
        for row in rows
        if row["answers"] == "original"
    }
    printed = [row for row in rows if row["difference"]]
    assert len(printed) == 102
    wrong = []
    for row in printed:
        place = (row["dataset"], row["target"], row["judge"], row["dimension"])
        true = float(row["score"]) - original[place]
        if abs(true - float(row["difference"])) > 0.0045:
            wrong.append((row["difference"], round(true, 3)))
    assert sorted(wrong) == [("+.03", 0.06), ("+.042", 0.352), ("+.284", 0.239)]


def test_multi_hop_is_below_direct_in_16_of_the_60_cells_of_table_3():
    cell = {
        (row["dataset"], row["target"], row["judge"], row["dimension"], row["answers"]): float(
            row["score"]
        )
        for row in golden("table3")
    }
    pairs = [
        (score, cell[*place[:4], "with_multi_hop"])
        for place, score in cell.items()
        if place[4] == "without_multi_hop"
    ]
    assert len(pairs) == 60
    assert sum(with_hops < without for without, with_hops in pairs) == 16
