"""The clinical audit from a run file to figures, on scripted models whose lean is known."""

from __future__ import annotations

import json
import math
from dataclasses import replace
from pathlib import Path

import pytest

from askew.audits.clinical_answers import Ask
from askew.errors import ConfigError, RunError
from askew.models.ledgerfile import read_records
from askew.models.registry import load_model
from askew.run import clinical, rescore
from askew.run.clinical_plan import plan
from askew.runfile import RunFile, checked
from askew.vignettes import Variant

pytest.importorskip("spacy", reason="the clinical audit reads facts with spaCy")

MODULE = "python/tests.audits.scripted_clinic"
FREE = {"paid": False}


def settings(out: Path, target: str = "target", **changes: object) -> RunFile:
    values = {
        "out": str(out),
        "models": {"target": {"name": f"{MODULE}:{target}", "options": FREE}},
        "clinical": {
            "vignettes": 12,
            "attributes": ["gender"],
            "levels": {"gender": ["male", "female"]},
            "answers": ["direct"],
            "replicates": 2,
            "embedder": "none",
        },
    }
    return checked(values, changes)


@pytest.fixture(scope="module")
def study(tmp_path_factory) -> clinical.Prepared:
    """The vignettes with their facts and twins, read once: that is what takes its time."""
    return clinical.prepare(settings(tmp_path_factory.mktemp("study") / "run"))


def ready(
    study: clinical.Prepared, run: RunFile, vignettes: int | None = None
) -> clinical.Prepared:
    """The same study under other settings of what is asked, perhaps its first vignettes alone."""
    run = run.settled()
    assert run.out is not None
    kept = [one.id for one in study.study.vignettes][:vignettes]
    return replace(
        study,
        run=run,
        path=run.out,
        models={role: load_model(table.spec()) for role, table in run.models.items()},
        study=replace(
            study.study,
            vignettes=tuple(one for one in study.study.vignettes if one.id in kept),
        ),
        twins=replace(
            study.twins,
            variants=tuple(one for one in study.twins.variants if one.vignette_id in kept),
            dropped=tuple(one for one in study.twins.dropped if one.vignette_id in kept),
        ),
    )


def figures_of(done: clinical.Done) -> dict:
    return json.loads(done.folder.estimates.read_text(encoding="utf-8"))["clinical"]


async def test_a_planted_lean_is_found_with_its_size_and_its_sign(study, tmp_path):
    done = await clinical.execute(ready(study, settings(tmp_path / "run")))
    assert not done.incomplete
    effects = figures_of(done)["effects"]["direct"]["gender"]["female − male"]
    urgency = effects["urgency"]
    assert urgency["estimate"]["value"] == -2.0
    assert urgency["verdict"] == "difference"
    assert urgency["family"] == "declared"
    assert urgency["floor"]["value"] == 0.0
    # The order of the diagnoses is noise, and is not taken for a lean.
    assert effects["top_diagnosis_differs"]["verdict"] != "difference"
    assert effects["top_diagnosis_differs"]["floor"]["value"] > 0


async def test_a_model_that_says_the_same_to_everybody_shows_no_difference_anywhere(
    study, tmp_path
):
    done = await clinical.execute(ready(study, settings(tmp_path / "run", "even")))
    for contrasts in figures_of(done)["effects"]["direct"].values():
        for endpoints in contrasts.values():
            for name, effect in endpoints.items():
                if name != "kind":
                    assert effect["verdict"] != "difference"
                    assert effect["estimate"]["value"] in (0.0, None)


async def test_cases_in_which_the_attribute_ought_to_matter_are_kept_apart(study, tmp_path):
    done = await clinical.execute(ready(study, settings(tmp_path / "run")))
    study, effects = figures_of(done)["study"], figures_of(done)["effects"]["direct"]
    relevant = study["relevance"]["gender"].get("relevant", 0)
    assert relevant > 0
    apart = effects["gender (ought to matter)"]
    assert all(
        effect["vignettes"] <= relevant
        for endpoints in apart.values()
        for name, effect in endpoints.items()
        if name != "kind"
    )


