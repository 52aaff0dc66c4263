"""The pictures: well-formed, true to scale, and without a mark where there is no figure."""

from __future__ import annotations

import math
from xml.etree import ElementTree

import pytest
from hypothesis import given
from hypothesis import strategies as st

from askew.records import Estimate, Outcome
from askew.report.figure import Dots, dots, outcome_bars, slope

SVG = "{http://www.w3.org/2000/svg}"
HOSTILE = 'race" onmouseover="x\'><script>alert(1)</script>&\x00\ud800'


def figure(value: float, lower: float = math.nan, upper: float = math.nan) -> Estimate:
    return Estimate(value, lower, upper, 10, 1.0, "wilson")


NOTHING = figure(math.nan)


@given(st.floats(0, 1))
def test_a_dot_stands_at_its_share(share):
    drawn = ElementTree.fromstring(dots("d", "t", [Dots("age", (figure(share, share / 2, 1),))]))
    (dot,) = drawn.iter(f"{SVG}circle")
    assert float(dot.get("cx").rstrip("%")) == pytest.approx(100 * share, abs=0.006)


def test_an_undefined_figure_has_no_dot_and_says_so():
    rows = [Dots("age", (NOTHING,)), Dots("race", (NOTHING, figure(0.5)))]
    drawn = ElementTree.fromstring(dots("d", "t", rows))
    assert len(list(drawn.iter(f"{SVG}circle"))) == 1
    assert "age: undefined." in drawn.find(f"{SVG}desc").text
    empty = ElementTree.fromstring(slope("s", "t", NOTHING, NOTHING))
    assert not list(empty.iter(f"{SVG}circle"))
    assert "undefined" in empty.find(f"{SVG}desc").text


@given(st.dictionaries(st.sampled_from(list(Outcome)), st.integers(0, 50)))
def test_a_bar_is_as_wide_as_its_outcomes(counts):
    drawn = ElementTree.fromstring(outcome_bars("o", "t", [("all", counts)]))
    widths = [
        float(part.get("width").rstrip("%"))
        for part in drawn.iter(f"{SVG}rect")
        if part.get("class") != "track"
    ]
    assert sum(widths) == pytest.approx(100 if sum(counts.values()) else 0, abs=0.05)


def test_names_from_data_are_text_in_every_picture():
    pictures = [
        dots("d", HOSTILE, [Dots(HOSTILE, (figure(0.5, 0.4, 0.6),))], ideal=0.5),
        slope("s", HOSTILE, figure(0.8), figure(0.1)),
        outcome_bars("o", HOSTILE, [(HOSTILE, {Outcome.NEUTRAL: 1})]),
    ]
    for picture in pictures:
        drawn = ElementTree.fromstring(picture)
        assert not list(drawn.iter(f"{SVG}script"))
        assert all("onmouseover" not in part.attrib for part in drawn.iter())
        assert "<script>" in drawn.find(f"{SVG}title").text


def test_every_picture_has_a_text_alternative_that_holds_its_figures():
    drawn = ElementTree.fromstring(
        slope("s", "Neutral answers", figure(0.8, 0.7, 0.9), figure(0.1))
    )
    assert drawn.get("role") == "img"
    assert drawn.get("aria-labelledby") == "s-t s-d"
    said = drawn.find(f"{SVG}desc").text
    assert said == "Without an attack 80 %, 95 % interval 70–90 %; under attack 10 %."
