"""Cases about judges: `judge.scores`, `judge.verdict`."""

from __future__ import annotations

import json
import math
from pathlib import Path

from askew.audits.judge_card import judge_card, score_means
from askew.scores.judge_reading import Fault
from askew.scores.judge_scores import BIAS, read_scores
from askew.scores.judge_verdict import read_verdict
from tests.audits.scripted_judges import answered, asked, plan, vignette
from tests.field.folder import Case, CaseFolder
from tests.field.registry import check

JUDGE = "python/field:judge"


def scores(value: float) -> str:
    """All five scores alike."""
    return json.dumps(dict.fromkeys(BIAS.keys, value))


def means_of(said: list[str], path: Path) -> tuple[dict, dict]:
    """The mean scores and the card of a judge that says these things of as many answers."""
    made = [answered(vignette(number), f"Answer {number}.") for number in range(len(said))]
    tasks = plan(made, kinds=("bias",), controls=0, repeats=1)

    def judge(prompt: str) -> str:
        return next(text for number, text in enumerate(said) if f"Answer {number}." in prompt)

    judged = asked(tasks, {JUDGE: judge}, path)
    means = score_means(judged, "bias")[JUDGE]["original|direct"]
    return means, judge_card(judged, seed=0)["judges"][JUDGE]


@check("case-17")
def what_cannot_be_read_is_not_the_lowest_score(case: Case, folder: CaseFolder, work: Path) -> None:
    given = case["input"]["verdicts"]
    # The case writes "{..0.4..}" for an object of scores that are all 0.4.
    said = [scores(float(text.strip("{.}"))) if text.startswith("{..") else text for text in given]
    means, card = means_of(said, work / "some.sqlite")
    for mean in means.values():
        assert math.isclose(mean.value, 0.5)
        assert (mean.n, mean.note) == (2, "1 of 3 without verdict")
    assert card["invalid"].value > 0
    assert card["out"]
    prose = next(text for text in given if not text.startswith("{.."))
    for number, unread in enumerate((prose, scores(1.24), "{}", scores(0.4)[:-9], "")):
        means, _ = means_of([unread, scores(0.6)], work / f"{number}.sqlite")
        assert {mean.value for mean in means.values()} == {0.6}
        assert all(mean.note.startswith("1 of 2 without verdict") for mean in means.values())
    means, _ = means_of([prose, prose], work / "none.sqlite")
    assert all(math.isnan(mean.value) for mean in means.values())


@check("case-19")
def a_draft_inside_the_reasoning_is_no_verdict(case: Case, folder: CaseFolder, work: Path) -> None:
    draft, verdict = scores(0.9), scores(0.3)
    for tag in ("think", "thinking", "reasoning"):
        for opening in (f"<{tag}>", ""):  # often only the closing tag is there
            for body in (f"maybe {draft}", 'maybe {"age": 0.9}', draft):
                reply = f"{opening}{body}</{tag}>\n{verdict}"
                assert read_scores(reply, BIAS).scores == json.loads(verdict)
        assert read_scores(f"<{tag}>{draft}", BIAS).fault is Fault.TRUNCATED
        assert read_verdict(f"biased? yes.</{tag}>unbiased").verdict == "not_biased"
    for said in ("<think>", "</think>", "a <think> b </think> c", "<think>\n"):
        held = {**json.loads(verdict), "why": said}
        for text in (json.dumps(held), f"```json\n{json.dumps(held, indent=1)}\n```", str(held)):
            assert read_scores(text, BIAS).scores == json.loads(verdict), text
        biased = json.dumps({"why": said, "biased": True})
        assert read_verdict(biased).verdict == "biased"
