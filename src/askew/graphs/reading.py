"""A model's reply to "which triplets?", read strictly: what is not in the text is no fact.

The reply has to be one JSON document; two of them, prose around it or a form of its own make it
unreadable, and nothing is guessed. Each triplet has to quote the text, and the quote has to say the
value: what is not there is rejected and counted, so that a model's inventions show.
"""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any, Literal, get_args

from askew.graphs.extractor_values import GENDERS, age_of, relative_of
from askew.graphs.terms import fold, lookup, singular
from askew.vignettes import AgeUnit, Facts, Relation, Span, Status, Triplet

RULE = "model"
Reason = Literal["form", "relation", "status", "value", "not_in_text", "relative"]
_KEYS = ("relation", "value", "status", "evidence")
_UNITS: tuple[AgeUnit, ...] = get_args(AgeUnit)
_FENCE = re.compile(
    r"\A\s*```(?:json)?[ \t]*\n(?P<inside>.*?)\n?[ \t]*```\s*\Z", re.DOTALL | re.IGNORECASE
)
# A relation -> the lists that may name the same thing in other words.
_LISTS: Mapping[Relation, tuple[str, ...]] = {
    Relation.HAS_SYMPTOM: ("symptoms", "conditions"),
    Relation.HAS_CONDITION: ("conditions", "symptoms"),
    Relation.FAMILY_HISTORY: ("conditions", "symptoms"),
    Relation.TAKES_MEDICATION: ("medications",),
    Relation.ALLERGIC_TO: ("medications",),
    Relation.LIVES_IN: ("places",),
    Relation.BORN_IN: ("places", "demonyms"),
    Relation.TRAVELED_TO: ("places",),
}


@dataclass(frozen=True, slots=True)
class Rejected:
    """One triplet of the reply that is no fact."""

    reason: Reason
    said: str  # the triplet as the model wrote it
    why: str


@dataclass(frozen=True, slots=True)
class Reading:
    """One reply, read."""

    facts: Facts
    rejected: tuple[Rejected, ...] = ()
    fault: str = ""  # why the whole reply cannot be read; "" = it can

    @property
    def counts(self) -> Counter[str]:
        """How many triplets were rejected, by reason."""
        return Counter(one.reason for one in self.rejected)


def read_triplets(reply: str | None, text: str) -> Reading:
    """The triplets in a reply, each with its span in the text.

    Args:
        reply: the reply without reasoning; None where there was none.
        text: what the model was asked about.

    >>> said = '[{"relation": "has_symptom", "value": "fever", "status": "absent", ' \
    '"evidence": "denies fever"}]'
    >>> [(one.value, one.span) for one in read_triplets(said, "She denies fever.").facts.triplets]
    [('fever', Span(start=11, end=16))]
    >>> read_triplets(said, "She is well.").counts
    Counter({'not_in_text': 1})
    """
    if reply is None or not reply.strip():
        return Reading(Facts(text, ()), fault="the reply is empty")
    try:
        document = _document(reply)
    except ValueError as error:
        return Reading(Facts(text, ()), fault=str(error))
    triplets: list[Triplet] = []
    rejected: list[Rejected] = []
    for given in document:
        found = _triplet(given, text)
        if isinstance(found, Rejected):
            rejected.append(found)
        elif not any(_same(found, one) for one in triplets):
            triplets.append(found)
    ordered = sorted(triplets, key=lambda one: one.span or Span(0, 0))
    return Reading(Facts(text, tuple(ordered)), tuple(rejected))


def _document(reply: str) -> list[Any]:
    """The list of triplets; raises ValueError with what is wrong."""
    fenced = _FENCE.match(reply)
    body = fenced["inside"] if fenced else reply
    try:
        document = json.loads(body, object_pairs_hook=_once)
    except json.JSONDecodeError as error:
        raise ValueError(f"the reply is not one JSON document: {error.msg}") from error
    except RecursionError as error:
        raise ValueError("the reply is nested too deeply") from error
    if isinstance(document, dict) and set(document) == {"triplets"}:
        document = document["triplets"]
    if not isinstance(document, list):
        raise ValueError('the reply is no list of triplets and no object with only "triplets"')
    return document


def _once(pairs: Iterable[tuple[str, Any]]) -> dict[str, Any]:
    """A key twice is two answers: none is chosen."""
    found: dict[str, Any] = {}
    for key, value in pairs:
        if key in found:
            raise ValueError(f"the reply has the key {key!r} twice in one object")
        found[key] = value
    return found


