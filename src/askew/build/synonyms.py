"""Near synonyms in the form that the question needs: "burgled" for "robbed".

The list is askew's own (`wording/synonyms.toml`) and holds base forms; what it offers for a word
is inflected as the word is. A word that may be another part of speech is taken only where the
words beside it tell which it is. English only.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from itertools import pairwise
from typing import Any

from askew.build.attack_words import STOP_WORDS, Token, lemmas, same_lemma, tokens
from askew.build.wording import table, word_list

_VOWELS = "aeiou"
# After these stands a verb, or at least no noun.
_BEFORE_A_VERB = frozenset(word_list("before_a_verb"))
# After these stands no verb.
_BEFORE_A_NOUN = frozenset(word_list("before_a_noun"))
_BE = frozenset(word_list("forms_of_be"))
# Before an adjective or a noun, "a" or "an" has to follow what comes next.
_AN_BEFORE = frozenset("aeiou")
_SINGULAR_IN_S = ("ss", "us", "is", "as")  # "boss", "bus", "crisis", "gas"; "goods" is a plural
_SOUNDS_LIKE_A_CONSONANT = ("uni", "use", "eu", "one")
_SOUNDS_LIKE_A_VOWEL = ("hour", "honest", "heir", "honour")


@dataclass(frozen=True, slots=True)
class Replacement:
    """One word of a question and what may stand in its place."""

    start: int
    end: int
    text: str


def replacements(question: str) -> list[Replacement]:
    """Every single replacement that the list offers for a question, from left to right.

    >>> [found.text for found in replacements("Who had robbed the teacher?")]
    ['burgled', 'instructor', 'educator']
    """
    words = tokens(question)
    taken: set[int] = set()
    found: list[Replacement] = []
    for place in range(len(words)):
        for length, offers in _phrases_at(words, place):
            covered = set(range(place, place + length))
            if covered & taken:
                continue
            taken |= covered
            for offer in offers:
                found.extend(_of_phrase(words[place : place + length], offer))
    for place, word in enumerate(words):
        if place not in taken and word.bears_meaning and word.text == word.text.lower():
            offers = _offers(words, place)
            found.extend(Replacement(word.start, word.end, offer) for offer in offers)
    return sorted(found, key=lambda one: one.start)


def replaced(question: str, chosen: Sequence[Replacement]) -> str:
    """The question with these replacements, which must not overlap; "a" and "an" follow suit.

    >>> replaced("Who is a lazy boss?", [Replacement(9, 13, "idle")])
    'Who is an idle boss?'
    """
    for one in sorted(chosen, key=lambda one: one.start, reverse=True):
        question = question[: one.start] + one.text + question[one.end :]
        question = _with_article(question, one.start)
    return question


def near_words(question: str) -> frozenset[str]:
    """Every word that the list offers in the place of one of the question's.

    >>> sorted(near_words("Who had robbed the teacher?"))
    ['burgled', 'educator', 'instructor']
    """
    return frozenset(one.text for one in replacements(question))


def is_word(word: str) -> bool:
    """Whether a word in lower case is in one of askew's lists, in any form; no dictionary is read.

    >>> is_word("families"), is_word("familles")
    (True, False)
    """
    return any(form in _known_words() or form in STOP_WORDS for form in lemmas(word))


@cache
def _known_words() -> frozenset[str]:
    """Every word of the synonyms, as they stand and as they are offered, and of the opposites."""
    lists = _lists()
    found = {
        word for parts in lists.offers.values() for offers in parts.values() for word in offers
    }
    found |= set(lists.offers)
    for phrase, offers in table("synonyms.toml")["phrases"].items():
        for one in (phrase, *offers):
            found.update(one.split())
    opposites = table("opposites.toml")
    for pair in (*opposites["pairs"], *opposites["contrasts"]):
        for pole in pair["poles"]:
            found.update(pole)
    return frozenset(found)


_Phrase = tuple[tuple[str, ...], tuple[str, ...]]  # its words, and what is offered for them


@dataclass(frozen=True, slots=True)
class _Lists:
    """The file, read for looking up."""

    # Surface -> part of speech -> offers in the same form.
    offers: Mapping[str, Mapping[str, tuple[str, ...]]]
    # First word -> phrases with their offers, the longest first; one without is left as it is.
    phrases: Mapping[str, Sequence[_Phrase]]
    unsure: frozenset[str]


@cache
def _lists() -> _Lists:
    data = table("synonyms.toml")
    offers: dict[str, dict[str, list[str]]] = defaultdict(lambda: defaultdict(list))
    for part, forms_of in (
        ("verbs", _verb_forms),
        ("nouns", _noun_forms),
        ("adjectives", _as_it_stands),
        ("adverbs", _as_it_stands),
    ):
        for base, others in data[part].items():
            ours = forms_of(base, data)
            for surface in set(ours.values()):
                # Which forms this surface may be: "robbed" is past and participle.
                wanted = [form for form, text in ours.items() if text == surface]
                for other in others:
                    theirs = {forms_of(other, data)[form] for form in wanted}
                    if len(theirs) == 1 and not same_lemma(surface, next(iter(theirs))):
                        offers[surface][part].extend(theirs)
    unsure: set[str] = set()
    for word in data["unsure"]["words"]:
        unsure.update((word, _with_s(word)))
    unsure.update(surface for surface, parts in offers.items() if len(parts) > 1)
    return _Lists(
        offers={
            surface: {part: tuple(dict.fromkeys(words)) for part, words in parts.items()}
            for surface, parts in offers.items()
        },
        phrases=_by_first_word(data["phrases"]),
        unsure=frozenset(unsure),
    )


def _offers(words: Sequence[Token], place: int) -> tuple[str, ...]:
    lists = _lists()
    word = words[place].text
    before = words[place - 1].folded if place else ""
    parts = lists.offers.get(word, {})
    if word not in lists.unsure:
        # "Who volunteers?": whatever follows "who" is no noun.
        found = next(iter(parts.items()), ("", ()))
        return () if before == "who" and found[0] == "nouns" else found[1]
    if before in _BEFORE_A_VERB or (before in _BE and word.endswith("ing")):
        return parts.get("verbs", ())
    if before in _BEFORE_A_NOUN:
        return parts.get("nouns", ())
    return ()


def _phrases_at(words: Sequence[Token], place: int) -> Iterator[tuple[int, tuple[str, ...]]]:
    for key, offers in _lists().phrases.get(words[place].text, ()):
        if tuple(word.text for word in words[place : place + len(key)]) == key:
            yield len(key), offers


def _by_first_word(phrases: Mapping[str, Sequence[str]]) -> dict[str, list[_Phrase]]:
    found: dict[str, list[_Phrase]] = defaultdict(list)
    for words, offers in sorted(
        ((tuple(phrase.split()), tuple(offers)) for phrase, offers in phrases.items()),
        key=lambda phrase: -len(phrase[0]),
    ):
        found[words[0]].append((words, offers))
    return found


def _of_phrase(words: Sequence[Token], offer: str) -> Iterator[Replacement]:
    """The one word in which the offered phrase differs; phrases differ in one only."""
    for word, other in zip(words, offer.split(), strict=True):
        if word.text != other:
            yield Replacement(word.start, word.end, other)


def _with_article(question: str, start: int) -> str:
    """The question with the article before the word at `start` put right."""
    words = tokens(question)
    for before, after in pairwise(words):
        if after.start == start and before.text in ("a", "an", "A", "An"):
            right = before.text[0] + ("n" if _takes_an(after.folded) else "")
            return question[: before.start] + right + question[before.end :]
    return question


def _takes_an(word: str) -> bool:
    if word.startswith(_SOUNDS_LIKE_A_VOWEL):
        return True
    return word[0] in _AN_BEFORE and not word.startswith(_SOUNDS_LIKE_A_CONSONANT)


def _as_it_stands(word: str, data: Mapping[str, Any]) -> dict[str, str]:
    return {"base": word}


def _noun_forms(noun: str, data: Mapping[str, Any]) -> dict[str, str]:
    if noun.endswith("s") and not noun.endswith(_SINGULAR_IN_S):
        return {"singular": noun, "plural": noun}
    return {"singular": noun, "plural": data["plurals"].get(noun) or _with_s(noun)}


def _verb_forms(verb: str, data: Mapping[str, Any]) -> dict[str, str]:
    regular = _with_ending(verb, "ed", data)
    past, participle = data["irregular"].get(verb, (regular, regular))
    return {
        "base": verb,
        "third": _with_s(verb),
        "past": past,
        "participle": participle,
        "ing": _with_ending(verb, "ing", data),
    }


def _with_s(word: str) -> str:
    """The plural of a noun or the third person of a verb.

    >>> [_with_s(word) for word in ("party", "wish", "boss", "play")]
    ['parties', 'wishes', 'bosses', 'plays']
    """
    if word.endswith("y") and word[-2:-1] not in _VOWELS:
        return word[:-1] + "ies"
    return word + ("es" if word.endswith(("s", "x", "z", "ch", "sh")) else "s")


def _with_ending(verb: str, ending: str, data: Mapping[str, Any]) -> str:
    if verb in data["doubling"]["verbs"]:
        return verb + verb[-1] + ending
    if verb.endswith("ie"):
        return verb[:-2] + "ying" if ending == "ing" else verb + "d"
    if verb.endswith("e") and not (ending == "ing" and verb.endswith(("ee", "oe"))):
        return verb[:-1] + ending
    if ending == "ed" and verb.endswith("y") and verb[-2:-1] not in _VOWELS:
        return verb[:-1] + "ied"
    return verb + ending
