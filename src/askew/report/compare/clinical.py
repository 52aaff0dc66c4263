"""The clinical audit of two runs: the same cases and twins, one difference of effects a figure."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import get_args

import numpy as np

from askew.audits.clinical_answers import AnswerConfig, Ask, Case, asks_of, read_all
from askew.audits.clinical_contrasts import Contrast, contrasts
from askew.audits.clinical_effects import EffectConfig, Key, effects, measured
from askew.models.ledgerfile import is_ledger, read_records
from askew.records import Estimate, Reply
from askew.report.clinical_run import as_mapping
from askew.report.compare.clinical_flips import Answers, counted_flips, moved_cases
from askew.report.compare.records import (
    AuditComparison,
    FigureDifference,
    Flip,
    Left,
    SettingDifference,
)
from askew.runfolder import RunFolder
from askew.scores.endpoints import ENDPOINTS, Endpoint
from askew.seeds import generator
from askew.stats.change_mean import FEW, ChangeMean
from askew.stats.intervals import LEVEL, Numbers
from askew.stats.lean_change import OF_TWO, lean_change, lean_ends, lean_p
from askew.stats.signflip import sign_flip_test
from askew.stats.verdict import Effect
from askew.vignettes import URGENCIES, Answered, AnswerForm, Dropped, Variant, Vignette

_SHARES = ("share of answers", "share of pairs", "share of diagnoses")


@dataclass(frozen=True, slots=True)
class _Run:
    """What one run asked and was answered."""

    vignettes: Mapping[str, Vignette]
    variants: Mapping[str, Variant]
    dropped: tuple[Dropped, ...]
    answered: tuple[Answered, ...]
    wanted: tuple[Ask, ...]
    forms: tuple[AnswerForm, ...]


def compare_clinical(
    baseline: RunFolder,
    other: RunFolder,
    settings: tuple[SettingDifference, ...],
    tables: tuple[Mapping[str, object], Mapping[str, object]],
    *,
    margin: float,
    seed: int,
    limit: int,
) -> AuditComparison:
    """The clinical audit of two runs, without verdicts.

    Every endpoint keeps the margin that was declared for it, in its own unit.

    Args:
        baseline: the run that is held against.
        other: the other run.
        settings: in what the two differ.
        tables: the `[clinical]` table of each, parsed.
        margin: of shares of answers, for the coverage.
        seed: of random flips.
        limit: flips listed of each kind.

    Raises:
        RunError: a run cannot be read.
    """
    runs = [_read(folder, table) for folder, table in zip((baseline, other), tables, strict=True)]
    vignettes, variants = _shared(runs[0], runs[1])
    form = next((one for one in runs[0].forms if one in runs[1].forms), None)
    config = _effect_config(*tables)
    dropped = [one for one in runs[0].dropped if one.vignette_id in vignettes]
    levels = [
        one
        for one in contrasts(list(variants.values()), dropped, config.reference)
        if one.kind == "levels"
    ]
    answers = [_by_place(run, variants) for run in runs]
    made = [_effects(vignettes, levels, found, form, config, seed) for found in answers]
    figures: list[FigureDifference] = []
    flips: list[tuple[float, Flip]] = []
    by_name = {(one.attribute, one.name): one for one in levels}
    for key in made[0]:
        if key in made[1]:
            ends = [dict(effects[key].per_vignette) for effects in made]
            names = [
                name
                for name in ends[0]
                if not math.isnan(ends[0][name]) and not math.isnan(ends[1].get(name, math.nan))
            ]
            values = np.array([[one[name] for name in names] for one in ends], dtype=np.float64)
            figures.append(_figure(key, values, len(ends[0]), config, seed))
            contrast = by_name[key.attribute, key.contrast]
            flips += moved_cases(key, contrast, names, values, vignettes, answers)
    coverage = tuple(_coverage(run, variants, form) for run in runs)
    return AuditComparison(
        audit="clinical",
        unit="vignettes",
        paired=len(vignettes),
        items=len(vignettes),
        left=_left(runs[0], runs[1], vignettes, variants),
        settings=settings,
        figures=tuple(figures),
        flips=counted_flips(flips, limit),
        objection="",
        cautions=() if form else ("the two runs have no form of answer in common",),
        coverage=(coverage[0], coverage[1]),
    )


def _read(folder: RunFolder, table: Mapping[str, object]) -> _Run:
    vignettes = {one.id: one for one in folder.read_parts("vignette", Vignette)}
    variants = {one.id: one for one in folder.read_parts("variant", Variant)}
    cases = {name: Case(vignettes[one.vignette_id], one) for name, one in variants.items()}
    default = AnswerConfig()
    config = AnswerConfig(
        forms=_forms(table) or default.forms,
        structured=table.get("structured", default.structured) is not False,
        first_hop="extractor" if table.get("first_hop") == "extractor" else "target",
        replicates=_whole(table.get("replicates"), default.replicates),
    )
    asks = folder.read_parts("ask", Ask) or asks_of(list(cases.values()), config)
    replies: dict[str, Reply | None] = {}
    if is_ledger(folder.database):
        replies = {record.key: record.reply for record in read_records(folder.database)}
    answered = read_all(cases, asks, replies, config)
    return _Run(
        vignettes,
        variants,
        tuple(folder.read_parts("dropped", Dropped)),
        tuple(one for one in answered if one is not None),
        tuple(asks),
        tuple(dict.fromkeys(ask.form for ask in asks)),
    )


def _forms(table: Mapping[str, object]) -> tuple[AnswerForm, ...]:
    named = table.get("answers")
    return (
        tuple(one for one in named if one in get_args(AnswerForm))
        if isinstance(named, list)
        else ()
    )


def _whole(found: object, default: int) -> int:
    return found if isinstance(found, int) else default


def _effect_config(*tables: Mapping[str, object]) -> EffectConfig:
    """What both runs declared, with the baseline's margins and reference levels."""
    default, table = EffectConfig(), tables[0]
    primary = default.primary
    declared = [named for one in tables if isinstance(named := one.get("primary"), list)]
    if declared:
        primary = tuple(
            name
            for name in declared[0]
            if name in ENDPOINTS and all(name in other for other in declared)
        )
    margins = {
        name: float(value)
        for name, value in as_mapping(table.get("margins")).items()
        if isinstance(value, int | float)
    }
    reference = {
        **default.reference,
        **{name: str(level) for name, level in as_mapping(table.get("reference")).items()},
    }
    return EffectConfig(primary=primary, margins=margins, reference=reference)


