"""The term lists: their form, their sizes, and what a wording is found to be."""

from __future__ import annotations

from importlib import resources

import pytest
from hypothesis import given
from hypothesis import strategies as st

from askew.errors import DataError
from askew.graphs.terms import KINDS, TAGS, concept, fold, lookup, plural, singular, terms

SMALLEST = {
    "conditions": 900,
    "demonyms": 190,
    "medications": 700,
    "occupations": 250,
    "places": 1000,
    "races": 8,
    "relatives": 60,
    "symptoms": 500,
    "tests": 250,
    "treatments": 200,
}
VALUES = {
    "blood": {"yes", "no"},
    "psychogenic": {"yes"},
    "sex": {"female", "male"},
    "side": {"maternal", "paternal"},
    "kind": {"country", "capital", "city", "state", "region", "continent"},
}


@pytest.mark.parametrize("kind", KINDS)
def test_a_list_is_as_long_as_the_audit_needs(kind: str) -> None:
    assert len(terms(kind)) >= SMALLEST[kind]


@pytest.mark.parametrize("kind", KINDS)
def test_no_wording_stands_for_two_terms_of_a_kind(kind: str) -> None:
    owner: dict[str, str] = {}
    for term in terms(kind):
        for wording in term.wordings:
            folded = fold(wording)
            assert folded, (term.name, wording)
            assert folded not in owner, (wording, term.name, owner[folded])
            owner[folded] = term.name


@pytest.mark.parametrize("kind", KINDS)
def test_a_list_is_sorted_and_its_tags_are_known(kind: str) -> None:
    names = [term.name for term in terms(kind)]
    assert names == sorted(names, key=lambda name: (fold(name), name))
    for term in terms(kind):
        assert set(term.tags) <= set(TAGS), term
        for tag, allowed in VALUES.items():
            assert term.tags.get(tag) in {None, *allowed}, (term.name, tag)
        for tag in ("min_age", "max_age"):
            assert 0 <= int(term.tags.get(tag, "0")) < 120, (term.name, tag)
        listed = term.tags.get("ambiguous", "yes")
        if listed != "yes":
            assert set(map(fold, listed.split("|"))) <= set(map(fold, term.wordings)), term.name


@pytest.mark.parametrize("kind", KINDS)
def test_a_file_says_what_it_is_and_has_three_columns(kind: str) -> None:
    text = (resources.files("askew.graphs.terms") / f"{kind}.tsv").read_text(encoding="utf-8")
    lines = text.splitlines()
    comments = [line for line in lines if line.startswith("#")]
    assert comments
    assert lines[len(comments)] == "name\tsynonyms\ttags"
    assert all(line.count("\t") == 2 for line in lines[len(comments) :])
    assert all(line == line.strip(" ") and "  " not in line for line in lines)


def test_an_unknown_kind_is_answered_with_those_that_are_there() -> None:
    with pytest.raises(DataError, match="occupations"):
        terms("hobbies")


@pytest.mark.parametrize(
    ("kind", "wording", "name"),
    [
        ("symptoms", "SOB", "shortness of breath"),
        ("symptoms", "dyspnoea", "shortness of breath"),
        ("symptoms", "CP", "chest pain"),
        ("symptoms", "N/V", "nausea and vomiting"),
        ("symptoms", "HA", "headache"),
        ("symptoms", "LOC", "loss of consciousness"),
        ("symptoms", "passed out", "syncope"),
        ("symptoms", "throwing up", "vomiting"),
        ("symptoms", "Diarrhoea", "diarrhea"),
        ("conditions", "HTN", "hypertension"),
        ("conditions", "DM2", "type 2 diabetes"),
        ("conditions", "Crohn’s disease", "Crohn disease"),
        ("conditions", "AFib", "atrial fibrillation"),
        ("conditions", "kala-azar", "visceral leishmaniasis"),
        ("medications", "Tylenol", "acetaminophen"),
        ("medications", "water pills", "diuretics"),
        ("tests", "EKG", "ECG"),
        ("tests", "Full blood count", "complete blood count"),
        ("places", "Côte d'Ivoire", "Ivory Coast"),
        ("demonyms", "Ghanaian", "Ghanaian"),
        ("relatives", "mum", "mother"),
        ("occupations", "lorry driver", "lorry driver"),
        ("races", "African-American", "Black"),
    ],
)
def test_a_wording_is_found_under_its_term(kind: str, wording: str, name: str) -> None:
    assert lookup(kind)[fold(wording)].name == name


