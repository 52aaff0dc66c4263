"""The printed tables of the clinical paper, and what does not add up in them.

Table 3's differences are read against the original answers: its caption says "the corresponding
cell on the left", and 95 of 102 printed ones agree with that to the digit.
"""

from __future__ import annotations

import csv
from decimal import Decimal
from itertools import pairwise, product
from pathlib import Path
from statistics import harmonic_mean, mean

import pytest
from scipy.stats import binomtest
from statsmodels.stats.multitest import multipletests

GOLDEN = Path(__file__).parent.parent / "golden"
DIMENSIONS = ("age", "gender", "age+gender", "location", "age+gender+location")
ORIGINAL, DIRECT, MULTI_HOP = "original", "without_multi_hop", "with_multi_hop"
RATERS = 15


def rows(number: int) -> list[dict[str, str]]:
    with (GOLDEN / f"clinical_table{number}.csv").open(newline="", encoding="utf-8") as file:
        return list(csv.DictReader(file))


TABLE_3 = {
    (row["dataset"], row["target"], row["judge"], row["answers"], row["dimension"]): row
    for row in rows(3)
}
PAIRS = tuple(dict.fromkeys(key[:3] for key in TABLE_3))  # data set, target, judge


def score(pair: tuple[str, ...], answers: str, dimension: str) -> Decimal:
    return Decimal(TABLE_3[*pair, answers, dimension]["score"])


def rises(pair: tuple[str, ...], start: str, end: str, dimension: str) -> Decimal:
    return score(pair, end, dimension) - score(pair, start, dimension)


# Table 1


def test_table_1_is_45_scores_between_1_and_5():
    scores = [float(row["score"]) for row in rows(1)]
    assert len(scores) == 3 * 5 * 3
    assert min(scores) == 3.31
    assert max(scores) == 4.98
    assert all(1 <= score <= 5 for score in scores)


def test_table_1_judges_disagree_by_half_a_point_or_more_on_the_same_questions():
    cells: dict[tuple[str, str], list[float]] = {}
    for row in rows(1):
        cells.setdefault((row["dataset"], row["criterion"]), []).append(float(row["score"]))
    spread = {cell: max(scores) - min(scores) for cell, scores in cells.items()}
    assert max(spread, key=spread.__getitem__) == ("DiversityMedQA", "coherence")
    assert max(spread.values()) == pytest.approx(1.18)
    assert min(spread.values()) == pytest.approx(0.49)


# Table 2


def bertscore(measure: str) -> dict[tuple[str, str], float]:
    return {
        (row["target"], row["perturbed"]): float(row["bertscore"])
        for row in rows(2)
        if row["measure"] == measure
    }


def test_table_2_is_36_scores_below_053_that_the_text_calls_close_to_the_truth():
    scores = [float(row["bertscore"]) for row in rows(2)]
    assert len(scores) == 4 * 3 * 3
    assert (min(scores), max(scores)) == (0.4424, 0.5284)
    assert (min(bertscore("f1").values()), max(bertscore("f1").values())) == (0.4523, 0.5018)


def test_table_2_f1_follows_from_precision_and_recall_but_in_one_cell():
    precision, recall = bertscore("precision"), bertscore("recall")
    off = {
        cell: harmonic_mean([precision[cell], recall[cell]]) - f1
        for cell, f1 in bertscore("f1").items()
    }
    # F1 is averaged over answers, so it lies a little below the F1 of the averages.
    wrong = {cell for cell, difference in off.items() if not -0.0001 < difference < 0.0015}
    assert wrong == {("GPT-4o-mini", "age+gender+location")}
    cell = wrong.pop()
    assert bertscore("f1")[cell] == precision[cell]  # precision, printed a second time
    assert off[cell] == pytest.approx(0.0079, abs=1e-4)


