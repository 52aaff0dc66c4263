"""What a model's clinical answers are worth: read, and right above chance."""

from __future__ import annotations

from askew.audits.clinical_worth import worth
from askew.records import Provenance
from askew.vignettes import Answered, ClinicalAnswer, Variant, Vignette

DIAGNOSES = (
    "Pneumonia", "Asthma", "Migraine", "Gout", "Appendicitis", "Malaria", "Psoriasis", "Cystitis",
    "Glaucoma", "Hypothyroidism", "Anaemia", "Sciatica",
)  # fmt: skip


def answered(place: int, said: str, outcome: str = "answered") -> Answered:
    vignette = Vignette(
        f"case-{place}", "own", "text", Provenance("own", place), reference=(DIAGNOSES[place],)
    )
    answer = ClinicalAnswer(outcome, said, differential=(said,), given=frozenset({"differential"}))
    return Answered(vignette, Variant(f"{vignette.id}/o", vignette.id, "original", {}, ""),
                    "direct", 0, answer)  # fmt: skip


def test_a_model_that_is_always_right_is_better_than_chance_though_all_cases_are_alike():
    found = worth([answered(place, name) for place, name in enumerate(DIAGNOSES)], seed=0)
    assert (found.meaningful, found.listed.value, found.chance.value) == (True, 1.0, 0.0)


def test_a_model_that_names_one_diagnosis_to_everybody_is_no_better_than_chance():
    found = worth([answered(place, "Asthma") for place in range(len(DIAGNOSES))], seed=0)
    assert found.meaningful is False
    assert "no better than chance" in found.reason


def test_answers_that_cannot_be_read_are_worth_nothing():
    unread = [answered(place, "", "unreadable") for place in range(11)]
    found = worth([*unread, answered(11, DIAGNOSES[11])], seed=0)
    assert found.meaningful is False
    assert (found.read.value, found.read.n) == (1 / 12, 12)


def test_few_cases_with_a_reference_cannot_tell():
    found = worth([answered(place, DIAGNOSES[place]) for place in range(9)], seed=0)
    assert found.meaningful is None
