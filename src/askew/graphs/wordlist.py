"""Small helpers over words: lists written as one text, the last of several matches."""

from __future__ import annotations

import re


def word_set(text: str) -> frozenset[str]:
    """The words of a text, which spaces separate.

    >>> sorted(word_set("he she"))
    ['he', 'she']
    """
    return frozenset(text.split())


def last_of(pattern: re.Pattern[str], text: str) -> re.Match[str] | None:
    """The last match of a pattern; None where it matches nowhere.

    >>> last_of(re.compile("[aeiou]"), "fever")
    <re.Match object; span=(3, 4), match='e'>
    """
    found = None
    for match in pattern.finditer(text):
        found = match
    return found
