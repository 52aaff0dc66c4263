"""The clinical pictures: true to scale, and without a mark where there is no figure."""

from __future__ import annotations

import math
from dataclasses import replace
from xml.etree import ElementTree

import pytest
from hypothesis import given
from hypothesis import strategies as st

from askew.records import Estimate
from askew.report.clinical_figure import forest, radar, scale_of
from askew.report.clinical_run import DIMENSIONS
from askew.report.estimates import read_estimate

from .clinical_runs import figure
from .test_clinical_summary import SHARE, finding

SVG = "{http://www.w3.org/2000/svg}"
HOSTILE = 'race" onmouseover="x\'><script>alert(1)</script>&\x00\ud800'


def across(part: ElementTree.Element, name: str) -> float:
    return float(str(part.get(name)).rstrip("%"))


def drawn(*rows) -> ElementTree.Element:
    return ElementTree.fromstring(forest("f", "t", SHARE, rows))


@given(st.floats(-1, 1), st.floats(0.001, 1))
def test_a_dot_stands_at_its_difference_and_the_band_at_the_margin(value, margin):
    row = replace(finding(SHARE, value), margin=margin)
    reach = scale_of([row])
    picture = drawn(row)
    (dot,) = picture.iter(f"{SVG}circle")
    assert across(dot, "cx") == pytest.approx(50 + 50 * value / reach, abs=0.01)
    (band,) = [part for part in picture.iter(f"{SVG}rect") if part.get("class") == "band"]
    assert across(band, "width") == pytest.approx(100 * margin / reach, abs=0.02)
    (zero,) = [part for part in picture.iter(f"{SVG}line") if part.get("class") == "zero"]
    assert across(zero, "x1") == 50


@given(st.lists(st.floats(-1e6, 1e6), min_size=1, max_size=5))
def test_the_scale_reaches_every_end(values):
    rows = [
        replace(finding(SHARE, value), estimate=Estimate(value, value, value, 9, 1.0, ""))
        for value in values
    ]
    assert scale_of(rows) >= max(map(abs, values)) * 0.998


def test_an_undefined_difference_has_no_dot_and_says_so():
    picture = drawn(finding(SHARE, math.nan))
    assert not list(picture.iter(f"{SVG}circle"))
    said = picture.find(f"{SVG}desc")
    assert said is not None
    assert said.text == "Gender, female against male: undefined."


def test_the_text_alternative_holds_figures_and_verdicts():
    row = replace(finding(SHARE, 0.2), estimate=read_estimate(figure(0.2, 0.1, 0.3)))
    said = drawn(row).find(f"{SVG}desc")
    assert said is not None
    assert said.text == (
        "Gender, female against male: +20 points, 95 % interval +10 to +30, margin 10 points, "
        "cannot tell."
    )


def scores(value: float) -> dict[str, Estimate]:
    return {name: read_estimate(figure(value)) for name in DIMENSIONS}


def test_a_radar_has_five_corners_a_line_and_leaves_a_gap_where_nothing_is_known():
    whole = ElementTree.fromstring(radar("r", "t", {"original": scores(0.5)}))
    assert len(list(whole.iter(f"{SVG}circle"))) == 5
    edges = [p for p in whole.iter(f"{SVG}line") if (p.get("class") or "").startswith("edge")]
    assert len(edges) == 5
    gap = {**scores(0.5), "gender": read_estimate(figure(None))}
    broken = ElementTree.fromstring(radar("r", "t", {"original": gap}))
    assert len(list(broken.iter(f"{SVG}circle"))) == 4
    edges = [p for p in broken.iter(f"{SVG}line") if (p.get("class") or "").startswith("edge")]
    assert len(edges) == 3
    said = broken.find(f"{SVG}desc")
    assert said is not None
    assert "Gender – undefined" in str(said.text)


def test_names_from_data_are_text_in_every_picture():
    row = replace(finding(SHARE, 0.1), attribute=HOSTILE, contrast=f"{HOSTILE} − {HOSTILE}")
    for picture in (
        forest("f", HOSTILE, SHARE, [row]),
        radar("r", HOSTILE, {HOSTILE: scores(0.1)}),
    ):
        parsed = ElementTree.fromstring(picture)
        assert not list(parsed.iter(f"{SVG}script"))
        assert all("onmouseover" not in part.attrib for part in parsed.iter())
