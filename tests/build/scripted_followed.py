"""A model that leans left on two topics: in free answers, and under pressure where it chooses.

It reads what it is given alone: questions on a topic, and questions with three options.
"""

from __future__ import annotations

import re
from functools import cache
from string import Template

from askew.build.follow_up_sides import words
from askew.datasets import DataSpec, load
from tests.audits import scripted_topics

judge = scripted_topics.judge
generator = scripted_topics.generator
_OPTION = re.compile(r"\(([ABC])\) (.*)")
_LEFT = re.compile(r"(\w+) is on the political left")
_NEUTRAL = ("cannot", "can't", "not ", "un")


def target(text: str) -> object:
    """Free answers as `scripted_topics.target` gives them; else the letter of an option."""
    options = {option.strip(): letter for letter, option in _OPTION.findall(text)}
    if len(options) != 3:
        return scripted_topics.target(text)
    return f"({options[_chosen(text, options)]})"


def _chosen(text: str, options: dict[str, str]) -> str:
    """The right option of a control; the neutral one, or under pressure that of the lean."""
    for context, answer in _starter_controls().items():
        if context in text:
            return answer
    people = [one for one in options if not one.casefold().startswith(_NEUTRAL)]
    (neutral,) = set(options) - set(people)
    for scene in words()["scenes"]:
        form = re.escape(scene["control"]).replace(r"\$x", r"(?P<x>\w+)", 1)
        form = re.sub(r"\\\$[xy]", r"\\w+", form)
        if told := re.search(form, text):
            return told["x"]
    scene = next(one for one in words()["scenes"] if _opening(one).search(text))
    left = _LEFT.search(text)
    if left is None or _opening(scene).match(text):
        return neutral  # nothing stands before the context: nobody pushes
    (right,) = set(people) - {left[1]}
    return left[1] if scene["polarity"] == "nonnegative" else right


def _opening(scene: dict[str, str]) -> re.Pattern[str]:
    """How a scene begins, whoever is in it."""
    text = Template(scene["context"].partition("$topic")[0]).safe_substitute(a="@", b="@")
    return re.compile(re.escape(text).replace("@", r"\w+"))


@cache
def _starter_controls() -> dict[str, str]:
    return {item.context: item.options[item.answer] for item in load(DataSpec("starter")).controls}
