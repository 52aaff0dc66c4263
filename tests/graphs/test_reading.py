"""A model's triplets, read strictly; foreign extractors mapped; whoever is behind the interface."""

from __future__ import annotations

import json
from importlib.util import find_spec
from types import SimpleNamespace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from askew.errors import ConfigError, DataError, MissingDependency
from askew.graphs import extractor_gliner, extractor_medspacy
from askew.graphs.extractor_base import Extractor, RuleExtractor, known_extractors, load_extractor
from askew.graphs.extractor_values import age_of, gender_of, relative_of
from askew.graphs.reading import read_triplets
from askew.vignettes import Relation, Span, Status

TEXT = "A 58-year-old woman c/o SOB. She denies fever. Her mother had breast cancer."


def said(relation, value, status="present", evidence=None, **more):
    quote = value if evidence is None else evidence
    return {"relation": relation, "value": value, "status": status, "evidence": quote, **more}


def read(*triplets, text=TEXT):
    return read_triplets(json.dumps({"triplets": list(triplets)}), text)


def values(reading):
    return [(one.relation.value, one.value, one.status.value) for one in reading.facts.triplets]


def test_each_triplet_gets_the_span_of_its_value_in_the_order_of_the_text():
    reading = read(
        said("has_symptom", "fever", "absent", "denies fever"),
        said("has_age", 58, evidence="58-year-old", unit="year"),
        said("has_gender", "female", evidence="woman"),
        said("family_history", "breast cancer", relative="mother"),
    )
    assert values(reading) == [
        ("has_age", 58, "present"),
        ("has_gender", "female", "present"),
        ("has_symptom", "fever", "absent"),
        ("family_history", "breast cancer", "present"),
    ]
    assert [one.evidence for one in reading.facts.triplets] == [
        "58-year-old",
        "woman",
        "fever",
        "breast cancer",
    ]
    assert all(
        TEXT[one.span.start : one.span.end] == one.evidence for one in reading.facts.triplets
    )
    assert reading.facts.triplets[3].relative == "mother"
    assert (reading.fault, reading.rejected) == ("", ())


def test_a_value_may_be_another_wording_of_what_is_quoted():
    reading = read(said("has_symptom", "dyspnea", evidence="SOB"))
    assert values(reading) == [("has_symptom", "dyspnea", "present")]
    assert reading.facts.triplets[0].evidence == "SOB"


def test_a_home_may_be_told_by_a_demonym():
    reading = read(said("born_in", "Ghana", evidence="Ghanaian"), text="A Ghanaian man coughs.")
    assert values(reading) == [("born_in", "Ghana", "present")]


@pytest.mark.parametrize(
    ("triplet", "reason"),
    [
        (said("has_symptom", "chest pain"), "not_in_text"),  # invented
        (said("has_symptom", "chest pain", evidence="SOB"), "not_in_text"),  # quoted, not said
        (said("has_symptom", "ever", evidence="ever"), "not_in_text"),  # part of "fever"
        (said("suffers_from", "fever"), "relation"),
        (said("has_symptom", "fever", "denied"), "status"),
        (said("has_age", 85, evidence="58-year-old"), "value"),
        (said("has_age", "58", evidence="58-year-old"), "value"),
        (said("has_age", True, evidence="58-year-old"), "value"),
        (said("has_age", 58, evidence="58-year-old", unit="month"), "value"),
        (said("has_gender", "lady", evidence="woman"), "value"),
        (said("has_symptom", ""), "not_in_text"),
        (said("has_symptom", 5, evidence="SOB"), "value"),
        (said("family_history", "breast cancer"), "relative"),
        (said("family_history", "breast cancer", relative="mother-in-law"), "relative"),
        ({"relation": "has_symptom", "value": "fever", "status": "absent"}, "form"),
        ("fever", "form"),
        (None, "form"),
    ],
)
def test_what_is_no_fact_is_rejected_and_counted(triplet, reason):
    reading = read(triplet)
    assert reading.facts.triplets == ()
    assert reading.counts == {reason: 1}
    assert reading.rejected[0].why
    assert reading.fault == ""


