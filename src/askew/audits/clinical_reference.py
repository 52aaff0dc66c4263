"""How well answers match a reference: the case's own diagnosis (Table 2), or a model's (Table 6).

Every figure stands beside its chance level, what the same answers score against the references of
other cases: without it a BERTScore of 0.5 says nothing.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from askew.audits.clinical_answers import AnswerConfig, Case
from askew.audits.stages import Stages
from askew.perturb import NEUTRAL
from askew.prompts import clinical as prompts
from askew.records import Call, Estimate, Reply, Sampling
from askew.scores.clinical_answer import read_answer, read_single
from askew.scores.reference_match import (
    MEANINGS,
    Match,
    Reference,
    TokenEmbed,
    reference_match,
)
from askew.seeds import generator
from askew.stats.case_mean import case_mean
from askew.vignettes import Answered, AnswerForm, ClinicalAnswer, Variant

TEMPERATURES = (0.3, 0.5, 0.7)  # Table 6
MOST = 100  # answers of one cell that are compared; each is held to 20 other references as well


@dataclass(frozen=True, slots=True)
class Matched:
    """One measure of one cell.

    Attributes:
        value: mean over cases of the answers' scores against their own reference.
        chance: the same against the references of other cases.
        excess: the first − the second, by case: what the match is worth.
    """

    value: Estimate
    chance: Estimate
    excess: Estimate


# Measures lie between 0 and 1, but for those that are means of cosines.
_LEAST = dict.fromkeys(MEANINGS, -1.0)
Cell = Mapping[str, Matched]  # measure -> figures


@dataclass(frozen=True, slots=True)
class SweepAsk:
    """One answer of the temperature sweep; the reference model's has no temperature."""

    variant_id: str
    temperature: float | None
    key: str


def against_the_cases(
    answered: Sequence[Answered], seed: int, token_vectors: TokenEmbed | None
) -> dict[str, dict[str, Cell]]:
    """Table 2: form -> which attributes were changed ("original" for none) -> measure -> figures.

    One answer a variant is compared, the first: more draws of one prompt are no new cases.
    """
    cells: dict[tuple[AnswerForm, str], list[Answered]] = {}
    for one in answered:
        if one.vignette.reference and one.replicate == 0:
            cells.setdefault((one.form, changed_set(one.variant)), []).append(one)
    found: dict[str, dict[str, Cell]] = {}
    for (form, name), group in cells.items():
        rng = generator(seed, "reference", form, name)
        if len(group) > MOST:
            chosen = sorted(rng.choice(len(group), MOST, replace=False))
            group = [group[place] for place in chosen]
        matches = reference_match(
            [one.answer for one in group],
            [Reference.of_vignette(one.vignette) for one in group],
            rng,
            token_vectors=token_vectors,
        )
        ids = [one.vignette.id for one in group]
        found.setdefault(form, {})[name] = _cell(matches, ids)
    return found


async def ask_sweep(
    cases: Sequence[Case],
    config: AnswerConfig,
    reference: Sampling,
    temperatures: Sequence[float],
    stages: Stages,
) -> list[SweepAsk]:
    """Have the original cases answered by the reference model, and by the target at each heat.

    The target answers in the multi-hop form, in free text, as Table 6 has it.

    Raises:
        StoppedEarly: calls were not sent.
    """
    calls = sweep_calls(cases, config, reference, temperatures)
    by_reference = calls[: len(cases)]
    asked = await stages.ask("reference answers", "reference", by_reference)
    asked += await stages.ask("temperature sweep", "target", calls[len(cases) :])
    heats: list[float | None] = [None, *temperatures]
    places = [(case.variant.id, heat) for heat in heats for case in cases]
    return [
        SweepAsk(variant, heat, one.key) for (variant, heat), one in zip(places, asked, strict=True)
    ]


def sweep_calls(
    cases: Sequence[Case],
    config: AnswerConfig,
    reference: Sampling,
    temperatures: Sequence[float],
) -> list[Call]:
    """The calls of the sweep: the reference model's first, then the target's, heat by heat."""
    direct = [
        prompts.direct(case.variant.text, case.vignette.question, structured=False)
        for case in cases
    ]
    hops = [
        prompts.single(
            case.variant.text,
            case.vignette.question,
            structured=False,
            shots=config.shots,
            steps=config.steps,
        )
        for case in cases
    ]
    calls = [Call(prompt, reference, role="reference") for prompt in direct]
    for heat in temperatures:
        sampling = replace(config.sampling, temperature=heat)
        calls += [Call(prompt, sampling) for prompt in hops]
    return calls


def against_a_model(
    asks: Sequence[SweepAsk],
    cases: Mapping[str, Case],
    replies: Mapping[str, Reply | None],
    seed: int,
    token_vectors: TokenEmbed | None,
) -> dict[str, Cell]:
    """Table 6: temperature -> measure -> figures; cases without both answers are left out."""
    references: dict[str, ClinicalAnswer] = {}
    targets: dict[float, list[tuple[str, ClinicalAnswer]]] = {}
    for ask in asks:
        reply = replies.get(ask.key)
        if reply is None:
            continue
        if ask.temperature is None:
            references[ask.variant_id] = read_answer(
                reply, structured=False, asked=_asked(cases[ask.variant_id])
            )
        else:
            answer, _ = read_single(reply, structured=False, asked=_asked(cases[ask.variant_id]))
            targets.setdefault(ask.temperature, []).append((ask.variant_id, answer))
    found: dict[str, Cell] = {}
    for heat, answers in targets.items():
        both = [(name, answer) for name, answer in answers if name in references]
        ids = [cases[name].vignette.id for name, _ in both]
        matches = reference_match(
            [answer for _, answer in both],
            [
                Reference.of_answer(vignette, references[name])
                for vignette, (name, _) in zip(ids, both, strict=True)
            ],
            generator(seed, "temperature sweep", f"{heat:g}"),
            token_vectors=token_vectors,
        )
        found[f"{heat:g}"] = _cell(matches, ids)
    return found


def _asked(case: Case) -> str:
    text = case.variant.text
    return f"{text}\n{prompts.asked_question(text, case.vignette.question)}"


def changed_set(variant: Variant) -> str:
    """Which attributes a variant changes: "age+gender", "original" for none, "neutral"."""
    changed = sorted(name for name, level in variant.levels.items() if level != NEUTRAL)
    if changed:
        return "+".join(changed)
    return NEUTRAL if variant.levels else "original"


def _cell(matches: Mapping[str, Match], ids: Sequence[str]) -> dict[str, Matched]:
    return {
        name: Matched(
            case_mean(match.scores, ids, least=_LEAST.get(name, 0.0), most=1.0),
            case_mean(match.chance_scores, ids, least=_LEAST.get(name, 0.0), most=1.0),
            case_mean(np.subtract(match.scores, match.chance_scores), ids),
        )
        for name, match in matches.items()
    }
