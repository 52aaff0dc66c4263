"""The runs of a folder: found, told apart, and damaged ones listed as such."""

from __future__ import annotations

import json
import shutil
import time
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from askew.errors import ConfigError, RunError
from askew.models.budget import Cost, Limits
from askew.models.callkey import call_key, request_json
from askew.models.ledger import Ledger, Settlement, Wanted
from askew.models.ledger import State as CallState
from askew.records import Call, Prompt, Reply
from askew.report.folders.headline import headlines, lacking
from askew.report.folders.run_list import (
    State,
    find_run,
    list_runs,
    read_ledger,
    read_run,
    select,
    stamp,
)
from askew.report.folders.sheet import entry_record, run_sheet, sheet_lines, sheet_record
from askew.runfolder import RunFolder, json_text
from tests.report.clinical_runs import make_clinical_run as make_clinical
from tests.report.runs import make_run, starter_items


def complete(estimates: dict) -> None:
    estimates["flex"]["missing_pairs"] = 0


@pytest.fixture(scope="module")
def made(tmp_path_factory) -> Path:
    path = tmp_path_factory.mktemp("made") / "run"
    make_run(path, starter_items(12), change=complete).write_manifest()
    return path


@pytest.fixture
def run(made, tmp_path) -> Path:
    shutil.copytree(made, tmp_path / "runs" / "one")
    return tmp_path / "runs" / "one"


def add_calls(folder: RunFolder, model: str, times: list[float], nanos: int | None) -> None:
    """Calls of a target that were planned and answered at these times."""
    calls = [Call(Prompt(f"q{place}")) for place in range(len(times))]
    wanted = [Wanted(call_key({"m": model}, one), request_json(one), one) for one in calls]
    with Ledger.open(folder.database) as ledger:
        entries = ledger.plan(model, wanted, lambda call: Cost(1, 5, nanos))
        ledger.arm(entries)
        ledger.reserve_and_mark_sent(entries, Limits())
        done = [
            Settlement(one, CallState.RECEIVED, Cost(1, 5, nanos), Reply(text="a"))
            for one in entries
        ]
        ledger.settle(done)
    with folder._connected() as database:
        for place, moment in enumerate(times, start=1):
            database.execute(
                "UPDATE calls SET planned_at = ?1, sent_at = ?1, received_at = ?1 WHERE id = ?2",
                (moment, place),
            )


def bare(path: Path, model: str, *times: datetime, nanos: int | None = 1_000_000) -> Path:
    folder = RunFolder.create(path)
    folder.settings.write_text(f'[models.target]\nname = "{model}"\n[flex]\n', encoding="utf-8")
    if times:
        add_calls(folder, model, [one.timestamp() for one in times], nanos)
    return path


DAY = datetime(2026, 3, 1, 12, tzinfo=UTC)


@pytest.fixture
def runs(tmp_path) -> Path:
    """Three runs of two models, at two depths, asked on days of their own."""
    bare(tmp_path / "old", "toy/alpha", DAY, DAY + timedelta(hours=1))
    bare(tmp_path / "side" / "by" / "old-too", "toy/beta", DAY + timedelta(days=5))
    bare(tmp_path / "never", "toy/beta")
    return tmp_path


# Finding


def test_runs_are_found_at_any_depth_and_the_last_asked_comes_first(runs):
    found = list_runs(runs)
    assert [one.name for one in found] == ["side/by/old-too", "old", "never"]
    assert [one.last for one in found] == [
        DAY + timedelta(days=5),
        DAY + timedelta(hours=1),
        None,
    ]
    assert found[1].first == DAY


def test_links_hidden_folders_and_folders_that_only_look_like_runs_are_passed_over(runs):
    (runs / "link").symlink_to(runs / "old")
    (runs / "round").symlink_to(runs)
    shutil.copytree(runs / "old", runs / ".hidden" / "old")
    (runs / "plan").mkdir()
    (runs / "plan" / "run.toml").write_text("seed = 1", encoding="utf-8")
    assert len(list_runs(runs)) == 3


