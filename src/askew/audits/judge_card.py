"""The judge card of a run: how far each judge can be trusted, from the run's own controls.

Every figure is an `Estimate`. Repeats, orders and answers of one vignette are no independent draws,
so every interval counts vignettes: Wilson's on the effective number of calls, t over vignettes, or
a bootstrap of vignettes.
"""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Mapping, Sequence
from functools import partial

import numpy as np

from askew.audits.judge_agreement import between_judges, repeats_of
from askew.audits.judge_questions import judged_texts
from askew.audits.judge_rates import MOST_INVALID, rates_of, share_called, share_of
from askew.audits.judging import Judgement
from askew.perturb.planted import BIASED_DIMENSIONS
from askew.records import Estimate
from askew.scores.judge_address import speaks_to_judge
from askew.scores.judge_reading import SERVER_FAULTS
from askew.stats.cluster_mean import cluster_mean
from askew.stats.intervals import Clusters

MOST_CASES = 5  # named in a warning
Card = dict[str, object]

# What `clinical_judging.judge_names` adds where two roles have one model.
_ROLE = re.compile(r" \(judge\w*\)\Z")
_FAMILIES = (
    "gpt", "claude", "llama", "mistral", "mixtral", "ministral", "gemini", "gemma", "qwen", "phi",
    "deepseek", "smollm", "command", "olmo", "falcon", "granite", "nemotron", "grok", "kimi", "glm",
    "yi", "o1", "o3", "o4", "medgemma", "meditron", "biomistral",
)  # fmt: skip
_SAME_FAMILY = {
    **dict.fromkeys(("o1", "o3", "o4"), "gpt"),
    **dict.fromkeys(("mixtral", "ministral", "biomistral"), "mistral"),
    "medgemma": "gemma",
    "meditron": "llama",
}


def judge_card(
    judgements: Sequence[Judgement],
    *,
    seed: int,
    targets: Sequence[str] = (),
    temperature: float | Mapping[str, float] | None = None,
) -> Card:
    """How good each judge of a run is, and the rates it called, corrected for its errors.

    Args:
        judgements: of all judges, controls among them (`audits.judging.judge`).
        seed: of the bootstraps.
        targets: names of the models whose answers were judged, to warn of self-judging.
        temperature: of the judges' replies, or of each by name; repeats at 0 are one draw, and the
            card says so.

    Returns:
        `judges`: name -> card; `between`: agreement among them. docs/judge.md reads it line by
        line.
    """
    names = list(dict.fromkeys(one.judge for one in judgements))
    by_judge = {name: [one for one in judgements if one.judge == name] for name in names}
    cards = {name: _card_of(name, own, seed) for name, own in by_judge.items()}
    for name, card in cards.items():
        own = temperature.get(name) if isinstance(temperature, Mapping) else temperature
        card["warnings"] = _warnings(name, card, targets, own)
    return {"judges": cards, "between": between_judges(by_judge, seed)}


def score_means(judgements: Sequence[Judgement], kind: str) -> Card:
    """The mean scores of the study: judge -> group -> key -> `Estimate` (Tables 1 and 3).

    A mean is taken over the things that were judged, each with the mean of its repeats; `coverage`
    and the note say how many are without a verdict. None of those counts as any number.

    Args:
        judgements: of all judges; controls are left out.
        kind: "bias", "quality", "consistency" or "gpt_score".
    """
    means: dict[str, dict[str, dict[str, Estimate]]] = {}
    study = [one for one in judgements if one.task.kind == kind and one.task.control == "study"]
    for name in dict.fromkeys(one.judge for one in study):
        for group in dict.fromkeys(one.task.group for one in study):
            own = [one for one in study if one.judge == name and one.task.group == group]
            if own:
                means.setdefault(name, {})[group] = _means_of(own)
    return dict(means)


def _means_of(own: Sequence[Judgement]) -> dict[str, Estimate]:
    units = list(dict.fromkeys(one.task.unit for one in own))
    keys = list(dict.fromkeys(key for one in own for key in one.scores or {}))
    where = {one.task.unit: one.task.vignette_id for one in own}
    found: dict[str, Estimate] = {}
    for key in keys or ["all"]:
        values: dict[str, list[float]] = {}
        for one in own:
            if one.scores is not None and not math.isnan(one.scores.get(key, math.nan)):
                values.setdefault(one.task.unit, []).append(one.scores[key])
        missing = len(units) - len(values)
        note = f"{missing} of {len(units)} without verdict" if missing else ""
        found[key] = cluster_mean(
            np.array([np.mean(scores) for scores in values.values()]),
            Clusters.of([where[unit] for unit in values]),
            asked=len(units),
            note=note,
        )
    return found


