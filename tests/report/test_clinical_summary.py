"""The sentence, the findings and the words of a clinical run."""

from __future__ import annotations

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from askew.report.clinical_run import ClinicalRun, Endpoint, Finding
from askew.report.clinical_summary import findings, sentence, warnings
from askew.report.clinical_table import run_table
from askew.report.clinical_words import amount, in_patients, interval, size
from askew.report.estimates import read_estimate
from askew.runfolder import RunFolder

from .clinical_runs import figure, judged, make_clinical_run

SHARE = Endpoint("opioid_offered", "Opioid offered", "binary", "share of answers", "", "")
URGENCY = Endpoint("urgency", "Urgency", "ordinal", "levels", "", "")
WORDS = Endpoint("length", "Length", "number", "words", "", "")


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> RunFolder:
    path = tmp_path_factory.mktemp("clinical") / "toy-run"
    return make_clinical_run(path, forms=("direct", "single"))


def finding(endpoint: Endpoint, value: float) -> Finding:
    nan = math.nan
    return Finding(
        "direct", "gender", "female − male", "levels", False, endpoint,
        estimate=read_estimate(figure(value)), floor=read_estimate(figure(0.1)),
        p_value=nan, p_adjusted=nan, effect_size=nan, smallest_p=nan, smallest_visible=nan,
        margin=0.1, equivalence_p=nan, odds_ratio=nan, verdict="cannot tell", reason="",
        vignettes=9,
        left_out=0, moved=0, family="declared", tests=1, per_vignette=(),
    )  # fmt: skip


def test_the_sentence_names_the_difference_and_counts_the_rest(folder):
    said = sentence(folder.read_estimates())
    assert said.startswith("toy/doctor: of 8 declared comparisons 1 shows a difference (Gender, ")
    assert said.endswith(".")
    assert said.count(";") <= 4


def test_what_no_answers_could_have_shown_is_told_apart_from_what_was_not_seen(folder):
    figures = folder.read_estimates()
    assert not any("could not have come out" in one for one in warnings(figures))

    effects = figures["clinical"]["effects"]["direct"]["race"]
    open_ = [
        one
        for contrast in effects.values()
        for one in contrast.values()
        if isinstance(one, dict) and one.get("family") == "declared"
    ]
    for one in open_:
        one |= {"verdict": "cannot tell", "smallest_p": 0.008, "tests": 32}
    (said,) = [one for one in warnings(figures) if "could not have come out" in one]
    assert said.startswith(f"{len(open_)} of 8 declared comparisons could not")
    assert any("could not have come out" in note for note in run_table(figures)[0].notes)

    for one in open_:  # 0.008 × 6 is below 0.05: what is rejected before is no longer multiplied by
        one["tests"] = 7
    assert not any("could not have come out" in one for one in warnings(figures))


def test_a_run_that_stopped_is_not_told_to_do_the_same_again(folder):
    figures = folder.read_estimates()
    figures["clinical"]["answers"] |= {"wanted": 10, "had": 4}
    figures["calls"] |= {"stopped": "budget", "stage": "answers", "message": "Raise it."}
    said = " ".join(warnings(figures))
    assert "Raise it." in said
    assert "same command again" not in said


def test_a_worthless_model_is_called_so_before_anything_else(folder):
    figures = folder.read_estimates()
    figures["clinical"]["worth"] |= {"meaningful": False, "reason": "it guesses."}
    said = sentence(figures)
    assert said.startswith("The answers of toy/doctor are NOT worth comparing: it guesses, so ")
    assert any("no clinical judgement" in one for one in warnings(figures))


def test_a_model_whose_worth_is_not_known_is_not_passed_for_a_good_one(folder):
    figures = folder.read_estimates()
    figures["clinical"]["worth"] |= {"meaningful": None, "reason": "no case has a reference."}
    assert sentence(figures).startswith("What the answers of toy/doctor are worth could not be")


def test_an_incomplete_run_is_called_incomplete(folder):
    figures = folder.read_estimates()
    figures["clinical"]["answers"]["had"] -= 5
    assert "the run is incomplete: 5 of" in sentence(figures)
    assert any("5 of" in one for one in warnings(figures))


def test_what_cannot_be_told_comes_with_what_could_have_been_seen(folder):
    (said,) = [one for one in findings(folder.read_estimates()) if "cannot be told." in one]
    assert "four of five such studies" in said


def test_differences_that_are_medicine_are_told_apart(folder):
    (said,) = [one for one in findings(folder.read_estimates()) if "is medicine" in one]
    assert said.startswith("Where an attribute ought to matter, 0 of ")
    figures = folder.read_estimates()
    effects = figures["clinical"]["effects"]["direct"]
    effects["gender (ought to matter)"] = effects.pop("gender")
    for effect in effects["gender (ought to matter)"]["female − male"].values():
        if isinstance(effect, dict):
            effect["family"] = "exploratory"
    (said,) = [one for one in findings(figures) if "is medicine" in one]
    assert said.startswith("Where an attribute ought to matter, 1 of ")
    assert "1 shows a difference" not in sentence(figures)


def test_many_differences_are_told_in_a_few_sentences_and_counted(folder):
    figures = folder.read_estimates()
    effects = figures["clinical"]["effects"]["direct"]["gender"]
    effects |= {f"level {place} − male": effects["female − male"] for place in range(20)}
    said = findings(figures)
    assert sum("after Holm's correction" in one for one in said) == 6
    assert "15 more differences in the table." in said


def test_a_file_that_holds_nothing_makes_a_sentence_and_no_zero():
    said = sentence({"clinical": {}}, "a run")
    assert "could not be told" in said
    assert "no comparison was declared" in said
    assert findings({"clinical": {}}) == []


def test_judges_that_are_out_are_warned_of(folder):
    figures = folder.read_estimates()
    figures["clinical"]["judges"] = judged(out=True)
    assert "Judge toy/judge: toy/judge cannot be read." in warnings(figures)


@given(st.floats(-1, 1))
def test_a_share_is_told_in_points_with_its_sign(value):
    said = amount(value, SHARE)
    number = float(said.removesuffix(" points").replace("−", "-"))
    assert number == pytest.approx(value * 100, abs=0.51)
    assert value == 0 or said[0] in "+−" or number == 0


def test_amounts_have_their_units():
    assert amount(-0.5, URGENCY) == "−0.50 levels"
    assert amount(12.34, WORDS) == "+12.3 words"
    assert size(-0.05, SHARE) == "5.0 points"
    assert amount(math.nan, WORDS) == "–"
    assert size(math.nan, SHARE) == "–"
    ends = read_estimate(figure(-0.2, -0.3, 0.1))
    assert interval(ends, SHARE) == "−30 to +10"
    assert interval(read_estimate(figure(0.5)), SHARE) == "no interval"


def test_an_excess_is_put_in_patients_where_it_can_be():
    assert in_patients(finding(SHARE, -0.23)) == "23 fewer in 100 patients"
    assert in_patients(finding(URGENCY, -0.4)) == (
        "as if 40 in 100 patients were rated one level lower"
    )
    for nothing in (finding(WORDS, 3.0), finding(SHARE, math.nan), finding(SHARE, 0.0)):
        assert in_patients(nothing) == ""


def test_race_is_not_among_the_papers_attributes(folder):
    run = ClinicalRun("", folder.read_estimates())
    beside = {one.attribute for one in run.declared() if one.beside}
    assert beside == {"race"}