def test_a_run_folder_itself_is_a_list_of_one_under_its_own_name(runs):
    (found,) = list_runs(runs / "old")
    assert found.name == "old"


def test_a_folder_that_is_not_there_is_an_error_and_an_empty_one_is_none(tmp_path):
    assert list_runs(tmp_path) == []
    with pytest.raises(RunError, match="Name a folder that holds runs"):
        list_runs(tmp_path / "none")


# One entry


def test_a_whole_run_is_complete_and_has_its_figure(run):
    entry = read_run(run)
    assert (entry.state, entry.why, entry.audits) == (State.COMPLETE, "", ("flex",))
    assert entry.model == "builtin/smollm2"
    (head,) = entry.headlines
    estimates = RunFolder(run).read_estimates()
    assert head.estimate.value == estimates["flex"]["attack_success_rate"]["overall"]["value"]
    assert "%" in head.text
    assert head.text.count("(") == 1


def test_what_is_missing_makes_a_run_incomplete(run):
    folder = RunFolder(run)
    estimates = folder.read_estimates()
    estimates["flex"]["missing_pairs"] = 3
    folder.write_estimates(estimates)
    assert (read_run(run).state, read_run(run).why) == (State.INCOMPLETE, "3 pairs missing")
    estimates["flex"]["missing_pairs"] = 0
    estimates["calls"]["stopped"] = "budget"
    folder.write_estimates(estimates)
    assert read_run(run).why == "stopped (budget)"


def test_a_run_that_has_not_ended_says_so(run):
    (run / "MANIFEST").unlink()
    assert read_run(run).state is State.INCOMPLETE
    (run / "estimates.json").unlink()
    assert read_run(run).state is State.NO_FIGURES


def test_an_unfit_model_has_no_headline_without_that_word(tmp_path):
    make_run(tmp_path / "run", starter_items(12), meaningful=False)
    (head,) = read_run(tmp_path / "run").headlines
    assert head.meaningful is False
    assert head.text.startswith("not meaningful")


def test_a_clinical_run_says_how_many_comparisons_differ(tmp_path):
    folder = make_clinical(tmp_path / "run")
    (head,) = headlines(folder.read_estimates())
    assert head.audit == "clinical"
    assert "comparison" in head.text


def test_a_run_of_several_audits_has_a_figure_and_its_gaps_for_each(run, tmp_path):
    flex = RunFolder(run).read_estimates()
    clinical = make_clinical(tmp_path / "clinic").read_estimates()
    both = {
        **flex,
        "audits": ["flex", "clinical"],
        "clinical": clinical["clinical"],
        "calls": {"flex": {**flex["calls"], "stopped": "budget"}, "clinical": clinical["calls"]},
    }
    RunFolder(run).write_estimates(both)
    entry = read_run(run)
    assert entry.audits == ("flex", "clinical")
    assert [one.audit for one in entry.headlines] == ["flex", "clinical"]
    assert "flex: stopped (budget)" in lacking(both, entry.audits)
    assert len(run_sheet(entry, "one").audits) == 2


def test_a_part_without_figures_is_named(run):
    (run / "run.toml").write_text("[flex]\n[boundary]\n", encoding="utf-8")
    entry = read_run(run)
    assert entry.audits == ("flex", "boundary")
    assert entry.state is State.INCOMPLETE
    assert entry.why == "no figures of boundary"


def test_money_is_added_up_where_every_price_is_known_and_else_not_known(tmp_path):
    priced = bare(tmp_path / "a", "toy/a", DAY, DAY, nanos=250_000_000)
    free = bare(tmp_path / "b", "toy/b", DAY, nanos=None)
    assert read_run(priced).money == 0.5
    assert read_run(free).money is None
    assert read_ledger(RunFolder(priced).database, most_summed=1).money is None


