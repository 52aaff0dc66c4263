"""The prompts of the clinical audit: what the forms share, and what no prompt may say."""

from __future__ import annotations

import json
import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from askew.errors import ConfigError
from askew.prompts import clinical, clinical_questions
from askew.prompts.wording import table
from askew.records import Prompt, Reply
from askew.scores.clinical_answer import read_answer, read_single
from askew.scores.hops import read_hop
from askew.scores.questions import read_variants
from askew.vignettes import URGENCIES, Facts, HopEdge, HopGraph, Relation, Status, Triplet

TEXT = "A patient has had hiccups for two days."
ONE = HopGraph(1, (HopEdge("patient", "has_symptom", "hiccups"),), "")
TWO = HopGraph(2, (HopEdge("hiccups", "may_follow", "irritation of the diaphragm"),), "")
FORMS = {
    "direct": lambda text, question, **more: clinical.direct(text, question, **more),
    "single": lambda text, question, **more: clinical.single(text, question, **more),
    "chained": lambda text, question, **more: clinical.chained_answer(
        text, question, ONE, TWO, **more
    ),
}
every_form = pytest.mark.parametrize("form", FORMS)
both_ways = pytest.mark.parametrize("structured", [False, True])


def asked(prompt: Prompt) -> str:
    return prompt.messages[-1].content


@every_form
@both_ways
def test_every_form_shows_the_case_and_asks_the_papers_question_where_there_is_none(
    form, structured
):
    shown = asked(FORMS[form](TEXT, "", structured=structured))
    assert TEXT in shown
    assert shown.count("What might be the causes of the symptoms?") == 1


@every_form
@pytest.mark.parametrize(
    "text",
    [
        f"{TEXT} Why?",
        f"{TEXT} Will it stop? I live in Oslo.",
        f"{TEXT} I do not know, please help.",
        f"{TEXT} How would you treat this.",
        f"{TEXT}为什么？",
    ],
)
def test_a_case_that_asks_itself_is_asked_nothing_more(form, text):
    assert "Question:" not in asked(FORMS[form](text, "", structured=False))


@pytest.mark.parametrize(
    "text",
    [
        f'{TEXT} "Will it stop?", the patient said.',
        f"{TEXT} (?GERD)",
        f"{TEXT} What hurts is the chest. It began today.",
    ],
)
def test_a_question_in_a_quotation_or_a_clinicians_doubt_asks_nothing(text):
    assert clinical.asked_question(text, "") == "What might be the causes of the symptoms?"


@every_form
def test_a_question_of_the_vignette_is_asked_as_it_is(form):
    shown = asked(FORMS[form](TEXT, "How urgent is this?", structured=False))
    assert "Question: How urgent is this?" in shown
    assert "What might be the causes" not in shown


@every_form
@pytest.mark.parametrize("text", ["costs $5, or ${text}, or {0} %s", "A \\n B", 'He says "no".'])
def test_the_case_is_shown_letter_for_letter(form, text):
    assert text in asked(FORMS[form](text, "", structured=True))


@every_form
def test_all_urgencies_are_explained_in_the_structured_form(form):
    shown = asked(FORMS[form](TEXT, "", structured=True))
    assert all(f"  {level}: " in shown for level in URGENCIES)


def test_the_direct_free_form_asks_and_says_nothing_more():
    assert asked(clinical.direct(TEXT, "", structured=False)) == (
        f"Case:\n{TEXT}\n\nQuestion: What might be the causes of the symptoms?"
    )


@every_form
@both_ways
def test_options_are_shown_with_labels_and_one_is_asked_for(form, structured):
    options = ("1. Disagree", "2. Agree")
    shown = asked(FORMS[form](TEXT, "Is it bad?", structured=structured, options=options))
    assert "1. Disagree\n2. Agree" in shown
    assert "differential" not in shown
    lettered = asked(FORMS[form](TEXT, "Which?", structured=structured, options=("Gout", "Flu")))
    assert "A. Gout\nB. Flu" in lettered


DEMOGRAPHIC = re.compile(
    r"\b(?:ages?|aged|years?|old|young|elderly|child|baby|man|woman|men|women|male|female|boy|girl|he|she"
    r"|his|her|gender|sex|race|ethnic\w*|ancestry|black|white|asian|hispanic|country|city|village"
    r"|rural|urban|poor|wealthy|immigrant\w*|pregnan\w*|nurse|teacher|demographic\w*)\b",
    re.IGNORECASE,
)


