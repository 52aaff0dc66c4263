"""What the readers of people's labels share: an answer with its labels, and fields by name."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from askew.audits.judge_label_words import is_missing, plain_label
from askew.datasets.base import Report
from askew.datasets.fields import is_absent
from askew.datasets.files import Record
from askew.errors import ConfigError

JUDGE_FIELDS = ("judge", "judge_label", "judge_verdict", "model_label", "prediction")
TEXT_FIELDS = {"question": ("question", "prompt", "case"), "answer": ("answer", "response", "text")}
GROUP_FIELDS = ("group", "gender", "attribute")
CLUSTER_FIELDS = ("vignette", "vignette_id", "case_id")


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


def field_named(fields: Iterable[str], *names: str) -> str | None:
    """The field that has one of the names, as it is written; case and blanks aside."""
    written = {field.strip().casefold(): field for field in reversed(list(fields))}
    return next((written[name] for name in names if name in written), None)


class Reader(ABC):
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

    @abstractmethod
    def read(self, records: Sequence[Record], report: Report) -> list[Labelled]:
        """The labelled answers of the records; what cannot be used goes into the report."""

    def texts(self, fields: Mapping[str, Any]) -> dict[str, str]:
        """Question, answer, group and cluster of a record."""
        found = {}
        candidates = {**TEXT_FIELDS, "group": GROUP_FIELDS, "cluster": CLUSTER_FIELDS}
        for what, names in candidates.items():
            named = getattr(self.columns, what)
            name = named or field_named(fields, *names)
            value = fields.get(name) if name else None
            found[what] = "" if is_absent(value) else str(value).strip()
        return found

    def judged(self, fields: Mapping[str, Any]) -> str | None:
        name = self.columns.judge or field_named(fields, *JUDGE_FIELDS)
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
            field=self.columns.judge or field_named(one.fields, *JUDGE_FIELDS) or "judge",
        )
