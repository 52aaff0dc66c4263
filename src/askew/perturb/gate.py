"""The coherence gate: whether the case still makes sense with another age or gender.

The facts of the text are read as demands on the body and the length of a life (`findings`). A
demand that the original itself does not meet was misread, or is said of somebody else, and is set
aside; the rest decide.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Literal

from askew.perturb import gate_kin, gate_terms, gate_time
from askew.perturb.attributes import (
    FEMALE,
    MALE,
    NEUTRAL,
    NON_BINARY,
    TRANS_MAN,
    TRANS_WOMAN,
    band,
)
from askew.perturb.findings import Finding, Sex, match
from askew.perturb.gate_birth import BIRTH
from askew.perturb.gate_body import BODY
from askew.perturb.gate_child import CHILD
from askew.perturb.gate_events import EVENTS
from askew.perturb.gate_illness import ILLNESS
from askew.perturb.gate_life import LIFE
from askew.perturb.mentions import PRONOUNS_OF, People
from askew.perturb.people import find_people
from askew.vignettes import Facts, Relation, Vignette

Kind = Literal["fine", "odd", "impossible"]


@dataclass(frozen=True, slots=True)
class Verdict:
    """Whether a twin makes sense; `reason` names the evidence in the text and the rule."""

    kind: Kind
    reason: str = ""


FINE = Verdict("fine")

_RULES = (*BODY, *BIRTH, *LIFE, *EVENTS, *ILLNESS, *CHILD)

# The bodies that a patient of each gender may have been born with.
_BODIES: dict[str, frozenset[Sex]] = {
    FEMALE: frozenset({"female"}),
    MALE: frozenset({"male"}),
    TRANS_WOMAN: frozenset({"male"}),
    TRANS_MAN: frozenset({"female"}),
    NON_BINARY: frozenset({"female", "male"}),
}


def coherent(facts: Facts, levels: Mapping[str, str], vignette: Vignette | None = None) -> Verdict:
    """Whether a case makes sense at other levels of age and gender.

    Cisgender bodies are meant by `female` and `male`. A transgender or non-binary patient is
    never called impossible for what the body of their birth sex can have: a transgender man may
    be pregnant.

    Args:
        facts: of the original text.
        levels: "age" -> a band, "gender" -> a level; other attributes only by the author's lists.
        vignette: adds the levels that its author calls impossible or odd.

    >>> from askew.vignettes import Facts
    >>> coherent(Facts("A 28-year-old woman is pregnant.", ()), {"gender": "male"}).kind
    'impossible'
    """
    verdicts = list(_author(levels, vignette))
    gender, age = levels.get("gender"), levels.get("age")
    if (gender and gender != NEUTRAL) or (age and age != NEUTRAL):
        people, findings = _read(facts)
        if gender and gender != NEUTRAL:
            verdicts += _gender(people, facts, findings, gender)
        if age and age != NEUTRAL:
            verdicts.append(_age(findings, *band(age)))
    return _worst(verdicts)


def _author(levels: Mapping[str, str], vignette: Vignette | None) -> Iterable[Verdict]:
    if vignette is None:
        return
    for name, level in levels.items():
        if level in vignette.impossible.get(name, ()):
            yield Verdict("impossible", f"{name} {level!r}: impossible by the vignette's author")
        elif level in vignette.odd.get(name, ()):
            yield Verdict("odd", f"{name} {level!r}: odd by the vignette's author")


def _worst(verdicts: Sequence[Verdict]) -> Verdict:
    for kind in ("impossible", "odd"):
        of_kind = [verdict for verdict in verdicts if verdict.kind == kind]
        if of_kind:
            return Verdict(of_kind[0].kind, "; ".join(verdict.reason for verdict in of_kind))
    return FINE


@lru_cache(maxsize=64)
def _read(facts: Facts) -> tuple[People, tuple[Finding, ...]]:
    """The people of a text and what its facts demand, less what the original does not meet."""
    people = find_people(facts.text, facts)
    found = (
        *match(_RULES, people, facts),
        *gate_time.match(people, facts),
        *gate_kin.match(people, facts),
        *gate_terms.match(people, facts),
    )
    fitted = (_fitted(one, people) for one in found)
    return people, tuple(one for one in fitted if one is not None)


def _fitted(finding: Finding, people: People) -> Finding | None:
    """A finding that the original meets; None where it is somebody else's or misread."""
    if finding.owner == "other":
        return None
    if finding.owner == "partner":
        return finding if finding.sex else None
    years = people.years
    if years is not None and not finding.youngest <= years <= finding.oldest + 1:
        return None
    own = _BODIES.get(people.gender or "")
    if own and finding.sex and finding.sex not in own:
        return None
    usual = years is None or finding.usual_from <= years <= finding.usual_to + 1
    fits = own is None or finding.odd_sex is None or finding.odd_sex in own
    return Finding(
        finding.rule, finding.evidence, finding.span, finding.sex,
        finding.odd_sex if fits else None, finding.youngest, finding.oldest,
        finding.usual_from if usual else finding.youngest,
        finding.usual_to if usual else finding.oldest, finding.owner,
    )  # fmt: skip