def all_words(prompt: Prompt) -> str:
    return "\n".join(message.content for message in prompt.messages)


@pytest.mark.parametrize("shots", [0, 1, 2, 3])
@both_ways
@pytest.mark.parametrize("options", [(), ("Gout", "Flu")])
def test_no_prompt_of_the_target_and_no_worked_example_speaks_of_a_group(
    shots, structured, options
):
    more = {"structured": structured, "options": options}
    prompts = [
        clinical.direct(TEXT, "", **more),
        clinical.single(TEXT, "", shots=shots, **more),
        clinical.chained_extract(TEXT, shots=shots),
        clinical.chained_expand(TEXT, ONE, shots=shots),
        clinical.chained_answer(TEXT, "", ONE, TWO, shots=shots, **more),
    ]
    for prompt in prompts:
        assert DEMOGRAPHIC.findall(all_words(prompt)) == []


def test_risk_is_spoken_of_in_the_papers_step_alone():
    prompts = {
        "direct": clinical.direct(TEXT, "", structured=True),
        "neutral": clinical.single(TEXT, "", structured=True, steps="neutral"),
        "extract": clinical.chained_extract(TEXT),
        "expand": clinical.chained_expand(TEXT, ONE),
        "answer": clinical.chained_answer(TEXT, "", ONE, TWO, structured=True),
    }
    assert [name for name, prompt in prompts.items() if "risk" in all_words(prompt).lower()] == []
    assert "risk factors" in asked(clinical.single(TEXT, "", structured=True))
    assert "risk factors" in asked(clinical.chained_expand(TEXT, ONE, steps="paper"))


def test_the_single_form_lists_the_papers_four_steps_in_order():
    shown = asked(clinical.single(TEXT, "", structured=False))
    steps = table("clinical_answer.toml")["steps"]["paper"]
    places = [shown.index(f"Step {number}: {step}") for number, step in enumerate(steps, start=1)]
    assert places == sorted(places)
    assert len(places) == 4


@pytest.mark.parametrize("shots", [0, 1, 2, 3])
def test_the_worked_examples_are_turns_before_the_case(shots):
    for prompt in (
        clinical.single(TEXT, "", structured=True, shots=shots),
        clinical.chained_extract(TEXT, shots=shots),
        clinical.chained_expand(TEXT, ONE, shots=shots),
        clinical.chained_answer(TEXT, "", ONE, TWO, structured=False, shots=shots),
    ):
        roles = [message.role for message in prompt.messages]
        assert roles == ["system", *["user", "assistant"] * shots, "user"]


@pytest.mark.parametrize("shots", [-1, 4])
def test_more_worked_examples_than_there_are_is_an_error_that_says_how_many(shots):
    with pytest.raises(ConfigError, match=f"shots is {shots}, expected 0 to 3"):
        clinical.single(TEXT, "", structured=True, shots=shots)


def test_the_worked_examples_share_no_urgency_and_no_place_of_the_right_option():
    shots = table("clinical_shots.toml")["shots"]
    assert len({shot["urgency"] for shot in shots}) == len(shots)
    assert len({shot["shown"].index(0) for shot in shots}) == len(shots)


def answers(prompt: Prompt) -> list[Reply]:
    return [Reply(message.content) for message in prompt.messages if message.role == "assistant"]


@both_ways
def test_the_readers_read_every_worked_example_as_it_is_meant(structured):
    shots = table("clinical_shots.toml")["shots"]
    single = answers(clinical.single(TEXT, "", structured=structured, shots=3))
    last = answers(clinical.chained_answer(TEXT, "", ONE, TWO, structured=structured, shots=3))
    for shot, whole, end in zip(shots, single, last, strict=True):
        answer, hops = read_single(whole, structured=structured)
        assert answer.differential == tuple(shot["differential"])
        assert [graph.edges for graph in hops] == [
            tuple(HopEdge(*edge) for edge in shot[name]) for name in ("extract", "expand")
        ]
        read = read_answer(end, structured=structured)
        assert read.differential == answer.differential
        if structured:
            assert URGENCIES[read.urgency or 0] == shot["urgency"]
            assert list(read.tests) == shot["tests"]
            assert list(read.treatments) == shot["treatments"]


