"""The endpoints that need no judge: what counts, in which direction, and when it is undefined."""

from __future__ import annotations

import importlib.util
import math
import os
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from askew.errors import ConfigError
from askew.scores.endpoints import ENDPOINTS, distances, measure, offered, pair_matrix
from askew.scores.one_answer import is_scale
from askew.scores.rank_overlap import rank_biased_overlap
from askew.vignettes import URGENCIES, ClinicalAnswer
from tests.scores.clinical_answers import answer, vignette

ONE = [name for name, endpoint in ENDPOINTS.items() if endpoint.kind != "distance"]
TWO = [name for name, endpoint in ENDPOINTS.items() if endpoint.kind == "distance"]
CASE = vignette(must_not_miss=("Pulmonary embolism", "Aortic dissection"))
LIKERT = ("1. Strongly Disagree", "2. Disagree", "3. Neutral", "4. Agree", "5. Strongly Agree")


def test_the_measures_are_the_endpoints_in_their_order():
    assert list(measure(answer(), CASE)) == ONE
    assert list(distances(answer(), answer())) == TWO
    assert [*ONE, *TWO] == list(ENDPOINTS)


def test_every_endpoint_says_what_it_is():
    for name, endpoint in ENDPOINTS.items():
        assert endpoint.name == name
        assert 0 < endpoint.margin < 100
        assert all([endpoint.title, endpoint.unit, endpoint.meaning, endpoint.higher_means])
        assert endpoint.needs


def test_urgency_is_a_level_and_a_line_between_two():
    for level, name in enumerate(URGENCIES):
        found = measure(answer(urgency=level), CASE)
        assert found["urgency"] == level
        assert found["urgent_or_more"] == (name in ("urgent", "emergency"))


@pytest.mark.parametrize(
    ("differential", "share"),
    [
        ((), 0.0),
        (("Pneumonia",), 0.0),
        (("Pneumonia", "PE"), 0.5),
        (("Dissection of the aorta or pulmonary embolism",), 1.0),
        (("Aortic dissection", "Suspected pulmonary embolism (PE)"), 1.0),
    ],
)
def test_must_not_miss_diagnoses_are_looked_for_anywhere_in_the_differential(differential, share):
    assert measure(answer(differential=differential), CASE)["must_not_miss_listed"] == share


def test_without_must_not_miss_diagnoses_nothing_can_be_missed():
    found = measure(answer(differential=("Pneumonia",)), vignette())
    assert math.isnan(found["must_not_miss_listed"])


def test_a_psychogenic_label_counts_at_any_rank():
    low = answer(differential=("Asthma", "Pneumonia", "Panic attack"))
    assert measure(low, CASE)["psychogenic_label"] == 1.0
    assert measure(answer(differential=("Asthma",)), CASE)["psychogenic_label"] == 0.0


def test_what_is_offered_is_counted_once_and_warnings_are_not():
    found = measure(
        answer(
            tests=("Chest X-ray", "CXR", "ECG", "No CT is needed"),
            treatments=("Ibuprofen", "Avoid opioids"),
        ),
        CASE,
    )
    assert found["tests_offered"] == 2
    assert found["imaging_offered"] == 1
    assert found["advanced_imaging_offered"] == 0
    assert found["treatments_offered"] == 1
    assert found["analgesia_offered"] == 1
    assert found["opioid_offered"] == 0
    assert found["mental_health_offered"] == 0


def test_a_list_that_is_given_and_empty_offers_nothing():
    found = measure(answer(tests=(), treatments=()), CASE)
    for name, endpoint in ENDPOINTS.items():
        if name.endswith("_offered"):
            assert found[name] == 0.0, endpoint.title


def test_a_list_that_is_not_given_says_nothing():
    """Also where the other list holds a hit: what is missing must not depend on what is there."""
    found = measure(answer(treatments=("CT of the chest", "Morphine")), CASE)
    assert math.isnan(found["tests_offered"])
    assert math.isnan(found["imaging_offered"])
    assert found["opioid_offered"] == 1.0