def test_table_2_three_attributes_are_lowest_but_one_is_not_above_two():
    f1 = bertscore("f1")
    targets = {target for target, _ in f1}
    for target in targets:
        three = f1[target, "age+gender+location"]
        assert three < min(f1[target, "age+gender"], f1[target, "location"])
    # "Decreases as more attributes are perturbed" holds from one to two for one model of four.
    assert [t for t in targets if f1[t, "location"] > f1[t, "age+gender"]] == ["Mistral-7B"]


# Table 3


def test_table_3_is_180_cells_of_two_data_sets_where_the_text_says_three():
    assert len(TABLE_3) == 2 * 6 * 3 * 5
    assert {dataset for dataset, _, _ in PAIRS} == {"DiversityMedQA", "EquityMedQA"}


def test_table_3_has_a_mean_of_124_on_a_scale_that_ends_at_1():
    outside = [row for row in TABLE_3.values() if not 0 <= Decimal(row["score"]) <= 1]
    assert len(outside) == 1
    (row,) = outside
    assert (row["dataset"], row["target"], row["judge"]) == (
        "EquityMedQA",
        "Mistral-7B",
        "LLaMA3.2-3B",
    )
    assert (row["answers"], row["dimension"], row["score"]) == (MULTI_HOP, "gender", "1.24")
    # The difference was taken from it: no slip of the pen, single scores above 1 were averaged.
    pair = (row["dataset"], row["target"], row["judge"])
    assert Decimal(row["difference"]) == rises(pair, ORIGINAL, MULTI_HOP, "gender")


# (data set, target, judge, answers, dimension) -> (printed, recomputed)
WRONG = {
    ("DiversityMedQA", "GPT-4o", "GPT-4o", DIRECT, "age+gender"): ("+.03", ".060"),
    ("DiversityMedQA", "Mistral-7B", "LLaMA3.2-3B", DIRECT, "location"): ("+.284", ".239"),
    ("EquityMedQA", "Mistral-7B", "Mistral-7B", MULTI_HOP, "age+gender"): ("+.042", ".352"),
    ("DiversityMedQA", "Mistral-7B", "LLaMA3.2-3B", DIRECT, "gender"): ("+.016", ".019"),
    ("EquityMedQA", "GPT-4o", "GPT-4o", MULTI_HOP, "age+gender+location"): ("+.198", ".195"),
    ("DiversityMedQA", "LLaMA3.1-8B", "GPT-4o", DIRECT, "age+gender+location"): ("+.237", ".239"),
}


def test_table_3_prints_102_differences_of_which_six_are_wrong():
    printed = {key: row for key, row in TABLE_3.items() if row["difference"]}
    assert len(printed) == 102
    # One is cut from four digits to three, .0725 to .073; the others are right to the digit.
    wrong = {
        key: (row["difference"], rises(key[:3], ORIGINAL, key[3], key[4]))
        for key, row in printed.items()
        if abs(Decimal(row["difference"]) - rises(key[:3], ORIGINAL, key[3], key[4]))
        > Decimal("0.0005")
    }
    assert wrong == {key: (found, Decimal(right)) for key, (found, right) in WRONG.items()}
    by = sorted(abs(Decimal(found) - Decimal(right)) for found, right in WRONG.values())
    assert by == [Decimal(d) for d in (".002", ".003", ".003", ".030", ".045", ".310")]


def test_table_3_prints_no_difference_where_a_score_fell_or_stayed():
    silent = [key for key, r in TABLE_3.items() if key[3] != ORIGINAL and not r["difference"]]
    changes = [rises(key[:3], ORIGINAL, key[3], key[4]) for key in silent]
    assert len(silent) == 18
    assert all(change <= 0 for change in changes)
    assert sum(change < 0 for change in changes) == 16
    loud = [key for key, row in TABLE_3.items() if row["difference"]]
    assert all(rises(key[:3], ORIGINAL, key[3], key[4]) > 0 for key in loud)


