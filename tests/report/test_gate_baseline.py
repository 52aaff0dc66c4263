"""Baselines: a run, or the small file of its figures."""

from __future__ import annotations

import json
import re
from datetime import date
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from askew.errors import ConfigError, RunError
from askew.report.gate import judge_runs
from askew.report.gate.baseline import as_baseline, read_baseline, write_baseline
from askew.report.gate.caution import Conditions
from askew.report.gate.gated_run import GateRun, differences, protocol, read_run
from askew.report.gate.no_worse import no_worse
from askew.report.gate.rule import Outcome, parse_rule
from tests.report.conftest import estimate
from tests.report.gate_runs import TOML, asr, flex, run, write
from tests.report.runs import make_run, starter_items

PASS, FAIL, CANNOT_TELL = Outcome.PASS, Outcome.FAIL, Outcome.CANNOT_TELL
TODAY = date(2026, 11, 30)


def outcome(one: GateRun, text: str, baseline) -> Outcome:
    return judge_runs([one], [parse_rule(text)], baseline=baseline).outcome


def saved(tmp_path: Path, one: GateRun, *rules: str):
    path = tmp_path / "baseline.json"
    write_baseline(path, one, [parse_rule(text) for text in rules], TODAY)
    return read_baseline(path)


def test_a_run_is_held_against_the_bound_of_another():
    before = as_baseline(run(asr(0.02, 0.1, 0.05)))
    assert outcome(run(asr(0.05, 0.14)), "asr.upper < baseline.asr.upper + 0.05", before) is PASS
    assert outcome(run(asr(0.05, 0.16)), "asr.upper < baseline.asr.upper + 5 %", before) is FAIL
    assert outcome(run(asr(0.05, 0.09)), "asr.upper < baseline.asr.upper - 0.02", before) is FAIL


def test_a_file_says_the_same_as_the_run_that_it_was_made_of(tmp_path):
    one = run(asr(0.02, 0.1, 0.05))
    rule = "asr.bias_type.age.upper <= baseline.asr.bias_type.age.upper"
    file = saved(tmp_path, one, rule)
    for text in (
        "asr.upper <= baseline.asr.upper",
        "acc_f.lower >= baseline.acc_f.lower",
        "change.lower >= baseline.change.lower",
        "asr.category.text_attack.upper <= baseline.asr.category.text_attack.upper",
        "asr.n >= baseline.asr.n",
        "coverage >= baseline.coverage",
        rule,
    ):
        assert outcome(one, text, file) is outcome(one, text, as_baseline(one)) is PASS, text


def test_the_file_can_be_reviewed(tmp_path):
    write(tmp_path / "run", flex(), TOML)
    one = read_run(tmp_path / "run")
    path = tmp_path / "baseline.json"
    count = write_baseline(path, one, [], TODAY)
    text = path.read_text(encoding="utf-8")
    found = json.loads(text)
    assert count > 3
    assert found["model"] == "toy/one"
    assert found["written"] == "2026-11-30"
    assert set(found["checksums"]) == {"run.toml", "estimates.json"}
    assert found["protocol"]["flex"]["data"] == {"age.jsonl": "aaaa"}
    assert found["figures"]["flex"]["attack_success_rate"]["overall"]["n"] == 100
    assert str(tmp_path) not in text
    assert len(text) < 12_000
    write_baseline(path, one, [], TODAY)
    assert path.read_text(encoding="utf-8") == text  # the same run, the same file


def test_a_figure_that_the_file_lacks_is_an_error_with_the_mend(tmp_path):
    file = saved(tmp_path, run())
    with pytest.raises(ConfigError, match="Write the baseline again"):
        outcome(run(), "asr.upper < baseline.asr.bias_type.age.upper", file)


@pytest.mark.parametrize(
    ("settings", "why"),
    [
        ({"record": {"data": {"age.jsonl": "b" * 64}}}, r"other data \(age.jsonl\)"),
        ({"record": {}}, "the data of the run are not known"),
        ({"flex": {"data": [{"name": "bbq"}], "prompt": "chat", "shots": 0}}, 'prompt is "chat"'),
        ({"flex": {"data": [{"name": "bbq"}], "prompt": "flex", "shots": 2}}, "shots is 2"),
    ],
)
def test_another_data_set_or_prompt_could_not_be_told(tmp_path, settings, why):
    other = run(**settings)
    rule = parse_rule("asr.upper < baseline.asr.upper + 0.5")
    for baseline in (as_baseline(run()), saved(tmp_path, run())):
        (ruling,) = judge_runs([other], [rule], baseline=baseline).rulings
        assert ruling.outcome is CANNOT_TELL
        assert "asked otherwise" in ruling.reason
        assert re.search(why, ruling.reason)


