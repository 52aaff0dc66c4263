"""Rules as they are written."""

from __future__ import annotations

from contextlib import suppress

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from askew.errors import ConfigError
from askew.report.gate.figure_list import MINUS, matches
from askew.report.gate.rule import FromBaseline, Number, parse_rule

NAMES = st.text(min_size=1).map(lambda name: name.replace(MINUS, "-"))


@pytest.mark.parametrize(
    ("text", "subject", "comparison", "operand"),
    [
        ("asr.upper < 0.2", "asr.upper", "<", Number(0.2)),
        ("asr.upper<20%", "asr.upper", "<", Number(0.2, percent=True)),
        ("  asr.upper  ≤  .2 ", "asr.upper", "<=", Number(0.2)),
        ("change.lower > −0.05", "change.lower", ">", Number(-0.05)),
        ("change.lower >= -5 %", "change.lower", ">=", Number(-0.05, percent=True)),
        ("calls < 1e3", "calls", "<", Number(1000.0)),
        ("fit == true", "fit", "==", True),
        ("fit != false", "fit", "!=", False),
        ('x.verdict == "a < b"', "x.verdict", "==", "a < b"),
        ("x.verdict == 'does not'", "x.verdict", "==", "does not"),
        ("asr.upper < baseline.asr.upper", "asr.upper", "<", FromBaseline("asr.upper")),
        ("a.lower > baseline.a.lower - 5%", "a.lower", ">", FromBaseline("a.lower", -0.05)),
        (
            "e.female - male.x.upper < baseline.e.female - male.x.upper + 0.1",
            "e.female - male.x.upper",
            "<",
            FromBaseline("e.female - male.x.upper", 0.1),
        ),
    ],
)
def test_a_rule_is_read_as_it_is_written(text, subject, comparison, operand):
    rule = parse_rule(text)
    assert (rule.subject, rule.comparison, rule.operand) == (subject, comparison, operand)


@settings(deadline=None)  # a busy machine is no fault
@given(NAMES)
def test_any_name_may_stand_in_a_path(name):
    path = f"flex.attack_success_rate.bias_type.{name}.upper"
    assert parse_rule(f"{path} < 0.2").subject == path


@settings(deadline=None)  # a busy machine is no fault
@given(st.lists(NAMES, min_size=1, max_size=4))
def test_a_path_is_found_whatever_its_names_hold(names):
    assert matches(".".join(names), tuple(names))
    assert matches(".".join("*" for _ in names), tuple(names))


@pytest.mark.parametrize(
    ("text", "mend"),
    [
        ("asr.upper", "quotes"),
        ("", "no comparison"),
        ("asr.upper = 0.2", "Write `==`"),
        ("asr.upper < 0,2", "Write 0.2"),
        ("asr.upper < nan", "Write a number"),
        ("asr.upper < inf", "Write a number"),
        ("asr.upper < 1e999", "no number"),
        ("fit == True", "write true"),
        ("asr.upper <", "nothing stands behind"),
        ("< 0.2", "no figure stands before"),
        ("asr.upper < twenty", "no number"),
        ("fit == equivalent", "in quotes"),
        ("asr.upper < baseline.", "no number"),
    ],
)
def test_what_is_no_rule_is_refused_with_the_mend(text, mend):
    with pytest.raises(ConfigError, match=r"gate\.toml:3") as refused:
        parse_rule(text, place="gate.toml:3")
    assert mend in str(refused.value)


@settings(deadline=None)  # a busy machine is no fault
@given(st.text())
def test_any_text_is_a_rule_or_an_error_for_people(text):
    with suppress(ConfigError):  # and no other error
        rule = parse_rule(text)
        assert rule.subject in text
