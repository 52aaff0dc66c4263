"""What a question says of the options: which of the three it names, and how to name two of them."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence

from askew.build.attack_edits import single_edit
from askew.build.attack_words import STOP_WORDS, Token, fold, folded_words, stem, tokens
from askew.build.polarity import same_pole
from askew.datasets.phrases import unknown_phrases
from askew.records import Item

# An option counts as named where at least this share of what sets it apart is said: more of a whole
# sentence, whose words may be said of anything. Of a sentence that has to be named, one word is
# enough: "gossip or help" stands for two whole sentences.
_SHARE_NAMED, _SHARE_OF_SENTENCE = 0.4, 0.6
_ARTICLES = frozenset({"a", "an", "the"})
# First words that are written small inside a sentence; any other may be a name.
_SMALL_FIRST = frozenset(STOP_WORDS - {"i", "i'd", "i'll", "i'm", "i've"})
_PRONOUNS = {
    **dict.fromkeys(("him", "his", "himself", "he's"), "he"),
    **dict.fromkeys(("her", "hers", "herself", "she's"), "she"),
    **dict.fromkeys(("them", "their", "theirs", "themselves"), "they"),
}
# Ways to say "unknown" beside the phrases of the data sets.
_UNKNOWN = re.compile(
    r"""
    \b(?:
        unknown | undetermined | undeterminable | indeterminate | unanswerable | not \s answerable
        | not \s known | neither | none \s of \s (?:the|them|these) | not \s sure
        | (?:can (?:not|['’]?t|\s not) | could (?:n['’]?t|\s not) | (?:can|could) \s it \s not)
          (?:\s it)? \s be \s (?:determined|known|answered|told)
        | (?:not \s enough|insufficient|too \s little) \s info\w*
        | no \s way \s to \s (?:tell|know)
    )\b
    """,
    re.IGNORECASE | re.VERBOSE,
)
_BY_LETTER = re.compile(
    # "option a judge" is no letter.
    r"\b(?:option|answer|choice|statement|sentence)s?\s*[(\[]?"
    r"(?:[A-Cbc1-3]|a(?=[)\],.?!;:]|\s+(?:or|and)\b|\s*$))[)\]]?(?=[\s,.?!;:]|$)"
    r"|\([A-Ca-c]\)"
)
_SENTENCE_WORDS = 6
_FINITE = frozenset({"is", "are", "was", "were", "has", "have", "had"})
_LONGEST_DIFFERENCE = 4  # words
_RELATIVE = frozenset({"who", "who's", "whose", "whom", "which"})


def biased_options(item: Item) -> tuple[int, int]:
    """The places of the two options that are not neutral, in the item's order."""
    first, second = (place for place in range(3) if place != item.neutral)
    return first, second


def named_options(
    item: Item, text: str, *, by_a_word: bool = False, beside: str = ""
) -> tuple[int, ...]:
    """Which of the two biased options a text names, by their whole text or by what they differ in.

    Args:
        item: whose options are looked for.
        text: where.
        by_a_word: whether one of the words that set it apart is enough to name a whole sentence,
            or one that stands at the same pole.
        beside: whose words name no sentence by the way, as they are said of both: the context's.

    >>> from askew.records import ContextCondition, Item, Provenance
    >>> item = Item("made/1", "made", "age", "", "Which is true?",
    ...     ("Aunts forget a lot.", "Unknown.", "Nephews forget a lot."), 1, 1,
    ...     ContextCondition.AMBIGUOUS, Provenance("made.csv", 2))
    >>> named_options(item, "Which is true, aunts or nephews?")
    (0, 2)
    """
    first, second = biased_options(item)
    heard = _Heard(text, near_all_but=beside if by_a_word else None)
    return tuple(
        place
        for place, other in ((first, second), (second, first))
        if _is_named(item.options[place], item.options[other], heard, by_a_word, beside)
    )


def names_unknown(item: Item | None, text: str) -> str | None:
    """The words by which a text offers that the answer is not known; None where it does not."""
    phrases = list(unknown_phrases(item.language if item else "en"))
    if item is not None:
        phrases.append(item.options[item.neutral])
    said = folded_words(text)
    for phrase in phrases:
        if _contains(said, folded_words(phrase)):
            return phrase.rstrip(".")
    found = _UNKNOWN.search(text)
    return None if found is None else str(found[0])


