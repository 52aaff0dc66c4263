"""By how much answers move with an attribute, above what the same prompt's answers move by.

Every contrast on every endpoint is one `Effect` over vignettes. Cases in which an attribute ought
to matter are kept apart: a difference there is medicine, and none may be the fault.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace

import numpy as np
from numpy.typing import NDArray

from askew.audits.clinical_contrasts import Contrast, Pair
from askew.scores.endpoints import ENDPOINTS, Endpoint, measure, pair_matrix
from askew.seeds import generator
from askew.stats.counterfactual import adjust, distance_effect, interaction, signed_effect
from askew.stats.noise_floor import floor_of, mean_difference
from askew.stats.verdict import Effect
from askew.vignettes import URGENCIES, Answered, AnswerForm, ClinicalAnswer, Relevance, Vignette

Vectors = NDArray[np.float32]
_Sized = tuple[NDArray[np.float64], tuple[int, int]]  # distances; answers of either arm
Embed = Callable[[Sequence[str]], Vectors]
# Urgency is what a patient feels first; the top diagnosis and what must not be missed steer the
# rest; a psychogenic label is the best-documented form of not being believed.
PRIMARY = ("urgency", "top_diagnosis_differs", "must_not_miss_listed", "psychogenic_label")
# The largest difference that an endpoint allows, where its values do not say it themselves.
_SPANS = {"urgency": len(URGENCIES) - 1.0}


@dataclass(frozen=True, kw_only=True, slots=True)
class EffectConfig:
    """What is declared beforehand."""

    primary: tuple[str, ...] = PRIMARY  # endpoints, corrected by Holm; all others by BH
    margins: Mapping[str, float] = field(default_factory=dict)  # endpoint -> own margin
    reference: Mapping[str, str] = field(
        default_factory=lambda: {"gender": "male", "race": "White", "age": "40-60"}
    )


@dataclass(frozen=True, slots=True)
class Key:
    """Which effect: the answers' form, the comparison, the endpoint, and for which cases."""

    form: AnswerForm
    attribute: str
    contrast: str
    endpoint: str
    relevant: bool = False  # over the cases in which the attribute ought to matter


@dataclass(frozen=True, slots=True)
class Measured:
    """All answers of one run, measured.

    Attributes:
        values: (variant, form) -> endpoint -> one number an answer; NaN = no value.
        answers: (variant, form) -> the answers, by replicate.
        vectors: (variant, form) -> shape (answers, dimensions); empty without an embedder.
    """

    values: Mapping[tuple[str, AnswerForm], Mapping[str, NDArray[np.float64]]]
    answers: Mapping[tuple[str, AnswerForm], Sequence[ClinicalAnswer]]
    vectors: Mapping[tuple[str, AnswerForm], Vectors]


def measured(answered: Sequence[Answered], embed: Embed | None = None) -> Measured:
    """Every endpoint of every answer.

    Args:
        answered: in any order.
        embed: sentence vectors, for the distance between texts; None leaves that out.
    """
    groups: dict[tuple[str, AnswerForm], list[Answered]] = {}
    for one in answered:
        groups.setdefault((one.variant.id, one.form), []).append(one)
    for group in groups.values():
        group.sort(key=lambda one: one.replicate)
    values = {
        place: _columns([measure(one.answer, one.vignette) for one in group])
        for place, group in groups.items()
    }
    answers = {place: tuple(one.answer for one in group) for place, group in groups.items()}
    return Measured(values, answers, _vectors(answers, embed))


def effects(
    vignettes: Mapping[str, Vignette],
    contrasts: Sequence[Contrast],
    found: Measured,
    forms: Sequence[AnswerForm],
    config: EffectConfig,
    seed: int,
) -> dict[Key, Effect]:
    """Every contrast on every endpoint, with p values corrected over all of them.

    Declared beforehand are the primary endpoints of the first form, between levels, over the cases
    in which the attribute is not known to matter.
    """
    made: dict[Key, Effect] = {}
    for form in forms:
        for endpoint in ENDPOINTS.values():
            distances = PairDistances(found, form, endpoint.name)
            for contrast in contrasts:
                for relevant in (False, True):
                    key = Key(form, contrast.attribute, contrast.name, endpoint.name, relevant)
                    pairs = compared_pairs(contrast, vignettes, relevant=relevant)
                    if not pairs:
                        continue
                    rng = generator(seed, "effect", *_names(key))
                    margin = _margin(endpoint, config)
                    effect = (
                        _distance_effect(pairs, distances, margin, rng)
                        if endpoint.kind == "distance"
                        else _signed_effect(pairs, found, form, endpoint, margin, rng)
                    )
                    if effect is not None:
                        made[key] = effect
    levels = {(one.attribute, one.name) for one in contrasts if one.kind == "levels"}
    primary = {
        key
        for key in made
        if key.form == forms[0]
        and key.endpoint in config.primary
        and (key.attribute, key.contrast) in levels
        and not key.relevant
    }
    return adjust(made, primary)


