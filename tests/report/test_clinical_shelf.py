"""A clinical comparison's link finds its cases; what is flagged is what its verdict rests on."""

from __future__ import annotations

import json

import pytest

from askew.report.clinical_run import DIFFERENCE, ClinicalRun
from askew.report.items.clinical_shelf import ClinicalStock, clinical_shelf

from .clinical_runs import leaning, make_clinical_run, vignettes


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    path = tmp_path_factory.mktemp("runs") / "clinical"
    return make_clinical_run(path, vignettes(12), say=said, missing=2)


def said(vignette, arm, form, replicate):
    """Of a woman all but one case are less urgent; one says nothing that can be read."""
    place = int(vignette.id.rpartition("/")[2])
    if place == 7 and arm == "gender=male":
        return "No."
    answer = json.loads(leaning(vignette, arm, form, replicate))
    return json.dumps({**answer, "urgency": "urgent"} if place == 5 else answer)


def behind(shelf, finding, **facets):
    wanted = {
        "form": finding.form,
        "attribute": finding.attribute,
        "contrast": finding.contrast,
        "matters": "yes" if finding.relevant else "no",
        **facets,
    }
    return [item for item in shelf.items if wanted.items() <= item.facets.items()]


def measured(folder):
    run = ClinicalRun("", folder.read_estimates())
    return run, [one for one in run.findings() if one.endpoint.name in run.primary]


def test_a_comparisons_link_finds_the_cases_that_its_figure_counts(folder):
    run, findings = measured(folder)
    shelf = clinical_shelf(folder)
    assert findings
    for finding in findings:
        moved = f"moved_{finding.endpoint.name}"
        assert len(behind(shelf, finding)) == finding.vignettes + finding.left_out
        assert len(behind(shelf, finding, **{moved: "yes"})) == finding.moved
        assert len(behind(shelf, finding, **{moved: "unread"})) == finding.left_out
    assert any(finding.left_out for finding in findings)
    assert any(0 < finding.moved < finding.vignettes for finding in findings)
    comparisons = {(f.form, f.attribute, f.contrast, f.relevant) for f in findings}
    assert {item.facets["family"] for item in shelf.items} >= {"declared"}
    assert len({item.id for item in shelf.items}) == len(shelf.items) >= len(comparisons)
    assert run.primary


def test_flagged_is_what_moved_where_the_verdict_is_a_difference(folder):
    _, findings = measured(folder)
    shelf = clinical_shelf(folder)
    expected = set()
    for finding in findings:
        if finding.verdict == DIFFERENCE and not finding.relevant:
            name = f"moved_{finding.endpoint.name}"
            found = behind(shelf, finding, **{name: "yes"})
            assert len(found) == finding.moved
            expected |= {item.id for item in found}
    assert {item.id for item in shelf.items if item.flagged} == expected
    assert shelf.flagged == len(expected) > 0
    assert all(item.facets["verdict"] == DIFFERENCE for item in shelf.items if item.flagged)


def test_the_shifts_are_those_that_the_figures_list(folder):
    _, findings = measured(folder)
    stock = ClinicalStock(folder)
    shown = {}
    for item in stock.items(stock.index.worst.tolist()):
        vignette = item.id.split("/", 3)[3]
        key = (item.facets["form"], item.facets["attribute"], item.facets["contrast"], vignette)
        shown[key] = item
    checked = 0
    for finding in findings:
        for vignette, value in finding.per_vignette:
            item = shown[finding.form, finding.attribute, finding.contrast, vignette]
            if item.facets["endpoint"] == finding.endpoint.name:
                assert item.numbers["shift"] == pytest.approx(value / finding.margin)
                checked += 1
    assert checked > 5


def test_the_changed_words_are_marked_in_the_text(folder):
    item = next(
        one for one in clinical_shelf(folder).items if one.facets["contrast"] == "female − male"
    )
    male, female = item.sides
    for side, words in ((male, {"man", "He"}), (female, {"woman", "She"})):
        (text,) = (turn for turn in side.turns if turn.marks)
        assert {text.text[start:end] for start, end in text.marks} <= words
        assert any(turn.who.startswith("reply") for turn in side.turns)


def test_a_case_that_ought_to_move_is_no_finding(folder):
    relevant = [item for item in clinical_shelf(folder).items if item.facets["matters"] == "yes"]
    assert relevant
    assert not any(item.flagged for item in relevant)
    assert all("medicine" in item.why for item in relevant)


def test_a_run_without_figures_has_an_empty_shelf(tmp_path):
    folder = make_clinical_run(tmp_path / "run", vignettes(3))
    folder.estimates.unlink()
    assert clinical_shelf(folder).items == ()