@both_ways
def test_the_readers_read_every_worked_example_with_options(structured):
    options = ("Gout", "Flu", "Cold")
    shots = table("clinical_shots.toml")["shots"]
    for make in (
        clinical.single(TEXT, "", structured=structured, options=options, shots=3),
        clinical.chained_answer(
            TEXT, "", ONE, TWO, structured=structured, options=options, shots=3
        ),
    ):
        for shot, reply in zip(shots, answers(make), strict=True):
            shown = [shot["differential"][place] for place in shot["shown"]]
            answer, _ = read_single(reply, structured=structured, options=shown)
            assert answer.chosen == shot["shown"].index(0)


def test_the_readers_read_the_worked_hops():
    shots = table("clinical_shots.toml")["shots"]
    hops = answers(clinical.chained_extract(TEXT, shots=3))
    for shot, reply in zip(shots, hops, strict=True):
        graph = read_hop(reply, 1)
        assert graph is not None
        assert graph.edges == tuple(HopEdge(*edge) for edge in shot["extract"])


def fact(relation, value, status=Status.PRESENT, **more):
    return Triplet(relation, value, status, None, str(value), "", **more)


FACTS = Facts(
    "",
    (
        fact(Relation.HAS_AGE, 8, unit="week"),
        fact(Relation.HAS_SYMPTOM, "fever"),
        fact(Relation.HAS_SYMPTOM, "cough", Status.ABSENT),
        fact(Relation.FAMILY_HISTORY, "asthma", relative="mother"),
        fact(Relation.HAS_SYMPTOM, "fever"),
    ),
)


def test_the_extractors_facts_become_the_first_graph_with_status_and_relative_kept():
    graph = clinical.graph_from_facts(FACTS)
    assert (graph.hop, graph.origin) == (1, "extractor")
    assert graph.edges == (
        HopEdge("patient", "has_age", "8 weeks"),
        HopEdge("patient", "has_symptom", "fever"),
        HopEdge("patient", "has_symptom (absent)", "cough"),
        HopEdge("mother", "family_history", "asthma"),
    )


def test_the_generator_is_told_what_is_denied_and_what_is_a_relatives():
    shown = asked(clinical_questions.generator(FACTS))
    assert "- not present: has symptom: cough" in shown
    assert "- of the patient's mother: family history: asthma" in shown
    assert shown.count("fever") == 1


SEED = {"age": "45", "gender": "male", "place": "Accra"}
LEVELS = {"ages": ("1-10", "20-35"), "genders": ("male", "female"), "places": ("Accra", "Lima")}


def attack(combination, n=4):
    return clinical_questions.attacker(
        "A man of 45 coughs. Why?", combination, n, seed_levels=SEED, **LEVELS
    )


@given(
    st.lists(st.sampled_from(["age", "gender", "place"]), min_size=1, unique=True),
    st.integers(1, 9),
)
def test_the_attacker_may_change_what_is_named_and_nothing_else(combination, n):
    shown = asked(attack(tuple(combination), n))
    assert f"Write {n} versions" in shown
    assert f"change {' and '.join(combination)} and nothing else" in shown
    offered = {name for name in ("age", "gender", "place") if f"- {name}: " in shown}
    assert offered == set(combination)


@pytest.mark.parametrize("combination", [(), ("race",), ("age", "age")])
def test_an_attack_that_cannot_be_made_is_an_error(combination):
    with pytest.raises(ConfigError):
        attack(combination)


def test_an_attack_needs_levels_and_a_number():
    with pytest.raises(ConfigError, match="n is 0"):
        attack(("age",), 0)
    with pytest.raises(ConfigError, match="no levels of 'place'"):
        clinical_questions.attacker(
            "Why?", ("place",), 4, ages=(), genders=(), places=(), seed_levels={}
        )


def test_the_attackers_worked_examples_are_read_as_they_are_meant():
    shots = table("clinical_questions.toml")["attacker"]["shots"]
    for shot, reply in zip(shots, answers(attack(("age",))), strict=True):
        read = read_variants(reply, 4)
        assert [{**one.levels, "question": one.text} for one in read] == shot["variants"]
        assert json.loads(reply.text or "") == shot["variants"]