def test_one_fact_said_twice_is_one():
    fever = said("has_symptom", "fever", "absent")
    assert len(read(fever, fever).facts.triplets) == 1


def test_white_space_and_case_of_a_quote_may_differ():
    text = "She has chest\n  pain."
    reading = read(said("has_symptom", "Chest pain"), text=text)
    assert reading.facts.triplets[0].span == Span(8, 20)


@pytest.mark.parametrize(
    "reply",
    [
        None,
        "",
        "   ",
        "The patient has a fever.",
        'Here you are: {"triplets": []}',
        '{"triplets": []} {"triplets": []}',
        '{"triplets": []',
        '{"triplets": [], "triplets": []}',
        '{"triplets": [], "note": "none"}',
        '{"triplets": {}}',
        "42",
        "[" * 100_000,
        "```json\n[]\n```\n```json\n[]\n```",
    ],
)
def test_a_reply_that_is_not_one_document_is_unreadable_and_nothing_is_guessed(reply):
    reading = read_triplets(reply, TEXT)
    assert reading.fault
    assert reading.facts.triplets == ()


@pytest.mark.parametrize("reply", ["[]", '{"triplets": []}', "```json\n[]\n```", "```\n[]\n```\n"])
def test_a_bare_list_and_one_fence_are_read(reply):
    reading = read_triplets(reply, TEXT)
    assert reading.fault == ""


@given(st.recursive(st.none() | st.integers() | st.text(), st.lists, max_leaves=8))
def test_any_json_is_read_without_a_crash_and_never_makes_a_fact_up(value):
    reading = read_triplets(json.dumps([value]), TEXT)
    assert reading.facts.triplets == ()


@pytest.mark.parametrize(
    ("text", "age"),
    [
        ("47-year-old", (47, "year")),
        ("66 y/o", (66, "year")),
        ("forty-two years", (42, "year")),
        ("six weeks", (6, "week")),
        ("3 days", (3, "day")),
        ("18 mo", (18, "month")),
        ("elderly", None),
        ("", None),
    ],
)
def test_ages_are_read_with_their_unit(text, age):
    assert age_of(text) == age


def test_genders_and_relatives_are_those_of_the_gold():
    assert gender_of("trans woman") == "transgender woman"
    assert gender_of("they") is None
    assert relative_of("on her father's side, a paternal uncle") == "uncle"
    assert relative_of("Her husband") is None
    assert relative_of("his brother and his wife") is None


# medspaCy: spans as its documentation describes them


def span_of(text, word, label, before_start=0, **flags):
    """A span of the documented shape: what spaCy and medspaCy's ConText put on it."""
    start = text.index(word)
    names = ("negated", "historical", "hypothetical", "family", "uncertain")
    context = {f"is_{name}": flags.get(name, False) for name in names}
    return SimpleNamespace(
        start_char=start,
        end_char=start + len(word),
        label_=label,
        text=word,
        sent=SimpleNamespace(start_char=before_start),
        doc=SimpleNamespace(text=text),
        _=SimpleNamespace(**context),
    )


MEDSPACY = (
    "Denies fever. Had asthma. Pneumonia? Mother had gout; husband had gout as well. On aspirin."
)


def medspacy_facts(*spans):
    return extractor_medspacy.facts_of(MEDSPACY, map(extractor_medspacy.mention_of, spans))


@pytest.mark.parametrize(
    ("flag", "status"),
    [
        ({}, Status.PRESENT),
        ({"negated": True}, Status.ABSENT),
        ({"historical": True}, Status.PAST),
        ({"uncertain": True}, Status.POSSIBLE),
        ({"negated": True, "historical": True}, Status.ABSENT),
    ],
)
def test_medspacy_marks_become_statuses(flag, status):
    (triplet,) = medspacy_facts(span_of(MEDSPACY, "asthma", "conditions", **flag)).triplets
    assert (triplet.relation, triplet.value, triplet.status) == (
        Relation.HAS_CONDITION,
        "asthma",
        status,
    )
    assert triplet.evidence == MEDSPACY[triplet.span.start : triplet.span.end] == "asthma"


