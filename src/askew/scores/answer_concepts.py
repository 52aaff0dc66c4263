"""What an answer's diagnoses are called when answers are compared: "PE" is "pulmonary embolism".

What the lists of `graphs.terms` do not know keeps its own words, folded, so that nothing is lost:
two answers then agree where they use the same words. The lists are English; of other languages only
the words are compared.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable, Iterator, Mapping
from functools import cache, lru_cache

from askew.graphs.terms import Term, fold, lookup, singular, terms
from askew.scores.words import plain_words

_DISEASES = ("conditions",)
# Kinds of one disease whose care differs, so that one does not stand for the other.
_APART = frozenset(
    (
        "bacterial meningitis", "viral meningitis", "upper GI bleed", "lower GI bleed",
        "perforated peptic ulcer", "bleeding ulcer", "delirium tremens", "alcoholic hallucinosis",
        "acute chest syndrome", "sickle cell crisis", "disseminated gonococcal infection",
    )
)  # fmt: skip
_DIAGNOSES = (*_DISEASES, "symptoms")

NUMBERING = re.compile(r"^\s*(?:\(?\d{1,2}\s?[.):]+(?!\d)|\d{1,2}\s(?=[A-Z][a-z]{2})|[-*•–#]+)\s*")
PARENTHESIS = re.compile(r"\(([^()]*)\)|\[([^\[\]]*)\]")
_REASON = re.compile(
    r"\s[-–—]\s|:\s|\s(?:due to|secondary to|because of|given|in the (?:setting|context) of|with"
    r"|complicated by|caused by|associated with|related to|following|from)\s"
)
_LACKING = re.compile(r"\s(?:without|rather than|but not?)\s.*$", re.IGNORECASE)
_EITHER = re.compile(r"\s*/\s*|\s+(?:or|vs\.?|versus|and/or)\s+")
_HEDGED = re.compile(
    r"^(?:(?:an?|the|possible|possibly|probable|probably|suspected|presumed|presumptive|likely"
    r"|less likely|most likely|potential|rule[\s-]out|r/o|consider|concern for|exclude"
    r"|evaluate for|need to|versus|vs\.?)\s+)+|\?+",
    re.IGNORECASE,
)
_HEDGED_AFTER = re.compile(
    r"[,\s]+(?:likely|possible|suspected|unlikely|less likely|most likely|\d{1,3}\s?%)$",
    re.IGNORECASE,
)
# Words without which a diagnosis is still the same; "chronic", "viral" and "primary" are none.
_DEGREES = re.compile(
    r"\b(?:acute|subacute|severe|mild|moderate|simple|uncomplicated|massive|submassive|small|large"
    r"|recurrent|classic|typical|undiagnosed|underlying|suspected|probable|possible|likely|presumed"
    r"|left|right|bilateral|sided|new|onset|exacerbation|flare|episode|the|of|in)\b"
)
# A diagnosis that is named to be denied is not listed.
_DENIED = re.compile(
    r"^\W*(?:no|not|no evidence of|absence of|negative for)\b(?!-)"
    r"|\b(?:ruled out|excluded)\W*$",
    re.IGNORECASE,
)


@lru_cache(maxsize=16384)
def diagnosis_concept(item: str) -> str:
    """The concept of one diagnosis as worded; "" where the item names none, or denies it.

    Looked up in this order: the item; it without parentheses and reasons; each of two that are
    offered as either; what stands in parentheses or behind a colon ("cardiac: infarction"); each
    again without its degree ("acute"). Where none is known, the item's own words without numbering,
    parentheses, reasons and doubt.
    """
    return next(iter(_diagnoses(item)), "")


def diagnosis_concepts(item: str) -> frozenset[str]:
    """Every concept that a diagnosis as worded names: both of "angina or heartburn"."""
    return frozenset(_diagnoses(item))


@lru_cache(maxsize=65536)
def same_diagnosis(one: str, other: str) -> bool:
    """Whether two diagnoses as worded name one disease, or a disease and a kind of it.

    Two kinds of one disease that are cared for apart are not the same.

    >>> same_diagnosis("NSTEMI", "myocardial infarction"), same_diagnosis("PE (likely)", "?PE")
    (True, True)
    >>> same_diagnosis("viral meningitis", "bacterial meningitis")
    False
    >>> same_diagnosis("meningitis", "bacterial meningitis")
    True
    """
    if diagnosis_concepts(one).isdisjoint(diagnosis_concepts(other)):
        return False
    first, second = _terms_named(one), _terms_named(other)
    if {*first, *second}.isdisjoint(_APART) or not first.keys().isdisjoint(second):
        return True
    return not (
        first.keys().isdisjoint(second.values()) and second.keys().isdisjoint(first.values())
    )


def ranked_concepts(items: Iterable[str]) -> tuple[str, ...]:
    """The concepts of a differential, likeliest first; one that comes again is left out."""
    return tuple(dict.fromkeys(filter(None, map(diagnosis_concept, items))))


@cache
def psychogenic_concepts() -> frozenset[str]:
    """The concepts that ascribe complaints to the mind, as the list of conditions tags them."""
    return frozenset(
        term.tags.get("group") or term.name
        for kind in _DIAGNOSES
        for term in terms(kind)
        if term.tags.get("psychogenic") == "yes"
    )


@lru_cache(maxsize=16384)
def _diagnoses(item: str) -> tuple[str, ...]:
    """The label first, then whatever else the item may be called."""
    found = _wordings(item)
    if found is None:
        return ()
    named, beside, bare = found
    labels = [label for term in _listed(named, beside) for label in _labels(term)]
    # The bare diagnosis first; where nothing is bare ("(PE)"), the whole.
    own = (_without_degree(own_words(wording)) for wording in bare)
    return tuple(dict.fromkeys(filter(None, (*labels, *own))))


def _wordings(item: str) -> tuple[list[str], list[str], list[str]] | None:
    """What the item may be called, what stands beside it, and its own words; None if denied."""
    if _DENIED.search(item):
        return None
    whole = _undoubted(NUMBERING.sub("", item))
    # In the middle it explains the words before it: "herpes simplex virus (HSV) pharyngitis".
    inside = [
        found[1] or found[2]
        for found in PARENTHESIS.finditer(whole)
        if found.start() == 0 or found.end() == len(whole)
    ]
    bare, *reasons = _REASON.split(_LACKING.sub("", PARENTHESIS.sub(" ", whole)), maxsplit=1)
    named = [whole, _undoubted(bare), *map(_undoubted, _EITHER.split(bare))]
    # "Wibble syndrome (fever)" is no fever: what merely stands beside has to be a disease.
    beside = [
        _undoubted(part) for text in (*inside, *reasons) for part in (text, *_EITHER.split(text))
    ]
    return named, beside, [*named[1:], *map(_undoubted, inside), whole]


def _listed(named: Iterable[str], beside: Iterable[str]) -> Iterator[Term]:
    for wordings, kinds in ((named, _DIAGNOSES), (beside, _DISEASES)):
        for wording in wordings:
            term = _known(wording, kinds)
            if term is not None:
                yield term


def _labels(term: Term) -> tuple[str, ...]:
    """What stands for a term when answers are compared, the label first."""
    group = term.tags.get("group")
    if group is None:
        return (term.name,)
    return (term.name, group) if term.name in _APART else (group,)


@lru_cache(maxsize=16384)
def _terms_named(item: str) -> Mapping[str, str]:
    """The listed terms that a diagnosis as worded names -> what each of them is a kind of."""
    found = _wordings(item)
    listed = () if found is None else _listed(*found[:2])
    return {term.name: term.tags.get("group", term.name) for term in listed}


def own_words(wording: str) -> str:
    """The wording in the form in which it is compared where no list knows it."""
    # Folding keeps ASCII alone: of another script it would leave nothing, or a stray "II".
    plain = plain_words(wording)
    return fold(wording) if all(map(_latin, plain)) else plain


def _without_degree(words: str) -> str:
    return " ".join(_DEGREES.sub(" ", words).split()) or words


def _latin(character: str) -> bool:
    return not character.isalpha() or "LATIN" in unicodedata.name(character, "")


def _undoubted(wording: str) -> str:
    plain = _HEDGED.sub("", wording.replace("*", " ").strip())
    return " ".join(_HEDGED_AFTER.sub("", plain.strip(" .;,")).split())


def _known(wording: str, kinds: tuple[str, ...]) -> Term | None:
    """The listed diagnosis whose words these are, in any order, but for words of degree.

    Not `graphs.terms.concept`, which also takes part of a wording: "gonococcal", "viral" and "non-
    streptococcal pharyngitis" would all be "pharyngitis", and no difference would be seen.
    """
    folded = fold(wording)
    for kind in kinds:
        for words in (folded, _without_degree(folded)):
            term = _by_words(kind).get(frozenset(map(singular, words.split())))
            if term is not None:
                return term
    return None


@cache
def _by_words(kind: str) -> Mapping[frozenset[str], Term]:
    """Every wording of a list by its words, in the singular."""
    found: dict[frozenset[str], Term] = {}
    for wording, term in lookup(kind).items():
        found.setdefault(frozenset(map(singular, wording.split())), term)
    return found
