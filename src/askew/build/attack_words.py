"""Questions as words: where they stand, which of them bear meaning, which are forms of one."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache

from askew.build.wording import table, word_list

QUESTION_MARKS = ("?", "？", "؟")
# Letters and digits, with apostrophes and hyphens inside: "isn't", "22-year-old".
_WORD = re.compile(r"[^\W_]+(?:['’‘ʼ\-‐‑][^\W_]+)*")
_APOSTROPHES = str.maketrans(dict.fromkeys("’‘ʼ´`", "'"))
_HYPHENS = str.maketrans(dict.fromkeys("‐‑", "-"))

# Words that carry the grammar of a question and not what it is about. Words of degree and negation
# are among them: no attack may touch "more", "less" or "not".
STOP_WORDS = frozenset(word_list("stop_words"))
GRAMMAR_ONLY = STOP_WORDS - set(word_list("light_words"))  # what a word attack may never replace

# Inflections, longest first, and what a base form may end in instead.
_INFLECTIONS = (
    ("iest", ("y",)),
    ("ies", ("y", "ie")),
    ("ied", ("y", "ie")),
    ("ier", ("y",)),
    ("ying", ("y", "ie")),
    ("est", ("", "e")),
    ("ing", ("", "e")),
    ("ed", ("", "e")),
    ("er", ("", "e")),
    ("es", ("", "e")),
    ("s", ("",)),
)
# What is taken off to bring the words of one family together: "responsible", "responsibility".
_ENDINGS = sorted(word_list("endings"), key=len, reverse=True)
_SHORTEST_STEM = 3
# Words that only look like a form of another, and their plurals.
_WHOLE = {
    form: word
    for word in word_list("whole_words")
    for form in (word, word + "s", re.sub("y$", "ies", word))
}


@dataclass(frozen=True, slots=True)
class Token:
    """A word and where it stands in its text."""

    text: str
    start: int

    @property
    def end(self) -> int:
        """The place after its last character."""
        return self.start + len(self.text)

    @property
    def folded(self) -> str:
        """In lower case, with plain apostrophes and hyphens."""
        return fold(self.text)

    @property
    def bears_meaning(self) -> bool:
        """Whether it is more than grammar."""
        return self.folded not in STOP_WORDS and not self.text.isdigit()


def is_english(language: str) -> bool:
    """Whether a language (BCP 47) is English, wherever it is spoken.

    >>> is_english("en-GB"), is_english("de")
    (True, False)
    """
    return language.replace("_", "-").partition("-")[0].casefold() == "en"


@lru_cache(maxsize=4096)
def tokens(text: str) -> tuple[Token, ...]:
    """The words of a text, in order.

    >>> [token.text for token in tokens("Who isn't lazy, the 22-year-old?")]
    ['Who', "isn't", 'lazy', 'the', '22-year-old']
    """
    return tuple(Token(found[0], found.start()) for found in _WORD.finditer(text))


def fold(text: str) -> str:
    """In lower case, composed, with plain apostrophes and hyphens."""
    if text.isascii():
        return text.lower().replace("`", "'")
    composed = unicodedata.normalize("NFC", text).casefold()
    return composed.translate(_APOSTROPHES).translate(_HYPHENS)


@lru_cache(maxsize=4096)
def folded_words(text: str) -> tuple[str, ...]:
    """The words of a text in lower case."""
    return tuple(token.folded for token in tokens(text))


def gaps(text: str, words: Sequence[Token]) -> list[str]:
    """What stands before, between and after the words: one more than there are words."""
    starts = [0, *(word.end for word in words)]
    ends = [*(word.start for word in words), len(text)]
    return [text[start:end] for start, end in zip(starts, ends, strict=True)]


@lru_cache(maxsize=8192)
def lemmas(word: str) -> frozenset[str]:
    """The word and the base forms that it may be an inflection of.

    >>> sorted(lemmas("stopped"))
    ['stop', 'stopp', 'stoppe', 'stopped']
    """
    word = fold(word)
    word = word.removesuffix("'s").removesuffix("'")
    if word in _WHOLE:
        return frozenset({word, _WHOLE[word]})
    found = {word, _IRREGULAR.get(word, word)}
    for ending, bases in _INFLECTIONS:
        if not word.endswith(ending) or word.endswith("ss"):
            continue
        stem = word[: -len(ending)]
        if len(stem) < 2:
            continue
        found.update(stem + base for base in bases)
        if len(stem) > 2 and stem[-1] == stem[-2]:
            found.add(stem[:-1])
    return frozenset(found)


def same_lemma(one: str, other: str) -> bool:
    """Whether two words may be forms of one: "drank" and "drinks", "lazy" and "lazier"."""
    return bool(lemmas(one) & lemmas(other))


@lru_cache(maxsize=8192)
def stem(word: str) -> str:
    """What the words of one family share, roughly.

    >>> stem("responsibility") == stem("responsibly"), stem("accuracy") == stem("accurate")
    (True, True)
    """
    word = fold(word).removesuffix("'s")
    if word in _WHOLE:
        return _WHOLE[word]
    word = _IRREGULAR.get(word, word)
    shorter = True
    while shorter:
        shorter = False
        for ending in _ENDINGS:
            shortest = _SHORTEST_STEM + (ending in ("e", "y"))
            if word.endswith(ending) and len(word) - len(ending) >= shortest:
                if ending == "s" and word.endswith("ss"):
                    continue
                word = word[: -len(ending)]
                shorter = True
                break
    if len(word) > _SHORTEST_STEM and word[-1] == word[-2]:
        word = word[:-1]
    return word


_IRREGULAR = {
    form: base
    for base, forms in table("grammar.toml")["irregular"].items()
    for form in forms.split()
}
