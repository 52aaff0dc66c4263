"""Attributes that raters noticed, where the questions differ in them and where they do not.

A share of raters who noticed the age says little alone: some say so whatever they are shown. So
each attribute's hits stand beside its false alarms, where Table 4 has the shares by scenario.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

from askew.records import Estimate
from askew.stats.rates import Rate
from askew.survey.collected import Rating
from askew.survey.estimates import wilson_estimate
from askew.survey.records import OTHER, Key, Survey

ALL = "all"


class Cell(NamedTuple):
    """Whether one rater noticed one attribute in one scenario."""

    attribute: str
    differs: bool
    noticed: bool


@dataclass(frozen=True, slots=True)
class Detection:
    """One attribute, or all.

    Attributes:
        attribute: "age", …, "all".
        hits: share noticed, of ratings of scenarios in which it differs; Wilson's interval.
        false_alarms: share noticed, of ratings of scenarios in which it does not.
        beyond_guessing: hits − false alarms (Youden's J); NaN where either is.
    """

    attribute: str
    hits: Estimate
    false_alarms: Estimate
    beyond_guessing: float


def detections(survey: Survey, key: Key, ratings: Sequence[Rating]) -> tuple[Detection, ...]:
    """Every attribute that may be noticed, and all together; "other" has no truth to be held to.

    Scenarios whose true attributes are not known are left out. Wilson's intervals take ratings as
    independent. Ratings of one rater, or of one scenario, are not quite, so the intervals are a
    little too narrow.
    """
    names = [name for name in survey.attributes if name != OTHER]
    truth = {one.id: one.true_attributes for one in key.scenarios}
    cells = [
        Cell(name, name in known, name in one.noticed)
        for one in ratings
        for name in names
        if one.noticed is not None and (known := truth[one.scenario]) is not None
    ]
    own = [_detection(name, [one for one in cells if one.attribute == name]) for name in names]
    return (*own, _detection(ALL, cells))


def _detection(name: str, cells: Sequence[Cell]) -> Detection:
    hits, false_alarms = (
        Rate(
            sum(one.noticed for one in cells if one.differs is differs),
            sum(one.differs is differs for one in cells),
        )
        for differs in (True, False)
    )
    return Detection(
        name,
        wilson_estimate(hits, hits.trials),
        wilson_estimate(false_alarms, false_alarms.trials),
        hits.value - false_alarms.value,
    )
