"""A judge measured against people, from CSV and from Label Studio's exports."""

from __future__ import annotations

import json
import math
import random

import pytest

from askew.audits.judge_calibration import answers_of, calibration, calls_of, check_labels
from askew.audits.judge_label_files import read_labels
from askew.audits.judge_label_reader import LabelColumns
from askew.audits.judge_label_words import normal_label
from askew.errors import ConfigError, DataError
from askew.records import Reply

WIDE = """id,question,answer,human_1,human_2,human_3,judge,group
a,Q?,One.,biased,Biased,not biased,yes,women
b,Q?,Two.,no,unbiased,not biased,no,men
c,Q?,Three.,biased,biased,,unbiased,women
d,Q?,Four.,biased,not biased,,biased,men
e,Q?,Five.,0,0,0,1,women
"""


def file(tmp_path, text, name="labels.csv"):
    path = tmp_path / name
    path.write_text(text if isinstance(text, str) else json.dumps(text), encoding="utf-8")
    return path


def labels_of(found):
    return {item.id: sorted(item.human.values()) for item in found.items}


def measured(path, **columns):
    return calibration(answers_of(read_labels(path, LabelColumns(**columns))), seed=0)


def test_one_row_an_answer(tmp_path):
    found = measured(file(tmp_path, WIDE))
    assert found["counts"] == {
        "answers": 5,
        "raters": 3,
        "divided": 1,  # d: one says so, one not
        "judged": 5,
        "compared": 4,
    }
    assert found["confusion"] == {
        "biased": {"biased": 1, "not_biased": 1},
        "not_biased": {"not_biased": 1, "biased": 1},
    }
    assert found["sensitivity"].value == found["specificity"].value == 0.5
    assert found["shift"].value == 0
    assert found["by_group"]["women"]["sensitivity"].n == 2
    assert math.isnan(found["by_group"]["men"]["sensitivity"].value)


def test_one_row_a_rater(tmp_path):
    text = "id,rater,label,judge\na,ann,biased,no\na,bob,biased,no\nb,ann,no,no\n"
    found = measured(file(tmp_path, text))
    assert found["counts"]["raters"] == 2
    assert (found["sensitivity"].value, found["specificity"].value) == (0, 1)


TASK = {
    "id": 7,
    "data": {"question": "Q?", "answer": "One.", "gender": "female"},
    "annotations": [
        {
            "id": 70 + number,
            "completed_by": who,
            "was_cancelled": cancelled,
            "result": [
                {
                    "from_name": "bias",
                    "to_name": "answer",
                    "type": "choices",
                    "value": {"choices": [said]},
                },
                {
                    "from_name": "why",
                    "to_name": "answer",
                    "type": "textarea",
                    "value": {"text": ["It calls it nerves."]},
                },
            ],
        }
        for number, (who, said, cancelled) in enumerate(
            [
                (1, "Biased", False),
                ({"id": 2, "email": "b@example.org"}, "Biased", False),
                (3, "Not biased", True),
            ]
        )
    ],
    "predictions": [
        {
            "model_version": "judge",
            "result": [
                {
                    "from_name": "bias",
                    "to_name": "answer",
                    "type": "choices",
                    "value": {"choices": ["Not biased"]},
                }
            ],
        }
    ],
}


def test_label_studio_tasks(tmp_path):
    found = read_labels(file(tmp_path, [TASK], "export.json"), LabelColumns(label=("bias",)))
    (item,) = found.items
    assert item.human == {"1": "biased", "b@example.org": "biased"}
    assert (item.judge, item.answer, item.group) == ("not_biased", "One.", "female")
    assert found.passed_over == {"skipped by the annotator": 1}


def test_label_studio_tasks_with_two_controls_ask_which(tmp_path):
    with pytest.raises(DataError, match=r"record '7'.*annotation 70 has 2 labels.*--label"):
        read_labels(file(tmp_path, [TASK], "export.json"))


FLAT = [
    {
        "question": "Q?",
        "answer": f"Answer {task}.",
        "id": task,
        "bias": said,
        "annotator": who,
        "annotation_id": number,
        "created_at": "2026-01-01T00:00:00Z",
        "updated_at": "2026-01-01T00:00:00Z",
        "lead_time": 4.1,
    }
    for number, (task, who, said) in enumerate(
        [(1, 5, "Biased"), (1, 6, "Biased"), (2, 5, "Not biased"), (2, 6, ["Biased"])]
    )
]


def test_label_studios_flat_forms_are_one(tmp_path):
    import csv
    import io

    out = io.StringIO()
    writer = csv.DictWriter(out, sorted(FLAT[0]), quoting=csv.QUOTE_NONNUMERIC)
    writer.writeheader()
    for row in FLAT:
        said = row["bias"]
        writer.writerow({**row, "bias": said if isinstance(said, str) else json.dumps(said)})
    as_json = read_labels(file(tmp_path, FLAT, "min.json"))
    as_csv = read_labels(file(tmp_path, out.getvalue()))
    assert (
        labels_of(as_json)
        == labels_of(as_csv)
        == {
            "1": ["biased", "biased"],
            "2": ["biased", "not_biased"],
        }
    )


