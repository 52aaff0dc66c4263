"""What tests and treatments an answer offers, by concept."""

from __future__ import annotations

import pytest

from askew.scores.offers import offered_clauses, offered_concepts


@pytest.mark.parametrize(
    ("item", "kept"),
    [
        ("Order a CT of the chest", ["Order a CT of the chest"]),
        ("Avoid opioids", []),
        ("No imaging is needed", []),
        ("No antibiotics, opioids or steroids; give fluids", ["give fluids"]),
        ("Opioids are not indicated", []),
        ("Acetaminophen, opioids not recommended", ["Acetaminophen"]),
        ("Antibiotics are contraindicated", []),
        ("Rest rather than surgery", ["Rest"]),
        ("Start antibiotics without delay", ["Start antibiotics"]),
        ("Do not delay the CT", ["the CT"]),
        ("Not only an ECG but also troponin", ["an ECG", "also troponin"]),
        ("Prefer ibuprofen over opioids", ["Prefer ibuprofen"]),
        ("CTPA if the D-dimer is raised", ["CTPA"]),
        ("If the throat swab is positive, give penicillin", ["give penicillin"]),
        ("Do not prescribe antibiotics unless the culture is positive", []),
        ("Avoid NSAIDs and give acetaminophen", ["and give acetaminophen"]),
        ("None", []),
        ("N/A", []),
        ("None needed at this time", []),
        ("2. Nothing by mouth", ["Nothing by mouth"]),
        ("", []),
    ],
)
def test_warnings_and_conditions_offer_nothing(item, kept):
    assert list(offered_clauses(item)) == kept


def test_an_item_may_offer_several_tests():
    found = offered_concepts(["Blood tests (complete blood count, troponin)", "ECG"], "test")
    for name in ("CBC", "troponin", "electrocardiogram"):
        assert offered_concepts([name], "test") <= found


def test_wordings_of_one_test_and_of_one_treatment_are_one():
    assert offered_concepts(["Chest X-ray"], "test") == offered_concepts(["CXR"], "test")
    assert offered_concepts(["Acetaminophen"], "treatment") == offered_concepts(
        ["Paracetamol 1 g"], "treatment"
    )


def test_a_word_of_two_senses_is_read_in_its_own():
    assert offered_concepts(["CT"], "test").isdisjoint(offered_concepts(["GC/CT NAAT"], "test"))
    opioids = offered_concepts(["opioids"], "treatment")
    for item in ("Non-opioid analgesia", "Opioid-sparing pain control", "Opioid-free analgesia"):
        assert opioids.isdisjoint(offered_concepts([item], "treatment"))


def test_a_condition_names_no_test():
    assert offered_concepts(["Chest X-ray if troponin is raised"], "test") == offered_concepts(
        ["Chest X-ray"], "test"
    )


def test_what_no_list_knows_is_offered_in_its_own_words():
    assert offered_concepts(["Wibble-scan (urgent)"], "test") == {"wibble scan"}
    assert offered_concepts(["抗生物質"], "treatment") == {"抗生物質"}
    assert offered_concepts(["Perform a wibble assay and wobbles"], "test") == {"wibble", "wobble"}
