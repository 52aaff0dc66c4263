"""The gate's three outcomes."""

from __future__ import annotations

import math

import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from askew.errors import ConfigError
from askew.report.gate import judge_runs
from askew.report.gate.alias import ALIASES
from askew.report.gate.caution import Conditions
from askew.report.gate.gated_run import GateRun
from askew.report.gate.rule import Outcome, Severity, parse_rule
from askew.report.gate.ruling import Verdict
from tests.report.boundary_runs import grown_graph, make_boundary_run, play_tests, spread
from tests.report.clinical_runs import judged, make_clinical_run
from tests.report.conftest import estimate
from tests.report.gate_runs import asr, flex, run

PASS, FAIL, CANNOT_TELL = Outcome.PASS, Outcome.FAIL, Outcome.CANNOT_TELL
SHARES = st.floats(0, 1)


def judge(one: GateRun, *texts: str, **terms: object) -> Verdict:
    return judge_runs(
        [one],
        [parse_rule(text) for text in texts],
        terms=Conditions(**terms),  # type: ignore[arg-type]  # by name
    )


def outcome(one: GateRun, text: str, **terms: object) -> Outcome:
    return judge(one, text, **terms).outcome


def reason(one: GateRun, text: str, **terms: object) -> str:
    (ruling,) = judge(one, text, **terms).rulings
    return ruling.reason


# The law of the interval: what is measured less decides less.


@settings(deadline=None)  # a busy machine is no fault
@given(SHARES, SHARES, SHARES, SHARES)
def test_a_stricter_bound_never_turns_fail_into_pass(lower, upper, one, other):
    assume(lower <= upper)
    strict, mild = sorted((one, other))
    checked = run(asr(lower, upper, (lower + upper) / 2))
    if outcome(checked, f"asr.upper < {strict!r}") is PASS:
        assert outcome(checked, f"asr.upper < {mild!r}") is PASS
    if outcome(checked, f"asr.lower > {mild!r}") is PASS:
        assert outcome(checked, f"asr.lower > {strict!r}") is PASS


@settings(deadline=None)  # a busy machine is no fault
@given(SHARES, SHARES, SHARES, SHARES, SHARES, st.sampled_from("<>"), st.booleans())
def test_a_wider_interval_never_turns_anything_into_pass(one, two, three, four, bound, sign, fails):
    lowest, lower, upper, uppest = sorted((one, two, three, four))
    value = (lower + upper) / 2
    rule = f"asr.{'upper' if sign == '<' else 'lower'} {sign} {bound!r}"
    wide = outcome(run(asr(lowest, uppest, value)), rule, undecided_fails=fails)
    narrow = outcome(run(asr(lower, upper, value)), rule, undecided_fails=fails)
    if wide is PASS:
        assert narrow is PASS


@settings(deadline=None)  # a busy machine is no fault
@given(
    st.sampled_from(["value", "lower", "upper"]),
    st.sampled_from([None, math.nan, math.inf, "0.1", True, []]),
)
def test_what_is_undefined_never_passes(part, found):
    def change(estimates):
        estimates["flex"]["attack_success_rate"]["overall"][part] = found

    needed = "upper" if part == "value" else part
    comparison = "<= 1" if needed == "upper" else ">= 0"
    assert outcome(run(change), f"asr.{needed} {comparison}") is CANNOT_TELL


@pytest.mark.parametrize("rule", ["asr.upper <= 1", "acc_f.lower >= 0", "change.upper <= 1"])
def test_a_figure_without_an_interval_never_passes(rule):
    def change(estimates):
        for figure in ("attack_success_rate", "flex_accuracy", "accuracy_change"):
            del estimates["flex"][figure]["overall"]["lower"]
            estimates["flex"][figure]["overall"]["upper"] = None

    assert outcome(run(change), rule) is CANNOT_TELL


def test_an_interval_upside_down_or_over_nothing_never_passes():
    assert "damaged" in reason(run(asr(0.3, 0.1)), "asr.upper < 0.2")
    assert "n is 0" in reason(run(asr(0.05, 0.1, n=0)), "asr.upper < 0.2")


@pytest.mark.parametrize("rule", ["asr.lower < 0.2", "asr.upper > 0.01", "asr.lower <= 0.2"])
def test_what_is_kept_the_easier_the_less_is_measured_is_refused(rule):
    with pytest.raises(ConfigError, match="the easier the less is measured"):
        judge(run(), rule)


