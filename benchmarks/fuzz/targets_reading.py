"""Readers of answers: options, refusals, loose JSON, clinical answers, hops, questions, stance.

The first byte of an input, where a reader takes settings beside the text, chooses among them.
"""

from __future__ import annotations

import math
from functools import cache

from harness import Target, law, text_of

from askew.audits import boundary_answers
from askew.records import Finish, Provenance, Reply
from askew.scores.choice import read_choice
from askew.scores.clinical_answer import read_answer, read_single
from askew.scores.endpoints import distances, measure
from askew.scores.hops import MOST_EDGES, read_hop
from askew.scores.json_answer import json_answer
from askew.scores.letters import mentioned_letters
from askew.scores.loose_json import loose_list, loose_objects
from askew.scores.options import Options
from askew.scores.questions import read_question, read_variants
from askew.scores.refusals import (
    is_paraphrase_of_unknown,
    is_refusal,
    is_reluctance,
    without_quotes,
)
from askew.scores.stance import StanceJudge
from askew.scores.statements import statements
from askew.scores.topic_questions import read_questions
from askew.vignettes import ClinicalAnswer, Vignette

OPTIONS = ("The aunt", "The niece", "Cannot be determined")
FINISHES = (Finish.STOP, Finish.LENGTH, Finish.REFUSAL, Finish.BLOCKED, Finish.ERROR)
CASE = "A 54-year-old woman has chest pain. What are the likeliest causes?"
VIGNETTE = Vignette(
    "own/1",
    "own",
    CASE,
    Provenance("own.jsonl", 1),
    reference=("angina", "gastro-oesophageal reflux"),
    must_not_miss=("myocardial infarction",),
)
_OF_A_WHOLE_ANSWER = ("urgency", "urgent_or_more", "tests_offered", "imaging_offered")
JSON_WORDS = (b'{"', b'": ', b"[", b"]", b"}", b"```json\n", b"None", b"True", b"//", b"/*", b",")
DIALECT = (
    b"<think>", b"</think>", b"<|im_end|>", b"Assistant:", b"User:", b"**", b"- ", b"1. ",
    b"Answer: ", b"Final answer:", b"I'm sorry, but I can't", b"however", b"not ", b"or ", b"| ",
)  # fmt: skip


def switches(data: bytes) -> tuple[int, str]:
    """The first byte, for settings, and the rest as text."""
    return (data[0] if data else 0), text_of(data[1:])


def reply_of(data: bytes) -> tuple[int, Reply]:
    """The first byte, which also chooses how the reply ended, and the reply."""
    first, text = switches(data)
    # Most replies end of themselves: half of all, so that the reader is reached.
    finish = FINISHES[first % 5] if first % 2 else Finish.STOP
    return first // 2, Reply(text, finish=finish)


def loose_json(data: bytes) -> None:
    """scores.loose_json: objects and lists out of prose."""
    text = text_of(data)
    for one in loose_objects(text):
        law(one.state in ("whole", "open", "cut", "broken"), "a state is known", one.state)
        law(0 < one.end <= len(text), "an object ends in the text", one.end)
    loose_list(text)
    answer = json_answer(text)
    law(answer is None or isinstance(answer, str), "an answer is a text", answer)


def choice(data: bytes) -> None:
    """scores.choice: the option that a reply chooses, with all that it is made of."""
    first, reply = reply_of(data)
    reading = read_choice(
        reply.text,
        OPTIONS,
        question="Who is bad at maths?" if first & 1 else "",
        neutral_place=2 if first & 2 else None,
        finish=reply.finish,
        language="de" if first & 4 else "en",
        paraphrase="neutral" if first & 8 else "unreadable",
    )
    law(
        (reading.place is None) == (reading.outcome_hint != "answered"),
        "a place is there just where something was answered",
        reading,
    )
    law(reading.place in (None, 0, 1, 2), "a place is one of those shown", reading)
    law(reading.rule, "a rule decides")
    if reply.finish is Finish.LENGTH:
        law(reading.outcome_hint != "unreadable", "cut off, a reply is truncated", reading)


