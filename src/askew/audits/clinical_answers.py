"""The answers of a clinical audit: direct, or over three hops (§3.2), crossed with all variants.

`ask_all` is the part that waits; `read_all` reads the same answers again from the run folder.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal

from askew import graphs
from askew.audits.stages import Stages
from askew.prompts import clinical as prompts
from askew.records import Call, Finish, Prompt, Reply, Sampling
from askew.scores.clinical_answer import read_answer, read_single
from askew.scores.hops import read_hop
from askew.vignettes import (
    Answered,
    AnswerForm,
    ClinicalAnswer,
    HopEdge,
    HopGraph,
    Variant,
    Vignette,
)

FORMS: tuple[AnswerForm, ...] = ("direct", "single", "chained")


@dataclass(frozen=True, kw_only=True, slots=True)
class AnswerConfig:
    """How answers are asked for. Section numbers are the paper's."""

    forms: tuple[AnswerForm, ...] = ("direct", "single")  # §3.2 against none
    structured: bool = True  # fields to compare, where the paper reads free text
    first_hop: Literal["target", "extractor"] = "target"  # who makes G₁ of the chained form
    steps: Literal["paper", "neutral"] = "paper"  # whether a step asks for risk factors
    shots: int = 2  # §4.1: "CoT in-context learning with few-shot"; the number is not given
    replicates: int = 5  # the same prompt's own noise is measured between them
    sampling: Sampling = Sampling(temperature=0.5, max_tokens=400)  # §4.1


@dataclass(frozen=True, slots=True)
class Case:
    """A variant with the vignette it was made of."""

    vignette: Vignette
    variant: Variant


@dataclass(frozen=True, slots=True)
class Ask:
    """One answer that is wanted, and the keys of the calls that brought it, hop by hop."""

    variant_id: str
    form: AnswerForm
    replicate: int
    keys: tuple[str, ...] = ()


def asks_of(cases: Sequence[Case], config: AnswerConfig) -> list[Ask]:
    """Every answer that is wanted: variant by variant, so that a run that stops has whole cases."""
    return [
        Ask(case.variant.id, form, replicate)
        for case in cases
        for form in config.forms
        for replicate in range(config.replicates)
    ]


def first_call(case: Case, ask: Ask, config: AnswerConfig) -> Call | None:
    """The call that an answer begins with; None where it depends on the text's own graph."""
    if ask.form == "chained" and config.first_hop == "extractor":
        return None
    return _call(_first_prompt(case, ask.form, config), ask.replicate, config)


def later_calls(case: Case, form: AnswerForm, words: str, config: AnswerConfig) -> list[Call]:
    """The calls that follow `first_call`, with `words` for each graph that they show."""
    if form != "chained":
        return []
    first = HopGraph(1, (HopEdge(words, "", ""),), words)
    both = (first, replace(first, hop=2))
    return [_call(_after(case, hops, config), 0, config) for hops in ((first,), both)]


async def ask_all(
    cases: Mapping[str, Case],
    asks: Sequence[Ask],
    config: AnswerConfig,
    stages: Stages,
    keep: Callable[[Sequence[Ask]], None],
) -> dict[str, Reply | None]:
    """Have every answer given.

    Args:
        cases: by the variant's id.
        asks: what is wanted; their keys are not read.
        config: how it is asked for.
        stages: who is asked.
        keep: handed the asks with the keys known so far after each hop, so that a run that stops
            can be read.

    Returns:
        The replies by key; None where it is unknown what became of a call.

    Raises:
        StoppedEarly: calls were not sent.
    """
    known = list(asks)
    replies: dict[str, Reply | None] = {}
    for hop, name in enumerate(("answers", "answers: second hop", "answers: third hop")):
        due = list(_due(cases, known, hop, replies, config))
        if not due:
            continue
        _add_keys(known, due, stages)
        # A run that goes on may have had later hops: should it be stopped, they stay known.
        keep(_as_recorded(cases, known, hop, replies, config, stages))
        asked = await stages.ask(name, "target", [call for _, call in due])
        replies.update((one.key, one.reply) for one in asked)
    return replies


def _add_keys(known: list[Ask], due: Sequence[tuple[int, Call]], stages: Stages) -> None:
    keys = stages.keys("target", [call for _, call in due])
    for (place, _), key in zip(due, keys, strict=True):
        known[place] = replace(known[place], keys=(*known[place].keys, key))


def _as_recorded(
    cases: Mapping[str, Case],
    asks: Sequence[Ask],
    hop: int,
    replies: Mapping[str, Reply | None],
    config: AnswerConfig,
    stages: Stages,
) -> list[Ask]:
    """The asks with the keys of all hops whose prompt follows from what the ledger has."""
    known = list(asks)
    if "chained" not in config.forms:
        return known
    had = dict(replies)
    for later in range(hop + 1, _calls(config)):
        chained = [one for one in known if one.form == "chained" and one.keys]
        had |= stages.recorded("target", [one.keys[-1] for one in chained])
        _add_keys(known, list(_due(cases, known, later, had, config)), stages)
    return known


def read_all(
    cases: Mapping[str, Case],
    asks: Sequence[Ask],
    replies: Mapping[str, Reply | None],
    config: AnswerConfig,
) -> list[Answered | None]:
    """What the replies say, one entry an ask; None where an answer was never had."""
    first_graphs: dict[str, HopGraph] = {}
    return [_read(cases[ask.variant_id], ask, replies, config, first_graphs) for ask in asks]


