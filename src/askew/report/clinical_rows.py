"""A clinical run's answers and comparisons as rows: one an answer, one a comparison."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import fields

from askew.audits.clinical_answers import AnswerConfig, Ask, Case, asks_of, read_all
from askew.models.ledgerfile import is_ledger, read_records
from askew.records import Estimate, Reply
from askew.report.clinical_run import ClinicalRun, Finding
from askew.report.which_audit import settings_of
from askew.runfolder import RunFolder
from askew.scores.endpoints import measure
from askew.scores.one_answer import ONE_ANSWER
from askew.vignettes import URGENCIES, Answered, Dropped, Variant, Vignette

LEVEL = "level_"  # before an attribute's name: a user's own attribute may be called "length"
_FIRST = ("vignette_id", "source", "variant_id", "arm", "levels")
_MIDDLE = ("form", "replicate", "outcome", "rule")
_LAST = ("differential", "urgency_name", "tests", "treatments", "chosen", "reply", "call_key")
EFFECT_COLUMNS = (
    "form",
    "attribute",
    "contrast",
    "kind",
    "relevant",
    "endpoint",
    *(one.name for one in fields(Estimate) if one.name not in ("note", "seed")),
    "floor",
    "margin",
    "p_value",
    "p_adjusted",
    "equivalence_p",
    "effect_size",
    "smallest_visible",
    "verdict",
    "reason",
    "family",
    "tests",
    "vignettes",
    "moved",
    "interaction",
)
Row = dict[str, object]


def answer_columns(folder: RunFolder) -> tuple[str, ...]:
    """The columns of `answer_rows`: every attribute of the run has one, every endpoint too."""
    attributes = dict.fromkeys(
        name for one in folder.read_parts("variant", Variant) for name in one.levels
    )
    levels = (f"{LEVEL}{name}" for name in attributes)
    return (*_FIRST, *levels, *_MIDDLE, *ONE_ANSWER, *_LAST)


def answer_rows(folder: RunFolder) -> Iterator[Row]:
    """One row an answer that was wanted, in the order in which they were; keys: `answer_columns`.

    `level_NAME` is the level of an attribute that the text was given, "neutral" where it was taken
    out, and on the original the level that the original was found to have already; None elsewhere.
    Endpoints are numbers, None where undefined. Lists are None where the reply does not settle
    them, and empty where it says that there is none.

    Raises:
        RunError: the run cannot be read.
    """
    vignettes = {one.id: one for one in folder.read_parts("vignette", Vignette)}
    variants = folder.read_parts("variant", Variant)
    cases = {one.id: Case(vignettes[one.vignette_id], one) for one in variants}
    config = _config(folder)
    asks = folder.read_parts("ask", Ask) or asks_of(list(cases.values()), config)
    replies = _replies(folder)
    own = _levels_of_originals(folder.read_parts("dropped", Dropped))
    columns = answer_columns(folder)
    for ask, answered in zip(asks, read_all(cases, asks, replies, config), strict=True):
        case = cases[ask.variant_id]
        found = {**_of_text(case, own), **_of_ask(ask, replies), **_of_answer(answered)}
        yield {name: found.get(name) for name in columns}


def effect_rows(run: ClinicalRun) -> Iterator[Row]:
    """One row a comparison on one endpoint; keys: `EFFECT_COLUMNS`. Undefined is NaN.

    `interaction` marks those of multi-hop against direct: excess − excess.
    """
    for part in ("effects", "interactions"):
        for one in run.findings(part):
            yield _effect_row(one, interaction=part == "interactions")


def _effect_row(one: Finding, *, interaction: bool) -> Row:
    known = {name: getattr(one, name) for name in EFFECT_COLUMNS if hasattr(one, name)}
    estimate = {part.name: getattr(one.estimate, part.name) for part in fields(Estimate)}
    found = {
        **estimate,
        **known,
        "endpoint": one.endpoint.name,
        "floor": one.floor.value,
        "interaction": interaction,
    }
    return {name: found[name] for name in EFFECT_COLUMNS}


def _config(folder: RunFolder) -> AnswerConfig:
    """How answers were asked for, as far as their order and reading depend on it."""
    table, default = settings_of(folder)["clinical"], AnswerConfig()
    return AnswerConfig(
        forms=tuple(table.get("answers", default.forms)),
        structured=table.get("structured", default.structured),
        first_hop=table.get("first_hop", default.first_hop),
        replicates=table.get("replicates", default.replicates),
    )


def _replies(folder: RunFolder) -> dict[str, Reply | None]:
    if not is_ledger(folder.database):
        return {}
    return {record.key: record.reply for record in read_records(folder.database)}


def _levels_of_originals(dropped: Sequence[Dropped]) -> dict[str, dict[str, str]]:
    """Vignette -> the levels that its text has already, as the comparisons take it for them."""
    found: dict[str, dict[str, str]] = {}
    for one in dropped:
        name, equals, level = one.arm.partition("=")
        if one.kind == "same" and equals and "+" not in level:
            found.setdefault(one.vignette_id, {})[name] = level
    return found


def _of_text(case: Case, own: Mapping[str, Mapping[str, str]]) -> Row:
    variant = case.variant
    levels = own.get(case.vignette.id, {}) if variant.arm == "original" else variant.levels
    return {
        "vignette_id": case.vignette.id,
        "source": case.vignette.source,
        "variant_id": variant.id,
        "arm": variant.arm,
        "levels": dict(variant.levels),
        **{f"{LEVEL}{name}": level for name, level in levels.items()},
    }


def _of_ask(ask: Ask, replies: Mapping[str, Reply | None]) -> Row:
    key = ask.keys[-1] if ask.keys else None
    reply = replies.get(key) if key else None
    return {
        "form": ask.form,
        "replicate": ask.replicate,
        "call_key": key,
        "reply": reply.text if reply else None,
    }


def _of_answer(answered: Answered | None) -> Row:
    if answered is None:
        return {}
    answer = answered.answer
    lists = {
        name: list(getattr(answer, name)) if name in answer.given else None
        for name in ("differential", "tests", "treatments")
    }
    values = measure(answer, answered.vignette)
    return {
        "outcome": answer.outcome,
        "rule": answer.rule or None,
        **{name: None if math.isnan(value) else value for name, value in values.items()},
        **lists,
        "urgency_name": None if answer.urgency is None else URGENCIES[answer.urgency],
        "chosen": answer.chosen,
    }
