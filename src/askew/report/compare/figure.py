"""The differences as one picture: all on one scale of margins, with the band of the margin."""

from __future__ import annotations

import math
from collections.abc import Sequence
from html import escape

from askew.report.compare.records import BETTER, SAME, WORSE, FigureDifference
from askew.report.compare.tables import number_text
from askew.report.figure import ROW, Picture, picture, short, short_label
from askew.report.words import UNDEFINED, points, points_range

_LONGEST = 44  # characters of a name
_MOST = 12.0  # margins to either side; what reaches beyond is cut there
_LEAST = 2.0
_SHADES = {BETTER: "better", WORSE: "worse", SAME: "same"}


def difference_plot(ident: str, figures: Sequence[FigureDifference]) -> Picture:
    """One row a figure: the gain and its interval in margins, better to the right.

    Args:
        ident: an id that the page uses once; not from data.
        figures: from top to bottom.
    """
    furthest = max((_reach(figure) for figure in figures), default=_LEAST)
    reach = min(_MOST, max(_LEAST, math.ceil(furthest)))
    bottom = ROW * len(figures) + 4

    def across(margins: float) -> str:
        held = min(reach, max(-reach, margins))
        return f"{short(50 + 50 * held / reach)}%"

    width = f"{short(100 / reach)}%"
    parts = [
        f'<rect class="band" x="{across(-1)}" y="0" width="{width}" height="{bottom}"/>',
        f'<line class="ideal" x1="50%" x2="50%" y1="0" y2="{bottom}"/>',
    ]
    for place, figure in enumerate(figures):
        top = ROW * place
        track = top + 29
        parts += [
            f'<text class="name" x="0" y="{top + 14}">{short_label(figure.title, _LONGEST)}</text>',
            f'<text class="value" x="100%" y="{top + 14}" text-anchor="end">'
            f"{escape(_value(figure))}</text>",
            f'<line class="track" x1="0" x2="100%" y1="{track}" y2="{track}"/>',
        ]
        kind = _SHADES.get(figure.verdict, "open")
        if not figure.difference.defined:
            continue
        ends = _ends(figure)
        if not math.isnan(ends[0]):
            parts.append(
                f'<line class="interval {kind}" x1="{across(ends[0])}" x2="{across(ends[1])}" '
                f'y1="{track}" y2="{track}"/>'
            )
        centre = across(figure.gain / figure.margin)
        parts.append(f'<circle class="dot {kind}" cx="{centre}" cy="{track}" r="5"/>')
    for x, anchor, said in (
        ("0", "start", "← worse"),
        ("50%", "middle", "0"),
        ("100%", "end", "better →"),
    ):
        parts.append(
            f'<text class="tick" x="{x}" y="{bottom + 16}" text-anchor="{anchor}">{said}</text>'
        )
    said = " ".join(f"{one.title}: {_value(one)}, {one.verdict}." for one in figures)
    cut = f"; what lies beyond {reach:g} margins is cut" if furthest > reach else ""
    caption = f"How far apart, in margins; the band is the margin{cut}"
    svg = picture(ident, caption, said, bottom + 22, parts)
    return Picture(caption, svg, ident)


def _ends(figure: FigureDifference) -> tuple[float, float]:
    """The interval of the gain, in margins."""
    ends = (figure.difference.lower / figure.margin, figure.difference.upper / figure.margin)
    return ends if figure.good == "high" else (-ends[1], -ends[0])


def _reach(figure: FigureDifference) -> float:
    known = [abs(end) for end in (*_ends(figure), figure.gain / figure.margin)]
    return max((end for end in known if not math.isnan(end)), default=0.0)


def _value(figure: FigureDifference) -> str:
    difference = figure.difference
    if not difference.defined:
        return f"{UNDEFINED} undefined"
    if math.isnan(difference.lower):
        ends = "no interval"
    elif figure.percent:
        ends = points_range(difference.lower, difference.upper, 1)
    else:
        ends = f"{number_text(difference.lower)} to {number_text(difference.upper)}"
    value = points(difference.value, 1) if figure.percent else number_text(difference.value)
    return f"{value} ({ends})"