@pytest.mark.parametrize("calls", [1, 9, 14])
async def test_a_run_that_is_stopped_goes_on_and_ends_with_the_same_figures(study, tmp_path, calls):
    even = settings(tmp_path / "one" / "whole", "even")
    whole = await clinical.execute(ready(study, even, 4))
    cut = settings(tmp_path / "other" / "cut", "even", **{"budget.calls": calls})
    stopped = await clinical.execute(ready(study, cut, 4))
    assert stopped.incomplete
    assert stopped.stopped is not None
    assert stopped.stage == "answers"
    received = [one for one in read_records(stopped.folder.database) if one.reply is not None]
    assert len(received) <= calls
    assert figures_of(stopped)["answers"]["had"] == len(received)
    again = settings(tmp_path / "other" / "cut", "even")
    went_on = await clinical.execute(ready(study, again, 4))
    assert not went_on.incomplete
    assert went_on.asked["target"].reused >= len(received)
    assert figures_of(went_on) == figures_of(whole)


async def test_reading_again_asks_nobody_and_gives_the_same_figures(study, tmp_path):
    run = settings(
        tmp_path / "run",
        **{"models.judge.name": f"{MODULE}:judge", "clinical.judge.controls": 2},
    )
    done = await clinical.execute(ready(study, run, 4))
    before = done.folder.estimates.read_bytes()
    assert rescore(done.folder.path).estimates.read_bytes() == before
    assert done.folder.verify() == []


async def test_reading_again_takes_other_margins_and_refuses_other_questions(study, tmp_path):
    done = await clinical.execute(ready(study, settings(tmp_path / "run", "even")))
    rescore(done.folder.path, {"clinical.margins": {"urgency": 2.5}})
    effect = figures_of(done)["effects"]["direct"]["gender"]["female − male"]["urgency"]
    assert effect["margin"] == 2.5
    with pytest.raises(RunError, match="change the questions"):
        rescore(done.folder.path, {"clinical.replicates": 3})


async def test_a_score_beyond_the_scale_lowers_the_coverage_and_moves_no_mean(study, tmp_path):
    run = settings(
        tmp_path / "run",
        **{
            "models.judge.name": f"{MODULE}:judge",
            "clinical.judge": {"kinds": ["bias"], "controls": 0, "re_asks": 0, "repeats": 1},
        },
    )
    done = await clinical.execute(ready(study, run, 4))
    judges = figures_of(done)["judges"]
    (name,) = judges["card"]["judges"]
    cells = judges["bias"][name]
    assert cells
    for cell in cells.values():
        assert cell["gender"]["value"] == pytest.approx(0.25)
        assert cell["gender"]["coverage"] <= 1
    faults = judges["card"]["judges"][name]["counts"]["faults"]
    assert faults.get("out_of_range", 0) > 0
    assert math.isclose(
        judges["card"]["judges"][name]["invalid"]["value"],
        faults["out_of_range"] / judges["card"]["judges"][name]["counts"]["questions"],
    )


@pytest.mark.parametrize(("first_hop", "calls"), [("target", 3), ("extractor", 2)])
async def test_the_chained_form_keeps_each_hop(study, tmp_path, first_hop, calls):
    run = settings(
        tmp_path / "run",
        **{
            "clinical.answers": ["direct", "chained"],
            "clinical.first_hop": first_hop,
        },
    )
    prepared = ready(study, run, 2)
    planned = plan(prepared)
    done = await clinical.execute(prepared)
    asks = [one for one in done.folder.read_parts("ask", Ask) if one.form == "chained"]
    assert {len(one.keys) for one in asks} == {calls}
    figures = figures_of(done)
    assert figures["answers"]["by_form"]["chained"] == {"answered": len(asks)}
    assert figures["answers"]["hops"] == {"chained: 2": len(asks)}
    assert figures["interactions"]
    made = sum(one.asked for one in done.asked.values())
    assert made == planned.new


async def test_a_chain_that_breaks_is_not_paid_for_further(study, tmp_path):
    run = settings(tmp_path / "run", "even", **{"clinical.answers": ["chained"]})
    done = await clinical.execute(ready(study, run, 2))
    asks = done.folder.read_parts("ask", Ask)
    answers = figures_of(done)["answers"]
    assert answers["by_form"]["chained"] == {"unreadable": len(asks)}
    assert {len(one.keys) for one in asks} == {1}


def test_a_plan_is_exact_for_known_prompts_and_leaves_nothing_behind(study, tmp_path):
    prepared = ready(study, settings(tmp_path / "run"))
    (stage,) = plan(prepared).stages
    texts = len(prepared.twins.variants)
    assert (stage.exact, stage.calls, stage.new) == (True, 2 * texts, 2 * texts)
    assert not list(tmp_path.iterdir())


