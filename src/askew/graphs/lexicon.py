"""Where the wordings of the term lists stand in a text."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import cache
from typing import NamedTuple

from askew.graphs.page import Page, Word
from askew.graphs.terms import Term, fold, singular, terms

_JOINED = frozenset("-‐‑/'’.")  # marks that stand inside a wording: "non-binary", "N/V", "St. John"
# Up to so many letters an abbreviation must stand in capitals: "PE" and "MS", not "pe" and "ms".
_SHORT = 3
_WORDS_TOO = frozenset(
    {"AIDS", "POTS", "DRESS", "FIND", "LAST", "CHAT"}
)  # longer ones that are words
_STAGED = re.compile(r"(?P<letters>[A-Z]{2,5})-?\d[ab]?")  # "CKD3"


class Listed(NamedTuple):
    """A wording of a term at words `first` to `last` (not included) of a page."""

    first: int
    last: int
    term: Term
    guarded: bool  # the wording also means something else


@dataclass(slots=True)
class _Node:
    children: dict[str, _Node] = field(default_factory=dict)
    entries: list[tuple[Term, str]] = field(default_factory=list)  # with the wording as listed


class Piece(NamedTuple):
    """A folded word without plural, and the index of the word that it is of."""

    text: str  # "" for a mark that no wording goes across
    word: int


def pieces(page: Page) -> list[Piece]:
    """The words of a page as wordings are compared with them."""
    found: list[Piece] = []
    for index, word in enumerate(page.words):
        if word.lower in ("ms.", "mr.", "mrs.", "dr."):
            found.append(Piece("", index))  # a title is no multiple sclerosis
            continue
        staged = _STAGED.fullmatch(word.text)
        known = staged and fold(word.text) in _tree("conditions").children
        if word.text in ("CA", "Ca") and index and page.words[index - 1].lower.isalpha():
            found.append(Piece("cancer", index))  # "breast CA"
            continue
        parts = fold(staged["letters"] if staged and not known else word.text).split()
        found += [Piece(singular(part), index) for part in parts]
        if not parts and word.text not in _JOINED:
            found.append(Piece("", index))
    return found


@cache
def _tree(kind: str) -> _Node:
    root = _Node()
    for term in terms(kind):
        for wording in term.wordings:
            node = root
            for part in fold(wording).split():
                node = node.children.setdefault(singular(part), _Node())
            if node is not root:
                node.entries.append((term, wording))
    return root


def listed(page: Page, parts: list[Piece], kind: str) -> Iterator[Listed]:
    """The longest wordings of a kind, from left to right, none inside another."""
    root = _tree(kind)
    place = 0
    while place < len(parts):
        found = _longest(page.words, parts, place, root)
        if found is None:
            place += 1
            continue
        entry, place = found
        yield entry


def _longest(
    words: tuple[Word, ...], parts: list[Piece], place: int, root: _Node
) -> tuple[Listed, int] | None:
    best: tuple[Listed, int] | None = None
    node: _Node | None = root
    for end in range(place, len(parts)):
        node = node.children.get(parts[end].text) if node else None
        if node is None:
            break
        if end + 1 < len(parts) and parts[end + 1].word == parts[end].word:
            continue  # inside one word: "SOB/DOE" ends no wording after its first half
        first, last = parts[place].word, parts[end].word + 1
        for term, wording in node.entries:
            if _spelled(words[first:last], wording):
                best = Listed(first, last, term, term.guarded(wording)), end + 1
                break
    return best


def _spelled(found: tuple[Word, ...], wording: str) -> bool:
    """Whether the words may be this wording: short abbreviations have to stand in capitals."""
    letters = "".join(letter for letter in wording if letter.isalpha())
    if not letters.isupper() or (len(letters) > _SHORT and wording not in _WORDS_TOO):
        return True
    seen = "".join(letter for word in found for letter in word.text if letter.isalpha())
    if seen.isupper():
        return True
    # "DVTs", but "As soon as" is no aortic stenosis and "Ms" no multiple sclerosis.
    return len(seen) > len(letters) and seen.removesuffix("s").isupper()