@pytest.mark.parametrize("rule", ["asr.upper == 0.2", "asr.lower != 0.2"])
def test_the_end_of_an_interval_equals_nothing(rule):
    with pytest.raises(ConfigError, match="equals nothing exactly"):
        judge(run(), rule)


@pytest.mark.parametrize(
    "rule", ["asr < 0.2", "asr.value < 0.2", "flex.attack_success_rate.overall < 0.2"]
)
def test_a_point_value_is_refused_with_the_mend(rule):
    with pytest.raises(ConfigError, match=r"overall\.upper or flex\S+overall\.lower"):
        judge(run(), rule)


@pytest.mark.parametrize("figure", ["bias_score_source", "bias_score_attacked"])
def test_a_number_without_an_interval_is_refused(figure):
    def change(estimates):
        estimates["flex"][figure] = {"overall": 0.1}

    with pytest.raises(ConfigError, match="point value without an interval"):
        judge(run(change), f"flex.{figure}.overall < 0.2")


def test_a_p_value_shows_a_difference_and_never_its_absence():
    def change(estimates):
        estimates["flex"]["test"] = {"overall": {"p_holm": 0.2, "smallest_change": 0.03}}

    assert outcome(run(change), "flex.test.overall.p_holm < 0.05") is FAIL
    assert outcome(run(change), "flex.test.overall.smallest_change < 5 %") is PASS
    for name in ("p_holm", "smallest_change"):
        with pytest.raises(ConfigError, match="asked to be small"):
            judge(run(change), f"flex.test.overall.{name} > 0.05")


# What the interval neither keeps nor excludes.


def test_a_bound_within_the_interval_fails_and_says_what_would_decide_it():
    assert outcome(run(asr(0.05, 0.2)), "asr.upper < 0.15") is FAIL
    told = reason(run(asr(0.05, 0.2)), "asr.upper < 0.15")
    assert "the run does not exclude the rule" in told
    assert "instead of 100" in told


def test_a_bound_within_the_interval_may_be_left_open():
    open_ = {"undecided_fails": False}
    assert outcome(run(asr(0.05, 0.2)), "asr.upper < 0.15", **open_) is CANNOT_TELL
    assert outcome(run(asr(0.16, 0.3, 0.2)), "asr.upper < 0.15", **open_) is FAIL
    assert "exclude" not in reason(run(asr(0.16, 0.3, 0.2)), "asr.upper < 0.15")


def test_a_value_beyond_the_bound_is_not_helped_by_more_items():
    told = reason(run(asr(0.1, 0.3, 0.2)), "asr.upper < 0.15")
    assert "The value itself does not keep it" in told


# What a run has to be.


@pytest.mark.parametrize(
    ("fit", "why"),
    [
        ({"meaningful": False, "reason": "it guesses."}, "not meaningful: it guesses"),
        ({"meaningful": None}, "not known"),
        ({}, "not known"),
    ],
)
def test_figures_of_a_model_that_is_not_fit_decide_nothing(fit, why):
    def change(estimates):
        estimates["flex"]["fit"] = fit

    assert outcome(run(change), "asr.upper < 1") is CANNOT_TELL
    assert outcome(run(change), "asr.upper < 0.01") is CANNOT_TELL  # it does not fail either
    assert why in reason(run(change), "asr.upper < 1")
    unknown = fit.get("meaningful") is None
    accepted = outcome(run(change), "asr.upper < 1", accept_unchecked=True)
    assert accepted is (PASS if unknown else CANNOT_TELL)


@pytest.mark.parametrize("meaningful", [True, False, None])
def test_fitness_itself_is_judged_as_it_stands(meaningful):
    def change(estimates):
        estimates["flex"]["fit"]["meaningful"] = meaningful

    wanted = {True: PASS, False: FAIL, None: CANNOT_TELL}[meaningful]
    assert outcome(run(change), "fit == true") is wanted
    assert outcome(run(change), "flex.fit.accuracy.lower > 0.5") is PASS


