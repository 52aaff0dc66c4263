"""What every item of the starter set promises, read straight from the packaged JSONL files."""

from __future__ import annotations

import json
import re
import unicodedata
from collections import Counter
from collections.abc import Sequence
from importlib.resources import files
from itertools import combinations, pairwise

import pytest

BIAS_TYPES = (
    "age",
    "gender",
    "nationality",
    "profession",
    "race",
    "religion",
    "sexual_orientation",
)
NEUTRAL_PHRASES = frozenset(
    {
        "Not known.",
        "Unknown.",
        "Undetermined.",
        "Cannot answer.",
        "Can't answer.",
        "Not answerable.",
        "Not enough info.",
        "Not enough information.",
        "Cannot be determined.",
        "Can't be determined.",
    }
)
ATTACKS = ("attack_character", "attack_word", "attack_sentence_v1", "attack_sentence_v2")
SENTENCE_PAIR_QUESTION = "Which of these is more accurate?"
REQUIRED = frozenset(
    {
        "id",
        "bias_type",
        "condition",
        "context",
        "question",
        "option_a",
        "option_b",
        "option_c",
        "neutral",
        "stereotyped",
    }
)
OPTIONAL = frozenset({"answer", "polarity", "language", *ATTACKS})

Row = dict[str, str]

each_bias_type = pytest.mark.parametrize("bias_type", BIAS_TYPES)


def rows_of(bias_type: str) -> list[Row]:
    """Every record of one bias type; a missing file is a failure, not a skip."""
    text = (files("askew") / "datasets" / "starter" / f"{bias_type}.jsonl").read_text("utf-8")
    return [json.loads(line) for line in text.splitlines()]


def ambiguous(bias_type: str) -> list[Row]:
    return [row for row in rows_of(bias_type) if row["condition"] == "ambiguous"]


def controls(bias_type: str) -> list[Row]:
    return [row for row in rows_of(bias_type) if row["condition"] == "control"]


def biased_letters(row: Row) -> str:
    """The letters of the two options that are not neutral, in the order shown."""
    return "abc".replace(row["neutral"], "")


def words(text: str) -> list[str]:
    """Lower-case words without their punctuation; a possessive s is a word of its own."""
    return re.findall(r"\w+", text.casefold())


def stems(text: str) -> set[str]:
    """Words without the s of the plural, so that "nurses" is found where "nurse" is meant."""
    # Up to three letters the s is no plural: "Mrs" must not become "Mr".
    return {word.removesuffix("s") if len(word) > 3 else word for word in words(text)}


def edit_distance(left: Sequence[str], right: Sequence[str]) -> int:
    """Levenshtein's distance: over characters for two texts, over words for two lists."""
    previous = list(range(len(right) + 1))
    for row, a in enumerate(left, start=1):
        current = [row]
        for column, b in enumerate(right, start=1):
            substituted = previous[column - 1] + (a != b)
            current.append(min(substituted, previous[column] + 1, current[-1] + 1))
        previous = current
    return previous[-1]


def similarity(left: set[str], right: set[str]) -> float:
    """Jaccard's index, in [0, 1]."""
    return len(left & right) / len(left | right)


def wording(row: Row) -> set[str]:
    """The words by which two items are compared: context and question, or the pair's sentences."""
    parts = [row["context"], row["question"]]
    if row["question"] == SENTENCE_PAIR_QUESTION:  # which is all that such items have in common
        parts += [row[f"option_{letter}"] for letter in biased_letters(row)]
    return set(words(" ".join(parts)))


def test_the_edit_distance_counts_insertions_deletions_and_changes() -> None:
    assert edit_distance("kitten", "sitting") == 3
    assert edit_distance("form", "from") == 2  # a swap is two edits, not one
    assert edit_distance(["who", "forgot"], ["who", "ever", "forgot"]) == 1


def test_the_set_holds_the_seven_bias_types_and_nothing_else() -> None:
    names = [entry.name for entry in (files("askew") / "datasets" / "starter").iterdir()]
    found = {name.removesuffix(".jsonl") for name in names if name.endswith(".jsonl")}
    assert found == set(BIAS_TYPES)


@each_bias_type
def test_there_are_22_ambiguous_items_and_10_controls(bias_type: str) -> None:
    counts = Counter(row["condition"] for row in rows_of(bias_type))
    assert counts == {"ambiguous": 22, "control": 10}


@each_bias_type
def test_fields_are_the_schemas_and_the_type_is_the_files(bias_type: str) -> None:
    for row in rows_of(bias_type):
        assert row.keys() >= REQUIRED, row["id"]
        assert row.keys() <= REQUIRED | OPTIONAL, row["id"]
        assert row["bias_type"] == bias_type, row["id"]


def test_ids_are_unique_and_numbered_by_type_and_condition() -> None:
    for bias_type in BIAS_TYPES:
        ids = [row["id"] for row in rows_of(bias_type)]
        assert ids[:22] == [f"{bias_type}-{number:03d}" for number in range(1, 23)]
        assert ids[22:] == [f"{bias_type}-c{number:02d}" for number in range(1, 11)]


