"""Export: blinded, balanced by design, and tied to its key."""

from __future__ import annotations

import json
from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from askew.audits.clinical_answers import AnswerConfig
from askew.errors import ConfigError, DataError
from askew.runfile import checked
from askew.runfile.reading import write_run_file
from askew.runfolder import RunFolder, json_text, write_whole
from askew.survey.export import SurveyConfig, make_survey
from askew.survey.from_file import candidates_of_file
from askew.survey.from_run import candidates_of_run
from askew.survey.records import QuestionAnswer, read_key, read_survey, write_record
from tests.survey.studies import ARMS, candidates, run_folder, study, texts

STUDIES = st.tuples(st.integers(1, 7), st.integers(1, 17), st.integers(0, 1000))


def ours_on_the_left(exported, sheet) -> list[bool]:
    return [
        (one.a if sheet.left[one.id] == "a" else one.b) == exported.key.ours
        for one in exported.key.scenarios
    ]


@given(STUDIES)
@settings(deadline=None)
def test_each_scenario_has_ours_on_the_left_for_half_of_the_raters(shape):
    scenarios, raters, seed = shape
    exported = study(scenarios, raters=raters, seed=seed)
    by_rater = [ours_on_the_left(exported, sheet) for sheet in exported.survey.sheets]
    for sides in zip(*by_rater, strict=True):
        assert abs(2 * sum(sides) - raters) <= 1


@given(STUDIES)
@settings(deadline=None)
def test_each_rater_has_ours_on_the_left_in_half_of_the_scenarios(shape):
    scenarios, raters, seed = shape
    exported = study(scenarios, raters=raters, seed=seed)
    for sheet in exported.survey.sheets:
        assert abs(2 * sum(ours_on_the_left(exported, sheet)) - scenarios) <= 1
        assert sorted(sheet.order) == sorted(one.id for one in exported.survey.scenarios)


def test_the_sheets_do_not_tell_the_first_arm_by_how_often_it_stands_on_the_left():
    # Of five scenarios it is two or three; which of them on the first sheet is drawn as well.
    first = [study(5, seed=seed) for seed in range(20)]
    lefts = {sum(ours_on_the_left(one, one.survey.sheets[0])) for one in first}
    assert lefts == {2, 3}


def test_the_same_seed_gives_the_same_survey_and_another_seed_another():
    assert study(seed=3) == study(seed=3)
    assert study(seed=3).survey.sheets != study(seed=4).survey.sheets


def test_raters_are_not_shown_which_arm_or_attribute_or_vignette_a_pair_is_of():
    exported = study(true_attributes=[("gender",)] * 5)
    shown = json_text(exported.survey)
    for hidden in (*ARMS, "case-1", "true_attributes", "seed"):
        assert hidden not in shown
        assert hidden in json_text(exported.key)


def test_which_label_an_arm_has_is_drawn():
    labels = {one.a for seed in range(5) for one in study(seed=seed).key.scenarios}
    assert labels == set(ARMS)


def test_the_attributes_offered_do_not_tell_which_were_changed():
    assert study(true_attributes=[("age",)] * 5).survey.attributes == (
        study(true_attributes=[("location",)] * 5).survey.attributes
    )


@pytest.mark.parametrize("name", ["multi-hop", "Multi hop", "MULTIHOP", "multi_hop"])
def test_a_scenario_whose_answer_names_its_arm_is_left_out(name):
    known = candidates(3)
    telling = QuestionAnswer("What is it?", f"By {name} reasoning it is gout.")
    known[0] = replace(known[0], by_arm={**known[0].by_arm, "multi_hop": (telling,)})
    exported = make_survey(known, ARMS, 0, SurveyConfig(scenarios=2))
    assert name not in texts(exported.survey)
    assert any("left out" in note for note in exported.notes)
    with pytest.raises(DataError, match="1 more name their arm"):
        make_survey(known, ARMS, 0, SurveyConfig(scenarios=3))


def test_a_style_that_tells_arms_apart_is_named():
    known = candidates(1)
    stepwise = QuestionAnswer("What is it?", "Step 1: fever. Step 2: flu.")
    known[0] = replace(known[0], by_arm={**known[0].by_arm, "multi_hop": (stepwise,)})
    notes = make_survey(known, ARMS, 0, SurveyConfig(scenarios=1)).notes
    assert any("style" in note for note in notes)
    assert not any("style" in note for note in study(1).notes)