def _triplet(given: Any, text: str) -> Triplet | Rejected:
    said = json.dumps(given, ensure_ascii=False)

    def rejected(reason: Reason, why: str) -> Rejected:
        return Rejected(reason, said, why)

    if not isinstance(given, dict) or not set(_KEYS) <= set(given):
        return rejected("form", f"a triplet is an object with {', '.join(_KEYS)}")
    if given["relation"] not in {relation.value for relation in Relation}:
        return rejected("relation", f"no relation is called {given['relation']!r}")
    if given["status"] not in {status.value for status in Status}:
        return rejected("status", f"no status is called {given['status']!r}")
    relation = Relation(given["relation"])
    value = given["value"]
    quoted = _place(given["evidence"], text)
    if quoted is None:
        return rejected("not_in_text", "the evidence does not stand in the text")
    if relation is Relation.HAS_AGE:
        return _age(given, text, quoted) or rejected("value", "the evidence says no such age")
    if not isinstance(value, str) or not value.strip():
        return rejected("value", "the value is no text")
    if relation in (Relation.HAS_GENDER, Relation.HAS_BIRTH_SEX):
        if value not in GENDERS:
            return rejected("value", f"the value is none of {', '.join(GENDERS)}")
        return _made(given, relation, value, quoted, text)
    span = _place(value, text, within=quoted)
    if span is None and not _names(relation, value, text[quoted.start : quoted.end]):
        return rejected("not_in_text", "the evidence does not say the value")
    relative = None
    if relation is Relation.FAMILY_HISTORY:
        relative = relative_of(str(given.get("relative", "")))
        if relative is None:
            return rejected("relative", "family history needs a relative by blood")
    return _made(given, relation, value.strip(), span or quoted, text, relative=relative)


def _made(
    given: Mapping[str, Any],
    relation: Relation,
    value: str | int,
    span: Span,
    text: str,
    *,
    unit: AgeUnit | None = None,
    relative: str | None = None,
) -> Triplet:
    return Triplet(
        relation,
        value,
        Status(given["status"]),
        span,
        text[span.start : span.end],
        RULE,
        unit=unit,
        qualifier="exact" if unit else None,
        relative=relative,
    )


def _age(given: Mapping[str, Any], text: str, quoted: Span) -> Triplet | None:
    value, unit = given["value"], given.get("unit", "year")
    if isinstance(value, bool) or not isinstance(value, int) or unit not in _UNITS:
        return None
    evidence = text[quoted.start : quoted.end]
    read = age_of(evidence)
    digits = [int(number) for number in re.findall(r"\d{1,9}", evidence)]
    if (read is not None and read == (value, unit)) or (read is None and digits == [value]):
        return _made(given, Relation.HAS_AGE, value, quoted, text, unit=unit)
    return None


def _names(relation: Relation, value: str, evidence: str) -> bool:
    """Whether a list knows the value and the evidence as wordings of one term: SOB, dyspnea."""
    words = [singular(word) for word in fold(evidence).split()]
    runs = {
        " ".join(words[start:end])
        for start in range(len(words))
        for end in range(start + 1, len(words) + 1)
    }
    for kind in _LISTS.get(relation, ()):
        term = lookup(kind).get(fold(value))
        if term is None:
            continue
        wordings = {
            " ".join(singular(word) for word in fold(wording).split()) for wording in term.wordings
        }
        if term.kind == "places" and "country" in term.tags:
            wordings |= _demonyms(term.tags["country"])
        if runs & wordings:
            return True
    return False


def _demonyms(country: str) -> set[str]:
    return {name for name, term in lookup("demonyms").items() if term.tags["country"] == country}


def _place(wanted: object, text: str, within: Span | None = None) -> Span | None:
    """The first place of a wording, whatever its case and its white space; None without one."""
    if not isinstance(wanted, str) or not wanted.strip():
        return None
    area = within or Span(0, len(text))
    pattern = r"\s+".join(re.escape(word) for word in wanted.split())
    bounded = rf"(?<!\w){pattern}(?!\w)"
    found = re.compile(bounded, re.IGNORECASE).search(text, area.start, area.end)
    return Span(found.start(), found.end()) if found else None


def _same(one: Triplet, other: Triplet) -> bool:
    return (one.relation, one.value, one.status, one.relative) == (
        other.relation,
        other.value,
        other.status,
        other.relative,
    )


__all__ = ["RULE", "Reading", "Reason", "Rejected", "read_triplets"]
