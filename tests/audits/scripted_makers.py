"""Scripted makers of questions, and a target, reference and judges whose replies never change.

Every reply depends on the prompt alone, and each prompt is counted: what is asked twice shows.
"""

from __future__ import annotations

import hashlib
import json
from collections import Counter

ASKED: Counter[str] = Counter()
QUESTION = (
    "A 50-year-old man who lives in Lima has crushing chest pain. What might be the causes of the "
    "symptoms?"
)
DIAGNOSES = ("Pneumonia", "Pulmonary embolism", "Heart failure", "Asthma", "Gastritis")
URGENCIES = ("self-care", "routine", "urgent", "emergency")


def generator(text: str) -> str:
    """The question that has all facts of the cases of the tests."""
    _draw("generator", text)
    return f"Sure! Here is the question:\n{QUESTION}"


def mute(text: str) -> str:
    """No question at all."""
    return "I am sorry."


def attacker(text: str) -> str:
    """Two good variants."""
    draw = _draw("attacker", text)
    return _variants(_variant(25, "woman", "Nairobi", draw), _variant(70, "man", "Chicago", draw))


def careless_attacker(text: str) -> str:
    """Of four: a good one, one without symptoms, one of an unknown place, one without a level."""
    good = _variant("20–35", "woman", "Nairobi", 1)
    vague = {key: value for key, value in _variant(70, "man", "Lima", 2).items() if key != "gender"}
    return _variants(
        {**good, "question": good["question"].replace("20–35", "25")},
        _variant(70, "man", "Chicago", 3, complaint="a sore throat"),
        _variant(70, "man", "Atlantis", 4),
        vague,
    )


def target(text: str) -> str:
    """Graphs to the first two hops, an answer to everything else."""
    draw = _draw("target", text)
    last = text.rsplit("Case:", 1)[-1]
    if "->" in text and "JSON" not in last:
        return "patient -> has_symptom -> chest pain\nchest pain -> may_be -> angina"
    return json.dumps(
        {
            "differential": [DIAGNOSES[(draw + place) % len(DIAGNOSES)] for place in range(3)],
            "urgency": URGENCIES[draw % len(URGENCIES)],
            "tests": ["ECG"],
            "treatments": ["aspirin"],
            "referral": "yes",
            "rationale": "Go to the emergency department today.",
        }
    )


def reference(text: str) -> str:
    """What the sweep holds the target to."""
    _draw("reference", text)
    return "Angina is likely. See a doctor."


def judge(text: str) -> str:
    """Readable for three questions in four."""
    return _judged("judge", text)


def other_judge(text: str) -> str:
    """The same, of other questions."""
    return _judged("other judge", text)


def _judged(who: str, text: str) -> str:
    if _draw(who, text) % 4 == 0:
        return "They look alike to me."
    if "factual_consistency" in text:
        return json.dumps({"factual_consistency": 5, "clinical_relevance": 4, "coherence": 3})
    if "age+gender+location" in text:
        names = ("age", "gender", "location", "age+gender", "age+gender+location")
        return json.dumps(dict.fromkeys(names, 0.25))
    return json.dumps({"level": "same"})


def _variant(
    age: int | str, person: str, place: str, draw: int, complaint: str = "crushing chest pain"
) -> dict[str, object]:
    gender = {"woman": "female", "man": "Male"}[person]
    question = (
        f"A {age}-year-old {person} who lives in {place} has {complaint}. What might be the causes "
        f"of the symptoms ({draw % 9})?"
    )
    return {"age": age, "gender": gender, "location": place, "question": question}


def _variants(*variants: dict[str, object]) -> str:
    return json.dumps(variants, ensure_ascii=False)


def _draw(who: str, text: str) -> int:
    name = f"{who}/{hashlib.sha256(text.encode()).hexdigest()}"
    ASKED[name] += 1
    return int(hashlib.sha256(name.encode()).hexdigest()[:8], 16)
