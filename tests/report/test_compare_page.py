"""The page of a comparison: what stands on it, and that whatever a model wrote is inert."""

from __future__ import annotations

import re
from html import unescape
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote, urlsplit

import pytest

from askew.report.compare import compare, write_page
from askew.report.compare.figure import difference_plot
from askew.runfolder import RunFolder

from .runs import starter_items
from .test_compare import copied, flex_run, turned

HOSTILE = (
    "<script>alert(1)</script><img src=x onerror=alert(1)>{{ 7*7 }}\x00\x1b[31m\u202e"
    "</pre></style>]]>&lt; javascript:alert(1)"
)
NAME = "javascript:alert(1) <b>&#ü"


class Tags(HTMLParser):
    """Every element with its attributes."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.found: list[tuple[str, dict[str, str | None]]] = []
        self.feed(text)

    def handle_starttag(self, tag, attrs):
        self.found.append((tag, dict(attrs)))


@pytest.fixture(scope="module")
def page(tmp_path_factory) -> tuple[Path, str]:
    base = tmp_path_factory.mktemp("page")
    flex_run(base / NAME, starter_items(40), reply=HOSTILE, model=HOSTILE)
    other = copied(base / NAME, base / "b")
    turned(other, "attacked", "neutral", "stereotyped", 12)
    turned(other, "source", "neutral", "refused", 3)
    (base / NAME / "report.html").write_text("", encoding="utf-8")
    out = base / "pages" / "compare.html"
    out.parent.mkdir()
    write_page(compare(base / NAME, other.path, flips=5), out)
    return out, out.read_text(encoding="utf-8")


def test_nothing_runs_and_nothing_is_loaded(page):
    _, text = page
    tags = Tags(text).found
    assert not [tag for tag, _ in tags if tag in ("script", "img", "iframe", "object", "link")]
    assert not [name for _, attributes in tags for name in attributes if name.startswith("on")]
    policy = next(a["content"] for _, a in tags if a.get("http-equiv"))
    assert policy.startswith("default-src 'none'")
    assert "script-src" not in policy
    assert "7*7" in text
    for sign in "\x00\x1b\u202e":
        assert sign not in text


def test_links_lead_to_the_reports_and_cannot_become_a_scheme(page):
    out, text = page
    links = [a["href"] for tag, a in Tags(text).found if tag == "a" and a.get("href")]
    outward = [link for link in links if not link.startswith("#")]
    assert outward
    for link in outward:
        parts = urlsplit(link)
        assert (parts.scheme, parts.netloc) == ("", "")
        assert (out.parent / unquote(parts.path)).is_file()
        assert parts.fragment.startswith("item/flex/")
    # The other run has no report: its path stands there as text.
    assert "which is not there yet" in text
    anchors = {a["id"] for _, a in Tags(text).found if "id" in a}
    assert {link[1:] for link in links if link.startswith("#")} <= anchors


def test_the_verdict_stands_on_top_and_flips_are_covered_and_counted(page):
    _, text = page
    assert text.index('class="sentence"') < text.index("<svg")
    assert "shown: 5, the worst first" in text
    pairs = [a for tag, a in Tags(text).found if tag == "details" and a.get("class") == "pair"]
    assert pairs
    assert all("open" not in a for a in pairs)
    shown = unescape(re.sub(r"<[^>]+>", " ", text))
    assert "under attack: neutral → a group" in shown
    assert "In what the runs differ" not in shown


def test_the_plot_has_the_band_of_the_margin_and_better_to_the_right(page, tmp_path):
    out, _ = page
    runs = out.parent.parent / NAME, out.parent.parent / "b"
    audit = compare(*runs).comparisons[0].audits[0]
    picture = difference_plot("plot", audit.declared)
    assert '<rect class="band"' in picture.svg
    dots = re.findall(r'class="dot (\w+)" cx="([\d.]+)%"', picture.svg)
    assert len(dots) == len([one for one in audit.declared if one.difference.defined])
    for figure, (_, place) in zip(audit.declared, dots, strict=True):
        assert (float(place) > 50) == (figure.gain > 0)


def test_a_page_of_runs_without_figures_is_written(tmp_path):
    flex_run(tmp_path / "a", starter_items(6))
    copied(tmp_path / "a", tmp_path / "b")
    for name in ("a", "b"):
        RunFolder(tmp_path / name).estimates.unlink()
    page = write_page(compare(tmp_path / "a", tmp_path / "b"), tmp_path / "compare.html")
    assert "cannot tell" in page.read_text(encoding="utf-8")
