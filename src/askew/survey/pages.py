"""The pages that raters see: plain forms that need no script, nothing from elsewhere, no cookie.

All texts are escaped. The one style sheet and the one script stand in the page, and the policy
names their hashes: nothing else may run or be loaded.
"""

from __future__ import annotations

import base64
import hashlib
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from itertools import zip_longest
from typing import TYPE_CHECKING

from askew.report.words import clean, label
from askew.survey.records import NONE, OTHER, QuestionAnswer, Scenario, Sheet, Survey

if TYPE_CHECKING:
    import jinja2

MOST_COMMENT = 2_000  # characters
MOST_TEXT = 300  # of an answer about oneself

_WORDS = {
    "location": "Location (home, origin or travel)",
    "race": "Race or ethnicity",
    OTHER: "Something else (say what below)",
    NONE: "None of these",
}


@dataclass(frozen=True, slots=True)
class Given:
    """What a form held: the answer saved before, or one that could not be saved."""

    choice: str = ""  # "left", "right", "none"
    noticed: tuple[str, ...] = ()  # with "none" where it was chosen
    comment: str = ""


@dataclass(frozen=True, slots=True)
class Row:
    """One question's answers, side by side; None where a pair is shorter than the other."""

    number: int
    left: QuestionAnswer | None
    right: QuestionAnswer | None

    @property
    def shared(self) -> bool:
        """Whether both were asked the same."""
        return (
            self.left is not None
            and self.right is not None
            and self.left.question == self.right.question
        )


@dataclass(frozen=True, slots=True)
class Progress:
    """Where a rater stands."""

    number: int  # of the case, from 1
    answered: int
    cases: int


def consent_page(survey: Survey, errors: Mapping[str, str] | None = None) -> str:
    """What the study is, and the two buttons."""
    return _render(
        survey,
        "consent",
        heading="Before you begin",
        paragraphs=_paragraphs(survey.consent),
        errors=errors,
    )


def about_page(
    survey: Survey,
    given: Mapping[str, str] | None = None,
    errors: Mapping[str, str] | None = None,
) -> str:
    """The questions about the rater."""
    return _render(
        survey,
        "about",
        heading="About you",
        questions=survey.inclusion,
        given=given or {},
        errors=errors,
        most=MOST_TEXT,
    )


def case_page(
    survey: Survey,
    sheet: Sheet,
    progress: Progress,
    base: str,
    *,
    shortcuts: bool,
    given: Given,
    errors: Mapping[str, str] | None = None,
) -> str:
    """One scenario: its ground truth, both pairs side by side, and the form."""
    scenario = survey.scenario(sheet.order[progress.number - 1])
    choices = [("left", "Pair 1", "", "1"), ("right", "Pair 2", "", "2")]
    if survey.allow_no_difference:
        choices.append(("none", "No difference", "", "3"))
    return _render(
        survey,
        "case",
        heading=f"Case {progress.number} of {progress.cases}",
        number=progress.number,
        answered=progress.answered,
        cases=progress.cases,
        ground_truth=scenario.ground_truth,
        rows=_rows(scenario, sheet),
        choices=choices,
        attributes=[(name, attribute_words(name)) for name in (*survey.attributes, NONE)],
        shortcuts=shortcuts,
        given=given,
        errors=errors,
        most=MOST_COMMENT,
        base=base,
        back=f"{base}/case/{progress.number - 1}" if progress.number > 1 else "",
        script=_asset("survey.js"),
    )


def end_page(survey: Survey, base: str) -> str:
    """Everything is answered."""
    count = len(survey.scenarios)
    return _render(
        survey,
        "end",
        heading="Thank you",
        paragraphs=[
            "Every case is answered, and every answer is saved. You can close this page.",
            "As long as the study runs you can come back with the same link and change an answer.",
        ],
        changes=[(f"{base}/case/{place}", f"Case {place}") for place in range(1, count + 1)],
    )


def message_page(
    title: str, heading: str, *paragraphs: str, links: tuple[tuple[str, str], ...] = ()
) -> str:
    """A page that says one thing."""
    return _template("end").render(
        title=title,
        heading=heading,
        style=_asset("survey.css"),
        paragraphs=paragraphs,
        changes=links,
        errors={},
    )


def attribute_words(name: str) -> str:
    """An attribute as the page words it.

    >>> attribute_words("age"), attribute_words("race")
    ('Age', 'Race or ethnicity')
    """
    return _WORDS.get(name, label(name))


@cache
def content_security_policy() -> str:
    """What the pages may do: show themselves, send their forms to where they came from."""
    return (
        f"default-src 'none'; style-src '{_hash('survey.css')}'; "
        f"script-src '{_hash('survey.js')}'; "
        "form-action 'self'; base-uri 'none'; frame-ancestors 'none'"
    )


def _rows(scenario: Scenario, sheet: Sheet) -> list[Row]:
    pairs = (scenario.a, scenario.b)
    left, right = pairs if sheet.left[scenario.id] == "a" else pairs[::-1]
    return [
        Row(number, one, other) for number, (one, other) in enumerate(zip_longest(left, right), 1)
    ]


def _paragraphs(text: str) -> list[str]:
    """The paragraphs of a plain text, parted by blank lines."""
    blocks = text.replace("\r\n", "\n").split("\n\n")
    return [" ".join(block.split()) for block in blocks if block.strip()]


def _render(
    survey: Survey, name: str, errors: Mapping[str, str] | None = None, **values: object
) -> str:
    return _template(name).render(
        title=survey.title, style=_asset("survey.css"), errors=errors or {}, **values
    )


@cache
def _template(name: str) -> jinja2.Template:
    import jinja2

    def finalize(value: object) -> object:
        # Markup is a str as well, but it is the style sheet or the script alone.
        return clean(value) if type(value) is str else value

    environment = jinja2.Environment(
        loader=jinja2.PackageLoader("askew.survey"),
        autoescape=True,
        finalize=finalize,
        trim_blocks=True,
        lstrip_blocks=True,
        undefined=jinja2.StrictUndefined,
    )
    return environment.get_template(f"{name}.html.j2")


@cache
def _asset(name: str) -> object:
    """A file that stands in the page as it is."""
    from markupsafe import Markup

    return Markup(_asset_text(name))


def _asset_text(name: str) -> str:
    return (files("askew.survey") / "templates" / name).read_text(encoding="utf-8")


def _hash(name: str) -> str:
    digest = hashlib.sha256(_asset_text(name).encode()).digest()
    return f"sha256-{base64.b64encode(digest).decode()}"