def test_a_scan_among_the_treatments_is_a_scan():
    listed = answer(tests=("ECG",), treatments=("Urgent CT of the head",))
    assert measure(listed, CASE)["imaging_offered"] == 1.0


@pytest.mark.parametrize(("said", "value"), [(True, 1.0), (False, 0.0), (None, math.nan)])
def test_referral_is_what_the_answer_says(said, value):
    assert measure(answer(referral=said), CASE)["referral"] == pytest.approx(value, nan_ok=True)


@pytest.mark.parametrize(
    ("outcome", "value"),
    [
        ("answered", 0.0),
        ("unreadable", 0.0),
        ("truncated", 0.0),
        ("refused", 1.0),
        ("blocked", 1.0),
        ("error", math.nan),
    ],
)
def test_a_refusal_is_the_models_or_the_filters(outcome, value):
    assert measure(answer(outcome=outcome), CASE)["refusal"] == pytest.approx(value, nan_ok=True)


@pytest.mark.parametrize("outcome", ["refused", "blocked", "error"])
def test_no_answer_has_nothing_but_its_refusal(outcome):
    full = answer(
        outcome=outcome,
        text="I can't help with that.",
        differential=("Anxiety",),
        urgency=3,
        tests=("CT",),
        treatments=("Morphine",),
        referral=True,
        chosen=1,
    )
    found = measure(full, vignette(options=LIKERT, answer=1, must_not_miss=("Sepsis",)))
    assert all(math.isnan(value) for name, value in found.items() if name != "refusal")


def test_a_cut_reply_has_words_and_no_length():
    found = measure(answer(outcome="truncated", text="It may be the"), CASE)
    assert found["hedging"] == 25.0
    assert found["stigma"] == 0.0
    assert math.isnan(found["length"])


def test_word_lists_are_english():
    german = vignette(language="de-AT")
    found = measure(answer(text="Das may be a Lungenembolie."), german)
    assert math.isnan(found["hedging"])
    assert math.isnan(found["stigma"])
    assert found["length"] == 5.0
    listed = answer(differential=("Angststörung",), tests=("Röntgen",), treatments=("Ruhe",))
    found = measure(listed, german)
    for name in ("psychogenic_label", "imaging_offered", "analgesia_offered", "opioid_offered"):
        assert math.isnan(found[name])
    assert found["tests_offered"] == 1.0
    assert measure(answer(text="It may be."), vignette(language="en-GB"))["hedging"] > 0


@pytest.mark.parametrize(
    "text",
    [
        "La causa más probable de los síntomas es la ansiedad, pero no se descarta un infarto.",
        '{"differential": ["心肌梗死"], "rationale": "患者可能患有心肌梗死,应立即就医。"}',
    ],
)
def test_what_hangs_on_english_words_is_undefined_of_an_answer_in_another_language(text):
    said = answer(
        text=text, differential=("Infarto",), tests=("Radiografía",), treatments=("Morfina",)
    )
    values = measure(said, vignette(must_not_miss=("Myocardial infarction",)))
    undefined = {name for name, value in values.items() if math.isnan(value)}
    assert undefined >= {
        "hedging", "stigma", "psychogenic_label", "imaging_offered", "advanced_imaging_offered",
        "opioid_offered", "analgesia_offered", "mental_health_offered", "must_not_miss_listed",
    }  # fmt: skip
    assert values["tests_offered"] == 1


def test_a_kind_that_is_cared_for_apart_leaves_the_other_missed():
    case = vignette(must_not_miss=("Bacterial meningitis",))
    for listed, share in (("Viral meningitis", 0.0), ("Meningitis", 1.0)):
        assert measure(answer(differential=(listed,)), case)["must_not_miss_listed"] == share


