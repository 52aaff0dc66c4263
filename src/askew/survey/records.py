"""The records of a human study: what raters see, and the key that says which arm is which.

They are two files. Whoever hosts the study needs the first alone; nothing in it names an arm, a
model, a variant or the attribute that was changed.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, Literal, TypeVar

from pydantic import TypeAdapter, ValidationError

from askew.errors import DataError
from askew.runfolder import canonical_hash, json_text, write_whole

FORMAT = "askew survey 1"
KEY_FORMAT = "askew survey key 1"

Label = Literal["a", "b"]  # the two pairs of a scenario, named by lot
Choice = Literal["a", "b", "no_difference"]
NO_DIFFERENCE: Choice = "no_difference"
NONE = "none"  # what is noticed where no attribute is
OTHER = "other"  # an attribute that is not in the list

Record = TypeVar("Record")


@dataclass(frozen=True, slots=True)
class QuestionAnswer:
    """A question to a model and what it said, as raters read them."""

    question: str
    answer: str


@dataclass(frozen=True, slots=True)
class Scenario:
    """One clinical scenario: its ground truth and two pairs of questions with answers (§4.3.4)."""

    id: str  # "S1", "S2", …
    ground_truth: str  # "" = none is known
    a: tuple[QuestionAnswer, ...]
    b: tuple[QuestionAnswer, ...]


@dataclass(frozen=True, slots=True)
class Sheet:
    """What one rater is shown: the scenarios' order, and which pair stands on the left."""

    order: tuple[str, ...]  # ids of the scenarios
    left: Mapping[str, Label]  # by scenario


@dataclass(frozen=True, slots=True)
class InclusionQuestion:
    """A question that is asked before the first scenario."""

    id: str
    text: str
    kind: Literal["yes_no", "text"] = "yes_no"
    required: bool = False  # only raters who say yes are shown the scenarios


@dataclass(frozen=True, slots=True)
class Survey:
    """Everything that raters are shown."""

    id: str
    scenarios: tuple[Scenario, ...]
    sheets: tuple[Sheet, ...]
    title: str
    consent: str
    inclusion: tuple[InclusionQuestion, ...]
    attributes: tuple[str, ...]  # that may be noticed
    allow_no_difference: bool = False
    format: str = FORMAT

    def scenario(self, name: str) -> Scenario:
        """The scenario of this id."""
        return next(one for one in self.scenarios if one.id == name)


@dataclass(frozen=True, slots=True)
class ScenarioKey:
    """What raters must not know about a scenario."""

    id: str
    a: str  # the arm of pair a
    b: str
    # Those in which the questions of a pair differ; None = not known, which is not "none".
    true_attributes: tuple[str, ...] | None
    source: Mapping[str, Any]  # vignette, variant, replicates, keys of the calls


@dataclass(frozen=True, slots=True)
class Key:
    """The other half of a survey."""

    survey: str  # its id
    ours: str  # the arm that is held to reveal more bias
    baseline: str
    seed: int
    scenarios: tuple[ScenarioKey, ...]
    format: str = KEY_FORMAT


def survey_id(scenarios: tuple[Scenario, ...], sheets: tuple[Sheet, ...]) -> str:
    """What binds a survey, its key and its answers together: a hash of what is judged.

    Title, consent and questions about the rater are not part of it: they may be reworded.
    """
    shown = [asdict(one) for one in scenarios], [asdict(one) for one in sheets]
    return canonical_hash(shown)[:16]


def write_record(path: Path, record: Survey | Key) -> None:
    """Write a survey or a key.

    Raises:
        RunError: the file cannot be written.
    """
    write_whole(path, json_text(record))


def read_survey(path: Path) -> Survey:
    """Read what `askew survey export` wrote.

    Raises:
        DataError: it is no survey, a field is wrong, or scenarios or sheets were changed since.
    """
    survey = _read(path, Survey, FORMAT, "survey")
    if survey.id != survey_id(survey.scenarios, survey.sheets):
        raise DataError(
            f"{path}: the scenarios or sheets are not those that were exported, so its key and "
            "answers do not belong to them. Export the survey again; only title, consent, "
            "inclusion and attributes may be edited."
        )
    names = [one.id for one in survey.scenarios]
    for place, sheet in enumerate(survey.sheets):
        if sorted(sheet.order) != sorted(names) or set(sheet.left) != set(names):
            raise DataError(
                f"{path}: field 'sheets.{place}' does not hold every scenario once. "
                "Export the survey again."
            )
    if not survey.sheets or not names:
        raise DataError(f"{path}: it has no scenario or no sheet. Export the survey again.")
    return survey


def read_key(path: Path, survey: Survey) -> Key:
    """Read the key of a survey.

    Raises:
        DataError: it is no key, or that of another survey.
    """
    key = _read(path, Key, KEY_FORMAT, "key of a survey")
    if key.survey != survey.id:
        raise DataError(
            f"{path}: it is the key of survey {key.survey}, expected {survey.id}. "
            "Name the key that was written together with the survey."
        )
    if [one.id for one in key.scenarios] != [one.id for one in survey.scenarios]:
        raise DataError(f"{path}: its scenarios are not the survey's. Export the survey again.")
    return key


def _read(path: Path, kind: type[Record], form: str, name: str) -> Record:
    try:
        values = json.loads(path.read_text(encoding="utf-8"))
    except OSError as trouble:
        raise DataError(f"{path}: cannot be read: {trouble.strerror}. Check the path.") from trouble
    except (ValueError, RecursionError) as trouble:
        raise DataError(f"{path}: not JSON: {trouble}. Name the {name} that was exported.") from (
            trouble
        )
    found = values.get("format") if isinstance(values, dict) else None
    if found != form:
        raise DataError(
            f"{path}: field 'format' is {found!r}, expected {form!r}. Name the {name}: "
            "`askew survey export` writes it."
        )
    try:
        return TypeAdapter(kind).validate_python(values)
    except ValidationError as trouble:
        first = trouble.errors()[0]
        where = ".".join(map(str, first["loc"]))
        raise DataError(
            f"{path}: field {where!r}: {first['msg']}. Export the survey again."
        ) from None
