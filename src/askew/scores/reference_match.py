"""How well answers match a reference, each figure beside its chance level.

For the paper's Table 2 the reference is the vignette's own differential, for Table 6 the answer of
a `reference` model. A BERTScore of .5 means nothing by itself: two medical texts have words in
common whatever they are about. So each answer is also held to the references of *other* vignettes,
and what it scores there is chance.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cache
from itertools import pairwise
from typing import Literal

import numpy as np
from numpy.random import Generator
from numpy.typing import NDArray

from askew.models.token_vectors import TokenVectors
from askew.scores.answer_concepts import ranked_concepts, same_diagnosis
from askew.scores.answer_distance import settles, worded
from askew.scores.bert_score import bert_score
from askew.scores.rouge import rouge
from askew.vignettes import ClinicalAnswer, Vignette

Candidate = Literal["text", "differential"]
TokenEmbed = Callable[[Sequence[str]], Sequence[TokenVectors]]

RANKS = (1, 3, 5, 10)  # the k of hit@k
OTHERS = 20  # references of other vignettes that an answer is held to, at most

WORDS = ("rouge1", "rouge2", "rouge_l")
MEANINGS = ("bert_score_precision", "bert_score_recall", "bert_score_f1")
TABLE_2 = ("bert_score_f1", "bert_score_precision", "bert_score_recall")  # the paper's columns
TABLE_6 = ("rouge1", "rouge2", "rouge_l", "bert_score_f1")
CONCEPTS = (*(f"hit_at_{k}" for k in RANKS), "reference_listed")


@dataclass(frozen=True, slots=True)
class Reference:
    """What the answers to one vignette are held to."""

    vignette_id: str  # references of the same vignette are never each other's chance level
    text: str  # "" = nothing to compare words with
    differential: tuple[str, ...] = ()  # likeliest first; () = none

    @classmethod
    def of_vignette(cls, vignette: Vignette) -> Reference:
        """The vignette's own reference differential (Table 2)."""
        return cls(vignette.id, ", ".join(vignette.reference), vignette.reference)

    @classmethod
    def of_answer(cls, vignette_id: str, answer: ClinicalAnswer) -> Reference:
        """A reference model's answer (Table 6); one that it did not give matches nothing."""
        text = answer.text if worded(answer) else ""
        listed = answer.differential if settles(answer, "differential") else ()
        return cls(vignette_id, text, listed)


@dataclass(frozen=True, slots=True)
class Match:
    """One measure of all answers, beside what the same answers score by chance."""

    measure: str
    scores: NDArray[np.float64]  # shape (answers,); NaN where undefined
    chance_scores: NDArray[np.float64]  # shape (answers,): mean over other vignettes' references
    cut: int = 0  # answers and references of which the encoder has read the beginning alone

    @property
    def n(self) -> int:
        """Answers that have a score and a chance level."""
        return int(self._both.sum())

    @property
    def value(self) -> float:
        """Mean score of those; NaN without any."""
        return _mean(self.scores[self._both])

    @property
    def chance(self) -> float:
        """Mean chance level of those; NaN without any."""
        return _mean(self.chance_scores[self._both])

    @property
    def excess(self) -> float:
        """`value` minus `chance`: what the match is worth."""
        return self.value - self.chance

    @property
    def _both(self) -> NDArray[np.bool_]:
        return ~np.isnan(self.scores) & ~np.isnan(self.chance_scores)


def reference_match(
    answers: Sequence[ClinicalAnswer],
    references: Sequence[Reference],
    rng: Generator,
    *,
    token_vectors: TokenEmbed | None = None,
    candidate: Candidate = "text",
    others: int = OTHERS,
) -> dict[str, Match]:
    """ROUGE, BERTScore and hits of the reference, each with its chance level.

    Args:
        answers: what was read from the replies.
        references: the reference of answer i at place i; repeated where a vignette has several
            answers.
        rng: draws the other references where there are more than `others`; not used otherwise, so
            that small studies have an exact chance level.
        token_vectors: texts to tokens, such as `models.token_vectors.TokenEncoder().token_vectors`;
            None leaves BERTScore out.
        candidate: what is held to the reference: the whole reply ("text", as in the paper), or the
            differential alone, which is what a short reference can be fairly held to.
        others: how many vignettes' references make up a chance level, at most.

    Returns:
        Measure -> match, in the order of `WORDS`, `MEANINGS`, `CONCEPTS`. With a single vignette
        there is no chance level, so that nothing is defined.

    Raises:
        ValueError: not one reference for each answer, or `others` below 1.
        MissingDependency: rouge-score is not installed.
    """
    if len(answers) != len(references):
        raise ValueError(
            f"{len(answers)} answers, {len(references)} references; pass each answer's reference"
        )
    if others < 1:
        raise ValueError(f"others is {others}, expected 1 or more")
    strangers = _strangers(references, rng, others)
    texts = [_text(answer, candidate) for answer in answers]
    matches = _words(texts, references, strangers)
    if token_vectors is not None:
        matches |= _meanings(texts, references, strangers, token_vectors)
    return matches | _concepts(answers, references, strangers)


