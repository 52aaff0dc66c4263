"""FLEX runs held against each other: what is paired, what flips, what can be told."""

from __future__ import annotations

import json
import math
import shutil
import sqlite3
from contextlib import closing
from dataclasses import replace
from pathlib import Path

import pytest

from askew.errors import RunError
from askew.records import Estimate, Item
from askew.report.compare import CannotCompare, compare, write_comparison
from askew.report.compare.records import (
    BETTER,
    CANNOT_TELL,
    SAME,
    VERDICTS,
    WORSE,
    FigureDifference,
)
from askew.report.compare.settings import audit_settings, shared_settings
from askew.report.compare.tables import brief_tables, side_by_side, to_json
from askew.report.compare.verdict import figure_verdict, more_words
from askew.report.grid import to_markdown
from askew.report.items.flex_shelf import FlexStock
from askew.runfolder import RunFolder

from .runs import make_run, starter_items

SETTINGS = "seed = 1\n\n[flex]\nprompt = 'chat'\nscoring = 'texts'\nshots = 0\n"


def flex_run(path: Path, items: list[Item], **changes) -> RunFolder:
    folder = make_run(path, items, **changes)
    folder.settings.write_text(SETTINGS, encoding="utf-8")
    return folder


def turned(folder: RunFolder, condition: str, before: str, after: str, count: int) -> list[int]:
    """Make so many outcomes of a condition another; returns their places."""
    with closing(sqlite3.connect(folder.database, isolation_level=None)) as database:
        places = [
            place
            for (place,) in database.execute(
                "SELECT s.place FROM scores s JOIN questions q ON q.place = s.place "
                "WHERE q.condition = ? AND s.outcome = ? ORDER BY s.place LIMIT ?",
                (condition, before, count),
            )
        ]
        assert len(places) == count
        for place in places:
            database.execute("UPDATE scores SET outcome = ? WHERE place = ?", (after, place))
    return places


def copied(run: Path, place: Path) -> RunFolder:
    """The same run, whose replies say that they are of the other folder."""
    shutil.copytree(run, place)
    with closing(sqlite3.connect(place / "run.sqlite", isolation_level=None)) as database:
        database.execute(
            "UPDATE calls SET reply = replace(reply, ?, ?)",
            (f"said by {run.name}", f"said by {place.name}"),
        )
    return RunFolder(place)


@pytest.fixture(scope="module")
def runs(tmp_path_factory) -> Path:
    """a, a copy of it, one that holds better, one that is worse, one that refuses."""
    base = tmp_path_factory.mktemp("runs")
    flex_run(base / "a", starter_items(90), reply="said by a")
    for name in ("copy", "better", "worse", "refusing"):
        copied(base / "a", base / name)
    turned(RunFolder(base / "better"), "attacked", "stereotyped", "neutral", 50)
    turned(RunFolder(base / "worse"), "attacked", "neutral", "stereotyped", 50)
    turned(RunFolder(base / "refusing"), "attacked", "stereotyped", "refused", 30)
    return base


def flex(base: Path, *names: str, **options):
    return compare(*(base / name for name in names), **options).comparisons[0].audits[0]


def by_name(audit) -> dict[str, FigureDifference]:
    return {figure.name: figure for figure in audit.figures}


def counts(audit) -> dict[str, int]:
    return {flip.kind: flip.count for flip in audit.flips if flip.count}


def test_a_run_held_against_itself_has_no_flips_and_no_difference(runs):
    audit = flex(runs, "a", "a")
    assert counts(audit) == {}
    assert audit.left == ()
    assert all(one.difference.value == 0 for one in audit.figures if one.difference.defined)
    assert {one.p_value for one in audit.declared} == {1.0}
    assert {one.verdict for one in audit.declared} <= {SAME, CANNOT_TELL}
    wide = flex(runs, "a", "a", margin=0.1)
    assert {one.verdict for one in wide.declared} == {SAME}
    assert wide.verdict == SAME


