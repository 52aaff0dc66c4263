"""The clinical part of a report: it shows data as text, and never hides what is not known."""

from __future__ import annotations

import json
import re
from dataclasses import replace

import pytest

from askew.report.clinical_run import ClinicalRun
from askew.report.clinical_section import clinical_section
from askew.report.page import Content, write_report
from askew.report.page import page as page_of
from askew.runfolder import RunFolder

from .clinical_runs import judged, leaning, make_clinical_run, vignettes
from .test_page import Page, check, contrast, palettes

SCRIPT = "<script>alert(1)</script>"
HALF = "half a sign \ud83d and \x1b[31m"
ATTRIBUTE = 'x" onmouseover="y'
PARTS = ["found", "hops", "cases", "asked", "judges", "reference"]
MEGABYTE = 1_000_000


def read(folder: RunFolder) -> Page:
    return Page(write_report(folder).read_text(encoding="utf-8"))


@pytest.fixture(scope="module")
def page(tmp_path_factory: pytest.TempPathFactory) -> Page:
    path = tmp_path_factory.mktemp("clinical") / "toy-run"
    return read(make_clinical_run(path, forms=("direct", "single"), judges=judged()))


def texts_in(page: Page, tag: str) -> list[str]:
    """The texts that stand directly in elements of one kind."""
    return [data for where, data in page.texts if where[-1:] == (tag,)]


def parts(page: Page) -> list[str]:
    """The parts of the clinical section, without its name before theirs."""
    found = [str(one["id"]) for one in page.all("div") if one.get("class") == "part"]
    return [ident.removeprefix("clinical-") for ident in found]


def test_the_page_is_well_formed_and_needs_nothing_else(page):
    check(page)
    found = [one["id"] for one in page.all("section")]
    assert found == ["overview", "clinical", "items", "methods", "configuration"]


def test_the_page_goes_from_the_verdict_to_the_method(page):
    assert parts(page) == PARTS
    text = page.text
    places = [
        text.index(said)
        for said in (
            "declared comparisons",
            "Urgency: difference in levels",
            "Multi-hop against direct",
            "The cases that moved most",
            "Every dropped twin",
            "Judge card: toy/judge",
            "Quality of the perturbed questions",
            "Appendix: radar plots",
            "Against a reference",
            "For a paper, as it is",
        )
    ]
    assert places == sorted(places)


def test_the_first_sentence_says_the_difference_and_its_size(page):
    first = next(data for data in texts_in(page, "p") if data.startswith("toy/doctor: of"))
    assert "female against male" in first
    assert "Urgency −1.00 levels" in first


def test_the_plot_with_the_margin_stands_before_every_radar(page):
    bands = [place for place, (tag, a) in enumerate(page.elements) if a.get("class") == "band"]
    rings = [place for place, (tag, a) in enumerate(page.elements) if a.get("class") == "ring"]
    assert bands
    assert rings
    assert max(bands) < min(rings)
    assert "depends on the order of its axes" in page.text


def test_race_stands_beside_the_papers_attributes(page):
    assert "beside the paper’s attributes" in page.text
    radars = [data for data in texts_in(page, "desc") if "All three" in data]
    assert radars
    assert not any("race" in data.lower() for data in radars)


def test_changed_words_are_marked_on_both_sides(page):
    marked = set(texts_in(page, "mark"))
    assert {"woman", "She", "man", "He"} <= marked


def test_cases_in_which_it_ought_to_matter_are_called_medicine(page):
    assert "A difference here is medicine" in page.text


def test_every_dropped_twin_is_listed_with_its_reason(page):
    assert "a child of 5 has no such past" in page.text
    assert "as in the original" not in page.text  # the original stands for it


def test_facts_stand_with_and_without_the_filter(page):
    assert "All relations3624" in page.text  # cells stand without a space between them


def test_text_of_vignettes_and_replies_is_shown_as_text(tmp_path):
    def say(vignette, arm, form, replicate):
        return leaning(vignette, arm, form, replicate).replace(
            '"rationale": ""', f'"rationale": {json.dumps(SCRIPT + HALF)}'
        )

    cases = [
        replace(
            one,
            id=f"toy{SCRIPT}/{place}",
            source=f"toy{ATTRIBUTE}",
            text=f"A woman {SCRIPT}{HALF} coughs. She lives in Lima.",
            question=SCRIPT + ATTRIBUTE,
        )
        for place, one in enumerate(vignettes())
    ]

    def change(estimates):
        estimates["model"] = SCRIPT + ATTRIBUTE
        estimates["clinical"]["settings"][SCRIPT] = {ATTRIBUTE: [SCRIPT]}
        estimates["clinical"]["worth"]["reason"] = SCRIPT
        estimates["clinical"]["study"]["dropped_list"][0]["reason"] = SCRIPT + ATTRIBUTE
        estimates["calls"]["stopped"] = SCRIPT

    folder = make_clinical_run(
        tmp_path / "run <b>", cases, say=say, judges=judged(SCRIPT + ATTRIBUTE), change=change
    )
    found = read(folder)
    check(found)
    assert SCRIPT in found.text
    assert "⟨U+D83D⟩" in found.text
    assert "\x1b" not in found.text


def test_without_judge_and_reference_nothing_is_made_up(tmp_path):
    found = read(make_clinical_run(tmp_path / "run", vignettes(reference=False)))
    assert parts(found) == [name for name in PARTS if name != "judges"]
    assert "No case has a reference diagnosis" in found.text
    assert "has not both direct and multi-hop answers" in found.text
    assert "What the answers of toy/doctor are worth could not be told" in found.text


