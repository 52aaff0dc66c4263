"""What raters answered, from the study's database or from a CSV file, in one form."""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum
from pathlib import Path
from typing import Any, cast

from askew.datasets.base import BadRecord, Report
from askew.datasets.fields import identifier, is_absent, optional_text
from askew.datasets.files import Record, csv_rows, read_file
from askew.errors import DataError
from askew.report.sheet_cells import sheet_cell, sheet_text
from askew.report.words import clean
from askew.runfolder import write_whole
from askew.survey.candidates import shown_attribute
from askew.survey.records import NO_DIFFERENCE, NONE, Choice, Label, Survey

COLUMNS = ("rater", "status", "scenario", "choice", "left", "noticed", "comment", "answered_at")


class Status(StrEnum):
    """How far a rater has come."""

    NOT_OPENED = "not opened"
    OPENED = "opened"  # and has neither agreed nor declined
    DECLINED = "declined"
    AGREED = "agreed"  # and has not answered the inclusion questions
    EXCLUDED = "excluded"
    INCLUDED = "included"


@dataclass(frozen=True, slots=True)
class Rater:
    """One person, or one link."""

    name: str
    status: Status
    inclusion: Mapping[str, str]  # question -> answer


@dataclass(frozen=True, slots=True)
class Rating:
    """One rater's answer to one scenario."""

    rater: str
    scenario: str
    choice: Choice
    left: Label | None = None  # the pair that stood on the left; None = not known
    noticed: tuple[str, ...] | None = None  # () = none of the attributes; None = not asked
    comment: str = ""
    answered_at: str = ""


@dataclass(frozen=True, slots=True)
class Collected:
    """Everybody, and everything they answered; at most one rating a rater and scenario."""

    raters: tuple[Rater, ...]
    ratings: tuple[Rating, ...]


def write_csv(path: Path, collected: Collected) -> None:
    """Write one row a rating, and one for a rater who has none.

    A text that a spreadsheet would run as a formula begins with an apostrophe; `read_csv` takes it
    off again.

    Raises:
        RunError: the file cannot be written.
    """
    questions = sorted({name for rater in collected.raters for name in rater.inclusion})
    text = io.StringIO(newline="")
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow([*COLUMNS, *questions])
    for rater in collected.raters:
        about = [rater.inclusion.get(name, "") for name in questions]
        own = [one for one in collected.ratings if one.rater == rater.name]
        rows = [_cells(one) for one in own] or [("",) * (len(COLUMNS) - 2)]
        for row in rows:
            cells = (rater.name, rater.status.value, *row, *about)
            writer.writerow([sheet_cell(clean(cell)) for cell in cells])
    write_whole(path, text.getvalue())


def _cells(rating: Rating) -> tuple[str, ...]:
    noticed = "" if rating.noticed is None else "+".join(rating.noticed) or NONE
    return (
        rating.scenario,
        rating.choice,
        rating.left or "",
        noticed,
        rating.comment,
        rating.answered_at,
    )


def read_csv(path: Path, survey: Survey) -> Collected:
    """Read answers from a table: what `write_csv` wrote, or another tool's export.

    Columns: `rater`, `scenario`, `choice` ("a", "b" or "no_difference", as the survey's file names
    the pairs); where known `left` ("a" or "b"), `noticed` (attributes joined by "+", or "none"),
    `status`, `comment`, and one column for each inclusion question.

    Raises:
        DataError: rows cannot be used; each is named with its line.
    """
    file = read_file(path)
    report = Report()
    raters: dict[str, Rater] = {}
    ratings: dict[tuple[str, str], Rating] = {}
    for row in csv_rows(file, report, ("rater", "scenario", "choice")):
        record = replace(row, fields={name: _as_said(one) for name, one in row.fields.items()})
        try:
            rater = _rater(record, survey)
            if raters.setdefault(rater.name, rater) != rater:
                raise BadRecord("is not what an earlier row says of this rater", "status")
            if not is_absent(record.fields.get("scenario")):
                rating = _rating(record, rater.name, survey)
                if ratings.setdefault((rating.rater, rating.scenario), rating) is not rating:
                    raise BadRecord("this rater has answered this scenario before", "scenario")
        except BadRecord as bad:
            report.add("rejected", bad.message, path=file.label, line=record.line, field=bad.field)
    report.finish(lenient=False)
    if not raters:
        raise DataError(f"{path}: it has no row. Name the file that holds the answers.")
    return Collected(tuple(raters.values()), tuple(ratings.values()))


def _as_said(cell: object) -> object:
    return sheet_text(cell) if isinstance(cell, str) else cell


def _rater(record: Record, survey: Survey) -> Rater:
    fields = record.fields
    status = optional_text(fields, "status").casefold() or Status.INCLUDED.value
    known = [one.value for one in Status]
    if status not in known:
        raise BadRecord(f"is {status!r}, expected one of {', '.join(known)}", "status")
    about = {
        question.id: str(fields[question.id]).strip()
        for question in survey.inclusion
        if not is_absent(fields.get(question.id))
    }
    return Rater(identifier(fields, "rater"), Status(status), about)


def _rating(record: Record, rater: str, survey: Survey) -> Rating:
    fields = record.fields
    scenario = identifier(fields, "scenario")
    known = [one.id for one in survey.scenarios]
    if scenario not in known:
        raise BadRecord(f"is {scenario!r}, expected one of {', '.join(known)}", "scenario")
    choice = _one_of(fields, "choice", ("a", "b", NO_DIFFERENCE))
    left = "" if is_absent(fields.get("left")) else _one_of(fields, "left", ("a", "b"))
    return Rating(
        rater,
        scenario,
        cast("Choice", choice),
        cast("Label", left) if left else None,
        _noticed(fields, survey),
        optional_text(fields, "comment"),
        optional_text(fields, "answered_at"),
    )


def _one_of(fields: Mapping[str, Any], name: str, known: Sequence[str]) -> str:
    value = fields.get(name)
    found = value.strip().casefold() if isinstance(value, str) else value
    if found not in known:
        raise BadRecord(f"is {value!r}, expected one of {', '.join(known)}", name)
    return str(found)


def _noticed(fields: Mapping[str, Any], survey: Survey) -> tuple[str, ...] | None:
    value = fields.get("noticed")
    if isinstance(value, str) and value.strip().casefold() == NONE:
        return ()
    if is_absent(value):
        return None
    parts = {shown_attribute(name) for name in re.split(r"[,;+|]", str(value))} - {""}
    known = (*survey.attributes, NONE)
    # A name that is misspelt would count as an attribute that nobody noticed.
    if not parts.issubset(known) or (NONE in parts and len(parts) > 1):
        names = ", ".join(survey.attributes)
        raise BadRecord(f"is {value!r}, expected {NONE}, or some of {names} joined by +", "noticed")
    return tuple(sorted(parts - {NONE}))