def _due(
    cases: Mapping[str, Case],
    asks: Sequence[Ask],
    hop: int,
    replies: Mapping[str, Reply | None],
    config: AnswerConfig,
) -> Iterator[tuple[int, Call]]:
    """The calls of one hop, each with the place of its ask."""
    first_graphs: dict[str, HopGraph] = {}
    for place, ask in enumerate(asks):
        case = cases[ask.variant_id]
        prompt: Prompt | None
        if hop == 0:
            prompt = _opening(case, ask, config, first_graphs)
        elif ask.form == "chained" and len(ask.keys) == hop:
            prompt = _next_prompt(case, ask, replies, config, first_graphs)
        else:
            continue
        if prompt is not None:
            yield place, _call(prompt, ask.replicate, config)


def _opening(
    case: Case, ask: Ask, config: AnswerConfig, first_graphs: dict[str, HopGraph]
) -> Prompt:
    if ask.form == "chained" and config.first_hop == "extractor":
        graph = _extracted(case, first_graphs)
        return prompts.chained_expand(
            case.variant.text, graph, shots=config.shots, steps=config.steps
        )
    return _first_prompt(case, ask.form, config)


def _first_prompt(case: Case, form: AnswerForm, config: AnswerConfig) -> Prompt:
    vignette, text = case.vignette, case.variant.text
    if form == "chained":
        return prompts.chained_extract(text, shots=config.shots)
    if form == "single":
        return prompts.single(
            text,
            vignette.question,
            structured=config.structured,
            options=vignette.options,
            shots=config.shots,
            steps=config.steps,
        )
    return prompts.direct(
        text, vignette.question, structured=config.structured, options=vignette.options
    )


def _next_prompt(
    case: Case,
    ask: Ask,
    replies: Mapping[str, Reply | None],
    config: AnswerConfig,
    first_graphs: dict[str, HopGraph],
) -> Prompt | None:
    """The prompt of the hop that follows; None where there is none or a hop cannot be read."""
    hops = _hops(case, ask, replies, config, first_graphs)
    if hops is None or len(hops) == 0 or len(ask.keys) == _calls(config):
        return None
    return _after(case, hops, config)


def _after(case: Case, hops: Sequence[HopGraph], config: AnswerConfig) -> Prompt:
    """The prompt that follows one hop or two."""
    if len(hops) == 1:
        return prompts.chained_expand(
            case.variant.text, hops[0], shots=config.shots, steps=config.steps
        )
    return prompts.chained_answer(
        case.variant.text,
        case.vignette.question,
        hops[0],
        hops[1],
        structured=config.structured,
        options=case.vignette.options,
        shots=config.shots,
    )


def _calls(config: AnswerConfig) -> int:
    """How many calls a chained answer takes."""
    return 3 if config.first_hop == "target" else 2


def _hops(
    case: Case,
    ask: Ask,
    replies: Mapping[str, Reply | None],
    config: AnswerConfig,
    first_graphs: dict[str, HopGraph],
) -> tuple[HopGraph, ...] | None:
    """The graphs of a chained answer so far; None where one cannot be read."""
    found: list[HopGraph] = []
    keys = list(ask.keys[: _calls(config) - 1])
    if config.first_hop == "extractor":
        found.append(_extracted(case, first_graphs))
    for key in keys:
        reply = replies.get(key)
        graph = None if reply is None else read_hop(reply, 1 if not found else 2)
        if graph is None:
            return None
        found.append(graph)
    return tuple(found)


def _extracted(case: Case, first_graphs: dict[str, HopGraph]) -> HopGraph:
    if case.variant.id not in first_graphs:
        facts = graphs.extract(case.variant.text)
        first_graphs[case.variant.id] = prompts.graph_from_facts(facts)
    return first_graphs[case.variant.id]


def _call(prompt: Prompt, replicate: int, config: AnswerConfig) -> Call:
    return Call(prompt, config.sampling.of_replicate(replicate), replicate=replicate)


def _read(
    case: Case,
    ask: Ask,
    replies: Mapping[str, Reply | None],
    config: AnswerConfig,
    first_graphs: dict[str, HopGraph],
) -> Answered | None:
    if not ask.keys:
        return None
    last = replies.get(ask.keys[-1])
    if last is None:
        return None
    # What the reader may take for an echo of the case, and whether it was asked for diagnoses.
    question = prompts.asked_question(case.variant.text, case.vignette.question)
    reading: dict[str, Any] = {
        "structured": config.structured,
        "options": case.vignette.options,
        "asked": f"{case.variant.text}\n{question}",
    }

    def answered(answer: ClinicalAnswer, hops: tuple[HopGraph, ...] = ()) -> Answered:
        return Answered(case.vignette, case.variant, ask.form, ask.replicate, answer, hops)

    if ask.form == "direct":
        return answered(read_answer(last, **reading))
    if ask.form == "single":
        return answered(*read_single(last, **reading))
    hops = _hops(case, ask, replies, config, first_graphs)
    if len(ask.keys) == _calls(config):
        answer = read_answer(last, **reading)
        return answered(answer, hops or ())
    if hops is None:
        return answered(_broken(last, len(ask.keys), config))
    return None  # the next hop was not asked for yet


def _broken(reply: Reply, hop: int, config: AnswerConfig) -> ClinicalAnswer:
    """An answer whose chain ends at a hop that cannot be read; the later hops are not paid for."""
    outcomes: Mapping[Finish, Literal["truncated", "refused", "blocked", "error"]] = {
        Finish.LENGTH: "truncated",
        Finish.REFUSAL: "refused",
        Finish.BLOCKED: "blocked",
        Finish.ERROR: "error",
    }
    number = hop if config.first_hop == "target" else hop + 1
    return ClinicalAnswer(
        outcome=outcomes.get(reply.finish, "unreadable"),
        text=reply.text or "",
        rule=f"no graph could be read from hop {number}",
    )