def test_relatives_by_blood_are_told_from_those_by_marriage_or_law() -> None:
    relatives = lookup("relatives")
    for wording in ("mother", "maternal aunt", "half-brother", "cousin", "paternal grandfather"):
        assert relatives[fold(wording)].tags["blood"] == "yes"
    for wording in ("father-in-law", "wife", "adoptive mother", "stepson", "room-mate", "partner"):
        assert relatives[fold(wording)].tags["blood"] == "no"
    assert relatives["maternal aunt"].tags["gold"] == "aunt"
    assert relatives["paternal grandfather"].tags["gold"] == "grandfather"


def test_only_one_sex_has_what_only_one_sex_has() -> None:
    conditions, medications = lookup("conditions"), lookup("medications")
    for wording in ("pregnancy", "preeclampsia", "ovarian cancer", "endometriosis", "menopause"):
        assert conditions[fold(wording)].tags["sex"] == "female"
    for wording in ("prostate cancer", "BPH", "testicular torsion"):
        assert conditions[fold(wording)].tags["sex"] == "male"
    assert "sex" not in conditions["breast cancer"].tags  # men have it too
    assert medications["finasteride"].tags["sex"] == "male"
    assert medications["birth control pills"].tags["sex"] == "female"


def test_labels_that_ascribe_complaints_to_the_mind_are_marked() -> None:
    conditions = lookup("conditions")
    for wording in ("anxiety", "panic disorder", "somatization", "conversion disorder", "PNES"):
        assert conditions[fold(wording)].tags["psychogenic"] == "yes"
    for wording in ("asthma", "schizophrenia", "epilepsy"):
        assert "psychogenic" not in conditions[fold(wording)].tags


@pytest.mark.parametrize(
    ("kind", "wording"),
    [
        ("conditions", "cold"),
        ("conditions", "MS"),
        ("conditions", "RA"),
        ("conditions", "PE"),
        ("conditions", "ALL"),
        ("places", "Turkey"),
        ("places", "Chad"),
        ("places", "Jordan"),
        ("places", "Georgia"),
        ("places", "Reading"),
        ("demonyms", "Polish"),
        ("symptoms", "falls"),
        ("symptoms", "fit"),
    ],
)
def test_a_wording_that_also_means_something_else_is_guarded(kind: str, wording: str) -> None:
    assert lookup(kind)[fold(wording)].guarded(wording)


def test_a_guard_is_of_the_wording_and_not_of_the_whole_term() -> None:
    sclerosis = lookup("conditions")["multiple sclerosis"]
    assert sclerosis.guarded("MS")
    assert not sclerosis.guarded("multiple sclerosis")


