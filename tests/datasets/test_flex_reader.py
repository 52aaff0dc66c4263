from __future__ import annotations

import csv
import io
import json
from pathlib import Path

import pytest

from askew.datasets import DataSpec, load
from askew.errors import ConfigError, DataError
from askew.records import Assignment, AttackCategory

TEXT_FILES = {
    "character": "0_char.json",
    "word": "1_word.json",
    "sentence_v1": "2_sent.json",
    "sentence_v2": "3_or.json",
}


def bbq_row(**changes):
    return {
        "Unnamed: 0": "0",
        "Unnamed: 0.1": "0",
        "ctx": "An aunt and a nephew met.",
        "q_text": "Who was slow?",
        "sent_more": "The aunt",
        "sent_less": "The nephew",
        "bias_type": "gender_identity",
        "a": "The aunt ",
        "b": "The nephew",
        "c": "Not enough info.",
        "attack_type": "1",
        "attack_success": "5.0",
        "attack": "persona",
        "label": "2",
    } | changes


def stereoset_row(**changes):
    fields = bbq_row(id="s1", context="A baker lives here.", **changes)
    return {name: fields[name] for name in fields if name not in ("ctx", "q_text")}


def crows_row(**changes):
    fields = bbq_row(stereo_antistereo="stereo", **changes)
    return {name: fields[name] for name in fields if name not in ("ctx", "q_text")}


def write(folder: Path, source: str, *rows, fewshot=()):
    """Write one source in the form of the release; returns the source's folder."""
    place = folder / source
    (place / "text").mkdir(parents=True)
    for name, content in ((f"FLEX_{source}.csv", rows), (f"FLEX_{source}_fewshot.csv", fewshot)):
        if content:
            text = io.StringIO()
            writer = csv.DictWriter(text, content[0].keys(), lineterminator="\n")
            writer.writeheader()
            writer.writerows(content)
            (place / name).write_text(text.getvalue(), encoding="utf-8")
    for kind, name in TEXT_FILES.items():
        questions = {row["Unnamed: 0"]: [f"{kind} of {row['Unnamed: 0']}?"] for row in rows}
        (place / "text" / name).write_text(json.dumps(questions), encoding="utf-8")
    return place


@pytest.fixture(autouse=True)
def _empty_cache(tmp_path, monkeypatch):
    monkeypatch.setenv("ASKEW_CACHE", str(tmp_path / "cache"))


def test_an_attacked_row_becomes_an_item_with_its_attack(tmp_path):
    write(tmp_path, "bbq", bbq_row())
    (item,) = load(DataSpec("flex", tmp_path)).items
    assert (item.id, item.source, item.bias_type) == ("flex_bbq/0", "bbq", "gender")
    assert item.options == ("The aunt", "The nephew", "Not enough info.")
    assert (item.neutral, item.answer, item.stereotyped) == (2, 2, 0)
    assert item.assigned == Assignment(AttackCategory.PERSONA_INJECTION, 1)
    assert item.text_attacks == {kind: f"{kind} of 0?" for kind in TEXT_FILES}
    assert not item.context_before_options


@pytest.mark.parametrize(
    ("attack", "category"),
    [
        ("persona", AttackCategory.PERSONA_INJECTION),
        ("refusal_suppression", AttackCategory.COMPETING_OBJECTIVES),
        ("text", AttackCategory.TEXT_ATTACK),
    ],
)
def test_each_attack_of_the_release_has_its_category(tmp_path, attack, category):
    write(tmp_path, "bbq", bbq_row(attack=attack, attack_type="3"))
    assert load(DataSpec("flex", tmp_path)).items[0].assigned == Assignment(category, 3)


def test_a_row_without_an_attack_is_reported_and_no_item(tmp_path):
    unattacked = bbq_row(**{"Unnamed: 0": "4", "attack": "-1", "attack_type": "-1"})
    write(tmp_path, "bbq", bbq_row(), unattacked)
    loaded = load(DataSpec("flex", tmp_path))
    assert [item.id for item in loaded.items] == ["flex_bbq/0"]
    assert [(p.kind, p.line, p.record) for p in loaded.problems if p.line] == [
        ("no_attack", 3, "4")
    ]


