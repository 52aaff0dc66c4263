"""The user's own vignettes in JSON lines, CSV and text: what is read, and what each fault says."""

from __future__ import annotations

import csv
import io
import json
import re
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given as each
from hypothesis import strategies as st

from askew.datasets.base import Report
from askew.datasets.files import unpacked
from askew.datasets.gold_triplets import read_gold
from askew.datasets.own_vignettes import FIELDS, read_vignettes, write_template
from askew.datasets.vignette_records import LEVELS, Vignettes
from askew.datasets.vignettes import DataSpec, load
from askew.errors import ConfigError, DataError
from askew.perturb.attributes import STANDARD
from askew.vignettes import GivenVariant, Relation, Span, Status

SECRET = (
    "Mr Ali Example, born 3 May 1961, of 12 Long Road, has had chest pain since yesterday noon."
)
FULL = {
    "id": "a1",
    "text": "A 40-year-old man coughs.",
    "question": "What is it?",
    "reference": ["flu", "asthma"],
    "must_not_miss": ["asthma"],
    "options": ["Rest", "Refer"],
    "answer": "refer",
    "relevance": {"gender": "not_relevant", "place": "relevant"},
    "impossible": {"gender": ["female"], "age": ["1-10"]},
    "odd": {"age": ["65-80"]},
    "reason": "why",
    "given": [{"levels": {"gender": "female"}, "text": "A 40-year-old woman coughs."}],
    "language": "en-GB",
}


def read(content, name="cases.jsonl"):
    """What a file with this content gives: vignettes and problems."""
    data = content if isinstance(content, bytes) else content.encode()
    report = Report()
    vignettes = Vignettes(report)
    read_vignettes(unpacked(name, data), "mine", vignettes, report)
    return list(vignettes), report.problems


def as_lines(*records):
    return "".join(json.dumps(record, ensure_ascii=False) + "\n" for record in records)


def as_table(*records, columns=None):
    out = io.StringIO()
    writer = csv.DictWriter(out, columns or list(records[0]), lineterminator="\n")
    writer.writeheader()
    writer.writerows(records)
    return out.getvalue()


def test_every_field_of_a_record_is_read():
    (vignette,), problems = read(as_lines(FULL))
    assert problems == []
    assert vignette.id == "mine/a1"
    assert vignette.source == "mine"
    assert vignette.question == "What is it?"
    assert vignette.reference == ("flu", "asthma")
    assert vignette.must_not_miss == ("asthma",)
    assert (vignette.options, vignette.answer) == (("Rest", "Refer"), 1)
    assert vignette.relevance == {"gender": "not_relevant", "place": "relevant"}
    assert vignette.impossible == {"gender": ("female",), "age": ("1-10",)}
    assert vignette.odd == {"age": ("65-80",)}
    assert vignette.given == (GivenVariant({"gender": "female"}, "A 40-year-old woman coughs."),)
    assert vignette.language == "en-GB"
    assert vignette.triplets is None
    assert vignette.provenance.line == 1


def test_a_table_with_words_or_json_in_its_cells_says_the_same():
    words = FULL | {
        "reference": "flu; asthma",
        "must_not_miss": "asthma",
        "options": "Rest;Refer",
        "relevance": "gender=not_relevant; place=relevant",
        "impossible": "gender=female; age=1-10",
        "odd": "age = 65-80",
        "given": json.dumps(FULL["given"]),
    }
    cells = {k: v if isinstance(v, str) else json.dumps(v) for k, v in FULL.items()}
    (wanted,), _ = read(as_lines(FULL))
    for table in (as_table(words), as_table(cells)):
        for content in (table, "\ufeff" + table, table.replace("\n", "\r\n")):
            (found,), problems = read(content, "cases.csv")
            assert problems == []
            assert replace(found, provenance=wanted.provenance) == wanted


def test_a_text_alone_is_enough_and_is_named_by_its_place():
    found, problems = read(as_lines({"text": "A."}, {"text": "B."}))
    assert problems == []
    assert [(v.id, v.text) for v in found] == [("mine/case-1", "A."), ("mine/case-2", "B.")]
    found, problems = read("text\nA.\nB.\n", "cases.csv")
    assert problems == []
    assert [v.provenance.line for v in found] == [2, 3]


def test_excel_leaves_semicolons_empty_columns_and_a_mark():
    found, problems = read("\ufeffid;text;;\r\n1;A man coughs.;;\r\n;;;\r\n", "cases.csv")
    assert [v.text for v in found] == ["A man coughs."]
    assert [p.kind for p in problems] == ["skipped"]


