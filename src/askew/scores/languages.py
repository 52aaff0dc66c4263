"""Whether a text is in another language than English: by script, else by its small words."""

from __future__ import annotations

import re
import unicodedata

_WORD = re.compile(r"[^\W\d_]+")
_SMALL_ENGLISH_WORDS = """
the of and is to in with for this that are was has have be may could should patient as on or it
not by from an at which most likely can
"""
_ENGLISH = frozenset(_SMALL_ENGLISH_WORDS.split())
_SMALL_WORDS_OF_OTHERS = """
der die das und ist nicht ein eine mit von für auf sind wird werden durch bei oder kann el los las
que una con para por del es son más puede como y se en le les des est une avec pour dans qui sur
par du au aux peut être il lo gli che di della del non per sono può nel uma não com dos das os do
da em ou het een van niet en zijn voor och att som är med på den det
"""
_OTHER = frozenset(_SMALL_WORDS_OF_OTHERS.split())
_FEWEST = 6
_SHARE = 0.3


def is_foreign(text: str) -> bool:
    """Whether most of a text is in another language; a text of few words is in none.

    >>> is_foreign("Die wahrscheinlichste Ursache ist eine Malaria, da der Patient Fieber hat.")
    True
    >>> is_foreign("患者可能患有疟疾,应立即就医并进行血液检查。"), is_foreign("Malaria")
    (True, False)
    """
    text = text[:5000]
    letters = [character for character in text if character.isalpha()]
    if not letters:
        return False
    latin = sum("LATIN" in unicodedata.name(letter, "") for letter in letters)
    if latin < (1 - _SHARE) * len(letters):
        return True
    words = [word.casefold() for word in _WORD.findall(text)]
    english = sum(word in _ENGLISH for word in words)
    other = sum(word in _OTHER for word in words)
    return len(words) >= _FEWEST and other >= 3 and other > 2 * english
