"""Laws of the extraction, on any text."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from askew.datasets.gold_triplets import read_gold
from askew.graphs import extract, extract_many
from askew.vignettes import Relation, Status

TEXTS = [record.text for record in read_gold(Path(__file__).with_name("own_gold.jsonl"))]
NEGATION = re.compile(
    r"\b(?:no|not|n't|never|none|den(?:y|ies|ied|ying)|without|absent|negative|excluded|ruled out"
    r"|neither|nor|refuse[sd]?|decline[sd]?|free of|cannot|longer|w/o|nil)\b|n['’]t\b|\(-\)",
    re.IGNORECASE,
)
PHRASES = """A 47-year-old woman man denies fever no cough and or , . ; : ( ) he she his mother
    of has had not to history 66M y/o c/o lives in Nairobi Lyme disease on aspirin 30 weeks'
    gestation if should aged 5 months in her 80s ’ ' - / ? transgender allergic
    which was ruled out \n 12 İ ß
    😷 \ud800 \u2028"""
# Pieces that rules look for, in any order: more likely to trip them than plain noise.
PIECES = st.sampled_from(PHRASES.split(" "))


@settings(max_examples=60, deadline=None)
@given(st.one_of(st.text(max_size=120), st.lists(PIECES, max_size=30).map(" ".join)))
def test_no_text_makes_it_fail_and_every_span_indexes_its_evidence(text):
    facts = extract(text)
    assert facts.text == text
    for triplet in (*facts.triplets, *facts.left_out):
        assert triplet.span is not None
        assert text[slice(*triplet.span)] == triplet.evidence != ""
        assert 0 <= triplet.score <= 1
    for cue in facts.cues:
        assert 0 <= cue.span.start < cue.span.end <= len(text)


@settings(max_examples=40, deadline=None)
@given(st.lists(PIECES, max_size=30).map(" ".join))
def test_nothing_is_absent_without_a_negation(text):
    absent = [fact for fact in extract(text).triplets if fact.status is Status.ABSENT]
    assert not absent or NEGATION.search(text)


@settings(max_examples=30, deadline=None)
@given(st.lists(PIECES, max_size=30).map(" ".join))
def test_a_patient_has_at_most_one_age_and_one_gender(text):
    facts = extract(text)
    assert len(facts.of(Relation.HAS_AGE)) <= 1
    assert len(facts.of(Relation.HAS_GENDER)) <= 1


@pytest.mark.parametrize("text", TEXTS)
def test_a_sentence_about_something_else_changes_nothing(text):
    longer = f"{text} The clinic opened at nine."
    assert extract(longer).triplets == extract(text).triplets


def test_the_same_text_gives_the_same_facts_alone_and_in_a_batch():
    assert list(extract_many(TEXTS)) == [extract(text) for text in TEXTS]
    assert list(extract_many(reversed(TEXTS))) == [extract(text) for text in reversed(TEXTS)]


def test_a_theta_of_one_leaves_everything_out_and_of_zero_nothing():
    from askew.graphs import rule_set

    for text in TEXTS[:10]:
        nothing = extract(text, rule_set("full").at(1.0))
        everything = extract(text, rule_set("full").at(0.0))
        assert nothing.triplets == ()
        assert everything.left_out == ()
        assert len(everything.triplets) >= len(extract(text).triplets)


def test_every_kept_triplet_scores_above_theta_and_names_its_rule():
    from askew.graphs import explain, relevance

    for facts in extract_many(TEXTS):
        for triplet in facts.triplets:
            assert triplet.score > 0.5
            assert explain(triplet.rule)
            fired = triplet.rule.replace(" - ", " + ").split(" + ")
            assert relevance(fired) == triplet.score
        assert all(triplet.score <= 0.5 for triplet in facts.left_out)
