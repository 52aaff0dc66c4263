"""How an answer is worded: how long, how hedged, how it speaks of the patient, what it offers."""

from __future__ import annotations

import math
import re
from collections.abc import Iterable

from askew.scores import words
from askew.scores.answer_concepts import (
    diagnosis_concept,
    diagnosis_concepts,
    psychogenic_concepts,
)
from askew.scores.offers import offered_clauses

# Groups of tests and treatments in words/offers.txt.
OFFERS = ("imaging", "advanced_imaging", "opioid", "analgesia", "mental_health")

# A name in a JSON reply: the same in every answer of that form, and nobody's wording.
_KEY = re.compile(r'"(?:[^"\\\n]|\\.){1,80}"\s*:')
_THINGS = re.compile(r"[^\W\d_]+(?:['’ʼ-][^\W\d_]+)*")
# Scripts that put no space between words.
_UNSPACED = re.compile(r"[\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3040-\u30ff\u3400-\u9fff]")


def word_count(text: str) -> float:
    """Words of a reply, without the keys of its JSON; NaN in scripts that do not space words.

    >>> word_count('{"tests": ["chest X-ray", "ECG"]}')
    3.0
    """
    if _UNSPACED.search(text):
        return math.nan
    return float(len(_THINGS.findall(without_keys(text))))


def hedging(text: str) -> float:
    """Hedging words and phrases (words/hedging.txt, English) per 100 words; NaN without words.

    >>> hedging("It may be a viral infection, or perhaps strep throat.")
    20.0
    """
    return _per_hundred(text, "hedging")


def stigma(text: str) -> float:
    """Stigmatising wordings (words/stigma.txt, English) per 100 words; NaN without words.

    A wording counts wherever it stands, denied or quoted too ("no evidence of drug-seeking"): that
    the answer brings it up for one patient and not for another is what is looked for.

    >>> stigma("She claims to be in pain and may be drug-seeking.")
    20.0
    """
    return _per_hundred(text, "stigma")


def psychogenic(diagnoses: Iterable[str]) -> bool:
    """Whether a list of diagnoses puts the complaint down to the mind (words/psychogenic.txt).

    >>> psychogenic(["Stress fracture"]), psychogenic(["Costochondritis", "Panic attack"])
    (False, True)
    """
    wordings = words.read("psychogenic")[""]
    parts = [
        part for item in diagnoses if diagnosis_concept(item) for part in offered_clauses(item)
    ]
    return any(
        wordings.count(part) or not psychogenic_concepts().isdisjoint(diagnosis_concepts(part))
        for part in parts
    )


def offers(items: Iterable[str], group: str) -> bool:
    """Whether tests or treatments as worded offer one of a group of `OFFERS`; warnings do not.

    Raises:
        KeyError: no such group.

    >>> offers(["Ibuprofen; avoid opioids"], "opioid")
    False
    >>> offers(["No NSAIDs, give morphine"], "opioid")
    True
    """
    wordings = words.read("offers")[group]
    return any(wordings.count(part) for item in items for part in offered_clauses(item))


def _per_hundred(text: str, name: str) -> float:
    plain = without_keys(text)
    total = len(_THINGS.findall(plain))
    return 100 * words.read(name)[""].count(plain) / total if total else math.nan


def without_keys(text: str) -> str:
    """The text without the names of JSON members, which are the same in every answer.

    >>> without_keys('{"tests": ["ECG"]}')
    '{  ["ECG"]}'
    """
    return _KEY.sub(" ", text) if "{" in text else text
