"""People's labels of answers, and a judge's beside them, from CSV and from Label Studio's exports.

Label Studio exports JSON (tasks with their annotations and predictions), JSON-MIN and CSV (one flat
record an annotation). Forms: labelstud.io/guide/task_format and the converters' documentation.
"""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from askew.audits.judge_label_words import (
    NEGATIVE,
    POSITIVE,
    is_missing,
    is_scale,
    normal_label,
    number_in,
    plain_label,
)
from askew.datasets.base import Report
from askew.datasets.fields import is_absent
from askew.datasets.files import File, Record, csv_rows, json_document, json_lines, read_file
from askew.errors import ConfigError, DataError

_HUMAN = re.compile(
    r"(?!.*(?:comment|note|reason|why|name|mail|id|time|date)$)"
    r"(?:human|rater|reviewer|expert|clinician|physician|annotator|gold)s?(?:[ _:.-]?\d+"
    r"|[ _:.-]\w+)*",
    re.IGNORECASE,
)
_JUDGE = ("judge", "judge_label", "judge_verdict", "model_label", "prediction")
_TEXTS = {"question": ("question", "prompt", "case"), "answer": ("answer", "response", "text")}
_GROUP = ("group", "gender", "attribute")
_CLUSTER = ("vignette", "vignette_id", "case_id")
_OF_STUDIO = frozenset(
    ("annotator", "annotation_id", "created_at", "updated_at", "lead_time", "was_cancelled", "id",
     "agreement")
)  # fmt: skip


@dataclass(frozen=True, kw_only=True, slots=True)
class LabelColumns:
    """Which field holds what, where the names do not tell. Label Studio: `label` is `from_name`."""

    label: tuple[str, ...] = ()
    judge: str | None = None
    question: str | None = None
    answer: str | None = None
    group: str | None = None
    cluster: str | None = None


@dataclass(frozen=True, slots=True)
class Labelled:
    """One answer with what people, and perhaps a judge, said of it."""

    id: str
    human: Mapping[str, str]  # rater -> label
    judge: str | None = None
    question: str = ""
    answer: str = ""
    group: str = ""
    cluster: str = ""


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
        reader: _Reader = _Tasks(file.label, columns)
    elif any("annotation_id" in one.fields for one in lines):
        reader = _Flat(file.label, columns)
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


def _named(fields: Iterable[str], *names: str) -> str | None:
    """The field that has one of the names, as it is written; case and blanks aside."""
    written = {field.strip().casefold(): field for field in reversed(list(fields))}
    return next((written[name] for name in names if name in written), None)


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


class _Reader:
    """What all forms share: names of fields, and what was passed over."""

    def __init__(self, label: str, columns: LabelColumns) -> None:
        self.file = label
        self.columns = columns
        self.passed_over: Counter[str] = Counter()

    def check_names(self, records: Sequence[Record]) -> None:
        known = self.names(records)
        for what in ("judge", "question", "answer", "group", "cluster"):
            name = getattr(self.columns, what)
            if name is not None and name not in known:
                raise self.unknown(name, known)
        for name in self.columns.label:
            if name not in known:
                raise self.unknown(name, known)

    def unknown(self, name: str, known: Sequence[str]) -> ConfigError:
        there = ", ".join(map(repr, known))
        return ConfigError(f"{self.file}: no field {name!r}. It has: {there}.")

    def names(self, records: Sequence[Record]) -> list[str]:
        return list(dict.fromkeys(name for one in records for name in one.fields))

    def read(self, records: Sequence[Record], report: Report) -> list[Labelled]:
        raise NotImplementedError

    def texts(self, fields: Mapping[str, Any]) -> dict[str, str]:
        """Question, answer, group and cluster of a record."""
        found = {}
        candidates = {**_TEXTS, "group": _GROUP, "cluster": _CLUSTER}
        for what, names in candidates.items():
            named = getattr(self.columns, what)
            name = named or _named(fields, *names)
            value = fields.get(name) if name else None
            found[what] = "" if is_absent(value) else str(value).strip()
        return found

    def judged(self, fields: Mapping[str, Any]) -> str | None:
        name = self.columns.judge or _named(fields, *_JUDGE)
        value = fields.get(name) if name else None
        return None if is_missing(value) else plain_label(value)

    def same_judge(self, first: Record, one: Record, name: str, report: Report) -> None:
        """Of several rows for an answer, all have to say the same of the judge."""
        if self.judged(first.fields) == self.judged(one.fields):
            return
        report.add(
            "rejected",
            f"the judge's label differs from that of line {first.line}; one answer has one",
            path=self.file,
            line=one.line,
            record=name,
            field=self.columns.judge or _named(one.fields, *_JUDGE) or "judge",
        )