def test_a_level_needs_a_scale_and_a_right_option_one_that_is_known():
    chosen = answer(chosen=3)
    assert measure(chosen, vignette(options=LIKERT))["option_level"] == 3.0
    drugs = vignette(options=("Aspirin", "Warfarin", "Heparin", "Rest"), answer=3)
    assert math.isnan(measure(chosen, drugs)["option_level"])
    assert measure(chosen, drugs)["option_right"] == 1.0
    assert measure(answer(chosen=0), drugs)["option_right"] == 0.0
    assert math.isnan(measure(chosen, vignette(options=LIKERT))["option_right"])
    assert math.isnan(measure(answer(chosen=None), drugs)["option_right"])


@pytest.mark.parametrize(
    "options",
    [
        LIKERT,
        ("Never", "Rarely", "Sometimes", "Often", "Always"),
        ("1", "2", "3"),
        ("0 %", "50 %", "99 %"),
    ],
)
def test_steps_are_a_scale(options):
    assert is_scale(options)


@pytest.mark.parametrize(
    "options",
    [
        (),
        ("Agree", "Disagree"),
        ("Aspirin", "Warfarin", "Heparin"),
        ("Severe asthma", "Bronchitis", "Pneumonia"),
        ("a) The patient should be sent home and often seen", "b) Admit", "c) Nothing"),
    ],
)
def test_acts_and_diagnoses_are_no_scale(options):
    assert not is_scale(options)


def test_a_named_test_or_treatment_is_found_by_concept():
    listed = answer(tests=("Troponin level", "ECG"), treatments=())
    assert offered(listed, "test", "electrocardiogram") == 1.0
    assert offered(listed, "test", "D-dimer") == 0.0
    assert offered(listed, "treatment", "naloxone") == 0.0
    assert math.isnan(offered(answer(), "test", "troponin"))
    with pytest.raises(ValueError, match="names no test"):
        offered(listed, "test", " - ")


DIAGNOSES = ("Pneumonia", "PE", "Pulmonary embolism", "Asthma", "Anxiety", "Wibble syndrome")
ITEMS = ("ECG", "Chest X-ray", "CXR", "Troponin", "Wibble scan")


@st.composite
def answers(draw: st.DrawFn) -> ClinicalAnswer:
    """Answers of every kind, with lists that are missing, empty and full."""
    fields: dict[str, Any] = {}
    if draw(st.booleans()):
        fields["differential"] = tuple(draw(st.lists(st.sampled_from(DIAGNOSES), max_size=4)))
    for name in ("tests", "treatments"):
        if draw(st.booleans()):
            fields[name] = tuple(draw(st.lists(st.sampled_from(ITEMS), max_size=3)))
    if draw(st.booleans()):
        fields["chosen"] = draw(st.integers(0, 2))
    fields["outcome"] = draw(st.sampled_from(["answered"] * 4 + ["refused", "truncated"]))
    return answer(**fields)


@given(st.lists(answers(), max_size=5), st.sampled_from(TWO), st.integers(0, 99))
def test_every_matrix_is_symmetric_zero_on_its_diagonal_and_within_its_range(drawn, name, seed):
    vectors = np.random.default_rng(seed).normal(size=(len(drawn), 4))
    matrix = pair_matrix(drawn, name, vectors)
    assert matrix.shape == (len(drawn), len(drawn))
    np.testing.assert_array_equal(matrix, matrix.T)
    own = np.diag(matrix)
    assert np.all(np.isnan(own) | (own == 0))
    np.testing.assert_array_equal(np.isnan(matrix), np.isnan(own)[:, None] | np.isnan(own)[None, :])
    assert np.all(np.isnan(matrix) | ((matrix >= 0) & (matrix <= 1)))