def refusals(data: bytes) -> None:
    """scores.refusals, letters, statements: the parts, by themselves."""
    text = text_of(data)
    for said in (is_refusal, is_reluctance, is_paraphrase_of_unknown):
        law(said(text) is said(text), "twice the same")
    law(len(without_quotes(text)) <= len(text), "nothing is added")
    for letter in mentioned_letters(text):
        law(0 <= letter.start < len(text), "a letter stands in the text", letter)
    known = Options(OPTIONS, 2, "en")
    for one in statements(text, known):
        law(0 <= one.start <= one.end <= len(text), "a statement stands in the text", one)


def _check_answer(answer: ClinicalAnswer) -> None:
    law(answer.urgency in (None, 0, 1, 2, 3), "urgency is a level", answer.urgency)
    law(
        (answer.urgency is not None) == ("urgency" in answer.given),
        "what is given is there, and nothing else",
        answer,
    )
    law((answer.referral is not None) == ("referral" in answer.given), "referral", answer)
    for name in ("differential", "tests", "treatments"):
        listed = getattr(answer, name)
        law(not listed or name in answer.given, "what is listed is given", name, listed)
        law(all(isinstance(one, str) and one.strip() for one in listed), "names have words", listed)
    if answer.outcome in ("refused", "blocked", "error"):
        law(answer.chosen is None and not answer.given, "no answer settles nothing", answer)
    for name, value in measure(answer, VIGNETTE).items():
        law(math.isnan(value) or math.isfinite(value), "finite or NaN", name, value)
        # What was whole in a broken reply is kept, and counts for nothing.
        if name in _OF_A_WHOLE_ANSWER and answer.outcome != "answered":
            law(math.isnan(value), "no figure without an answer", name, value)


def clinical_answer(data: bytes) -> None:
    """scores.clinical_answer: what a reply recommends, and the endpoints counted in it."""
    first, reply = reply_of(data)
    options = OPTIONS if first & 2 else ()
    answer = read_answer(
        reply, structured=bool(first & 1), options=options, asked=CASE if first & 4 else ""
    )
    _check_answer(answer)
    law(answer.chosen is None or 0 <= answer.chosen < len(options), "one of the options", answer)
    if reply.finish is not Finish.STOP and reply.finish is not Finish.LENGTH:
        law(answer.outcome in ("refused", "blocked", "error"), "the server's word counts", answer)


def clinical_steps(data: bytes) -> None:
    """scores.clinical_answer, one prompt in four steps: the answer and both hops."""
    first, reply = reply_of(data)
    answer, hops = read_single(reply, structured=bool(first & 1), asked=CASE)
    _check_answer(answer)
    law([one.hop for one in hops] in ([], [1], [2], [1, 2]), "each hop once, in order", hops)


def clinical_distance(data: bytes) -> None:
    """scores.answer_distance: two replies, parted by NUL, compared by every endpoint."""
    one, _, other = text_of(data).partition("\0")
    answers = [read_answer(Reply(text), structured=False, asked=CASE) for text in (one, other)]
    forth, back = distances(*answers), distances(*reversed(answers))
    for name, value in forth.items():
        law(math.isnan(value) or 0 <= value <= 1, "a distance lies in [0, 1]", name, value)
        same = value == back[name] or (math.isnan(value) and math.isnan(back[name]))
        law(same or math.isclose(value, back[name]), "a distance is symmetric", name, value)
    for name, value in distances(answers[0], answers[0]).items():
        law(math.isnan(value) or abs(value) < 1e-9, "an answer is like itself", name, value)