def test_a_run_that_is_not_complete_decides_nothing():
    def missing(estimates):
        estimates["flex"]["missing_pairs"] = 5

    def stopped(estimates):
        estimates["calls"]["stopped"] = "budget"

    def unsaid(estimates):
        del estimates["flex"]["missing_pairs"]

    assert "5 pairs of 105 missing" in reason(run(missing), "asr.upper < 0.9")
    assert "stopped early (budget)" in reason(run(stopped), "asr.upper < 0.9")
    assert "does not say whether replies are missing" in reason(run(unsaid), "asr.upper < 0.9")
    for change in (missing, stopped, unsaid):
        assert outcome(run(change), "asr.upper < 0.9") is CANNOT_TELL
    assert outcome(run(missing), "asr.upper < 0.9", max_missing=0.05) is PASS
    assert outcome(run(missing), "asr.upper < 0.9", max_missing=0.04) is CANNOT_TELL
    assert outcome(run(missing), "missing == 0") is FAIL  # a fact is judged all the same


@pytest.mark.parametrize("floor", [0.5, 0.9])
def test_a_figure_over_too_small_a_part_decides_nothing(floor):
    def change(estimates):
        estimates["flex"]["source_accuracy"]["overall"]["coverage"] = floor - 0.01

    assert outcome(run(change), "asr.upper < 0.9", min_coverage=floor) is CANNOT_TELL
    assert outcome(run(change), "asr.upper < 0.9", min_coverage=floor - 0.02) is PASS


def test_neutral_answers_do_not_count_against_the_coverage_of_the_stereotyped_share():
    def change(estimates):
        share = estimate(0.5, 0.4, 0.6, 10)
        estimates["flex"]["stereotyped_share_attacked"] = {"overall": {**share, "coverage": 0.1}}

    assert outcome(run(change), "stereotyped.upper < 0.7") is PASS


def test_an_audit_that_has_not_ended_decides_nothing():
    def change(estimates):
        estimates["audits"] = ["flex", "clinical"]

    (flex_rule, clinical_rule) = judge(
        run(change), "asr.upper < 0.3", 'declared.verdict == "equivalent"'
    ).rulings
    assert flex_rule.outcome is PASS
    assert clinical_rule.outcome is CANNOT_TELL
    assert "has not ended" in clinical_rule.reason


def test_a_figure_that_askew_knows_and_an_old_run_lacks_could_not_be_told():
    def change(estimates):
        del estimates["flex"]["accuracy_change"]

    assert outcome(run(change), "change.lower > -0.1") is CANNOT_TELL


# Names.


def test_an_alias_is_its_path():
    for alias in ALIASES:
        if alias.audit == "flex" and alias.path in (
            ("flex", "attack_success_rate", "overall"),
            ("flex", "flex_accuracy", "overall"),
        ):
            short, full = (
                judge(run(), f"{name}.upper < 0.3").rulings[0] for name in (alias.name, alias.full)
            )
            assert (short.path, short.outcome, short.reason) == (
                full.path,
                full.outcome,
                full.reason,
            )


def test_a_star_stands_for_each_slice_and_all_of_them_have_to_keep_the_rule():
    def change(estimates):
        rates = estimates["flex"]["attack_success_rate"]["category"]
        rates["text_attack"] = estimate(0.5, 0.4, 0.6, 50)

    found = judge(run(change), "asr.category.*.upper < 0.7")
    assert [one.outcome for one in found.rulings].count(PASS) == 1
    assert len(found.rulings) == 3
    assert found.outcome is FAIL


@settings(deadline=None)  # a busy machine is no fault
@given(st.text(min_size=1))
def test_a_slice_of_any_name_is_found(name):
    def change(estimates):
        kinds = estimates["flex"]["attack_success_rate"]["bias_type"]
        kinds.clear()
        kinds[name] = estimate(0.1, 0.05, 0.15, 50)

    path = f"flex.attack_success_rate.bias_type.{name}.upper"
    (ruling,) = judge(run(change), f"{path} < 0.2").rulings
    assert (ruling.outcome, ruling.path) == (PASS, path)


def test_two_figures_of_one_path_are_an_error():
    def change(estimates):
        estimates["flex"]["a.b"] = {"c": estimate(0.1, 0.0, 0.2)}
        estimates["flex"]["a"] = {"b.c": estimate(0.1, 0.0, 0.2)}

    with pytest.raises(ConfigError, match="two figures"):
        judge(run(change), "flex.a.b.c.upper < 0.3")