def test_table_3_multi_hop_is_below_direct_in_16_of_60_cells():
    changes = {
        (pair, dimension): rises(pair, DIRECT, MULTI_HOP, dimension)
        for pair, dimension in product(PAIRS, DIMENSIONS)
    }
    assert len(changes) == 60
    assert sum(change < 0 for change in changes.values()) == 16
    assert sum(change == 0 for change in changes.values()) == 1
    # With GPT-4o as the judge it is below in gender on both data sets and for every target.
    judged = [c for (p, d), c in changes.items() if p[2] == "GPT-4o" and d == "gender"]
    assert len(judged) == 6
    assert max(judged) < 0


def test_table_3_rises_most_in_location_which_the_prompt_asks_for():
    by_dimension = {
        dimension: float(mean(rises(pair, ORIGINAL, MULTI_HOP, dimension) for pair in PAIRS))
        for dimension in DIMENSIONS
    }
    assert max(by_dimension, key=by_dimension.__getitem__) == "location"
    assert rises(PAIRS[0], ORIGINAL, MULTI_HOP, "location") == Decimal(".695")


def test_section_433_average_increase_of_02_to_04_holds_for_combined_attributes_alone():
    def average(dimension: str, *datasets: str) -> float:
        pairs = [pair for pair in PAIRS if pair[0] in datasets]
        return float(mean(rises(pair, ORIGINAL, MULTI_HOP, dimension) for pair in pairs))

    both = ("DiversityMedQA", "EquityMedQA")
    assert average("age+gender", *both) == pytest.approx(0.2406, abs=1e-4)
    assert average("age+gender+location", *both) == pytest.approx(0.3073, abs=1e-4)
    assert average("age", *both) == pytest.approx(0.0925, abs=1e-4)
    # Averages hide the spread: one of the twelve pairs rises by .089, another by .55.
    single = [rises(pair, ORIGINAL, MULTI_HOP, "age+gender+location") for pair in PAIRS]
    assert (min(single), max(single)) == (Decimal(".089"), Decimal(".55"))


def test_section_433_quotes_the_original_of_another_column():
    pair = ("DiversityMedQA", "LLaMA3.1-8B", "LLaMA3.2-3B")
    assert score(pair, MULTI_HOP, "age+gender+location") == Decimal(".747")
    assert score(pair, ORIGINAL, "age+gender+location") == Decimal(".416")  # not .383
    assert score(pair, ORIGINAL, "age+gender") == Decimal(".383")
    mistral = ("EquityMedQA", "Mistral-7B", "Mistral-7B")
    assert score(mistral, MULTI_HOP, "age+gender+location") == Decimal(".825")


def test_appendix_c3_no_row_has_direct_ahead_in_gender_and_in_age_with_gender():
    """Said of EquityMedQA with a judge that is not the target (Figure 3)."""
    others = [p for p in PAIRS if p[0] == "EquityMedQA" and p[1] != p[2]]
    assert len(others) == 4
    ahead = {
        pair: [d for d in ("gender", "age+gender") if rises(pair, DIRECT, MULTI_HOP, d) < 0]
        for pair in others
    }
    assert sorted(map(tuple, ahead.values())) == [(), (), ("gender",), ("gender",)]


def test_appendix_c3_mistral_as_its_own_judge_rises_in_all_dimensions_on_both_sets():
    for dataset in ("DiversityMedQA", "EquityMedQA"):
        pair = (dataset, "Mistral-7B", "Mistral-7B")
        assert all(rises(pair, DIRECT, MULTI_HOP, d) > 0 for d in DIMENSIONS)
    pair = ("DiversityMedQA", "Mistral-7B", "Mistral-7B")
    assert rises(pair, DIRECT, MULTI_HOP, "age+gender") == Decimal(".272")  # "about 0.3"
    # "About 0.4" is nearer to a half.
    assert score(pair, DIRECT, "age+gender+location") == Decimal(".476")


def test_table_3_judges_differ_17_fold_on_the_same_answers():
    seen = [
        score(("DiversityMedQA", "Mistral-7B", judge), ORIGINAL, "gender")
        for judge in ("LLaMA3.2-3B", "GPT-4o", "Mistral-7B")
    ]
    assert seen == [Decimal(".386"), Decimal(".18"), Decimal(".023")]
    assert round(seen[0] / seen[2]) == 17


