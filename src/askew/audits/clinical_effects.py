"""By how much answers move with an attribute, above what the same prompt's answers move by.

Every contrast on every endpoint is one `Effect` over vignettes. Cases in which an attribute ought
to matter are kept apart: a difference there is medicine, and none may be the fault.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from askew.audits.clinical_contrasts import Contrast, Pair
from askew.scores.endpoints import ENDPOINTS, Endpoint, measure, pair_matrix
from askew.seeds import generator
from askew.stats.counterfactual import adjust, distance_effect, interaction, signed_effect
from askew.stats.verdict import Effect
from askew.vignettes import URGENCIES, Answered, AnswerForm, ClinicalAnswer, Relevance, Vignette

Vectors = NDArray[np.float32]
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
        for contrast in contrasts:
            for relevant in (False, True):
                pairs = _pairs(contrast, vignettes, relevant=relevant)
                if pairs:
                    made |= _of_contrast(contrast, pairs, found, form, config, seed, relevant)
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
            rng = generator(seed, "interaction", key.form, key.contrast, key.endpoint)
            margin = _margin(ENDPOINTS[key.endpoint], config)
            found[key] = interaction(effect, direct, margin, rng)
    return adjust(found, set())


def _of_contrast(
    contrast: Contrast,
    pairs: Mapping[str, Sequence[Pair]],
    found: Measured,
    form: AnswerForm,
    config: EffectConfig,
    seed: int,
    relevant: bool,
) -> dict[Key, Effect]:
    made: dict[Key, Effect] = {}
    for endpoint in ENDPOINTS.values():
        key = Key(form, contrast.attribute, contrast.name, endpoint.name, relevant)
        use = ("effect", form, contrast.attribute, contrast.name, endpoint.name, str(relevant))
        rng = generator(seed, *use)
        margin = _margin(endpoint, config)
        if endpoint.kind == "distance":
            matrices, sizes = _matrices(pairs, found, form, endpoint.name)
            if any(np.isfinite(matrix).any() for matrix in matrices):
                made[key] = distance_effect(matrices, sizes, list(pairs), margin, rng)
            continue
        base = [
            _values(found, form, endpoint.name, [p.base for p in two]) for two in pairs.values()
        ]
        changed = [
            _values(found, form, endpoint.name, [p.changed for p in two]) for two in pairs.values()
        ]
        if any(np.isfinite(part).any() for part in (*base, *changed)):
            made[key] = signed_effect(
                base, changed, list(pairs), margin, rng, span=_SPANS.get(endpoint.name)
            )
    return made


def _pairs(
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


def _values(
    found: Measured, form: AnswerForm, endpoint: str, variants: Sequence[str]
) -> NDArray[np.float64]:
    """The values of all answers to these variants; a variant that comes twice counts twice."""
    parts = [found.values[one, form][endpoint] for one in variants if (one, form) in found.values]
    return np.concatenate(parts) if parts else np.empty(0)


def _matrices(
    pairs: Mapping[str, Sequence[Pair]], found: Measured, form: AnswerForm, endpoint: str
) -> tuple[list[NDArray[np.float64]], list[tuple[int, int]]]:
    """Distances among the answers of both arms, one matrix a vignette.

    Where a vignette has several pairs (a gender under each of four races), their matrices are
    averaged, answer by answer, so that the labels of all are permuted together.
    """
    matrices, sizes = [], []
    for two in pairs.values():
        parts = [_matrix(pair, found, form, endpoint) for pair in two]
        base = max(size for _, (size, _) in parts)
        changed = max(size for _, (_, size) in parts)
        whole = [_placed(matrix, size, (base, changed)) for matrix, size in parts]
        matrices.append(_mean(whole))
        sizes.append((base, changed))
    return matrices, sizes


def _matrix(
    pair: Pair, found: Measured, form: AnswerForm, endpoint: str
) -> tuple[NDArray[np.float64], tuple[int, int]]:
    places = [(pair.base, form), (pair.changed, form)]
    sides = [found.answers.get(place, ()) for place in places]
    vectors = [found.vectors[place] for place in places if place in found.vectors]
    both = np.concatenate(vectors) if len(vectors) == len(places) else None
    matrix = pair_matrix([*sides[0], *sides[1]], endpoint, both)
    return matrix, (len(sides[0]), len(sides[1]))


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