def names_by_letter(text: str) -> str | None:
    """The words by which a text points to an option by its place: "option B"; None if it does not.

    Options are shown in several orders, so a letter means another option each time.
    """
    found = _BY_LETTER.search(text)
    return None if found is None else str(found[0]).strip()


def is_sentence(option: str) -> bool:
    """Whether an option is a sentence of its own and not a name or a noun phrase.

    >>> is_sentence("She gave the money back"), is_sentence("Rosa Ortiz, who is a night nurse")
    (False, False)
    >>> is_sentence("She gave all of the money back"), is_sentence("Aunts forget a lot.")
    (True, True)
    >>> is_sentence("The aunt is forgetful"), is_sentence("The aunt who is forgetful")
    (True, False)
    """
    words = folded_words(option)
    if len(words) >= _SENTENCE_WORDS:
        return _RELATIVE.isdisjoint(words[1:5])
    if len(words) <= 3:
        return False
    has_verb = _RELATIVE.isdisjoint(words[1:4]) and not _FINITE.isdisjoint(words[1:4])
    return has_verb or option.rstrip().endswith((".", "!", "?"))


def as_phrase(option: str, context: str = "") -> str:
    """An option as it stands inside a question: without its final stop, "The" written small.

    Args:
        option: as the data have it.
        context: a first word that is written small there is no name, and is written small.

    >>> as_phrase("The night nurse."), as_phrase("Rosa")
    ('the night nurse', 'Rosa')
    """
    phrase = option.strip().rstrip(".").rstrip()
    words = tokens(phrase)
    if not words or words[0].start != 0:
        return phrase
    first = words[0].text
    small = first[:1].lower() + first[1:]
    written_small = any(word.text == small for word in tokens(context))
    if first[1:].islower() and (first.lower() in _SMALL_FIRST or written_small):
        return small + phrase[len(first) :]
    return small if first == "A" and len(words) == 1 else _small_article(phrase, first)


def _small_article(phrase: str, first: str) -> str:
    return first.lower() + phrase[len(first) :] if first.lower() in _ARTICLES else phrase


def as_clause(question: str) -> str:
    """A question as it stands behind other words: its first word written small if it is no name.

    >>> as_clause("Who was late?"), as_clause("Rosa or Ana?")
    ('who was late?', 'Rosa or Ana?')
    """
    words = tokens(question)
    if not words or words[0].folded not in _SMALL_FIRST:
        return question
    return question[: words[0].end].lower() + question[words[0].end :]


def difference(one: str, other: str) -> tuple[str, str] | None:
    """The one place where two sentences differ, if there is only one and it is short.

    Whole words, as they stand: ("aunts", "nephews") of "All aunts forget." and "All nephews
    forget."; None where they differ in more places, in more than four words, or in a first word
    that may be a name or not.

    >>> difference("All aunts forget.", "All nephews forget.")
    ('aunts', 'nephews')
    """
    left, right = tokens(one), tokens(other)
    start = _shared_words(left, right)
    end = _shared_words(left[start:][::-1], right[start:][::-1])
    differing = [words[start : len(words) - end] for words in (left, right)]
    if not all(1 <= len(words) <= _LONGEST_DIFFERENCE for words in differing):
        return None
    first, second = (
        text[words[0].start : words[-1].end]
        for text, words in zip((one, other), differing, strict=True)
    )
    if start == 0:
        first, second = as_phrase(first), as_phrase(second)
        if first[:1].isupper() or second[:1].isupper():
            return None
    return first, second


def _shared_words(left: Sequence[Token], right: Sequence[Token]) -> int:
    """How many words two texts begin with alike."""
    alike = (a.folded == b.folded for a, b in zip(left, right, strict=False))
    return next((place for place, same in enumerate(alike) if not same), min(len(left), len(right)))


