"""The report: it stands alone, shows data as text, and can be read by everyone."""

from __future__ import annotations

import base64
import hashlib
import json
import re
from collections.abc import Iterator
from dataclasses import replace
from html.parser import HTMLParser
from importlib.resources import files
from itertools import pairwise

import pytest

from askew.records import Item
from askew.report.evidence import turned_pairs
from askew.report.flex_section import EXAMPLES
from askew.report.html_page import styles
from askew.report.page import SHEETS, report_html, write_report
from askew.runfolder import RunFolder

from .runs import make_run, starter_items

VOID = {"meta", "link", "img", "br", "hr", "input"}
REPLY = "<img src=x onerror=alert(1)>\"'><script>alert(2)</script>"
MODEL = "toy<b>"
CATEGORY = 'race" onmouseover="x'
LINK = "javascript:alert(3)"
CONTROLS = "\x00\x1b[31m\u202e\ud800"
ELEMENTS = {
    *(
        "html",
        "head",
        "meta",
        "title",
        "style",
        "script",
        "body",
        "header",
        "main",
        "footer",
        "nav",
    ),
    *("section", "h1", "h2", "h3", "h4", "h5", "p", "a", "strong", "span", "q", "code", "pre"),
    *("ul", "ol", "li", "dl", "div", "dt", "dd", "details", "summary", "figure", "figcaption"),
    *("table", "caption", "thead", "tbody", "tr", "th", "td", "blockquote", "mark", "em"),
    *("svg", "desc", "line", "text", "circle", "rect", "path", "polygon", "polyline"),
    *("input", "label", "button", "fieldset", "legend", "canvas"),  # of the map, which has no data
}
ATTRIBUTES = {
    *("lang", "charset", "http-equiv", "content", "name", "class", "href", "id", "tabindex"),
    *("scope", "colspan", "role", "aria-label", "aria-labelledby", "aria-hidden", "open"),
    *("width", "height", "xmlns", "x", "y", "x1", "x2", "y1", "y2", "cx", "cy", "r", "dy", "d"),
    *("text-anchor", "points", "viewbox", "type", "checked", "hidden", "for", "autocomplete"),
    *("min", "max", "step", "value", "aria-describedby", "aria-roledescription"),
}
LINKS = re.compile(
    r"#(?:[a-z]+(?:-[a-z]+)*|items?/(?:flex|clinical|boundary)[A-Za-z0-9%._~/?=&-]*)"
)


class Page(HTMLParser):
    """A parsed page: its elements, and what does not fit together."""

    def __init__(self, html: str) -> None:
        super().__init__()
        self.elements: list[tuple[str, dict[str, str | None]]] = []
        self.texts: list[tuple[tuple[str, ...], str]] = []
        self.inside: list[str] = []  # the text within each element, and in those in it
        self.places: list[int] = []  # of the open elements
        self.open: list[str] = []
        self.trouble: list[str] = []
        self.feed(html)
        self.close()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.elements.append((tag, dict(attrs)))
        self.inside.append("")
        if len(dict(attrs)) < len(attrs):
            self.trouble.append(f"an attribute twice in <{tag}>")
        if tag not in VOID:
            self.open.append(tag)
            self.places.append(len(self.elements) - 1)

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.elements.append((tag, dict(attrs)))
        self.inside.append("")

    def handle_endtag(self, tag: str) -> None:
        if not self.open or self.open.pop() != tag:
            self.trouble.append(f"</{tag}> closes nothing")
        if self.places:
            self.places.pop()

    def handle_data(self, data: str) -> None:
        self.texts.append((tuple(self.open), data))
        for place in self.places[-4:]:
            self.inside[place] += data

    def all(self, tag: str) -> list[dict[str, str | None]]:
        return [attributes for name, attributes in self.elements if name == tag]

    def text_of(self, place: int) -> str:
        """The text of the element at a place of `elements`, on one line."""
        return " ".join(self.inside[place].split())

    @property
    def text(self) -> str:
        return "".join(data for _, data in self.texts)


def read(folder: RunFolder) -> Page:
    return Page(write_report(folder).read_text(encoding="utf-8"))


