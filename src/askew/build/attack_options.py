"""What a question says of the options: which of the three it names, and how to name two of them."""

from __future__ import annotations

import re
from collections.abc import Sequence

from askew.build.attack_edits import single_edit
from askew.build.attack_words import STOP_WORDS, Token, fold, folded_words, stem, tokens
from askew.datasets.phrases import unknown_phrases
from askew.records import Item

# An option counts as named where at least this share of what sets it apart is said. Of a sentence
# that has to be named, one word is enough: "gossip or help" stands for two whole sentences.
_SHARE_NAMED = 0.4
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
    r"\b(?:option|answer|choice|statement|sentence)s?\s*[(\[]?[A-Ca-c1-3][)\]]?(?=[\s,.?!;:]|$)"
    r"|\([A-Ca-c]\)"
)
_SENTENCE_WORDS = 6
_LONGEST_DIFFERENCE = 4  # words
_RELATIVE = frozenset({"who", "who's", "whose", "whom", "which"})


def biased_options(item: Item) -> tuple[int, int]:
    """The places of the two options that are not neutral, in the item's order."""
    first, second = (place for place in range(3) if place != item.neutral)
    return first, second


def named_options(item: Item, text: str, *, by_a_word: bool = False) -> tuple[int, ...]:
    """Which of the two biased options a text names, by their whole text or by what they differ in.

    Args:
        item: whose options are looked for.
        text: where.
        by_a_word: whether one of the words that set it apart is enough to name a whole sentence.

    >>> from askew.records import ContextCondition, Item, Provenance
    >>> item = Item("made/1", "made", "age", "", "Which is true?",
    ...     ("Aunts forget a lot.", "Unknown.", "Nephews forget a lot."), 1, 1,
    ...     ContextCondition.AMBIGUOUS, Provenance("made.csv", 2))
    >>> named_options(item, "Which is true, aunts or nephews?")
    (0, 2)
    """
    first, second = biased_options(item)
    return tuple(
        place
        for place, other in ((first, second), (second, first))
        if _is_named(item.options[place], item.options[other], text, by_a_word)
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
    """
    words = folded_words(option)
    if len(words) >= _SENTENCE_WORDS:
        return _RELATIVE.isdisjoint(words[1:5])
    return len(words) > 3 and option.rstrip().endswith((".", "!", "?"))


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


def _is_named(option: str, other: str, text: str, by_a_word: bool) -> bool:
    said = folded_words(text)
    whole = folded_words(option)
    if len(whole) > 1 and whole[0] in _ARTICLES:
        whole = whole[1:]
    # "man" does not name "the old man" where the other is "the old woman", but all of it does.
    if _contains(said, whole) and not _contains(folded_words(other), whole):
        return True
    theirs = _keys(other)
    own = [key for key in dict.fromkeys(_keys(option)) if key not in theirs]
    if not own:
        return _contains(said, whole)
    heard = _Heard(_keys(text))
    telling = [key for key in own if key not in _PRONOUNS.values()]
    if by_a_word and is_sentence(option) and any(key in heard for key in telling):
        return True
    return sum(key in heard for key in own) / len(own) >= _SHARE_NAMED


class _Heard:
    """The keys of a text; a long one is found with one letter wrong, as data have slips too."""

    def __init__(self, keys: Sequence[str]) -> None:
        self._keys = frozenset(keys)

    def __contains__(self, key: str) -> bool:
        if key in self._keys:
            return True
        return len(key) > 6 and any(single_edit(key, other) for other in self._keys)


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