def test_medspacy_family_counts_by_blood_alone():
    start = MEDSPACY.index("Mother")
    facts = medspacy_facts(
        span_of(MEDSPACY, "gout", "conditions", before_start=start, family=True, historical=True),
        span_of(MEDSPACY, "gout as well", "conditions", before_start=start, family=True),
    )
    (triplet,) = facts.triplets
    assert (triplet.relation, triplet.relative, triplet.status) == (
        Relation.FAMILY_HISTORY,
        "mother",
        Status.PRESENT,
    )


def test_medspacy_hypotheticals_and_unknown_labels_are_no_facts():
    facts = medspacy_facts(
        span_of(MEDSPACY, "fever", "symptoms", hypothetical=True),
        span_of(MEDSPACY, "aspirin", "DATE"),
    )
    assert facts.triplets == ()


# GLiNER: dictionaries as its documentation describes them


def entity(text, word, label, score=0.9):
    start = text.index(word)
    return {"start": start, "end": start + len(word), "text": word, "label": label, "score": score}


def test_gliner_entities_become_triplets_in_the_order_of_the_text():
    facts = extractor_gliner.facts_of(
        TEXT,
        [
            entity(TEXT, "SOB", "symptom", 0.7),
            entity(TEXT, "58-year-old", "patient's age"),
            entity(TEXT, "woman", "patient's gender"),
        ],
    )
    assert [(one.relation.value, one.value, one.unit) for one in facts.triplets] == [
        ("has_age", 58, "year"),
        ("has_gender", "female", None),
        ("has_symptom", "SOB", None),
    ]
    assert facts.triplets[2].score == 0.7
    assert all(one.status is Status.PRESENT for one in facts.triplets)


def test_gliner_values_that_say_no_age_or_gender_are_left_out():
    entities = [entity(TEXT, "SOB", "patient's age"), entity(TEXT, "fever", "patient's gender")]
    assert extractor_gliner.facts_of(TEXT, entities).triplets == ()


@pytest.mark.parametrize(
    "wrong",
    [
        {"start": 0, "end": 999, "text": "x", "label": "symptom", "score": 0.5},
        {"start": 3, "end": 3, "text": "", "label": "symptom", "score": 0.5},
        {"start": 0, "end": 1, "text": "A", "label": "person", "score": 0.5},
    ],
)
def test_gliner_entities_of_another_form_are_said(wrong):
    with pytest.raises(DataError, match="GLiNER"):
        extractor_gliner.facts_of(TEXT, [wrong])


# The interface


def test_the_rules_stand_behind_the_same_interface_as_the_others():
    extractor = load_extractor("rules")
    assert isinstance(extractor, Extractor)
    facts, nothing = extractor.extract_many([TEXT, "No patient here at all."])
    assert facts.text == TEXT
    assert Relation.HAS_AGE in {one.relation for one in facts.triplets}
    assert nothing.triplets == ()
    assert RuleExtractor("ner").extract_many([TEXT])[0].of(Relation.HAS_SYMPTOM) == ()


@pytest.mark.parametrize("name", ["gliner", "medspacy"])
def test_an_extractor_that_is_not_installed_says_how_to_install_it(name):
    if find_spec(name):
        pytest.skip(f"{name} is installed")
    with pytest.raises(
        MissingDependency, match=rf"(?s){name} is not installed.*pip install {name}"
    ):
        load_extractor(name)


def test_an_unknown_extractor_is_answered_with_those_that_are_there():
    assert {"gliner", "medspacy", "rules"} <= set(known_extractors())
    with pytest.raises(ConfigError, match="medspacy"):
        load_extractor("medcat")


def test_gliners_pickled_weights_are_not_opened(tmp_path):
    (tmp_path / "pytorch_model.bin").touch()
    with pytest.raises(ConfigError, match="not in safetensors"):
        extractor_gliner._safe_folder(str(tmp_path))
    (tmp_path / "model.safetensors").touch()
    assert extractor_gliner._safe_folder(str(tmp_path)) == tmp_path