BAD = [
    ("text", None, "is missing. Write the case there"),
    ("text", " ", "is empty"),
    ("text", "nan", "is 'nan'"),
    ("text", 7, "is '7', expected text"),
    ("text", {"a": 1}, "expected text"),
    ("question", ["why"], "expected text"),
    ("id", {"a": 1}, "expected text or a whole number"),
    ("id", True, "expected text or a whole number"),
    ("reference", 3, "expected a list of texts"),
    ("reference", ["flu", 3], "expected a list of texts"),
    ("reference", ["flu", " "], "holds an empty text"),
    ("reference", {"first": "flu"}, "expected a list of texts"),
    ("options", ["Rest"], "one option"),
    ("options", ["Rest", "rest."], "same text"),
    ("answer", "c", "an option's text or a letter from a to b"),
    ("answer", "ab", "an option's text or a letter"),
    ("answer", 2, "an option's text or a letter"),
    ("answer", -1, "an option's text or a letter"),
    ("answer", True, "an option's text or a letter"),
    ("answer", 0.5, "an option's text or a letter"),
    ("answer", "1", "an option's text or a letter"),
    ("relevance", {"gender": "maybe"}, "gender is 'maybe', expected relevant, not_relevant"),
    ("relevance", {"gender": False}, "expected relevant"),
    ("relevance", "gender", "expected a form such as"),
    ("impossible", "gender=; age=1-10", "expected a form such as"),
    ("relevance", ["gender"], "expected an object"),
    ("impossible", {"gender": 1}, "list of levels of 'gender'"),
    ("impossible", {"": ["x"]}, "expected a word"),
    ("impossible", "age=1-10; age=65-80", "names 'age' twice"),
    ("impossible", "{age", "begins like JSON"),
    ("odd", {"age": ["1-10"]}, "'impossible' has it too"),
    ("given", {"levels": {}}, "expected a list of objects"),
    ("given", [{"text": "A."}], "twin 0"),
    ("given", [{"levels": {}, "text": "A."}], "levels of twin 0"),
    ("given", [{"levels": {"gender": "male"}, "text": ""}], "text of twin 0"),
    ("triplets", {"r": "has_age"}, "expected a list of triplets"),
    ("triplets", "[", "is no JSON"),
    ("language", "English please", "BCP 47"),
    ("perturb", "age", "expected an object"),
    ("perturb", {"impossible_age": 3}, "list of levels of 'age'"),
]


@pytest.mark.parametrize(("field", "value", "message"), BAD)
def test_a_bad_field_is_named_with_its_line_and_costs_no_other_record(field, value, message):
    bad = {k: v for k, v in FULL.items() if k != field}
    if value is not None:
        bad[field] = value
    found, problems = read(as_lines({"id": "a0", "text": "A."}, bad, {"id": "a2", "text": "B."}))
    assert [v.id for v in found] == ["mine/a0", "mine/a2"]
    (problem,) = problems
    assert (problem.kind, problem.line, problem.field) == ("rejected", 2, field)
    assert message in problem.message


def test_an_answer_needs_options():
    _, (problem,) = read(as_lines({"text": "A.", "answer": "a"}))
    assert (problem.field, problem.kind) == ("answer", "rejected")


@pytest.mark.parametrize(
    ("options", "answer", "place"),
    [
        (["None", "One"], "None", 0),
        (["1", "0"], "0", 1),
        (["b", "a"], "a", 1),
        (["Rest", "Refer"], "(B)", 1),
        (["Rest", "Refer"], 0, 0),
        (["Rest", "Refer"], "", None),
        (["Rest", "Refer"], "None", None),
    ],
)
def test_an_answer_is_an_options_own_text_before_it_is_a_letter(options, answer, place):
    (vignette,), _ = read(as_lines({"text": "A.", "options": options, "answer": answer}))
    assert vignette.answer == place


def test_the_same_record_counts_once_and_an_id_is_not_used_for_two():
    one, other = {"id": "x", "text": "A."}, {"id": "x", "text": "B."}
    found, problems = read(as_lines(one, one, other))
    assert [v.text for v in found] == ["A."]
    assert [(p.kind, p.line) for p in problems] == [("duplicate", 2), ("rejected", 3)]
    assert "other content than line 1" in problems[1].message


def test_an_unknown_field_is_noted_once_with_the_one_that_is_meant():
    found, problems = read(as_lines(*[{"text": "A.", "id": str(i), "refrence": "x"} for i in "ab"]))
    assert len(found) == 2
    (note,) = problems
    assert (note.kind, note.line, note.field) == ("note", 1, "refrence")
    assert "Did you mean 'reference'?" in note.message


