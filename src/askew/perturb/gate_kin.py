"""What the ages of relatives and of whoever tells the case demand of the patient's age."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

from askew.perturb import numerals
from askew.perturb.ages import Age, find_ages, in_years, overlap
from askew.perturb.findings import OLDEST, Finding
from askew.perturb.gate_time import at_least
from askew.perturb.mentions import People
from askew.perturb.nouns import noun_after
from askew.vignettes import Facts, Span

if TYPE_CHECKING:
    from spacy.tokens import Token

_PARENT_GAP = 14.0  # years between a parent and a child, at the least
_N = numerals.NUMBER
_NARRATOR = re.compile(
    rf"\bI(?:['’]m| am)(?: a)? (?P<n>{_N})\b(?!\s*(?:weeks|months|days|hours|%|kg|lb|pounds|cm))",
    re.IGNORECASE,
)


@dataclass(frozen=True, slots=True)
class _Bound:
    """How the patient's age hangs on a relative's: patient - relative within these years."""

    least: float
    most: float
    usual: float = OLDEST  # a larger distance either way is odd


_BOUNDS: dict[str, _Bound] = {
    **dict.fromkeys(
        ("mother", "father", "mom", "mum", "dad", "parent", "primigravida", "multigravida"),
        _Bound(-60.0, -_PARENT_GAP),
    ),
    **dict.fromkeys(("son", "daughter", "child", "toddler", "baby", "infant", "newborn"),
                    _Bound(_PARENT_GAP, 65.0)),
    **dict.fromkeys(("grandmother", "grandfather", "grandparent", "grandma", "grandpa"),
                    _Bound(-90.0, -25.0)),
    **dict.fromkeys(("grandson", "granddaughter", "grandchild"), _Bound(25.0, 95.0)),
    **dict.fromkeys(("brother", "sister", "sibling"), _Bound(-35.0, 35.0, 22.0)),
    "twin": _Bound(-0.5, 0.5),
    **dict.fromkeys(("husband", "wife", "spouse", "fiance", "fiancé", "fiancée", "fiancee",
                     "boyfriend", "girlfriend", "partner"), _Bound(-60.0, 60.0, 26.0)),
}  # fmt: skip


_NOUNS = {"mommy": "mom", "mummy": "mum", "daddy": "dad"}
_BARE_AGE = re.compile(
    rf"\b(?P<noun>{'|'.join(sorted(_BOUNDS, key=len, reverse=True))})(?:\s*\(|"
    rf",)\s*(?:aged? )?(?P<age>\d{{1,2}})\s*(?=[,)])",
    re.IGNORECASE,
)
_ALIVE_AT = re.compile(
    r"\b(?:his|her|their|my|the patient['’]s) (?P<noun>mother|father|mom|mum|dad|brother|sister|"
    r"grandmother|grandfather|son|daughter|husband|wife),? (?:is|who is|remains) (?:now |still |"
    r"in good "
    r"health|alive|healthy|well|fit|fine|and |,|\s)*(?:at|aged)? ?(?P<age>\d{2})\b(?!\s*(?:weeks|"
    r"months|"
    r"days|%|kg|cm))",
    re.IGNORECASE,
)
# What a patient is called -> the least age in years.
_ROLES = {
    **dict.fromkeys(("grandparent", "grandpa", "granny", "gran", "nan", "nana"), 36.0),
    **dict.fromkeys(("parent", "dad", "stepparent", "papa", "dad_british", "daddy"), 14.0),
    **dict.fromkeys(("spouse", "ex_spouse", "widowed", "engaged", "engaged_plain"), 15.0),
    **dict.fromkeys(
        ("housework", "business", "police", "sales", "service", "chair", "crafts", "waiting",
         "flight", "order", "stage"),
        15.0,
    ),
}  # fmt: skip


def match(people: People, facts: Facts) -> Iterator[Finding]:
    """The ages of relatives: a patient of thirty has no son of twenty-five."""
    own = {age.span for age in people.ages}
    for age in find_ages(people.text, facts):
        if age.span in own or any(overlap(age.span, span) for span in own):
            continue
        noun = _whose(people, age)
        if noun is None or noun not in _BOUNDS:
            continue
        yield _bounded(people, age.span, in_years(age), noun)
    yield from _apposed(people, own)
    yield from _living(people, own)
    yield from _narrator(people)
    for mention in people.of("patient"):
        youngest = _ROLES.get(mention.row) if mention.kind == "noun" else None
        if youngest is not None:
            great = people.text[: mention.span.start].lower().endswith("great-")
            yield at_least("role", people, mention.span, youngest + (18.0 if great else 0.0))


def _apposed(people: People, own: set[Span]) -> Iterator[Finding]:
    """The ages that stand beside a relative without a unit: "her daughter (45)", "his son, 51,"."""
    for hit in _BARE_AGE.finditer(people.text):
        span = Span(*hit.span("age"))
        value = numerals.value(hit["age"])
        noun = _NOUNS.get(hit["noun"].lower(), hit["noun"].lower())
        if value is None or noun not in _BOUNDS or any(overlap(span, one) for one in own):
            continue
        yield _bounded(people, span, float(value), noun)


def _living(people: People, own: set[Span]) -> Iterator[Finding]:
    """The ages of relatives of whom it is said how they are: "his father is healthy at 52"."""
    for hit in _ALIVE_AT.finditer(people.text):
        span = Span(*hit.span("age"))
        if not any(overlap(span, one) for one in own):
            yield _bounded(people, span, float(hit["age"]), hit["noun"].lower())


def _whose(people: People, age: Age) -> str | None:
    """The relative that an age is of: "her 6-year-old son", "his wife, a 68-year-old nurse"."""
    following = noun_after(people.doc, age.span.end)
    if following is not None and _is_patient(people, following):
        return None
    if not people.ages and re.search(r"\bmy $", people.text[: age.span.start], re.IGNORECASE):
        return None  # "my 10-year-old son": most likely the patient, whom the facts do not name
    if following is not None and following.lower_ in _BOUNDS:
        return str(following.lower_)
    before = people.text[max(0, age.span.start - 40) : age.span.start].lower()
    apposed = re.search(r"([\wé]+)\s*(?:,|\(|is|who is|was|aged)\s*(?:an?\s+|aged\s+)?$", before)
    if apposed and apposed[1] in _BOUNDS:
        return apposed[1]
    return None


def _is_patient(people: People, token: Token) -> bool:
    """Of a second statement of the patient's own age, which the facts did not give."""
    return token.i in people.anchors or any(
        mention.token == token.i and mention.who == "patient" for mention in people.mentions
    )


