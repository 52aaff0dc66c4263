"""People's labels from Label Studio's exports: JSON, JSON-MIN and CSV.

JSON holds tasks with their annotations and predictions; JSON-MIN and CSV are one flat record an
annotation. Forms: labelstud.io/guide/task_format and the converters' documentation.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from askew.audits.judge_label_reader import (
    CLUSTER_FIELDS,
    GROUP_FIELDS,
    JUDGE_FIELDS,
    TEXT_FIELDS,
    Labelled,
    Reader,
)
from askew.audits.judge_label_words import NEGATIVE, POSITIVE, is_missing, normal_label, plain_label
from askew.datasets.base import Report
from askew.datasets.files import Record
from askew.errors import DataError

_OF_STUDIO = frozenset(
    ("annotator", "annotation_id", "created_at", "updated_at", "lead_time", "was_cancelled", "id",
     "agreement")
)  # fmt: skip


class StudioRecords(Reader):
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
        texts = {name for names in TEXT_FIELDS.values() for name in names} | {
            *GROUP_FIELDS,
            *CLUSTER_FIELDS,
        }
        names = [
            name
            for name in self.names(records)
            if name not in _OF_STUDIO | texts and name not in JUDGE_FIELDS
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


class StudioTasks(Reader):
    """Label Studio's JSON: tasks, each with its annotations and predictions."""

    def names(self, records: Sequence[Record]) -> list[str]:
        data = [one.fields["data"] for one in records if isinstance(one.fields.get("data"), dict)]
        controls = [
            name
            for one in records
            for annotation in _list(one.fields, "annotations", "completions")
            for result in _list(annotation, "result")
            if isinstance(name := result.get("from_name", ""), str)
        ]
        return list(dict.fromkeys([*(name for one in data for name in one), *controls]))

    def read(self, records: Sequence[Record], report: Report) -> list[Labelled]:
        items: list[Labelled] = []
        taken: set[str] = set()
        for one in records:
            name = str(one.fields.get("id", one.line))
            if name in taken:
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
            taken.add(name)
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