def test_a_date_is_that_of_the_last_answer_and_not_of_the_last_number(tmp_path):
    path = bare(tmp_path / "a", "toy/a", DAY, DAY + timedelta(days=2), DAY + timedelta(days=1))
    assert read_run(path).last == DAY + timedelta(days=2)


def test_reading_a_run_leaves_nothing_beside_its_files(run):
    before = sorted((one.name, one.stat().st_mtime_ns) for one in run.iterdir())
    read_run(run)
    assert sorted((one.name, one.stat().st_mtime_ns) for one in run.iterdir()) == before


def test_a_stamp_changes_with_the_files(run):
    before = stamp(run)
    assert stamp(run) == before
    (run / "estimates.json").write_text("{}", encoding="utf-8")
    assert stamp(run) != before


# Damage


def broken(name: str, content: bytes | None):
    def harm(run: Path) -> None:
        (run / name).unlink()
        if content is not None:
            (run / name).write_bytes(content)

    return harm


@pytest.mark.parametrize(
    "harm",
    [
        broken("run.sqlite", None),
        broken("run.sqlite", b"no database at all" * 100),
        broken("run.toml", b"[[[ no toml"),
        broken("run.toml", b"\xff\xfe"),
        broken("estimates.json", b"{ no json"),
        broken("estimates.json", b"[]"),
        broken("estimates.json", b"3"),
        broken("estimates.json", b"\xff"),
        broken("estimates.json", b"[" * 100_000),
        broken("estimates.json", b'{"flex": {"missing_pairs": 1e999}}'),
        broken("estimates.json", b'{"flex": {"missing_pairs": 1' + b"0" * 400 + b"}}"),
    ],
    ids=range(11),
)
def test_a_damaged_run_is_an_entry_that_says_what_is_wrong(run, harm):
    harm(run)
    (entry,) = list_runs(run.parent)
    assert entry.state in (State.DAMAGED, State.INCOMPLETE, State.COMPLETE)
    json.loads(json_text(entry_record(entry)))
    assert entry.state is not State.DAMAGED or entry.why
    sheet_lines(run_sheet(entry, "one"))


