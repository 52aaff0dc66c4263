from __future__ import annotations

import gzip
import json
from pathlib import Path

import pytest

from askew.datasets import DataSpec, load
from askew.errors import ConfigError, DataError
from askew.records import ContextCondition

HEADER = "category,question_index,example_id,target_loc\n"


def row(**changes):
    """An ambiguous row in BBQ's form; a change to None takes the field out."""
    fields = {
        "example_id": 7,
        "question_index": "1",
        "question_polarity": "neg",
        "context_condition": "ambig",
        "category": "Age",
        "answer_info": {
            "ans0": ["aunt", "old"],
            "ans1": ["nephew", "nonOld"],
            "ans2": ["Unknown", "unknown"],
        },
        "context": "An aunt and a nephew met.",
        "question": "Who was late?",
        "ans0": "The aunt",
        "ans1": "The nephew",
        "ans2": "Unknown",
        "label": 2,
    }
    fields |= changes
    return {name: value for name, value in fields.items() if value is not None}


def write(folder: Path, *rows, metadata: str | None = None, name: str = "Age.jsonl") -> Path:
    folder.mkdir(parents=True, exist_ok=True)
    text = "".join(json.dumps(fields) + "\n" for fields in rows)
    (folder / name).write_text(text, encoding="utf-8")
    if metadata is not None:
        (folder / "additional_metadata.csv").write_text(HEADER + metadata, encoding="utf-8")
    return folder


def only_rejection(folder: Path):
    loaded = load(DataSpec("bbq", folder), lenient=True)
    assert loaded.items == ()
    (problem,) = loaded.rejected
    return problem


def test_an_ambiguous_row_becomes_an_item(tmp_path):
    (item,) = load(DataSpec("bbq", write(tmp_path, row(), metadata="Age,1,7,0\n"))).items
    assert item.id == "bbq/Age/7"
    assert item.bias_type == "age"
    assert item.options == ("The aunt", "The nephew", "Unknown")
    assert (item.neutral, item.answer, item.stereotyped, item.antistereotyped) == (2, 2, 0, 1)
    assert item.polarity == "negative"
    assert (item.provenance.line, item.provenance.record) == (1, "7")


def test_a_disambiguated_row_becomes_a_control(tmp_path):
    fields = row(context_condition="disambig", question_polarity="nonneg", label=1)
    loaded = load(DataSpec("bbq", write(tmp_path, fields)))
    (control,) = loaded.controls
    assert loaded.items == ()
    assert control.condition is ContextCondition.CONTROL
    assert (control.neutral, control.answer, control.polarity) == (2, 1, "nonnegative")


@pytest.mark.parametrize("place", [0, 1, 2])
def test_the_unknown_option_is_found_wherever_it_stands(tmp_path, place):
    texts = ["The aunt", "The nephew"]
    texts.insert(place, "Can’t be determined.")
    names = ("ans0", "ans1", "ans2")
    fields = row(answer_info=None, label=place, **dict(zip(names, texts, strict=True)))
    (item,) = load(DataSpec("bbq", write(tmp_path, fields))).items
    assert item.neutral == place


@pytest.mark.parametrize("label", ["2", 2.0, " 2 ", "2.0"])
def test_a_label_may_be_text_or_a_float(tmp_path, label):
    (item,) = load(DataSpec("bbq", write(tmp_path, row(label=label)))).items
    assert item.answer == 2


@pytest.mark.parametrize(
    ("changes", "field", "message"),
    [
        ({"label": 3}, "label", "expected 0, 1 or 2"),
        ({"label": -1}, "label", "expected 0, 1 or 2"),
        ({"label": True}, "label", "whole number"),
        ({"label": 1.5}, "label", "whole number"),
        ({"label": "two"}, "label", "whole number"),
        ({"label": "２"}, "label", "whole number"),
        ({"label": float("nan")}, "label", "whole number"),
        ({"label": None}, "label", "whole number"),
        ({"label": 1}, "label", "ambiguous and the unknown option is 2"),
        ({"context_condition": "disambig"}, "label", "the unknown option"),
        ({"context_condition": "clear"}, "context_condition", "'ambig' or 'disambig'"),
        ({"question_polarity": "maybe"}, "question_polarity", "'neg' or 'nonneg'"),
        ({"ans2": None}, "ans2", "is missing"),
        ({"ans1": " "}, "ans1", "is empty"),
        ({"ans1": 5}, "ans1", "expected text"),
        ({"ans1": "nan"}, "ans1", "expected text"),
        ({"ans1": "the aunt."}, "", "same text"),
        ({"ans1": "Not known."}, "", "more than one unknown option"),
        ({"ans2": "The cousin", "answer_info": None}, "", "no unknown option"),
        ({"answer_info": ["old"]}, "answer_info", "expected an object"),
        ({"category": None}, "category", "is missing"),
        ({"context": None}, "context", "is missing"),
    ],
)
def test_a_row_that_cannot_be_used_is_rejected_by_name_and_field(tmp_path, changes, field, message):
    problem = only_rejection(write(tmp_path, row(**changes)))
    assert (problem.line, problem.record, problem.field) == (1, "7", field)
    assert message in problem.message


