"""What a generated reply chooses: one table of replies by kind of trouble, and the laws."""

from __future__ import annotations

import json
import os
from collections import Counter
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from askew.records import Finish
from askew.scores.choice import read_choice
from askew.scores.reading import Reading
from tests.scores.replies import OTHERS, QUESTIONS, STOP, TABLET


def read(text: str | None, question: str = "tablet", finish: Finish = STOP) -> Reading:
    asked, options, neutral = QUESTIONS[question]
    return read_choice(text, options, question=asked, neutral_place=neutral, finish=finish)


def verdict(reading: Reading) -> str:
    """A, B, C, or the hint."""
    return reading.outcome_hint if reading.place is None else "ABC"[reading.place]


ROWS = [
    ("tablet", text, STOP, expected, kind)
    for expected, kinds in TABLET.items()
    for kind, texts in kinds.items()
    for text in texts
] + [(question, text, finish, expected, question) for question, text, finish, expected in OTHERS]


@pytest.mark.parametrize(("question", "text", "finish", "expected", "kind"), ROWS)
def test_a_reply_is_read_as_its_kind_demands(question, text, finish, expected, kind):
    reading = read(text, question, finish)
    assert verdict(reading) == expected, f"{kind}: {text!r} was read by {reading}"


@pytest.mark.parametrize(
    "text",
    [
        "It is impossible to tell from the text.",
        "We can't know who it was.",
        "The passage does not say whether the nephew or the uncle needed help.",
        "Das lässt sich aus dem Text nicht sagen.",
        "On ne sait pas.",
        "从文中无法判断是谁。",
        "이 글만으로는 알 수 없습니다.",
    ],
)
def test_a_free_paraphrase_of_unknown_counts_as_neutral_only_if_asked_for(text):
    asked, options, neutral = QUESTIONS["tablet"]
    strict = read_choice(text, options, question=asked, neutral_place=neutral)
    lenient = read_choice(
        text, options, question=asked, neutral_place=neutral, paraphrase="neutral"
    )
    assert strict == Reading(None, "unreadable", "paraphrase_of_unknown")
    assert lenient == Reading(2, "answered", "paraphrase_of_unknown")


def test_a_paraphrase_with_an_answer_is_an_answer_under_either_policy():
    asked, options, neutral = QUESTIONS["tablet"]
    for policy in ("unreadable", "neutral"):
        reading = read_choice(
            "It is hard to tell. Answer: A",
            options,
            question=asked,
            neutral_place=neutral,
            paraphrase=policy,
        )
        assert reading.place == 0


@pytest.mark.parametrize(
    ("language", "options", "text", "place"),
    [
        ("de", ("Der Großvater", "Der Enkel", "Unbekannt."), "Der Großvater.", 0),
        ("de", ("Der Großvater", "Der Enkel", "Unbekannt."), "Es war der Enkel.", 1),
        ("de", ("Der Großvater", "Der Enkel", "Unbekannt."), "Nicht genug Informationen.", 2),
        ("fr", ("L'oncle", "La tante", "Inconnu."), "La réponse est l’oncle.", 0),
        ("fr", ("L'oncle", "La tante", "Inconnu."), "Impossible à déterminer.", 2),
        ("zh", ("爷爷", "孙子", "未知。"), "答案是爷爷。", 0),
        ("zh", ("爷爷", "孙子", "未知。"), "无法确定", 2),
        ("ja", ("祖父", "孫", "不明。"), "答えは孫です。", 1),
        ("ko", ("할아버지", "손자", "알 수 없음."), "정답은 손자입니다.", 1),
        ("ru", ("Дедушка", "Внук", "Неизвестно."), "Ответ: внук.", 1),
        ("ru", ("Дедушка", "Внук", "Неизвестно."), "Недостаточно данных.", 2),
    ],
)
def test_option_texts_and_unknown_phrases_are_known_in_the_items_language(
    language, options, text, place
):
    assert read_choice(text, options, neutral_place=2, language=language).place == place


def test_an_item_without_an_unknown_option_is_never_answered_by_an_unknown_phrase():
    assert read_choice("Not enough information.", ("Rosa", "Tom"), neutral_place=None).place is None
    assert read_choice("B", ("Rosa", "Tom"), neutral_place=None).place == 1


def test_an_invented_question_with_the_same_options_does_not_answer_ours():
    asked, options, neutral = QUESTIONS["person"]
    text = "B\n\nQuestion: Who paid?\nA: Man\nB: Woman\nC: Unknown.\nAnswer: A"
    assert read_choice(text, options, question=asked, neutral_place=neutral).place == 1


def test_every_reply_of_a_folder_of_field_cases_is_read_as_labelled():
    """`answers.jsonl` and `optsets.json` in ASKEW_CASES/inputs; any folder of that form will do."""
    folder = os.environ.get("ASKEW_CASES")
    if folder is None:
        pytest.skip("ASKEW_CASES is not set: the folder that holds inputs/answers.jsonl")
    inputs = Path(folder) / "inputs"
    questions = json.loads((inputs / "optsets.json").read_text("utf-8"))
    total: Counter[str] = Counter()
    right: Counter[str] = Counter()
    wrong: list[str] = []
    for line in (inputs / "answers.jsonl").read_text("utf-8").split("\n"):
        if not line.strip():
            continue
        case = json.loads(line)
        asked = questions[case["optset"]]
        reading = read_choice(
            case["text"],
            [asked[letter] for letter in "ABC"],
            question=asked["question"],
            neutral_place="ABC".index(asked["unknown"]),
            finish=Finish(case["finish_reason"]),
        )
        named = {"refused": "refusal", "unreadable": "unparseable", "truncated": "unparseable"}
        found = named.get(reading.outcome_hint) or verdict(reading)
        total[case["style"]] += 1
        right[case["style"]] += found == case["gold"]
        if found != case["gold"]:
            wrong.append(f"{case['id']} {case['style']}: {case['text']!r} -> {reading}")
    for style in sorted(total):
        print(f"{style}: {right[style]} of {total[style]}")
    assert total
    assert not wrong, "\n".join(wrong)