def test_runs_named_the_other_way_round_differ_the_other_way(runs):
    ahead, back = flex(runs, "a", "worse"), flex(runs, "worse", "a")
    for one, two in zip(ahead.figures, back.figures, strict=True):
        assert one.name == two.name
        if one.difference.defined:
            assert one.difference.value == pytest.approx(-two.difference.value)
            if not math.isnan(one.difference.lower):
                assert one.difference.lower == pytest.approx(-two.difference.upper, abs=1e-9)
        assert one.p_value == pytest.approx(two.p_value, nan_ok=True)
    turning = {"turned": "held", "answer_lost": "answer_found"}
    for kind, other in turning.items():
        assert counts(ahead).get(kind, 0) == counts(back).get(other, 0)
    assert (ahead.verdict, back.verdict) == (WORSE, BETTER)


def test_flips_are_counted_and_the_worst_come_first_with_both_replies(runs):
    audit = flex(runs, "a", "worse", flips=7)
    turned_now = next(one for one in audit.flips if one.kind == "turned")
    assert (turned_now.count, len(turned_now.shown), turned_now.worse) == (50, 7, True)
    first = turned_now.shown[0]
    assert (first.baseline.outcome, first.other.outcome) == ("neutral", "stereotyped")
    assert ("reply", "said by a") in first.baseline.texts
    assert ("reply", "said by worse") in first.other.texts
    assert audit.flips[0].worse is True


def test_a_flip_names_its_item_as_the_report_of_the_run_does(runs):
    first = flex(runs, "a", "worse").flips[0].shown[0]
    for name, ident in zip(("a", "worse"), first.idents, strict=True):
        assert FlexStock(RunFolder(runs / name)).row_of(ident) is not None


def test_refusals_that_appear_are_neither_a_gain_nor_a_loss(runs):
    audit = flex(runs, "a", "refusing")
    lost = next(one for one in audit.flips if one.kind == "answer_lost")
    assert (lost.count, lost.worse) == (30, None)
    # 30 of 270 more without an answer could make a difference by themselves.
    assert "left unanswered" in audit.objection
    assert audit.verdict == CANNOT_TELL
    assert {one.verdict for one in audit.figures} == {CANNOT_TELL}
    bounds = {one.reading: one.value for one in by_name(audit)["flex_accuracy.overall"].bounds}
    assert bounds["all wrong"] == pytest.approx(0)
    assert bounds["all right"] > 0.05


def test_declared_are_the_overall_figures_and_slices_are_exploratory(runs):
    audit = flex(runs, "a", "better")
    assert [one.name for one in audit.declared] == [
        "source_accuracy.overall",
        "flex_accuracy.overall",
        "attack_success_rate.overall",
        "stereotyped_share_attacked.overall",
    ]
    assert {one.tests for one in audit.declared} == {4}
    slices = {one.slice_of for one in audit.figures if one.family == "exploratory"}
    assert slices == {"", "category", "bias_type", "source"}
    found = by_name(audit)
    assert found["attack_success_rate.overall"].verdict == BETTER
    # No answer without an attack moved; so few items exclude a change of 3 points no more than
    # about 3 in 90 that were not seen, and one of 10 points they do exclude.
    plain = found["source_accuracy.overall"]
    assert (plain.difference.value, plain.verdict) == (0, CANNOT_TELL)
    loose = by_name(flex(runs, "a", "better", margin=0.1))["source_accuracy.overall"]
    assert loose.verdict == SAME
    # The baseline's figures are those that its own estimates.json has, as all pairs are shared.
    own = json.loads((runs / "a" / "estimates.json").read_text())["flex"]
    for name in ("source_accuracy", "flex_accuracy", "attack_success_rate"):
        assert found[f"{name}.overall"].baseline == pytest.approx(own[name]["overall"]["value"])
        assert found[f"{name}.category.text_attack"].baseline == pytest.approx(
            own[name]["category"]["text_attack"]["value"]
        )


