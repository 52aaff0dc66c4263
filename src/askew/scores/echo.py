"""What in a reply is no answer: the prompt said over, invented questions, a name tag."""

from __future__ import annotations

import re
from functools import cached_property
from itertools import pairwise

from askew.scores.clean import plain_characters, tidy
from askew.scores.options import Options

_NEXT_QUESTION = re.compile(
    r"^[ ]?(?:Q|(?:Next |New )?Question|Context|Passage|Example|Exercise|Problem|Frage|Pregunta"
    r"|Domanda|Pergunta|Pytanie|Вопрос|问题|問題|質問|질문)\s?#?\d{0,3}\s?[:.)]"
    r"|(?<=\n\n)(?=[^\n]{0,400}\?[^\n]{0,3}\n(?:[^\n]{0,200}\n)?\(?A\)?\s?[.):])",
    re.IGNORECASE | re.MULTILINE,
)
_SHORTEST_ECHO = 12
_SENTENCE = re.compile(r"[^.?!]{12,400}[.?!]*")
_SPEAKER = re.compile(
    r"\A[ ]?(?:\((?P<bracketed>[^()\n]{2,24})\)[ ]?:?|(?P<plain>[A-Z][\w'-]{1,15}"
    r"(?: [A-Z][\w'-]{1,15})?)[ ]?:)[ ]?(?=\S)"
)
_LABEL = re.compile(
    r"answer|antwort|ans\b|r[ée]p|resp|risp|option|choice|correct|final|not|note|question|ответ"
    r"|because|q\b",
    re.IGNORECASE,
)
_ALL_LETTERS = re.compile(
    r"(?<!\w)\(?A\)?\s?(?:[,/|]|or)\s?\(?B\)?\s?(?:,?\s?(?:or|and)\s|[,/|])\s?\(?C\)?"
    r"(?!\w)",
    re.IGNORECASE,
)
_A_AT_LINE = re.compile(r"^\(?A\)?\s?:\s?", re.MULTILINE)
_A_BEFORE_LETTER = re.compile(r"^A\s?:\s?(?=\([A-Z]\)\s|\(?[A-Z]\)?[.)]?\s?$)", re.MULTILINE)
_HEADINGS = re.compile(
    r"(?<!\w)(?:question|options?|choices|answer|context|passage|q|a)(?!\w)",
    re.IGNORECASE,
)
_HEADINGS_BEFORE_LIST = re.compile(
    r"(?<!\w)(?:question|options?|choices|context|passage|q)\s?:", re.IGNORECASE
)


class Echo:
    """The prompt, for finding it in the reply.

    Args:
        options: as shown.
        question: context and question; "" if not known, and then only repeated options are found.
    """

    def __init__(self, options: Options, question: str) -> None:
        cleaned = tidy(plain_characters(question))
        self._options = options
        self._sentences = [found[0].strip().casefold() for found in _SENTENCE.finditer(cleaned)]

    # Built when first used: most replies are too short to hold an echo.

    @cached_property
    def _question(self) -> re.Pattern[str]:
        return re.compile("|".join(map(re.escape, self._sentences)) or r"(?!)", re.IGNORECASE)

    @cached_property
    def _list(self) -> re.Pattern[str]:
        return re.compile(self._options.listing(), re.IGNORECASE)

    def removed_from(self, text: str) -> str:
        """The text without the question, the list of options and "A, B or C"."""
        asked = _NEXT_QUESTION.search(text) is not None
        if len(text) >= _SHORTEST_ECHO:
            text = self._list.sub("\n", self._question.sub("\n", text))
        text = _ALL_LETTERS.sub(" ", text)
        # After a question "A:" stands for "Answer:"; so it does before a lone letter.
        return tidy((_A_AT_LINE if asked else _A_BEFORE_LETTER).sub("Answer: ", text))

    def is_all_of(self, heard: str) -> bool:
        """Whether nothing but headings is left of a reply when the prompt has been taken out."""
        return not _HEADINGS.sub("", heard).strip(" .:,;-|()#\n\"'?!")

    def is_cut_in_list(self, text: str) -> bool:
        """Whether a reply ends inside the list of options that it repeats.

        "A: The nep" alone is taken for an answer: so begin most replies under a tight limit.
        """
        asked = _NEXT_QUESTION.search(text) is not None
        said = _letters(_HEADINGS_BEFORE_LIST.sub(" ", self._question.sub(" ", text)))
        listed = [_letters(item) for item in self._options.labelled()]
        return "".join(listed).startswith(said) and (asked or len(said) > len(listed[0]))

    def own_parts(self, text: str) -> list[str]:
        """The part before any question, and those later parts that repeat ours.

        A base model goes on to invent the next question and answers that too.
        """
        starts = [0, *(mark.start() for mark in _NEXT_QUESTION.finditer(text)), len(text)]
        parts = [text[start:end] for start, end in pairwise(starts)]
        return [parts[0], *(part for part in parts[1:] if self._stands_in(part))]

    def _stands_in(self, part: str) -> bool:
        folded = part.casefold()
        if any(sentence in folded for sentence in self._sentences):
            return True
        return len({mention.place for mention in self._options.mentions(part)}) > 1


def _letters(text: str) -> str:
    return "".join(character for character in text.casefold() if character.isalnum())


def without_speaker(text: str, options: Options) -> str:
    """The text without "DAN:" or "(Grandpa)" before it; labels and option texts stay.

    >>> without_speaker("(DAN): A", Options(("Rosa", "Devon", "Unknown"), 2, "en"))
    'A'
    """
    speaker = _SPEAKER.match(text)
    if speaker is None or _LABEL.match(speaker["bracketed"] or speaker["plain"]):
        return text
    if next(options.mentions(speaker[0]), None) is not None:
        return text
    return text[speaker.end() :]