def check(page: Page) -> None:
    """What holds of every report, whatever the run and whoever wrote its texts."""
    assert page.trouble == []
    assert page.open == []
    ids = [attributes["id"] for _, attributes in page.elements if "id" in attributes]
    assert len(ids) == len(set(ids))
    assert {tag for tag, _ in page.elements} <= ELEMENTS
    for tag, attributes in page.elements:
        names = {name for name in attributes if not name.startswith("data-")}
        assert names <= ATTRIBUTES, tag
        assert re.fullmatch(LINKS, attributes.get("href") or "#flex"), attributes["href"]
        assert re.fullmatch(r"[a-z0-9 -]*", attributes.get("class") or ""), attributes["class"]
        assert re.fullmatch(r"[a-z0-9-]*", attributes.get("id") or ""), attributes["id"]
    levels = [int(tag[1]) for tag, _ in page.elements if re.fullmatch(r"h[1-6]", tag)]
    assert levels[0] == 1
    assert levels.count(1) == 1
    assert all(after <= before + 1 for before, after in pairwise(levels))
    runs_its_own_script_alone(page)


def runs_its_own_script_alone(page: Page) -> None:
    """One script runs, and the policy names it; the others are data in base64."""
    (policy,) = [str(m["content"]) for m in page.all("meta") if "http-equiv" in m]
    texts = [data for where, data in page.texts if where[-1:] == ("script",)]
    kinds = [attributes.get("type") for attributes in page.all("script")]
    assert len(texts) == len(kinds)
    assert kinds.count(None) == 1
    for kind, text in zip(kinds, texts, strict=True):
        if kind is None:
            digest = base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()
            assert f"script-src 'sha256-{digest}';" in policy
        else:
            assert kind == "application/octet-stream"
            assert re.fullmatch(r"[A-Za-z0-9+/]+=*", text)
    assert policy.startswith("default-src 'none'; ")
    assert "unsafe" not in policy.replace("style-src 'unsafe-inline'", "")


@pytest.fixture(scope="module")
def page(run: RunFolder) -> Page:
    return read(run)


def hostile(item: Item) -> Item:
    """The item with markup in every text of it."""
    said = REPLY + LINK + "\x00\x1b[31m\u202e"
    return replace(
        item,
        id=item.id + REPLY,
        source="bbq" + CATEGORY,
        bias_type=CATEGORY,
        context=said,
        question=said,
        options=(f"{said}1", f"{said}2", f"{said}3"),
        text_attacks={"word": said, LINK: said},
        provenance=replace(item.provenance, path=f"{REPLY}.jsonl"),
    )


def test_the_page_is_well_formed(page):
    assert page.trouble == []
    assert page.open == []
    ids = [attributes["id"] for _, attributes in page.elements if "id" in attributes]
    assert len(ids) == len(set(ids))


@pytest.fixture(scope="module")
def attacked_page(tmp_path_factory: pytest.TempPathFactory) -> Page:
    def more(estimates: dict) -> None:
        estimates["askew"] = REPLY
        estimates["calls"]["stopped"] = estimates["calls"]["currency"] = REPLY
        flex = estimates["flex"]
        flex["fit"]["reason"] = REPLY + CONTROLS[:-1]
        flex["left_out"] = {REPLY: REPLY, CATEGORY: LINK}
        flex["problems"] = {REPLY: {CATEGORY: [LINK]}}
        flex["settings"] = {REPLY: REPLY, CATEGORY: [REPLY]}
        flex["attack_success_rate"]["overall"]["note"] = REPLY
        for figure in ("attack_success_rate", "accuracy_change", "test"):
            flex[figure]["scenario"]["competing_objectives"][REPLY] = {"value": 0.5, "n": 3}

    folder = make_run(
        tmp_path_factory.mktemp("hostile") / f"run <b onclick='{'x' * 5}'>",
        [hostile(item) for item in starter_items()[:40]],
        model=MODEL + CATEGORY,
        meaningful=False,
        reply=REPLY + LINK + CONTROLS,
        change=more,
    )
    written = f"# {REPLY}</pre></details>{CATEGORY}\n[record.model]\nmodel = '''{REPLY[:-9]}'''\n"
    folder.settings.write_text(written, encoding="utf-8")
    return read(folder)


def test_no_element_and_no_attribute_comes_from_data(attacked_page):
    check(attacked_page)


def test_hostile_text_is_shown_as_text(attacked_page):
    for said in (REPLY, MODEL, CATEGORY, LINK, "⟨U+001B⟩[31m", "⟨U+202E⟩"):
        assert said in attacked_page.text
    (title,) = [data for where, data in attacked_page.texts if where[-1:] == ("title",)][:1]
    assert title.startswith(MODEL)


def test_no_control_character_reaches_the_page(attacked_page):
    assert not re.search(r"[\x00-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e]", attacked_page.text)