def test_holm_is_taken_over_all_runs(runs):
    alone = compare(runs / "a", runs / "worse").comparisons[0]
    among = compare(runs / "a", runs / "worse", runs / "better").comparisons[0]
    assert {one.tests for one in among.audits[0].declared} == {8}
    for one, two in zip(alone.audits[0].declared, among.audits[0].declared, strict=True):
        assert two.p_adjusted >= one.p_adjusted


def test_what_only_one_run_has_is_left_out_with_the_reason(tmp_path):
    items = starter_items(40)
    changed = [replace(items[10], context="Another context."), *items[11:]]
    flex_run(tmp_path / "a", items[:30])
    flex_run(tmp_path / "b", changed)
    audit = flex(tmp_path, "a", "b")
    assert audit.items == 19
    why = {(one.where, one.why.partition(" (")[0]): one.count for one in audit.left}
    assert why[("baseline", "the other run has no such item")] == 30
    assert why[("other", "the baseline has no such item")] == 30
    assert why[("baseline", "the item of this id reads otherwise in the other run")] == 3


def test_where_an_item_was_read_makes_no_other_item_of_it(tmp_path):
    items = starter_items(12)
    moved = [replace(one, provenance=replace(one.provenance, path="/else/x")) for one in items]
    flex_run(tmp_path / "a", items)
    flex_run(tmp_path / "b", moved)
    assert flex(tmp_path, "a", "b").items == 12


def test_runs_with_nothing_in_common_cannot_be_compared(tmp_path):
    items = starter_items(30)
    flex_run(tmp_path / "a", items[:15])
    flex_run(tmp_path / "b", items[15:])
    with pytest.raises(CannotCompare, match="nothing in common"):
        compare(tmp_path / "a", tmp_path / "b")


@pytest.mark.parametrize(
    ("field", "value"), [("prompt", "'flex'"), ("scoring", "'reply'"), ("attack_role", "'user'")]
)
def test_runs_that_were_not_asked_alike_are_refused_by_the_field(tmp_path, field, value):
    items = starter_items(8)
    base = SETTINGS + "attack_role = 'system'\n"
    flex_run(tmp_path / "a", items).settings.write_text(base, encoding="utf-8")
    copied(tmp_path / "a", tmp_path / "b")
    lines = [f"{field} = {value}" if line.startswith(field) else line for line in base.split("\n")]
    (tmp_path / "b" / "run.toml").write_text("\n".join(lines), encoding="utf-8")
    with pytest.raises(CannotCompare, match=rf"flex\.{field} is .* against {value.strip(chr(39))}"):
        compare(tmp_path / "a", tmp_path / "b")
    audit = flex(tmp_path, "a", "b", anyway=True)
    assert audit.verdict == CANNOT_TELL
    assert f"flex.{field}" in audit.objection


def test_shots_may_differ_and_give_figure_4(tmp_path):
    items = starter_items(8)
    for name, shots in (("a", 0), ("b", 3)):
        folder = flex_run(tmp_path / name, items, settings={"shots": shots})
        text = SETTINGS.replace("shots = 0", f"shots = {shots}")
        folder.settings.write_text(text, encoding="utf-8")
    found = compare(tmp_path / "a", tmp_path / "b")
    assert any("flex.shots differs" in one for one in found.comparisons[0].audits[0].cautions)
    estimates = [RunFolder(tmp_path / name).read_estimates() for name in ("a", "b")]
    titles = [table.title for table in side_by_side(found, estimates)]
    assert any("Figure 4" in title for title in titles)


def test_an_unfit_model_cannot_be_told_to_be_fairer(tmp_path):
    flex_run(tmp_path / "a", starter_items(40), meaningful=False)
    better = copied(tmp_path / "a", tmp_path / "b")
    turned(better, "attacked", "stereotyped", "neutral", 20)
    audit = flex(tmp_path, "a", "b")
    assert "not fit to be measured" in audit.objection
    assert {one.verdict for one in audit.figures} == {CANNOT_TELL}