def interactions(
    made: Mapping[Key, Effect], forms: Sequence[AnswerForm], config: EffectConfig, seed: int
) -> dict[Key, Effect]:
    """Whether multi-hop answers move more than direct ones: excess − excess, primary endpoints."""
    found: dict[Key, Effect] = {}
    if "direct" not in forms:
        return found
    for key, effect in made.items():
        if key.form == "direct" or key.endpoint not in config.primary:
            continue
        direct = made.get(Key("direct", key.attribute, key.contrast, key.endpoint, key.relevant))
        if direct is not None:
            endpoint = ENDPOINTS[key.endpoint]
            rng = generator(seed, "interaction", *_names(key))
            found[key] = interaction(
                effect, direct, _margin(endpoint, config), rng, span=_largest_change(endpoint)
            )
    return adjust(found, set())


def _names(key: Key) -> tuple[str, ...]:
    return (key.form, key.attribute, key.contrast, key.endpoint, str(key.relevant))


def _largest_change(endpoint: Endpoint) -> float | None:
    """How far apart two effects can be; None where the endpoint has no bound."""
    span = 1.0 if endpoint.kind in ("binary", "distance") else _SPANS.get(endpoint.name)
    return None if span is None else 2 * span


def _signed_effect(
    pairs: Mapping[str, Sequence[Pair]],
    found: Measured,
    form: AnswerForm,
    endpoint: Endpoint,
    margin: float,
    rng: np.random.Generator,
) -> Effect | None:
    """None where no answer of these vignettes has a value."""
    variants = {variant for two in pairs.values() for pair in two for variant in pair}
    known = {one: known_values(found, form, endpoint.name, one) for one in variants}
    if not any(map(len, known.values())):
        return None
    both = [
        [pair for pair in two if len(known[pair.base]) and len(known[pair.changed])]
        for two in pairs.values()
    ]
    effect = signed_effect(
        [counted_alike([pair.base for pair in two], known) for two in both],
        [counted_alike([pair.changed for pair in two], known) for two in both],
        list(pairs),
        margin,
        rng,
        span=_SPANS.get(endpoint.name),
    )
    floors = [_floor(two, known) for two in pairs.values()]
    return replace(effect, floor=floor_of(floors, len(pairs)))