def test_a_model_whose_answers_are_worth_nothing_is_called_so_first(tmp_path):
    def same(vignette, arm, form, replicate):
        return json.dumps({"differential": ["Gout"], "urgency": "urgent", "tests": []})

    found = read(make_clinical_run(tmp_path / "run", say=same))
    first = next(data for data in texts_in(found, "p") if "answers of toy/doctor" in data)
    assert first.startswith("The answers of toy/doctor are NOT worth comparing")
    assert "mean little" in first


def test_an_incomplete_run_says_so_at_the_top(tmp_path):
    found = read(make_clinical_run(tmp_path / "run", missing=7))
    assert "7 of 96 answers are missing" in found.text
    assert "incomplete" in texts_in(found, "strong")


def test_a_run_that_never_got_an_answer_still_has_a_page(tmp_path):
    found = read(make_clinical_run(tmp_path / "run", missing=96))
    check(found)
    assert "no comparison was declared beforehand or could be made" in found.text
    assert "96 of 96 answers are missing" in found.text


def test_a_judge_that_is_out_is_shown_as_out_and_greyed(tmp_path):
    found = read(make_clinical_run(tmp_path / "run", judges=judged(out=True)))
    assert "toy/judge is out: 31.0% of its replies cannot be read" in found.text
    grey = [
        tag for tag, attributes in found.elements if "greyed" in (attributes.get("class") or "")
    ]
    assert "tr" in grey
    assert "figure" in grey


def test_an_undefined_figure_is_a_dash_and_never_0(tmp_path):
    def change(estimates):
        effects = estimates["clinical"]["effects"]["direct"]["gender"]["female − male"]
        for part in ("estimate", "floor"):
            for name in ("value", "lower", "upper"):
                effects["urgency"][part][name] = None
        effects["urgency"]["p_adjusted"] = None

    found = read(make_clinical_run(tmp_path / "run", judges=judged(), change=change))
    said = texts_in(found, "desc")
    assert any("female against male: undefined." in data for data in said)


def test_the_page_stays_below_two_megabytes(tmp_path):
    cases = [replace(one, text=one.text + " <&>" * 3000) for one in vignettes(14)]

    def change(estimates):
        listed = estimates["clinical"]["study"]["dropped_list"]
        listed += [{**listed[0], "reason": "<" * 5000} for _ in range(3000)]

    def long(vignette, arm, form, replicate):
        return leaning(vignette, arm, form, replicate).replace(
            '"rationale": ""', f'"rationale": "{"<" * 30_000}"'
        )

    folder = make_clinical_run(
        tmp_path / "run", cases, say=long, replicates=1, judges=judged(), change=change
    )
    written = write_report(folder)
    assert written.stat().st_size < 2 * MEGABYTE
    assert "more are in estimates.json" in written.read_text(encoding="utf-8")


def test_more_comparisons_than_there_is_room_for_are_counted(tmp_path):
    def change(estimates):
        effects = estimates["clinical"]["effects"]["direct"]["gender"]
        one = effects["female − male"]
        for level in range(300):
            effects[f"level {level} − male"] = one

    folder = make_clinical_run(tmp_path / "run", change=change)
    written = write_report(folder)
    assert written.stat().st_size < 2 * MEGABYTE
    text = Page(written.read_text(encoding="utf-8")).text
    assert "more comparisons in estimates.json" in text
    assert re.search(r"the first \d+ of 30\d", text)


def test_text_and_marks_have_enough_contrast_in_light_and_dark():
    for colours in palettes():
        assert contrast(colours["ink"], colours["marked"]) >= 4.5
        assert contrast(colours["ink"], colours["band"]) >= 4.5
        assert contrast(colours["soft"], colours["band"]) >= 4.5
        for mark in ("line-0", "line-1", "line-2", "attacked", "ideal", "soft", "zero"):
            assert contrast(colours[mark], colours["page"]) >= 3, mark
        for mark in ("attacked", "ideal", "soft", "zero"):
            assert contrast(colours[mark], colours["band"]) >= 3, mark


def test_a_file_that_lacks_everything_still_has_a_page():
    for estimates in ({}, {"clinical": {}}, {"clinical": {"effects": {"direct": {"age": 3}}}}):
        run = ClinicalRun("run", estimates)
        found = Page(page_of(Content("run", estimates, {"clinical": clinical_section(run)})))
        check(found)
        assert "What the answers of run are worth could not be told" in found.text
        assert "No comparison was declared beforehand" in found.text


def test_answers_that_were_not_read_are_not_said_to_have_been_tried_against_chance():
    worth = {"meaningful": False, "reason": "18% of the answers could be read; too few."}
    run = ClinicalRun("run", {"clinical": {"worth": worth}})
    assert clinical_section(run)["worth"]["badge"] == "not worth comparing"
    assert clinical_section(run)["worth"]["said"] == "18 % of the answers could be read; too few."


def test_the_comparisons_are_read_once():
    effects = {"direct": {"gender": {"female − male": {"kind": "levels", "urgency": {}}}}}
    run = ClinicalRun("run", {"clinical": {"effects": effects}})
    (found,) = run.findings()
    assert next(iter(run.findings())) is found
    assert run == ClinicalRun("run", {"clinical": {"effects": effects}})