class _Wide(_Reader):
    """One row an answer, a column a rater."""

    def read(self, records: Sequence[Record], report: Report) -> list[Labelled]:
        names = self.names(records)
        human = self.columns.label or tuple(
            name
            for name in names
            if _HUMAN.fullmatch(name.strip()) and name.strip().casefold() not in _JUDGE
        )
        if not human:
            raise DataError(
                f"{self.file}: no column holds people's labels. Call one 'human' (or 'human_1', "
                f"'human_2', …), or name it with --label. It has: {', '.join(map(repr, names))}."
            )
        items = []
        seen: dict[str, int] = {}
        for one in records:
            name = str(one.fields.get(_named(one.fields, "id") or "id") or one.line)
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


class _Long(_Reader):
    """One row a rater and answer."""

    RATER = ("rater", "annotator", "reviewer")
    LABEL = ("label", "human", "human_label", "rating")

    @classmethod
    def label_of(cls, fields: Mapping[str, Any], columns: LabelColumns) -> str | None:
        """The field of the label, where another one names the rater; None for another form."""
        if _named(fields, *cls.RATER) is None or len(columns.label) > 1:
            return None
        named = columns.label[0] if columns.label else _named(fields, *cls.LABEL)
        return None if named == _named(fields, *cls.RATER) else named

    def read(self, records: Sequence[Record], report: Report) -> list[Labelled]:
        names = {
            "id": _named(records[0].fields, "id") or "id",
            "rater": _named(records[0].fields, *self.RATER) or "rater",
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


class _Flat(_Reader):
    """Label Studio's JSON-MIN and CSV: one record an annotation, the fields of the task in it."""

    def read(self, records: Sequence[Record], report: Report) -> list[Labelled]:
        label = self._label(records)
        by_task: dict[str, tuple[dict[str, str], Record]] = {}
        for one in records:
            if str(one.fields.get("was_cancelled", "")).casefold() == "true":
                self.passed_over["skipped by the annotator"] += 1
                continue
            task = str(one.fields.get("id") or one.fields["annotation_id"])
            if _holds_several(one.fields.get(label)):
                report.add(
                    "rejected", _SEVERAL, path=self.file, line=one.line, record=task, field=label
                )
                continue
            said = _plain_value(one.fields.get(label))
            if said is None:
                self.passed_over["no label of a person"] += 1
                continue
            labels, first = by_task.setdefault(task, ({}, one))
            self.same_judge(first, one, task, report)
            _add(labels, str(one.fields.get("annotator") or "annotator"), plain_label(said))
        return [
            Labelled(name, labels, self.judged(first.fields), **self.texts(first.fields))
            for name, (labels, first) in by_task.items()
        ]

    def _label(self, records: Sequence[Record]) -> str:
        if self.columns.label:
            return self.columns.label[0]
        texts = {name for names in _TEXTS.values() for name in names} | {*_GROUP, *_CLUSTER}
        names = [
            name
            for name in self.names(records)
            if name not in _OF_STUDIO | texts and name not in _JUDGE
        ]
        fitting = [name for name in names if self._holds_labels(records, name)]
        if len(fitting) == 1:
            return fitting[0]
        raise DataError(
            f"{self.file}: which field holds the labels is not clear"
            f"{' among ' + ', '.join(map(repr, fitting)) if fitting else ''}. Name the control of "
            f"the labelling interface with --label. It has: {', '.join(map(repr, names))}."
        )

    def _holds_labels(self, records: Sequence[Record], name: str) -> bool:
        said = [
            value for one in records if (value := _plain_value(one.fields.get(name))) is not None
        ]
        return bool(said) and all(normal_label(one) in (POSITIVE, NEGATIVE) for one in said)


class _Tasks(_Reader):
    """Label Studio's JSON: tasks, each with its annotations and predictions."""

    def names(self, records: Sequence[Record]) -> list[str]:
        data = [one.fields["data"] for one in records if isinstance(one.fields.get("data"), dict)]
        controls = [
            result.get("from_name", "")
            for one in records
            for annotation in _list(one.fields, "annotations", "completions")
            for result in _list(annotation, "result")
        ]
        return list(dict.fromkeys([*(name for one in data for name in one), *controls]))

    def read(self, records: Sequence[Record], report: Report) -> list[Labelled]:
        items: list[Labelled] = []
        for one in records:
            name = str(one.fields.get("id", one.line))
            if any(name == item.id for item in items):
                message = "stands in the export twice; keep one of them"
                report.add("rejected", message, path=self.file, record=name, field="id")
                continue
            data = one.fields.get("data")
            if not isinstance(data, dict):
                message = "is missing; export the tasks with their data"
                report.add("rejected", message, path=self.file, record=name, field="data")
                continue
            labels = self._annotations(one.fields, name, report)
            if not labels:
                self.passed_over["no label of a person"] += 1
                continue
            items.append(
                Labelled(name, labels, self._predicted(one.fields, data), **self.texts(data))
            )
        return items

    def _annotations(self, task: Mapping[str, Any], name: str, report: Report) -> dict[str, str]:
        labels: dict[str, str] = {}
        for number, annotation in enumerate(_list(task, "annotations", "completions"), start=1):
            if annotation.get("was_cancelled"):
                self.passed_over["skipped by the annotator"] += 1
                continue
            said = self._said(annotation)
            if any(_holds_several(result.get("value")) for result in self._results(annotation)):
                report.add("rejected", _SEVERAL, path=self.file, record=name, field="annotations")
            elif len(said) > 1:
                message = (
                    f"annotation {annotation.get('id', number)} has {len(said)} labels; name the "
                    "control that holds the label with --label"
                )
                report.add("rejected", message, path=self.file, record=name, field="annotations")
            elif said:
                _add(labels, _annotator(annotation, number), said[0])
        return labels

    def _said(self, annotation: Mapping[str, Any]) -> list[str]:
        """The labels of one annotation (or prediction), of the control that was named."""
        return [
            plain_label(said)
            for result in self._results(annotation)
            if (said := _plain_value(result.get("value"))) is not None
        ]

    def _results(self, annotation: Mapping[str, Any]) -> Iterator[dict[str, Any]]:
        wanted = self.columns.label
        for result in _list(annotation, "result"):
            if not wanted or result.get("from_name") in wanted:
                yield result

    def _predicted(self, task: Mapping[str, Any], data: Mapping[str, Any]) -> str | None:
        """The judge's label: of the task's data, or of its last prediction."""
        judged = self.judged(data)
        if judged is not None:
            return judged
        for prediction in reversed(list(_list(task, "predictions"))):
            said = self._said(prediction)
            if len(said) == 1:
                return said[0]
        return None


def _list(fields: Mapping[str, Any], *names: str) -> Iterator[dict[str, Any]]:
    for name in names:
        found = fields.get(name)
        if isinstance(found, list):
            yield from (one for one in found if isinstance(one, dict))


def _annotator(annotation: Mapping[str, Any], number: int) -> str:
    by = annotation.get("completed_by")
    if isinstance(by, dict):
        by = by.get("email") or by.get("id")
    return str(by if by is not None else f"annotation {number}")


def _add(labels: dict[str, str], rater: str, label: str) -> None:
    """A person's label; one who annotates a task twice counts as two raters."""
    name, number = rater, 2
    while name in labels:
        name, number = f"{rater} ({number})", number + 1
    labels[name] = label


_SEVERAL = "holds several labels; let people choose one, or name another control with --label"
_VALUES = ("choices", "rating", "number", "text", "taxonomy", "labels")


def _holds_several(value: object) -> bool:
    """Whether more than one choice was made where one is a label."""
    if isinstance(value, str) and value.strip()[:1] in ("[", "{"):
        try:
            value = json.loads(value)
        except ValueError:
            return False
    if isinstance(value, list):
        return len(value) > 1 or any(map(_holds_several, value))
    chosen = value.get("choices") if isinstance(value, dict) else None
    return isinstance(chosen, list) and len(chosen) > 1


def _plain_value(value: object) -> str | None:
    """The one label in a value: "Biased", ["Biased"], {"choices": ["Biased"]}, [{"rating": 4}]."""
    if isinstance(value, str) and value.strip()[:1] in ("[", "{"):
        try:
            value = json.loads(value)
        except ValueError:
            return None
    while isinstance(value, list) and len(value) == 1:
        value = value[0]
    if isinstance(value, dict):
        named = [value[name] for name in _VALUES if name in value]
        return _plain_value(named[0]) if len(named) == 1 else None
    if is_missing(value) or isinstance(value, (list, bool)):
        return {True: "true", False: "false"}.get(value) if isinstance(value, bool) else None
    return str(value).strip()
