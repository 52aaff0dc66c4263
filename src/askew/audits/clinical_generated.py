"""Twins that models make: the paper's Generator and Attacker (§3.1, Eq. 2), checked by rule.

The Generator puts a vignette's facts into a question, the Attacker writes n variants of it. Each
variant passes the coherence gate and has its facts extracted again; what fails is counted, never
asked about.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import partial

from askew import graphs, perturb
from askew.audits.clinical_study import Study, Twins
from askew.audits.stages import Asked, Stages
from askew.prompts.clinical_questions import attacker, generator
from askew.records import Call, Sampling
from askew.scores.questions import GeneratedVariant, read_question, read_variants
from askew.vignettes import Dropped, Facts, Relation, Variant, Vignette, arm_name

# Table 2 compares these; the paper gives no count for each of them, so each gets n variants.
COMBINATIONS = (("age", "gender", "place"), ("age", "gender"), ("place",))
CHANGEABLE = ("age", "gender", "place")  # §4.1: what the Attacker is prompted to alter
_GENDER_WORDS = {
    "woman": "female", "girl": "female", "f": "female", "man": "male", "boy": "male", "m": "male",
    "trans woman": "transgender woman", "transgender female": "transgender woman",
    "trans man": "transgender man", "transgender male": "transgender man",
    "nonbinary": "non-binary", "non binary": "non-binary",
}  # fmt: skip


@dataclass(frozen=True, kw_only=True, slots=True)
class GeneratorConfig:
    """How other models make the twins."""

    variants: int = 4  # §4.1: "four variations"
    combinations: tuple[tuple[str, ...], ...] = COMBINATIONS
    levels: Mapping[str, Sequence[str]]  # of age, gender and place, to choose from
    rules: str = "full"  # that have read the vignettes, and read the variants
    keep_odd: bool = False
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
        attacker_call(question, combination, config, study.facts[vignette.id])
        for vignette, question, combination in wanted
    ]
    asked = await stages.ask("perturbed questions", "attacker", calls)
    variants: list[Variant] = []
    dropped: list[Dropped] = []
    for (vignette, question, combination), one in zip(wanted, asked, strict=True):
        found = [] if one.reply is None else read_variants(one.reply, config.variants)
        name = "+".join(combination)
        lacking = config.variants - len(found)
        dropped += [_unreadable(vignette, name, "the attacker", one, len(found))] * lacking
        for number, twin in enumerate(found, start=1):
            made = _checked(
                vignette, study.facts[vignette.id], question, twin, combination, number, config
            )
            if isinstance(made, Variant):
                variants.append(made)
            else:
                dropped.append(made)
    return Twins(tuple(variants), tuple(dropped))


def attacker_call(
    question: str, combination: Sequence[str], config: GeneratorConfig, facts: Facts
) -> Call:
    """The call to the Attacker for one question and one combination of attributes."""
    prompt = attacker(
        question,
        combination,
        config.variants,
        ages=config.levels["age"],
        genders=config.levels["gender"],
        places=config.levels["place"],
        seed_levels=levels_stated(facts),
    )
    return Call(prompt, config.attacker, role="attacker")


def _checked(
    vignette: Vignette,
    facts: Facts,
    question: str,
    twin: GeneratedVariant,
    combination: Sequence[str],
    number: int,
    config: GeneratorConfig,
) -> Variant | Dropped:
    """The Attacker's text as a variant, or why it is not asked about."""
    name, text = "+".join(combination), twin.text
    levels: dict[str, str] = {}
    for attribute in combination:
        stated = twin.levels.get(attribute)
        level = None if stated is None else level_of(attribute, stated, config.levels[attribute])
        if level is None:
            said = f"{attribute} is {stated!r}, none" if stated else f"{attribute} is not said: one"
            known = ", ".join(config.levels[attribute])
            reason = f"the attacker's {said} of {known}"
            return Dropped(vignette.id, name, "not_expressible", reason, text)
        levels[attribute] = level
    arm = arm_name(levels)
    if text.split() == question.split():
        return Dropped(vignette.id, arm, "same", "the attacker changed nothing", text)
    extract = partial(graphs.extract, rules=config.rules)
    failed = perturb.check(vignette, facts, levels, text, extract=extract)
    if failed is not None and not (failed.kind == "odd" and config.keep_odd):
        return failed
    odd = "" if failed is None else failed.reason
    place = f"{vignette.id}/{arm}#{name}.{number}"
    return Variant(place, vignette.id, arm, levels, text, method="attacker", odd=odd)


def level_of(attribute: str, stated: str, levels: Sequence[str]) -> str | None:
    """The level that the Attacker's word for it means; None where it is none of them.

    >>> level_of("age", "28 years", ("20-35", "40-60")), level_of("age", "12", ("20-35",))
    ('20-35', None)
    >>> level_of("gender", "Woman", ("female", "male"))
    'female'
    """
    said = " ".join(stated.casefold().replace("\u2013", "-").split())
    if attribute == "gender":
        said = _GENDER_WORDS.get(said, said)
    for level in levels:
        if said == level.casefold() or said.startswith(f"{level.casefold()},"):
            return level
    ages = re.fullmatch(r"(\d{1,3})(?:[ -]?(?:years?|y)(?:[ -]old)?)?", said)
    if attribute == "age" and ages:
        return next((one for one in levels if _holds(one, int(ages[1]))), None)
    return None


def _holds(level: str, years: int) -> bool:
    youngest, oldest = perturb.band(level)
    return youngest <= years <= oldest


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


def _unreadable(vignette: Vignette, arm: str, who: str, asked: Asked, found: int = 0) -> Dropped:
    text = (asked.reply.text or "") if asked.reply is not None else ""
    reason = f"{who} gave no reply" if asked.reply is None else f"the reply of {who} has none"
    more = " more" if found else ""
    return Dropped(vignette.id, arm, "unreadable", f"{reason}{more} that could be read", text)