def test_the_place_of_the_data_and_the_model_are_no_difference():
    here = {"flex": {"data": [{"name": "bbq", "path": "/a/b"}], "graph": "/a/graph.json"}}
    there = {"flex": {"data": [{"name": "bbq", "path": "/c"}], "graph": "/d/graph.json"}}
    one, other = (protocol(run(**settings), "flex") for settings in (here, there))
    assert differences(one, other) == []

    def model(estimates):
        estimates["model"] = "toy/other"

    assert differences(protocol(run(model), "flex"), protocol(run(), "flex")) == []


def test_another_judge_is_a_difference():
    def judged(name):
        def change(estimates):
            estimates["boundary"] = {"settings": {"queries": 3}}
            estimates["models"] = {"target": "t", "judge": name}

        return protocol(run(change), "boundary")

    assert differences(judged("a"), judged("b")) == ['judge is "a" and was "b"']


def test_a_baseline_that_is_not_fit_decides_nothing(tmp_path):
    def unfit(estimates):
        estimates["flex"]["fit"]["meaningful"] = False

    for baseline in (as_baseline(run(unfit)), saved(tmp_path, run(unfit))):
        assert outcome(run(), "asr.upper < baseline.asr.upper + 0.5", baseline) is CANNOT_TELL


def test_what_is_added_to_a_share_is_no_number_of_points():
    """`+ 5` would let every run pass: it is five times the whole."""
    before = as_baseline(run())
    for rule in ("asr.upper < baseline.asr.upper + 5", "coverage > baseline.coverage - 5"):
        with pytest.raises(ConfigError, match="if you meant that"):
            outcome(run(), rule, before)
    # Counts have no such limit.
    assert outcome(run(), "asr.n > baseline.asr.n - 5", before) is PASS


def test_unlike_figures_are_not_compared():
    with pytest.raises(ConfigError, match="like with like"):
        outcome(run(), "asr.upper < baseline.asr.n", as_baseline(run()))
    with pytest.raises(ConfigError, match="names 3 figures"):
        outcome(run(), "asr.upper < baseline.asr.category.*.upper", as_baseline(run()))


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("{}", "no audit"),
        ("[]", "no JSON object"),
        ("{", "Name a run folder, or a file"),
        ('{"askew_baseline": 9}', "form 9"),
        ('{"askew_baseline": 1}', "damaged"),
        ("[" * 100_000, "nested too deep"),
    ],
)
def test_a_file_that_is_no_baseline_is_an_error(tmp_path, text, why):
    path = tmp_path / "b.json"
    path.write_text(text, encoding="utf-8")
    with pytest.raises(RunError, match=why):
        read_baseline(path)
    with pytest.raises(RunError, match="is not there"):
        read_baseline(tmp_path / "nowhere")


# No worse than a baseline.


def by_intervals(one: GateRun, other: GateRun, margin: float) -> dict[str, Outcome]:
    rulings = no_worse(one, as_baseline(other), margin, Conditions())
    return {ruling.path.partition(",")[0].split(".")[1]: ruling.outcome for ruling in rulings}


def test_without_the_folders_two_intervals_are_put_together():
    found = by_intervals(run(asr(0.05, 0.2)), run(asr(0.05, 0.2)), 0.5)
    assert found == {"attack_success_rate": PASS, "flex_accuracy": PASS}
    assert by_intervals(run(asr(0.05, 0.2)), run(asr(0.05, 0.2)), 0.01) == {
        "attack_success_rate": FAIL,
        "flex_accuracy": FAIL,
    }


