"""What the term lists say of a case: what is bound to a sex or an age, and occupations."""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import cache
from typing import TYPE_CHECKING

from askew.graphs.terms import fold, lookup, terms
from askew.perturb.findings import OLDEST, Finding, owner
from askew.perturb.mentions import People
from askew.perturb.reading import clause_subject
from askew.vignettes import Facts, Relation, Span, Status, Triplet

if TYPE_CHECKING:
    from spacy.tokens import Token

_LISTS = {
    Relation.HAS_CONDITION: "conditions",
    Relation.TAKES_MEDICATION: "medications",
    Relation.HAS_SYMPTOM: "symptoms",
}
_GROWN = 16.0  # years; a list's `min_age` above it is what is usual, not what is possible
_INFANT = 3.0  # years; the same for `max_age`
_WORKING_AGE = 14.0


def match(people: People, facts: Facts) -> list[Finding]:
    """The demands of the lists."""
    return [*_tagged(people, facts), *_occupations(people, facts)]


def _tagged(people: People, facts: Facts) -> Iterator[Finding]:
    for fact in facts.of(*_LISTS):
        term = lookup(_LISTS[fact.relation]).get(fold(str(fact.value)))
        if term is None or fact.span is None or owner(people, facts, fact.span) == "other":
            continue
        tags = term.tags
        if not tags.keys() & {"sex", "min_age", "max_age"}:
            continue
        # A male sex is left to the rules of `gate_body`, which tell apart what men have more often.
        sex = "female" if tags.get("sex") == "female" else None
        youngest = float(tags.get("min_age", 0))
        oldest = float(tags.get("max_age", OLDEST)) if _now(fact) else OLDEST
        yield Finding(
            f"list of {_LISTS[fact.relation]}",
            fact.evidence,
            fact.span,
            sex=sex,  # type: ignore[arg-type]
            youngest=min(youngest, _GROWN),
            oldest=oldest if oldest <= _INFANT else OLDEST,
            usual_from=youngest,
            usual_to=oldest,
        )


def _now(fact: Triplet) -> bool:
    return fact.status in {Status.PRESENT, Status.POSSIBLE}


@cache
def _jobs() -> re.Pattern[str]:
    """Every wording of an occupation, the longest first."""
    wordings = {
        wording.lower()
        for term in terms("occupations")
        for wording in term.wordings
        if not re.search(r"\bstudent|pupil|unemployed|between jobs", wording)
    }
    longest = sorted(wordings, key=len, reverse=True)
    return re.compile(
        r"(?<![\w-])(?:" + "|".join(map(re.escape, longest)) + r")(?![\w-])", re.IGNORECASE
    )


def _occupations(people: People, facts: Facts) -> Iterator[Finding]:
    """The patient's jobs: "a 48-year-old bus driver", "she is a welder", "works as a potter"."""
    found = {cue.span for cue in facts.cues if cue.kind == "occupation"}
    for hit in _jobs().finditer(people.text):
        span = Span(*hit.span())
        token = next(one for one in reversed(people.doc) if one.idx < span.end)
        if _is_of_patient(people, token):
            found.add(span)
    for span in sorted(found):
        yield Finding(
            "occupation", people.text[slice(*span)], span, youngest=_WORKING_AGE, usual_from=16.0
        )


def _is_of_patient(people: People, token: Token) -> bool:
    """Whether a word for a job says what the patient does, not whom the patient meets."""
    if token.i in people.anchors:
        return True
    if any(child.dep_ == "poss" for child in token.children) or token.tag_ == "NNS":
        return False
    if token.dep_ == "appos":
        return _means_patient(people, token.head)
    subject = clause_subject(token)
    if token.dep_ == "attr" or (token.dep_ == "pobj" and token.head.lower_ == "as"):
        return subject is None or _means_patient(people, subject)
    # "A fisherman presents with …": the first person of a text that names no other patient.
    opens = token.dep_ in {"nsubj", "nsubjpass", "ROOT"} and token.sent.start == 0
    return opens and not any(
        mention.kind in {"noun", "stage", "letter"} for mention in people.of("patient")
    )


def _means_patient(people: People, token: Token) -> bool:
    if token.i in people.anchors or token.lower_ in {"patient", "i"}:
        return True
    return any(mention.token == token.i and mention.who == "patient" for mention in people.mentions)