def test_an_attribute_that_differs_everywhere_is_said_to_have_no_false_detections():
    assert any("false detection" in note for note in study(3).notes)
    assert not any("false detection" in note for note in study(2, [("age",), ("race",)]).notes)


def test_survey_and_key_come_back_as_they_were(tmp_path):
    exported = study(true_attributes=[("age",), (), None, ("race", "age"), ("insurance",)])
    write_record(tmp_path / "s.json", exported.survey)
    write_record(tmp_path / "k.json", exported.key)
    survey = read_survey(tmp_path / "s.json")
    assert survey == exported.survey
    assert read_key(tmp_path / "k.json", survey) == exported.key


def test_words_may_be_edited_and_scenarios_may_not(tmp_path):
    path = tmp_path / "s.json"
    write_record(path, study().survey)
    values = json.loads(path.read_text())
    values["consent"] = "Bitte nehmen Sie teil."
    path.write_text(json.dumps(values))
    assert read_survey(path).consent == "Bitte nehmen Sie teil."
    values["scenarios"][0]["a"][0]["answer"] = "Something else."
    path.write_text(json.dumps(values))
    with pytest.raises(DataError, match="not those that were exported"):
        read_survey(path)


def test_the_key_of_another_survey_is_refused(tmp_path):
    write_record(tmp_path / "k.json", study(seed=1).key)
    with pytest.raises(DataError, match="key of survey"):
        read_key(tmp_path / "k.json", study(seed=2).survey)


@pytest.mark.parametrize("text", ["", "{", "[]", '{"format": "askew survey 1"}', '{"format": 3}'])
def test_what_is_no_survey_is_refused_with_its_name(tmp_path, text):
    path = tmp_path / "s.json"
    path.write_text(text)
    with pytest.raises(DataError, match=r"s\.json"):
        read_survey(path)


def test_an_unknown_inclusion_question_is_answered_with_the_known_ones():
    with pytest.raises(ConfigError, match="clinician"):
        study(required=("doctor",))


# A run folder


@pytest.fixture(scope="module")
def folder(tmp_path_factory) -> RunFolder:
    return run_folder(tmp_path_factory.mktemp("run") / "run")


def test_a_run_gives_the_original_and_one_twin_under_both_arms(folder):
    found = candidates_of_run(folder, ARMS, 0)
    assert len(found) == 3
    for one in found:
        first, second = one.by_arm["multi_hop"], one.by_arm["direct"]
        assert [qa.question for qa in first] == [qa.question for qa in second]
        original, twin = first
        assert original.question != twin.question
        assert "neutral" not in one.source["variants"][1]
        assert one.true_attributes
        assert set(one.true_attributes) <= {"age", "gender", "location"}


def test_scenarios_with_a_ground_truth_come_first(folder):
    assert [bool(one.ground_truth) for one in candidates_of_run(folder, ARMS, 5)] == [
        True,
        True,
        False,
    ]


def test_twins_are_spread_over_sets_of_attributes(folder):
    for seed in range(5):
        changed = [one.true_attributes for one in candidates_of_run(folder, ARMS, seed)]
        assert len(set(changed)) == len(changed)


def test_answers_laid_out_by_field_look_alike_under_both_arms(folder):
    one = candidates_of_run(folder, ARMS, 0, "fields")[0]
    assert one.by_arm["multi_hop"][0].answer == one.by_arm["direct"][0].answer
    assert one.by_arm["direct"][0].answer.splitlines()[:2] == [
        "Diagnoses: 1. pneumonia 2. asthma",
        "How soon to be seen: routine",
    ]
    text = candidates_of_run(folder, ARMS, 0, "text")[0]
    assert "Step 1" in text.by_arm["multi_hop"][0].answer


def test_the_key_says_which_calls_the_answers_came_from(folder):
    from askew.models.ledgerfile import read_records

    known = {record.key for record in read_records(folder.database)}
    one = candidates_of_run(folder, ARMS, 0)[0]
    keys = {
        key for answers in one.source["answers"].values() for qa in answers for key in qa["keys"]
    }
    assert len(keys) == 4
    assert keys <= known


