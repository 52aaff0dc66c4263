"""What a clinical run reads and makes: each case once, each attribute taken out alone."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from askew.audits.clinical_study import StudyConfig, Twins, load_study, make_twins
from askew.datasets import DataSpec
from askew.perturb import AGE, GENDER, PLACE, PerturbPlan

pytest.importorskip("spacy", reason="facts are read with spaCy")


def own(folder: Path, name: str, **texts: str) -> DataSpec:
    file = folder / f"{name}.jsonl"
    lines = [json.dumps({"id": key, "text": text}) for key, text in texts.items()]
    file.write_text("\n".join(lines) + "\n", encoding="utf-8")
    return DataSpec("own", file, {"source": name})


def twins_of(*specs: DataSpec, plan: PerturbPlan) -> Twins:
    config = StudyConfig(data=specs, plan=plan)
    return make_twins(load_study(config, 0), config, 0)


def test_a_case_that_comes_again_under_another_name_is_counted_once_and_listed(tmp_path):
    one = own(tmp_path, "one", a="A 50-year-old man coughs.", b="A 60-year-old man coughs.")
    other = own(tmp_path, "other", c="A 50-year-old  man coughs.")
    study = load_study(StudyConfig(data=(one, other)), 0)
    assert [vignette.id for vignette in study.vignettes] == ["one/a", "one/b"]
    (problem,) = [one for one in study.problems if one.kind == "duplicate"]
    assert (problem.record, "one/a" in problem.message) == ("other/c", True)


def test_the_order_in_which_data_sets_are_named_changes_no_twin(tmp_path):
    one = own(tmp_path, "one", a="A 50-year-old man who lives in Lima coughs.")
    other = own(tmp_path, "other", c="A 30-year-old woman who lives in Lima coughs.")
    plan = PerturbPlan(attributes=(AGE, GENDER))
    assert twins_of(one, other, plan=plan) == twins_of(other, one, plan=plan)


def test_each_attribute_is_taken_out_alone_beside_all_of_them(tmp_path):
    data = own(tmp_path, "one", a="A 50-year-old man coughs.")
    plan = PerturbPlan(attributes=(AGE, GENDER, PLACE), arms=("original", "neutral"))
    twins = twins_of(data, plan=plan)
    texts = {one.arm: one.text for one in twins.variants}
    assert set(texts) == {"original", "neutral", "age=neutral", "gender=neutral"}
    assert ("50" in texts["gender=neutral"], " man" in texts["gender=neutral"]) == (True, False)
    assert ("50" in texts["age=neutral"], "male" in texts["age=neutral"]) == (False, True)
    # The text says nothing of a place: it stands for the one without.
    assert [(one.arm, one.kind) for one in twins.dropped] == [("place=neutral", "same")]


def test_the_neutral_arm_of_one_attribute_is_named_by_it(tmp_path):
    data = own(tmp_path, "one", a="A 50-year-old man coughs.")
    plan = PerturbPlan(attributes=(GENDER,), arms=("original", "neutral"))
    assert [one.arm for one in twins_of(data, plan=plan).variants] == ["original", "gender=neutral"]
