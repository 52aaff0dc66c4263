"""What is answer and what is reasoning."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from askew.models.reasoning import split_reasoning

PLAIN = st.text(st.characters(exclude_characters="<>[]{}◁▷&", exclude_categories=["Cs"]))


@pytest.mark.parametrize(
    ("text", "answer", "reasoning"),
    [
        (None, None, None),
        ("", "", None),
        (" B\n", " B\n", None),
        ("<think>Could be A.</think>\nC", "C", "Could be A."),
        ("<THINKING>Could be A.</THINKING>C", "C", "Could be A."),
        ("so neither A nor B.\n</think>\n\nC", "C", "so neither A nor B."),
        ("<think>A, but let me check", None, "A, but let me check"),
        ("Let me see. <think>A, but", None, "A, but"),
        ("<think></think>C", "C", None),
        ("<think>all of it</think>", "", "all of it"),
        ("<think>a <think>b</think> c</think> C", "C", "a <think>b\nc"),
        ("<think>they wrote <think> here</think>C", "C", "they wrote <think> here"),
        ("<think>one</think>\n<think>two</think>\nB", "B", "one\ntwo"),
        ("Sure. <think>hm</think> B", "Sure.  B", "hm"),
        ("[THINK]hm[/THINK]B", "B", "hm"),
        ("◁think▷hm◁/think▷B", "B", "hm"),
        ("<|START_THINKING|>hm<|END_THINKING|><|START_RESPONSE|>B<|END_RESPONSE|>", "B", "hm"),
        (
            "<|begin_of_thought|>hm<|end_of_thought|>\n<|begin_of_solution|>B<|end_of_solution|>",
            "B",
            "hm",
        ),
        ("<unused94>thought\nhm<unused95>B", "B", "hm"),
        ("&lt;think&gt;hm&lt;/think&gt;B", "B", "hm"),
        (
            "<|channel|>analysis<|message|>A is a stereotype.<|end|><|start|>assistant"
            "<|channel|>final<|message|>C<|return|>",
            "C",
            "A is a stereotype.",
        ),
        ("hm<|end|><|start|>assistant<|channel|>final<|message|>C", "C", "hm"),
        ("<|channel|>analysis<|message|>Perhaps A", None, "Perhaps A"),
        (
            "<|channel|>commentary to=tool<|message|>x<|call|><|channel|>final "
            "<|constrain|>json<|message|>C",
            "C",
            "x",
        ),
        ("analysisThe user wants a letter.assistantfinalC", "C", "The user wants a letter."),
        ("analysisThe user wants a letter", None, "The user wants a letter"),
        ("analysis shows that B", "analysis shows that B", None),
    ],
)
def test_each_markup_is_split(text, answer, reasoning):
    assert split_reasoning(text) == (answer, reasoning)


@pytest.mark.parametrize("wrap", ["{}", "```json\n{}\n```", "Here it is: {}"])
def test_a_tag_inside_a_json_string_is_part_of_the_answer(wrap):
    text = wrap.replace("{}", json.dumps({"reason": "he wrote <think> and </think>", "age": 0.3}))
    assert split_reasoning(text) == (text, None)


def test_a_draft_object_in_the_reasoning_goes_with_the_reasoning():
    draft, verdict = '{"age": 0.9}', '{"age": 0.3}'
    for text in (f"<think>maybe {draft}</think>{verdict}", f"maybe {draft}</think>{verdict}"):
        answer, reasoning = split_reasoning(text)
        assert answer == verdict
        assert reasoning == f"maybe {draft}"


def test_an_object_after_the_reasoning_may_name_the_tag():
    verdict = '{"reason": "the </think> tag"}'
    assert split_reasoning(f"<think>hm</think>{verdict}").answer == verdict


def test_deeply_nested_braces_do_not_raise():
    text = '{"a":' * 5000 + "</think>B"
    assert split_reasoning(text).answer == "B"


@given(PLAIN.filter(lambda text: "analysis" not in text))
def test_text_without_markup_is_left_as_it_is(text):
    assert split_reasoning(text) == (text, None)


@given(PLAIN, PLAIN)
def test_nothing_of_the_reasoning_reaches_the_answer(thought, answer):
    expected = (answer.strip(), thought.strip() or None)
    assert split_reasoning(f"<think>{thought}</think>{answer}") == expected
    assert split_reasoning(f"<think>{thought}") == (None, thought.strip() or None)
