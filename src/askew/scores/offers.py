"""What an answer's tests and treatments offer, by concept: warnings and conditions left out.

A test or treatment item may hold several ("blood tests (CBC, troponin)"). What the lists of
`graphs.terms` do not know keeps its own words, so that nothing is lost. The lists and the signs
of a warning are English.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from functools import lru_cache
from typing import Literal

from askew.graphs.terms import fold, lookup, singular
from askew.scores.answer_concepts import NUMBERING, PARENTHESIS, own_words

OfferKind = Literal["test", "treatment"]

_LISTS = {"test": ("tests",), "treatment": ("treatments", "medications")}
_LONGEST_TERM = 8  # words

# What an order is made of, beside the test or treatment that is ordered.
_ORDERED = re.compile(
    r"^(?:(?:obtain|order|perform|consider|administer|start|get|do|give|initiate|provide|encourage"
    r"|ensure|advise|recommend|request|check|conduct|begin|prescribe|offer|repeat|urgent|immediate"
    r"|stat|further|additional|adequate|appropriate|empiric|empirical|a|an|the|with|for|of"
    r"|patient(?: to)?|such as|including|e g)\s+)+(?=\S)"
)
_ORDER_ENDS = re.compile(
    r"(?<=\S)\s+(?:tests?|testing|assays?|levels?|analys[ie]s|measurements?|studies|study|and|or"
    r"|as (?:needed|indicated|appropriate|tolerated|required))$"
)
_SEVERAL = re.compile(
    r"\s*[,;()\[\]+]\s*(?:(?:and/or|and|or)\s+)?"
    r"|\s+(?:and/or|and|or|plus|as well as|followed by)\s+"
)
_SENTENCE = re.compile(r"(?<=[a-z)])[.;!?]+\s+|;|\n|\s+(?:but|however|while|whereas)\s+", re.I)
# A condition, up to the comma that ends it: what it names is not offered.
_CONDITION = re.compile(
    r"\b(?:if|unless|when|once|until|depending on|based on|pending|in case of|as long as)\b"
    r"[^,;()]*",
    re.IGNORECASE,
)
_KEPT = re.compile(
    r"\b(?:not only|without (?:delay|hesitation)|no later than"
    r"|(?:do not|don[’']?t|never|not) (?:delay|withhold|forget|hesitate|miss|omit|postpone)(?: to)?"
    r"|(?:un)?able to avoid|no contraindications? to|cannot be without)\b",
    re.IGNORECASE,
)
_AGAINST = re.compile(
    r"\b(?:no|none|not|avoid|avoiding|avoidance of|never|without|neither|nor|rather than"
    r"|instead of|in place of|as opposed to|do not|don[’']?t|stop|stopping|discontinue"
    r"|discontinuing|discontinuation of|hold|holding|withhold|withholding|defer|deferring"
    r"|cease|refrain from|contraindications? to|free of)\b",
    re.IGNORECASE,
)
_PREFERRED = re.compile(r"\b(prefer\w*\b[^;,]*?)\s+(?:over|to)\b[^;,]*", re.IGNORECASE)
# Words of which a part would be read as what they are not.
_OTHER_SENSES = (
    (re.compile(r"\b(?:(?:GC|NG)\s?/\s?CT|CT\s?/\s?(?:GC|NG))\b"), "gonorrhea and chlamydia"),
    (
        re.compile(
            r"\b(?:non[- ]?(?:opioid|opiate|narcotic)s?"
            r"|(?:opioid|opiate|narcotic)[- ](?:sparing|free))\b",
            re.IGNORECASE,
        ),
        "",
    ),
)
_EMPTY = re.compile(r"\(\s*\)|\(\s*$|^\s*\)")
_NOTHING = re.compile(r"\W*(?:none|nil|nothing|n\s?/\s?a|not applicable)\b\W*", re.IGNORECASE)
# What ends a warning: a new offer. Right behind the warning it is what the warning is about ("do
# not start …").
_AGAIN = re.compile(
    r"(?:[,:–—]|\b(?:and|then|but|so|instead))\s*(?:(?:then|instead|just|only)\s)?(?:start|give|order"
    r"|offer|obtain|use|begin|initiate|perform|administer|prescribe|consider|continue|treat"
    r"|proceed|prefer)\b",
    re.IGNORECASE,
)
_REJECTED = re.compile(
    r"\b(?:(?:is|are|was|were)?\s*(?:not|never)\s+(?:\w+\s+)?(?:indicated|needed|recommended"
    r"|required|necessary|warranted|advised|appropriate|helpful|useful|a good)|unnecessary"
    r"|contraindicated|should (?:not|never) be|should be (?:avoided|withheld|held|stopped)"
    r"|(?:is|are) (?:unlikely to help|unhelpful|of no (?:use|benefit)))",
    re.IGNORECASE,
)


def offered_concepts(items: Iterable[str], kind: OfferKind) -> frozenset[str]:
    """The tests or treatments that a list offers, by concept.

    An item may hold several ("blood tests (CBC, troponin)"); what it advises against ("avoid
    opioids") is not offered; an offer with a condition is one, without its condition ("CT if the
    D-dimer is raised" offers the CT).
    """
    return frozenset(found for item in items for found in _offered(item, kind))


@lru_cache(maxsize=16384)
def offered_clauses(item: str) -> tuple[str, ...]:
    """The parts of an item that offer something, without conditions and warnings.

    >>> offered_clauses("Acetaminophen, avoid opioids; start fluids if dehydrated")
    ('Acetaminophen', 'start fluids')
    """
    return tuple(_offers_of(item))


def _offers_of(item: str) -> Iterator[str]:
    if _NOTHING.fullmatch(item):
        return
    text = _PREFERRED.sub(r"\1", _KEPT.sub(" ", NUMBERING.sub("", item)))
    for pattern, meant in _OTHER_SENSES:
        text = pattern.sub(meant, text)
    for sentence in _SENTENCE.split(text):
        for part in _not_rejected(_CONDITION.sub(" ", sentence)):
            kept = _EMPTY.sub(" ", _without_warnings(part)).strip(" ,:-")
            if kept:
                yield kept


def _not_rejected(sentence: str) -> Iterator[str]:
    """Drops the comma's part that says of something that it is not needed."""
    if not _REJECTED.search(sentence):
        yield sentence
        return
    for part in sentence.split(","):
        if not _REJECTED.search(part):
            yield part


def _without_warnings(clause: str) -> str:
    """Drops what follows a warning, up to a new offer or the end."""
    kept, place = "", 0
    while (warned := _AGAINST.search(clause, place)) is not None:
        kept += clause[place : warned.start()]
        again = _AGAIN.search(clause, warned.end())
        if again is None:
            return kept
        place = again.start()
    return kept + clause[place:]


@lru_cache(maxsize=16384)
def _offered(item: str, kind: OfferKind) -> tuple[str, ...]:
    clauses = offered_clauses(item)
    found = [name for clause in clauses for name in _terms_in(fold(clause).split(), kind)]
    if not found:
        parts = [
            part for clause in clauses for part in _SEVERAL.split(PARENTHESIS.sub(" ", clause))
        ]
        found = list(filter(None, map(_ordered, parts)))
    return tuple(dict.fromkeys(found))


def _ordered(part: str) -> str:
    """The own words of what is ordered: "Perform a D-dimer test" is "d dimer"."""
    bare = _ORDER_ENDS.sub("", _ORDERED.sub("", own_words(part)))
    first, _, last = bare.rpartition(" ")
    return f"{first} {singular(last)}".strip()


def _terms_in(words: list[str], kind: OfferKind) -> Iterator[str]:
    """The listed terms among words, the longest first at each place."""
    place = 0
    while place < len(words):
        for end in range(min(len(words), place + _LONGEST_TERM), place, -1):
            wording = " ".join(words[place:end])
            name = _term(wording, kind, whole=end - place == len(words))
            if name is not None:
                yield name
                place = end
                break
        else:
            place += 2 if words[place] == "non" else 1  # "non-opioid" is no opioid


def _term(wording: str, kind: OfferKind, *, whole: bool) -> str | None:
    for listed in _LISTS[kind]:
        term = lookup(listed).get(wording)
        # A wording that means other things as well counts only where it is the whole item.
        if term is not None and (whole or not term.guarded(wording)):
            return term.tags.get("group") or term.name
    return None
