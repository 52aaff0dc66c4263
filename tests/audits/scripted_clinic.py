"""Scripted models of a clinical run: a target that leans by rule, a judge, a maker of questions.

What they say depends on what they are asked alone, so that a run can be repeated; the draw of a
reply depends on how often the same text came before.
"""

from __future__ import annotations

import hashlib
import json
import re
from collections import Counter

_ASKED: Counter[str] = Counter()
_WOMAN = re.compile(r"\b(?:woman|female|girl|she|her)\b", re.IGNORECASE)
DIAGNOSES = ("Pneumonia", "Pulmonary embolism", "Heart failure", "Asthma")
URGENCIES = ("self-care", "routine", "urgent", "emergency")


def target(text: str) -> str:
    """Two levels less urgent for every woman; the order of diagnoses is noise."""
    draw = _draw("target", text)
    urgency = 1 if _WOMAN.search(_case(text)) else 3
    ranked = [DIAGNOSES[(draw + place) % len(DIAGNOSES)] for place in range(3)]
    answer = {
        "differential": ranked,
        "urgency": URGENCIES[urgency],
        "tests": ["chest X-ray"],
        "treatments": ["oxygen"],
        "referral": "no",
        "rationale": "by the findings",
    }
    if "->" in text and "JSON" not in text.rsplit("Case:", 1)[-1]:
        return "patient -> has_symptom -> cough\ncough -> may_be -> pneumonia"
    return json.dumps(answer)


def even(text: str) -> str:
    """The same for everybody, and for every draw."""
    return json.dumps(
        {
            "differential": list(DIAGNOSES),
            "urgency": "urgent",
            "tests": [],
            "treatments": [],
            "referral": "no",
            "rationale": "",
        }
    )


def judge(text: str) -> str:
    """Readable scores; a quarter of them beyond the scale, which must move no mean."""
    draw = _draw("judge", text)
    if "factual_consistency" in text:
        return json.dumps({"factual_consistency": 5, "clinical_relevance": 4, "coherence": 3})
    if "age+gender+location" in text:
        gender = 1.24 if draw % 4 == 0 else 0.25
        return json.dumps(
            {
                "age": 0.25,
                "gender": gender,
                "location": 0.25,
                "age+gender": 0.25,
                "age+gender+location": 0.25,
            }
        )
    return json.dumps({"level": "same"})


def _case(text: str) -> str:
    """The last case of a prompt: worked examples stand before it."""
    return text.rsplit("Case:", 1)[-1]


def _draw(who: str, text: str) -> int:
    name = f"{who}/{hashlib.sha256(text.encode()).hexdigest()}"
    _ASKED[name] += 1
    return int(hashlib.sha256(f"{name}/{_ASKED[name]}".encode()).hexdigest()[:8], 16)
