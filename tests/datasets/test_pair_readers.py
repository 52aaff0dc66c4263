"""CrowS-Pairs and StereoSet: pairs of sentences, as questions with three options."""

from __future__ import annotations

import csv
import io
import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from askew.datasets import DataSpec, load
from askew.datasets.base import BadRecord
from askew.datasets.phrases import comparable, is_unknown_phrase
from askew.datasets.three_options import three_options
from askew.errors import ConfigError, DataError

OLD, YOUNG = "Old people cannot cook.", "Young people cannot cook."


def write_crows(folder, *rows, header=("", "sent_more", "sent_less", "bias_type")):
    text = io.StringIO()
    csv.writer(text, lineterminator="\n").writerows([header, *rows])
    (folder / "crows_pairs_anonymized.csv").write_text(text.getvalue(), encoding="utf-8")
    return DataSpec("crows_pairs", folder)


def sentence(text, label):
    return {"sentence": text, "gold_label": label}


def entry(**changes):
    return {
        "id": "x1",
        "bias_type": "profession",
        "context": "The baker was BLANK.",
        "sentences": [
            sentence("The baker was fat.", "stereotype"),
            sentence("The baker was thin.", "anti-stereotype"),
            sentence("The baker was Tuesday.", "unrelated"),
        ],
    } | changes


def write_stereoset(folder, *, within=(), between=()):
    data = {"intrasentence": list(within), "intersentence": list(between)}
    (folder / "test.json").write_text(json.dumps({"version": "1.1", "data": data}))
    return DataSpec("stereoset", folder)


sentences = (
    st.text(min_size=1).map(str.strip).filter(lambda t: comparable(t) and not is_unknown_phrase(t))
)


@given(sentences, sentences, st.integers(0, 2**32), st.text())
def test_the_three_options_are_the_two_sentences_and_an_unknown_phrase(more, less, seed, item_id):
    if comparable(more) == comparable(less):
        with pytest.raises(BadRecord):
            three_options("id", more, less, seed)
        return
    three = three_options("id", more, less, seed)
    assert three.options[three.stereotyped] == more
    assert three.options[3 - three.stereotyped - three.neutral] == less
    assert is_unknown_phrase(three.options[three.neutral])


def test_every_order_and_every_phrase_is_drawn():
    drawn = [three_options(f"item/{i}", "left", "right", 0) for i in range(600)]
    assert {(three.stereotyped, three.neutral) for three in drawn} == {
        (i, j) for i in range(3) for j in range(3) if i != j
    }
    assert len({three.options[three.neutral] for three in drawn}) == 10


def test_an_items_options_do_not_depend_on_the_other_items(tmp_path):
    rows = [(str(i), f"Old men say {i}.", f"Young men say {i}.", "age") for i in range(20)]
    every = {item.id: item.options for item in load(write_crows(tmp_path, *rows), seed=3).items}
    some = {i.id: i.options for i in load(write_crows(tmp_path, *rows[::-3]), seed=3).items}
    assert some.items() <= every.items()
    other = {item.id: item.options for item in load(write_crows(tmp_path, *rows), seed=4).items}
    assert other != every


@pytest.mark.parametrize("direction", ["stereo", "antistereo"])
def test_sent_more_is_the_stereotyped_option_in_both_directions(tmp_path, direction):
    header = ("", "sent_more", "sent_less", "stereo_antistereo", "bias_type")
    spec = write_crows(tmp_path, ("0", OLD, YOUNG, direction, "race-color"), header=header)
    (item,) = load(spec).items
    assert item.options[item.stereotyped] == OLD
    assert item.options[item.antistereotyped] == YOUNG
    assert item.answer == item.neutral
    assert (item.id, item.source, item.bias_type) == ("crows_pairs/0", "crows_pairs", "race")
    assert item.context == ""


def test_the_same_pair_under_another_id_is_a_duplicate_and_the_first_stays(tmp_path):
    spec = write_crows(tmp_path, ("3", OLD, YOUNG, "age"), ("1", f"{OLD} ", YOUNG, "age"))
    loaded = load(spec)
    assert [item.id for item in loaded.items] == ["crows_pairs/3"]
    assert [(p.kind, p.line, p.record) for p in loaded.problems] == [("duplicate", 3, "1")]


def test_a_pair_the_other_way_round_is_another_item(tmp_path):
    loaded = load(write_crows(tmp_path, ("0", OLD, YOUNG, "age"), ("1", YOUNG, OLD, "age")))
    assert len(loaded.items) == 2
    assert loaded.problems == ()


