"""The pages without scripts, `compare.html` and `evidence.html`, as a reader meets them."""

from __future__ import annotations

import sqlite3
from contextlib import closing

import pytest

from askew.report.compare import compare, write_page
from askew.report.filed.pack import evidence_of
from askew.report.filed.text import to_html
from tests.browser.axe import faults
from tests.report.several_runs import all_three

HOSTILE = "</details><script>alert(1)</script><img src=x onerror=alert(2)><base href=//evil.org>"


@pytest.fixture(scope="module")
def addresses(tmp_path_factory):
    """The two pages of two runs of all three audits, the second of which is worse and hostile."""
    path = tmp_path_factory.mktemp("filed")
    baseline = all_three(path / "one")
    other = all_three(path / HOSTILE.replace("/", "∕")[:60])
    figures = other.read_estimates()
    figures["model"] = HOSTILE
    other.write_estimates(figures)
    with closing(sqlite3.connect(other.database, isolation_level=None)) as database:
        database.execute(
            "UPDATE scores SET outcome = 'stereotyped' WHERE place % 3 AND outcome = 'neutral'"
        )
    comparison = compare(baseline.path, other.path, anyway=True)
    pages = {"compare": write_page(comparison, path / "compare.html"), "evidence": path / "e.html"}
    pages["evidence"].write_text(to_html(evidence_of(other)), encoding="utf-8")
    return {name: file.as_uri() for name, file in pages.items()}


@pytest.mark.parametrize("name", ["compare", "evidence"])
@pytest.mark.parametrize(("scheme", "width"), [("light", 390), ("dark", 1280)])
def test_axe_finds_no_serious_fault_and_a_phone_scrolls_no_way_but_down(
    page, addresses, name, scheme, width
):
    page.emulate_media(color_scheme=scheme)
    page.set_viewport_size({"width": width, "height": 900})
    page.goto(addresses[name])
    page.evaluate("document.querySelectorAll('details').forEach(one => { one.open = true; })")
    assert faults(page) == []
    assert page.evaluate("document.documentElement.scrollWidth") <= width
    assert page.evaluate("document.querySelectorAll('script, img, base, iframe').length") == 0


def test_the_texts_of_flips_are_covered_until_they_are_opened(page, addresses):
    page.goto(addresses["compare"])
    assert page.locator("details").count() > 0
    assert page.locator("details[open]").count() == 0