@each_bias_type
def test_the_three_options_differ_and_the_neutral_one_says_so(bias_type: str) -> None:
    for row in rows_of(bias_type):
        options = [row[f"option_{letter}"] for letter in "abc"]
        assert len({option.casefold() for option in options}) == 3, row["id"]
        assert row[f"option_{row['neutral']}"] in NEUTRAL_PHRASES, row["id"]
        assert sum(option in NEUTRAL_PHRASES for option in options) == 1, row["id"]
        assert row["stereotyped"] in biased_letters(row), row["id"]


@each_bias_type
def test_no_letter_and_no_place_gives_the_neutral_or_stereotyped_option_away(
    bias_type: str,
) -> None:
    items = ambiguous(bias_type)
    neutral = Counter(row["neutral"] for row in items)
    assert sorted(neutral.values()) == [7, 7, 8]
    first = sum(row["stereotyped"] == biased_letters(row)[0] for row in items)
    assert 10 <= first <= 12
    assert min(Counter(row["stereotyped"] for row in items).values()) >= 6


@each_bias_type
def test_negative_and_nonnegative_questions_are_balanced(bias_type: str) -> None:
    polarity = Counter(row["polarity"] for row in ambiguous(bias_type) if row.get("polarity"))
    assert polarity.keys() == {"negative", "nonnegative"}
    assert sum(polarity.values()) >= 18
    assert all(9 <= count <= 11 for count in polarity.values())


@each_bias_type
def test_four_items_are_pairs_of_sentences_that_differ_only_in_the_group(bias_type: str) -> None:
    pairs = [row for row in ambiguous(bias_type) if row["question"] == SENTENCE_PAIR_QUESTION]
    assert len(pairs) == 4
    for row in pairs:
        left, right = (row[f"option_{letter}"] for letter in biased_letters(row))
        assert left.endswith("."), row["id"]
        assert right.endswith("."), row["id"]
        assert similarity(set(words(left)), set(words(right))) >= 0.5, row["id"]


@each_bias_type
def test_a_control_has_an_answer_that_is_as_often_the_other_group(bias_type: str) -> None:
    items = controls(bias_type)
    assert all(row["answer"] in biased_letters(row) for row in items)
    assert sum(row["answer"] == row["stereotyped"] for row in items) == 5
    assert min(Counter(row["answer"] for row in items).values()) >= 2
    assert all(row["context"] for row in items)


@each_bias_type
def test_only_ambiguous_items_are_attacked_and_by_all_four_kinds(bias_type: str) -> None:
    for row in ambiguous(bias_type):
        texts = [row["question"], *(row[attack] for attack in ATTACKS)]
        assert len(set(texts)) == 5, row["id"]
        assert all(text.endswith("?") for text in texts), row["id"]
        assert "answer" not in row, row["id"]
    for row in controls(bias_type):
        assert not row.keys() & set(ATTACKS), row["id"]


@each_bias_type
def test_a_character_attack_edits_one_character(bias_type: str) -> None:
    for row in ambiguous(bias_type):
        assert edit_distance(row["question"], row["attack_character"]) == 1, row["id"]


@each_bias_type
def test_a_word_attack_replaces_at_most_two_words(bias_type: str) -> None:
    for row in ambiguous(bias_type):
        question, attacked = words(row["question"]), words(row["attack_word"])
        assert 1 <= edit_distance(question, attacked) <= 2, row["id"]
        assert abs(len(question) - len(attacked)) <= 1, row["id"]


@each_bias_type
def test_a_second_sentence_attack_offers_the_two_biased_options_alone(bias_type: str) -> None:
    for row in ambiguous(bias_type):
        offered = stems(row["attack_sentence_v2"])
        left, right = (stems(row[f"option_{letter}"]) for letter in biased_letters(row))
        assert offered & (left - right), row["id"]
        assert offered & (right - left), row["id"]
        assert " or " in row["attack_sentence_v2"], row["id"]


@each_bias_type
def test_names_or_groups_of_the_options_stand_in_the_context(bias_type: str) -> None:
    for row in rows_of(bias_type):
        if row["question"] == SENTENCE_PAIR_QUESTION:
            continue
        context = stems(row["context"])
        left, right = (stems(row[f"option_{letter}"]) for letter in biased_letters(row))
        assert context & (left - right), row["id"]
        assert context & (right - left), row["id"]


@each_bias_type
def test_no_two_ambiguous_items_share_a_template(bias_type: str) -> None:
    for one, another in combinations(ambiguous(bias_type), 2):
        assert similarity(wording(one), wording(another)) <= 0.6, (one["id"], another["id"])


@each_bias_type
def test_texts_are_plain(bias_type: str) -> None:
    for row in rows_of(bias_type):
        for text in row.values():
            assert text == unicodedata.normalize("NFC", text).strip(), row["id"]
            # Letters with marks belong to names; curly quotes, dashes and odd spaces do not.
            odd = {c for c in text if not c.isascii() and not c.isalpha()}
            assert not odd, row["id"]
            assert not any(a == b == " " for a, b in pairwise(text)), row["id"]
            assert text.isprintable(), row["id"]


def test_every_neutral_phrase_is_used_often_over_the_whole_set() -> None:
    used = Counter(
        row[f"option_{row['neutral']}"] for bias_type in BIAS_TYPES for row in rows_of(bias_type)
    )
    assert used.keys() == NEUTRAL_PHRASES
    assert min(used.values()) >= 10
    assert sum(used.values()) == 224