@pytest.mark.parametrize(
    ("row", "message"),
    [
        (("0", OLD, OLD, "age"), "same text"),
        (("0", OLD, "old people cannot cook", "age"), "same text"),
        (("0", "", YOUNG, "age"), "is empty"),
        (("0", OLD, "nan", "age"), "expected text"),
        (("0", OLD, YOUNG, ""), "is empty"),
        (("", OLD, YOUNG, "age"), "expected a name"),
        (("0", OLD, "Not known.", "age"), "unknown phrase"),
    ],
)
def test_a_pair_that_cannot_be_used_is_rejected(tmp_path, row, message):
    loaded = load(write_crows(tmp_path, row, ("9", OLD, YOUNG, "age")), lenient=True)
    assert [item.id for item in loaded.items] == ["crows_pairs/9"]
    (problem,) = loaded.rejected
    assert (problem.line, problem.record) == (2, row[0])
    assert message in problem.message


def test_crows_pairs_has_no_options(tmp_path):
    write_crows(tmp_path, ("0", OLD, YOUNG, "age"))
    with pytest.raises(ConfigError, match="no option 'split'"):
        load(DataSpec("crows_pairs", tmp_path, {"split": "dev"}))


def test_an_intrasentence_item_uses_whole_sentences_and_no_template(tmp_path):
    (item,) = load(write_stereoset(tmp_path, within=[entry()])).items
    assert item.options[item.stereotyped] == "The baker was fat."
    assert item.options[item.antistereotyped] == "The baker was thin."
    assert (item.context, item.context_before_options) == ("", False)
    assert (item.id, item.bias_type) == ("stereoset/x1", "profession")


def test_an_intersentence_items_context_stands_before_its_options(tmp_path):
    (item,) = load(write_stereoset(tmp_path, between=[entry(context=" A baker. ")])).items
    assert (item.context, item.context_before_options) == ("A baker.", True)


@pytest.mark.parametrize("absent", ["", "  ", None, "nan", "NaN", "None", "null", float("nan")])
def test_an_absent_context_is_empty_and_never_a_word(tmp_path, absent):
    (item,) = load(write_stereoset(tmp_path, between=[entry(context=absent)])).items
    assert (item.context, item.context_before_options) == ("", False)


@pytest.mark.parametrize(
    "labels",
    [
        ("stereotype", "stereotype", "unrelated"),
        ("anti-stereotype", "unrelated", "unrelated"),
        ("stereotype", None, "unrelated"),
        ("stereotype", "related", "unrelated"),
    ],
)
def test_an_item_without_one_stereotype_and_one_anti_stereotype_is_rejected(tmp_path, labels):
    texts = ("One.", "Two.", "Three.")
    bad = entry(sentences=[sentence(*pair) for pair in zip(texts, labels, strict=True)])
    loaded = load(write_stereoset(tmp_path, within=[bad, entry(id="y")]), lenient=True)
    assert [item.id for item in loaded.items] == ["stereoset/y"]
    (problem,) = loaded.rejected
    assert problem.record == "x1"
    assert "gold label" in problem.message


def test_the_unrelated_sentence_needs_no_label(tmp_path):
    sentences = entry()["sentences"]
    del sentences[2]["gold_label"]
    assert len(load(write_stereoset(tmp_path, within=[entry(sentences=sentences)])).items) == 1


def test_repeated_items_count_once_and_an_id_with_two_contents_is_rejected(tmp_path):
    changed = entry(sentences=[sentence("A.", "stereotype"), sentence("B.", "anti-stereotype")])
    spec = write_stereoset(tmp_path, within=[entry(), entry(), entry(id="x2"), changed])
    loaded = load(spec, lenient=True)
    assert [item.id for item in loaded.items] == ["stereoset/x1"]
    assert [problem.kind for problem in loaded.problems] == ["duplicate", "duplicate", "rejected"]


def test_a_list_entry_that_is_no_object_is_rejected_by_its_place(tmp_path):
    loaded = load(write_stereoset(tmp_path, within=[entry(), "x"]), lenient=True)
    assert [problem.field for problem in loaded.rejected] == ["data.intrasentence[1]"]


@pytest.mark.parametrize("document", ["[]", "{}", '{"data": {}}', '{"data": {"intrasentence": 1}}'])
def test_another_kind_of_document_is_an_error(tmp_path, document):
    (tmp_path / "test.json").write_text(document)
    with pytest.raises(DataError, match=r"test\.json"):
        load(DataSpec("stereoset", tmp_path))


def test_the_split_is_chosen_by_name(tmp_path):
    write_stereoset(tmp_path, within=[entry()])
    with pytest.raises(DataError, match=r"dev\.json"):
        load(DataSpec("stereoset", tmp_path, {"split": "dev"}))
    with pytest.raises(ConfigError, match=r"'train'.*dev, test"):
        load(DataSpec("stereoset", tmp_path, {"split": "train"}))
