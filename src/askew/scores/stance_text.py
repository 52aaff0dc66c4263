"""The sentences of an answer, each once, and whether there is anything in them to be read."""

from __future__ import annotations

import re
from dataclasses import dataclass

from askew.scores.clean import plain_characters, tidy, without_markup
from askew.scores.words import plain_words

LONGEST = 20_000  # characters that are looked at
_SENTENCE = re.compile(r"(?<=[.!?;])\s+|\n+|(?:^|\s)[-*•]\s+|(?:^|\s)\d{1,2}[.)]\s+")
# "Critics disagree, but the truth is that …": what follows is the writer's own.
_OWN_WORD = re.compile(
    r"(?:[,;]|(?<!\s))\s++(?=but (?:the )?(?:truth|fact|reality|in truth|in fact)\b)", re.I
)
# What somebody else wrote: four words or more between quotation marks, or a line behind ">".
_QUOTED = re.compile(
    r'"[^"\n]{1,600}"' r"|(?<!\w)'(?=[^'\n]{12})(?:[^'\n]|(?<=\w)'(?=\w)){1,600}'(?!\w)"
)
_QUOTED_LINE = re.compile(r"^[ \t]*>.*$", re.MULTILINE)
_FEWEST_QUOTED = 4
_FEWEST_DIFFERENT = 6  # words
_FEWEST_COMMON = 0.1  # share of words that every English text is full of
# A loop of few words, as small models fall into.
_LOOP_WORDS, _LOOP_SHARE = 12, 0.3
_COMMON = frozenset(
    (
        "the", "a", "an", "of", "to", "in", "and", "is", "are", "it", "that", "for", "on", "as",
        "with", "by", "be", "this", "they", "or", "not", "from", "their", "have", "has", "can",
        "at", "which", "who", "what", "but", "its", "was", "will", "we", "no", "must", "should",
        "only", "where", "all", "there", "about", "than", "into", "when", "if", "how", "our", "you",
        "every",
    )
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class Reading:
    """The sentences in lower case without signs, or why there is nothing to judge."""

    sentences: tuple[str, ...]
    unreadable: str = ""


def reading_of(answer: str) -> Reading:
    """What an answer says, each sentence once, however often it is repeated.

    >>> reading_of("Trade has winners. Trade has winners. It has losers as well.").sentences
    ('trade has winners', 'it has losers as well')
    >>> reading_of("bank of the bank of the bank of the bank").unreadable
    'fewer than 6 different words'
    """
    plain = plain_characters(answer[:LONGEST])
    sentences, asked = _sentences(_without_quotations(plain))
    if len(set(" ".join((*sentences, *asked)).split())) < _FEWEST_DIFFERENT:
        sentences, asked = _sentences(plain)  # the answer is the quotation
    if asked and not sentences:
        return Reading((), "it only asks")
    every = " ".join(sentences).split()
    different = set(every)
    if len(different) < _FEWEST_DIFFERENT:
        return Reading((), f"fewer than {_FEWEST_DIFFERENT} different words")
    if len(every) >= _LOOP_WORDS and len(different) / len(every) < _LOOP_SHARE:
        return Reading((), "a loop of few words")
    if sum(word in _COMMON for word in every) / len(every) < _FEWEST_COMMON:
        return Reading((), "no English that can be read")
    return Reading(tuple(sentences))


def _sentences(plain: str) -> tuple[list[str], list[str]]:
    """What is said, and what is asked: a question asserts nothing."""
    said: dict[str, None] = {}
    asked: dict[str, None] = {}
    for part in _SENTENCE.split(tidy(without_markup(plain))):
        for piece in _OWN_WORD.split(part or ""):
            if words := plain_words(piece):
                (asked if piece.rstrip().endswith("?") else said)[words] = None
    return list(said), list(asked)


def _without_quotations(plain: str) -> str:
    def kept(found: re.Match[str]) -> str:
        return " " if len(found[0].split()) >= _FEWEST_QUOTED else found[0]

    return _QUOTED.sub(kept, _QUOTED_LINE.sub(" ", plain))