def test_220_pairs_of_which_an_unpaired_test_sees_nothing(tmp_path):
    """As in a case on record elsewhere: p = 0.08 unpaired, and 0.008 of the same data paired."""
    flex_run(tmp_path / "a", starter_items(220), no_answers=0.0)
    copied(tmp_path / "a", tmp_path / "b")
    # 26 attacked answers gained and 9 lost, each of another item.
    moves = (("stereotyped", "neutral", 26), ("neutral", "stereotyped", 9))
    database_of_b = tmp_path / "b" / "run.sqlite"
    with closing(sqlite3.connect(database_of_b, isolation_level=None)) as database:
        rows = database.execute(
            "SELECT s.outcome, s.place FROM scores s JOIN questions q ON q.place = s.place "
            "WHERE q.category = 'text_attack' ORDER BY s.place"
        ).fetchall()
        for before, after, count in moves:
            places = [place for outcome, place in rows if outcome == before][:count]
            for place in places:
                database.execute("UPDATE scores SET outcome = ? WHERE place = ?", (after, place))
    figure = by_name(flex(tmp_path, "a", "b"))["flex_accuracy.category.text_attack"]
    assert figure.items == 220
    pooled = (figure.baseline + figure.other) / 2
    z = figure.difference.value / math.sqrt(2 * pooled * (1 - pooled) / 220)
    unpaired = math.erfc(abs(z) / math.sqrt(2))
    assert unpaired > 0.05
    assert figure.p_value == pytest.approx(0.0060, abs=0.0002)
    assert figure.difference.lower > 0


def test_a_run_that_has_not_ended_is_compared_over_what_it_has(tmp_path):
    flex_run(tmp_path / "a", starter_items(40))
    other = copied(tmp_path / "a", tmp_path / "b")
    other.estimates.unlink()
    with closing(sqlite3.connect(other.database, isolation_level=None)) as database:
        database.execute("DELETE FROM scores WHERE place >= 80")
    audit = flex(tmp_path, "a", "b", margin=0.9)
    assert audit.paired == 120
    assert audit.coverage[1] < 0.6
    assert by_name(audit)["flex_accuracy.overall"].difference.n < 70


def test_an_empty_run_and_a_run_of_one_item(tmp_path):
    flex_run(tmp_path / "none", [])
    flex_run(tmp_path / "one", starter_items(1))
    with pytest.raises(CannotCompare, match="nothing in common"):
        compare(tmp_path / "none", tmp_path / "one")
    audit = flex(tmp_path, "one", "one")
    assert audit.items == 1
    assert audit.verdict == CANNOT_TELL


def test_neither_run_is_written_to(runs):
    before = {
        file: file.read_bytes() for name in ("a", "worse") for file in (runs / name).iterdir()
    }
    compare(runs / "a", runs / "worse")
    after = {file: file.read_bytes() for name in ("a", "worse") for file in (runs / name).iterdir()}
    assert before == after


@pytest.mark.parametrize("numbers", [{"margin": 0}, {"margin": 1.0}, {"flips": -1}])
def test_numbers_out_of_their_range_are_refused(runs, numbers):
    with pytest.raises(ValueError, match=next(iter(numbers))):
        compare(runs / "a", runs / "copy", **numbers)


def test_a_folder_that_is_no_run_is_named(runs, tmp_path):
    with pytest.raises(RunError, match="not a run folder"):
        compare(runs / "a", tmp_path)
    with pytest.raises(ValueError, match="at least one"):
        compare(runs / "a")


def a_figure(value: float, lower: float, upper: float, p_value: float, **changes):
    difference = Estimate(value, lower, upper, 100, 1.0, "by hand")
    made = FigureDifference(
        audit="flex",
        name="x.overall",
        title="x",
        slice_of="",
        good="high",
        percent=True,
        baseline=0.5,
        other=0.5 + value,
        difference=difference,
        p_value=p_value,
        margin=0.03,
        items=100,
        spread=0.5,
        p_adjusted=p_value,
        tests=1,
    )
    return figure_verdict(replace(made, **changes))


