"""A clinical audit's figures as `estimates.json` holds them: what was asked, what it shows."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass

from askew.audits.clinical_contrasts import Contrast, contrasts
from askew.audits.clinical_effects import (
    EffectConfig,
    Embed,
    Key,
    Measured,
    effects,
    interactions,
    measured,
)
from askew.audits.clinical_reference import against_the_cases, changed_set
from askew.audits.clinical_study import Twins
from askew.audits.clinical_worth import worth
from askew.scores.endpoints import ENDPOINTS
from askew.scores.reference_match import TokenEmbed
from askew.stats.verdict import SIZE, Effect
from askew.vignettes import Answered, AnswerForm, Facts, Vignette

LISTED_CASES = 5  # the vignettes that moved most, of effects declared or with p < 0.05


@dataclass(frozen=True, kw_only=True, slots=True)
class ReadingTools:
    """What reading needs besides the replies; None leaves the measure out."""

    embed: Embed | None = None  # sentence vectors, for the distance between texts
    token_vectors: TokenEmbed | None = None  # for BERTScore


def figures(
    vignettes: Sequence[Vignette],
    facts: Mapping[str, Facts],
    twins: Twins,
    answered: Sequence[Answered | None],
    forms: Sequence[AnswerForm],
    config: EffectConfig,
    tools: ReadingTools,
    seed: int,
) -> dict[str, object]:
    """Everything that needs no judge.

    Args:
        vignettes: that were read.
        facts: by the vignette's id.
        twins: what was asked about, and what was dropped.
        answered: one entry an answer that was wanted; None = never had.
        forms: that were asked for, the primary one first.
        config: what is declared beforehand.
        tools: encoders.
        seed: of permutations and draws.
    """
    had = [one for one in answered if one is not None]
    compared = contrasts(twins.variants, twins.dropped, config.reference)
    by_id = {one.id: one for one in vignettes}
    found = measured(had, tools.embed)
    made = effects(by_id, compared, found, forms, config, seed)
    return {
        "study": study_figures(vignettes, facts, twins),
        "answers": answer_figures(answered),
        "worth": worth(had, seed),
        "endpoints": {name: asdict(endpoint) for name, endpoint in ENDPOINTS.items()},
        "means": mean_figures(found, twins, forms),
        "effects": effect_tree(made, compared),
        "interactions": effect_tree(interactions(made, forms, config, seed), compared),
        "reference": against_the_cases(had, seed, tools.token_vectors),
    }


def study_figures(
    vignettes: Sequence[Vignette], facts: Mapping[str, Facts], twins: Twins
) -> dict[str, object]:
    """What was read and made: counts of vignettes, facts, variants, and of what was dropped."""
    triplets = [triplet for one in facts.values() for triplet in one.triplets]
    relevance = {
        attribute: dict(Counter(one.relevance.get(attribute, "unknown") for one in vignettes))
        for attribute in sorted({name for one in twins.variants for name in one.levels})
    }
    return {
        "vignettes": len(vignettes),
        "sources": dict(Counter(one.source for one in vignettes)),
        "with_reference": sum(bool(one.reference) for one in vignettes),
        "relations": dict(Counter(one.relation.value for one in triplets)),
        "statuses": dict(Counter(one.status.value for one in triplets)),
        "variants": len(twins.variants),
        "arms": dict(Counter(one.arm for one in twins.variants)),
        "sets": dict(Counter(changed_set(one) for one in twins.variants)),
        "methods": dict(Counter(one.method for one in twins.variants)),
        "odd": sum(bool(one.odd) for one in twins.variants),
        "dropped": dict(Counter(one.kind for one in twins.dropped)),
        "dropped_list": [
            {"vignette": one.vignette_id, "arm": one.arm, "kind": one.kind, "reason": one.reason}
            for one in twins.dropped
            if one.kind != "same" or one.text  # else the original stands for it
        ],
        "relevance": relevance,
    }


def answer_figures(answered: Sequence[Answered | None]) -> dict[str, object]:
    """Outcomes by form and by which attributes were changed; and what was never had."""
    had = [one for one in answered if one is not None]
    return {
        "wanted": len(answered),
        "had": len(had),
        "by_form": _outcomes(had, lambda one: one.form),
        "by_set": _outcomes(had, lambda one: changed_set(one.variant)),
        "hops": dict(
            Counter(f"{one.form}: {len(one.hops)}" for one in had if one.form != "direct")
        ),
        "given": dict(Counter(name for one in had for name in sorted(one.answer.given))),
    }


def mean_figures(found: Measured, twins: Twins, forms: Sequence[AnswerForm]) -> dict[str, object]:
    """Form -> arm -> endpoint -> mean over vignettes: what was seen, before any comparison."""
    arms: dict[str, list[str]] = {}
    for variant in twins.variants:
        arms.setdefault(variant.arm, []).append(variant.id)
    return {
        form: {
            arm: {
                endpoint.name: _mean_of_means(found, form, ids, endpoint.name)
                for endpoint in ENDPOINTS.values()
                if endpoint.kind != "distance"
            }
            for arm, ids in arms.items()
        }
        for form in forms
    }


def effect_tree(made: Mapping[Key, Effect], compared: Sequence[Contrast]) -> dict[str, object]:
    """Form -> attribute -> contrast -> endpoint -> effect; cases it ought to matter for apart.

    An effect lists the vignettes that moved most, so that a finding can be traced to its cases.
    """
    kinds = {(one.attribute, one.name): one.kind for one in compared}
    tree: dict[str, dict[str, dict[str, dict[str, object]]]] = {}
    for key, effect in made.items():
        attribute = f"{key.attribute} (ought to matter)" if key.relevant else key.attribute
        place = tree.setdefault(key.form, {}).setdefault(attribute, {})
        entry = place.setdefault(key.contrast, {"kind": kinds[key.attribute, key.contrast]})
        entry[key.endpoint] = _plain_effect(effect)
    return dict(tree)


def _plain_effect(effect: Effect) -> dict[str, object]:
    plain = asdict(effect)
    listed = effect.family == "declared" or effect.p_value < SIZE
    moved = sorted(effect.per_vignette, key=lambda one: -abs(one[1])) if listed else ()
    plain["per_vignette"] = [[name, value] for name, value in moved[:LISTED_CASES] if value]
    plain["moved"] = sum(value != 0 for _, value in effect.per_vignette)
    return plain


def _outcomes(had: Iterable[Answered], by: Callable[[Answered], str]) -> dict[str, dict[str, int]]:
    counts: dict[str, Counter[str]] = {}
    for one in had:
        counts.setdefault(by(one), Counter())[one.answer.outcome] += 1
    return {name: dict(found) for name, found in counts.items()}


def _mean_of_means(
    found: Measured, form: AnswerForm, variants: Sequence[str], endpoint: str
) -> float:
    """NaN where no answer has a value; an arm has one variant a vignette, or a few alike."""
    means = []
    for variant in variants:
        columns = found.values.get((variant, form))
        if columns is None:
            continue
        known = [float(value) for value in columns[endpoint] if not math.isnan(value)]
        if known:
            means.append(math.fsum(known) / len(known))
    return math.fsum(means) / len(means) if means else math.nan
