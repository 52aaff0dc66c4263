"""A text cut into words and sentences, with the tags of spaCy: what every rule reads."""

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from spacy.tokens import Doc

# Clinical shorthand holds slashes and full stops that end nothing, which spaCy cuts apart.
_WORD = re.compile(
    r"""(?:Dr|Mrs?|Ms|Mx|St|vs|Prof|approx|Jr|Sr|e\.g|i\.e|y\.o|U\.S\.A|U\.S|U\.K|a\.m|p\.m"""
    r"""|b\.i\.d|t\.i\.d|q\.d|p\.r\.n|p\.o)\.(?!\w)"""
    r"""|(?:[cphsry]/[optwxs]|w/o?|n/v|d/c(?:['’]?e?d)?|f/u|h/o|and/or)(?!\w)"""
    r"""|\d+(?:[.,/:]\d+)*(?:st|nd|rd|th|s)?(?!\w)"""
    r"""|\w+(?:['’](?:\w+))*|[^\w\s]""",
    re.VERBOSE | re.IGNORECASE,
)
_ENDS = frozenset({".", "!", "?"})
_LISTED = re.compile(r"\n(?=\s*(?:\n|[-*•\d]|[A-Z]))")


@dataclass(frozen=True, slots=True)
class Word:
    """One word or mark with what spaCy says of it."""

    start: int
    end: int
    text: str
    lower: str
    tag: str  # Penn Treebank: "NN", "VBZ", …
    dep: str  # spaCy's dependency label: "nsubj", …


@dataclass(frozen=True, slots=True)
class Sentence:
    """Words `first` to `last` (not included); characters `start` to `end`."""

    first: int
    last: int
    start: int
    end: int


@dataclass(frozen=True, slots=True)
class Page:
    """One text, cut."""

    text: str
    lower: str  # as long as `text`, whatever Unicode says of lower case
    doc: Doc
    words: tuple[Word, ...]
    sentences: tuple[Sentence, ...]
    _starts: tuple[int, ...] = field(repr=False)
    _sentence_starts: tuple[int, ...] = field(repr=False)

    def word_at(self, character: int) -> int:
        """The index of the first word that begins at or after a character."""
        return bisect_left(self._starts, character)

    def sentence_at(self, character: int) -> Sentence:
        """The sentence that a character stands in."""
        return self.sentences[max(bisect_right(self._sentence_starts, character) - 1, 0)]

    def between(self, start: int, end: int) -> tuple[Word, ...]:
        """The words that begin at or after `start` and before `end` (characters)."""
        return self.words[self.word_at(start) : self.word_at(end)]


def cut(doc: Doc) -> Page:
    """Cut a parsed text.

    Sentences are cut at marks and line breaks, not by spaCy's parser, which finds sentence ends
    inside telegraphic notes and misses those between them.
    """
    text = doc.text
    # `str.lower` may change the length ("İ"), and offsets must hold.
    lower = "".join(low if len(low := letter.lower()) == 1 else letter for letter in text)
    words = _words(doc, text, lower)
    sentences = _sentences(text, words)
    return Page(
        text,
        lower,
        doc,
        words,
        sentences,
        tuple(word.start for word in words),
        tuple(sentence.start for sentence in sentences),
    )


def _words(doc: Doc, text: str, lower: str) -> tuple[Word, ...]:
    tokens = [(token.idx, token.tag_, token.dep_) for token in doc]
    words: list[Word] = []
    place = 0
    for found in _WORD.finditer(text):
        start, end = found.span()
        while place + 1 < len(tokens) and tokens[place + 1][0] <= start:
            place += 1
        _, tag, dep = tokens[place]
        low = lower[start:end]
        words.append(Word(start, end, found.group(), low, tag, dep))
    return tuple(words)


def _sentences(text: str, words: tuple[Word, ...]) -> tuple[Sentence, ...]:
    breaks = {found.start() for found in _LISTED.finditer(text)}
    sentences: list[Sentence] = []
    first = 0
    for index, word in enumerate(words):
        last = index + 1 == len(words)
        stop = word.text in _ENDS and (last or words[index + 1].text not in _ENDS)
        until = len(text) if last else words[index + 1].start
        line = any(end in breaks for end in range(word.end, until)) if breaks else False
        if stop or line or last:
            sentences.append(Sentence(first, index + 1, words[first].start, word.end))
            first = index + 1
    return tuple(sentences)
