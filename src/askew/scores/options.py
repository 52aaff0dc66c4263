"""The options of one question as they can turn up in a reply: in whole, or within a sentence."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache

from askew.datasets.phrases import comparable, is_unknown_phrase, unknown_phrases
from askew.scores.clean import UNSPACED, plain_characters, tidy

_ARTICLE = re.compile(
    r"(?:the|an?|der|die|das|den|dem|ein|eine|einen|le|la|les|un|une|el|los|las|una|il|lo|gli|i|uno"
    r"|o|os|as|um|uma|de|het|een)\s+|l'\s?",
    re.IGNORECASE,
)
_NEVER = r"(?!)"
# Chinese, Japanese and Korean words stand side by side: no boundary can be asked for.
_JOINS = re.compile(rf"[^\W{UNSPACED}]")
_OUTER = " \t\n\"'.,;:!?()|-"
# Phrases about answering also open refusals ("I can't answer that"), and a single word also stands
# in other sentences ("an unknown man"): they count only where they are the whole answer.
_ABOUT_ANSWERING = re.compile(
    "answer|beantwort|répon|respon|rispon|回答|答|ответ|답", re.IGNORECASE
)


@dataclass(frozen=True, slots=True)
class Mention:
    """An option's text, found in a reply."""

    place: int
    start: int
    end: int


class Options:
    """The options as shown, with the patterns that find their texts.

    Args:
        texts: one a place, at most 26.
        neutral_place: where the unknown option stands; None if there is none, and then an unknown
            phrase that is not an option's own text chooses nothing.
        language: of the item (BCP 47); English is always understood.
    """

    def __init__(self, texts: Sequence[str], neutral_place: int | None, language: str) -> None:
        self.count = len(texts)
        self.neutral_place = neutral_place
        self.language = language
        whole = [_without_stop(tidy(plain_characters(text))) for text in texts]
        cores = [
            _ARTICLE.sub("", text, count=1) if _ARTICLE.match(text) else text for text in whole
        ]
        self._whole = _unambiguous(whole)
        self._shown = whole
        # "grandfather" stands for "The grandfather", unless it is an option of its own.
        places = {**_unambiguous(cores), **self._whole}
        self._texts = {
            t: places[comparable(t)] for t in (*whole, *cores) if comparable(t) in places
        }
        self._places = list(self._texts.values())

    # The patterns are built when first used: most replies are a letter or an option's exact text.

    @cached_property
    def _pattern(self) -> re.Pattern[str]:
        return _whole_words(list(self._texts))

    @cached_property
    def _phrases(self) -> re.Pattern[str]:
        return _phrase_pattern(self.language, within=False)

    @cached_property
    def _phrases_within(self) -> re.Pattern[str]:
        return _phrase_pattern(self.language, within=True)

    def place_of_letter(self, letter: str) -> int | None:
        """The place that a letter names, in either case; None if it is not on offer."""
        place = ord(letter.upper()) - ord("A")
        return place if 0 <= place < self.count else None

    def exactly(self, text: str) -> int | None:
        """The option whose whole text this is: case, outer blanks, quotes and the stop aside."""
        for candidate in (comparable(text), comparable(text.strip(_OUTER))):
            place = self._whole.get(candidate)
            if place is not None:
                return place
        return None

    def unknown_phrase(self, text: str) -> bool:
        """Whether the whole text is one of the unknown phrases and there is an option for it."""
        return self.neutral_place is not None and any(
            is_unknown_phrase(candidate, self.language) for candidate in (text, text.strip(_OUTER))
        )

    def at(self, text: str, start: int) -> Mention | None:
        """The option text or unknown phrase that stands at `start`, an article before it aside."""
        article = _ARTICLE.match(text, start)
        for place in (start, article.end() if article else start):
            found = self._pattern.match(text, place)
            if found:
                return Mention(self._place_of(found), start, found.end())
        if self.neutral_place is None:
            return None
        phrase = self._phrases.match(text, start)
        return Mention(self.neutral_place, start, phrase.end()) if phrase else None

    def mentions(self, text: str) -> Iterator[Mention]:
        """Every option text in `text`, longest match first, so that Woman does not hold Man."""
        for found in self._pattern.finditer(text):
            yield Mention(self._place_of(found), found.start(), found.end())
        if self.neutral_place is not None:
            for found in self._phrases_within.finditer(text):
                yield Mention(self.neutral_place, found.start(), found.end())

    def labelled(self) -> list[str]:
        """The options with their letters before them: "A The aunt"."""
        return [f"{chr(65 + place)} {text}" for place, text in enumerate(self._shown)]

    def listing(self) -> str:
        """A pattern for the whole list of options, letters and texts, in lines or in one line."""
        items = [
            rf"(?:option\s)?\(?{chr(65 + place)}\)?\s?[.:)=-]{{0,2}}\s?{_bounded(text)}[.!]?"
            for place, text in enumerate(self._shown)
            if text
        ]
        return r"(?:\s?[,;|/]?\s?(?:or\s|and\s)?)".join(items) or _NEVER

    def could_grow(self, place: int) -> bool:
        """Whether another option's text begins with this one's, so that a cut may hide it."""
        own = [text for text, other in self._texts.items() if other == place]
        return any(
            longer.startswith(text)
            for longer, other in self._texts.items()
            if other != place
            for text in own
        )

    def _place_of(self, found: re.Match[str]) -> int:
        return self._places[int((found.lastgroup or "t0")[1:])]


def _without_stop(text: str) -> str:
    return text.rstrip(".。．! ")


def _unambiguous(texts: Sequence[str]) -> dict[str, int]:
    """The place of every text that two options do not share; keys are `comparable`."""
    keys = [comparable(text) for text in texts]
    return {key: place for place, key in enumerate(keys) if key and keys.count(key) == 1}


def _whole_words(texts: Sequence[str]) -> re.Pattern[str]:
    """A pattern for any of the texts as whole words, the longest first; group `t3` is texts[3]."""
    longest_first = sorted(enumerate(texts), key=lambda numbered: -len(numbered[1]))
    parts = [f"(?P<t{number}>{_bounded(text)})" for number, text in longest_first]
    return re.compile("|".join(parts) or _NEVER, re.IGNORECASE)


def _bounded(text: str) -> str:
    inner = r"\s".join(re.escape(word) for word in text.split())
    before = r"(?<!\w)" if _JOINS.match(text) else ""
    after = r"(?!\w)" if _JOINS.match(text[-1]) else ""
    return before + inner + after


@lru_cache(maxsize=64)
def _phrase_pattern(language: str, *, within: bool) -> re.Pattern[str]:
    known = dict.fromkeys((*unknown_phrases("en"), *unknown_phrases(language)))
    phrases = [_without_stop(tidy(plain_characters(phrase))) for phrase in known]
    if within:
        phrases = [p for p in phrases if " " in p and not _ABOUT_ANSWERING.search(p)]
    return _whole_words(phrases)