def _shared(before: _Run, after: _Run) -> tuple[dict[str, Vignette], dict[str, Variant]]:
    """The vignettes and variants that read the same in both runs."""
    vignettes = {
        name: one
        for name, one in before.vignettes.items()
        if name in after.vignettes and _words(one) == _words(after.vignettes[name])
    }
    variants = {
        name: one
        for name, one in before.variants.items()
        if one.vignette_id in vignettes
        and name in after.variants
        and one.text == after.variants[name].text
        and dict(one.levels) == dict(after.variants[name].levels)
    }
    return vignettes, variants


def _words(one: Vignette) -> tuple[object, ...]:
    return one.text, one.question, one.options, one.must_not_miss


def _left(
    before: _Run,
    after: _Run,
    vignettes: Mapping[str, Vignette],
    variants: Mapping[str, Variant],
) -> tuple[Left, ...]:
    names = before.vignettes.keys(), after.vignettes.keys()
    otherwise = len((names[0] & names[1]) - vignettes.keys())
    twins = [
        sum(one.vignette_id in vignettes for one in run.variants.values()) - len(variants)
        for run in (before, after)
    ]
    data = "(other data, another limit, or another seed)"
    found = (
        Left(
            "vignettes",
            len(names[0] - names[1]),
            "baseline",
            f"the other run has no such vignette {data}",
        ),
        Left(
            "vignettes",
            len(names[1] - names[0]),
            "other",
            f"the baseline has no such vignette {data}",
        ),
        Left("vignettes", otherwise, "both", "they read otherwise in the two runs"),
        Left("twins", twins[0], "baseline", "the other run has no twin that reads the same"),
        Left("twins", twins[1], "other", "the baseline has no twin that reads the same"),
    )
    return tuple(one for one in found if one.count)


def _by_place(run: _Run, variants: Mapping[str, Variant]) -> Answers:
    found: dict[tuple[str, AnswerForm], list[Answered]] = {}
    for one in run.answered:
        if one.variant.id in variants:
            found.setdefault((one.variant.id, one.form), []).append(one)
    return found


