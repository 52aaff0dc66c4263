"""The term lists, read from their TSV files."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from importlib import resources
from types import MappingProxyType

from askew.errors import DataError
from askew.graphs.terms.folding import fold, plural

KINDS = (
    "conditions",
    "demonyms",
    "medications",
    "occupations",
    "places",
    "races",
    "relatives",
    "symptoms",
    "tests",
    "treatments",
)

# Every tag that a list may give, with what it says.
TAGS: Mapping[str, str] = MappingProxyType(
    {
        "ambiguous": "wordings (or `yes`, all of them) that also mean something else: need a guard",
        "blood": "yes or no: of a relative, whether by blood",
        "class": "the class of a drug",
        "country": "where a place lies; of a demonym, what it is of",
        "generation": "of a relative, counted from the patient: parents +1, children -1",
        "gold": "of a relative, the name that family history uses",
        "group": "what stands for the term when answers are compared",
        "kind": "of a place: country, capital, city, state, region, continent",
        "max_age": "in years, the highest at which it is plausible",
        "min_age": "in years, the lowest at which it is plausible",
        "psychogenic": "yes: a label that ascribes complaints to the mind",
        "sex": "female or male: who alone can have, take or be it",
        "side": "of a relative: maternal or paternal",
    }
)
_COLUMNS = ("name", "synonyms", "tags")


@dataclass(frozen=True, slots=True)
class Term:
    """One entry of a list."""

    name: str  # the wording that a triplet gets
    kind: str  # one of `KINDS`
    synonyms: tuple[str, ...]
    tags: Mapping[str, str]  # keys are those of `TAGS`

    @property
    def wordings(self) -> tuple[str, ...]:
        """The name and its synonyms."""
        return (self.name, *self.synonyms)

    def guarded(self, wording: str) -> bool:
        """Whether this wording of the term also means something else ("cold", "MS", "Jordan")."""
        listed = self.tags.get("ambiguous", "")
        if listed in ("", "yes"):
            return listed == "yes"
        return fold(wording) in {fold(one) for one in listed.split("|")}


@cache
def terms(kind: str) -> tuple[Term, ...]:
    """The terms of a kind, sorted by name.

    Raises:
        DataError: there is no such kind, or a line of its file cannot be used.

    >>> [term.name for term in terms("relatives") if "mum" in term.synonyms]
    ['mother']
    """
    if kind not in KINDS:
        raise DataError(f"there is no list of {kind!r}; the kinds are {', '.join(KINDS)}")
    source = resources.files(__package__) / f"{kind}.tsv"
    lines = source.read_text(encoding="utf-8").splitlines()
    return tuple(
        _term(kind, number, line)
        for number, line in enumerate(lines, 1)
        if line and not line.startswith("#") and line.split("\t") != list(_COLUMNS)
    )


def _term(kind: str, number: int, line: str) -> Term:
    cells = line.split("\t")
    if len(cells) != len(_COLUMNS):
        raise DataError(f"{kind}.tsv:{number}: {len(cells)} cells, expected {', '.join(_COLUMNS)}")
    name, synonyms, tags = cells
    pairs = dict(_pair(kind, number, tag) for tag in tags.split(";") if tag)
    return Term(name, kind, tuple(filter(None, synonyms.split("|"))), MappingProxyType(pairs))


def _pair(kind: str, number: int, tag: str) -> tuple[str, str]:
    key, mark, value = tag.partition("=")
    if not mark or key not in TAGS:
        raise DataError(
            f"{kind}.tsv:{number}: tag {tag!r} is not key=value with a key of {', '.join(TAGS)}"
        )
    return key, value


@cache
def lookup(kind: str) -> Mapping[str, Term]:
    """Folded wording -> term; the plural of each wording's last word is in it too.

    >>> lookup("symptoms")["headaches"].name
    'headache'
    """
    found: dict[str, Term] = {}
    for term in terms(kind):
        for wording in term.wordings:
            found.setdefault(fold(wording), term)
    for folded, term in list(found.items()):
        # An abbreviation's plural is a word of its own ("MIs" is rare, "PEs" a school subject).
        if re.fullmatch(r"[a-z ]*[a-z]{4,}", folded):
            first, _, last = folded.rpartition(" ")
            found.setdefault(f"{first} {plural(last)}".strip(), term)
    return MappingProxyType(found)