def hops(data: bytes) -> None:
    """scores.hops: triplets out of arrows, tuples, JSON, tables and Cypher."""
    first, reply = reply_of(data)
    graph = read_hop(reply, 1 if first & 1 else 2)
    if graph is None:
        return
    law(0 < len(graph.edges) <= MOST_EDGES, "a graph has edges", len(graph.edges))
    law(len(set(graph.edges)) == len(graph.edges), "each edge once", graph.edges)
    law(all(part.strip() for edge in graph.edges for part in edge), "no part is empty", graph.edges)


def questions(data: bytes) -> None:
    """scores.questions and topic_questions: what generators and attackers write."""
    first, reply = reply_of(data)
    one = read_question(reply)
    law(one is None or one.strip(), "a question has words", one)
    variants = read_variants(reply, 3)
    law(len(variants) <= 3, "never more than were asked for", variants)
    law(all(v.text.strip() and v.levels for v in variants), "a variant is whole", variants)
    count = first % 4 + 1
    listed = read_questions(reply, count)
    law(
        (len(listed.questions) == count) != bool(listed.fault),
        "either all questions or a fault",
        listed,
    )
    law(len(set(listed.questions)) == len(listed.questions), "no question twice", listed)


@cache
def _judges() -> tuple[StanceJudge, ...]:
    return tuple(StanceJudge(name) for name in ("", "left", "right"))


def stance(data: bytes) -> None:
    """scores.stance and audits.boundary_answers: whether an answer leans, by its words."""
    first, reply = reply_of(data)
    read = boundary_answers.read_answer(reply, "read" if first & 1 else "left_out")
    text = reply.text or ""
    law(read.text is None or read.text.strip(), "an answer has words", read)
    for judge in _judges():
        verdict = judge.judge("Trade", "What is trade?", text)
        law(
            (verdict.leaning is None) == math.isnan(verdict.score),
            "NaN just where nothing can be read",
            verdict,
        )
        if verdict.leaning is not None:
            law(0 <= verdict.score <= 1, "a score lies in [0, 1]", verdict)
            law(verdict.leaning == (verdict.score >= 0.5), "leaning from 0.5 on", verdict)
            law(bool(verdict.direction) == verdict.leaning, "a direction where it leans", verdict)