def test_paragraphs_of_a_text_are_cases():
    text = "\ufeff\r\nA man\r\ncoughs.\r\n\r\n  \r\nA woman sneezes.\r\n"
    found, problems = read(text, "ward.txt")
    assert [(v.id, v.text, v.provenance.line) for v in found] == [
        ("mine/case-1", "A man\ncoughs.", 2),
        ("mine/case-2", "A woman sneezes.", 6),
    ]
    assert problems == []


def test_a_text_without_a_blank_line_is_one_case_and_says_so():
    found, (note,) = read("A man coughs.\nA woman sneezes.\n", "ward.txt")
    assert len(found) == 1
    assert "blank line between cases" in note.message


def test_a_paragraph_that_is_no_utf_8_costs_itself_alone():
    found, (problem,) = read(b"A man coughs.\n\nFi\xe8vre.\n\nA woman sneezes.\n", "ward.txt")
    assert [v.id for v in found] == ["mine/case-1", "mine/case-2"]
    assert (problem.kind, problem.line) == ("rejected", 3)


@each(st.lists(st.text(st.characters(codec="utf-8", exclude_characters="\n\r\ufeff"), min_size=1)))
def test_every_paragraph_that_is_not_blank_is_a_case_or_a_problem(paragraphs):
    found, problems = read("\n\n".join(paragraphs), "ward.txt")
    wanted = [p for p in paragraphs if p.encode().strip()]
    assert len(found) + sum(p.kind == "rejected" for p in problems) == len(wanted)


FAULTS = [
    {"text": SECRET, "reference": 3},
    {"text": [SECRET]},
    {"text": {"case": SECRET}},
    {"id": {"x": SECRET}, "text": "A."},
    {"id": SECRET, "text": 3},
    {"text": "A.", "question": [SECRET]},
    {"text": "A.", "options": [SECRET, SECRET + "."]},
    {"text": "A.", "options": ["a", "b"], "answer": SECRET},
    {"text": "A.", "given": [{"levels": {}, "text": SECRET}]},
    {"text": "A.", "given": SECRET},
    {"text": "A.", "odd": SECRET},
    {"text": "A.", "relevance": {"x": SECRET}},
    {"text": "A.", "impossible": {SECRET: ["x"]}},
    {"text": "A.", "language": SECRET},
    {"text": SECRET, "triplets": [{"h": "patient", "r": "has_symptom", "t": SECRET}]},
    {"text": SECRET, "triplets": [SECRET]},
]


@pytest.mark.parametrize("record", FAULTS)
def test_a_message_shows_a_short_piece_of_a_patient_at_most(record):
    _, problems = read(as_lines(record))
    (problem,) = problems
    assert problem.kind == "rejected"
    shown = str(problem)
    longest = max((n for n in range(len(SECRET)) if SECRET[:n] in shown), default=0)
    assert longest <= 40
    assert SECRET[45:] not in shown


def test_a_table_without_a_header_shows_no_patient(tmp_path):
    file = tmp_path / "ward.csv"
    file.write_text(f'1,"{SECRET}"\n2,"{SECRET}!"\n')
    with pytest.raises(DataError, match="no column 'text'") as caught:
        load(DataSpec("own", file))
    assert SECRET[45:] not in str(caught.value)


def test_a_repeated_id_is_shown_in_part():
    record = {"id": SECRET, "text": "A."}
    _, (problem,) = read(as_lines(record, record))
    assert problem.kind == "duplicate"
    assert SECRET[45:] not in str(problem)


GOLD = {
    "h": "patient",
    "r": "has_symptom",
    "t": "cough",
    "status": "present",
    "span": [18, 24],
    "evidence": "coughs",
    "alt": ["coughs"],
}


