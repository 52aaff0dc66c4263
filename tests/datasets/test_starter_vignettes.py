"""The clinical starter set: what it must hold, and that every fact stands where it is said to."""

from __future__ import annotations

import json
import re
from collections import Counter
from importlib import resources

import pytest

from askew.datasets.gold_triplets import read_gold
from askew.datasets.vignettes import DataSpec, load
from askew.errors import ConfigError
from askew.vignettes import Relation, Status

LOADED = load(DataSpec("starter"))
CASES = LOADED.vignettes
ATTRIBUTES = ("age", "gender", "place", "race")
BANDS = {"1-10": (1, 10), "20-35": (20, 35), "40-60": (40, 60), "65-80": (65, 80)}
each_case = pytest.mark.parametrize("case", CASES, ids=lambda case: case.id)


def one(case, relation):
    """The value of the only triplet of this relation; None where there is none."""
    found = [t.value for t in case.triplets if t.relation is relation]
    assert len(found) <= 1
    return found[0] if found else None


def test_it_is_read_without_a_word():
    assert LOADED.problems == ()
    assert len(CASES) == 36
    assert len({case.text for case in CASES}) == 36


def test_it_takes_no_path_and_no_option(tmp_path):
    with pytest.raises(ConfigError, match="takes no path"):
        load(DataSpec("starter", tmp_path))


@each_case
def test_a_case_is_complete(case):
    assert case.id.startswith("starter/")
    assert case.question.endswith(("?", "."))
    assert 3 <= len(case.reference) <= 6
    assert len(set(case.reference)) == len(case.reference)
    assert case.must_not_miss
    assert set(case.must_not_miss) <= set(case.reference)
    assert tuple(case.relevance) == ATTRIBUTES
    assert case.options == ()
    assert case.given == ()


@each_case
def test_every_triplet_holds_the_text_at_its_span(case):
    assert len(case.triplets) >= 5
    for triplet in case.triplets:
        assert case.text[triplet.span.start : triplet.span.end] == triplet.evidence
        assert re.match(r"\b", case.text[triplet.span.start :])
        after = case.text[triplet.span.end : triplet.span.end + 1]
        assert not after.isalnum()  # no span ends inside a word
    spans = [(t.span, t.relation) for t in case.triplets]
    assert len(set(spans)) == len(spans)


@each_case
def test_a_case_names_age_gender_and_place_once(case):
    assert isinstance(one(case, Relation.HAS_AGE), int)
    assert one(case, Relation.HAS_GENDER)
    assert one(case, Relation.LIVES_IN)


@each_case
def test_no_level_of_the_case_itself_is_called_impossible_or_odd(case):
    age = next(t for t in case.triplets if t.relation is Relation.HAS_AGE)
    for levels in (case.impossible, case.odd):
        assert set(levels) <= {"age", "gender", "race"}
        assert set(levels.get("age", ())) <= set(BANDS)
        assert set(levels.get("gender", ())) <= {"female", "male"}
        assert one(case, Relation.HAS_GENDER) not in levels.get("gender", ())
        if age.unit == "year":
            own = [band for band, (low, high) in BANDS.items() if low <= age.value <= high]
            assert not set(own) & set(levels.get("age", ()))


def test_a_reason_stands_with_every_level_that_is_impossible_or_odd():
    file = resources.files("askew.datasets") / "starter_clinical" / "vignettes.jsonl"
    for line in file.read_text(encoding="utf-8").splitlines():
        record = json.loads(line)
        assert bool(record["reason"]) == bool(record["impossible"] or record["odd"])


def test_it_is_a_gold_file_as_well():
    with resources.as_file(resources.files("askew.datasets") / "starter_clinical") as folder:
        gold = read_gold(folder / "vignettes.jsonl")
    for case, record in zip(CASES, gold, strict=True):
        assert [(t.relation, t.value, t.status, t.span) for t in case.triplets] == [
            (t.relation, t.value, t.status, t.span) for t in record.triplets
        ]


PREGNANCY = r"pregnan|her last period|her period|gave birth|womb|combined pill"


@each_case
def test_a_pregnancy_or_a_prostate_makes_the_other_gender_impossible(case):
    impossible = case.impossible.get("gender", ())
    assert ("male" in impossible) == bool(re.search(PREGNANCY, case.text, re.IGNORECASE))
    assert ("female" in impossible) == bool(re.search("prostate|testicle", case.text))
    if impossible:
        assert case.relevance["gender"] == "relevant"


def test_it_is_varied():
    genders = Counter(one(case, Relation.HAS_GENDER) for case in CASES)
    assert genders["transgender man"] == genders["non-binary"] == 1
    assert min(genders["female"], genders["male"]) >= 12
    ages = [
        t.value if t.unit == "year" else 0
        for case in CASES
        for t in case.triplets
        if t.relation is Relation.HAS_AGE
    ]
    assert sum(age < 18 for age in ages) >= 6
    assert sum(age >= 65 for age in ages) >= 5
    assert len({one(case, Relation.LIVES_IN) for case in CASES}) == 36


def test_it_tells_attributes_that_ought_to_matter_from_those_that_ought_not():
    said = {a: Counter(case.relevance[a] for case in CASES) for a in ATTRIBUTES}
    assert said["gender"]["not_relevant"] >= 8
    assert said["place"]["relevant"] >= 6
    for attribute in ATTRIBUTES:
        assert said[attribute]["relevant"] >= 1
        assert said[attribute]["not_relevant"] >= 1


def test_it_holds_facts_of_every_kind():
    relations = Counter(t.relation for case in CASES for t in case.triplets)
    statuses = Counter(t.status for case in CASES for t in case.triplets)
    assert set(Relation) - set(relations) == {Relation.HAS_BIRTH_SEX, Relation.BORN_IN}
    assert statuses[Status.ABSENT] >= 20
    assert statuses[Status.PAST] >= 2
    assert statuses[Status.PLANNED] >= 1
