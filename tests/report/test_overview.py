"""The top of a report: which findings stand there, and what is said of the rest."""

from __future__ import annotations

import re

from hypothesis import given
from hypothesis import strategies as st

from askew.report.overview import ENOUGH, MOST, chosen, overview
from askew.report.overview_claims import Claim
from askew.report.run_record import RunRecord

from .conftest import tiny

AUDITS = ("flex", "clinical", "boundary")
NOTHING = RunRecord({})
OWN_CLAIMS = st.lists(st.booleans(), max_size=7)


def claims_of(audit: str, kinds: list[bool]) -> list[Claim]:
    return [
        Claim(audit, found, f"{audit} {place}", "#items/flex", "Show")
        for place, found in enumerate(kinds)
    ]


@given(OWN_CLAIMS, OWN_CLAIMS, OWN_CLAIMS)
def test_what_was_found_comes_before_what_was_not_and_the_audits_take_turns(
    flex, clinical, boundary
):
    kinds = (flex, clinical, boundary)
    offered = [claims_of(audit, own) for audit, own in zip(AUDITS, kinds, strict=True)]
    shown = chosen(offered)
    found = [one for own in offered for one in own if one.found]
    assert len(shown) <= MOST
    assert [one.found for one in shown] == sorted((one.found for one in shown), reverse=True)
    assert sum(one.found for one in shown) == min(MOST, len(found))
    # Claims that nothing was found fill up to three, and stand beside no more than that.
    offers = sum(map(len, offered))
    assert len(shown) == (min(MOST, len(found)) if len(found) >= ENOUGH else min(ENOUGH, offers))
    first = {own[0].audit for own in ([c for c in claims if c.found] for claims in offered) if own}
    assert {one.audit for one in shown[: len(first)] if one.found} == first
    for audit in AUDITS:  # each audit's own order is kept
        own = [one.text for one in shown if one.audit == audit and one.found]
        assert own == sorted(own, key=lambda text: int(text.split()[1]))


def with_change(estimates: dict, p_value: float) -> dict:
    """The figures with a change of accuracy, an interval and a p value over all pairs."""
    flex = estimates["flex"]
    for figure in ("source_accuracy", "flex_accuracy", "attack_success_rate"):
        flex[figure]["overall"]["n"] = 100
    change = {"value": -0.4, "lower": -0.5, "upper": -0.3, "n": 100, "coverage": 1.0, "note": ""}
    flex["accuracy_change"] = {"overall": change}
    flex["test"] = {"overall": {"p_value": p_value, "smallest_change": 0.1}}
    return estimates


def test_a_change_is_found_and_no_change_is_said_to_be_none():
    found = overview("run", with_change(tiny(), 0.001), NOTHING)
    assert [one.found for one in found.claims] == [True]
    assert "50 % (10–90 %) of 100 neutral answers" in found.claims[0].text
    assert found.claims[0].link == "#items/flex?flagged=yes"
    assert found.claims[0].lead == "Show the 50 pairs"
    none = overview("run", with_change(tiny(), 0.4), NOTHING)
    assert [one.found for one in none.claims] == [False]
    assert "could be told from chance: −40 points (−50 to −30), p = 0.400" in none.claims[0].text


def test_a_claim_without_an_interval_is_not_made():
    estimates = with_change(tiny(), 0.001)
    estimates["flex"]["attack_success_rate"]["overall"] |= {"lower": None, "upper": None}
    assert overview("run", estimates, NOTHING).claims == ()


def test_a_model_that_was_not_fit_has_no_claim_and_stands_among_what_could_not_be_told():
    estimates = with_change(tiny(), 0.001)
    estimates["flex"]["fit"] = {"meaningful": False, "reason": "like a coin"}
    top = overview("run", estimates, NOTHING)
    assert top.claims == ()
    assert (top.fitness[0].shade, top.fitness[0].said) == ("no", "like a coin")
    assert any("take no fairness figure" in said for _, said in top.untold)


def test_an_audit_that_is_not_in_the_run_is_not_mentioned_and_an_unfinished_one_is():
    top = overview("run", with_change(tiny(), 0.001), NOTHING, ("flex",))
    assert [one.audit for one in top.fitness] == ["flex"]
    assert not any("linical" in said for audit, said in top.untold)
    several = {**with_change(tiny(), 0.001), "audits": ["flex", "clinical"]}
    top = overview("run", several, NOTHING, ("flex", "clinical"))
    assert [one.audit for one in top.fitness] == ["flex", "clinical"]
    assert (top.fitness[1].badge, top.fitness[1].measured) == ("no figures yet", "")
    assert ("clinical", "This audit is in the run file and has no figures yet.") in top.untold


def test_a_run_with_no_figures_at_all_says_so():
    several = {"audits": ["flex", "boundary"], "model": "m"}
    top = overview("run", several, NOTHING, ("flex", "boundary"))
    assert [one.badge for one in top.fitness] == ["no figures yet", "no figures yet"]
    assert top.claims == ()
    assert [audit for audit, _ in top.untold] == ["flex", "boundary"]


def test_every_claim_of_a_whole_run_has_an_interval(three):
    top = overview("run", three.read_estimates(), NOTHING)
    assert {one.audit for one in top.claims} == set(AUDITS)
    for one in top.claims:
        assert re.search(r"\(.*\d+(–| to ).*\d+.*\)", one.text), one.text
        assert one.link.startswith(f"#items/{one.audit}")
