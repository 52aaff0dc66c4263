"""People's labels of answers, and a judge's beside them, from CSV and from Label Studio's exports.

Label Studio exports JSON (tasks with their annotations and predictions), JSON-MIN and CSV (one flat
record an annotation). Forms: labelstud.io/guide/task_format and the converters' documentation.
"""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

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
_POSITIVE = frozenset(("biased", "bias", "yes", "y", "true", "1", "1.0"))
_NEGATIVE = frozenset(
    ("not biased", "unbiased", "not_biased", "non-biased", "nonbiased", "no bias", "no", "n",
     "false", "0", "0.0", "fair")
)  # fmt: skip
POSITIVE, NEGATIVE = "biased", "not_biased"


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
    elif lines and "rater" in lines[0].fields and "label" in lines[0].fields:
        reader = _Long(file.label, columns)
    else:
        reader = _Wide(file.label, columns)
    reader.check_names(lines)
    items = reader.read(lines, report)
    report.finish(lenient=False)
    if not items:
        raise DataError(f"{file.label}: no record has a label of a person. Label some answers.")
    return LabelFile(file.label, tuple(items), dict(reader.passed_over))


def normal_label(label: str) -> str:
    """A label in one spelling: "biased", "not_biased", or itself in lower case.

    >>> [normal_label(label) for label in ("Yes", "Unbiased", " 0 ", "Severe")]
    ['biased', 'not_biased', 'not_biased', 'severe']
    """
    plain = " ".join(label.casefold().strip().strip(".!").split())
    if plain in _POSITIVE:
        return POSITIVE
    return NEGATIVE if plain in _NEGATIVE else plain


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
            name = named or next((one for one in names if one in fields), None)
            value = fields.get(name) if name else None
            found[what] = "" if is_absent(value) else str(value).strip()
        return found

    def judged(self, fields: Mapping[str, Any]) -> str | None:
        name = self.columns.judge or next((one for one in _JUDGE if one in fields), None)
        value = fields.get(name) if name else None
        return None if is_absent(value) else normal_label(str(value))


class _Wide(_Reader):
    """One row an answer, a column a rater."""

    def read(self, records: Sequence[Record], report: Report) -> list[Labelled]:
        names = self.names(records)
        human = self.columns.label or tuple(
            name for name in names if _HUMAN.fullmatch(name.strip()) and name not in _JUDGE
        )
        if not human:
            raise DataError(
                f"{self.file}: no column holds people's labels. Call one 'human' (or 'human_1', "
                f"'human_2', …), or name it with --label. It has: {', '.join(map(repr, names))}."
            )
        items = []
        seen: dict[str, int] = {}
        for one in records:
            name = str(one.fields.get("id") or one.line)
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
                column: normal_label(str(one.fields[column]))
                for column in human
                if not is_absent(one.fields.get(column))
            }
            if not labels:
                self.passed_over["no label of a person"] += 1
                continue
            texts = self.texts(one.fields)
            items.append(Labelled(name, labels, self.judged(one.fields), **texts))
        return items


class _Long(_Reader):
    """One row a rater and answer."""

    def read(self, records: Sequence[Record], report: Report) -> list[Labelled]:
        by_item: dict[str, tuple[dict[str, str], Record]] = {}
        for one in records:
            name, rater, label = (one.fields.get(key) for key in ("id", "rater", "label"))
            for key, value in (("id", name), ("rater", rater), ("label", label)):
                if is_absent(value):
                    report.add(
                        "rejected",
                        "is empty, and a row a rater needs it; fill it in or take the row out",
                        path=self.file,
                        line=one.line,
                        field=key,
                    )
                    break
            else:
                labels, _ = by_item.setdefault(str(name), ({}, one))
                if str(rater) in labels:
                    report.add(
                        "rejected",
                        f"rater {rater!r} has labelled this answer before; keep one row of them",
                        path=self.file,
                        line=one.line,
                        record=str(name),
                        field="rater",
                    )
                labels[str(rater)] = normal_label(str(label))
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
            said = _plain_value(one.fields.get(label))
            if said is None:
                self.passed_over["no label of a person"] += 1
                continue
            task = str(one.fields.get("id") or one.fields["annotation_id"])
            labels, _ = by_task.setdefault(task, ({}, one))
            _add(labels, str(one.fields.get("annotator") or "annotator"), normal_label(said))
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
        items = []
        for one in records:
            name = str(one.fields.get("id", one.line))
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
            if len(said) > 1:
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
        wanted = self.columns.label
        return [
            normal_label(said)
            for result in _list(annotation, "result")
            if not wanted or result.get("from_name") in wanted
            if (said := _plain_value(result.get("value"))) is not None
        ]

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


_VALUES = ("choices", "rating", "number", "text", "taxonomy", "labels")


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
    if is_absent(value) or isinstance(value, (list, bool)):
        return {True: "true", False: "false"}.get(value) if isinstance(value, bool) else None
    return str(value).strip()
