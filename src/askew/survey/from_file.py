"""A plain CSV or JSONL file of answers to candidates, so that any team's answers can be judged.

One row is one question with both arms' answers: `scenario`, `question`, `a`, `b`, and where known
`question_b` (arm b was asked something else), `ground_truth` and `true_attributes`. Rows of one
scenario make up its two pairs; the paper has two rows a scenario.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from askew.datasets.base import BadRecord, Report
from askew.datasets.fields import identifier, is_absent, optional_text, text
from askew.datasets.files import File, Record, csv_rows, json_lines, read_file
from askew.errors import ConfigError, DataError
from askew.survey.candidates import Candidate, shown_attribute
from askew.survey.records import NONE, QuestionAnswer

REQUIRED = ("scenario", "question", "a", "b")
ENDINGS = (".csv", ".tsv", ".jsonl", ".ndjson")


@dataclass(frozen=True, slots=True)
class _Row:
    line: int
    scenario: str
    a: QuestionAnswer
    b: QuestionAnswer
    ground_truth: str
    true_attributes: tuple[str, ...] | None


def is_pairs_file(path: Path) -> bool:
    """Whether the name is that of a file of pairs."""
    return path.name.casefold().removesuffix(".gz").endswith(ENDINGS)


def candidates_of_file(path: Path, arms: tuple[str, str]) -> list[Candidate]:
    """One candidate a scenario of the file, in the order of the file.

    Args:
        path: CSV with a header (commas, semicolons or tabs), or JSON lines; gzip is unpacked.
        arms: what the answers of columns `a` and `b` are called.

    Raises:
        ConfigError: both arms have one name.
        DataError: rows cannot be used, or contradict each other; each is named with its line.
    """
    if arms[0] == arms[1]:
        raise ConfigError(f"both arms are called {arms[0]!r}. Give each a name of its own.")
    file = read_file(path)
    report = Report()
    rows: dict[str, list[_Row]] = {}
    for record in _records(file, report):
        try:
            row = _row(record)
        except BadRecord as bad:
            report.add("rejected", bad.message, path=file.label, line=record.line, field=bad.field)
            continue
        rows.setdefault(row.scenario, []).append(row)
    report.finish(lenient=False)
    if not rows:
        raise DataError(f"{path}: it has no row. Expected columns: {', '.join(REQUIRED)}.")
    return [_candidate(name, own, arms, file.label) for name, own in rows.items()]


def _records(file: File, report: Report) -> Iterator[Record]:
    name = file.label.casefold().removesuffix(".gz")
    if name.endswith((".csv", ".tsv")):
        return csv_rows(file, report, REQUIRED)
    return json_lines(file, report)


def _row(record: Record) -> _Row:
    fields = record.fields
    question = text(fields, "question")
    return _Row(
        record.line,
        identifier(fields, "scenario"),
        QuestionAnswer(question, text(fields, "a")),
        QuestionAnswer(optional_text(fields, "question_b") or question, text(fields, "b")),
        optional_text(fields, "ground_truth"),
        _attributes(fields),
    )


def _attributes(fields: Mapping[str, Any]) -> tuple[str, ...] | None:
    """The attributes named; () for "none"; None where the cell is blank."""
    value = fields.get("true_attributes")
    if isinstance(value, str) and value.strip().casefold() == NONE:
        return ()
    if not isinstance(value, list) and is_absent(value):
        return None
    names = re.split(r"[,;+|]", value) if isinstance(value, str) else value
    if not isinstance(names, list) or not all(isinstance(name, str) for name in names):
        raise BadRecord(f"is {value!r}, expected names such as 'age, location'", "true_attributes")
    return tuple(sorted({shown_attribute(name) for name in names if name.strip()}))


def _candidate(name: str, rows: list[_Row], arms: tuple[str, str], label: str) -> Candidate:
    lines = [row.line for row in rows]
    truth = {row.ground_truth for row in rows if row.ground_truth}
    changed = {row.true_attributes for row in rows if row.true_attributes is not None}
    for field, values in (("ground_truth", truth), ("true_attributes", changed)):
        if len(values) > 1:
            raise DataError(
                f"{label}:{lines[-1]}: field {field!r} of scenario {name!r} differs between lines "
                f"{', '.join(map(str, lines))}. Say the same on each, or on one alone."
            )
    return Candidate(
        name,
        next(iter(truth), ""),
        {arms[0]: tuple(row.a for row in rows), arms[1]: tuple(row.b for row in rows)},
        next(iter(changed), None),
        {"file": label, "scenario": name, "lines": lines},
    )