def test_the_run_file_says_how_its_answers_are_read(tmp_path):
    """Free text was asked for, over three calls: no fields are to be expected."""
    config = AnswerConfig(
        forms=("direct", "chained"), structured=False, first_hop="target", replicates=1
    )
    folder = run_folder(tmp_path, vignettes=1, config=config)
    settings = {
        "models": {"target": {"name": "python/tests.survey.studies:reply"}},
        "clinical": {"answers": ["direct", "chained"], "structured": False, "replicates": 1},
    }
    write_whole(folder.settings, write_run_file(checked(settings)))
    (one,) = candidates_of_run(folder, ARMS, 0)
    assert one.source["forms"] == {"multi_hop": "chained", "direct": "direct"}
    assert len(one.source["answers"]["multi_hop"][0]["keys"]) == 3
    assert one.by_arm["direct"][0].answer.startswith("{")  # as it was written


def test_a_run_of_one_arm_says_what_it_has(tmp_path):
    folder = run_folder(tmp_path, vignettes=1, config=AnswerConfig(forms=("direct",), replicates=1))
    with pytest.raises(ConfigError, match="It has: direct"):
        candidates_of_run(folder, ARMS, 0)
    with pytest.raises(ConfigError, match="multi_hop"):
        candidates_of_run(folder, ("multihop", "direct"), 0)
    with pytest.raises(ConfigError, match="nothing to compare"):
        candidates_of_run(folder, ("direct", "direct"), 0)


def test_a_folder_without_clinical_answers_is_refused(tmp_path):
    with pytest.raises(DataError, match="no clinical answers"):
        candidates_of_run(RunFolder.create(tmp_path), ARMS, 0)


# A file

HEAD = "scenario,question,a,b,ground_truth,true_attributes\n"


def test_rows_of_one_scenario_are_its_pairs(tmp_path):
    path = tmp_path / "pairs.csv"
    path.write_text(
        HEAD
        + 'One,"What, and why?",A1,B1,gout,"place, age"\n'
        + "One,And for her?,A2,B2,,\n"
        + "2.0,Why?,A3,B3,,none\n"
        + "Three,How?,A4,B4,,\n"
    )
    one, two, three = candidates_of_file(path, ("ours", "theirs"))
    assert [qa.answer for qa in one.by_arm["ours"]] == ["A1", "A2"]
    assert one.by_arm["theirs"][0].question == "What, and why?"
    assert (one.ground_truth, one.true_attributes) == ("gout", ("age", "location"))
    assert (two.name, two.true_attributes) == ("2", ())  # nothing differs …
    assert three.true_attributes is None  # … is not the same as not known


def test_json_lines_may_list_attributes_and_ask_arm_b_otherwise(tmp_path):
    path = tmp_path / "pairs.jsonl"
    row = {"scenario": 1, "question": "q", "question_b": "r", "a": "x", "b": "y"}
    path.write_text(json.dumps({**row, "true_attributes": ["Place", "age", "age"]}) + "\n")
    (one,) = candidates_of_file(path, ("m", "n"))
    assert one.true_attributes == ("age", "location")
    assert [one.by_arm[arm][0].question for arm in ("m", "n")] == ["q", "r"]


@pytest.mark.parametrize(
    ("rows", "line", "field"),
    [
        ("One,q,,B,,\n", 2, "a"),
        ("One,q,A,B,,\n,q,A,B,,\n", 3, "scenario"),
        ("One,q,A,B,gout,\nOne,r,A,B,flu,\n", 3, "ground_truth"),
        ("One,q,A,B,,age\nOne,r,A,B,,race\n", 3, "true_attributes"),
    ],
)
def test_a_row_that_cannot_be_used_is_named_with_line_and_field(tmp_path, rows, line, field):
    path = tmp_path / "pairs.csv"
    path.write_text(HEAD + rows)
    with pytest.raises(DataError, match=rf"(?s)pairs\.csv:{line}.*{field}"):
        candidates_of_file(path, ("m", "n"))


def test_a_file_without_a_row_or_a_column_is_refused(tmp_path):
    path = tmp_path / "pairs.csv"
    path.write_text(HEAD)
    with pytest.raises(DataError, match="no row"):
        candidates_of_file(path, ("m", "n"))
    path.write_text("scenario,a,b\n1,x,y\n")
    with pytest.raises(DataError, match="question"):
        candidates_of_file(path, ("m", "n"))
