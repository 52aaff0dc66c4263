"""The facts of a text as a picture that can also be read without seeing it."""

from __future__ import annotations

import re
import xml.etree.ElementTree as ElementTree

import pytest
from hypothesis import given
from hypothesis import strategies as st

from askew.graphs.picture import _LOOKS, picture
from askew.vignettes import Facts, Relation, Span, Status, Triplet

SVG = "{http://www.w3.org/2000/svg}"


def fact(value: str, status: Status = Status.PRESENT, relation: Relation = Relation.HAS_SYMPTOM):
    return Triplet(relation, value, status, Span(0, 4), "said", "list")


def texts_of(svg: str) -> list[str]:
    return [element.text or "" for element in ElementTree.fromstring(svg).iter(f"{SVG}text")]


def test_every_fact_stands_in_the_picture_with_its_relation_and_status():
    facts = Facts("", tuple(fact(f"pain {status.value}", status) for status in Status))
    shown = texts_of(picture(facts))
    assert "patient" in shown
    assert "has symptom" in shown
    for status in Status:
        assert f"pain {status.value}" in shown
        assert shown.count(status.value) == 2  # at the value, and in the legend


def test_the_legend_explains_only_what_occurs():
    shown = texts_of(picture(Facts("", (fact("fever", Status.ABSENT),))))
    assert shown.count("absent") == 2
    assert "planned" not in shown


def test_a_relative_stands_beside_the_condition():
    triplet = Triplet(
        Relation.FAMILY_HISTORY, "asthma", Status.PRESENT, None, "", "", relative="mother"
    )
    assert "asthma (mother)" in texts_of(picture(Facts("", (triplet,))))


def test_title_and_description_tell_the_same_to_a_screen_reader():
    root = ElementTree.fromstring(picture(Facts("", (fact("fever", Status.ABSENT),)), "Case 7"))
    assert root.get("role") == "img"
    ids = (root.get("aria-labelledby") or "").split()
    named = {element.get("id"): element.text for element in root if element.get("id") in ids}
    assert named["title"] == "Case 7"
    assert "has symptom fever: absent" in (named["description"] or "")


def test_a_text_without_facts_says_so():
    assert "no facts were found" in texts_of(picture(Facts("nothing", ())))


def test_a_long_value_is_broken_into_lines_and_given_whole_as_its_title():
    value = " ".join(["pain"] * 60)
    svg = picture(Facts("", (fact(value),)))
    lines = [text for text in texts_of(svg) if text.startswith("pain")]
    assert 1 < len(lines) <= 3
    assert value in svg


@given(st.lists(st.text(max_size=60), max_size=12))
def test_any_values_give_a_picture_that_parses_and_holds_everything(values):
    facts = Facts("", tuple(fact(value) for value in values))
    svg = picture(facts).encode("utf-8", "replace").decode("utf-8")
    root = ElementTree.fromstring(svg)
    height = float(root.get("height") or 0)
    boxes = [box for box in root.iter(f"{SVG}rect") if box.get("y")]
    assert all(float(box.get("y")) + float(box.get("height")) < height for box in boxes)


def luminance(colour: str) -> float:
    parts = [int(colour[place : place + 2], 16) / 255 for place in (1, 3, 5)]
    linear = [
        part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4 for part in parts
    ]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]


def contrast(one: str, other: str) -> float:
    light, dark = sorted((luminance(one), luminance(other)), reverse=True)
    return (light + 0.05) / (dark + 0.05)


@pytest.mark.parametrize("status", list(Status))
def test_words_can_be_read_on_their_colour(status):
    look = _LOOKS[status]
    for ground in (look.fill, "#ffffff"):
        assert contrast(look.ink, ground) >= 4.5  # WCAG 2.2, AA


def test_statuses_differ_in_more_than_colour():
    patterns = [look.dashes for look in _LOOKS.values()]
    assert len(set(patterns)) == len(patterns)


def test_nothing_is_loaded_from_elsewhere():
    svg = picture(Facts("", (fact("fever"),)))
    assert not re.search(r"(?:href|src|url\()", svg)