def test_the_page_loads_nothing_and_runs_nothing_but_its_own_script(page, run):
    check(page)
    assert not {"link", "img", "iframe", "object"} & {tag for tag, _ in page.elements}
    html = re.sub(r"<script>.*?</script>", "", run.report.read_text(encoding="utf-8"), flags=re.S)
    addresses = set(re.findall(r"https?://[^\"'\s<]+|url\(|@import", html))
    assert addresses == {"http://www.w3.org/2000/svg"}  # a name, not an address


def test_a_served_page_asks_its_server_for_the_items_and_holds_none(run):
    source = "../api/run</script><script>alert(1)"
    page = Page(report_html(run, source=source))
    assert page.trouble == []
    kinds = [attributes.get("type") for attributes in page.all("script")]
    assert kinds == ["application/json", None]
    (told, _) = [data for where, data in page.texts if where[-1:] == ("script",)]
    assert json.loads(told) == {"url": source}
    (policy,) = [str(m["content"]) for m in page.all("meta") if "http-equiv" in m]
    assert policy.endswith("; connect-src 'self'")
    assert "connect-src" not in write_report(run).read_text(encoding="utf-8")[:4000]


def test_the_page_says_what_it_is_in_its_language(page):
    assert [one["lang"] for one in page.all("html")] == ["en"]
    assert "builtin/smollm2" in page.texts[[w[-1:] for w, _ in page.texts].index(("title",))][1]
    assert len(page.all("main")) == len(page.all("header")) == len(page.all("footer")) == 1
    assert all("aria-labelledby" in section for section in page.all("section"))


def test_every_table_has_a_caption_and_its_headers_a_scope(page):
    assert len(page.all("caption")) == len(page.all("table"))
    assert all("scope" in header for header in page.all("th"))
    boxes = [box for box in page.all("div") if box.get("class") == "scroll"]
    assert len(boxes) == len(page.all("table"))
    assert all(box["tabindex"] == "0" and box["role"] == "region" for box in boxes)


def test_every_picture_has_a_text_alternative(page):
    assert len(page.all("svg")) > 6
    # An image hides the links in it from those who do not see it, a group does not.
    assert all(svg["role"] in ("img", "group") for svg in page.all("svg"))
    assert all(svg["aria-labelledby"] for svg in page.all("svg"))
    assert len(page.all("desc")) == len(page.all("svg"))


def test_texts_of_the_data_are_covered_until_asked_for(page, run):
    shown, _ = turned_pairs(run)
    told = [where for where, data in page.texts if shown[0].item.question in data]
    assert told
    assert all("details" in where for where in told)
    assert not any("open" in attributes for attributes in page.all("details"))


def test_a_model_unfit_to_be_measured_is_said_to_be_so_at_the_top(attacked_page):
    (verdict,) = [
        s for s in attacked_page.all("div") if "verdict" in (s.get("class") or "").split()
    ]
    assert "unfit" in verdict["class"]
    assert "not fit to be measured" in attacked_page.text
    assert "†" in attacked_page.text


def verdict(page: Page) -> str:
    """What stands at the top, from the headline to the findings, on one line."""
    text = " ".join(page.text.replace("\xa0", " ").split())
    return text[text.index("Does fairness hold when") : text.rindex("What was found")]


def test_a_caution_stands_beside_the_controls_at_the_top(tmp_path):
    def cautious(estimates: dict) -> None:
        of_two = {"value": 0.52, "lower": 0.44, "upper": 0.6, "n": 68}
        estimates["flex"]["fit"]["right_of_the_two_groups"] = of_two
        estimates["flex"]["fit"]["caution"] = "it chose like a coin"

    top = verdict(read(make_run(tmp_path / "run", starter_items()[:20], change=cautious)))
    assert "fit to be measured, with a caution Controls" in top
    assert "chose one of the two groups, 52 % right, 95 % interval 44–60 %." in top
    assert "passed the controls, but it chose like a coin." in top


def test_the_controls_line_says_how_the_groups_were_told_apart(tmp_path):
    def told_apart(estimates: dict) -> None:
        of_two = {"value": 0.93, "lower": 0.85, "upper": 0.97, "n": 68}
        estimates["flex"]["fit"]["right_of_the_two_groups"] = of_two

    top = verdict(read(make_run(tmp_path / "run", starter_items()[:20], change=told_apart)))
    assert "chose one of the two groups, 93 % right, 95 % interval 85–97 %." in top
    assert "caution" not in top.lower()


