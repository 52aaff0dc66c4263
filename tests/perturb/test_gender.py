"""Gender: nouns, letters, titles, names and pronouns of the patient, and of nobody else."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

pytest.importorskip("spacy", reason="the clinical extra is not installed")

from askew.perturb import NotExpressible, swap_gender

PAIRS = [
    (
        "His wife took him to his doctor; the choice was his.",
        "Her husband took her to her doctor; the choice was hers.",
    ),
    ("66 y/o M c/o SOB. Denies CP.", "66 y/o F c/o SOB. Denies CP."),
    ("75M w/ chest pain x 2d.", "75F w/ chest pain x 2d."),
    ("47yo M with a rash. He scratches himself.", "47yo F with a rash. She scratches herself."),
    (
        "A 9-year-old boy fell. The boy's arm hurts; it is his left one.",
        "A 9-year-old girl fell. The girl's arm hurts; it is her left one.",
    ),
    (
        "Mr. Okafor is a 61-year-old man. He lives alone.",
        "Ms. Okafor is a 61-year-old woman. She lives alone.",
    ),
    (
        "A 58-year-old gentleman has gout. It hurts him, and the blame is his.",
        "A 58-year-old lady has gout. It hurts her, and the blame is hers.",
    ),
    (
        "A 28 year old male reporting fever. The male patient lives in Quito.",
        "A 28 year old female reporting fever. The female patient lives in Quito.",
    ),
    (
        "My 70-year-old dad is dizzy. I took him to his doctor.",
        "My 70-year-old mom is dizzy. I took her to her doctor.",
    ),
    (
        "A 45-year-old man is worried. His wife, a 43-year-old nurse, says she told him so.",
        "A 45-year-old woman is worried. Her husband, a 43-year-old nurse, says he told her so.",
    ),
    (
        "A 22-year-old man took a pill, which gave him hives. Penicillin gave him a rash.",
        "A 22-year-old woman took a pill, which gave her hives. Penicillin gave her a rash.",
    ),
]


@pytest.mark.parametrize(("male", "female"), PAIRS)
def test_each_is_the_others_swap(male, female):
    assert swap_gender(male, "female") == female
    assert swap_gender(female, "male") == male


def test_a_first_name_that_tells_a_gender_is_swapped_with_its_pair():
    text = "John, a 34-year-old man, has a cough. His mother is worried, and she gave him tea."
    assert swap_gender(text, "female") == (
        "Mary, a 34-year-old woman, has a cough. Her mother is worried, and she gave her tea."
    )


def test_words_of_other_people_stay():
    text = "A 31-year-old mother brings her 6-month-old son, who has a cough. His father smokes."
    swapped = swap_gender(text, "female")
    assert swapped == (
        "A 31-year-old mother brings her 6-month-old daughter, who has a cough. Her father smokes."
    )
    assert swap_gender(swapped, "male") == text
    text = "A 55-year-old man bleeds. His brother, who has colitis, told him to come."
    assert "Her brother, who has colitis, told her" in swap_gender(text, "female")


NOUNS = st.sampled_from(["man", "gentleman", "male"])
VERBS = st.sampled_from(["has", "denies", "reports", "is worried about", "had", "may have"])
FINDINGS = st.sampled_from(["a fever", "chest pain", "a rash on the left arm", "dark urine"])
TAILS = st.sampled_from(
    ["His arm hurts.", "It wakes him at night.", "He hurt himself.", "He takes aspirin.", ""]
)


@settings(max_examples=25, deadline=None)
@given(st.integers(18, 90), NOUNS, VERBS, FINDINGS, TAILS)
def test_swapping_twice_gives_the_text_back(age, noun, verb, finding, tail):
    text = f"A {age}-year-old {noun} presents today. He {verb} {finding}. {tail}".strip()
    text = text.replace("A 8", "An 8").replace("A 18", "An 18")
    assert swap_gender(swap_gender(text, "female"), "male") == text


@settings(max_examples=25, deadline=None)
@given(st.integers(18, 90), VERBS, FINDINGS, TAILS)
def test_a_swap_leaves_no_word_of_the_old_gender(age, verb, finding, tail):
    text = f"A {age}-year-old man presents today. He {verb} {finding}. {tail}"
    words = swap_gender(text, "female").lower().replace(".", " ").split()
    assert not {"he", "him", "his", "himself", "man"} & set(words)


@pytest.mark.parametrize(
    ("to", "expected"),
    [
        (
            "transgender woman",
            "A 47-year-old transgender woman has a cough. The woman says she smokes.",
        ),
        ("transgender man", "A 47-year-old transgender man has a cough. The man says he smokes."),
        (
            "non-binary",
            "A 47-year-old non-binary person has a cough. The person says they smoke.",
        ),
        ("neutral", "A 47-year-old person has a cough. The person says they smoke."),
    ],
)
def test_the_statement_is_made_once_and_the_pronouns_follow(to, expected):
    assert swap_gender("A 47-year-old man has a cough. The man says he smokes.", to) == expected


@pytest.mark.parametrize(
    ("singular", "plural"),
    [
        ("He presents with fever and denies cough.", "They present with fever and deny cough."),
        ("He's on a pill, and he hasn't fainted.", "They're on a pill, and they haven't fainted."),
        ("He was seen and sent home.", "They were seen and sent home."),
        ("He does not smoke but has been drinking.", "They do not smoke but have been drinking."),
        ("Yesterday he fell and could not rise.", "Yesterday they fell and could not rise."),
        ("He himself has none.", "They themself have none."),
        ("He goes to work and watches the pot.", "They go to work and watch the pot."),
    ],
)
def test_verbs_agree_with_they(singular, plural):
    start = "A 40-year-old man came in. "
    swapped = "A 40-year-old non-binary person came in. "
    assert swap_gender(start + singular, "non-binary") == swapped + plural


def test_they_becomes_she_with_its_verbs():
    text = "Alex is a 21-year-old non-binary student who uses they/them pronouns. They have cramps."
    assert swap_gender(text, "female") == (
        "Alex is a 21-year-old female student who uses she/her pronouns. She has cramps."
    )


@pytest.mark.parametrize(
    "text",
    [
        "A 40-year-old man has a fever. His brother fell and he was angry.",
        "A 34-year-old transgender man, assigned female at birth, has pelvic pain.",
    ],
)
def test_what_is_not_sure_is_not_guessed(text):
    with pytest.raises(NotExpressible):
        swap_gender(text, "female")