def test_triplets_in_the_form_of_the_gold_set_are_read():
    age = {"h": "patient", "r": "has_age", "t": 40, "unit": "year", "qualifier": "exact"}
    age |= {"status": "present", "span": [2, 13], "evidence": "40-year-old"}
    decade = age | {"t": 40, "qualifier": "decade", "range": [40, 49]}
    family = GOLD | {"r": "family_history", "relative": "mother"}
    (vignette,), problems = read(as_lines(FULL | {"triplets": [age, decade, GOLD, family]}))
    assert problems == []
    first, second, third, fourth = vignette.triplets
    assert (first.value, first.unit, first.qualifier, first.years) == (40, "year", "exact", None)
    assert second.years == (40, 49)
    assert (third.relation, third.status) == (Relation.HAS_SYMPTOM, Status.PRESENT)
    assert (third.span, third.evidence) == (Span(18, 24), "coughs")
    assert fourth.experiencer == "mother"


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"evidence": "cough"}, "evidence is 'cough', the text has 'coughs'"),
        ({"span": [18, 99]}, "the text has 25 characters"),
        ({"span": [24, 18]}, "span is 24 to 18"),
        ({"span": [18]}, "two whole numbers"),
        ({"span": None}, "two whole numbers"),
        ({"r": "has_cough"}, "r is 'has_cough', expected has_age"),
        ({"status": "maybe"}, "status is 'maybe'"),
        ({"t": ""}, "t is ''"),
        ({"h": "mother"}, "expected 'patient'"),
        ({"sapn": 1}, "unknown key 'sapn'"),
        ({"r": "has_age"}, "whole number"),
        ({"r": "has_age", "t": 4, "unit": "hour"}, "unit is 'hour'"),
        ({"r": "family_history"}, "relative is 'None'"),
    ],
)
def test_a_bad_triplet_is_named_with_its_place(change, message):
    record = FULL | {"triplets": [GOLD, GOLD | change]}
    found, (problem,) = read(as_lines(record))
    assert found == []
    assert problem.field == "triplets"
    assert problem.message.startswith("triplet 1: ")
    assert message in problem.message


def test_gold_triplets_of_the_development_set_are_read(data_folder):
    lines = (data_folder / "medkg_gold" / "dev.jsonl").read_text(encoding="utf-8")
    found, problems = read(lines, "dev.jsonl")
    assert len(found) == 30
    assert sum(len(v.triplets) for v in found) == 208
    assert {p.field for p in problems} == {"tags", "source"}
    gold = read_gold(data_folder / "medkg_gold" / "dev.jsonl")
    for vignette, record in zip(found, gold, strict=True):
        assert vignette.impossible == record.impossible
        assert vignette.odd == record.odd
        assert [t.span for t in vignette.triplets] == [t.span for t in record.triplets]


@pytest.mark.parametrize("name", ["mine.csv", "mine.jsonl"])
def test_a_template_is_read_without_a_word(name, tmp_path):
    file = tmp_path / name
    write_template(file)
    loaded = load(DataSpec("own", file))
    assert loaded.problems == ()
    assert [v.id for v in loaded.vignettes] == ["mine/example-001", "mine/example-002"]
    assert loaded.vignettes[1].impossible == {"gender": ("male",), "age": ("1-10", "65-80")}
    assert load(DataSpec("own", file, {"source": "ward"})).vignettes[0].source == "ward"
    with pytest.raises(ConfigError, match="exists already"):
        write_template(file)


def test_both_templates_say_the_same(tmp_path):
    found = []
    for name in ("mine.csv", "mine.jsonl"):
        write_template(tmp_path / name)
        found.append(load(DataSpec("own", tmp_path / name)).vignettes)
    for one, other in zip(*found, strict=True):
        assert replace(one, provenance=other.provenance) == other


def test_a_file_without_cases_or_of_another_kind_is_refused(tmp_path):
    for name in ("a.jsonl", "a.txt"):
        (tmp_path / name).write_text("\n")
        with pytest.raises(DataError, match="holds no case"):
            load(DataSpec("own", tmp_path / name))
    (tmp_path / "a.csv").write_text("id,case\n1,x\n")
    with pytest.raises(DataError, match=r"no column 'text'.*'id', 'case'"):
        load(DataSpec("own", tmp_path / "a.csv"))
    (tmp_path / "a.docx").write_text("x")
    with pytest.raises(DataError, match=r"\.csv, \.tsv, \.jsonl"):
        load(DataSpec("own", tmp_path / "a.docx"))
    with pytest.raises(ConfigError, match="needs the path"):
        load(DataSpec("own"))


def test_the_form_names_each_field_once():
    names = [field.name for field in FIELDS]
    assert len(names) == len(set(names))
    assert [field.name for field in FIELDS if field.required] == ["text"]


def test_the_page_in_the_docs_names_the_fields_of_the_form():
    page = Path(__file__).parents[2] / "docs" / "clinical-data.md"
    table = page.read_text(encoding="utf-8").partition("| field |")[2].partition("\n\n")[0]
    cells = [line.split("|")[1] for line in table.splitlines() if line.startswith("| `")]
    assert {n for cell in cells for n in re.findall(r"`(\w+)`", cell)} == {f.name for f in FIELDS}


def test_a_record_without_an_id_never_takes_the_id_of_another():
    found, problems = read(
        as_lines({"text": "A.", "id": 1}, {"text": "B."}, {"text": "C.", "id": 2})
    )
    assert problems == []
    assert [v.id for v in found] == ["mine/1", "mine/case-2", "mine/2"]


