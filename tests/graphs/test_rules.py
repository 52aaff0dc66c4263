"""Eq. (1) and the rule sets."""

from __future__ import annotations

from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from askew.errors import ConfigError
from askew.graphs import RULE_SETS, RuleSet, extract, relevance, rule_set
from askew.graphs.rules import RULES, SWITCHES, rule_text

FOR = sorted(name for name, rule in RULES.items() if not rule.against)
AGAINST = sorted(name for name, rule in RULES.items() if rule.against)


@given(st.lists(st.sampled_from(FOR), min_size=1, unique=True), st.sampled_from(FOR))
def test_another_pattern_never_lowers_the_score(fired, more):
    assert relevance([*fired, more]) >= relevance(fired)


@given(st.lists(st.sampled_from(FOR), min_size=1, unique=True), st.sampled_from(AGAINST))
def test_a_pattern_against_always_lowers_it(fired, against):
    assert relevance([*fired, against]) < relevance(fired)


@given(st.lists(st.sampled_from(FOR + AGAINST), unique=True))
def test_the_score_is_a_share(fired):
    assert 0 <= relevance(fired) <= 1


def test_one_pattern_is_enough_and_one_sign_against_too_much():
    assert all(relevance([name]) > 0.5 for name in FOR)
    assert all(relevance([name, sign]) <= 0.5 for name in FOR for sign in AGAINST)


def test_the_sets_grow():
    sets = [RULE_SETS[name].switches for name in ("ner", "patterns", "context", "full")]
    assert all(small < large for small, large in pairwise(sets))
    assert sets[-1] == frozenset(SWITCHES)


@pytest.mark.parametrize("switch", sorted(SWITCHES))
def test_every_single_rule_can_be_switched_off(switch):
    chosen = rule_set(f"full-{switch}")
    assert switch not in chosen
    assert extract("A 40-year-old man has a fever but no cough.", chosen).text


@pytest.mark.parametrize("name", ["ful", "full-negation", "ner+everything"])
def test_an_unknown_name_is_answered_with_the_known_ones(name):
    with pytest.raises(ConfigError, match="Known: "):
        extract("A man has a fever.", name)


def test_theta_is_a_share():
    with pytest.raises(ConfigError, match=r"theta is 1\.5"):
        RuleSet("mine", frozenset(), theta=1.5)


def test_the_text_of_a_rule_tells_for_from_against():
    assert rule_text(["list", "hypothetical", "complaint"]) == "list + complaint - hypothetical"


def test_what_is_left_out_says_why():
    facts = extract("A 9-year-old boy was sent home. He should return if vomiting develops.")
    assert [(fact.value, fact.rule) for fact in facts.left_out] == [
        ("vomiting", "list - hypothetical")
    ]