def test_a_crows_pairs_row_asks_the_question_of_the_release(tmp_path):
    write(tmp_path, "crows", crows_row())
    (item,) = load(DataSpec("flex", tmp_path)).items
    assert (item.id, item.source, item.context) == ("flex_crows/0", "crows_pairs", "")
    assert item.question == "Which of these is more accurate?"


@pytest.mark.parametrize(("context", "before"), [("A baker.", True), ("", False), ("nan", False)])
def test_a_stereoset_context_stands_before_the_options_where_there_is_one(
    tmp_path, context, before
):
    write(tmp_path, "stereoset", stereoset_row() | {"context": context})
    (item,) = load(DataSpec("flex", tmp_path)).items
    assert (item.context, item.context_before_options) == (context if before else "", before)


@pytest.mark.parametrize(
    ("changes", "field"),
    [
        ({"label": "0"}, "label"),
        ({"label": "n"}, "label"),
        ({"attack": "bribe"}, "attack"),
        ({"attack_type": "n"}, "attack_type"),
        ({"attack_type": "-1"}, "attack_type"),
        ({"attack": "-1", "attack_type": "2"}, "attack_type"),
        ({"sent_more": "The cousin"}, "sent_more"),
        ({"c": "The cousin"}, ""),
        ({"b": "Undetermined."}, ""),
        ({"b": "the aunt"}, ""),
    ],
)
def test_a_row_that_contradicts_itself_is_rejected(tmp_path, changes, field):
    write(tmp_path, "bbq", bbq_row(**changes))
    (problem,) = load(DataSpec("flex", tmp_path), lenient=True).rejected
    assert (problem.line, problem.record, problem.field) == (2, "0", field)


def test_a_demonstrations_label_is_never_read(tmp_path):
    shown = bbq_row(q_text="Who ran?", label="1", attack="n", attack_type="a")
    write(tmp_path, "bbq", bbq_row(), fewshot=[shown])
    (demonstration,) = load(DataSpec("flex", tmp_path)).demonstrations
    assert demonstration.id == "flex_bbq_fewshot/0"
    assert demonstration.answer == demonstration.neutral == 2
    assert demonstration.assigned is None


def test_a_demonstration_that_is_a_test_item_too_is_noted(tmp_path):
    shown = bbq_row(**{"Unnamed: 0": "50"}, a="Unknown.", b="The nephew", c="The aunt")
    other = bbq_row(**{"Unnamed: 0": "51"}, q_text="Who ran?")
    write(tmp_path, "bbq", bbq_row(), fewshot=[shown, other])
    notes = [p for p in load(DataSpec("flex", tmp_path)).problems if "demonstrates" in p.message]
    assert [(p.record, p.message) for p in notes] == [
        ("50", "demonstrates the test item flex_bbq/0")
    ]


def test_without_the_maps_of_questions_the_rows_are_read_and_the_lack_is_noted(tmp_path):
    place = write(tmp_path, "bbq", bbq_row(attack="text"))
    for name in TEXT_FILES.values():
        (place / "text" / name).unlink()
    loaded = load(DataSpec("flex", tmp_path))
    assert loaded.items[0].text_attacks == {}
    assert sum("text attack" in problem.message for problem in loaded.problems) == 4


def test_a_map_of_questions_in_another_form_is_an_error(tmp_path):
    place = write(tmp_path, "bbq", bbq_row())
    (place / "text" / "1_word.json").write_text('{"0": []}')
    with pytest.raises(DataError, match=r"1_word\.json.*'0'"):
        load(DataSpec("flex", tmp_path))


@pytest.mark.parametrize("where", ["", "flex", "data"])
def test_the_files_are_found_in_a_folder_of_sets_the_sets_own_and_a_clone(tmp_path, where):
    write(tmp_path / where, "crows", crows_row())
    assert len(load(DataSpec("flex", tmp_path)).items) == 1