def _card_of(name: str, own: Sequence[Judgement], seed: int) -> Card:
    invalid = _invalid(own)
    out = invalid.defined and invalid.value > MOST_INVALID
    return {
        "counts": _counts(own),
        "invalid": invalid,
        "out": out,
        "order_flips": _order_flips(own),
        "repeats": repeats_of(own, seed),
        "placebo": _placebo(own),
        "planted": _planted(own),
        "label_effect": _label_effect(own),
        "specificity": _second_question(own),
        "rates": rates_of(own, out),
        "pairwise": _pairwise(own),
        "addressed": addressed(own),
    }


def addressed(own: Sequence[Judgement]) -> dict[str, object]:
    """The judged texts that speak to their judge: how many, by which signs, and of which cases.

    What is judged is the answers, and where there is none, the rewritten question. The figures are
    not changed by it: whether the judge has listened cannot be told.
    """
    texts = {
        text: one.task.vignette_id
        for one in own
        if one.task.control in ("study", "relevant")
        for text in judged_texts(one.task)
    }
    signs = {text: found for text in texts if (found := speaks_to_judge(text))}
    return {
        "texts": len(texts),
        "speaking": len(signs),
        "signs": dict(Counter(sign for found in signs.values() for sign in found)),
        "cases": sorted({texts[text] for text in signs})[:MOST_CASES],
    }


def _once(own: Sequence[Judgement]) -> list[Judgement]:
    """One judgement a call: two questions that come out alike share their replies."""
    return list({(one.task.prompt, one.task.replicate): one for one in own}.values())


def _counts(own: Sequence[Judgement]) -> dict[str, object]:
    own = _once(own)
    return {
        "questions": len(own),
        "read": sum(one.read for one in own),
        "replies": sum(one.attempts for one in own),
        "re_asked": sum(max(0, one.attempts - 1) for one in own),
        "faults": dict(Counter(fault.value for one in own for fault in one.faults)),
        "not_asked": sum(one.attempts == 0 for one in own),
    }


def _invalid(own: Sequence[Judgement]) -> Estimate:
    """The share of replies that cannot be read, re-asks among them; a server's faults are not."""
    own = _once(own)
    hits, names = [], []
    for one in own:
        faults = [fault not in SERVER_FAULTS for fault in one.faults]
        replies = [*(fault for fault in faults if fault), *([False] if one.read else [])]
        hits += replies
        names += [one.task.vignette_id] * len(replies)
    return share_of(hits, names, asked=sum(one.attempts for one in own))


def _order_flips(own: Sequence[Judgement]) -> dict[str, Estimate]:
    """By kind: of the pairs read in both orders, the share that is called differently."""
    flips: dict[str, Estimate] = {}
    for kind in ("difference", "pairwise"):
        both: dict[tuple[str, int], dict[str, Judgement]] = {}
        for one in own:
            if one.task.kind == kind and one.task.a != one.task.b:
                both.setdefault((one.task.unit, one.task.replicate), {})[one.task.order] = one
        if not both:
            continue
        read = [
            (pair["ab"], pair["ba"])
            for pair in both.values()
            if len(pair) == 2 and all(one.level is not None for one in pair.values())
        ]
        flips[kind] = share_of(
            [first.level != second.level for first, second in read],
            [first.task.vignette_id for first, _ in read],
            asked=len(both),
        )
    return flips


def _placebo(own: Sequence[Judgement]) -> dict[str, Estimate]:
    """How often a difference is called where there is none (identical, harmless) or only noise."""
    found: dict[str, Estimate] = {}
    for kind, nothing in (("difference", "same"), ("pairwise", "tie")):
        for control in ("identical", "harmless", "same_prompt"):
            tasks = [one for one in own if (one.task.kind, one.task.control) == (kind, control)]
            if tasks:
                found[f"{kind}/{control}"] = share_called(tasks, partial(_says_other_than, nothing))
    rises = _rises(own, None)
    if rises:
        # The same answer scored twice: how often the second score is the higher one by chance.
        found["bias/repeat"] = _of_pairs(rises)
    return found


def _planted(own: Sequence[Judgement]) -> dict[str, Estimate]:
    """Of the edits made by rule, the share that is found, by edit."""
    found: dict[str, Estimate] = {}
    paired = [one for one in own if one.task.control == "planted" and one.task.expected]
    for kind, edit in dict.fromkeys((one.task.kind, one.task.detail) for one in paired):
        tasks = [one for one in paired if (one.task.kind, one.task.detail) == (kind, edit)]
        found[f"{kind}/{edit}"] = share_called(tasks, lambda one: one.level == one.task.expected)
    for dimension in BIASED_DIMENSIONS:
        rises = _rises(own, dimension)
        if rises:
            found[f"bias/{dimension}"] = _of_pairs(rises)
    return found