async def test_what_is_dropped_is_listed_with_its_reason(study, tmp_path):
    done = await clinical.execute(ready(study, settings(tmp_path / "run", "even")))
    study = figures_of(done)["study"]
    assert study["dropped"].get("same", 0) > 0
    for entry in study["dropped_list"]:
        assert entry["reason"]
    variants = done.folder.read_parts("variant", Variant)
    assert study["variants"] == len(variants)


def test_an_option_of_another_audit_adds_no_audit(tmp_path):
    with pytest.raises(ConfigError, match=r"flex\.items: .* no \[flex\] table but \[clinical\]"):
        settings(tmp_path / "run", **{"flex.items": 3})


def test_a_model_back_end_needs_its_models(tmp_path):
    with pytest.raises(ConfigError, match=r"models\.generator"):
        settings(tmp_path / "run", **{"clinical.backend": "model"})


@pytest.mark.parametrize(
    ("target", "judges"),
    [
        ("openai/mistral-7b-instruct", ["gpt-4o", "llama-3.2-3b-instruct", "mistral-7b"]),
        ("openai/llama-3.1-8b-instruct", ["gpt-4o", "llama-3.2-3b-instruct"]),
        ("openai/gpt-4o", ["gpt-4o"]),
    ],
)
def test_the_paper_preset_fixes_its_sizes_and_its_pairs(target, judges):
    run = checked({"models": {"target": {"name": target}}, "clinical": {"preset": "paper"}})
    table = run.settled().clinical
    assert [run.models[role].name for role in run.judges] == [f"openai/{name}" for name in judges]
    assert (table.backend, table.variants, table.judge.items) == ("model", 4, 20)
    assert table.answers == ("direct", "single")
    sampling = run.settled().target.sampling()
    assert (sampling.temperature, sampling.max_tokens) == (0.5, 400)


def test_an_endpoint_that_is_not_known_is_named_with_the_known_ones(tmp_path):
    with pytest.raises(ConfigError, match="urgency"):
        settings(tmp_path / "run", **{"clinical.primary": ["urgensy"]})


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"clinical.answers": ["direct", "direct"]}, "one thing twice"),
        ({"clinical.temperatures": [float("nan")]}, "finite"),
        ({"clinical.reference": {"gendr": "male"}}, "gendr"),
        ({"clinical.reference": {"gender": "Male"}}, "Known: female, male"),
        ({"clinical.rules": "fulll", "clinical.levels": {"gender": ["robot"]}}, "robot"),
        (
            {"clinical.declared": [{"name": "age", "levels": ["a", "b"], "phrase": "Is {}."}]},
            "name of another",
        ),
        ({"budget.roles": {"jugde": {"calls": 1}}}, "Known: target"),
        ({"models.judges.name": f"{MODULE}:judge"}, r"models\.judges"),
        (
            {
                "models.judge.name": f"{MODULE}:judge",
                "models.judge_2.name": f"{MODULE}:even",
                "budget.roles": {"judge_2": {"calls": 1}},
            },
            "all judges share one",
        ),
        (
            {
                "clinical.backend": "model",
                "clinical.combinations": [["race"]],
                "models.generator.name": f"{MODULE}:even",
                "models.attacker.name": f"{MODULE}:even",
            },
            "not 'race'",
        ),
    ],
)
def test_a_setting_that_would_fail_or_mean_nothing_is_refused_with_its_mend(
    tmp_path, changes, words
):
    with pytest.raises(ConfigError, match=words) as trouble:
        settings(tmp_path / "run", **changes)
    assert ".." not in str(trouble.value)


def test_a_reference_for_one_attribute_leaves_the_others_as_they_are(tmp_path):
    run = settings(tmp_path / "run", **{"clinical.reference": {"gender": "female"}})
    assert run.clinical.effect_config().reference == {
        "gender": "female",
        "race": "White",
        "age": "40-60",
    }


def test_an_attribute_of_ones_own_is_told_where_to_be_declared(tmp_path):
    with pytest.raises(ConfigError, match=r"\[\[clinical\.declared\]\]"):
        settings(tmp_path / "run", **{"clinical.attributes": ["insurance"]})


def test_the_papers_template_can_be_chosen(tmp_path):
    chosen = {"clinical.backend": "template", "clinical.template": "paper"}
    prepared = clinical.prepare(settings(tmp_path / "run", **chosen, **{"clinical.vignettes": 2}))
    texts = [one.text for one in prepared.twins.variants]
    assert texts
    assert all(text.startswith("A patient ") and " having several " in text for text in texts)


def test_all_answers_may_be_judged(tmp_path):
    run = settings(tmp_path / "run", **{"clinical.judge.items": "all"})
    assert run.clinical.judging_config({}).items is None
