"""A large run's page holds its worst findings and a sample, and says what it leaves out."""

from __future__ import annotations

import pytest

from askew.report.items.shelves import shelves_of

from .clinical_runs import make_clinical_run, vignettes


def test_all_items_are_held_where_they_are_few(run):
    (shelf,) = shelves_of(run)
    assert (len(shelf.items), shelf.note) == (shelf.total, "")


@pytest.mark.parametrize(("findings", "sample"), [(5, 7), (10**6, 7), (5, 10**6), (0, 0)])
def test_of_too_many_the_worst_findings_and_a_sample_are_held(run, findings, sample):
    (whole,) = shelves_of(run)
    (shelf,) = shelves_of(run, most=whole.total - 1, findings=findings, sample=sample)
    flagged = [item for item in shelf.items if item.flagged]
    assert flagged == [item for item in whole.items if item.flagged][:findings]
    others = [item for item in shelf.items if not item.flagged]
    assert len(others) == min(sample, whole.total - whole.flagged)
    places = [whole.items.index(item) for item in shelf.items]
    assert places == sorted(set(places))
    assert (shelf.total, shelf.flagged) == (whole.total, whole.flagged)
    assert f"{len(shelf.items):,} of {whole.total:,} pairs" in shelf.note
    assert "askew serve" in shelf.note


def test_the_sample_is_the_same_each_time(run):
    first, second = (shelves_of(run, most=10, findings=3, sample=20) for _ in range(2))
    assert first == second


def test_the_shelf_is_that_of_the_runs_own_audit(tmp_path):
    folder = make_clinical_run(tmp_path / "run", vignettes(3))
    folder.settings.write_text("seed = 1\n[clinical]\n", encoding="utf-8")
    assert [shelf.audit for shelf in shelves_of(folder)] == ["clinical"]