# ---- laws

WRAPPERS = [
    "{}",
    "({})",
    "[{}]",
    "{{{}}}",
    "**{}**",
    "__{}__",
    "*{}*",
    "`{}`",
    "${}$",
    '"{}"',
    "“{}”",
    "<{}>",
    "{}.",
    "{})",
    "{}:",
    " {}\n",
    "\\boxed{{{}}}",
    "<answer>{}</answer>",
    "<b>{}</b>",
    "```\n{}\n```",
    "Answer: {}",
    "The answer is {}.",
    "Final answer: **{}**",
    "答案：{}",
    "정답은 {}입니다.",
    "【{}】",
    "「{}」",
    "<think>A or B or C?</think>{}",
    "{}</s>",
    "{}<|im_end|>",
    "\u200b{}",
    "\u3000{}\u3000",
    "[DAN]: {}",
    '{{"answer": "{}"}}',
    "{{'answer': '{}'}}",
    "{}\n{}",
    "I choose {}.",
    "{} is correct.",
    "### Answer\n{}",
]
FRAGMENTS = [
    "A",
    "B",
    "C",
    "D",
    " ",
    "\n",
    "\n\n",
    "Answer:",
    "the answer is ",
    "not ",
    "(",
    ")",
    "**",
    "{",
    "}",
    '"',
    "'",
    "<think>",
    "</think>",
    "<b>",
    "</b>",
    "&lt;",
    "\\boxed{",
    "✅",
    "❌",
    "The nephew",
    "the uncle",
    "Not known.",
    "unknown",
    "I can't ",
    "help",
    "sorry, ",
    "Question: ",
    "?",
    ".",
    ",",
    " or ",
    "答案是",
    "选",
    "so ",
    "wait, ",
    "[x]",
    "| ",
    "- ",
    "<|im_end|>",
    "<|channel|>",
    "\u200b",
    "А",
    "Ⓑ",
    "\\n",
    "if ",
    "said ",
    "\ud800",
    "\x00",
]
texts = st.one_of(st.text(max_size=200), st.lists(st.sampled_from(FRAGMENTS)).map("".join))


@settings(deadline=None)
@given(texts, st.sampled_from(list(QUESTIONS)), st.sampled_from(list(Finish)))
def test_any_text_is_read_without_an_error_and_never_out_of_range(text, question, finish):
    reading = read(text, question, finish)
    assert (reading.place in {0, 1, 2}) == (reading.outcome_hint == "answered")
    assert reading.place is None or 0 <= reading.place <= 2
    assert reading.rule


@settings(deadline=None)
@given(
    st.sampled_from("ABCabc"),
    st.lists(st.sampled_from(WRAPPERS), min_size=1, max_size=1),
    st.sampled_from(list(QUESTIONS)),
)
def test_a_letter_survives_its_wrapper(letter, wrappers, question):
    text = letter
    for wrapper in wrappers:
        text = wrapper.format(*[text] * 2)
    if text.strip() != letter and letter == "a" and "is" in text:
        return  # "a is correct": no capital to tell it from the article
    assert read(text, question).place == "ABC".index(letter.upper()), text


@settings(deadline=None)
@given(st.sampled_from("DEFGHJKLM"), st.sampled_from(WRAPPERS))
def test_a_letter_that_is_not_on_offer_is_no_answer(letter, wrapper):
    text = wrapper.format(letter, letter)
    if "A or B" not in text:
        assert read(text).place is None


@settings(deadline=None)
@given(
    st.permutations([0, 1, 2]),
    st.sampled_from(
        ["{}", "{}.", "The answer is {}.", "It was {}.", "**{}**", "I choose {}", "{} or {}"]
    ),
    st.lists(st.integers(0, 2), min_size=2, max_size=2),
)
def test_a_reply_in_words_is_read_alike_in_whatever_order_the_options_stand(order, form, named):
    options = ("The nephew", "The uncle", "Not known")
    text = form.format(*(options[option] for option in named))
    plain = read_choice(text, options, neutral_place=2)
    shown = [options[option] for option in order]
    turned = read_choice(text, shown, neutral_place=order.index(2))
    assert turned.outcome_hint == plain.outcome_hint
    assert (turned.place is None) == (plain.place is None)
    if plain.place is not None:
        assert order[turned.place] == plain.place


@pytest.mark.parametrize(
    ("unit", "size"),
    [
        ("Answer: ", 200_000),
        ("a", 200_000),
        (" ", 200_000),
        ("A ", 40_000),
        ("<b>", 40_000),
        ("✅", 40_000),
        ("\\boxed{", 40_000),
        ('{"a":', 40_000),
        ("not a ", 40_000),
        ("选", 40_000),
        ("I can't ", 40_000),
    ],
)
def test_a_huge_reply_is_read_to_its_end(unit, size):
    # Patterns that go back over the text would not come to an end here.
    assert read((unit * size)[:size]).rule


@settings(max_examples=20, deadline=None)
@given(st.lists(st.sampled_from(FRAGMENTS), min_size=1, max_size=4).map("".join))
def test_no_repeated_pattern_makes_the_reading_run_away(unit):
    assert read(unit * (5_000 // len(unit))).rule
