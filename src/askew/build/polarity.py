"""Whether two questions ask the same way round: no negation gained or lost, no pole changed.

A question is read as a list of concepts, each with a sign. The sign turns with every negator whose
scope covers the word ("not", "without", "fails to", "too … to", "less"), with a negative prefix
("unable"), and with the pole of a pair of opposites (`wording/opposites.toml`). Two questions that
share a concept and give it opposite signs ask opposite things. Where one word stands in the place
of another, looser contrasts count as well: a word of praise for a word of blame. Questions that
share no concept cannot be told apart by rule, and nothing is said of them. English only.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher
from functools import cache, lru_cache
from itertools import pairwise

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
# How the names of concepts that are poles begin; the tables of the file, without their "s".
_PAIR, _CONTRAST = "pair", "contrast"
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
        strict: hold the negations to the same number as well, and words that were replaced to
            the same side of looser contrasts, as is right where no more than a word or a character
            may have changed.

    >>> polarity_faults("Who was not able to pay?", "Who was unable to pay?")
    []
    >>> polarity_faults("Which of these is more accurate?", "Which of these is less accurate?")
    ["'more' became 'less'", "'accurate' is negated"]
    >>> polarity_faults("Who forgot it?", "Who remembered it?")
    ["'forgot' became 'remembered'"]
    >>> polarity_faults("Who was abused?", "Who was supported?", strict=True)
    ["'abused' became 'supported'"]
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
        faults.extend(_contrasted(original, changed))
    if strict and not faults:
        one, other = _strong_negations(original), _strong_negations(changed)
        if one != other:
            faults.append(f"{one} negations became {other}")
    return list(dict.fromkeys(faults))


@lru_cache(maxsize=4096)
def same_pole(word: str) -> frozenset[str]:
    """The words that stand beside a word, in lower case, at the same poles of opposites.

    >>> sorted(same_pole("rarer")), "prudent" in same_pole("carefully")
    ([], True)
    """
    if word in STOP_WORDS and word not in _POLAR_STOP_WORDS:
        return frozenset()
    mine = set(_sides(word, _PAIR))
    return frozenset(other for other, signs in _poles(_PAIR).items() if not mine.isdisjoint(signs))


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
            if (compound := _compound(clause, place)) is not None:
                own_signs += _poles(_PAIR).get(compound, ())
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
    if word in STOP_WORDS:
        # Words of grammar count only where they are named as a pole: "better", "worse".
        return list(_poles(_PAIR).get(word, ())) if word in _POLAR_STOP_WORDS else []
    root = stem(word)
    if root in _GENERAL:
        return []
    # The word as a pole, and as itself: "competence" is no pole, but "incompetent" turns it too.
    rest = _without_prefix(word)
    return [*_sides(word, _PAIR), (root, 1) if rest is None else (stem(rest), -1)]


def _sides(word: str, kind: str) -> list[tuple[str, int]]:
    """The pairs or contrasts that a word stands in, each with its sign; a prefix turns it."""
    rest = _without_prefix(word)
    turned = () if rest is None else ((name, -own) for name, own in _as_poles(rest, kind))
    return [*_as_poles(word, kind), *turned]


def _without_prefix(word: str) -> str | None:
    """What a negative prefix stands before; None where there is none."""
    if stem(word) in _WHOLE:
        return None
    for prefix in _PREFIXES:
        rest = word.removeprefix(prefix).lstrip("-")
        if rest != word and len(rest) >= 4:
            return rest
    return None


def _is_negative(word: str, own_signs: Sequence[tuple[str, int]]) -> bool:
    """Whether a word is negative by itself: a second pole, or a prefix before a known word."""
    if any(own < 0 and name.startswith(_PAIR) for name, own in own_signs):
        return True
    rest = next((word.removeprefix(p).lstrip("-") for p in _PREFIXES if word.startswith(p)), "")
    return any(own < 0 for _, own in own_signs) and is_word(rest)


def _as_poles(word: str, kind: str) -> tuple[tuple[str, int], ...]:
    poles = _poles(kind)
    return next((poles[form] for form in _base_forms(word) if form in poles), ())


def _base_forms(word: str) -> Iterator[str]:
    """The word, what it may be an inflection of, and the adjective in it: "lazily", "laziness"."""
    yield word
    yield from sorted(lemmas(word), key=len, reverse=True)
    for ending, other in (("ily", "y"), ("ly", ""), ("ly", "le"), ("iness", "y"), ("ness", "")):
        if word.endswith(ending):
            yield word.removesuffix(ending) + other


_POLAR_STOP_WORDS = frozenset(word_list("polar_stop_words"))


@cache
def _poles(kind: str) -> dict[str, tuple[tuple[str, int], ...]]:
    """Word -> the pairs of opposites, or contrasts, it stands in, with the sign of its pole."""
    found: dict[str, list[tuple[str, int]]] = defaultdict(list)
    for number, pair in enumerate(table("opposites.toml")[f"{kind}s"]):
        for pole, sign in zip(pair["poles"], (1, -1), strict=True):
            for word in pole:
                found[word].append((f"{kind} {number}", sign))
    return {key: tuple(signs) for key, signs in found.items()}


def _contrasted(original: str, changed: str) -> Iterator[str]:
    """Where a word of one side of a contrast stands in the place of one of the other."""
    for there, here in _stand_ins(tokens(original), tokens(changed)):
        if any(is_negation(word.folded) for word in (*there, *here)):
            continue  # "not kind" for "cruel" is told by the number of negations
        for name, sign in _sides_of(there).items():
            if _sides_of(here).get(name) == -sign:
                yield f"{_joined(there)!r} became {_joined(here)!r}"


def _stand_ins(
    old: Sequence[Token], new: Sequence[Token]
) -> Iterator[tuple[Sequence[Token], Sequence[Token]]]:
    """What stands in the place of what, as long as it is a word for a word, or for a few."""
    matcher = SequenceMatcher(None, [w.folded for w in old], [w.folded for w in new], False)
    for tag, start, end, new_start, new_end in matcher.get_opcodes():
        there, here = old[start:end], new[new_start:new_end]
        if tag == "replace" and min(len(there), len(here)) == 1:
            yield there, here
        elif tag == "replace" and len(there) == len(here) == 2:
            yield from zip(([word] for word in there), ([word] for word in here), strict=True)


def _sides_of(words: Sequence[Token]) -> dict[str, int]:
    """The contrasts that some words stand in, but for those they stand in on both sides."""
    found: dict[str, set[int]] = defaultdict(set)
    said = [word.folded for word in words]
    for word in (*said, *map("-".join, pairwise(said))):
        for name, sign in _sides(word, _CONTRAST):
            found[name].add(sign)
    return {name: signs.pop() for name, signs in found.items() if len(signs) == 1}


def _joined(words: Sequence[Token]) -> str:
    return " ".join(word.text for word in words)


def _compound(clause: Sequence[Token], place: int) -> str | None:
    """The word with the next one as one pole: "open minded", "hard working"."""
    joined = "-".join(word.folded for word in clause[place : place + 2])
    return joined if joined in _poles(_PAIR) and joined != clause[place].folded else None


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