# Table 4

TABLE_4 = rows(4)


def chosen(row: dict[str, str]) -> int:
    return round(float(row["chose_multi_hop_percent"]) / 100 * RATERS)


def test_table_4_percentages_are_whole_raters_of_15():
    assert [chosen(row) for row in TABLE_4] == [11, 8, 9, 12, 12]
    for row, name in product(TABLE_4, TABLE_4[0]):
        if name.endswith("_percent"):
            raters = float(row[name]) / 100 * RATERS
            assert raters == pytest.approx(round(raters), abs=0.01)


def test_table_4_exact_test_finds_two_of_five_and_none_after_holm():
    exact = [binomtest(chosen(row), RATERS, 0.5, alternative="greater").pvalue for row in TABLE_4]
    assert exact == pytest.approx([0.0592, 0.5, 0.3036, 0.0176, 0.0176], abs=1e-4)
    marked = [row["marked_significant"] == "yes" for row in TABLE_4]
    assert sum(marked) == 3  # as the text says
    assert [p < 0.05 for p in exact] == [False, False, False, True, True]  # S1 is not
    rejected, adjusted, *_ = multipletests(exact, method="holm")
    assert not rejected.any()
    assert adjusted == pytest.approx([0.178, 0.607, 0.607, 0.088, 0.088], abs=1e-3)


def test_table_4_printed_p_values_are_all_below_the_exact_ones():
    for row in TABLE_4:
        exact = binomtest(chosen(row), RATERS, 0.5, alternative="greater").pvalue
        assert float(row["p_value"]) < exact


def test_table_4_prefers_multi_hop_in_s2_by_one_rater():
    s2 = next(row for row in TABLE_4 if row["scenario"] == "S2")
    assert chosen(s2) - (RATERS - chosen(s2)) == 1


def test_table_4_attributes_that_were_not_changed_are_detected_too():
    false = {
        (row["scenario"], attribute): row[f"{attribute}_percent"]
        for row in TABLE_4
        for attribute in ("age", "gender", "location")
        if attribute not in row["correct_features"].split("+")
    }
    assert false == {
        ("S1", "gender"): "6.67",
        ("S2", "gender"): "26.67",
        ("S4", "age"): "13.3",
        ("S4", "gender"): "13.3",
    }


# Table 5


def test_table_5_counts_grow_sixfold_on_one_set_and_by_a_sixth_on_the_other():
    growth = {
        row["dataset"]: int(row["with_filtering"]) / int(row["without_filtering"])
        for row in rows(5)
    }
    assert growth == pytest.approx({"DiversityMedQA": 6.061, "EquityMedQA": 1.163}, abs=1e-3)


# Table 6


def test_table_6_largest_bertscore_is_08646_at_07_where_the_text_says_08636_at_03():
    scores = {
        (row["model"], row["temperature"]): float(row["value"])
        for row in rows(6)
        if row["measure"] == "bertscore"
    }
    assert max(scores, key=scores.__getitem__) == ("GPT-3.5-Turbo", "0.7")
    assert max(scores.values()) == 0.8646
    own = [scores["GPT-3.5-Turbo", temperature] for temperature in ("0.3", "0.5", "0.7")]
    assert own == sorted(own)
    assert own[0] == 0.8636  # the lowest of the three
    assert all(b > a for a, b in pairwise(own))


def test_table_6_largest_rouge_l_is_where_the_text_says():
    scores = {
        (row["model"], row["temperature"]): float(row["value"])
        for row in rows(6)
        if row["measure"] == "rougeL"
    }
    assert max(scores, key=scores.__getitem__) == ("GPT-4o-mini", "0.3")
    assert max(scores.values()) == 0.2962


def test_table_6_is_24_figures_that_hardly_move():
    table = rows(6)
    assert len(table) == 2 * 3 * 4
    for measure in ("rouge1", "rouge2", "rougeL", "bertscore"):
        values = [float(row["value"]) for row in table if row["measure"] == measure]
        assert max(values) - min(values) < 0.0026
