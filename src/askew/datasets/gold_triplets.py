"""Gold triplets of clinical vignettes: a JSONL file, one text with its facts a line."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal, cast, get_args

from askew.datasets.base import Report
from askew.datasets.files import json_lines, read_file
from askew.errors import DataError, bad_field
from askew.vignettes import AgeUnit, Relation, Span, Status

_RELATIONS = [relation.value for relation in Relation]
_STATUSES = [status.value for status in Status]
_MEND = "Compare the line with the gold's README."


@dataclass(frozen=True, slots=True)
class GoldTriplet:
    """One fact that a text states, with every wording that is right."""

    relation: Relation
    value: str | int  # a whole number for `has_age`
    status: Status
    span: Span | None = None
    evidence: str = ""
    alternatives: tuple[str, ...] = ()  # further right wordings of the value
    unit: AgeUnit | None = None
    qualifier: Literal["exact", "decade"] | None = None
    years: tuple[int, int] | None = None  # of a decade
    relative: str | None = None  # of `family_history`; "any" = whoever
    optional: bool = False  # finding it is neither rewarded nor punished
    any_status: bool = False
    any_relative: bool = False
    other_relations: tuple[Relation, ...] = ()  # that are right as well


@dataclass(frozen=True, slots=True)
class GoldRecord:
    """One vignette with its facts and the changes that make it nonsense."""

    id: str
    text: str
    source: str
    tags: tuple[str, ...]  # the phenomena that it tests
    triplets: tuple[GoldTriplet, ...]
    impossible: Mapping[str, tuple[str, ...]]  # attribute -> levels: {"gender": ("male",)}
    odd: Mapping[str, tuple[str, ...]]
    reason: str = ""  # why


def read_gold(path: str | Path) -> tuple[GoldRecord, ...]:
    """Read a gold file; gzip is unpacked.

    Raises:
        DataError: the file cannot be read, a line is no JSON object, or a field is missing or
            cannot be used; an evidence that is not the text at its span is such a field.
    """
    path = Path(path)
    report = Report()
    records = []
    seen: set[str] = set()
    for row in json_lines(read_file(path), report):
        record = _Line(str(path), row.line, row.fields).record()
        if record.id in seen:
            raise bad_field(str(path), row.line, "id", record.id, "an id of its own", _MEND)
        seen.add(record.id)
        records.append(record)
    if report.problems:
        raise DataError("\n".join(str(problem) for problem in report.problems))
    if not records:
        raise DataError(f"{path}: no gold records. Give a JSONL file, one vignette a line.")
    return tuple(records)


class _Line:
    """One line of a gold file, read strictly."""

    def __init__(self, path: str, line: int, fields: Mapping[str, Any]) -> None:
        self.path, self.line, self.fields = path, line, fields

    def record(self) -> GoldRecord:
        """The whole line."""
        text = self._text("text")
        rows = self.fields.get("triplets")
        if not isinstance(rows, list):
            raise self._bad("triplets", rows, "a list of triplets")
        perturb = self.fields.get("perturb") or {}
        if not isinstance(perturb, dict):
            raise self._bad("perturb", perturb, "an object")
        return GoldRecord(
            self._text("id"),
            text,
            self._optional_text("source", self.fields.get("source")) or "",
            self._texts("tags", self.fields.get("tags")),
            tuple(self._triplet(place, row, text) for place, row in enumerate(rows)),
            self._levels(perturb, "impossible"),
            self._levels(perturb, "implausible"),
            self._optional_text("perturb.reason", perturb.get("reason")) or "",
        )

    def _text(self, name: str) -> str:
        value = self.fields.get(name)
        if not isinstance(value, str) or not value:
            raise self._bad(name, value, "a text")
        return value

    def _bad(self, name: str, found: object, expected: str) -> DataError:
        return bad_field(self.path, self.line, name, found, expected, _MEND)

    def _triplet(self, place: int, row: Any, text: str) -> GoldTriplet:
        at = f"triplets[{place}]"
        if not isinstance(row, dict):
            raise self._bad(at, row, "an object")
        relation = self._relation(f"{at}.r", row.get("r"))
        status = row.get("status")
        if status not in _STATUSES:
            raise self._bad(f"{at}.status", status, f"one of {', '.join(_STATUSES)}")
        span, evidence = self._span(at, row, text)
        qualifier = row.get("qualifier")
        if qualifier not in (None, "exact", "decade"):
            raise self._bad(f"{at}.qualifier", qualifier, "exact or decade")
        return GoldTriplet(
            relation,
            self._value(f"{at}.t", row.get("t"), relation),
            Status(status),
            span,
            evidence,
            self._texts(f"{at}.alt", row.get("alt")),
            self._unit(f"{at}.unit", row.get("unit"), relation),
            qualifier,
            self._years(f"{at}.range", row.get("range")),
            self._optional_text(f"{at}.relative", row.get("relative")),
            self._flag(f"{at}.optional", row.get("optional")),
            self._flag(f"{at}.status_lenient", row.get("status_lenient")),
            self._flag(f"{at}.relative_lenient", row.get("relative_lenient")),
            tuple(self._relation(f"{at}.r_alt", name) for name in _listed(row.get("r_alt", ()))),
        )

    def _optional_text(self, name: str, found: object) -> str | None:
        if found is not None and not isinstance(found, str):
            raise self._bad(name, found, "a text")
        return found

    def _texts(self, name: str, found: object) -> tuple[str, ...]:
        if found is None:
            return ()
        if not isinstance(found, list) or not all(isinstance(one, str) for one in found):
            raise self._bad(name, found, "a list of texts")
        return tuple(found)

    def _flag(self, name: str, found: object) -> bool:
        if found is not None and not isinstance(found, bool):
            raise self._bad(name, found, "true or false")
        return bool(found)

    def _years(self, name: str, found: object) -> tuple[int, int] | None:
        if found is None:
            return None
        if not (isinstance(found, list) and len(found) == 2 and all(type(n) is int for n in found)):
            raise self._bad(name, found, "two whole numbers")
        return found[0], found[1]

    def _levels(self, perturb: Mapping[str, Any], kind: str) -> dict[str, tuple[str, ...]]:
        levels = {
            attribute: self._texts(f"perturb.{name}", perturb.get(name))
            for attribute in ("gender", "age")
            for name in [f"{kind}_{attribute}"]
        }
        return {attribute: found for attribute, found in levels.items() if found}

    def _relation(self, name: str, found: object) -> Relation:
        if found not in _RELATIONS:
            raise self._bad(name, found, f"one of {', '.join(_RELATIONS)}")
        return Relation(str(found))

    def _value(self, name: str, found: object, relation: Relation) -> str | int:
        if relation is Relation.HAS_AGE:
            if not isinstance(found, int) or isinstance(found, bool):
                raise self._bad(name, found, "a whole number")
            return found
        if not isinstance(found, str) or not found:
            raise self._bad(name, found, "a text")
        return found

    def _unit(self, name: str, found: object, relation: Relation) -> AgeUnit | None:
        if relation is not Relation.HAS_AGE:
            return None
        if found not in get_args(AgeUnit):
            raise self._bad(name, found, f"one of {', '.join(get_args(AgeUnit))}")
        return cast("AgeUnit", found)

    def _span(self, at: str, row: Mapping[str, Any], text: str) -> tuple[Span | None, str]:
        span, evidence = (
            row.get("span"),
            self._optional_text(f"{at}.evidence", row.get("evidence")) or "",
        )
        if span is None:
            return None, evidence
        if not (isinstance(span, list) and len(span) == 2 and all(type(n) is int for n in span)):
            raise self._bad(f"{at}.span", span, "two whole numbers")
        if not 0 <= span[0] <= span[1] <= len(text):
            raise self._bad(f"{at}.span", span, f"a place in the text of {len(text)} characters")
        if evidence and text[span[0] : span[1]] != evidence:
            raise self._bad(
                f"{at}.evidence", evidence, f"the text at its span, {text[span[0] : span[1]]!r}"
            )
        return Span(*span), evidence or text[span[0] : span[1]]


def _listed(value: Any) -> list[Any]:
    return list(value) if isinstance(value, list | tuple) else [value]
