"""The score of facts against gold, as the gold's README defines it."""

from __future__ import annotations

import math
from dataclasses import replace

import pytest

from askew.datasets.gold_triplets import GoldRecord, GoldTriplet
from askew.graphs import score
from askew.graphs.scoring import agrees, score_extractor
from askew.vignettes import Facts, Relation, Span, Status, Triplet

TEXT = "A 30-year-old man has a high fever."


def said(relation=Relation.HAS_SYMPTOM, value="fever", status=Status.PRESENT, **more):
    return Triplet(relation, value, status, Span(0, 1), "A", "list", **more)


def gold(relation=Relation.HAS_SYMPTOM, value="fever", status=Status.PRESENT, **more):
    return GoldTriplet(relation, value, status, **more)


def scored(predicted, wanted):
    record = GoldRecord("one", TEXT, "own", ("plain",), tuple(wanted), {}, {})
    return score([Facts(TEXT, tuple(predicted))], [record])


def counts(found):
    return found.overall.hits, found.overall.false, found.overall.missed


@pytest.mark.parametrize(
    ("value", "wanted", "same"),
    [
        ("fever", "high fever", True),
        ("the Fever", "fever", True),
        ("swelling of his left leg", "left leg swelling", True),
        ("swelling of the leg", "left swelling", False),
        ("left leg's swelling", "swelling", True),
        ("cough", "fever", False),
        ("", "fever", False),
    ],
)
def test_a_value_agrees_if_its_words_are_among_the_other_s(value, wanted, same):
    assert agrees(said(value=value), gold(value=wanted)) is same


def test_a_gender_agrees_only_as_a_whole():
    man = said(Relation.HAS_GENDER, "man")
    assert not agrees(man, gold(Relation.HAS_GENDER, "transgender man"))
    assert agrees(man, gold(Relation.HAS_GENDER, "male", alternatives=("man",)))


def test_an_age_agrees_by_number_and_unit():
    age = said(Relation.HAS_AGE, 6, unit="month")
    assert agrees(age, gold(Relation.HAS_AGE, 6, unit="month"))
    assert not agrees(age, gold(Relation.HAS_AGE, 6, unit="year"))
    assert not agrees(age, gold(Relation.HAS_AGE, 7, unit="month"))


def test_family_history_asks_for_the_relative_unless_the_gold_is_lenient():
    aunt = said(Relation.FAMILY_HISTORY, "asthma", relative="aunt")
    wanted = gold(Relation.FAMILY_HISTORY, "asthma", relative="mother")
    assert not agrees(aunt, wanted)
    assert agrees(aunt, replace(wanted, any_relative=True))
    assert agrees(aunt, replace(wanted, relative="any"))


def test_another_relation_may_be_right_too():
    home = said(Relation.BORN_IN, "Vermont")
    assert agrees(home, gold(Relation.LIVES_IN, "Vermont", other_relations=(Relation.BORN_IN,)))


def test_status_counts_once_and_is_ignored_once():
    found = scored([said(status=Status.ABSENT)], [gold()])
    assert counts(found) == (0, 1, 1)
    assert found.overall_ignoring_status.f1 == 1


def test_a_second_mention_of_a_found_fact_is_no_error():
    assert counts(scored([said(), said(value="high fever")], [gold()])) == (1, 0, 0)


def test_an_optional_triplet_counts_neither_way():
    optional = gold(optional=True)
    assert counts(scored([said()], [optional])) == (0, 0, 0)
    assert counts(scored([], [optional])) == (0, 0, 0)
    assert math.isnan(scored([], [optional]).overall.f1)


def test_an_optional_triplet_does_not_use_up_a_prediction():
    wanted = [gold(value="fever", optional=True), gold(value="high fever")]
    assert counts(scored([said(value="fever")], wanted)) == (1, 0, 0)


def test_two_predictions_share_out_two_gold_triplets():
    """One of them, "pain", fits both, "knee pain" only one: greed would lose a match."""
    wanted = [gold(value="left knee pain"), gold(value="hip pain")]
    predicted = [said(value="pain"), said(value="knee pain")]
    assert counts(scored(predicted, wanted)) == (2, 0, 0)


def test_errors_are_named():
    found = scored([said(value="rash")], [gold()])
    assert found.errors == (
        "one: wrong has_symptom 'rash' (present) by list",
        "one: missed has_symptom 'fever' (present)",
    )


def test_facts_of_another_text_are_refused():
    record = GoldRecord("one", TEXT, "own", (), (), {}, {})
    with pytest.raises(ValueError, match="another text"):
        score([Facts("Something else.", ())], [record])
    with pytest.raises(ValueError, match="0 sets of facts for 1"):
        score([], [record])


def test_any_extractor_can_be_scored():
    record = GoldRecord("one", TEXT, "own", ("plain",), (gold(),), {}, {})
    found = score_extractor(lambda texts: [Facts(text, (said(),)) for text in texts], [record])
    assert found.overall.f1 == found.by_tag["plain"].f1 == 1
    assert found.relations == 1
