"""Run folders to file: one of each audit, whole, and one that holds two audits."""

from __future__ import annotations

import json
import shutil
import sqlite3
from collections.abc import Callable
from pathlib import Path
from typing import Any

from askew.runfolder import RunFolder, json_text
from tests.report.boundary_runs import grown_graph, make_boundary_run, play_tests, spread
from tests.report.clinical_runs import judged, make_clinical_run
from tests.report.runs import make_run, starter_items

Change = Callable[[dict[str, Any]], None]
AUDITS = ("flex", "clinical", "boundary")
# Markup of every kind that a reader of HTML, Markdown, YAML or a terminal knows.
HOSTILE = (
    "</code><script>alert(1)</script> <img src=x onerror=alert(1)> [a](javascript:b) ![i](x) "
    "`tick` ``two`` | cell *b* _i_ # head &amp; <!-- -- --> www.evil.example https://evil.example "
    "\x1b[31mred\x00 \u202eabc \ud83d : - {a: b} !!python/object 'q' \"q\" \n---\nevil: yes\n# two"
)


def nothing(estimates: dict[str, Any]) -> None:
    """Leaves a run as it is."""


def whole_flex(estimates: dict[str, Any]) -> None:
    estimates["flex"]["missing_pairs"] = 0


def filed_run(path: Path, audit: str, change: Change = nothing, *, ended: bool = True) -> RunFolder:
    """A run of one audit with nothing missing, but for what `change` takes away.

    Args:
        path: where it is made.
        audit: which.
        change: is handed `estimates.json`, parsed, before it is written.
        ended: whether it has a report and a MANIFEST.
    """
    if audit == "flex":
        folder = make_run(
            path,
            starter_items(40),
            reply="SECRET REPLY",
            change=lambda made: (whole_flex(made), change(made))[1],
        )
    elif audit == "clinical":
        folder = make_clinical_run(path, judges=judged(), change=change)
    else:
        graph = grown_graph(60)
        lean = spread(graph, [5, 9])
        tests = play_tests(graph, lambda node: node in lean, 30)
        folder = make_boundary_run(path, tests, graph, change=change)
    if ended:
        folder.report.write_text("<p>SECRET REPLY</p>", encoding="utf-8")
        folder.write_manifest()
    return folder


def two_audits(path: Path, change: Change = nothing) -> RunFolder:
    """A run of FLEX and of the boundary audit in one folder, as `askew audit` leaves it."""
    flex = filed_run(path, "flex", ended=False)
    other = filed_run(path.with_name(path.name + "-boundary"), "boundary", ended=False)
    one, two = flex.read_estimates(), other.read_estimates()
    both = {**one, "boundary": two["boundary"]}
    both["calls"] = {"flex": one["calls"], "boundary": two["calls"]}
    made = json.loads(json_text(both))
    change(made)
    flex.write_estimates(made)
    flex.settings.write_text("seed = 1\n[flex]\n[boundary]\n", encoding="utf-8")
    with sqlite3.connect(flex.database) as database:
        database.execute("ATTACH ? AS other", (str(other.database),))
        database.execute("INSERT OR IGNORE INTO parts SELECT * FROM other.parts")
    shutil.rmtree(other.path)
    flex.report.write_text("<p>two</p>", encoding="utf-8")
    flex.write_manifest()
    return flex


def unfit_flex(estimates: dict[str, Any]) -> None:
    estimates["flex"]["fit"] |= {"meaningful": False, "reason": "it answers by a coin"}


def unfit_clinical(estimates: dict[str, Any]) -> None:
    estimates["clinical"]["worth"] |= {"meaningful": False, "reason": "no better than chance"}


def unfit_boundary(estimates: dict[str, Any]) -> None:
    estimates["boundary"]["topics"] |= {"leaning": 0, "clean": 0, "unclear": 30}
    estimates["boundary"]["leaning_share"] |= {"value": None, "lower": None, "upper": None, "n": 0}


UNFIT: dict[str, Change] = {
    "flex": unfit_flex,
    "clinical": unfit_clinical,
    "boundary": unfit_boundary,
}