def _bounded(people: People, span: Span, years: float, noun: str) -> Finding:
    bound = _BOUNDS[noun]
    return Finding(
        f"age of the {noun}", people.text[slice(*span)], span,
        youngest=max(0.0, years + bound.least), oldest=years + bound.most,
        usual_from=max(0.0, years - bound.usual), usual_to=years + bound.usual,
    )  # fmt: skip


_NARRATED = re.compile(
    r"\bmy (?:[\w-]+ ){0,5}?(?P<noun>dad|father|mom|mum|mother|grandmother|grandfather|grandma|"
    r"grandpa|granny|gran|nana|nan|granddad|grandad|papa|mama|son|daughter|brother|sister|"
    r"husband|wife)\b",
    re.IGNORECASE,
)
_TOLD_BY = {  # the patient's word in the mouth of whoever tells -> what the teller is to them
    **dict.fromkeys(("dad", "father", "mom", "mum", "mother", "papa", "mama"), "son"),
    **dict.fromkeys(
        (
            "grandmother",
            "grandfather",
            "grandma",
            "grandpa",
            "granny",
            "gran",
            "nan",
            "nana",
            "granddad",
            "grandad",
        ),
        "grandson",
    ),
    **dict.fromkeys(("son", "daughter"), "mother"),
    **dict.fromkeys(("brother", "sister"), "brother"),
    **dict.fromkeys(("husband", "wife"), "wife"),
}
# Whoever writes of a parent is at least this old, and a parent of theirs older by a generation.
_WRITER = 13.0


# "My 3 year old has …": whoever says so of a child is its parent.
_OWN_CHILD = re.compile(
    rf"\bmy (?:\w+ )?{_N}[- ](?:year|yr|month|mo|week|wk|day)s?[- ]?old(?= (?:has|is|had|keeps?|"
    rf"was|"
    r"won['’]t|can['’]t|woke|just|got|started|vomited|fell|threw|and)\b)",
    re.IGNORECASE,
)
_CHILD = 18.0  # years


def _narrator(people: People) -> Iterator[Finding]:
    """Of "My 70-year-old dad …. I'm 41": the one who tells has an age as well."""
    own = _OWN_CHILD.search(people.text)
    if own is not None and people.years is not None and people.years < _CHILD:
        yield from _told_by("mother", people, Span(*own.span()))
        return
    told = next(
        (
            hit
            for hit in _NARRATED.finditer(people.text)
            if any(
                mention.who == "patient" and mention.span.end == hit.end()
                for mention in people.mentions
            )
        ),
        None,
    )
    if told is None:
        return
    yield from _told_by(_TOLD_BY[told["noun"].lower()], people, Span(*told.span()))


def _told_by(noun: str, people: People, span: Span) -> Iterator[Finding]:
    """What it says of the patient that a son, mother or wife tells, with the age of that one."""
    age = _NARRATOR.search(people.text)
    value = numerals.value(age["n"]) if age else None
    if age is not None and value is not None:
        yield _bounded(people, Span(*age.span()), float(value), noun)
    elif noun in {"son", "grandson"}:
        yield _bounded(people, span, _WRITER, noun)
    elif noun == "wife":
        yield at_least("told by a relative", people, span, 15.0)
    else:
        yield Finding("told by a relative", people.text[slice(*span)], span, usual_to=60.0)
