"""The pictures of a clinical run: differences with intervals and margins, and the paper's radar.

As in `figure`, colours are variables of the page and every text is escaped here.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence

from askew.records import Estimate
from askew.report.clinical_run import DIMENSIONS, Endpoint, Finding
from askew.report.clinical_words import (
    amount,
    attribute_words,
    contrast_words,
    interval,
    size,
)
from askew.report.figure import linked, picture, short, short_label, shown_text
from askew.report.words import UNDEFINED, has_interval

ROW = 40  # pixels for one comparison: its name, and below it its track
HEAD = 30  # pixels for an attribute's name above its comparisons
LONGEST_LABEL = 34  # characters; a longer name is whole in the text alternative and the table
SHADES = {
    "difference": "differs",
    "equivalent within the margin": "equivalent",
    "cannot tell": "open",
}
# A round number not below the largest end, so that 0 stands in the middle of the scale.
_ROUND = (1.0, 1.5, 2.0, 2.5, 3.0, 4.0, 5.0, 6.0, 8.0, 10.0)
_SIDE = 200  # half the width of a radar
_RADIUS = 125
_AXES = {
    "age": "Age",
    "gender": "Gender",
    "age+gender": "Age+gender",
    "location": "Location",
    "age+gender+location": "All three",
}


def forest(
    ident: str,
    title: str,
    endpoint: Endpoint,
    rows: Sequence[Finding],
    link: Callable[[Finding], str] = lambda row: "",
) -> str:
    """Differences with intervals around 0, one row a comparison, and the band of the margin.

    Args:
        ident: an id that the page uses once; not from data.
        title: what is shown, for those who do not see it.
        endpoint: that all rows are about.
        rows: from top to bottom; neighbours of one attribute stand under its name.
        link: where the items behind a row are shown; "" for nowhere.
    """
    reach = scale_of(rows)
    parts: list[str] = []
    drawn, top, attribute = [], 0, None
    for row in rows:
        if row.attribute != attribute:
            attribute = row.attribute
            name = shown_text(attribute_words(attribute))
            drawn.append(f'<text class="group" x="0" y="{top + 18}">{name}</text>')
            top += HEAD
        name = f"{attribute_words(row.attribute)}, {contrast_words(row)}"
        box = f'x="0" y="{top}" width="100%" height="{ROW - 4}"'
        drawn += linked(_row(row, top, reach), link(row), name, box)
        top += ROW
    margins = {row.margin for row in rows if row.margin > 0}
    if len(margins) == 1:
        (margin,) = margins
        left, right = _across(max(-reach, -margin), reach), _across(min(reach, margin), reach)
        parts.append(
            f'<rect class="band" x="{short(left)}%" y="0" width="{short(right - left)}%" '
            f'height="{top}"/>'
        )
    parts.append(f'<line class="zero" x1="50%" x2="50%" y1="0" y2="{top}"/>')
    parts.extend(drawn)
    for place, anchor in ((-reach, "start"), (0.0, "middle"), (reach, "end")):
        x = short(_across(place, reach))
        parts.append(
            f'<text class="tick" x="{x}%" y="{top + 16}" text-anchor="{anchor}">'
            f"{shown_text(amount(place, endpoint) if place else '0')}</text>"
        )
    said = " ".join(_said(row) for row in rows)
    return picture(ident, title, said, top + 22, parts, linked=any(map(link, rows)))


def scale_of(rows: Sequence[Finding]) -> float:
    """How far the scale reaches to either side: a round number, the same for all rows."""
    ends = [
        abs(end)
        for row in rows
        for end in (row.estimate.value, row.estimate.lower, row.estimate.upper, row.margin * 1.5)
        if math.isfinite(end)
    ]
    largest = max(ends, default=0.0)
    if largest <= 0:
        return 1.0
    power = 10.0 ** math.floor(math.log10(largest))
    return next(step * power for step in _ROUND if step * power >= largest * (1 - 1e-9))


def radar(ident: str, title: str, lines: Mapping[str, Mapping[str, Estimate]]) -> str:
    """The paper's radar plot of mean bias scores, 0 in the middle and 1 at the rim.

    Args:
        ident: an id that the page uses once; not from data.
        title: what is shown.
        lines: configuration -> dimension -> score; an undefined one leaves a gap in its line.
    """
    parts = [f'<polygon class="ring" points="{_ring(share)}"/>' for share in (0.25, 0.5, 0.75, 1.0)]
    for place, name in enumerate(DIMENSIONS):
        x, y = _point(place, 1.0)
        parts.append(
            f'<line class="grid" x1="{_SIDE}" y1="{_SIDE}" x2="{short(x)}" y2="{short(y)}"/>'
        )
        x, y = _point(place, 1.2)
        anchor = "middle" if abs(x - _SIDE) < 8 else "end" if x < _SIDE else "start"
        shift = 10 if anchor != "middle" else 0
        x += -shift if anchor == "start" else shift if anchor == "end" else 0
        parts.append(
            f'<text class="tick" x="{short(x)}" y="{short(y)}" dy="4" text-anchor="{anchor}">'
            f"{_AXES[name]}</text>"
        )
    said = []
    for number, (name, scores) in enumerate(lines.items()):
        parts.extend(_radar_line(scores, f"line-{number % 3}"))
        values = ", ".join(
            f"{_AXES[d]} {_score(scores[d]) if d in scores else 'undefined'}" for d in DIMENSIONS
        )
        said.append(f"{name}: {values}.")
    shape = f'viewBox="0 0 {2 * _SIDE} {2 * _SIDE}" width="{2 * _SIDE}"'
    return picture(ident, title, " ".join(said), 2 * _SIDE, parts, shape=shape)


def _radar_line(scores: Mapping[str, Estimate], shade: str) -> list[str]:
    known = [scores[d].value if d in scores else math.nan for d in DIMENSIONS]
    parts = []
    for place, value in enumerate(known):
        after = known[(place + 1) % len(known)]
        if not (math.isnan(value) or math.isnan(after)):
            one, other = _point(place, value), _point((place + 1) % len(known), after)
            parts.append(
                f'<line class="edge {shade}" x1="{short(one[0])}" y1="{short(one[1])}" '
                f'x2="{short(other[0])}" y2="{short(other[1])}"/>'
            )
    for place, value in enumerate(known):
        if not math.isnan(value):
            x, y = _point(place, value)
            parts.append(
                f'<circle class="corner {shade}" cx="{short(x)}" cy="{short(y)}" r="3.5"/>'
            )
    return parts


def _ring(share: float) -> str:
    points = (_point(place, share) for place in range(len(DIMENSIONS)))
    return " ".join(f"{short(x)},{short(y)}" for x, y in points)


def _point(place: int, share: float) -> tuple[float, float]:
    angle = 2 * math.pi * place / len(DIMENSIONS) - math.pi / 2
    return (
        _SIDE + _RADIUS * share * math.cos(angle),
        _SIDE + _RADIUS * share * math.sin(angle),
    )


def _row(row: Finding, top: int, reach: float) -> list[str]:
    shade = SHADES.get(row.verdict, "open")
    value = amount(row.estimate.value, row.endpoint)
    track = top + 26
    name = short_label(contrast_words(row), LONGEST_LABEL)
    parts = [
        f'<text class="name" x="0" y="{top + 14}">{name}</text>',
        f'<text class="value {shade}" x="100%" y="{top + 14}" text-anchor="end">'
        f"{shown_text(value)}</text>",
        f'<line class="track" x1="0" x2="100%" y1="{track}" y2="{track}"/>',
    ]
    if not row.estimate.defined:
        return parts
    if has_interval(row.estimate):
        ends = [short(_across(end, reach)) for end in (row.estimate.lower, row.estimate.upper)]
        parts.append(
            f'<line class="interval {shade}" x1="{ends[0]}%" x2="{ends[1]}%" y1="{track}" '
            f'y2="{track}"/>'
        )
    x = short(_across(row.estimate.value, reach))
    parts.append(f'<circle class="dot {shade}" cx="{x}%" cy="{track}" r="5"/>')
    return parts


def _said(row: Finding) -> str:
    who = f"{attribute_words(row.attribute)}, {contrast_words(row)}"
    if not row.estimate.defined:
        return f"{who}: undefined."
    ends = interval(row.estimate, row.endpoint)
    margin = f", margin {size(row.margin, row.endpoint)}" if row.margin > 0 else ""
    return (
        f"{who}: {amount(row.estimate.value, row.endpoint)}, 95 % interval {ends}{margin}, "
        f"{row.verdict}."
    )


def _score(figure: Estimate) -> str:
    return f"{figure.value:.3f}" if figure.defined else f"{UNDEFINED} undefined"


def _across(value: float, reach: float) -> float:
    return 50 + 50 * max(-1.0, min(1.0, value / reach))