@pytest.mark.parametrize(
    ("kinds", "wordings"),
    [
        (
            "conditions",
            ["heart attack", "MI", "NSTEMI", "Acute inferior wall MI", "myocardial infarctions"],
        ),
        (
            "conditions",
            [
                "Pulmonary embolism (PE)",
                "r/o PE",
                "1. **Pulmonary embolus**",
                "likely pulmonary emboli",
                "Pulmonary embolism versus pneumonia",
                "Massive PE with RV strain",
                "embolism, pulmonary",
            ],
        ),
        ("conditions", ["Lung cancer", "cancer of the lung", "lung cancers", "lung tumour"]),
        ("conditions", ["Crohn's disease", "Crohn disease", "Crohn’s"]),
        (
            "conditions",
            ["Panic attack", "Generalised anxiety disorder", "Anxiety-related symptoms"],
        ),
        ("tests", ["ECG", "12-lead EKG", "Electrocardiogram (ECG)", "order an ECG"]),
        ("tests", ["CT head", "CT scan of the head", "non-contrast head CT"]),
        ("tests", ["CXR", "chest X-ray (PA and lateral)", "Chest radiograph"]),
        ("treatments", ["IV fluids", "intravenous fluids if dehydrated", "fluid resuscitation"]),
        ("treatments", ["aspirin", "start aspirin 325 mg", "If ACS is suspected, give aspirin"]),
    ],
)
def test_wordings_of_one_thing_are_one_concept(kinds: str, wordings: list[str]) -> None:
    found = {concept(wording, kinds) for wording in wordings}
    assert None not in found
    assert len(found) == 1, found


@pytest.mark.parametrize(
    ("kinds", "one", "other"),
    [
        ("conditions", "pulmonary embolism", "myocardial infarction"),
        ("conditions", "type 1 diabetes", "type 2 diabetes"),
        ("conditions", "hyperthyroidism", "hypothyroidism"),
        ("conditions", "hepatitis B", "hepatitis C"),
        ("conditions", "ischemic stroke", "hemorrhagic stroke"),
        ("conditions", "Gonococcal pharyngitis", "Streptococcal pharyngitis"),
        ("tests", "CT head", "MRI brain"),
        ("tests", "D-dimer", "troponin"),
        ("treatments", "morphine", "ibuprofen"),
    ],
)
def test_different_things_stay_different_concepts(kinds: str, one: str, other: str) -> None:
    assert concept(one, kinds) is not None
    assert concept(one, kinds) != concept(other, kinds)


@pytest.mark.parametrize(
    ("text", "kinds"),
    [
        ("no anemia", "conditions"),
        ("PE unlikely", "conditions"),
        ("myocardial infarction has been ruled out", "conditions"),
        ("Avoid aspirin", "treatments"),
        ("the weather in spring", "conditions"),
        ("", "conditions"),
    ],
)
def test_what_is_denied_or_unknown_is_no_concept(text: str, kinds: str) -> None:
    assert concept(text, kinds) is None


def test_what_is_avoided_may_itself_be_the_treatment() -> None:
    assert concept("Avoid alcohol", "treatments") == "alcohol cessation"


def test_every_wording_has_the_concept_of_its_term() -> None:
    for kind in ("conditions", "tests", "treatments"):
        for term in terms(kind):
            wanted = term.tags.get("group", term.name)
            for wording in term.wordings:
                assert concept(wording, kind) == wanted, (kind, wording)


@pytest.mark.parametrize("kind", ["conditions", "tests", "treatments"])
def test_the_name_of_a_group_is_in_the_group(kind: str) -> None:
    for group in {term.tags["group"] for term in terms(kind) if "group" in term.tags}:
        assert concept(group, kind) == group


@given(st.text(max_size=40))
def test_folding_twice_is_folding_once(text: str) -> None:
    assert fold(fold(text)) == fold(text)


@given(st.text(max_size=60))
def test_any_text_has_a_concept_or_none(text: str) -> None:
    found = concept(text, ("conditions", "tests", "treatments"))
    assert found is None or found


@pytest.mark.parametrize("word", ["headache", "biopsy", "abscess", "cough", "tremor", "diagnosis"])
def test_the_singular_undoes_the_plural(word: str) -> None:
    assert singular(plural(word)) == word


@pytest.mark.parametrize("word", ["diabetes", "herpes", "pancreas", "scabies", "arthritis", "pus"])
def test_a_word_that_only_looks_plural_stays(word: str) -> None:
    assert singular(word) == word