def _rises(own: Sequence[Judgement], dimension: str | None) -> list[tuple[bool | None, str]]:
    """Whether a score rises with a planted reason, by vignette; None where one cannot be read.

    Without a dimension: from one repeat of the unedited answer to the next, on every dimension.
    """
    planted: dict[tuple[str, str, int], Judgement] = {}
    for one in own:
        if one.task.kind == "bias" and one.task.control == "planted":
            base = one.task.unit.rsplit("/", 1)[0]
            planted[base, one.task.detail, one.task.replicate] = one
    rises: list[tuple[bool | None, str]] = []
    for (base, detail, replicate), before in planted.items():
        if detail != "before":
            continue
        where = before.task.vignette_id
        if dimension is None:
            after = planted.get((base, "before", replicate + 1))
            if after is not None:
                rises += [(_rose(before, after, name), where) for name in BIASED_DIMENSIONS]
        else:
            after = planted.get((base, dimension, replicate))
            if after is not None:
                rises.append((_rose(before, after, dimension), where))
    return rises


def _rose(before: Judgement, after: Judgement, dimension: str) -> bool | None:
    if before.scores is None or after.scores is None:
        return None
    return after.scores[dimension] > before.scores[dimension]


def _of_pairs(rises: Sequence[tuple[bool | None, str]]) -> Estimate:
    read = [(rose, where) for rose, where in rises if rose is not None]
    return share_of([rose for rose, _ in read], [where for _, where in read], asked=len(rises))


def _label_effect(own: Sequence[Judgement]) -> dict[str, Estimate]:
    """By dimension: the mean change of the score when nothing but the stated patient changes."""
    sides: dict[tuple[str, str], list[Mapping[str, float]]] = {}
    asked: set[str] = set()
    for one in own:
        if one.task.kind == "bias" and one.task.control == "label_swap":
            asked.add(one.task.vignette_id)
            if one.scores is not None:
                sides.setdefault((one.task.vignette_id, one.task.detail), []).append(one.scores)
    both = sorted(where for where in asked if (where, "one") in sides and (where, "other") in sides)
    keys = list(dict.fromkeys(key for scores in sides.values() for one in scores for key in one))
    return {
        key: cluster_mean(
            np.array(
                [
                    np.mean([scores[key] for scores in sides[where, "other"]])
                    - np.mean([scores[key] for scores in sides[where, "one"]])
                    for where in both
                ]
            ),
            Clusters.of(both),
            asked=len(asked),
        )
        for key in keys
    }


def _second_question(own: Sequence[Judgement]) -> dict[str, Estimate]:
    """By what is right: of the changes known to be so, the share that the judge calls so."""
    tasks = [one for one in own if one.task.kind == "justified" and one.task.expected]
    return {
        expected: share_called(
            [one for one in tasks if one.task.expected == expected],
            lambda one: one.level == one.task.expected,
        )
        for expected in dict.fromkeys(one.task.expected for one in tasks)
    }


def _pairwise(own: Sequence[Judgement]) -> dict[str, Estimate]:
    """Figure 7: how often the multi-hop answer (A), the direct one (B) or neither is named."""
    tasks = [one for one in own if (one.task.kind, one.task.control) == ("pairwise", "study")]
    if not tasks:
        return {}
    return {level: share_called(tasks, partial(_says, level)) for level in ("A", "B", "tie")}


def _says(level: str, one: Judgement) -> bool:
    return one.level == level


def _says_other_than(level: str, one: Judgement) -> bool:
    return one.level != level


def _warnings(
    name: str, card: Card, targets: Sequence[str], temperature: float | None
) -> list[str]:
    said = []
    if card["out"]:
        invalid = card["invalid"]
        assert isinstance(invalid, Estimate)
        said.append(
            f"{invalid.value:.1%} of its replies cannot be read, more than {MOST_INVALID:.0%}: "
            "its figures are not to be used. Choose another judge, or more tokens a reply."
        )
    found = card["addressed"]
    assert isinstance(found, dict)
    if found["speaking"]:
        said.append(
            f"{found['speaking']:,} of the {found['texts']:,} texts that it judged speak to their "
            f"judge ({', '.join(found['signs'])}), of {', '.join(found['cases'])}: read them "
            "before its verdicts are used."
        )
    model = _ROLE.sub("", name)
    for target in targets:
        if target == model:
            said.append(f"{name} judges its own answers. Choose a judge of another family.")
        elif (family := family_of(model)) and family == family_of(target):
            said.append(
                f"{name} judges answers of its own family ({family}: {target}). Models favour "
                "texts of their own; choose a judge of another family."
            )
    if temperature == 0:
        said.append("its repeats were drawn at temperature 0: they show less than its true noise.")
    return said


def family_of(name: str) -> str:
    """The family of a model by its name; "" where none is known.

    >>> family_of("openai/gpt-4o"), family_of("local/Mixtral-8x7B"), family_of("python/app:f")
    ('gpt', 'mistral', '')
    """
    model = name.partition("/")[2].casefold() or name.casefold()
    for family in _FAMILIES:
        if re.search(rf"(?<![a-z])(?:chat)?{family}(?![a-z])", model):
            return _SAME_FAMILY.get(family, family)
    return ""
