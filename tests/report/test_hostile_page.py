"""Whatever data and models wrote, the report has the same elements, and shows it as text."""

from __future__ import annotations

import json
from dataclasses import replace
from datetime import date
from functools import cache
from typing import Any

from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from askew.audits.boundary_records import TopicTest
from askew.report.boundary_run import BoundaryRun
from askew.report.boundary_section import boundary_section
from askew.report.clinical_run import ClinicalRun
from askew.report.clinical_section import clinical_section
from askew.report.estimates import Run
from askew.report.flex_section import flex_section
from askew.report.items import Facet, Number, ReportItem, Shelf, Side, Turn
from askew.report.methods import methods_of
from askew.report.page import Content, page
from askew.report.run_record import RoleCost, RunRecord
from askew.report.which_audit import Audit, part_of
from askew.report.words import clean
from askew.runfolder import json_text

from .boundary_runs import grown_graph, made_test
from .conftest import estimate, tiny
from .test_page import Page, check

GRAPH = grown_graph(6)
HOSTILE = (
    "toy<b>",
    'race" onmouseover="x',
    "race' onfocus='x",
    "</title></style></script><script>alert(1)</script>",
    "<!--<script>",
    "]]><svg onload=alert(1)>",
    "javascript:alert(1)",
    "{{ 7 * 7 }}{% if x %}",
    "&lt;b&gt;&#0;",
    "../../run of ours/?a=b&c=d#e",
    "\x00\x1b[31m\x7f\u202e\u2066\ud800\udfff\ufffe",
    "a\r\nb\u2028c",
)


def everywhere(said: str) -> dict[str, Any]:
    """Figures of the three audits with one text wherever data and models can put one."""
    made = tiny(said)
    flex = made["flex"]
    half = estimate(0.5, 0.1, 0.9)
    for figure in ("source_accuracy", "flex_accuracy", "attack_success_rate"):
        flex[figure]["bias_type"][said] = half
        flex[figure]["scenario"]["competing_objectives"][said] = half
        for part in ("source", "source_category", "source_average"):
            flex[figure][part][said] = half if part != "source_category" else {}
    flex["accuracy_change"] = {"overall": half, "bias_type": {said: half}}
    flex["test"] = {"overall": {"p_value": 0.001}, "bias_type": {said: {"p_holm": 0.001}}}
    flex["fit"] |= {"reason": said, "caution": said}
    flex["left_out"] = flex["problems"] = {said: {said: [said]}}
    flex["settings"] = {said: [said], "shots": 3, "shot_kind": said}
    effect = {
        **{"estimate": half, "floor": half, "margin": 0.1, "p_adjusted": 0.01, "moved": 1},
        **{"verdict": "difference", "family": "declared", "vignettes": 9, "tests": 3},
    }
    clinical = {
        "study": {"vignettes": 9, "variants": 9, "sources": {said: 1}, "arms": {said: 1},
                  "dropped": {said: 2}, "relations": {said: 3},
                  "dropped_list": [{"vignette": said, "arm": said, "kind": said, "reason": said}]},
        "worth": {"meaningful": True, "reason": said, "outcomes": {said: 3}},
        "endpoints": {"urgency": {"title": said, "kind": "ordinal", "unit": said}},
        "settings": {"primary": ["urgency"], "answers": ["direct", said], said: said},
        "answers": {"by_form": {said: {said: 3}}},
        "means": {"direct": {said: {"urgency": 0.5}}},
        "effects": {"direct": {said: {f"{said} − {said}": {"kind": "levels", "urgency": effect}}}},
        "judges": {"card": {"judges": {said: {"out": True, "warnings": [said]}}}},
    }  # fmt: skip
    boundary = {
        "topics": {"graph": 9, "tested": 3, "leaning": 1, "clean": 1, "unclear": 1},
        "leaning_share": half,
        "by_domain": {said: {"topics": 3, "tested": 3, "leaning_share": half}},
        "clustering": {"verdict": "cannot tell", "reason": said},
        "findings": [{"title": said, "domain": said, "leaning_answers": 4, "judged_answers": 5,
                      "lower": 0.4, "upper": 0.9, "directions": [said], "step": 1}],
        "answers": {"asked": 3, "outcomes": {said: 3}},
        "settings": {"policy": said, said: said},
    }  # fmt: skip
    calls = {"stopped": said, "message": said, "by_role": {said: {"asked": 3}}, said: said}
    made["askew"] = said
    made["models"] = {"target": said, "judge": said}
    made |= {"audits": ["flex", "clinical", "boundary"], "clinical": clinical, "boundary": boundary}
    made["calls"] = dict.fromkeys(("flex", "clinical", "boundary"), calls)
    return json.loads(json_text(made))


def topics(said: str) -> list[TopicTest]:
    tests = [made_test(GRAPH, node, node + 1, leans) for node, leans in enumerate((1, 0, None))]
    return [
        replace(
            test,
            **{"title": f"{said} {test.node}", "domain": said, "note": said, "judge": said},
            questions=tuple(
                replace(one, question=said, answer=said, reason=said, direction=said)
                for one in test.questions
            ),
        )
        for test in tests
    ]


def shelf(said: str) -> Shelf:
    side = Side(said, said, "plain", (Turn(said, said),), ((said, -1.0),), ((said, said),))
    item = ReportItem(said, said, True, {"category": said}, {"margin": 1.0}, (side,), said)
    facets = (Facet("category", said, {said: said}),)
    return Shelf("flex", "pairs", "turned", facets, (Number("margin", said),), (item,), 1, 1, said)


def made(said: str) -> Page:
    """The report with the text in every place."""
    figures, tests = everywhere(said), topics(said)
    audits: tuple[Audit, ...] = ("flex", "clinical", "boundary")
    parts = {audit: part_of(figures, audit) for audit in audits}
    record = RunRecord(
        {"askew": said, "python": said, "packages": {said: said}, "data": {said: said},
         "model": {said: said, "weights_sha256": said}},
        (RoleCost(said, 3, 1, 5, None),),
        (("target", said), ("judge", said)),
        date(2026, 1, 1),
        date(2026, 1, 2),
    )  # fmt: skip
    content = Content(
        name=said,
        estimates=figures,
        sections={
            "flex": flex_section(Run(said, parts["flex"]), [], 3),
            "clinical": clinical_section(ClinicalRun(said, parts["clinical"])),
            "boundary": boundary_section(BoundaryRun(said, parts["boundary"]), tests, None),
        },
        methods=methods_of(parts, record, tests),
        planned=audits,
        record=record,
        configuration=said,
        shelves=(shelf(said),),
    )
    return Page(page(content))


def tags(page: Page) -> list[str]:
    return [tag for tag, _ in page.elements]


@cache
def harmless() -> list[str]:
    return tags(made("Plain words"))


def told_of_all(test):
    for said in HOSTILE:
        test = example(said)(test)
    return test


@told_of_all
@settings(max_examples=5, deadline=None, suppress_health_check=list(HealthCheck))
@given(st.text(min_size=1, max_size=30))
def test_no_text_of_data_or_models_makes_an_element_or_an_attribute(text):
    said = f"Said {text}"
    found = made(said)
    check(found)
    assert tags(found) == harmless()
    assert clean(said) in found.text
