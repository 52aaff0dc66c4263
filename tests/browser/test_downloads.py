"""Figures and tables as files: they are what the page shows, and other programs can read them."""

from __future__ import annotations

import csv
import struct
import xml.etree.ElementTree as ElementTree
import zlib
from pathlib import Path

import pytest

from tests.browser.pages import opened, pairs, write

SVG = "{http://www.w3.org/2000/svg}"
MARKUP = """
<style>
  svg .bar { fill: rgb(10, 20, 30); } svg .line { stroke: rgb(200, 0, 0); stroke-dasharray: 4 2; }
  @media (prefers-color-scheme: dark) {
    :root:not([data-theme="light"]) svg .bar { fill: rgb(240, 250, 255); }
  }
</style>
<figure data-download="slopes-2"><figcaption>Slopes &amp; “quotes”</figcaption>
<svg viewBox="0 0 200 80" width="200" height="80" role="img" aria-label="Slopes">
<title>Slopes</title>
<a href="#items/flex?category=text_attack">
<rect class="bar" x="10" y="10" width="60" height="50"></rect></a>
<line class="line" x1="0" y1="70" x2="200" y2="70"></line>
<text class="tick" x="100" y="40">a &lt; b &amp; “c” ⟨U+0000⟩ مرحبا</text>
</svg></figure>
<figure data-download="nothing"><figcaption>No picture</figcaption></figure>
<div class="scroll" role="region" aria-label="t" tabindex="0"><table>
<caption><span>Rates by attack</span></caption>
<thead>
<tr><td colspan="1"></td><th colspan="2" scope="colgroup">BBQ</th></tr>
<tr><th scope="col">Attack</th><th scope="col">ASR</th><th scope="col">n</th></tr>
</thead>
<tbody>
<tr><th scope="row">DAN, “the” "first"</th>
<td data-value="0.123456789" data-lower="0.1" data-upper="0.15">12 %
<span class="ci">10–15</span></td>
<td data-value="-4">−4</td></tr>
<tr><th scope="row">=cmd|'/c calc'!A1</th>
<td data-value="" data-lower="" data-upper="">–</td><td>−0.50</td></tr>
<tr><th scope="row">+1 person</th><td>7 % <span class="ci">5 to 9 %</span></td><td>-2.5</td></tr>
<tr><th scope="row"> @SUM(A1)</th><td>–</td><td>−3 items</td></tr>
<tr><th scope="row">-2+3</th><td colspan="2">not told</td></tr>
<tr><th scope="row">two
lines</th><td>＝1</td><td>1e-5</td></tr>
</tbody></table></div>
"""


@pytest.fixture(scope="module")
def address(tmp_path_factory):
    return write(tmp_path_factory.mktemp("page") / "report.html", [pairs(3)], before=MARKUP)


def saved(page, name: str, folder: Path) -> Path:
    """The file that a button saves."""
    with page.expect_download() as download:
        page.get_by_role("button", name=name).click()
    path = folder / download.value.suggested_filename
    download.value.save_as(path)
    return path


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_a_figure_as_svg_needs_nothing_of_the_page(page, address, tmp_path, scheme):
    page.emulate_media(color_scheme=scheme)
    opened(page, address)
    path = saved(page, "Download as SVG: Slopes & “quotes”", tmp_path)
    assert path.name == "slopes-2.svg"
    root = ElementTree.parse(path).getroot()
    assert root.tag == f"{SVG}svg"
    assert (root.get("width"), root.get("height"), root.get("viewBox")) == (
        "200",
        "80",
        "0 0 200 80",
    )
    assert root[0].tag == f"{SVG}rect"
    assert root[0].get("fill") == "#fff"
    (bar,) = (one for one in root.iter(f"{SVG}rect") if one.get("x") == "10")
    assert "fill: rgb(10, 20, 30)" in bar.get("style")  # in light colours, whatever the page has
    assert "stroke-dasharray: 4px, 2px" in root.find(f"{SVG}line").get("style")
    assert root.find(f"{SVG}text").text == "a < b & “c” ⟨U+0000⟩ مرحبا"
    whole = path.read_text(encoding="utf-8")
    for left in ("href", "class=", "var(", "aria-", "<a"):
        assert left not in whole, left
    assert page.evaluate("document.documentElement.dataset.theme") is None


