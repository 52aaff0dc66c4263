"""The option that a reply about a patient chooses: a scale, or a multiple-choice question."""

from __future__ import annotations

import re
from collections.abc import Sequence

from askew.prompts.clinical import split_labels
from askew.records import Finish
from askew.scores.choice import read_choice
from askew.scores.clean import plain_characters, unescaped, without_markup
from askew.scores.reading import Reading, answered, unreadable

_STATED = re.compile(
    r"\b(?:answer|option|choice|selection|select|selected|rating|score|rate|choose"
    r"|chose|decision|response|level|pick)\b"
    r"[^\n\d]{0,60}?(?P<number>\d{1,2})(?![\d%]|[.,]\d|\s?(?:days?|weeks?|months?"
    r"|years?|hours?|mg|of the|st|nd|rd|th)\b)",
    re.IGNORECASE,
)
_ALONE = re.compile(r"^\W{0,6}(?P<number>\d{1,2})\s?(?:/\s?\d{1,2})?\W{0,4}$", re.MULTILINE)
_OTHER_NUMBER = re.compile(r"\s?(?:or|to|-|/|and)\s?(?P<number>\d{1,2})\b(?!\s?\d)")


def read_option(text: str, options: Sequence[str], *, finish: Finish, asked: str = "") -> Reading:
    """The option that a reply chooses, by its text, letter or number.

    Args:
        text: the reply, or the value of the "answer" field.
        options: as in `Vignette.options`, with or without labels of their own.
        finish: how the reply ended.
        asked: the case and the question, so that a repeated prompt is known for one.

    >>> scale = ("1. Disagree", "2. Neutral", "3. Agree")
    >>> read_option("She slept well. Answer: 3. Agree", scale, finish=Finish.STOP).place
    2
    >>> read_option("2 or 3", scale, finish=Finish.STOP).outcome_hint
    'unreadable'
    """
    labels, texts = split_labels(options)
    plain = without_markup(plain_characters(unescaped(text)))
    by_number = _by_number(plain, labels, texts, finish)
    by_text = read_choice(text, texts, question=asked, neutral_place=None, finish=finish)
    if by_number is None:
        # "D. diabetes" under options 1 to 5: a letter that was not offered.
        said = by_text.place is None or re.search(
            _words(texts[by_text.place]), plain, re.IGNORECASE
        )
        numbered = all(label.isdigit() for label in labels)
        return unreadable("letter_not_offered") if numbered and not said else by_text
    if by_number.place is None:
        return by_number
    differs = by_text.place is not None and by_text.place != by_number.place
    # "3. Agree" beside a firm "Disagree" is two answers; an option named in passing is none.
    if differs and by_text.rule not in ("single_text", "single_letter", "concluded"):
        return unreadable("two_options")
    return by_number


def _by_number(
    text: str, labels: Sequence[str], texts: Sequence[str], finish: Finish
) -> Reading | None:
    """The option whose number the reply gives; None if it gives none."""
    numeric = all(label.isdigit() for label in labels)
    if not numeric and any(re.match(r"\W*\d", one) for one in texts):
        return None  # the options are numbers themselves
    places = (
        {label: place for place, label in enumerate(labels)}
        if numeric
        else {str(place + 1): place for place in range(len(texts))}
    )
    text = _without_list(text, labels, texts) if numeric else text
    if numeric:
        # "4 out of 5" and "4/5" on a scale to 5 are a 4, and say so.
        top = max(labels, key=int)
        of_top = rf"(?<![\w.,])(\d{{1,2}})\s?(?:/|out of)\s?{top}(?![\w/]|[.,]\d)"
        if len(set(re.findall(of_top, text, re.IGNORECASE))) > 1:
            return unreadable("two_options")
        text = re.sub(of_top, r"rating: \1", text, flags=re.IGNORECASE)
    labelled = _labelled(text, labels, texts) if numeric else set()
    cut = finish is Finish.LENGTH
    said = [found for found in _STATED.finditer(text) if not (cut and found.end() == len(text))]
    if said:
        other = _OTHER_NUMBER.match(text, said[-1].end())
        if other and other["number"] in places and other["number"] != said[-1]["number"]:
            return unreadable("two_options")
        if said[-1]["number"] in places:
            return answered(places[said[-1]["number"]], "number_stated")
        return unreadable("number_not_offered") if numeric else None
    if len(labelled) == 1:
        return answered(labelled.pop(), "number_and_text")
    if len(labelled) > 1:
        return unreadable("two_options")
    alone = {
        found["number"] for found in _ALONE.finditer(text) if not cut or found.end() < len(text)
    }
    if len(alone) == 1:
        number = alone.pop()
        return (
            answered(places[number], "number")
            if number in places
            else unreadable("number_not_offered")
        )
    if len(alone) > 1 or re.fullmatch(r"\W*\d{1,2}\s?(?:or|to|-|/|and)\s?\d{1,2}\W*", text):
        return unreadable("two_options")
    return None


def _labelled(text: str, labels: Sequence[str], texts: Sequence[str]) -> set[int]:
    """The options that stand in the text with both their label and their words."""
    return {
        place
        for place, (label, words) in enumerate(zip(labels, texts, strict=True))
        if re.search(
            rf"(?<![\w.]){re.escape(label)}\s?[.):=-]{{0,2}}\s?{_words(words)}(?!\w)", text, re.I
        )
    }


def _without_list(text: str, labels: Sequence[str], texts: Sequence[str]) -> str:
    """The text without the list of all options, as a reply says it over."""
    items = [
        rf"\(?{re.escape(label)}\s?[.):=-]{{0,2}}\s?{_words(words)}[.,;]?"
        for label, words in zip(labels, texts, strict=True)
    ]
    return re.sub(r"\s{0,3}[-*]?\s?".join(items), " ", text, flags=re.I)


def _words(words: str) -> str:
    return r"\s".join(re.escape(word) for word in without_markup(plain_characters(words)).split())