def counted_alike(
    variants: Sequence[str], known: Mapping[str, NDArray[np.float64]]
) -> NDArray[np.float64]:
    """The values of one arm of a vignette, in which each of its pairs counts alike.

    Were they thrown together, an arm that lost answers under one race would compare races.
    """
    times = Counter(variants)
    if not variants:
        return np.empty(0)
    if len(set(times.values())) == 1:
        variants = list(times)  # a text that stands in every pair has no more answers for that
    most = math.lcm(*(len(known[one]) for one in variants))
    return np.concatenate([np.repeat(known[one], most // len(known[one])) for one in variants])


def _floor(pairs: Sequence[Pair], known: Mapping[str, NDArray[np.float64]]) -> float:
    """What two answers to one prompt differ by: the mean of the two arms, each over its prompts."""
    arms = (dict.fromkeys(pair.base for pair in pairs), dict.fromkeys(p.changed for p in pairs))
    means = [_mean_known([mean_difference(known[one]) for one in arm]) for arm in arms]
    return _mean_known(means)


def _mean_known(values: Sequence[float]) -> float:
    known = [value for value in values if not math.isnan(value)]
    return math.fsum(known) / len(known) if known else math.nan


def _distance_effect(
    pairs: Mapping[str, Sequence[Pair]],
    distances: PairDistances,
    margin: float,
    rng: np.random.Generator,
) -> Effect | None:
    """None where no two answers of these vignettes have a distance."""
    made = [distances.among(two) for two in pairs.values()]
    matrices, sizes = [matrix for matrix, _ in made], [size for _, size in made]
    if not any(np.isfinite(matrix).any() for matrix in matrices):
        return None
    return distance_effect(matrices, sizes, list(pairs), margin, rng)


def compared_pairs(
    contrast: Contrast, vignettes: Mapping[str, Vignette], *, relevant: bool
) -> dict[str, Sequence[Pair]]:
    """The contrast's pairs over the cases in which the attribute ought to matter, or the others."""
    attributes = contrast.attribute.split("+")
    return {
        name: pairs
        for name, pairs in contrast.pairs.items()
        if relevant == any(_relevance(vignettes[name], one) == "relevant" for one in attributes)
    }


def _relevance(vignette: Vignette, attribute: str) -> Relevance:
    return vignette.relevance.get(attribute, "unknown")


def _margin(endpoint: Endpoint, config: EffectConfig) -> float:
    return config.margins.get(endpoint.name, endpoint.margin)


def known_values(
    found: Measured, form: AnswerForm, endpoint: str, variant: str
) -> NDArray[np.float64]:
    """The values that the answers to a variant have."""
    columns = found.values.get((variant, form), {})
    values = columns.get(endpoint, np.empty(0))
    return values[~np.isnan(values)]


class PairDistances:
    """One two-answer endpoint; each pair of variants is compared once, whatever it stands for."""

    def __init__(self, found: Measured, form: AnswerForm, endpoint: str) -> None:
        self._found = found
        self._form = form
        self._endpoint = endpoint
        self._known: dict[Pair, _Sized] = {}

    def among(self, pairs: Sequence[Pair]) -> _Sized:
        """Distances among the answers of both arms of a vignette, those of the base arm first.

        Where a vignette has several pairs (a gender under each of four races), their matrices are
        averaged, answer by answer, so that the labels of all are permuted together.
        """
        parts = [self._of(pair) for pair in pairs]
        # A pair that lacks an arm has nothing to compare and would add its own noise.
        parts = [part for part in parts if min(part[1])] or parts
        base = max(size for _, (size, _) in parts)
        changed = max(size for _, (_, size) in parts)
        whole = [_placed(matrix, size, (base, changed)) for matrix, size in parts]
        return _mean(whole), (base, changed)

    def _of(self, pair: Pair) -> _Sized:
        if pair not in self._known:
            self._known[pair] = self._compared(pair)
        return self._known[pair]

    def _compared(self, pair: Pair) -> _Sized:
        found, places = self._found, [(variant, self._form) for variant in pair]
        base, changed = (found.answers.get(place, ()) for place in places)
        vectors = [found.vectors[place] for place in places if place in found.vectors]
        both = np.concatenate(vectors) if len(vectors) == len(places) else None
        matrix = pair_matrix([*base, *changed], self._endpoint, both)
        return matrix, (len(base), len(changed))


def _placed(
    matrix: NDArray[np.float64], size: tuple[int, int], wanted: tuple[int, int]
) -> NDArray[np.float64]:
    """The matrix with rows of NaN for the answers that an arm lacks."""
    if size == wanted:
        return matrix
    whole = np.full((sum(wanted), sum(wanted)), np.nan)
    places = [*range(size[0]), *range(wanted[0], wanted[0] + size[1])]
    whole[np.ix_(places, places)] = matrix
    return whole


def _mean(matrices: Sequence[NDArray[np.float64]]) -> NDArray[np.float64]:
    if len(matrices) == 1:
        return matrices[0]
    stacked = np.stack(matrices)
    known = np.isfinite(stacked)
    counts = known.sum(axis=0)
    total = np.where(known, stacked, 0.0).sum(axis=0)
    return np.asarray(np.where(counts > 0, total / np.maximum(counts, 1), np.nan))


def _columns(rows: Sequence[Mapping[str, float]]) -> dict[str, NDArray[np.float64]]:
    names = dict.fromkeys(name for row in rows for name in row)
    return {name: np.array([row.get(name, np.nan) for row in rows]) for name in names}


def _vectors(
    answers: Mapping[tuple[str, AnswerForm], Sequence[ClinicalAnswer]], embed: Embed | None
) -> dict[tuple[str, AnswerForm], Vectors]:
    if embed is None:
        return {}
    texts = dict.fromkeys(one.text for group in answers.values() for one in group)
    known = dict(zip(texts, embed(list(texts)), strict=True)) if texts else {}
    return {
        place: np.stack([known[one.text] for one in group])
        for place, group in answers.items()
        if group
    }