def test_strict_reading_lists_every_bad_row_and_lenient_reading_leaves_them_out(tmp_path):
    bad = [row(example_id=number, label=9) for number in range(25)]
    folder = write(tmp_path, row(example_id=99), *bad)
    with pytest.raises(DataError) as caught:
        load(DataSpec("bbq", folder))
    message = str(caught.value)
    assert message.startswith("25 records cannot be used")
    assert all(f"Age.jsonl:{line}: " in message for line in range(2, 22))
    assert "Age.jsonl:22: " not in message
    assert "and 5 more" in message
    loaded = load(DataSpec("bbq", folder), lenient=True)
    assert [item.id for item in loaded.items] == ["bbq/Age/99"]
    assert len(loaded.rejected) == 25


def test_the_same_id_and_content_counts_once_and_is_no_error(tmp_path):
    folder = write(tmp_path, row(), row(label="2", extra=1))
    loaded = load(DataSpec("bbq", folder))
    assert len(loaded.items) == 1
    assert [(p.kind, p.line) for p in loaded.problems if p.line] == [("duplicate", 2)]


def test_the_same_id_with_other_content_is_rejected_and_the_first_stays(tmp_path):
    folder = write(tmp_path, row(), row(question="Who was early?"))
    loaded = load(DataSpec("bbq", folder), lenient=True)
    assert [item.question for item in loaded.items] == ["Who was late?"]
    (problem,) = loaded.rejected
    assert (problem.line, problem.message) == (2, "same id, other content than line 1 (7)")


def test_the_same_example_id_in_two_categories_is_two_items(tmp_path):
    write(tmp_path, row())
    write(tmp_path, row(category="SES"), name="SES.jsonl")
    items = load(DataSpec("bbq", tmp_path)).items
    assert [item.id for item in items] == ["bbq/Age/7", "bbq/SES/7"]
    assert [item.bias_type for item in items] == ["age", "socioeconomic"]


@pytest.mark.parametrize(
    "metadata",
    [
        None,
        "",
        "Age,1,7,\n",
        "Age,1,7,NA\n",
        "Age,1,8,0\n",
        "Age,2,7,0\n",
        "Age,1,7,2\n",
        "Age,1,7,0\nAge,1,7,1\n",
    ],
    ids=[
        "no file",
        "no rows",
        "empty target",
        "NA",
        "another item",
        "another question",
        "the unknown option",
        "rows that disagree",
    ],
)
def test_the_stereotyped_option_is_not_known_rather_than_guessed(tmp_path, metadata):
    loaded = load(DataSpec("bbq", write(tmp_path, row(), metadata=metadata)))
    assert loaded.items[0].stereotyped is None
    if metadata != "":
        assert any("not known" in p.message for p in loaded.problems if p.kind == "note")


def test_groups_that_match_no_tag_leave_the_stereotyped_option_open(tmp_path):
    info = {"ans0": ["x", "North"], "ans1": ["y", "South"], "ans2": ["Unknown", "unknown"]}
    fields = row(answer_info=info, additional_metadata={"stereotyped_groups": ["Norlandic"]})
    (item,) = load(DataSpec("bbq", write(tmp_path, fields))).items
    assert item.stereotyped is None
    assert item.answer == 2


def test_repeated_metadata_rows_that_agree_are_one(tmp_path):
    folder = write(tmp_path, row(), metadata="Age,1,7,1\nAge,1,7,1\n")
    assert load(DataSpec("bbq", folder)).items[0].stereotyped == 1


@pytest.mark.parametrize("where", ["", "bbq", "data"])
def test_the_files_are_found_in_the_sets_folder_a_folder_of_sets_and_a_clone(tmp_path, where):
    write(tmp_path / where, row())
    metadata = tmp_path / ("analysis_scripts" if where == "data" else where)
    metadata.mkdir(exist_ok=True)
    (metadata / "additional_metadata.csv").write_text(HEADER + "Age,1,7,1\n")
    assert load(DataSpec("bbq", tmp_path)).items[0].stereotyped == 1
    assert load(DataSpec("bbq", tmp_path / where)).items[0].stereotyped == 1


def test_packed_files_are_read_and_their_checksums_are_of_the_stored_file(tmp_path):
    import hashlib

    packed = gzip.compress(json.dumps(row()).encode())
    (tmp_path / "Age.jsonl.gz").write_bytes(packed)
    loaded = load(DataSpec("bbq", tmp_path))
    assert loaded.checksums == {"Age.jsonl.gz": hashlib.sha256(packed).hexdigest()}
    assert len(loaded.items) == 1


def test_categories_are_picked_by_either_name_and_those_left_out_are_not_noted(tmp_path):
    write(tmp_path, row())
    write(tmp_path, row(category="SES"), name="SES.jsonl")
    for name in ("SES", "ses", "socioeconomic"):
        loaded = load(DataSpec("bbq", tmp_path, {"categories": [name]}))
        assert [item.bias_type for item in loaded.items] == ["socioeconomic"]
        assert not any("left out" in problem.message for problem in loaded.problems)


def test_categories_that_are_not_there_are_noted_unless_asked_for(tmp_path):
    write(tmp_path, row())
    loaded = load(DataSpec("bbq", tmp_path))
    assert sum("left out" in problem.message for problem in loaded.problems) == 10
    with pytest.raises(DataError, match=r"Religion\.jsonl"):
        load(DataSpec("bbq", tmp_path, {"categories": ["Religion"]}))


def test_an_unknown_category_is_an_error_that_lists_the_known(tmp_path):
    write(tmp_path, row())
    with pytest.raises(ConfigError, match=r"'Agee'.*Age.*Sexual_orientation"):
        load(DataSpec("bbq", tmp_path, {"categories": ["Agee"]}))