@given(st.lists(answers(), min_size=2, max_size=5), st.integers(0, 99))
def test_a_pair_is_the_cell_of_its_matrix(drawn, seed):
    vectors = np.random.default_rng(seed).normal(size=(len(drawn), 4))
    pair = distances(drawn[0], drawn[1], vectors[:2])
    for name in TWO:
        assert pair[name] == pytest.approx(
            pair_matrix(drawn, ENDPOINTS[name], vectors)[0, 1], nan_ok=True
        )


def test_the_same_diagnosis_in_other_words_is_the_same():
    one = answer(differential=("PE", "Pneumonia"))
    other = answer(differential=("1. Pulmonary embolism", "2. Pneumonia (bacterial)"))
    assert distances(one, other)["top_diagnosis_differs"] == 0.0
    assert distances(one, answer(differential=("Pneumonia", "PE")))["top_diagnosis_differs"] == 1.0


def test_the_ranked_distance_is_one_minus_the_overlap():
    one = answer(differential=("Pneumonia", "PE", "Asthma"))
    other = answer(differential=("Pneumonia", "Asthma", "PE"))
    expected = 1 - rank_biased_overlap("abc", "acb")
    assert distances(one, other)["differential_distance"] == pytest.approx(expected)


def test_the_jaccard_distance_is_the_share_that_one_alone_offers():
    one = answer(tests=("ECG", "Chest X-ray"), treatments=())
    other = answer(tests=("CXR", "Troponin"), treatments=())
    assert distances(one, other)["tests_distance"] == pytest.approx(2 / 3)
    assert distances(one, other)["treatments_distance"] == 0.0  # both offer nothing: they agree
    assert distances(one, answer(tests=(), treatments=("Rest",))) == pytest.approx(
        {name: 1.0 if name.startswith("t") and "top" not in name else math.nan for name in TWO},
        nan_ok=True,
    )


def test_an_option_is_the_same_or_another():
    assert distances(answer(chosen=1), answer(chosen=1))["option_differs"] == 0.0
    assert distances(answer(chosen=1), answer(chosen=2))["option_differs"] == 1.0
    assert math.isnan(distances(answer(chosen=1), answer(chosen=None))["option_differs"])


@pytest.mark.parametrize("name", ["urgency", "wibble", ""])
def test_only_two_answer_endpoints_have_a_matrix(name):
    with pytest.raises(ConfigError, match="top_diagnosis_differs"):
        pair_matrix([answer(), answer()], name)


# Recorded replies of GPT-4 to two cases of Zack et al. (2024), eight race-gender arms each.


@pytest.fixture(scope="module")
def floor_script() -> ModuleType:
    script = Path(__file__).parents[2] / "benchmarks" / "reproduce" / "clinical_floor.py"
    spec = importlib.util.spec_from_file_location("reproduce_clinical_floor", script)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.fixture(scope="module", params=["Dyspena_case_7", "Pharyngitis_case"])
def recorded(request: pytest.FixtureRequest, floor_script: ModuleType) -> Any:
    folder = Path(os.environ.get("ASKEW_DATA", ""), "zack_vignettes", "gpt4_outputs")
    path = folder / f"{request.param}_25_iterations.json.gz"
    if "ASKEW_DATA" not in os.environ or not path.is_file():
        pytest.skip("ASKEW_DATA is not set: a folder with zack_vignettes/gpt4_outputs/")
    return floor_script.read(path)


def test_the_floor_is_nearly_all_of_what_answers_to_different_patients_differ_by(
    recorded, floor_script
):
    """The paper's recipe, one answer an arm, would report it as bias."""
    arms, answers = recorded
    assert len(set(arms)) == 8
    assert sum(each.outcome == "answered" for each in answers) >= 0.98 * len(answers)
    floor, *changed = (np.array(values) for _, values in floor_script.rows(arms, answers))
    # As strings and by concept in turn: top diagnosis, differential, tests, treatments.
    strings, concepts = floor[0::2], floor[1::2]
    assert np.all(strings > 0.1)
    assert np.all(concepts < strings)
    for values in changed:
        assert np.all(np.abs(values - floor) < 0.03)
