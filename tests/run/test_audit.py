"""A run of several audits: one folder, one ledger, one budget; parts resume and run alone."""

from __future__ import annotations

import asyncio
import json
import tomllib
from itertools import pairwise
from pathlib import Path

import pytest

from askew.errors import ConfigError
from askew.models.ledgerfile import read_records
from askew.report.export import rows, write_rows
from askew.report.which_audit import audits_of, part_of, parts_of
from askew.run import audit, rescore
from askew.run.audit_models import within_budget
from askew.runfile import RunFile, checked, read_run_file
from askew.runfile.presets import PRESETS, preset, preset_file
from askew.runfolder import RunFolder

AUDITS = ("flex", "clinical", "boundary")
MODULE = "python/tests.run.scripted_auditee"


def settings(out: Path, *, only: tuple[str, ...] = AUDITS, **changes: object) -> RunFile:
    tables = {
        "flex": {"items": 6, "controls": 6, "prompt": "flex", "scoring": "reply"},
        "clinical": {
            "vignettes": 3,
            "attributes": ["gender"],
            "levels": {"gender": ["male", "female"]},
            "arms": ["original", "each"],
            "answers": ["direct"],
            "replicates": 1,
            "embedder": "none",
        },
        "boundary": {
            "domains": ["economy"],
            "policy": "neighbour_share",
            "queries": 8,
            "questions": 2,
            "vectors": "hashed",
            "slant": "any",
            "slant_by": "words",
        },
    }
    values = {
        "out": str(out),
        "models": {"target": {"name": f"{MODULE}:target"}},
        **{name: tables[name] for name in only},
    }
    return checked(values, changes)


def done(run: RunFile, only: tuple[str, ...] = ()) -> audit.Done:
    return asyncio.run(audit.execute(audit.prepare(run, only)))


def estimates(path: Path) -> dict:
    return json.loads((path / "estimates.json").read_text(encoding="utf-8"))


@pytest.fixture(scope="module")
def whole(tmp_path_factory) -> RunFolder:
    made = done(settings(tmp_path_factory.mktemp("audit") / "run"))
    assert not made.incomplete
    return made.folder


def test_one_folder_holds_all_audits_and_is_as_its_manifest_says(whole):
    assert audits_of(whole) == AUDITS
    assert whole.verify() == []
    assert set(parts_of(whole.read_estimates())) == set(AUDITS)
    assert whole.report.is_file()
    names = {path.name for path in whole.path.iterdir()}
    assert {"run.toml", "run.sqlite", "estimates.json", "report.html", "MANIFEST"} <= names


@pytest.mark.parametrize("name", AUDITS)
def test_a_part_has_the_figures_that_it_has_alone(whole, tmp_path, name):
    alone = done(settings(tmp_path / name, only=(name,)))
    assert audits_of(alone.folder) == (name,)
    part = part_of(whole.read_estimates(), name)
    assert part[name] == alone.folder.read_estimates()[name]


def test_every_call_is_of_one_audit_and_each_part_counts_its_own(whole):
    by_audit = {name: part_of(whole.read_estimates(), name)["calls"] for name in AUDITS}
    asked = by_audit["flex"]["asked"]
    for name in ("clinical", "boundary"):
        asked += sum(role["asked"] for role in by_audit[name]["by_role"].values())
    assert asked == sum(1 for _ in read_records(whole.database))
    spent = by_audit["boundary"]["spent"]
    assert (
        sum(cost["calls"] for cost in spent.values())
        == estimates(whole.path)["boundary"]["cost"]["calls"]
    )


def test_the_same_run_again_asks_nothing_and_changes_no_figure(whole):
    before = estimates(whole.path)
    planned = audit.plan(audit.prepare(settings(whole.path)))
    assert [part.new for part in planned] == [0, 0, 0]
    again = done(read_run_file(whole.settings))
    assert not again.incomplete
    after = estimates(whole.path)
    for name in AUDITS:
        assert after[name] == before[name]


def test_the_settings_say_what_each_part_was_drawn_with(whole):
    written = tomllib.loads(whole.settings.read_text(encoding="utf-8"))
    assert "temperature" not in written["models"]["target"]
    drawn = {name: written["record"]["audits"][name]["sampling"]["target"] for name in AUDITS}
    assert drawn["clinical"] == {"temperature": 0.5, "max_tokens": 400}  # the paper's, 4.1
    assert drawn["flex"]["temperature"] == 0.0
    assert written["record"]["audits"]["boundary"]["data"]["graph"]


