"""Twins that models make: the paper's Generator and Attacker (§3.1, Eq. 2), checked by rule.

The Generator puts a vignette's facts into a question, the Attacker writes n variants of it. Each
variant passes the coherence gate and has its facts extracted again; what fails is counted, never
asked about.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from askew import perturb
from askew.audits.clinical_study import Study, Twins
from askew.audits.stages import Asked, Stages
from askew.prompts.clinical_questions import attacker, generator
from askew.records import Call, Sampling
from askew.scores.questions import read_question, read_variants
from askew.vignettes import Dropped, Facts, Relation, Variant, Vignette, arm_name

# Table 2 compares these; the paper gives no count for each of them, so each gets n variants.
COMBINATIONS = (("age", "gender", "place"), ("age", "gender"), ("place",))


@dataclass(frozen=True, kw_only=True, slots=True)
class GeneratorConfig:
    """How other models make the twins."""

    variants: int = 4  # §4.1: "four variations"
    combinations: tuple[tuple[str, ...], ...] = COMBINATIONS
    levels: Mapping[str, Sequence[str]]  # of age, gender and place, to choose from
    generator: Sampling = Sampling(temperature=0.5, max_tokens=400)  # §4.1
    attacker: Sampling = Sampling(temperature=0.5, max_tokens=400)


async def generate(study: Study, config: GeneratorConfig, stages: Stages) -> Twins:
    """Ask both models and check what they wrote.

    Raises:
        StoppedEarly: calls were not sent.
    """
    asked = await stages.ask("questions", "generator", generator_calls(study, config))
    dropped: list[Dropped] = []
    questions: list[tuple[Vignette, str]] = []
    for vignette, one in zip(study.vignettes, asked, strict=True):
        question = None if one.reply is None else read_question(one.reply)
        if question is None:
            dropped.append(_unreadable(vignette, "generated", "the generator", one))
        else:
            questions.append((vignette, question))
    twins = await _attacked(study, questions, config, stages)
    return Twins((), tuple(dropped)).with_more(twins)


def generator_calls(study: Study, config: GeneratorConfig) -> list[Call]:
    """The calls to the Generator, one a vignette."""
    return [
        Call(generator(study.facts[vignette.id]), config.generator, role="generator")
        for vignette in study.vignettes
    ]


async def _attacked(
    study: Study,
    questions: Sequence[tuple[Vignette, str]],
    config: GeneratorConfig,
    stages: Stages,
) -> Twins:
    wanted = [
        (vignette, question, combination)
        for vignette, question in questions
        for combination in config.combinations
    ]
    calls = [
        Call(
            attacker(
                question,
                combination,
                config.variants,
                ages=config.levels["age"],
                genders=config.levels["gender"],
                places=config.levels["place"],
                seed_levels=levels_stated(study.facts[vignette.id]),
            ),
            config.attacker,
            role="attacker",
        )
        for vignette, question, combination in wanted
    ]
    asked = await stages.ask("perturbed questions", "attacker", calls)
    variants: list[Variant] = []
    dropped: list[Dropped] = []
    for (vignette, _, combination), one in zip(wanted, asked, strict=True):
        found = [] if one.reply is None else read_variants(one.reply, config.variants)
        name = "+".join(combination)
        if len(found) < config.variants:
            lacking = config.variants - len(found)
            dropped += [_unreadable(vignette, name, "the attacker", one)] * lacking
        for number, twin in enumerate(found, start=1):
            arm = arm_name(twin.levels)
            failed = perturb.check(vignette, study.facts[vignette.id], twin.levels, twin.text)
            if failed is not None:
                dropped.append(failed)
                continue
            variants.append(
                Variant(
                    id=f"{vignette.id}/{arm}#{name}.{number}",
                    vignette_id=vignette.id,
                    arm=arm,
                    levels=twin.levels,
                    text=twin.text,
                    method="attacker",
                )
            )
    return Twins(tuple(variants), tuple(dropped))


def levels_stated(facts: Facts) -> dict[str, str]:
    """What a text says of the attributes that the Attacker changes."""
    relations = {
        Relation.HAS_AGE: "age",
        Relation.HAS_GENDER: "gender",
        Relation.LIVES_IN: "place",
    }
    found: dict[str, str] = {}
    for triplet in facts.of(*relations):
        unit = f" {triplet.unit}s" if triplet.unit not in (None, "year") else ""
        found.setdefault(relations[triplet.relation], f"{triplet.value}{unit}")
    return found


def _unreadable(vignette: Vignette, arm: str, who: str, asked: Asked) -> Dropped:
    text = (asked.reply.text or "") if asked.reply is not None else ""
    reason = f"{who} gave no reply" if asked.reply is None else f"the reply of {who} has none"
    return Dropped(vignette.id, arm, "unreadable", f"{reason} that could be read", text)
