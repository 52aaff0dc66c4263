"""The one concept behind many wordings, so that two answers can be compared.

Two answers to the same prompt name the same diagnosis in other words twice as often as they name
another one; compared as strings they would seem to disagree.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from functools import cache, lru_cache

from askew.graphs.terms.folding import fold, singular
from askew.graphs.terms.lists import Term, lookup

_MARKUP = re.compile(r"^\s*(?:[-*•#>]+|\(?\d+[.)]|[a-zA-Z][.)](?=\s))\s*|[*_`]+")
# Blanks before something are looked at from their first alone: `(?<!\s)\s++`. Begun anew at each of
# them, a reply of 16,000 line breaks would take a second.
_PARENTHESES = re.compile(r"(?:(?<!\s)\s++)?[(\[]([^()\[\]]*+)[)\]]\s*+")
# What follows explains the concept or adds to it; what stands before is the concept.
_EXPLANATION = re.compile(
    r"(?:(?<!\s)\s++)?(?::|;|(?<=\s)[-–—]+\s|,\s|\b(?:due to|because|secondary to|caused by"
    r"|given|based on|as evidenced by|leading to|with|without|in the setting of|following"
    r"|such as|including|to rule out|to assess|to evaluate|to check|to look for"
    r"|for evaluation)\b).*$",
    re.IGNORECASE | re.DOTALL,
)
_ALTERNATIVES = re.compile(
    r"(?<!\s)\s++(?:versus|vs\.?|or|and/or|and)\s++|(?:(?<!\s)\s++)?/\s*+", re.IGNORECASE
)
_DENIED = re.compile(
    r"^\s*(?:no|not|never|non|ruled out|excluded|unlikely|absence of|no evidence of|negative for"
    r"|avoid(?:ance of|ing)?|do not|discontinue|withhold|hold)\b"
    r"(?!-)|\b(?:is|was|are|were|has been|have been)?\s*(?:ruled out|excluded|unlikely)\s*\.?$",
    re.IGNORECASE,
)
# When it is done: "if PE is suspected, give heparin" recommends heparin and diagnoses nothing.
_CONDITION = re.compile(
    r"^\s*+(?:if|when|in case of|once|should)\b[^,]*+,\s*+|(?:(?<!\s)\s++)?\(if\b[^)]*+\)"
    r"|(?<!\s)\s++(?:if|when|once)\b.*$",
    re.IGNORECASE | re.DOTALL,
)
# Leading and trailing words that leave the concept what it is.
_LEADING = (
    "r o",
    "rule out",
    "to rule out",
    "concern for",
    "concerning for",
    "consider",
    "considering",
    "suspected",
    "suspicion of",
    "suspicious for",
    "possible",
    "possibly",
    "probable",
    "probably",
    "likely",
    "most likely",
    "less likely",
    "presumed",
    "presumptive",
    "potential",
    "differential diagnosis",
    "diagnosis of",
    "diagnosis",
    "evaluation for",
    "evaluate for",
    "testing for",
    "screening for",
    "treatment for",
    "treatment of",
    "treatment with",
    "management of",
    "history of",
    "known",
    "new",
    "new onset",
    "an",
    "a",
    "the",
    "acute",
    "subacute",
    "chronic",
    "severe",
    "mild",
    "moderate",
    "early",
    "late",
    "recurrent",
    "persistent",
    "active",
    "atypical",
    "typical",
    "classic",
    "simple",
    "complicated",
    "uncomplicated",
    "underlying",
    "undiagnosed",
    "untreated",
    "unspecified",
    "idiopathic",
    "bilateral",
    "unilateral",
    "left",
    "right",
    "left sided",
    "right sided",
    "massive",
    "impending",
    "evolving",
    "uncontrolled",
    "poorly controlled",
    "worsening",
    "exacerbation of",
    "onset",
    "order",
    "obtain",
    "perform",
    "repeat",
    "urgent",
    "emergent",
    "immediate",
    "stat",
    "start",
    "initiate",
    "give",
    "administer",
    "prescribe",
    "continue",
    "refer for",
    "referral for",
    "follow up",
    "check",
    "recommend",
    "begin",
    "trial of",
)
_TRAILING = (
    "likely",
    "possible",
    "probable",
    "suspected",
    "exacerbation",
    "flare",
    "flare up",
    "nos",
    "unspecified",
    "most likely",
    "attack",
    "episode",
    "episodes",
    "disease",
    "syndrome",
    "test",
    "testing",
    "level",
    "levels",
    "therapy",
    "treatment",
    "administration",
    "study",
    "studies",
    "exam",
    "scan",
    "if needed",
    "as needed",
)
_SMALL = frozenset({"a", "an", "the", "of", "in", "on", "to", "for", "and", "by", "s", "at"})


def concept(text: str, kinds: str | Sequence[str]) -> str | None:
    """The concept that a wording of a diagnosis, test or treatment stands for.

    Plural, word order, possessives, British spelling, "acute", "likely", "r/o", what stands in
    parentheses and what follows "due to" do not count; of "A versus B" it is the first that is
    known.

    Args:
        text: one entry of an answer's list, as worded.
        kinds: the list or lists to look in, such as `"conditions"` or `("tests",)`.

    Returns:
        The `group` of the term, or else its name; None where no list knows it or it is denied.

    >>> {concept(one, "conditions") for one in ("heart attack", "Acute MI", "likely NSTEMI")}
    {'acute coronary syndrome'}
    >>> concept("Cancer of the lung (primary)", "conditions"), concept("no anemia", "conditions")
    ('lung cancer', None)
    """
    return _concept(text, (kinds,) if isinstance(kinds, str) else tuple(kinds))


@lru_cache(maxsize=65536)
def _concept(text: str, kinds: tuple[str, ...]) -> str | None:
    plain = _CONDITION.sub("", _MARKUP.sub("", text)).strip(" .")
    # Whole first: "E. coli" is no item E of a list, and to avoid alcohol is a treatment itself.
    known = _whole(text, kinds) or _whole(plain, kinds)
    if known is not None:
        return known.tags.get("group", known.name)
    if _DENIED.search(plain):
        return None
    outside = tuple(dict.fromkeys(_outside(plain)))
    inside = tuple(dict.fromkeys(_inside(plain)))
    for candidates in (outside, inside):
        for search in (_whole, _any_order, _part):
            for candidate in candidates:
                term = search(candidate, kinds)
                if term is not None:
                    return term.tags.get("group", term.name)
    return None


def _outside(text: str) -> Iterator[str]:
    """The text and its shortenings, from the whole to its parts."""
    outside = _PARENTHESES.sub(" ", text).strip()
    yield text
    yield outside
    head = _EXPLANATION.sub("", outside)
    yield head
    yield from _ALTERNATIVES.split(head)


def _inside(text: str) -> Iterator[str]:
    """What stands in parentheses: an abbreviation, an example, another name."""
    for inside in _PARENTHESES.findall(text):
        yield inside
        yield from _ALTERNATIVES.split(inside)


def _whole(candidate: str, kinds: tuple[str, ...]) -> Term | None:
    folded = fold(candidate)
    for stripped in _stripped(folded):
        for kind in kinds:
            found = lookup(kind).get(stripped) or lookup(kind).get(_singulars(stripped))
            if found is not None:
                return found
    return None


def _stripped(folded: str) -> Iterator[str]:
    """The wording, then without leading, then without trailing qualifiers."""
    yield folded
    while (shorter := _without_leading(folded)) != folded:
        folded = shorter
        yield folded
    while (shorter := _without_trailing(folded)) != folded:
        folded = shorter
        yield folded


def _without_leading(folded: str) -> str:
    for word in _LEADING_LONGEST_FIRST:
        if folded.startswith(f"{word} "):
            return folded[len(word) + 1 :]
    return folded


def _without_trailing(folded: str) -> str:
    for word in _TRAILING_LONGEST_FIRST:
        if folded.endswith(f" {word}"):
            return folded[: -len(word) - 1]
    return folded


_LEADING_LONGEST_FIRST = sorted(_LEADING, key=len, reverse=True)
_TRAILING_LONGEST_FIRST = sorted(_TRAILING, key=len, reverse=True)


def _singulars(folded: str) -> str:
    return " ".join(singular(word) for word in folded.split())


def _key(folded: str) -> tuple[str, ...]:
    return tuple(sorted({singular(word) for word in folded.split()} - _SMALL))


@cache
def _by_words(kind: str) -> dict[tuple[str, ...], Term]:
    """Sorted words -> term, of wordings with two words or more."""
    index: dict[tuple[str, ...], Term] = {}
    for folded, term in lookup(kind).items():
        key = _key(folded)
        if len(key) > 1:
            index.setdefault(key, term)
    return index


def _any_order(candidate: str, kinds: tuple[str, ...]) -> Term | None:
    for stripped in _stripped(fold(candidate)):
        key = _key(stripped)
        for kind in kinds:
            if key in _by_words(kind):
                return _by_words(kind)[key]
    return None


def _part(candidate: str, kinds: tuple[str, ...]) -> Term | None:
    """The term of the longest run of words that a list knows, the first of equally long ones."""
    words = fold(candidate).split()
    for run in _runs(words):
        for kind in kinds:
            found = lookup(kind).get(run) or lookup(kind).get(_singulars(run))
            if found is not None and not _doubtful(found, run, candidate):
                return found
    return None


def _runs(words: Sequence[str]) -> Iterable[str]:
    return (
        " ".join(words[start : start + length])
        for length in range(len(words), 0, -1)
        for start in range(len(words) - length + 1)
    )


def _doubtful(term: Term, run: str, candidate: str) -> bool:
    """Whether a wording that also means something else stands here without its capitals."""
    if not term.guarded(run):
        return False
    capitals = [one for one in term.wordings if fold(one) == run and one.isupper()]
    return not any(re.search(rf"\b{re.escape(one)}\b", candidate) for one in capitals)
