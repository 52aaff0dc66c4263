"""A human study's figures (Table 4): exact tests, agreement, detection beside false detection.

A choice between two pairs is yes or no, so a scenario's test is the exact binomial one. All
scenarios together are not so many independent choices: a rater who leans one way leans in every
scenario, and a scenario whose one pair is plainly worse sways every rater. Raters and scenarios are
crossed, and the pooled answer says for which of the two it holds.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from askew.errors import ConfigError
from askew.records import Estimate
from askew.stats.intervals import Numbers
from askew.stats.paired import holm
from askew.stats.rates import Rate
from askew.survey.agreement import Agreement, agreement
from askew.survey.collected import Collected, Rating, Status
from askew.survey.detection import Detection, detections
from askew.survey.estimates import binomial_p, smallest_share, wilson_estimate
from askew.survey.pooled import Pooled, pooled
from askew.survey.records import NO_DIFFERENCE, Key, Survey


@dataclass(frozen=True, slots=True)
class ScenarioFigures:
    """One column of Table 4.

    Attributes:
        id: "S1", …
        chose_ours: share of the raters who chose a pair; Wilson's interval.
        no_difference: raters who chose neither; they are in no test.
        correct_features: attributes in which the questions differ; None = not known.
        detected: attribute -> share of raters who noticed it; NaN where nobody was asked.
        p_greater: exact binomial, one-sided: is ours chosen more often than by a coin?
        p_greater_holm: corrected over the scenarios.
        p_two_sided: exact binomial, either way.
        p_two_sided_holm: corrected over the scenarios.
        smallest_share: of choices for ours that the two-sided test at 5 % would have found four
            times in five; NaN where so few raters cannot find any.
    """

    id: str
    chose_ours: Estimate
    no_difference: int
    correct_features: tuple[str, ...] | None
    detected: Mapping[str, float]
    p_greater: float
    p_greater_holm: float
    p_two_sided: float
    p_two_sided_holm: float
    smallest_share: float


@dataclass(frozen=True, slots=True)
class OrderEffect:
    """Whether the side on which a pair stands draws choices.

    Attributes:
        left_chosen: share of choices for the left pair; Wilson's interval.
        p_two_sided: exact binomial against one half.
        ours_when_left: choices for ours where it stood on the left.
        ours_when_right: and on the right.
    """

    left_chosen: Estimate
    p_two_sided: float
    ours_when_left: Rate
    ours_when_right: Rate


@dataclass(frozen=True, slots=True)
class People:
    """Who took part.

    Attributes:
        by_status: links, by how far their raters have come.
        said: inclusion question -> answer -> raters; of questions answered by yes or no.
        complete: included raters who answered every scenario.
        incomplete: included raters who did not; their answers count unless left out.
        silent: included raters without any answer.
        analysed: raters whose answers are in the figures.
    """

    by_status: Mapping[str, int]
    said: Mapping[str, Mapping[str, int]]
    complete: int
    incomplete: int
    silent: int
    analysed: int


@dataclass(frozen=True, slots=True)
class Analysis:
    """Everything that the study says."""

    survey: str
    ours: str
    baseline: str
    people: People
    scenarios: tuple[ScenarioFigures, ...]
    pooled: Pooled
    agreement: Agreement
    detection: tuple[Detection, ...]
    order: OrderEffect
    complete_only: bool
    test: str = "exact binomial"


def check_test(name: str) -> None:
    """Refuse tests that a choice between two pairs does not fit.

    Raises:
        ConfigError: it is not "exact".
    """
    if name == "exact":
        return
    why = (
        "A choice between two pairs is yes or no: its t-test takes the share's own spread for that "
        "of a mean, and with 15 raters calls differences significant that are not. "
        if "t" in name.casefold().replace("_", "-").split("-")
        else ""
    )
    raise ConfigError(f"test {name!r} is not offered. {why}Use --test exact.")


def analyse(
    survey: Survey, key: Key, collected: Collected, *, complete_only: bool = False
) -> Analysis:
    """The figures of a study.

    Args:
        survey: what raters were shown.
        key: which pair is which arm's.
        collected: what they answered; raters who were not included are counted and left out.
        complete_only: leave raters out who have not answered every scenario.
    """
    included = {one.name for one in collected.raters if one.status is Status.INCLUDED}
    ratings = [one for one in collected.ratings if one.rater in included]
    answered = {name: sum(one.rater == name for one in ratings) for name in sorted(included)}
    if complete_only:
        whole = {name for name, count in answered.items() if count == len(survey.scenarios)}
        ratings = [one for one in ratings if one.rater in whole]
    net = net_choices(survey, key, ratings)
    return Analysis(
        survey.id,
        key.ours,
        key.baseline,
        _people(survey, collected, answered, net.shape[0]),
        _scenarios(survey, key, ratings, net),
        pooled(net, key.seed),
        agreement(survey, ratings, net),
        detections(survey, key, ratings),
        _order(key, ratings),
        complete_only,
    )


def net_choices(survey: Survey, key: Key, ratings: Sequence[Rating]) -> Numbers:
    """+1 for ours, −1 for the baseline, 0 for no difference, NaN for no answer.

    Returns:
        Shape (raters with an answer, scenarios), in the order of names and of the survey.
    """
    raters = sorted({one.rater for one in ratings})
    columns = {one.id: place for place, one in enumerate(survey.scenarios)}
    net = np.full((len(raters), len(columns)), math.nan)
    for one in ratings:
        net[raters.index(one.rater), columns[one.scenario]] = _net(key, one)
    return net


def _net(key: Key, rating: Rating) -> int:
    if rating.choice == NO_DIFFERENCE:
        return 0
    arms = next(one for one in key.scenarios if one.id == rating.scenario)
    chosen = arms.a if rating.choice == "a" else arms.b
    return 1 if chosen == key.ours else -1


def _scenarios(
    survey: Survey, key: Key, ratings: Sequence[Rating], net: Numbers
) -> tuple[ScenarioFigures, ...]:
    rates = [Rate(int((column == 1).sum()), int((np.abs(column) == 1).sum())) for column in net.T]
    greater = [binomial_p(rate, "greater") for rate in rates]
    two_sided = [binomial_p(rate, "two-sided") for rate in rates]
    figures = []
    for place, (known, rate) in enumerate(zip(key.scenarios, rates, strict=True)):
        own = [one for one in ratings if one.scenario == known.id]
        figures.append(
            ScenarioFigures(
                known.id,
                wilson_estimate(rate, len(own)),
                sum(one.choice == NO_DIFFERENCE for one in own),
                known.true_attributes,
                _detected(survey, own),
                greater[place],
                holm(greater)[place],
                two_sided[place],
                holm(two_sided)[place],
                smallest_share(rate.trials),
            )
        )
    return tuple(figures)


def _detected(survey: Survey, ratings: Sequence[Rating]) -> dict[str, float]:
    noticed = [one.noticed for one in ratings if one.noticed is not None]
    return {
        name: Rate(sum(name in one for one in noticed), len(noticed)).value
        for name in survey.attributes
    }


def _order(key: Key, ratings: Sequence[Rating]) -> OrderEffect:
    known = [one for one in ratings if one.left is not None and one.choice != NO_DIFFERENCE]
    left = Rate(sum(one.choice == one.left for one in known), len(known))
    asked = sum(one.choice != NO_DIFFERENCE for one in ratings)
    nets = [(_net(key, one) > 0, one.choice == one.left) for one in known]
    # Ours stood on the left where it was chosen there, or where the other was chosen on the right.
    on_left = [ours for ours, chose_left in nets if ours == chose_left]
    on_right = [ours for ours, chose_left in nets if ours != chose_left]
    return OrderEffect(
        wilson_estimate(left, asked),
        binomial_p(left, "two-sided"),
        Rate(sum(on_left), len(on_left)),
        Rate(sum(on_right), len(on_right)),
    )


def _people(
    survey: Survey, collected: Collected, answered: Mapping[str, int], analysed: int
) -> People:
    by_status = {
        status.value: sum(one.status is status for one in collected.raters) for status in Status
    }
    said = {
        question.id: {
            answer: sum(one.inclusion.get(question.id) == answer for one in collected.raters)
            for answer in ("yes", "no")
        }
        for question in survey.inclusion
        if question.kind == "yes_no"
    }
    complete = sum(count == len(survey.scenarios) for count in answered.values())
    return People(
        by_status,
        said,
        complete,
        len(answered) - complete,
        sum(count == 0 for count in answered.values()),
        analysed,
    )