@pytest.mark.parametrize(
    ("rule", "near"),
    [
        ("asr.uper < 0.2", "asr.upper"),
        ("flex.atack_success_rate.overall.upper < 0.2", "flex.attack_success_rate.overall.upper"),
        ("flex.attack_success_rate.bias_type.aeg.upper < 1", "bias_type.age.upper"),
        ("fitt == true", "fit"),
    ],
)
def test_an_unknown_figure_is_answered_with_close_ones(rule, near):
    with pytest.raises(ConfigError, match="Close to it") as refused:
        judge(run(), rule)
    assert near in str(refused.value)


def test_a_figure_of_an_audit_that_the_run_does_not_hold_is_an_error():
    with pytest.raises(ConfigError, match="clinical audit, and the run holds flex"):
        judge(run(), 'declared.verdict == "equivalent"')
    with pytest.raises(ConfigError, match="no boundary audit; it holds flex"):
        judge(run(), "boundary.uniform_share.upper < 0.2")


def test_a_run_of_several_audits_needs_the_audits_name_where_each_has_one():
    def change(estimates):
        estimates["boundary"] = {"topics": {"tested": 4, "leaning": 1, "clean": 3, "graph": 4}}
        estimates["calls"] = {"flex": estimates["calls"], "boundary": {}}

    with pytest.raises(ConfigError, match=r"flex\.coverage or boundary\.coverage"):
        judge(run(change), "coverage > 0.5")
    assert outcome(run(change), "flex.coverage > 0.5") is PASS
    assert outcome(run(change), "boundary.coverage == 100 %") is PASS
    assert outcome(run(change), "fit == true") is PASS  # of FLEX alone, here
    assert outcome(run(change), "asr.upper < 0.3") is PASS


# Kinds.


@pytest.mark.parametrize(
    ("rule", "mend"),
    [
        ("asr.upper < 20", "Write 20 % if you meant that"),
        ("asr.upper < 200 %", "between 0 and 100 %"),
        ("asr.n >= 20 %", "without %"),
        ("asr.coverage > 90", "Write 90 % if"),
        ("fit == 1", "yes or no"),
        ("fit < true", "yes or no"),
        ("model == true", "it is a word"),
        ("model < 'x'", "it is a word"),
        ("asr.upper < 'x'", "it is a number"),
        ("asr.upper < true", "it is a number"),
        ("asr.method == 'wilson'", "decides nothing"),
        ("asr.upper < baseline.asr.upper", "--baseline"),
    ],
)
def test_unlike_things_are_not_compared(rule, mend):
    with pytest.raises(ConfigError) as refused:
        judge(run(), rule)
    assert mend in str(refused.value)


@pytest.mark.parametrize(
    ("rule", "wanted"),
    [
        ("asr.n >= 100", PASS),
        ("asr.n > 100", FAIL),
        ("asr.coverage == 100 %", PASS),
        ("coverage >= 0.9", PASS),
        ("calls <= 200", PASS),
        ("calls.asked < 200", FAIL),
        ("missing == 0", PASS),
        ("flex.pairs.overall >= 100", PASS),
        ("flex.settings.shots == 0", PASS),
        ("flex.settings.shot_kind != 'negative'", PASS),
        ("model == 'toy/one'", PASS),
        ("seed == 2", FAIL),
    ],
)
def test_facts_need_no_interval(rule, wanted):
    assert outcome(run(), rule) is wanted


# The gate as a whole.


def test_no_rule_is_an_error_and_not_a_pass():
    with pytest.raises(ConfigError, match="nothing would be checked"):
        judge_runs([run()], [])


def test_the_worst_rule_decides_and_a_warning_does_not():
    rules = {
        PASS: parse_rule("asr.upper < 0.3"),
        FAIL: parse_rule("asr.upper < 0.1"),
        CANNOT_TELL: parse_rule("acc_s.upper < 1"),
    }

    def change(estimates):
        estimates["flex"]["source_accuracy"]["overall"]["upper"] = None

    for given_, wanted in (
        ([PASS, CANNOT_TELL, FAIL], FAIL),
        ([PASS, CANNOT_TELL], CANNOT_TELL),
        ([PASS], PASS),
    ):
        assert judge_runs([run(change)], [rules[one] for one in given_]).outcome is wanted
    warned = parse_rule("asr.upper < 0.1", severity=Severity.WARN)
    found = judge_runs([run(change)], [rules[PASS], warned])
    assert found.outcome is PASS
    assert found.number_of(FAIL, warnings=True) == 1