def test_the_reason_why_a_model_is_unfit_stands_once_at_the_top(tmp_path):
    folder = make_run(tmp_path / "run", starter_items()[:20], meaningful=False)
    assert verdict(read(folder)).count("answered no better than by chance") == 1


def test_coverage_is_of_the_planned_pairs(tmp_path):
    def stopped(estimates: dict) -> None:
        estimates["flex"]["missing_pairs"] = 3 * estimates["flex"]["pairs"]["overall"]

    folder = make_run(tmp_path / "run", starter_items()[:20], no_answers=0.0, change=stopped)
    pairs = folder.read_estimates()["flex"]["pairs"]["overall"]
    assert f"25 % of {4 * pairs} pairs answered in both conditions; {3 * pairs} lack a reply" in (
        verdict(read(folder))
    )


def test_undefined_figures_are_dashes(tmp_path):
    def nothing_neutral(estimates: dict) -> None:
        for name in ("attack_success_rate", "source_accuracy", "flex_accuracy", "accuracy_change"):
            estimates["flex"][name]["overall"] = {"value": None, "n": 0, "note": "no pair"}

    page = read(make_run(tmp_path / "run", starter_items()[:20], change=nothing_neutral))
    texts = [(where, data.replace("\xa0", " ")) for where, data in page.texts]
    big = [data for where, data in texts if where[-2:] == ("div", "dd")]
    coverage = "0 %"  # of the pairs that were planned
    assert [text for text in big if text in ("–", "0 %", "0 points", "0")] == ["–"] * 4 + [coverage]


def test_a_run_without_figures_has_a_page_that_says_so(tmp_path):
    folder = RunFolder.create(tmp_path / "run")
    folder.write_estimates({})
    page = read(folder)
    assert page.trouble == []
    assert "Nothing was measured." in page.text


def test_the_page_of_a_large_run_stays_small(tmp_path):
    folder = make_run(tmp_path / "run", starter_items(160), reply="<&>" * 4000)
    assert write_report(folder).stat().st_size <= 2_000_000
    page = Page(folder.report.read_text(encoding="utf-8"))
    assert 3 <= len([d for d in page.all("details") if d.get("class") == "pair"]) <= EXAMPLES


def contrast(one: str, other: str) -> float:
    """WCAG 2.2's contrast ratio of two colours, #rrggbb, in [1, 21]."""

    def luminance(colour: str) -> float:
        parts = (int(colour[i : i + 2], 16) / 255 for i in (1, 3, 5))
        linear = [p / 12.92 if p <= 0.04045 else ((p + 0.055) / 1.055) ** 2.4 for p in parts]
        return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]

    dark, light = sorted((luminance(one), luminance(other)))
    return (light + 0.05) / (dark + 0.05)


def palettes() -> Iterator[dict[str, str]]:
    css = files("askew.report").joinpath("templates/page.css").read_text(encoding="utf-8")
    light, dark = re.findall(r":root \{(.*?)\}", css, re.DOTALL)[:2]
    for block in (light, dark):
        yield dict(re.findall(r"--([a-z0-9-]+): (#[0-9a-f]{6});", block))


def test_text_and_marks_have_enough_contrast_in_light_and_dark():
    for colours in palettes():
        for text in ("ink", "soft", "accent"):
            for back in ("page", "card"):
                assert contrast(colours[text], colours[back]) >= 4.5, (text, back)
        for badge in ("yes", "no", "open"):
            assert contrast(colours[badge], colours[f"{badge}-back"]) >= 4.5, badge
        assert contrast(colours["ink"], colours["open-back"]) >= 4.5
        for mark in ("plain", "attacked", "neutral", "stereotyped", "ideal", "focus"):
            assert contrast(colours[mark], colours["page"]) >= 3, mark


def test_light_and_dark_can_be_chosen_and_paper_is_white_whatever_was():
    css = styles(*SHEETS)
    assert css.count("prefers-color-scheme: dark") >= 2
    by_system = re.findall(
        r'prefers-color-scheme: dark\) \{\s*:root:not\(\[data-theme="light"\]\)(.*?)\{(.*?)\}',
        css,
        re.S,
    )
    by_choice = re.findall(r':root\[data-theme="dark"\](.*?)\{(.*?)\}', css, re.S)
    assert by_system == by_choice
    assert len(by_choice) == css.count("prefers-color-scheme: dark")
    on_paper = re.findall(r"@media print \{\s*(\S+)[^{}]*\{\s*--page", css)
    assert on_paper == [":root:root:root"]