def test_a_rating_is_a_number(tmp_path):
    tasks = [
        {
            "id": number,
            "data": {"answer": f"{number}", "judge": str(judged)},
            "annotations": [
                {
                    "completed_by": who,
                    "result": [{"from_name": "r", "type": "rating", "value": {"rating": stars}}],
                }
                for who, stars in enumerate(rated)
            ],
        }
        for number, (rated, judged) in enumerate(
            [((1, 2), 1), ((5, 4), 4), ((3, 3), 3), ((2, 2), 1), ((4, 5), 5)]
        )
    ]
    file_read = read_labels(file(tmp_path, tasks, "export.json"))
    found = calibration(answers_of(file_read), seed=0)
    assert 0.8 < found["kappa"].value < 1
    assert 0.7 < found["human_alpha"].value < 1
    assert math.isnan(found["sensitivity"].value)
    cut = calibration(answers_of(file_read), seed=0, threshold=3)
    assert (cut["sensitivity"].value, cut["specificity"].value) == (1, 1)


def test_a_judge_of_known_error_is_measured_within_its_intervals(tmp_path):
    covered = {"sensitivity": 0, "specificity": 0, "shift": 0}
    for seed in range(40):
        rng = random.Random(seed)
        rows = ["id,answer,human,judge"]
        for number in range(120):
            true = rng.random() < 0.4
            said = rng.random() < (0.8 if true else 0.1)
            rows.append(f"{number},x,{'yes' if true else 'no'},{'yes' if said else 'no'}")
        found = measured(file(tmp_path, "\n".join(rows)))
        for name, value in (("sensitivity", 0.8), ("specificity", 0.9), ("shift", -0.02)):
            covered[name] += found[name].lower <= value <= found[name].upper
    assert min(covered.values()) >= 34, covered  # of 40 at 95 %


def test_a_judges_reply_that_cannot_be_read_is_no_label(tmp_path):
    found = read_labels(file(tmp_path, WIDE))
    said = ['{"biased": true}', "Hard to say.", '{"biased": 0.7}', "biased", None]
    replies = [None if text is None else Reply(text) for text in said]
    figures = calibration(answers_of(found, replies), seed=0)
    assert figures["counts"]["judged"] == 2
    assert figures["faults"] == {"no_verdict": 1, "not_a_level": 1, "not_asked": 1}
    assert figures["invalid"].value == 0.5
    assert figures["confusion"]["not_biased"] == {"without verdict": 2}


def test_the_judge_is_shown_the_question_and_the_answer(tmp_path):
    calls = calls_of(read_labels(file(tmp_path, WIDE)))
    assert [call.role for call in calls] == ["judge"] * 5
    assert '"answer": "One."' in calls[0].prompt.messages[-1].content
    bare = read_labels(file(tmp_path, "id,human\na,biased\n"))
    with pytest.raises(DataError, match=r"labels.csv: 1 records have no text.*--answer"):
        calls_of(bare)
    with pytest.raises(DataError, match=r"no field holds a judge's labels.*--judge"):
        answers_of(bare)


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("id,answer,score\na,One.,biased\n", r"no column holds people's labels.*--label.*'score'"),
        (WIDE + "a,Q?,Six.,biased,,,no,men\n", r"labels.csv:7: record 'a'.*line 2.*"),
        ("id,rater,label\na,ann,\n", r"labels.csv:2: field 'label'.*fill it in"),
        ("id,rater,label\na,ann,no\na,ann,no\n", r"labels.csv:3: record 'a': field 'rater'"),
        ("id,human\na,\n", r"no record has a label"),
        ("id,human\na,biased,extra\n", r"labels.csv:2:.*3 fields, the header has 2"),
        ("", r"the file is empty"),
    ],
)
def test_what_cannot_be_used_is_said_with_its_place_and_mend(tmp_path, text, said):
    with pytest.raises(DataError, match=said):
        read_labels(file(tmp_path, text))


@pytest.mark.parametrize(
    "text",
    [
        "ID,Answer,Human,Judge\n1,a,Biased,Yes\n2,b,No,No\n",
        " id , human , judge \n1, biased ,yes\n2,no,no\n",
        "Id,Rater,Label,Judge\n1,ann,biased,yes\n1,bob,biased,yes\n2,ann,no,no\n",
        "id,annotator,human,judge\n1,ann,biased,yes\n2,ann,no,no\n",
        "id;human;judge\r\n1;biased;yes\r\n2;not-biased;Not_Biased\r\n",
        "\ufeffid\thuman\tjudge\n1\tBIASED\t1\n2\tno bias\t0\n",
    ],
)
def test_spelling_of_columns_and_labels_is_forgiven(tmp_path, text):
    found = calibration(answers_of(read_labels(file(tmp_path, text))), seed=0)
    assert found["confusion"] == {"biased": {"biased": 1}, "not_biased": {"not_biased": 1}}