def test_a_part_can_be_run_alone_and_the_others_stay(tmp_path):
    run = settings(tmp_path / "run")
    first = done(run, only=("boundary",))
    assert list(parts_of(first.folder.read_estimates())) == ["boundary"]
    assert audits_of(first.folder) == AUDITS
    boundary = estimates(tmp_path / "run")["boundary"]
    done(run, only=("flex",))
    both = estimates(tmp_path / "run")
    assert both["boundary"] == boundary
    assert "clinical" not in both
    with pytest.raises(ConfigError, match="unknown audit of this run file 'survey'"):
        audit.prepare(run, ("survey",))


def test_one_budget_holds_for_all_parts_and_the_run_goes_on_with_more(tmp_path):
    planned = audit.plan(audit.prepare(settings(tmp_path / "run")))
    first = planned[0].new
    stopped = done(settings(tmp_path / "run", **{"budget.calls": first + 2}))
    assert stopped.incomplete
    assert [part.audit for part in stopped.parts] == ["flex", "clinical"]
    assert stopped.parts[1].stopped == "budget"
    assert stopped.left == ("boundary",)
    assert sum(1 for one in read_records(tmp_path / "run" / "run.sqlite") if one.attempts) == (
        first + 2
    )
    ended = done(settings(tmp_path / "run"))
    assert not ended.incomplete
    assert all(one.attempts == 1 for one in read_records(tmp_path / "run" / "run.sqlite"))


def test_a_folder_with_other_audits_or_other_questions_is_refused(whole):
    with pytest.raises(ConfigError, match="holds a run of flex and clinical and boundary"):
        audit.prepare(settings(whole.path, only=("flex",)))
    with pytest.raises(ConfigError, match=r"other questions: flex\.items differ"):
        audit.prepare(settings(whole.path, **{"flex.items": 5}))


def test_replies_are_read_again_part_by_part(tmp_path):
    folder = done(settings(tmp_path / "run")).folder
    before = estimates(folder.path)
    rescore(folder.path, {"flex.non_answers": "wrong", "boundary.threshold": 0.9})
    after = estimates(folder.path)
    assert after["flex"]["settings"]["non_answers"] == "wrong"
    assert after["boundary"] != before["boundary"] or before["boundary"]["topics"]["leaning"] == 0
    assert after["clinical"] == before["clinical"]
    assert after["calls"] == before["calls"]
    assert folder.verify() == []
    with pytest.raises(ConfigError, match=r"survey\.x is no setting"):
        rescore(folder.path, {"survey.x": 1})


def test_rows_are_of_one_audit(whole, tmp_path):
    with pytest.raises(Exception, match="holds several audits"):
        next(iter(rows(whole)))
    for name in AUDITS:
        assert write_rows(whole, tmp_path / f"{name}.csv", "csv", name)


def test_several_models_share_one_budget(tmp_path):
    first = done(settings(tmp_path / "first", only=("flex",)))
    spent = sum(1 for _ in read_records(first.folder.database))
    second = audit.prepare(settings(tmp_path / "second", only=("flex",), **{"budget.calls": 100}))
    share = within_budget(second, [first.folder.path, tmp_path / "not-there"])
    assert share.run.budget.calls == share.parts["flex"].run.budget.calls == 100 - spent


@pytest.mark.parametrize("name", PRESETS)
@pytest.mark.parametrize("judged", [False, True])
def test_a_preset_is_a_run_file_that_reads_back_as_itself(tmp_path, name, judged):
    models = {"target": {"name": "a/b"}, **({"judge": {"name": "c/d"}} if judged else {})}
    values = preset(name, models)
    file = tmp_path / "audit.toml"
    file.write_text(preset_file(name, values), encoding="utf-8")
    run = read_run_file(file)
    assert run.audits == AUDITS
    assert run == checked(values)
    assert (run.boundary.slant == "any") is not judged


def test_presets_ask_more_one_after_another(tmp_path):
    calls = []
    for name in PRESETS:
        values = preset(name, {"target": {"name": f"{MODULE}:target"}})
        run = checked({**values, "out": str(tmp_path / name)}, {"boundary.vectors": "hashed"})
        calls.append([part.calls for part in audit.plan(audit.prepare(run))])
    for smaller, larger in pairwise(calls):
        assert all(a < b for a, b in zip(smaller, larger, strict=True))


def test_unknown_presets_and_audits_are_named():
    with pytest.raises(ConfigError, match=r"unknown preset 'swift'.*quick"):
        preset("swift", {"target": {"name": "a/b"}})
    with pytest.raises(ConfigError, match="unknown audit 'all'"):
        preset("quick", {"target": {"name": "a/b"}}, ["all"])
    with pytest.raises(ConfigError, match="no audit is named"):
        preset("quick", {"target": {"name": "a/b"}}, [])