def test_the_saved_svg_looks_as_the_figure_does(page, address, tmp_path, chromium):
    opened(page, address)
    path = saved(page, "Download as SVG", tmp_path)
    context = chromium.new_context(viewport={"width": 200, "height": 80})
    alone = context.new_page()
    alone.goto(path.as_uri())
    colours = pixels(alone.screenshot())
    context.close()
    assert colours(40, 30) == (10, 20, 30)
    assert colours(150, 5) == (255, 255, 255)


def test_a_figure_as_png_is_twice_as_sharp_and_on_white(page, address, tmp_path):
    opened(page, address)
    path = saved(page, "Download as PNG", tmp_path)
    assert path.name == "slopes-2.png"
    data = path.read_bytes()
    assert data[:8] == b"\x89PNG\r\n\x1a\n"
    assert struct.unpack(">II", data[16:24]) == (400, 160)
    colours = pixels(data)
    assert colours(80, 60) == (10, 20, 30)
    assert colours(300, 10) == (255, 255, 255)


def test_a_figure_without_a_picture_offers_none(page, address):
    opened(page, address)
    assert page.get_by_role("button", name="No picture").count() == 0


def test_a_table_as_csv_has_all_digits_and_no_formula(page, address, tmp_path):
    opened(page, address)
    path = saved(page, "Download as CSV: Rates by attack", tmp_path)
    assert path.name == "rates-by-attack.csv"
    with path.open(encoding="utf-8-sig", newline="") as file:
        rows = list(csv.reader(file))
    assert rows == [
        ["Attack", "BBQ: ASR", "BBQ: ASR lower", "BBQ: ASR upper", "BBQ: ASR interval", "BBQ: n"],
        ['DAN, “the” "first"', "0.123456789", "0.1", "0.15", "", "-4"],
        ["'=cmd|'/c calc'!A1", "", "", "", "", "-0.50"],
        ["'+1 person", "7 %", "", "", "5 to 9 %", "-2.5"],
        ["'@SUM(A1)", "–", "", "", "", "−3 items"],
        ["'-2+3", "not told", "", "", "", ""],
        ["two lines", "'＝1", "", "", "", "1e-5"],
    ]
    assert path.read_bytes().startswith(b"\xef\xbb\xbf")  # spreadsheets then read UTF-8


def pixels(data: bytes):
    """A function that gives a PNG's colour at a place: eight bits a channel, not interlaced."""
    width, _, bits, kind = struct.unpack(">IIBB", data[16:26])
    assert bits == 8
    depth = {2: 3, 6: 4}[kind]
    packed, at = b"", 8
    while at < len(data):
        (length,) = struct.unpack(">I", data[at : at + 4])
        if data[at + 4 : at + 8] == b"IDAT":
            packed += data[at + 8 : at + 8 + length]
        at += length + 12
    plain, stride = zlib.decompress(packed), width * depth
    rows: list[bytearray] = []
    for start in range(0, len(plain), stride + 1):
        row, above = bytearray(plain[start + 1 : start + 1 + stride]), rows[-1] if rows else None
        for place in range(stride):
            left = row[place - depth] if place >= depth else 0
            up = above[place] if above else 0
            corner = above[place - depth] if above and place >= depth else 0
            row[place] = (row[place] + _predicted(plain[start], left, up, corner)) % 256
        rows.append(row)
    return lambda x, y: tuple(rows[y][x * depth : x * depth + 3])


def _predicted(filter_: int, left: int, up: int, corner: int) -> int:
    if filter_ == 4:
        guess = left + up - corner
        return min((left, up, corner), key=lambda one: abs(guess - one))
    return (0, left, up, (left + up) // 2)[filter_]
