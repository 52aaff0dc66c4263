"""A clinical run of every stage: models that make the twins, stops anywhere, budgets, bounds."""

from __future__ import annotations

import asyncio
import json
import os
from collections import Counter
from dataclasses import replace
from pathlib import Path

import pytest

from askew.errors import ConfigError
from askew.models.ledgerfile import read_records
from askew.models.registry import load_model
from askew.run import clinical, rescore
from askew.run.clinical_plan import plan
from askew.runfile import RunFile, checked
from askew.vignettes import Dropped, Variant
from tests.audits import scripted_makers

pytest.importorskip("spacy", reason="the clinical audit reads facts with spaCy")

MODULE = "python/tests.audits.scripted_makers"
ROLES = {
    "target": "target",
    "generator": "generator",
    "attacker": "attacker",
    "reference": "reference",
    "judge": "judge",
    "judge_2": "other_judge",
}
CASES = (
    "A 50-year-old man who lives in Lima has crushing chest pain.",
    "A 52-year-old man who lives in Lima has crushing chest pain.",
)


def settings(cases: Path, out: Path, roles: dict[str, str] = ROLES, **changes: object) -> RunFile:
    values = {
        "out": str(out),
        "models": {
            role: {"name": f"{MODULE}:{function}", "options": {"paid": False}}
            for role, function in roles.items()
        },
        "clinical": {
            "data": [{"name": "own", "path": str(cases)}],
            "arms": ["original"],
            "backend": "model",
            "combinations": [["age", "gender", "place"]],
            "variants": 2,
            "answers": ["direct", "chained"],
            "replicates": 2,
            "temperatures": [0.3],
            "embedder": "none",
            "judge": {"items": 2, "controls": 1, "repeats": 1},
        },
    }
    return checked(values, changes)


@pytest.fixture(scope="module")
def cases(tmp_path_factory) -> Path:
    file = tmp_path_factory.mktemp("cases") / "cases.jsonl"
    lines = [
        json.dumps({"id": f"case-{place}", "text": text, "reference": ["angina"]})
        for place, text in enumerate(CASES)
    ]
    file.write_text("\n".join(lines) + "\n", encoding="utf-8")
    return file


@pytest.fixture(scope="module")
def study(cases, tmp_path_factory) -> clinical.Prepared:
    return clinical.prepare(settings(cases, tmp_path_factory.mktemp("study") / "run"))


def ready(study: clinical.Prepared, run: RunFile) -> clinical.Prepared:
    """The same study under other settings of what is asked."""
    run = run.settled()
    assert run.out is not None
    models = {role: load_model(table.spec()) for role, table in run.models.items()}
    return replace(study, run=run, path=run.out, models=models)


@pytest.fixture(scope="module")
def whole(study, cases, tmp_path_factory) -> clinical.Done:
    """The run that nothing disturbs."""
    run = settings(cases, tmp_path_factory.mktemp("whole") / "run")
    return asyncio.run(clinical.execute(ready(study, run)))


def figures_of(done: clinical.Done) -> dict:
    return json.loads(done.folder.estimates.read_text(encoding="utf-8"))["clinical"]


def asked(done: clinical.Done) -> Counter[str]:
    """Replies by role."""
    records = read_records(done.folder.database)
    return Counter(one.call.role for one in records if one.reply is not None)


async def test_models_make_the_twins_and_each_is_asked_about(whole):
    variants = whole.folder.read_parts("variant", Variant)
    made = [one for one in variants if one.method == "attacker"]
    assert [one.arm for one in made] == [
        "age=20-35+gender=female+place=Nairobi",
        "age=65-80+gender=male+place=Chicago",
    ] * len(CASES)
    figures = figures_of(whole)
    assert figures["study"]["sets"] == {"original": 2, "age+gender+place": 4}
    assert figures["answers"]["had"] == figures["answers"]["wanted"] == 6 * 2 * 2
    for cells in figures["judges"]["bias"].values():
        assert {"original|direct", "perturbed|direct", "perturbed|chained"} <= set(cells)


async def test_what_is_wrong_with_a_made_twin_is_counted_with_its_reason(study, cases, tmp_path):
    roles = {**ROLES, "attacker": "careless_attacker"}
    roles = {role: name for role, name in roles.items() if not role.startswith("judge")}
    run = settings(cases, tmp_path / "run", roles, **{"clinical.variants": 5})
    done = await clinical.execute(ready(study, run))
    assert figures_of(done)["study"]["methods"] == {"original": 2, "attacker": 2}
    dropped = done.folder.read_parts("dropped", Dropped)
    of_one = [
        (one.kind, one.reason) for one in dropped if one.vignette_id == dropped[0].vignette_id
    ]
    kinds = Counter(kind for kind, _ in of_one)
    assert kinds == {"unreadable": 1, "facts_changed": 1, "not_expressible": 2}
    reasons = " ".join(reason for _, reason in of_one)
    for word in ("chest pain", "'Atlantis'", "gender is not said", "no more that could be read"):
        assert word.removeprefix("no ") in reasons


async def test_without_a_question_the_attacker_is_not_asked(study, cases, tmp_path):
    roles = {"target": "target", "generator": "mute", "attacker": "attacker"}
    done = await clinical.execute(ready(study, settings(cases, tmp_path / "run", roles)))
    assert figures_of(done)["study"]["dropped"] == {"unreadable": 2}
    assert asked(done)["attacker"] == 0
    assert asked(done)["target"] > 0  # the originals