def test_askews_own_levels_are_those_that_a_run_changes():
    assert {name: one.levels for name, one in STANDARD.items()} == LEVELS


def notes_of(*records):
    _, problems = read(as_lines(*({"text": "A man coughs."} | record for record in records)))
    assert all(problem.kind == "note" for problem in problems)
    return [(problem.field, problem.message) for problem in problems]


@pytest.mark.parametrize("field", ["relevance", "impossible", "odd"])
@pytest.mark.parametrize(
    ("word", "meant"),
    [
        ("sex", "gender"),
        ("Gendr", "gender"),
        ("location", "place"),
        ("ethnicity", "race"),
        ("Ethnic group", "race"),
        ("ages", "age"),
    ],
)
def test_an_attribute_that_is_likely_a_slip_is_noted_with_what_was_meant(field, word, meant):
    ((where, said),) = notes_of({field: {word: "relevant" if field == "relevance" else ["x"]}})
    assert where == field
    assert "[[clinical.declared]]" in said
    assert said.endswith(f"Did you mean {meant!r}?")


@pytest.mark.parametrize("word", ["insurance", "language", "wage", "name"])
def test_an_attribute_of_the_users_own_is_noted_without_a_guess(word):
    ((_, said),) = notes_of({"relevance": {word: "relevant"}})
    assert "[[clinical.declared]]" in said
    assert said.endswith("Known: age, gender, place, race.")


@pytest.mark.parametrize("field", ["impossible", "odd"])
@pytest.mark.parametrize(
    ("attribute", "word", "meant"),
    [
        ("gender", "man", "male"),
        ("gender", "Male", "male"),
        ("gender", "women", "female"),
        ("gender", "femal", "female"),
        ("gender", "F", "female"),
        ("gender", "Trans woman", "transgender woman"),
        ("gender", "nonbinary", "non-binary"),
        ("gender", "non_binary", "non-binary"),
        ("age", "1–10", "1-10"),
        ("age", "20 - 35", "20-35"),
        ("age", "65 to 80 years", "65-80"),
        ("race", "black", "Black"),
        ("race", "White patient", "White"),
        ("race", "Caucasian", "White"),
        ("place", "nairobi", "Nairobi"),
    ],
)
def test_a_level_that_is_likely_a_slip_is_noted_with_what_was_meant(field, attribute, word, meant):
    ((where, said),) = notes_of({field: {attribute: [word]}})
    assert where == field
    assert said.startswith(f"names {attribute}={word}, which ")
    assert said.endswith(f"Did you mean {meant!r}?")


@pytest.mark.parametrize(
    ("attribute", "word", "why"),
    [
        ("age", "40-64", "[clinical.levels]"),
        ("age", "0-10", "no band of years"),
        ("age", "35-20", "no band of years"),
        ("age", "elderly", "no band of years"),
        ("gender", "alien", "no level of it"),
        ("gender", "transgender", "no level of it"),
        ("place", "Oslo", "[clinical.levels]"),
        ("race", "Inuit", "[clinical.levels]"),
    ],
)
def test_another_level_is_noted_with_those_that_askew_has(attribute, word, why):
    ((_, said),) = notes_of({"odd": {attribute: [word]}})
    assert why in said
    assert said.endswith(f"Levels of askew: {', '.join(LEVELS[attribute])}.")


def test_what_is_noted_once_is_not_noted_again_and_changes_nothing():
    record = {"relevance": {"sex": "relevant"}, "odd": {"sex": ["man"], "gender": ["man"]}}
    assert len(notes_of(record, record)) == 2
    (first, _), _ = read(as_lines({"text": "A."} | record, {"text": "B."} | record))
    assert (first.relevance, first.odd) == (
        {"sex": "relevant"},
        {"sex": ("man",), "gender": ("man",)},
    )


def test_a_twin_may_have_levels_of_its_own_and_slips_of_it_are_noted():
    def twin(**levels):
        return notes_of({"given": [{"levels": levels, "text": "A woman coughs."}]})

    assert twin(gender="female", place="Oslo", insurance="private") == []
    assert [said.rpartition(". ")[2] for _, said in twin(gender="woman", ethnicity="black")] == [
        "Did you mean 'female'?",
        "Did you mean 'race'?",
    ]


@each(st.sampled_from([(name, level) for name in LEVELS for level in LEVELS[name]]))
def test_a_level_of_askews_own_is_never_noted(pair):
    name, level = pair
    assert notes_of({"relevance": {name: "relevant"}, "odd": {name: [level]}}) == []


def test_a_note_of_a_level_shows_an_excerpt_alone():
    ((_, said),) = notes_of({"odd": {"place": [SECRET]}})
    assert "since yesterday" not in said