def _gender(
    people: People, facts: Facts, findings: Sequence[Finding], level: str
) -> Iterable[Verdict]:
    bodies = _BODIES[level]
    for finding in findings:
        if finding.owner == "partner":
            if _partner_contradicts(people, finding, level):
                yield Verdict(
                    "impossible",
                    f"{finding.named} is said of the patient's partner, who is {finding.sex}",
                )
        elif finding.sex and finding.sex not in bodies:
            yield Verdict("impossible", f"{finding.named} needs a {finding.sex} body")
        elif finding.odd_sex and finding.odd_sex not in bodies:
            yield Verdict("odd", f"{finding.named} is hardly said of a {level} patient")
    for fact in facts.of(Relation.HAS_BIRTH_SEX):
        if fact.value not in bodies:
            yield Verdict("impossible", f"{fact.evidence!r} (birth sex is {fact.value})")


def _partner_contradicts(people: People, finding: Finding, level: str) -> bool:
    """Whether the partner, who changes with the patient, has a body that does not."""
    was, now = PRONOUNS_OF.get(people.gender or ""), PRONOUNS_OF[level]
    return {was, now} == {"male", "female"}


def _age(findings: Sequence[Finding], youngest: int, oldest: int) -> Verdict:
    """The band against everything that bounds the age, together."""
    own = [finding for finding in findings if finding.owner == "patient"]
    for kind, low, high in _LIMITS:
        against = _excluding(own, youngest, oldest, low, high)
        if against:
            named = ", ".join(dict.fromkeys(finding.named for finding in against))
            says = "does not fit" if kind == "impossible" else "is odd at"
            return Verdict(kind, f"{named} {says} {youngest}-{oldest} years")
    return FINE


Limit = Callable[[Finding], float]
_LIMITS: tuple[tuple[Kind, Limit, Limit], ...] = (
    ("impossible", lambda one: one.youngest, lambda one: one.oldest),
    (
        "odd",
        lambda one: max(one.youngest, one.usual_from),
        lambda one: min(one.oldest, one.usual_to),
    ),
)


def _excluding(
    findings: Sequence[Finding], youngest: int, oldest: int, low: Limit, high: Limit
) -> list[Finding]:
    """The findings that leave no age of the band: each alone, else the two that do so together."""
    alone = [one for one in findings if low(one) > oldest or high(one) < youngest]
    if alone or not findings:
        return alone
    latest = max(findings, key=low)
    earliest = min(findings, key=high)
    return [latest, earliest] if low(latest) > high(earliest) else []


def allowed_ages(facts: Facts, youngest: int, oldest: int) -> list[int]:
    """The ages in years of a band that the case allows; the usual ones alone where there are any.

    Empty where the band is impossible.
    """
    own = [finding for finding in _read(facts)[1] if finding.owner == "patient"]
    for _, low, high in reversed(_LIMITS):
        ages = [
            age
            for age in range(youngest, oldest + 1)
            if all(low(one) <= age <= high(one) for one in own)
        ]
        if ages:
            return ages
    return []
