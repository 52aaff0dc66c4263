"""One slip of the finger: a neighbouring key hit for, beside or instead of a letter.

The slip is inside a word that bears meaning and never at its first letter, which readers lean on
most. Slips that happen to spell another word come last, as that would be another question.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence

import numpy as np

from askew.build.attack_words import Token, lemmas, tokens
from askew.build.synonyms import is_word

# A letter and the keys around it on an American keyboard.
_NEIGHBOURS = {
    "q": "wa", "w": "qeas", "e": "wrsd", "r": "etdf", "t": "ryfg", "y": "tugh", "u": "yihj",
    "i": "uojk", "o": "ipkl", "p": "ol", "a": "qwsz", "s": "awedxz", "d": "serfcx", "f": "drtgvc",
    "g": "ftyhbv", "h": "gyujnb", "j": "huikmn", "k": "jiolm", "l": "kop", "z": "asx", "x": "zsdc",
    "c": "xdfv", "v": "cfgb", "b": "vghn", "n": "bhjm", "m": "njk",
}  # fmt: skip
_SHORTEST = 3  # letters of a word that may be slipped in


def typos(question: str, rng: np.random.Generator, avoid: Collection[str] = ()) -> Iterator[str]:
    """The question with one slip, every way once, in random order.

    Inserts, deletions and changes take turns. Slips that spell a known word come at the end.

    Args:
        question: in any language; keys are an English keyboard's, other letters are doubled or
            left out.
        rng: decides the order.
        avoid: more words in lower case that no slip should spell.

    >>> next(typos("Who is lazy?", np.random.default_rng(0)))
    'Who is laay?'
    """
    words = [token for token in tokens(question) if _may_slip(token)]
    slips = [list(_shuffled(list(make(words)), rng)) for make in (_inserts, _deletes, _changes)]
    order = [int(place) for place in rng.permutation(len(slips))]
    late: list[str] = []
    for turn in range(max(map(len, slips))):
        for place in order:
            if turn >= len(slips[place]):
                continue
            token, word = slips[place][turn]
            changed = question[: token.start] + word + question[token.end :]
            if _is_known(word, avoid):
                late.append(changed)
            else:
                yield changed
    yield from late


def _may_slip(token: Token) -> bool:
    return token.bears_meaning and sum(map(str.isalpha, token.text)) >= _SHORTEST


def _is_known(word: str, avoid: Collection[str]) -> bool:
    return is_word(word.lower()) or not lemmas(word).isdisjoint(avoid)


def _places(token: Token) -> Iterator[int]:
    """The letters of a word after its first."""
    return (place for place in range(1, len(token.text)) if token.text[place].isalpha())


def _inserts(words: Sequence[Token]) -> Iterator[tuple[Token, str]]:
    for token in words:
        for place in _places(token):
            letter = token.text[place]
            for key in (letter, *_keys_around(letter)):
                yield token, token.text[:place] + key + token.text[place:]


def _deletes(words: Sequence[Token]) -> Iterator[tuple[Token, str]]:
    for token in words:
        for place in _places(token):
            yield token, token.text[:place] + token.text[place + 1 :]


def _changes(words: Sequence[Token]) -> Iterator[tuple[Token, str]]:
    for token in words:
        for place in _places(token):
            for key in _keys_around(token.text[place]):
                yield token, token.text[:place] + key + token.text[place + 1 :]


def _keys_around(letter: str) -> str:
    keys = _NEIGHBOURS.get(letter.lower(), "")
    return keys.upper() if letter.isupper() else keys


def _shuffled(
    slips: list[tuple[Token, str]], rng: np.random.Generator
) -> Iterator[tuple[Token, str]]:
    # "llazy" comes from two places; each spelling once.
    distinct = list(dict.fromkeys(slips))
    return (distinct[int(place)] for place in rng.permutation(len(distinct)))