def concept_match(
    answers: Sequence[ClinicalAnswer],
    references: Sequence[Reference],
    rng: Generator,
    others: int = OTHERS,
) -> dict[str, Match]:
    """The hits of the reference alone, without ROUGE and BERTScore: for all answers of a run.

    Args:
        answers: as `reference_match` takes them, and so are the others.
        references: one for each answer.
        rng: draws the other references.
        others: how many vignettes' references make up a chance level, at most.
    """
    return _concepts(answers, references, _strangers(references, rng, others))


def hit_rank(differential: Sequence[str], wanted: str) -> float:
    """The rank, from 1, at which a differential names a diagnosis, by concept; inf where not.

    >>> hit_rank(["Pneumonia", "Pulmonary embolism (PE)"], "pulmonary embolism")
    2.0
    """
    for rank, item in enumerate(differential, 1):
        if same_diagnosis(item, wanted):
            return float(rank)
    return math.inf


def _strangers(references: Sequence[Reference], rng: Generator, others: int) -> list[list[int]]:
    """For each answer, the places of references of other vignettes, one a vignette."""
    places: dict[str, list[int]] = {}
    for place, reference in enumerate(references):
        places.setdefault(reference.vignette_id, []).append(place)
    found = []
    for reference in references:
        names = [name for name in places if name != reference.vignette_id]
        if len(names) > others:
            names = [names[at] for at in sorted(rng.choice(len(names), others, replace=False))]
        # Where a vignette has several references, the draw decides which one stands for it.
        found.append([_one_of(places[name], references, rng) for name in names])
    return found


def _one_of(places: list[int], references: Sequence[Reference], rng: Generator) -> int:
    if all(references[one] == references[other] for one, other in pairwise(places)):
        return places[0]
    return places[int(rng.integers(len(places)))]


def _text(answer: ClinicalAnswer, candidate: Candidate) -> str:
    if candidate == "differential":
        return ", ".join(answer.differential) if settles(answer, "differential") else ""
    return answer.text if worded(answer) else ""


def _words(
    texts: Sequence[str], references: Sequence[Reference], strangers: Sequence[Sequence[int]]
) -> dict[str, Match]:
    def score(row: int, place: int) -> tuple[float, ...]:
        return rouge(texts[row], references[place].text)

    return _matches(WORDS, score, strangers)


def _meanings(
    texts: Sequence[str],
    references: Sequence[Reference],
    strangers: Sequence[Sequence[int]],
    token_vectors: TokenEmbed,
) -> dict[str, Match]:
    distinct = list(dict.fromkeys([*texts, *(reference.text for reference in references)]))
    tokens = dict(zip(distinct, token_vectors(distinct), strict=True))

    def score(row: int, place: int) -> tuple[float, ...]:
        return bert_score(tokens[texts[row]], tokens[references[place].text])

    cut = sum(text.cut for text in tokens.values())
    return _matches(MEANINGS, score, strangers, cut)


def _concepts(
    answers: Sequence[ClinicalAnswer],
    references: Sequence[Reference],
    strangers: Sequence[Sequence[int]],
) -> dict[str, Match]:
    # Each answer is held to the same few diagnoses again and again.
    rank_of = cache(hit_rank)
    listed = [
        answer.differential if settles(answer, "differential") else None for answer in answers
    ]
    named = {one: bool(ranked_concepts(one)) for one in {each.differential for each in references}}

    def score(row: int, place: int) -> tuple[float, ...]:
        wanted, given = references[place].differential, listed[row]
        if not named[wanted] or given is None:
            return (math.nan,) * len(CONCEPTS)
        ranks = [rank_of(given, diagnosis) for diagnosis in wanted]
        hits = [float(ranks[0] <= k) for k in RANKS]
        return (*hits, sum(map(math.isfinite, ranks)) / len(ranks))

    return _matches(CONCEPTS, score, strangers)


def _matches(
    measures: Sequence[str],
    score: Callable[[int, int], tuple[float, ...]],
    strangers: Sequence[Sequence[int]],
    cut: int = 0,
) -> dict[str, Match]:
    """Scores every answer against its own reference and against those of others."""
    own = np.full((len(strangers), len(measures)), math.nan)
    chance = np.full_like(own, math.nan)
    for row, places in enumerate(strangers):
        own[row] = score(row, row)
        if places:
            chance[row] = _means(np.array([score(row, place) for place in places]))
    return {name: Match(name, own[:, at], chance[:, at], cut) for at, name in enumerate(measures)}


def _means(scores: NDArray[np.float64]) -> NDArray[np.float64]:
    """Means of the columns over what is defined; NaN where nothing is."""
    return np.array([_mean(column[~np.isnan(column)]) for column in scores.T])


def _mean(values: NDArray[np.float64]) -> float:
    return float(values.mean()) if len(values) else math.nan