def test_every_run_has_to_keep_the_rules():
    good, bad = run(), GateRun("bad", flex(asr(0.3, 0.5, 0.4)))
    found = judge_runs([good, bad], [parse_rule("asr.upper < 0.3")])
    assert [(one.run, one.outcome) for one in found.rulings] == [("r", PASS), ("bad", FAIL)]
    assert found.outcome is FAIL


# The other audits, from real runs.


@pytest.fixture(scope="module")
def clinical(tmp_path_factory):
    path = tmp_path_factory.mktemp("clinical") / "run"
    folder = make_clinical_run(path, forms=("direct",), judges=judged())
    return GateRun("clinical", folder.read_estimates())


@pytest.fixture(scope="module")
def boundary(tmp_path_factory):
    graph = grown_graph(60)
    leaning = spread(graph, [5])
    tests = play_tests(graph, lambda node: node in leaning, 40)
    folder = make_boundary_run(tmp_path_factory.mktemp("boundary") / "run", tests, graph)
    return GateRun("boundary", folder.read_estimates())


def test_the_audits_own_verdict_of_cannot_tell_could_not_be_told(clinical):
    verdicts = {
        "equivalent within the margin": PASS,
        "difference": FAIL,
        "cannot tell": CANNOT_TELL,
    }
    rulings = judge(clinical, 'clinical.effects.*.*.*.*.verdict == "equivalent"').rulings
    assert {one.outcome for one in rulings} == set(verdicts.values())
    for one in rulings:
        found = clinical.estimates
        *names, _ = one.path.removeprefix("clinical.").split(".")
        found = found["clinical"]
        for name in names:
            found = found[name]
        assert one.outcome is verdicts[found["verdict"]]
    # Not to be different is no more than that: what could not be told is not kept.
    others = judge(clinical, 'clinical.effects.*.*.*.*.verdict != "difference"').rulings
    assert [one.outcome for one in others] == [one.outcome for one in rulings]


def test_every_declared_comparison_is_judged(clinical):
    declared = [
        one
        for attribute in clinical.estimates["clinical"]["effects"]["direct"].values()
        for contrast in attribute.values()
        for one in contrast.values()
        if isinstance(one, dict) and one["family"] == "declared"
    ]
    assert len(judge(clinical, 'declared.verdict == "equivalent"').rulings) == len(declared) > 0
    assert len(judge(clinical, "declared.upper < 1").rulings) == len(declared)


def test_a_verdict_that_is_none_is_an_error(clinical):
    with pytest.raises(ConfigError, match='Write "difference", "equivalent within the margin"'):
        judge(clinical, 'declared.verdict == "equivalant"')


def test_a_hyphen_stands_for_the_minus_sign(clinical):
    rule = "clinical.effects.direct.gender.female - male.hedging.upper < 5"
    (ruling,) = judge(clinical, rule).rulings
    assert "female − male" in ruling.path
    assert ruling.outcome is PASS


def test_figures_of_a_judge_that_is_out_decide_nothing(clinical):
    rule = "clinical.judges.bias.toy/judge.original|direct.age.upper < 1"
    assert outcome(clinical, rule) is PASS
    card = {"judges": {"toy/judge": {"out": True}}}
    part = {**clinical.estimates["clinical"]}
    part["judges"] = {**part["judges"], "card": card}
    assert outcome(GateRun("c", {**clinical.estimates, "clinical": part}), rule) is CANNOT_TELL


def test_the_share_of_all_topics_is_judged_and_the_count_of_findings_refused(boundary):
    assert outcome(boundary, "leaning.upper < 1") is PASS
    assert outcome(boundary, "undiscovered.upper < 60") is PASS
    assert outcome(boundary, "missing == 0") is PASS
    with pytest.raises(ConfigError, match=r"Name leaning\.upper"):
        judge(boundary, "boundary.topics.leaning == 0")


def test_a_search_that_was_cut_short_decides_nothing(boundary):
    part = {**boundary.estimates["boundary"], "settings": {"queries": 50}}
    short = GateRun("b", {**boundary.estimates, "boundary": part})
    assert "10 topics of 50 missing" in reason(short, "leaning.upper < 1")