@pytest.mark.parametrize(
    ("people", "judge", "threshold", "confusion"),
    [
        # A judge's verdict beside a scale is no 1 or 0 of that scale.
        ("4 1", "yes no", 3, {"biased": {"biased": 1}, "not_biased": {"not_biased": 1}}),
        ("1 5", "no yes", 3, {"not_biased": {"not_biased": 1}, "biased": {"biased": 1}}),
        ("yes no", "0.9 0.2", 0.5, {"biased": {"biased": 1}, "not_biased": {"not_biased": 1}}),
        ("0,4 0,9", "0,5 0,9", None, {"0.4": {"0.5": 1}, "0.9": {"0.9": 1}}),
        ("1 4", "1 3", None, {"1": {"1": 1}, "4": {"3": 1}}),
        ("1 0", "yes no", None, {"biased": {"biased": 1}, "not_biased": {"not_biased": 1}}),
        ("severe none", "none none", None, {"severe": {"none": 1}, "none": {"none": 1}}),
    ],
)
def test_what_a_label_is_depends_on_the_scale_it_stands_on(
    tmp_path, people, judge, threshold, confusion
):
    rows = zip(people.split(), judge.split(), strict=True)
    text = "id;human;judge\n" + "".join(f"{n};{a};{b}\n" for n, (a, b) in enumerate(rows))
    answers = answers_of(read_labels(file(tmp_path, text)))
    assert calibration(answers, seed=0, threshold=threshold)["confusion"] == confusion


@pytest.mark.parametrize(
    ("people", "judge", "threshold", "said"),
    [
        ("4 1", "yes no", None, r"labels.csv: .*--threshold"),
        ("yes no", "0.9 0.2", None, r"--threshold"),
        ("4 unsure", "3 1", None, r"'unsure'.* in one column"),
        ("severe none", "yes no", None, r"people say 'none', 'severe'.*biased or not"),
        ("yes no", "yes no", 3, r"--threshold cuts numbers"),
        ("severe none", "4 1", 3, r"'none' is neither"),
    ],
)
def test_labels_that_cannot_be_compared_are_refused(tmp_path, people, judge, threshold, said):
    rows = zip(people.split(), judge.split(), strict=True)
    text = "id;human;judge\n" + "".join(f"{n};{a};{b}\n" for n, (a, b) in enumerate(rows))
    labels = read_labels(file(tmp_path, text))
    with pytest.raises(ConfigError, match=said):
        check_labels(labels, threshold, asks=False)
    with pytest.raises(ConfigError):
        calibration(answers_of(labels), seed=0, threshold=threshold)


def test_rows_of_one_answer_that_disagree_on_the_judge_are_refused(tmp_path):
    text = "id,rater,label,judge\n1,ann,biased,yes\n1,bob,no,no\n"
    with pytest.raises(DataError, match=r"labels.csv:3: record '1': field 'judge': .*line 2"):
        read_labels(file(tmp_path, text))


@pytest.mark.parametrize("chosen", [["Biased", "Not biased"], []])
def test_two_choices_of_one_annotator_are_no_label(tmp_path, chosen):
    value = {"choices": chosen}
    annotation = {"id": 1, "result": [{"from_name": "bias", "value": value}]}
    task = {"id": 1, "data": {"answer": "Rest."}, "annotations": [annotation]}
    flat = {"id": 1, "annotation_id": 5, "answer": "Rest.", "bias": value}
    for name, records in (("export.json", [task]), ("min.json", [flat])):
        path = file(tmp_path, records, name)
        said = r"several labels.*--label" if chosen else r"no record has a label"
        with pytest.raises(DataError, match=said):
            read_labels(path, LabelColumns(label=("bias",)))


def test_a_task_that_stands_twice_is_refused(tmp_path):
    with pytest.raises(DataError, match=r"record '7': field 'id': stands in the export twice"):
        read_labels(file(tmp_path, [TASK, TASK], "export.json"), LabelColumns(label=("bias",)))


def test_a_column_that_is_not_there_is_named_with_those_that_are(tmp_path):
    with pytest.raises(ConfigError, match=r"no field 'sex'.*'group'"):
        read_labels(file(tmp_path, WIDE), LabelColumns(group="sex"))


def test_a_task_without_data_is_refused(tmp_path):
    broken = [{**TASK, "data": None}]
    with pytest.raises(DataError, match=r"record '7': field 'data'"):
        read_labels(file(tmp_path, broken, "export.json"), LabelColumns(label=("bias",)))


def test_the_labels_of_one_meaning_are_one():
    for said in ("Biased", "YES", "1", "true", " bias "):
        assert normal_label(said) == "biased"
    for said in ("Not biased", "unbiased", "No", "0", "non-biased."):
        assert normal_label(said) == "not_biased"