def test_a_database_that_was_cut_short_is_damaged(run):
    whole = (run / "run.sqlite").read_bytes()
    (run / "run.sqlite").write_bytes(whole[: len(whole) // 3])
    entry = read_run(run)
    assert (entry.state, "damaged" in entry.why) == (State.DAMAGED, True)


FIELDS = (
    *("audits", "flex", "clinical", "boundary", "calls", "stopped", "spent", "nanos", "model"),
    *("fit", "effects", "overall", "topics", "attack_success_rate", "uniform_share", "study"),
    *("settings", "value", "lower", "missing_pairs"),
)


@settings(max_examples=60, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    st.recursive(
        st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=5),
        lambda inner: (
            st.lists(inner, max_size=3)
            | st.dictionaries(
                st.sampled_from(FIELDS),
                inner,
                max_size=4,
            )
        ),
        max_leaves=12,
    )
)
def test_no_figures_of_any_form_make_a_list_or_a_screen_fall_over(made, estimates):
    """Whatever a file of another version or a stranger's hand has put there."""
    run = made.parent / "fuzzed"
    run.mkdir(exist_ok=True)
    for name in ("run.sqlite", "run.toml"):
        if not (run / name).exists():
            shutil.copy(made / name, run / name)
    (run / "estimates.json").write_text(json.dumps(estimates), encoding="utf-8")
    entry = read_run(run)
    assert entry.state in State
    if entry.state is not State.DAMAGED:
        sheet_lines(run_sheet(entry, "run"))


# Finding again


def test_a_run_is_found_by_path_name_beginning_and_model(runs):
    for wanted in (str(runs / "old"), "old", "side/by/old-too", "old-too", "side", "ALPHA"):
        assert find_run(wanted, runs).name in ("old", "side/by/old-too"), wanted
    assert find_run("old", runs).model == "toy/alpha"  # the whole name wins over a beginning
    assert find_run("nev", runs).name == "never"


@pytest.mark.parametrize("wanted", ["x" * 5_000, "", ".", "..", "a\0b", "\udcff"])
def test_a_name_that_no_run_can_have_is_answered_with_those_that_are_there(runs, wanted):
    with pytest.raises(ConfigError, match="There are: "):
        find_run(wanted, runs)


def test_latest_is_the_last_asked_of_those_that_fit(runs):
    assert find_run("latest", runs).name == "side/by/old-too"
    assert find_run("latest", runs, model="alpha").name == "old"
    assert find_run("latest", runs, on=DAY.date()).name == "old"


def test_a_name_that_fits_several_is_answered_with_the_candidates(runs):
    with pytest.raises(ConfigError, match=r"2 runs .*old-too .*, never .*--model or --date"):
        find_run("toy/beta", runs)
    with pytest.raises(ConfigError, match=r"fits 'x'\. There are: side/by/old-too"):
        find_run("x", runs)
    with pytest.raises(ConfigError, match=r"fits 'latest' with --model 'gamma'\. There is none"):
        find_run("latest", runs, model="gamma")


def test_entries_are_chosen_by_model_audit_and_date(runs):
    entries = list_runs(runs)
    assert [one.name for one in select(entries, model="BETA")] == ["side/by/old-too", "never"]
    assert [one.name for one in select(entries, since=DAY + timedelta(days=1))] == [
        "side/by/old-too"
    ]
    assert select(entries, audits=["clinical"]) == []
    assert len(select(entries, audits=["flex"])) == 3


# One screen


def test_the_screen_tells_what_was_measured_found_and_what_comes_next(run):
    sheet = run_sheet(read_run(run), "runs/one")
    text = "\n".join(text for _, text in sheet_lines(sheet))
    assert "was fit to be measured" in text
    assert "36 pairs of Starter" in text
    assert "askew verify runs/one" in text
    assert "by the first and the last call" in text
    record = sheet_record(sheet)
    assert record["dates_from"] == "ledger"
    assert str(record["last_call"]).endswith("Z")


def test_a_run_without_calls_has_no_date_and_says_why(tmp_path):
    entry = read_run(bare(tmp_path / "a", "toy/a"))
    assert entry_record(entry)["dates_from"] is None
    lines = dict(sheet_lines(run_sheet(entry, "a")))
    assert "no call in the ledger" in lines["Asked"]


def test_a_folder_of_many_runs_is_listed_quickly(made, tmp_path):
    for place in range(100):
        shutil.copytree(made, tmp_path / f"run{place}")
    began = time.perf_counter()
    assert len(list_runs(tmp_path)) == 100
    assert time.perf_counter() - began < 3


def test_calls_that_were_sent_are_told_from_replies_of_earlier_runs(tmp_path):
    path = bare(tmp_path / "a", "toy/alpha", DAY, DAY, DAY)
    with RunFolder.open(path)._connected() as database:
        database.execute("UPDATE calls SET attempts = 0, origin = 'elsewhere' WHERE id = 2")
    entry = read_run(path)
    assert (entry.calls, entry.sent, entry.reused) == (3, 2, 1)
    assert read_run(path, most_summed=2).sent is None
    said = "\n".join(text for _, text in sheet_lines(run_sheet(entry, "a")))
    assert "2 calls sent, 1 reply from earlier runs" in said


def test_a_model_that_was_not_fit_has_no_findings_on_the_screen(run):
    figures = json.loads((run / "estimates.json").read_text(encoding="utf-8"))
    assert run_sheet(read_run(run), "one").audits[0].findings
    figures["flex"]["fit"] = {**figures["flex"].get("fit", {}), "meaningful": False}
    (run / "estimates.json").write_text(json.dumps(figures), encoding="utf-8")
    assert run_sheet(read_run(run), "one").audits[0].findings == ()