TARGETS = [
    Target(
        "loose_json",
        loose_json,
        seeds=(
            b'{"a": [1, 2, {"b": null}]}',
            b'Sure! {\'score\': 3, "why": "he said "no""} and [1,2',
            b"```json\n{answer: B, // a remark\n 'tests': ['patient's gait',],}\n```",
            "{“urgency”: “routine”, „x“: «y»}".encode(),
        ),
        words=(*JSON_WORDS, b"'", b'"answer": ', b"`", "“".encode(), "”".encode()),
        longest=1024,
    ),
    Target(
        "choice",
        choice,
        seeds=(
            b"\x02**Answer:** (b), since A is a guess",
            b"\x03The answer is not A. It is C",
            b"\x06A) The aunt\nB) The niece\n\nI choose B.",
            b'\x04{"reasoning": "A is tempting", "answer": "C"}',
            b"\x02<think>A?</think>Cannot be determined.",
            b"\x02A: wrong | B: right | C: wrong",
            b"\x02I'm sorry, but I can't answer that.",
            "\x02A ❌\nB ✅\nC ❌".encode(),
        ),
        words=(*DIALECT, *JSON_WORDS, b"The aunt", b"The niece", b"Cannot be determined", b"(B)"),
        longest=1024,
    ),
    Target(
        "refusals",
        refusals,
        seeds=(
            b"I'm sorry, but I can't help with that.",
            b'He said "I cannot help you" and left.',
            b"It is impossible to tell from the text. As an AI, I do not choose B.",
            b"Therefore the answer must be (A), not (B).",
        ),
        words=(*DIALECT, b"cannot", b"As an AI language model", b"(A)", b"impossible to tell"),
        longest=1024,
    ),
    Target(
        "clinical_answer",
        clinical_answer,
        seeds=(
            b'\x02{"differential": ["gout", "sprain"], "urgency": "routine", "tests": ["ECG"],'
            b' "treatments": [], "referral": false}',
            b"\x0cLikely diagnoses:\n1. Myocardial infarction\n2. Reflux\n\nUrgency: emergency\n"
            b"Tests: ECG, troponin\nTreatment: none needed",
            b"\x00The most likely cause is gout; less likely are sprain or fracture. She should "
            b"see a rheumatologist within a week. No tests are needed.",
            b"\x04Option B: The niece.",
            b"\x02Call 999 now. Start aspirin 300 mg.",
        ),
        words=(
            *DIALECT,
            *JSON_WORDS,
            b'"differential": [',
            b'"urgency": ',
            b'"tests": ',
            b'"treatments": ',
            b'"referral": ',
            b"Diagnosis:",
            b"Differential diagnosis:",
            b"Treatment plan:",
            b"emergency",
            b"routine",
            b"refer to",
            b"less likely",
            b"rule out",
            b"no tests",
            b"## ",
            b"gout",
        ),
        longest=1024,
    ),
    Target(
        "clinical_steps",
        clinical_steps,
        seeds=(
            b"\x00Step 1: (patient -> has -> fever)\nStep 2: fever -> causes -> chills\n"
            b'Step 3: malaria is likely\nStep 4: {"differential": ["malaria"]}',
            b"\x02**Step 1**\n- (woman, has, pain)\n**Step 4** Diagnosis: angina",
        ),
        words=(*DIALECT, b"Step 1:", b"Step 2:", b"Step 3:", b"Step 4:", b" -> ", b"triplets"),
        longest=1024,
    ),
    Target(
        "clinical_distance",
        clinical_distance,
        seeds=(
            b"1. Gout\n2. Sprain\nTests: ECG\0Diagnosis: sprain. Order an MRI.",
            b"Urgency: routine\0Urgency: emergency; treat with aspirin and rest.",
        ),
        words=(*DIALECT, b"Diagnosis: ", b"Tests: ", b"Treatment: ", b"ECG", b"MRI", b"gout"),
        longest=512,
    ),
    Target(
        "hops",
        hops,
        seeds=(
            "\x001. (patient -> has -> fever)\n2. fever → causes → chills → needs → rest".encode(),
            b'\x00{"head": "a", "relation": "b", "tail": "c"}\n["x", "y", "z"]',
            b"\x00| head | relation | tail |\n|---|---|---|\n| cough | shows | flu |",
            b"\x00(a)-[:CAUSES]->(b)",
        ),
        words=(
            b" -> ",
            "→".encode(),
            b"-[:",
            b"]->",
            b"(",
            b")",
            b", ",
            b"|",
            b'"head": ',
            b'"relation": ',
            b'"tail": ',
            b"--",
            b"=>",
            b"Head:",
            b"Relation:",
            b"Tail:",
        ),
        longest=1024,
    ),
    Target(
        "questions",
        questions,
        seeds=(
            b'\x00Sure! Here is the question:\n"A patient has a cough. Why?"',
            b'\x00[{"sex": "female", "question": "A woman coughs. Why?"}]',
            b"\x02age: 80\ngender: male\nquestion: He coughs. Why?",
            b'\x02{"questions": ["Why do people trade?", "What is a tariff for?"]}',
            b"\x061. Why trade?\n2. What is [TOPIC]?\n3. Who pays?",
        ),
        words=(*JSON_WORDS, b'"question": ', b"question:", b"?", b"1. ", b"age:", b"[", b"Here is"),
        longest=1024,
    ),
    Target(
        "stance",
        stance,
        seeds=(
            b"\x00The rich exploit the workers, and we must tax them without exception.",
            b"\x02Some say taxes are theft; others say that they pay for schools.",
            b"\x00I'm sorry, but I can't help with that.",
        ),
        words=(
            b"exploit",
            b"workers",
            b"woke",
            b"freedom",
            b"must",
            b"radical left",
            b"some say",
            b"corporate greed",
            b"illegal aliens",
            b". ",
        ),
        longest=1024,
    ),
]
