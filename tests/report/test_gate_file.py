"""Rules in a file."""

from __future__ import annotations

import tomllib

import pytest

from askew.errors import ConfigError
from askew.report.gate import judge_runs
from askew.report.gate.caution import Conditions
from askew.report.gate.rule import Number, Severity
from askew.report.gate.rules_file import read_rules, starter
from tests.report.gate_runs import run

FILE = """\
min_coverage = 0.9
max_missing = 0.01
accept_unchecked = true
undecided = "cannot-tell"
baseline = "base.json"
margin = 0.05

[[rule]]
rule = "asr.upper < 20 %"
reason = "a reason"

[[rule]]
rule = 'acc_f.lower > 0.6'
severity = "warn"
"""


def written(tmp_path, text):
    path = tmp_path / "gate.toml"
    path.write_text(text, encoding="utf-8")
    return path


def test_a_file_is_read_with_reasons_severities_and_lines(tmp_path):
    file = read_rules(path := written(tmp_path, FILE))
    first, second = file.rules
    assert (first.operand, first.why, first.severity) == (
        Number(0.2, percent=True),
        "a reason",
        Severity.FAIL,
    )
    assert second.severity is Severity.WARN
    assert [first.place, second.place] == [f"{path}:8", f"{path}:12"]
    assert file.conditions() == Conditions(0.9, 0.01, accept_unchecked=True, undecided_fails=False)
    assert file.baseline == tmp_path / "base.json"
    assert file.margin == 0.05


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("x", "Mend the TOML"),
        ("rule = 3", r"\[\[rule\]\]"),
        ("rule = [1]", r'rule = "asr.upper'),
        ("[[rule]]\n", "rule is None"),
        ("[[rule]]\nrule = 3", "in quotes"),
        ("[[rule]]\nrule = 'asr.upper'", r"gate.toml:1: 'asr.upper': there is no comparison"),
        ("[[rule]]\nrule = 'fit == true'\nseverity = 'loud'", '"fail" or "warn"'),
        ("[[rule]]\nrule = 'fit == true'\nseverity = ['warn']", '"fail" or "warn"'),
        ("[[rule]]\nrule = 'fit == true'\nreason = 3", "reason is 3"),
        ("[[rule]]\nrule = 'fit == true'\nwhy = 'x'", "'why' is no key"),
        ("floor = 0.2", "'floor' is no key"),
        ("min_coverage = 90", "between 0 and 1"),
        ("min_coverage = true", "between 0 and 1"),
        ("max_missing = nan", "between 0 and 1"),
        ("margin = 0", "above 0"),
        ("accept_unchecked = 'yes'", "true or false"),
        ("undecided = 'pass'", "'fail' or 'cannot-tell'"),
        ("baseline = 3", "path of a file"),
        ('baseline = "\\u0000"', "path of a file"),
    ],
)
def test_a_file_that_no_gate_knows_is_an_error_with_the_mend(tmp_path, text, why):
    with pytest.raises(ConfigError, match=why) as refused:
        read_rules(written(tmp_path, text))
    assert "gate.toml" in str(refused.value)


def test_a_file_that_is_not_there_or_no_text_is_an_error(tmp_path):
    with pytest.raises(ConfigError, match="--init"):
        read_rules(tmp_path / "nowhere.toml")
    (tmp_path / "gate.toml").write_bytes(b"\xff\xfe")
    with pytest.raises(ConfigError, match=r"gate\.toml"):
        read_rules(tmp_path / "gate.toml")


@pytest.mark.parametrize(
    "audits",
    [("flex",), ("clinical",), ("boundary",), ("flex", "clinical", "boundary")],
)
def test_every_starter_is_a_file_that_can_be_read(tmp_path, audits):
    text = starter("gate.toml", audits)
    assert tomllib.loads(text)["rule"]
    file = read_rules(written(tmp_path, text))
    assert all(rule.why for rule in file.rules)
    assert file.conditions().min_coverage == 0.9


def test_the_starter_judges_the_run_that_it_was_made_for(tmp_path):
    file = read_rules(written(tmp_path, starter("gate.toml", ("flex",))))
    assert len(judge_runs([run()], file.rules, terms=file.conditions()).rulings) >= len(file.rules)


def test_a_mark_at_the_beginning_tabs_and_windows_line_ends_are_read(tmp_path):
    path = tmp_path / "gate.toml"
    path.write_bytes(b"\xef\xbb\xbf" + FILE.replace("\n", "\r\n").replace(" = ", "\t=\t").encode())
    assert read_rules(path).rules[1].place == f"{path}:12"
    assert len(read_rules(path).rules) == 2
