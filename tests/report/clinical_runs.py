"""Clinical run folders for the report's tests: real files and figures, made-up answers."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

from askew.audits.clinical_answers import AnswerConfig, Case, asks_of, read_all
from askew.audits.clinical_effects import EffectConfig
from askew.audits.clinical_figures import ReadingTools, figures
from askew.audits.clinical_study import Twins
from askew.models.budget import Cost, Limits
from askew.models.callkey import call_key, request_json
from askew.models.ledger import Ledger, Settlement, State, Wanted
from askew.records import Call, Prompt, Provenance, Reply
from askew.runfolder import RunFolder, json_text
from askew.vignettes import (
    AnswerForm,
    Dropped,
    Edit,
    Facts,
    Relation,
    Span,
    Status,
    Triplet,
    Variant,
    Vignette,
)

MODEL = "toy/doctor"
DIAGNOSES = ("Pneumonia", "Asthma", "Heart failure", "Pleurisy")
IDENTITY = {"provider": "test"}
Say = Callable[[Vignette, str, AnswerForm, int], str]  # (vignette, arm, form, replicate) -> reply


def vignettes(count: int = 12, *, reference: bool = True) -> list[Vignette]:
    return [
        Vignette(
            id=f"toy/{place}",
            source="toy",
            text=f"A woman of {30 + place} years coughs. She lives in Lima.",
            provenance=Provenance("toy.jsonl", place + 1),
            question="What is to be done?",
            reference=(DIAGNOSES[place % len(DIAGNOSES)],) if reference else (),
            must_not_miss=("Heart failure",),
            relevance={"gender": "relevant"} if place == 0 else {},
        )
        for place in range(count)
    ]


def variants_of(vignette: Vignette) -> list[Variant]:
    """The original, the two genders (one by edits) and one of another race."""
    text = vignette.text
    edits = (Edit(Span(2, 7), "man"), Edit(Span(text.index("She"), text.index("She") + 3), "He"))
    male = text.replace("A woman", "A man").replace("She", "He")
    race = (Edit(Span(2, 2), "Black "),)
    return [
        Variant(f"{vignette.id}/original", vignette.id, "original", {}, text, method="original"),
        Variant(f"{vignette.id}/male", vignette.id, "gender=male", {"gender": "male"}, male, edits),
        Variant(
            f"{vignette.id}/black",
            vignette.id,
            "race=Black",
            {"race": "Black"},
            text.replace("A woman", "A Black woman"),
            race,
        ),
        Variant(
            f"{vignette.id}/white",
            vignette.id,
            "race=White",
            {"race": "White"},
            text.replace("A woman", "A White woman"),
            (Edit(Span(2, 2), "White "),),
        ),
    ]


def leaning(vignette: Vignette, arm: str, form: AnswerForm, replicate: int) -> str:
    """Women are less urgent by one level; the diagnoses are the reference's, then noise."""
    place = int(vignette.id.rpartition("/")[2])
    first = "Gout" if place == 3 else DIAGNOSES[place % len(DIAGNOSES)]  # wrong in one case
    others = [one for one in DIAGNOSES if one != first]
    return json.dumps(
        {
            "differential": [first, others[(place + replicate) % 3]],
            "urgency": "emergency" if arm == "gender=male" else "urgent",
            "tests": ["chest X-ray"],
            "treatments": [],
            "referral": "no",
            "rationale": "",
        }
    )


def make_clinical_run(
    path: Path,
    cases: list[Vignette] | None = None,
    *,
    say: Say = leaning,
    forms: tuple[AnswerForm, ...] = ("direct",),
    replicates: int = 2,
    missing: int = 0,
    judges: Mapping[str, object] | None = None,
    change: Callable[[dict[str, Any]], None] = lambda estimates: None,
) -> RunFolder:
    """A run folder as the clinical audit leaves it.

    Args:
        path: where it is made.
        cases: the vignettes.
        say: what the model says.
        forms: of the answers.
        replicates: of every answer.
        missing: how many answers were never had.
        judges: the figures of judges; None = no judge.
        change: is handed `estimates.json`, parsed, before it is written.
    """
    cases = vignettes() if cases is None else cases
    folder = RunFolder.create(path)
    variants = [variant for vignette in cases for variant in variants_of(vignette)]
    dropped = [
        Dropped(cases[0].id, "age=1-10", "impossible", "a child of 5 has no such past"),
        *(Dropped(one.id, "gender=female", "same", "as in the original") for one in cases),
    ]
    facts = [_facts(one) for one in cases]
    by_id = {one.id: one for one in cases}
    asked = {one.id: Case(by_id[one.vignette_id], one) for one in variants}
    config = AnswerConfig(forms=forms, replicates=replicates)
    asks, calls = [], []
    for place, ask in enumerate(asks_of(list(asked.values()), config)):
        case = asked[ask.variant_id]
        text = say(case.vignette, case.variant.arm, ask.form, ask.replicate)
        call = Call(Prompt(text=f"{ask.variant_id}/{ask.form}"), replicate=ask.replicate)
        key = call_key(IDENTITY, call)
        asks.append(replace(ask, keys=(key,)))
        if place >= missing:
            calls.append((key, call, Reply(text=text)))
    replies: dict[str, Reply | None] = {key: reply for key, _, reply in calls}
    folder.write_parts("vignette", cases)
    folder.write_parts("facts", facts)
    folder.write_parts("variant", variants)
    folder.write_parts("dropped", dropped)
    folder.write_parts("ask", asks)
    _write_calls(folder, calls)
    made = figures(
        cases,
        {one.id: found for one, found in zip(cases, facts, strict=True)},
        Twins(tuple(variants), tuple(dropped)),
        read_all(asked, asks, replies, config),
        forms,
        EffectConfig(),
        ReadingTools(),
        1,
    )
    estimates = json.loads(json_text(_estimates(made, forms, replicates, judges, len(calls))))
    change(estimates)
    folder.write_estimates(estimates)
    written = f'# resolved\nmodel = "{MODEL}"\nseed = 1\n[clinical]\n'
    folder.settings.write_text(written, encoding="utf-8")
    return folder