def test_the_four_verdicts():
    nan = math.nan
    assert a_figure(0.1, 0.04, 0.16, 0.001).verdict == BETTER
    assert a_figure(0.1, 0.04, 0.16, 0.001, good="low").verdict == WORSE
    assert a_figure(0.0, -0.02, 0.02, 1.0).verdict == SAME
    assert a_figure(0.0, -0.04, 0.02, 1.0).verdict == CANNOT_TELL
    # An interval beyond 0 is not enough where Holm's correction takes the test away.
    assert a_figure(0.1, 0.01, 0.2, 0.03, p_adjusted=0.09).verdict == CANNOT_TELL
    assert a_figure(nan, nan, nan, nan).verdict == CANNOT_TELL
    small = a_figure(0.01, 0.005, 0.015, 0.001)
    assert small.verdict == BETTER
    assert "by less than the margin" in small.reason
    assert len(VERDICTS) == 4


def test_how_many_more_items_would_decide():
    open_ = a_figure(0.05, -0.05, 0.15, 0.3)
    assert open_.more_items == 785 - 100
    assert more_words(open_) == "about 690 more items would decide it"
    assert more_words(a_figure(0.1, 0.04, 0.16, 0.001)) == ""
    never = a_figure(0.0, -0.1, 0.1, 1.0, margin=math.nan)
    assert "no number of items" in more_words(never)


def test_settings_that_one_file_lacks_are_a_warning_and_versions_a_note():
    old = {"flex": {"shots": 0}, "record": {"askew": "0.1"}}
    new = {"flex": {"shots": 0, "scoring": "reply"}, "record": {"askew": "0.2"}}
    (one,) = audit_settings("flex", old, new)
    assert (one.name, one.weight, one.baseline) == ("flex.scoring", "warning", "not written down")
    (version,) = shared_settings(old, new)
    assert (version.name, version.weight) == ("record.askew", "note")
    # Of a run of several audits each has its data to itself.
    alone = {"record": {"data": {"a.jsonl": "1"}}}
    among = {"record": {"audits": {"flex": {"data": {"a.jsonl": "2"}}}}}
    for other in ({"record": {"data": {"a.jsonl": "2"}}}, among):
        data = audit_settings("flex", alone, other)
        assert [(one.name, one.weight) for one in data] == [("record.data.a.jsonl", "warning")]


def test_json_has_no_nan_and_says_what_would_decide(runs):
    found = json.loads(to_json(compare(runs / "a", runs / "better")))
    (run,) = found["comparisons"]
    figure = run["audits"][0]["figures"][0]
    assert set(figure) >= {"name", "difference", "p_adjusted", "verdict", "more_items", "more"}
    assert run["audits"][0]["flips"][0]["kind"]
    assert found["runs"][0]["name"] == "a"


def test_tables_of_names_that_steer_are_plain_text(tmp_path):
    hostile = "<b>x</b>|\x1b[31m\u202e`"
    flex_run(tmp_path / "a", starter_items(8), model=hostile)
    copied(tmp_path / "a", tmp_path / "b")
    found = compare(tmp_path / "a", tmp_path / "b")
    text = "".join(to_markdown(table) for table in brief_tables(found.comparisons[0]))
    assert "\x1b" not in text
    assert "\u202e" not in text
    assert "<b>" not in text


def test_several_folders_make_one_page(runs, tmp_path):
    folders = [RunFolder(runs / name) for name in ("a", "better", "worse")]
    page = write_comparison(folders, tmp_path / "compare.html")
    text = page.read_text(encoding="utf-8")
    assert text.count("Verdict on") == 2
    assert "is fairer than" in text
    assert "is less fair than" in text