def _effects(
    vignettes: Mapping[str, Vignette],
    levels: Sequence[Contrast],
    answers: Answers,
    form: AnswerForm | None,
    config: EffectConfig,
    seed: int,
) -> dict[Key, Effect]:
    """The declared effects: primary endpoints, between levels, where the attribute is no fact."""
    if form is None:
        return {}
    found = measured([one for group in answers.values() for one in group])
    made = effects(vignettes, levels, found, (form,), config, seed)
    return {key: effect for key, effect in made.items() if effect.family == "declared"}


def _figure(
    key: Key, values: Numbers, asked: int, config: EffectConfig, seed: int
) -> FigureDifference:
    """The difference of two effects over the vignettes that have both.

    Args:
        key: which effect.
        values: shape (2, vignettes): each vignette's effect in the baseline and the other run.
        asked: vignettes that can make the comparison.
        config: for the margin.
        seed: of random flips.
    """
    endpoint = ENDPOINTS[key.endpoint]
    count = values.shape[1]
    apart, total = values[1] - values[0], values[1] + values[0]
    nan, distance = math.nan, endpoint.kind == "distance"
    value = lower = upper = p_value = spread = nan
    note, method = "no vignette has both effects", "none"
    if count:
        span = 2 * _span(endpoint)
        of_apart, of_total = ChangeMean(apart, span), ChangeMean(total, span)
        use = (key.form, key.attribute, key.contrast, key.endpoint)
        p_apart = sign_flip_test(apart, generator(seed, "compare", *use)).p_value
        p_total = sign_flip_test(total, generator(seed, "no lean", *use)).p_value
        note, method = "", of_apart.method
        if distance:
            value, (lower, upper), p_value = of_apart.value, of_apart.ends(LEVEL), p_apart
        else:
            value = lean_change(of_apart.value, of_total.value)
            lower, upper = lean_ends(of_apart.ends(OF_TWO), of_total.ends(OF_TWO))
            p_value, method = lean_p(p_apart, p_total), f"{method}, two joined"
        if count > 1:
            least = math.sqrt(1 / (count + 2)) * span
            spread = max(float(apart.std(ddof=1)), 0.0 if math.isnan(least) else least)
        if math.isnan(lower):
            note = "too few vignettes, or all alike: nothing tells how others would differ"
    if p_value >= 1 - LEVEL and not lower <= 0 <= upper and not math.isnan(lower):
        lower, upper = min(lower, 0.0), max(upper, 0.0)
        method += ", widened to 0 by the test"
    elif p_value < 1 - LEVEL and ("rule of three" in method or FEW in method) and lower < 0 < upper:
        # All vignettes moved alike, or few did: their spread is not known, and the test tells more.
        lower, upper = (0.0, upper) if value > 0 else (lower, 0.0)
        method += ", cut at 0 by the test"
    return FigureDifference(
        audit="clinical",
        name=f"effects.{key.form}.{key.attribute}.{key.contrast}.{key.endpoint}",
        title=f"{endpoint.title.lower()} ({key.contrast})",
        slice_of="",
        good="low" if distance else "no lean",
        percent=endpoint.unit in _SHARES,
        baseline=float(values[0].mean()) if count else nan,
        other=float(values[1].mean()) if count else nan,
        difference=Estimate(
            value, lower, upper, count, count / asked if asked else nan, method, seed, LEVEL, note
        ),
        p_value=p_value,
        margin=config.margins.get(endpoint.name, endpoint.margin),
        items=count,
        spread=spread,
    )


def _span(endpoint: Endpoint) -> float:
    """The largest effect that one vignette can show; NaN where there is no bound."""
    if endpoint.name == "urgency":
        return len(URGENCIES) - 1.0
    return 1.0 if endpoint.kind in ("binary", "distance") or endpoint.unit in _SHARES else math.nan


def _coverage(run: _Run, variants: Mapping[str, Variant], form: AnswerForm | None) -> float:
    wanted = sum(ask.variant_id in variants and ask.form == form for ask in run.wanted)
    read = sum(
        one.variant.id in variants and one.form == form and one.answer.outcome == "answered"
        for one in run.answered
    )
    return read / wanted if wanted else math.nan
