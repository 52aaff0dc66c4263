"""Clinical and boundary runs held against each other, and folders of several audits."""

from __future__ import annotations

import json
import sqlite3
from contextlib import closing
from dataclasses import replace
from pathlib import Path

import pytest

from askew.report.compare import CannotCompare, compare
from askew.report.compare.records import BETTER, CANNOT_TELL, SAME, WORSE
from askew.report.items.boundary_shelf import BoundaryStock
from askew.report.items.clinical_shelf import ClinicalStock
from askew.runfolder import RunFolder

from .boundary_runs import grown_graph, made_test, make_boundary_run
from .clinical_runs import leaning, make_clinical_run, vignettes
from .runs import make_run, starter_items

CLINICAL = "seed = 1\n\n[clinical]\nanswers = ['direct']\nreplicates = 2\n"
BOUNDARY = "seed = 0\n\n[models.judge]\nname = 'toy/judge'\n\n[boundary]\nthreshold = 0.5\n"


def fair(vignette, arm, form, replicate):
    """The same urgency for everybody."""
    return json.dumps({**json.loads(leaning(vignette, "", form, replicate)), "urgency": "urgent"})


def clinical_run(path: Path, say=leaning, cases=None) -> RunFolder:
    folder = make_clinical_run(path, cases, say=say)
    folder.settings.write_text(CLINICAL, encoding="utf-8")
    return folder


@pytest.fixture(scope="module")
def clinical(tmp_path_factory) -> Path:
    base = tmp_path_factory.mktemp("clinical")
    clinical_run(base / "leans")
    clinical_run(base / "fair", fair)
    return base


def clinical_audit(base: Path, *names: str, **options):
    return compare(*(base / name for name in names), **options).comparisons[0].audits[0]


def test_urgency_that_no_longer_moves_with_the_patient_is_better(clinical):
    ahead = clinical_audit(clinical, "leans", "fair")
    back = clinical_audit(clinical, "fair", "leans")
    figures = [
        next(one for one in audit.figures if "gender" in one.name and "urgency" in one.name)
        for audit in (ahead, back)
    ]
    assert [one.verdict for one in figures] == [BETTER, WORSE]
    first, second = figures
    assert (first.baseline, first.other) == (pytest.approx(-1.0), pytest.approx(0.0))
    assert first.difference.value == pytest.approx(-1.0)
    assert first.difference.value == pytest.approx(-second.difference.value)
    assert first.difference.lower == pytest.approx(-second.difference.upper)
    assert first.p_value == second.p_value
    # 12 vignettes, of which one is about a case in which gender ought to matter.
    assert first.items == 11
    assert first.margin == 0.1


def test_the_cases_that_moved_in_one_run_alone_are_the_flips(clinical):
    audit = clinical_audit(clinical, "leans", "fair", flips=3)
    stopped = next(one for one in audit.flips if one.kind == "moves_no_more")
    assert (stopped.count, len(stopped.shown), stopped.worse) == (11, 3, False)
    flip = stopped.shown[0]
    assert [level for level, _ in flip.asked] == ["male", "female"]
    assert '"urgency": "emergency"' in flip.baseline.texts[0][1]
    assert '"urgency": "urgent"' in flip.other.texts[0][1]
    for name, ident in zip(("leans", "fair"), flip.idents, strict=True):
        assert ClinicalStock(RunFolder(clinical / name)).row_of(ident) is not None


def test_a_clinical_run_held_against_itself(clinical):
    audit = clinical_audit(clinical, "leans", "leans")
    assert all(one.count == 0 for one in audit.flips)
    assert {one.p_value for one in audit.declared} == {1.0}
    assert all(one.difference.value == 0 for one in audit.declared)
    assert all(one.verdict in (SAME, CANNOT_TELL) for one in audit.declared)


def test_cases_that_read_otherwise_are_left_out(clinical, tmp_path):
    cases = [replace(vignettes()[0], question="What else?"), *vignettes()[1:8]]
    clinical_run(tmp_path / "other", cases=cases)
    audit = compare(clinical / "leans", tmp_path / "other").comparisons[0].audits[0]
    assert audit.paired == 7
    assert {(one.where, one.count) for one in audit.left} == {("baseline", 4), ("both", 1)}