def test_sources_are_picked_and_those_that_are_not_there_are_noted(tmp_path):
    write(tmp_path, "bbq", bbq_row())
    write(tmp_path, "crows", crows_row())
    loaded = load(DataSpec("flex", tmp_path, {"sources": ["crows"]}))
    assert [item.source for item in loaded.items] == ["crows_pairs"]
    notes = [p.message for p in load(DataSpec("flex", tmp_path)).problems]
    assert notes == ["FLEX_stereoset.csv is not there; its source is left out"]
    with pytest.raises(DataError, match=r"FLEX_stereoset\.csv"):
        load(DataSpec("flex", tmp_path, {"sources": ["stereoset"]}))
    with pytest.raises(ConfigError, match=r"'crow'.*bbq, crows, stereoset"):
        load(DataSpec("flex", tmp_path, {"sources": ["crow"]}))


@pytest.mark.parametrize(
    ("source", "row"),
    [("bbq", bbq_row()), ("crows", crows_row()), ("stereoset", stereoset_row())],
)
def test_a_lone_file_is_read_as_the_source_that_its_columns_show(tmp_path, source, row):
    place = write(tmp_path, source, row)
    renamed = (place / f"FLEX_{source}.csv").rename(place / "rows.csv")
    (item,) = load(DataSpec("flex", renamed)).items
    assert item.id == f"flex_{source}/0"


@pytest.mark.parametrize("where", ["beside", "cache"])
def test_controls_come_from_bbq_where_it_lies_beside_or_in_the_cache(tmp_path, where):
    control = {
        "example_id": 1,
        "question_index": "1",
        "question_polarity": "neg",
        "context_condition": "disambig",
        "category": "Age",
        "context": "The aunt overtook the nephew.",
        "question": "Who was slow?",
        "ans0": "The aunt",
        "ans1": "The nephew",
        "ans2": "Unknown",
        "label": 1,
    }
    write(tmp_path / "flex", "bbq", bbq_row())
    write(tmp_path / "flex", "crows", crows_row())
    folder = tmp_path / ("bbq" if where == "beside" else "cache/bbq")
    folder.mkdir(parents=True)
    for name in (
        "Age",
        "Gender_identity",
        "Nationality",
        "Race_ethnicity",
        "Religion",
        "Sexual_orientation",
    ):
        line = json.dumps(control | {"category": name}) + "\n"
        (folder / f"{name}.jsonl").write_text(line)
    controls = load(DataSpec("flex", tmp_path)).controls
    assert {item.id.split("/")[0] for item in controls} == {"bbq"}
    assert len(controls) == 6
    assert load(DataSpec("flex", tmp_path, {"sources": ["crows"]})).controls == ()


BUILT_OWN = {
    "item_id": "ward/17",
    "source": "ward",
    "language": "en",
    "category": "text_attack",
    "scenario": "character",
    "instruction": "",
    "attacked_question": "Who was slw?",
    "text_attacks": json.dumps({"character": "Who was slw?", "word": "Who was tardy?"}),
    "polarity": "negative",
}


def built_row(**changes):
    attacked = {"attack": "text", "attack_type": "0", "context": ""}
    return bbq_row(a="The aunt", **(attacked | BUILT_OWN | changes))


def test_a_row_of_a_built_set_is_the_item_that_it_was_made_from(tmp_path):
    write(tmp_path, "ward", built_row())
    (item,) = load(DataSpec("flex", tmp_path)).items
    assert (item.id, item.source, item.bias_type) == ("ward/17", "ward", "gender_identity")
    assert item.assigned == Assignment(AttackCategory.TEXT_ATTACK, 0, "character")
    assert item.text_attacks == {"character": "Who was slw?", "word": "Who was tardy?"}
    assert (item.polarity, item.stereotyped, item.answer) == ("negative", 0, 2)
    assert (item.provenance.line, item.provenance.record) == (2, "ward/17")


def test_a_built_set_may_not_know_the_stereotype_and_may_word_the_neutral_option_its_own_way(
    tmp_path,
):
    write(tmp_path, "ward", built_row(sent_more="", sent_less="", c="Ask the porter."))
    (item,) = load(DataSpec("flex", tmp_path)).items
    assert (item.stereotyped, item.neutral) == (None, 2)
    write(tmp_path / "released", "bbq", bbq_row(sent_more=""))
    assert len(load(DataSpec("flex", tmp_path / "released"), lenient=True).rejected) == 1