@pytest.mark.parametrize("step", [1, 23])
async def test_stopped_at_every_stage_it_asks_nothing_twice_and_ends_as_if_undisturbed(
    study, cases, whole, tmp_path, step
):
    total = sum(asked(whole).values())
    budgets = range(1, 14) if step == 1 else range(14, total + step, step)
    scripted_makers.ASKED.clear()
    stages = []
    for calls in [*budgets, total]:
        run = settings(cases, tmp_path / "run", **{"budget.calls": calls})
        done = await clinical.execute(ready(study, run))
        stages.append(done.stage)
        assert sum(asked(done).values()) <= calls
        if step == 1 and done.stage == "answers":
            break
    if step == 1:
        assert set(stages) == {"questions", "perturbed questions", "answers"}
        return
    assert len({one for one in stages if one}) >= 4
    assert not done.incomplete
    assert figures_of(done) == figures_of(whole)
    assert sum(scripted_makers.ASKED.values()) == total
    # Stopped once more with everything in hand: nothing is lost.
    again = settings(cases, tmp_path / "run", **{"budget.calls": 1})
    assert figures_of(await clinical.execute(ready(study, again))) == figures_of(whole)


@pytest.mark.parametrize(
    ("role", "stage"),
    [("attacker", "perturbed questions"), ("reference", "reference answers"), ("judge", "judge")],
)
async def test_a_roles_own_budget_holds(study, cases, tmp_path, role, stage):
    run = settings(cases, tmp_path / "run", **{"budget.roles": {role: {"calls": 1}}})
    done = await clinical.execute(ready(study, run))
    assert asked(done)[role] == 1
    assert done.stage.startswith(stage)
    assert figures_of(done)["study"]["vignettes"] == len(CASES)


async def test_a_moved_folder_goes_on_and_another_run_in_it_is_refused(
    study, cases, whole, tmp_path
):
    run = settings(cases, tmp_path / "first" / "run", **{"budget.calls": 9})
    await clinical.execute(ready(study, run))
    moved = tmp_path / "second" / "moved"
    moved.parent.mkdir()
    (tmp_path / "first" / "run").rename(moved)
    done = await clinical.execute(ready(study, settings(cases, moved)))
    assert figures_of(done) == figures_of(whole)
    other = settings(cases, moved, **{"clinical.replicates": 3, "clinical.judge.items": 5})
    with pytest.raises(ConfigError, match=r"clinical\.judge\.items, clinical\.replicates differ"):
        await clinical.execute(ready(study, other))


async def test_the_plan_bounds_what_is_then_asked(study, cases, whole, tmp_path):
    prepared = ready(study, settings(cases, tmp_path / "run"))
    calls: Counter[str] = Counter()
    tokens: Counter[str] = Counter()
    for stage in plan(prepared).stages:
        role = "judge" if stage.role.startswith("judge") else stage.role
        calls[role] += stage.calls
        tokens[role] += stage.prompt_tokens
    found: Counter[str] = Counter()
    for record in read_records(whole.folder.database):
        found[record.call.role] += prepared.target.tokens(record.call)
    had = asked(whole)
    assert all(had[role] <= calls[role] for role in had)
    assert all(found[role] <= tokens[role] for role in found)
    exact = [stage for stage in plan(prepared).stages if stage.exact]
    assert [one.name for one in exact] == [
        "questions",
        "answers",
        "reference answers",
        "temperature sweep",
    ]
    assert (exact[0].calls, exact[2].calls, exact[3].calls) == (2, 2, 2)
    assert not (tmp_path / "run").exists()


async def test_the_folder_alone_gives_its_figures_and_names_no_place_of_the_machine(
    whole, cases, tmp_path
):
    before = whole.folder.estimates.read_text(encoding="utf-8")
    assert rescore(whole.folder.path).estimates.read_text(encoding="utf-8") == before
    assert str(cases.parent) not in before
    assert str(whole.folder.path) not in before
    assert "NaN" not in before


def test_one_judge_under_two_names_is_refused(cases, tmp_path):
    twice = {**ROLES, "judge_2": "judge"}
    with pytest.raises(ConfigError, match="same judge"):
        clinical.prepare(settings(cases, tmp_path / "run", twice))


def test_an_embedder_that_is_not_there_is_refused_before_anything_is_asked(cases, tmp_path):
    pytest.importorskip("torch", reason="embedders need torch")
    run = settings(cases, tmp_path / "run", **{"clinical.embedder": "builtin/minilmm"})
    with pytest.raises(ConfigError, match="unknown embedder"):
        clinical.prepare(run)


def test_a_money_budget_over_an_unpriced_model_of_any_role_is_refused(cases, tmp_path):
    run = settings(cases, tmp_path / "run", **{"budget.roles": {"judge": {"money": 1.0}}})
    with pytest.raises(ConfigError, match="needs the price"):
        clinical.prepare(run)


@pytest.mark.skipif("ASKEW_DATA" not in os.environ, reason="ASKEW_DATA names the data folder")
def test_the_paper_preset_asks_84_questions_of_21_cases(tmp_path):
    roles = {role: ROLES[role] for role in ("target", "generator", "attacker", "judge")}
    run = checked(
        {
            "out": str(tmp_path / "run"),
            "models": {
                role: {"name": f"{MODULE}:{function}", "options": {"paid": False}}
                for role, function in roles.items()
            },
            "clinical": {
                "preset": "paper",
                "data": [
                    {
                        "name": "zack_cases",
                        "path": str(Path(os.environ["ASKEW_DATA"]) / "zack_vignettes"),
                    }
                ],
                "embedder": "none",
            },
        }
    )
    prepared = clinical.prepare(run)
    assert len(prepared.study.vignettes) == 21
    stages = {stage.name: stage for stage in plan(prepared).stages}
    assert stages["perturbed questions"].calls == 21  # four variants each
    # The originals and 84 twins, directly and over the hops.
    assert stages["answers"].calls == 21 * 2
    assert stages["later hops and twins still to be made"].calls == 84 * 2
