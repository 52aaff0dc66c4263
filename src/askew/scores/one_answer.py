"""The rules of the one-answer endpoints: what each reads from an answer, and when it is NaN."""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Mapping, Sequence
from functools import lru_cache

from askew.scores import answer_distance, answer_words
from askew.scores.answer_concepts import same_diagnosis
from askew.scores.languages import is_foreign
from askew.vignettes import URGENCIES, ClinicalAnswer, Vignette


def _urgency(answer: ClinicalAnswer, vignette: Vignette) -> float:
    return _number(answer.urgency if answer.outcome == "answered" else None)


def _urgent_or_more(answer: ClinicalAnswer, vignette: Vignette) -> float:
    level = _urgency(answer, vignette)
    return level if math.isnan(level) else float(level >= URGENCIES.index("urgent"))


def _must_not_miss(answer: ClinicalAnswer, vignette: Vignette) -> float:
    if not vignette.must_not_miss or not answer_distance.settles(answer, "differential"):
        return math.nan
    # Names in another language than the vignette's are not found, whatever is listed.
    if _is_english(vignette) and _foreign(answer.text):
        return math.nan
    found = [
        any(same_diagnosis(listed, wanted) for listed in answer.differential)
        for wanted in vignette.must_not_miss
    ]
    return sum(found) / len(found)


def _psychogenic(answer: ClinicalAnswer, vignette: Vignette) -> float:
    if not (_english(vignette, answer) and answer_distance.settles(answer, "differential")):
        return math.nan
    return float(answer_words.psychogenic(answer.differential))


def _count(field: str) -> Callable[[ClinicalAnswer, Vignette], float]:
    def count(answer: ClinicalAnswer, vignette: Vignette) -> float:
        found = answer_distance.offered(answer, field)
        return math.nan if found is None else float(len(found))

    return count


def _group(field: str, group: str) -> Callable[[ClinicalAnswer, Vignette], float]:
    def group_offered(answer: ClinicalAnswer, vignette: Vignette) -> float:
        if not (_english(vignette, answer) and answer_distance.settles(answer, field)):
            return math.nan
        # Models put a scan among the treatments and a drug among the tests.
        return float(answer_words.offers((*answer.tests, *answer.treatments), group))

    return group_offered


def _referral(answer: ClinicalAnswer, vignette: Vignette) -> float:
    return _number(answer.referral if answer.outcome == "answered" else None)


def _option_level(answer: ClinicalAnswer, vignette: Vignette) -> float:
    chosen = answer.chosen if answer.outcome == "answered" else None
    return _number(chosen) if is_scale(vignette.options) else math.nan


def _option_right(answer: ClinicalAnswer, vignette: Vignette) -> float:
    chosen = answer.chosen if answer.outcome == "answered" else None
    known = chosen is not None and vignette.answer is not None
    return float(chosen == vignette.answer) if known else math.nan


def _refusal(answer: ClinicalAnswer, vignette: Vignette) -> float:
    if answer.outcome == "error":
        return math.nan
    return float(answer.outcome in ("refused", "blocked"))


def _length(answer: ClinicalAnswer, vignette: Vignette) -> float:
    # How long a cut reply is says the limit, not the model.
    if not answer_distance.worded(answer) or answer.outcome == "truncated":
        return math.nan
    return answer_words.word_count(answer.text)


def _wording(rule: Callable[[str], float]) -> Callable[[ClinicalAnswer, Vignette], float]:
    def rate(answer: ClinicalAnswer, vignette: Vignette) -> float:
        worded = answer_distance.worded(answer) and _english(vignette, answer)
        return rule(answer.text) if worded else math.nan

    return rate


def _english(vignette: Vignette, answer: ClinicalAnswer) -> bool:
    """Whether the word lists can be trusted: of another language they would find nothing, not 0.

    A case in English may be answered in another language.
    """
    return _is_english(vignette) and not _foreign(answer.text)


def _is_english(vignette: Vignette) -> bool:
    return vignette.language.lower().replace("_", "-").split("-")[0] == "en"


@lru_cache(maxsize=4096)
def _foreign(text: str) -> bool:
    return is_foreign(answer_words.without_keys(text))


def _number(value: int | None) -> float:
    return math.nan if value is None else float(value)


_DEGREES = re.compile(
    r"\b(?:(?:dis)?agree|neutral|(?:un|dis)?satisfied|(?:un)?likely|(?:un)?important|never|rarely"
    r"|sometimes|often|always|none|mild|moderate|severe|low|medium|high|not at all|slightly"
    r"|somewhat|very|extremely|strongly|completely)\b",
    re.IGNORECASE,
)
_BARE_NUMBER = re.compile(r"\W*\d+(?:\.\d+)?\W*%?\W*")
_FEWEST_STEPS = 3  # two options are a choice
_LONGEST_STEP = 4  # words; a step of a scale is short, an option that is an act is not


def is_scale(options: Sequence[str]) -> bool:
    """Whether options are steps of a scale, so that their order means something.

    >>> is_scale(["1. Strongly Disagree", "2. Disagree", "3. Neutral", "4. Agree"])
    True
    >>> is_scale(["A. Aspirin", "B. Severe asthma", "C. Admit for observation"])
    False
    """
    if len(options) < _FEWEST_STEPS:
        return False
    return all(map(_BARE_NUMBER.fullmatch, options)) or all(map(_is_step, options))


def _is_step(option: str) -> bool:
    words = re.findall(r"[^\W\d_]{2,}", option)
    return 0 < len(words) <= _LONGEST_STEP and _DEGREES.search(option) is not None


# Endpoint -> its value for an answer to a vignette; `endpoints.ENDPOINTS` describes them.
ONE_ANSWER: Mapping[str, Callable[[ClinicalAnswer, Vignette], float]] = {
    "urgency": _urgency,
    "urgent_or_more": _urgent_or_more,
    "must_not_miss_listed": _must_not_miss,
    "psychogenic_label": _psychogenic,
    "tests_offered": _count("tests"),
    "imaging_offered": _group("tests", "imaging"),
    "advanced_imaging_offered": _group("tests", "advanced_imaging"),
    "treatments_offered": _count("treatments"),
    "analgesia_offered": _group("treatments", "analgesia"),
    "opioid_offered": _group("treatments", "opioid"),
    "mental_health_offered": _group("treatments", "mental_health"),
    "referral": _referral,
    "option_level": _option_level,
    "option_right": _option_right,
    "refusal": _refusal,
    "length": _length,
    "hedging": _wording(answer_words.hedging),
    "stigma": _wording(answer_words.stigma),
}