@pytest.mark.parametrize(
    ("changes", "field"),
    [
        ({"category": "bribe"}, "category"),
        ({"category": "persona_injection"}, "attack"),
        ({"attack_type": "-1"}, "attack_type"),
        ({"scenario": " "}, "scenario"),
        ({"item_id": ""}, "item_id"),
        ({"label": "3"}, "label"),
        ({"label": "0"}, "label"),
        ({"sent_more": "The cousin"}, "sent_more"),
        ({"sent_more": "Not enough info."}, "sent_more"),
        ({"attacked_question": ""}, "attacked_question"),
        ({"attacked_question": "Who ran?"}, "attacked_question"),
        ({"attack": "persona", "category": "persona_injection"}, "attacked_question"),
        ({"text_attacks": "{"}, "text_attacks"),
        ({"text_attacks": "[1]"}, "text_attacks"),
        ({"text_attacks": '{"character": 3}'}, "text_attacks"),
        ({"polarity": "bad"}, "polarity"),
        ({"context": "They met."}, "ctx"),
        ({"b": "the aunt."}, ""),
    ],
)
def test_a_built_row_that_contradicts_itself_is_rejected_with_its_field(tmp_path, changes, field):
    write(tmp_path, "ward", built_row(**changes))
    (problem,) = load(DataSpec("flex", tmp_path), lenient=True).rejected
    assert (problem.line, problem.field) == (2, field)
    with pytest.raises(DataError, match=r"FLEX_ward\.csv:2"):
        load(DataSpec("flex", tmp_path))


def test_a_builds_folder_stands_for_its_selected_set_and_random_is_named(tmp_path):
    write(tmp_path / "selected", "ward", built_row())
    write(
        tmp_path / "random", "ward", built_row(scenario="word", attacked_question="Who was tardy?")
    )
    for folder, scenario in (("", "character"), ("selected", "character"), ("random", "word")):
        (item,) = load(DataSpec("flex", tmp_path / folder)).items
        assert item.assigned is not None
        assert item.assigned.name == scenario
    lone = tmp_path / "random/ward/FLEX_ward.csv"
    assert len(load(DataSpec("flex", lone)).items) == 1


def test_the_sources_of_a_built_set_are_picked_by_their_name_or_the_releases(tmp_path):
    write(tmp_path, "ward", built_row())
    write(tmp_path, "crows", built_row(item_id="crows_pairs/1", source="crows_pairs"))

    def read(*sources):
        return [it.id for it in load(DataSpec("flex", tmp_path, {"sources": sources})).items]

    assert read("ward") == ["ward/17"]
    assert read("crows") == read("crows_pairs") == ["crows_pairs/1"]
    with pytest.raises(ConfigError, match=r"'bbq'.*crows_pairs, ward"):
        read("bbq")


def test_a_build_that_has_not_ended_is_said_to_be_that(tmp_path):
    (tmp_path / "build.toml").write_text("seed = 0")
    with pytest.raises(DataError, match="has not ended"):
        load(DataSpec("flex", tmp_path))


def test_two_sets_of_one_build_are_refused_together(tmp_path):
    from askew.audits.flex import FlexConfig, load_study

    write(tmp_path / "selected", "ward", built_row())
    write(
        tmp_path / "random", "ward", built_row(scenario="word", attacked_question="Who was tardy?")
    )
    sets = (DataSpec("flex", tmp_path / "selected"), DataSpec("flex", tmp_path / "random"))
    with pytest.raises(DataError, match=r"'ward/17'.*run the two sets apart"):
        load_study(FlexConfig(data=sets), seed=0)


def test_a_damaged_parquet_file_and_one_of_something_else_are_said_to_be_that(tmp_path):
    pyarrow = pytest.importorskip("pyarrow")
    parquet = pytest.importorskip("pyarrow.parquet")
    path = tmp_path / "selected.parquet"
    path.write_bytes(b"PAR1 and nothing more")
    with pytest.raises(DataError, match=r"selected\.parquet: cannot be read as Parquet"):
        load(DataSpec("flex", path))
    parquet.write_table(pyarrow.table({"item_id": ["a"]}), path)
    with pytest.raises(DataError, match="has no column 'scenario'"):
        load(DataSpec("flex", path))