def boundary_run(path: Path, lean: set[int], nodes=range(1, 41), **changes) -> RunFolder:
    graph = grown_graph(60)
    tests = [
        replace(made_test(graph, node, step, None if node % 10 == 0 else node in lean), **changes)
        for step, node in enumerate(nodes, start=1)
    ]
    return make_boundary_run(path, tests, graph, configuration=BOUNDARY)


def test_topics_that_lean_in_one_run_alone(tmp_path):
    boundary_run(tmp_path / "a", set(range(1, 25)))
    boundary_run(tmp_path / "b", {1, 2}, range(1, 36))
    audit = compare(tmp_path / "a", tmp_path / "b").comparisons[0].audits[0]
    assert (audit.paired, audit.unit) == (35, "topics")
    assert [(one.where, one.count) for one in audit.left] == [("baseline", 5)]
    figure = audit.declared[0]
    assert figure.items == 32
    assert figure.verdict == audit.verdict == BETTER
    assert (figure.baseline, figure.other) == (22 / 32, 2 / 32)
    assert figure.p_value == pytest.approx(2 * 0.5**20)
    gone = next(one for one in audit.flips if one.kind == "no_more_leaning")
    assert gone.count == 20
    assert "answers lean" in gone.shown[0].baseline.outcome
    for name, ident in zip(("a", "b"), gone.shown[0].idents, strict=True):
        assert BoundaryStock(RunFolder(tmp_path / name)).row_of(ident) is not None
    back = compare(tmp_path / "b", tmp_path / "a").comparisons[0].audits[0].declared[0]
    assert back.difference.value == -figure.difference.value
    assert back.verdict == WORSE


def test_topics_asked_about_otherwise_are_not_paired(tmp_path):
    boundary_run(tmp_path / "a", {1, 2})
    boundary_run(tmp_path / "b", {1, 2}, questions=())
    with pytest.raises(CannotCompare, match="other questions"):
        compare(tmp_path / "a", tmp_path / "b")


def test_another_judge_is_another_yardstick(tmp_path):
    boundary_run(tmp_path / "a", {1})
    folder = boundary_run(tmp_path / "b", {1})
    text = BOUNDARY.replace("toy/judge", "toy/other")
    folder.settings.write_text(text, encoding="utf-8")
    with pytest.raises(CannotCompare, match=r"models\.judge\.name is toy/judge against toy/other"):
        compare(tmp_path / "a", tmp_path / "b")


def test_runs_of_different_audits_have_nothing_to_compare(clinical, tmp_path):
    boundary_run(tmp_path / "b", {1})
    with pytest.raises(CannotCompare, match="no audit is in both"):
        compare(clinical / "leans", tmp_path / "b")


def both_audits(path: Path, lean: set[int]) -> RunFolder:
    """A folder of two audits, as one run leaves it."""
    other = boundary_run(path.with_name(f"{path.name}-boundary"), lean)
    folder = make_run(path, starter_items(20))
    with closing(sqlite3.connect(folder.database, isolation_level=None)) as database:
        database.execute("ATTACH ? AS other", (str(other.database),))
        database.execute("INSERT INTO parts SELECT * FROM other.parts")
    figures = folder.read_estimates()
    theirs = other.read_estimates()
    calls = {"flex": figures["calls"], "boundary": theirs["calls"]}
    folder.write_estimates({**figures, "boundary": theirs["boundary"], "calls": calls})
    folder.settings.write_text(f"{BOUNDARY}\n[flex]\nscoring = 'texts'\n", encoding="utf-8")
    return folder


def test_every_audit_that_both_have_is_compared(tmp_path):
    both_audits(tmp_path / "a", set(range(1, 25)))
    both_audits(tmp_path / "b", {1, 2})
    found = compare(tmp_path / "a", tmp_path / "b").comparisons[0]
    assert [one.audit for one in found.audits] == ["flex", "boundary"]
    assert {one.tests for one in found.figures if one.family == "declared"} == {5}
    assert "boundary leaning share" in found.sentence
    alone = compare(tmp_path / "a", tmp_path / "b-boundary").comparisons[0]
    assert [one.audit for one in alone.audits] == ["boundary"]
    assert alone.missing == ("the flex audit is in the baseline alone",)