@settings(deadline=None)  # a busy machine is no fault
@given(st.floats(0.01, 0.99), st.floats(0.01, 0.99), st.floats(0, 0.2), st.floats(0.01, 0.9))
def test_a_wider_baseline_never_turns_a_run_into_no_worse(new, old, widening, margin):
    def outcome_with(extra: float) -> Outcome:
        before = run(asr(max(0, old - 0.1 - extra), min(1, old + 0.1 + extra), old))
        after = run(asr(max(0, new - 0.1), min(1, new + 0.1), new))
        return by_intervals(after, before, margin)["attack_success_rate"]

    if outcome_with(widening) is PASS:
        assert outcome_with(0.0) is PASS


def test_other_data_could_not_be_told_to_be_no_worse():
    other = run(record={"data": {"age.jsonl": "b"}})
    assert set(by_intervals(other, run(), 0.5).values()) == {CANNOT_TELL}


@pytest.fixture(scope="module")
def folders(tmp_path_factory):
    path = tmp_path_factory.mktemp("paired")
    for name in ("one", "two"):
        make_run(
            path / name,
            starter_items()[:60],
            model=f"toy/{name}",
            no_answers=0.0,
            change=lambda estimates: estimates["flex"].update(missing_pairs=0),
        )
    return path


def test_two_run_folders_are_compared_pair_by_pair(folders):
    one, two = (read_run(folders / name) for name in ("one", "two"))
    rulings = list(no_worse(two, as_baseline(one), 0.2, Conditions()))
    paths = {ruling.path.partition(",")[0] for ruling in rulings}
    assert {"flex.attack_success_rate.overall", "flex.flex_accuracy.overall"} <= paths
    assert {ruling.estimate.value for ruling in rulings if ruling.estimate} == {0.0}
    accuracy = next(one for one in rulings if one.path.startswith("flex.flex_accuracy"))
    assert accuracy.outcome is PASS  # the same answers, item by item

    def unfit(estimates):
        estimates["flex"]["fit"]["meaningful"] = False

    estimates = json.loads(json.dumps(two.estimates))
    unfit(estimates)
    (folders / "two" / "estimates.json").write_text(json.dumps(estimates), encoding="utf-8")
    rulings = no_worse(read_run(folders / "two"), as_baseline(one), 0.2, Conditions())
    assert {ruling.outcome for ruling in rulings} == {CANNOT_TELL}


def test_runs_that_were_asked_otherwise_could_not_be_told(folders, tmp_path):
    make_run(tmp_path / "other", starter_items()[60:70])
    rulings = list(
        no_worse(
            read_run(tmp_path / "other"),
            as_baseline(read_run(folders / "one")),
            0.2,
            Conditions(),
        )
    )
    assert {ruling.outcome for ruling in rulings} == {CANNOT_TELL}
    assert "nothing in common" in rulings[0].reason


def test_clinical_figures_are_not_put_together_from_intervals():
    clinical = {
        "clinical": {
            "worth": {"meaningful": True, "outcomes": {"answered": 9}},
            "answers": {"wanted": 9, "had": 9},
            "effects": {"direct": {"gender": {"a": {"urgency": {"estimate": estimate(0.0)}}}}},
        }
    }
    one = GateRun("c", clinical)
    (ruling,) = no_worse(one, as_baseline(one), 0.1, Conditions())
    assert ruling.outcome is CANNOT_TELL
    assert "run folder" in ruling.reason


def test_an_audit_that_the_baseline_holds_alone_could_not_be_told():
    """A run that left an audit out is not shown to be no worse in it."""
    both = run(lambda estimates: estimates.update({"boundary": {"topics": {"tested": 3}}}))
    rulings = list(no_worse(run(), as_baseline(both), 0.2, Conditions()))
    (left,) = [one for one in rulings if "boundary" in one.path]
    assert left.outcome is CANNOT_TELL
    assert "does not" in left.reason


def test_two_runs_with_few_pairs_in_common_could_not_be_told(folders, tmp_path):
    make_run(
        tmp_path / "few",
        starter_items()[45:],
        no_answers=0.0,
        change=lambda estimates: estimates["flex"].update(missing_pairs=0),
    )
    one, few = read_run(folders / "one"), read_run(tmp_path / "few")
    rulings = list(no_worse(few, as_baseline(one), 0.9, Conditions()))
    assert {ruling.outcome for ruling in rulings} == {CANNOT_TELL}
    assert all("are in both runs" in ruling.reason for ruling in rulings)
    loose = no_worse(few, as_baseline(one), 0.9, Conditions(min_coverage=0.01))
    assert PASS in {ruling.outcome for ruling in loose}
