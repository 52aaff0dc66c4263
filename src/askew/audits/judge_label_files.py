"""People's labels of answers, and a judge's beside them, from CSV and from Label Studio's exports.

Label Studio exports JSON (tasks with their annotations and predictions), JSON-MIN and CSV (one flat
record an annotation). Forms: labelstud.io/guide/task_format and the converters' documentation.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from askew.audits.judge_label_reader import (
    JUDGE_FIELDS,
    LabelColumns,
    Labelled,
    Reader,
    field_named,
)
from askew.audits.judge_label_studio import StudioRecords, StudioTasks
from askew.audits.judge_label_words import (
    is_missing,
    is_scale,
    normal_label,
    number_in,
    plain_label,
)
from askew.datasets.base import Report
from askew.datasets.files import File, Record, csv_rows, json_document, json_lines, read_file
from askew.errors import DataError

_HUMAN = re.compile(
    r"(?!.*(?:comment|note|reason|why|name|mail|id|time|date)$)"
    r"(?:human|rater|reviewer|expert|clinician|physician|annotator|gold)s?"
    # Possessive: an underscore parts words and is one of their signs.
    r"\d*(?:[ _:.-]\w++)*+",
    re.IGNORECASE,
)


@dataclass(frozen=True, slots=True)
class LabelFile:
    """The answers of one file, and what was passed over."""

    label: str  # how messages call the file
    items: tuple[Labelled, ...]
    passed_over: Mapping[str, int] = field(default_factory=dict)  # reason -> how many


def read_labels(path: Path, columns: LabelColumns | None = None) -> LabelFile:
    """Read a file of labels.

    Args:
        path: `.csv` or `.tsv` (people's labels in columns, one row an answer; or one row a rater
            with `rater` and `label`), or one of Label Studio's exports.
        columns: fields by name, where theirs do not tell what they hold.

    Raises:
        DataError: a record cannot be used, or no field holds labels; with file, line, field, mend.
        ConfigError: a field that was named is not there.
    """
    columns = columns or LabelColumns()
    file = read_file(path)
    report = Report()
    lines = _records(file, report)
    if not lines:
        report.finish(lenient=False)
        raise DataError(f"{file.label}: no record below the header. Add the labelled answers.")
    if any("annotations" in one.fields or "completions" in one.fields for one in lines):
        reader: Reader = StudioTasks(file.label, columns)
    elif any("annotation_id" in one.fields for one in lines):
        reader = StudioRecords(file.label, columns)
    elif _Long.label_of(lines[0].fields, columns) is not None:
        reader = _Long(file.label, columns)
    else:
        reader = _Wide(file.label, columns)
    reader.check_names(lines)
    items = reader.read(lines, report)
    report.finish(lenient=False)
    if not items:
        raise DataError(f"{file.label}: no record has a label of a person. Label some answers.")
    return LabelFile(file.label, _settled(items), dict(reader.passed_over))


def _settled(items: Sequence[Labelled]) -> tuple[Labelled, ...]:
    """The labels in one spelling; 1 and 0 are yes and no unless they stand on a scale."""
    people = [label for item in items for label in item.human.values()]
    judged = [item.judge for item in items if item.judge is not None]
    scale = is_scale(people)
    all_numbers = all(number_in(label) is not None for label in judged)
    judges_scale = is_scale(judged) or (scale and all_numbers)
    return tuple(
        replace(
            item,
            human={
                rater: label if scale else normal_label(label)
                for rater, label in item.human.items()
            },
            judge=item.judge if item.judge is None or judges_scale else normal_label(item.judge),
        )
        for item in items
    )


def _records(file: File, report: Report) -> list[Record]:
    start = file.data.lstrip(b"\xef\xbb\xbf \t\r\n")[:1]
    if start == b"[":
        document = json_document(file)
        return [
            Record(number, one)
            for number, one in enumerate(document, start=1)
            if isinstance(one, dict) or _reject(report, file, number)
        ]
    if start == b"{":
        return list(json_lines(file, report))
    return list(csv_rows(file, report, ()))


def _reject(report: Report, file: File, number: int) -> bool:
    report.add("rejected", "is no JSON object", path=file.label, record=f"{number}")
    return False


class _Wide(Reader):
    """One row an answer, a column a rater."""

    def read(self, records: Sequence[Record], report: Report) -> list[Labelled]:
        names = self.names(records)
        human = self.columns.label or tuple(
            name
            for name in names
            if _HUMAN.fullmatch(name.strip()) and name.strip().casefold() not in JUDGE_FIELDS
        )
        if not human:
            raise DataError(
                f"{self.file}: no column holds people's labels. Call one 'human' (or 'human_1', "
                f"'human_2', …), or name it with --label. It has: {', '.join(map(repr, names))}."
            )
        items = []
        seen: dict[str, int] = {}
        for one in records:
            name = str(one.fields.get(field_named(one.fields, "id") or "id") or one.line)
            if name in seen:
                report.add(
                    "rejected",
                    f"is that of line {seen[name]} as well; give every answer its own",
                    path=self.file,
                    line=one.line,
                    record=name,
                    field="id",
                )
                continue
            seen[name] = one.line
            labels = {
                column: plain_label(one.fields[column])
                for column in human
                if not is_missing(one.fields.get(column))
            }
            if not labels:
                self.passed_over["no label of a person"] += 1
                continue
            texts = self.texts(one.fields)
            items.append(Labelled(name, labels, self.judged(one.fields), **texts))
        return items


class _Long(Reader):
    """One row a rater and answer."""

    RATER = ("rater", "annotator", "reviewer")
    LABEL = ("label", "human", "human_label", "rating")

    @classmethod
    def label_of(cls, fields: Mapping[str, Any], columns: LabelColumns) -> str | None:
        """The field of the label, where another one names the rater; None for another form."""
        if field_named(fields, *cls.RATER) is None or len(columns.label) > 1:
            return None
        named = columns.label[0] if columns.label else field_named(fields, *cls.LABEL)
        return None if named == field_named(fields, *cls.RATER) else named

    def read(self, records: Sequence[Record], report: Report) -> list[Labelled]:
        names = {
            "id": field_named(records[0].fields, "id") or "id",
            "rater": field_named(records[0].fields, *self.RATER) or "rater",
            "label": self.label_of(records[0].fields, self.columns) or "label",
        }
        by_item: dict[str, tuple[dict[str, str], Record]] = {}
        for one in records:
            name, rater, label = (one.fields.get(key) for key in names.values())
            for key, value in zip(names.values(), (name, rater, label), strict=True):
                if is_missing(value):
                    report.add(
                        "rejected",
                        "is empty, and a row a rater needs it; fill it in or take the row out",
                        path=self.file,
                        line=one.line,
                        field=key,
                    )
                    break
            else:
                labels, first = by_item.setdefault(str(name), ({}, one))
                self.same_judge(first, one, str(name), report)
                if str(rater) in labels:
                    report.add(
                        "rejected",
                        f"rater {rater!r} has labelled this answer before; keep one row of them",
                        path=self.file,
                        line=one.line,
                        record=str(name),
                        field=names["rater"],
                    )
                labels[str(rater)] = plain_label(label)
        return [
            Labelled(name, labels, self.judged(first.fields), **self.texts(first.fields))
            for name, (labels, first) in by_item.items()
        ]