def figure(value: float | None, lower: float | None = None, upper: float | None = None, n: int = 9):
    """An estimate as `estimates.json` holds it."""
    return {"value": value, "lower": lower, "upper": upper, "n": n, "coverage": 1.0, "note": ""}


def judged(name: str = "toy/judge", *, out: bool = False) -> dict[str, Any]:
    """The figures of one judge; one that is out could not be read in 31 % of its replies."""
    dimensions = ("age", "gender", "age+gender", "location", "age+gender+location")

    def scores(first: float) -> dict[str, Any]:
        return {d: figure(first + place / 100, 0.1, 0.9) for place, d in enumerate(dimensions)}

    rate = {"called": figure(0.3, 0.2, 0.4), "corrected": figure(0.25, 0.1, 0.4)}
    card = {
        "counts": {"questions": 20, "replies": 25, "read": 19, "faults": {"out_of_range": 3}},
        "invalid": figure(0.31 if out else 0.01, 0.0, 0.4, 25),
        "out": out,
        "order_flips": {"difference": figure(0.125, 0.0, 0.3)},
        "placebo": {"difference/identical": figure(0.0, 0.0, 0.2)},
        "planted": {"bias/gender": figure(0.75, 0.4, 0.9), "bias/age": figure(None)},
        "label_effect": {d: figure(-0.02, -0.1, 0.1) for d in dimensions},
        "specificity": {"justified": figure(0.6, 0.3, 0.8)},
        "repeats": {"bias/gender": figure(0.5, 0.2, 0.7)},
        "rates": {"urgency": {"less": {"overall": rate, "by_contrast": {}}}},
        "pairwise": {"A": figure(0.4, 0.2, 0.6), "B": figure(0.1, 0, 0.3), "tie": figure(0.5)},
        "warnings": [f"{name} cannot be read."] if out else [],
    }
    return {
        "bias": {
            name: {
                "original|direct": scores(0.1),
                "perturbed|direct": scores(0.2),
                "perturbed|single": scores(0.3),
            }
        },
        "bias_by_set": {
            name: {
                "direct|gender": scores(0.2),
                "direct|race": scores(0.5),
                "single|age": scores(0),
            }
        },
        "quality": {
            name: {
                "toy": {
                    "factual_consistency": figure(4.5, 4, 5),
                    "clinical_relevance": figure(4.0, 3, 5),
                    "coherence": figure(None, n=0),
                }
            }
        },
        "consistency": {},
        "gpt_score": {},
        "card": {"judges": {name: card}, "between": {}},
    }


def _facts(vignette: Vignette) -> Facts:
    def fact(relation: Relation, word: str, value: str, score: float = 1.0) -> Triplet:
        start = vignette.text.index(word)
        span = Span(start, start + len(word))
        return Triplet(relation, value, Status.PRESENT, span, word, "by hand", score)

    woman, lima = ("woman", "Lima")
    if woman not in vignette.text or lima not in vignette.text:
        return Facts(vignette.text, ())
    kept = (
        fact(Relation.HAS_GENDER, woman, "female"),
        fact(Relation.LIVES_IN, lima, "lima"),
    )
    return Facts(
        vignette.text, kept, left_out=(fact(Relation.HAS_SYMPTOM, "coughs", "cough", 0.1),)
    )


def _estimates(
    made: Mapping[str, object],
    forms: tuple[AnswerForm, ...],
    replicates: int,
    judges: Mapping[str, object] | None,
    calls: int,
) -> dict[str, object]:
    settings = {
        "answers": list(forms),
        "attributes": ["gender", "race"],
        "backend": "edit",
        "first_hop": "target",
        "max_tokens": 400,
        "primary": list(EffectConfig().primary),
        "reference": dict(EffectConfig().reference),
        "replicates": replicates,
        "rules": "full",
        "structured": True,
        "temperature": 0.5,
    }
    return {
        "askew": "0.1.0",
        "model": MODEL,
        "models": {"target": MODEL},
        "seed": 1,
        "calls": {
            "by_role": {"target": {"asked": calls, "reused": 0, "failed": 0, "unknown": 0}},
            "by_stage": {"answers": calls},
            "spent": {"target": {"calls": calls, "tokens": 1234, "nanos": None}},
            "stopped": None,
            "message": "",
            "stage": "",
        },
        "clinical": {**made, "judges": judges or {}, "problems": {}, "settings": settings},
    }


def _write_calls(folder: RunFolder, calls: list[tuple[str, Call, Reply]]) -> None:
    unique = {key: (call, reply) for key, call, reply in calls}
    wanted = [Wanted(key, request_json(call), call) for key, (call, _) in unique.items()]
    with Ledger.open(folder.database) as ledger:
        entries = ledger.plan(MODEL, wanted, lambda call: Cost(1, 10, None))
        ledger.arm(entries)
        ledger.reserve_and_mark_sent(entries, Limits())
        ledger.settle(
            [
                Settlement(entry, State.RECEIVED, Cost(1, 10, None), unique[entry.key][1])
                for entry in entries
            ]
        )