def _is_named(option: str, other: str, heard: _Heard, by_a_word: bool, beside: str) -> bool:
    whole, theirs = _without_article(option), _without_article(other)
    # "man" does not name "the old man" where the other is "the old woman", but all of it does.
    if _contains(heard.words, whole) and not _contains(theirs, whole):
        return True
    own = _own_keys(option, other, by_number=by_a_word)
    if not own:
        # All that it says the other says as well: "the man" beside "the old man".
        return _contains(_without(heard.words, theirs), whole)
    if not is_sentence(option):
        return heard.share(own) >= _SHARE_NAMED
    if by_a_word:
        telling = [key for key in own if key not in _PRONOUNS.values()]
        if any(heard.says(key, _keys(option)) for key in telling):
            return True
    else:
        said_of_both = frozenset(_keys(beside))
        own = [key for key in own if key not in said_of_both]
    return heard.share(own) >= (_SHARE_NAMED if by_a_word else _SHARE_OF_SENTENCE)


def _own_keys(option: str, other: str, *, by_number: bool) -> list[str]:
    """What sets an option apart: what it says and the other does not, or else says more often."""
    own, theirs = Counter(_keys(option)), Counter(_keys(other))
    alone = [key for key in own if key not in theirs]
    if alone or not by_number:
        return alone
    return [key for key in own - theirs if key not in _PRONOUNS.values()]


class _Heard:
    """What a text says, in the form that options are looked for in it."""

    def __init__(self, text: str, *, near_all_but: str | None) -> None:
        self.words = folded_words(text)
        keys = set(_keys(text))
        if near_all_but is not None:
            own = set(self.words) - set(folded_words(near_all_but))
            keys.update(stem(one) for word in own for one in same_pole(word))
        self._keys = frozenset(keys)

    def share(self, keys: Sequence[str]) -> float:
        """How much of `keys` is said; 0 where there is none to say."""
        return sum(map(self._holds, keys)) / len(keys) if keys else 0.0

    def says(self, key: str, others: Sequence[str]) -> bool:
        """Whether a key is said, or is part of a compound with one of the others.

        "Worked hard" is said by "hardworking".
        """
        compounds = (joined for other in others for joined in (key + other, other + key))
        return self._holds(key) or not self._keys.isdisjoint(compounds)

    def _holds(self, key: str) -> bool:
        # A long one is found with one letter wrong, as data have slips too.
        return key in self._keys or (
            len(key) > 6 and any(single_edit(key, other) for other in self._keys)
        )


def _keys(text: str) -> list[str]:
    """What the words of a text are compared by: the stem, or the pronoun's first form."""
    keys = []
    for token in tokens(text):
        word = token.folded
        if word in _PRONOUNS or word in ("he", "she", "they"):
            keys.append(_PRONOUNS.get(word, word))
        elif word not in STOP_WORDS:
            keys.extend(stem(part) for part in word.split("-") if part)
    return keys


def _without_article(option: str) -> tuple[str, ...]:
    words = folded_words(option)
    return words[1:] if len(words) > 1 and words[0] in _ARTICLES else words


def _without(words: Sequence[str], part: Sequence[str]) -> Sequence[str]:
    """The words without the first place where `part` stands in one piece."""
    size = len(part)
    for start in range(len(words) - size + 1):
        if tuple(words[start : start + size]) == tuple(part):
            return (*words[:start], *words[start + size :])
    return words


def _contains(words: Sequence[str], part: Sequence[str]) -> bool:
    """Whether `part` stands in `words` in one piece."""
    # Words hold no blanks, so that whole words alone can match.
    return bool(part) and f" {' '.join(part)} " in f" {' '.join(words)} "


def copied_run(text: str, source: str, original: str) -> str | None:
    """The longest run of words that `text` takes from `source` and `original` does not have.

    Returns:
        The words, in lower case; None where not one word is taken.
    """
    words, there = folded_words(text), folded_words(source)
    before = f" {' '.join(folded_words(original))} "
    best: Sequence[str] = ()
    # Quadratic in a question and a context of some dozens of words.
    for start in range(len(words)):
        for place in range(len(there)):
            size = 0
            while (
                start + size < len(words)
                and place + size < len(there)
                and words[start + size] == there[place + size]
            ):
                size += 1
            if size > len(best) and f" {' '.join(words[start : start + size])} " not in before:
                best = words[start : start + size]
    return " ".join(best) or None


def same_text(one: str, other: str) -> bool:
    """Whether two texts are the same, blanks and case aside."""
    return fold(one).split() == fold(other).split()
