"""Whether two questions ask the same way round: no negation gained or lost, no pole changed.

A question is read as a list of concepts, each with a sign. The sign turns with every negator whose
scope covers the word ("not", "without", "fails to", "too … to", "less"), with a negative prefix
("unable"), and with the pole of a pair of opposites (`wording/opposites.toml`). Two questions that
share a concept and give it opposite signs ask opposite things. Questions that share no concept
cannot be told apart by rule, and nothing is said of them. English only.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cache, lru_cache

from askew.build.attack_words import STOP_WORDS, Token, fold, lemmas, stem, tokens
from askew.build.synonyms import is_word
from askew.build.wording import table, word_list

# Negate what stands to their right, up to the end of the clause.
_NEGATORS = frozenset(word_list("negators"))
_BEFORE_AGAINST = frozenset(word_list("before_against"))
# Negate what follows the next "to": "too lazy to work", "hard to reach".
_BEFORE_TO = frozenset(word_list("before_to"))
# Negate the whole clause, wherever they stand: "knew nothing about it".
_CLAUSE_NEGATORS = frozenset(word_list("clause_negators"))
# Verbs and nouns that negate what follows, by their stem: "fails to", "a lack of".
_NEGATOR_STEMS = frozenset(map(stem, word_list("negating_verbs")))
# The negations that a changed question must hold in the same number, where only a word or a
# character may change.
_STRONG = frozenset(word_list("strong_negations"))
_LESSER, _GREATER = frozenset({"less", "least", "fewer"}), frozenset({"more", "most"})

_CLAUSE_END = re.compile(
    r"[,;:.?!()\"“”]|\s[-–—]\s|\b(?:but|because|although|though|while|when|after|before|despite"
    r"|rather than|instead of)\b",
    re.IGNORECASE,
)
_PAIR = "pair "  # begins the names of concepts that are pairs of opposites
_PREFIXES = ("non-", "un", "in", "im", "il", "ir", "dis", "non", "anti")
# Words that only look like a prefix and a word.
_WHOLE = frozenset(map(stem, word_list("no_prefix")))
# Too general for a sign of theirs to mean anything.
_GENERAL = frozenset(map(stem, word_list("general")))


@dataclass(frozen=True, slots=True)
class Concept:
    """A word of a question, as what it says and which way round."""

    name: str
    own: int  # 1 or -1: of the word by itself
    sign: int  # 1 or -1: of the word where it stands
    word: str


@dataclass(frozen=True, slots=True)
class _Reading:
    """A question as concepts, and how often it negates anything at all."""

    concepts: tuple[Concept, ...]
    negations: int  # negators, and words that are negative by themselves

    def by_name(self) -> dict[str, list[Concept]]:
        by_name: dict[str, list[Concept]] = defaultdict(list)
        for concept in self.concepts:
            by_name[concept.name].append(concept)
        return by_name


def polarity_faults(original: str, changed: str, *, strict: bool = False) -> list[str]:
    """What in `changed` asks the other way round than `original`, one line each.

    Args:
        original: a question.
        changed: the same question in other words.
        strict: hold the negations to the same number as well, as is right where no more than a
            word or a character may have changed.

    >>> polarity_faults("Who was not able to pay?", "Who was unable to pay?")
    []
    >>> polarity_faults("Which of these is more accurate?", "Which of these is less accurate?")
    ["'more' became 'less'", "'accurate' is negated"]
    >>> polarity_faults("Who forgot it?", "Who remembered it?")
    ["'forgot' became 'remembered'"]
    """
    faults = _degree_faults(original, changed)
    before, after = _read(original), _read(changed)
    moved = before.negations % 2 == after.negations % 2
    for name, there in before.by_name().items():
        here = after.by_name().get(name, [])
        signs = {concept.sign for concept in there}
        # A concept that stands both ways round in one of the two proves nothing.
        if len(signs) != 1 or not here or any(concept.sign in signs for concept in here):
            continue
        # A negation that only moved: "a bad teacher" is "not a good teacher".
        if moved and there[0].own == here[0].own:
            continue
        faults.append(_worded(there[0], here[0]))
    if strict and not faults:
        one, other = _strong_negations(original), _strong_negations(changed)
        if one != other:
            faults.append(f"{one} negations became {other}")
    return list(dict.fromkeys(faults))


def concepts(text: str) -> tuple[Concept, ...]:
    """The concepts of a question, in order; a word may stand for several.

    >>> [(concept.word, concept.sign) for concept in concepts("Who lacks skill, but not wit?")]
    [('lacks', 1), ('skill', -1), ('wit', -1)]
    """
    return _read(text).concepts


@lru_cache(maxsize=4096)
def _read(text: str) -> _Reading:
    found: list[Concept] = []
    negations = 0
    for clause in _clauses(text):
        sign = -1 if sum(word.folded in _CLAUSE_NEGATORS for word in clause) % 2 else 1
        lesser = before_to = False
        for place, token in enumerate(clause):
            word = token.folded
            own_signs = _own_signs(word)
            found.extend(
                Concept(name, own, own * (-sign if lesser else sign), token.text)
                for name, own in own_signs
            )
            is_lesser = word in _LESSER and not _is_at_least(clause, place)
            turns = _negates(clause, place) or (before_to and word in ("to", "for"))
            negations += (
                is_lesser or turns or word in _CLAUSE_NEGATORS or _is_negative(word, own_signs)
            )
            sign = -sign if turns else sign
            # "less" turns the next word of meaning alone; "too" and "hard" what follows their "to".
            lesser = is_lesser or (lesser and word in STOP_WORDS)
            before_to = word in _BEFORE_TO or (before_to and not turns)
    return _Reading(tuple(found), negations)


def _own_signs(word: str) -> list[tuple[str, int]]:
    """What a word says by itself: its concepts and their signs."""
    poles = _poles()
    if word in STOP_WORDS:
        # Words of grammar count only where they are named as a pole: "better", "always".
        return list(poles.get(word, ())) if word in _POLAR_STOP_WORDS else []
    root = stem(word)
    if root in _GENERAL:
        return []
    # The word as a pole, and as itself: "competence" is no pole, but "incompetent" turns it too.
    found = [*_as_poles(word), (root, 1)]
    if root in _WHOLE:
        return found
    for prefix in _PREFIXES:
        rest = word.removeprefix(prefix).lstrip("-")
        if rest != word and len(rest) >= 4:
            return [
                *_as_poles(word),
                *((name, -own) for name, own in _as_poles(rest)),
                (stem(rest), -1),
            ]
    return found


def _is_negative(word: str, own_signs: Sequence[tuple[str, int]]) -> bool:
    """Whether a word is negative by itself: a second pole, or a prefix before a known word."""
    if any(own < 0 and name.startswith(_PAIR) for name, own in own_signs):
        return True
    rest = next((word.removeprefix(p).lstrip("-") for p in _PREFIXES if word.startswith(p)), "")
    return any(own < 0 for _, own in own_signs) and is_word(rest)


def _as_poles(word: str) -> list[tuple[str, int]]:
    return next((list(_poles()[form]) for form in _base_forms(word) if form in _poles()), [])


def _base_forms(word: str) -> Iterator[str]:
    """The word, what it may be an inflection of, and the adjective in it: "lazily", "laziness"."""
    yield word
    yield from sorted(lemmas(word), key=len, reverse=True)
    for ending, other in (("ily", "y"), ("ly", ""), ("ly", "le"), ("iness", "y"), ("ness", "")):
        if word.endswith(ending):
            yield word.removesuffix(ending) + other


_POLAR_STOP_WORDS = frozenset(word_list("polar_stop_words"))


@cache
def _poles() -> dict[str, tuple[tuple[str, int], ...]]:
    """Word -> the pairs of opposites it stands in, each with the sign of its pole."""
    found: dict[str, list[tuple[str, int]]] = defaultdict(list)
    for number, pair in enumerate(table("opposites.toml")["pairs"]):
        for pole, sign in zip(pair["poles"], (1, -1), strict=True):
            for word in pole:
                found[word].append((f"{_PAIR}{number}", sign))
    return {key: tuple(signs) for key, signs in found.items()}


def _negates(clause: Sequence[Token], place: int) -> bool:
    """Whether the word turns what stands to its right."""
    word = clause[place].folded
    following = clause[place + 1].folded if place + 1 < len(clause) else ""
    if word == "not" or word.endswith("n't"):
        return following not in ("only", "just")
    if word == "against":
        # "is against it", but not "has a chance against them".
        return place > 0 and clause[place - 1].folded in _BEFORE_AGAINST
    if word == "free":
        return following in ("of", "from")
    return word in _NEGATORS or (word not in STOP_WORDS and stem(word) in _NEGATOR_STEMS)


def _is_at_least(clause: Sequence[Token], place: int) -> bool:
    return place > 0 and clause[place - 1].folded == "at"


def _clauses(text: str) -> Iterator[Sequence[Token]]:
    """The words of each clause, as negations reach no further."""
    ends = [found.start() for found in _CLAUSE_END.finditer(text)]
    words = tokens(text)
    first = 0
    for end in [*ends, len(text)]:
        clause = [word for word in words if first <= word.start < end]
        first = end
        if clause:
            yield clause


def _worded(there: Concept, here: Concept) -> str:
    if fold(there.word) == fold(here.word):
        return f"{there.word!r} is {'negated' if there.sign > 0 else 'no longer negated'}"
    return f"{there.word!r} became {here.word!r}"


def _degree_faults(original: str, changed: str) -> list[str]:
    """'more' that became 'less', or the other way round."""
    before, after = _degrees(original), _degrees(changed)
    if len(before) == 1 and len(after) == 1 and before != after:
        return [
            f"{'more' if 1 in before else 'less'!r} became {'more' if 1 in after else 'less'!r}"
        ]
    return []


def _degrees(text: str) -> set[int]:
    words = tokens(text)
    found = set()
    for place, token in enumerate(words):
        word = token.folded
        if word in _GREATER:
            found.add(1)
        elif word in _LESSER and not _is_at_least(words, place):
            found.add(-1)
    return found


def is_negation(word: str) -> bool:
    """Whether a word in lower case negates, or says "more" or "less", by itself.

    >>> is_negation("isn't"), is_negation("forgot")
    (True, False)
    """
    return word in _STRONG or word.endswith("n't") or word in _LESSER | _GREATER


def _strong_negations(text: str) -> int:
    return sum(token.folded in _STRONG or token.folded.endswith("n't") for token in tokens(text))
