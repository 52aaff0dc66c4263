"""Small SVG pictures, drawn from figures alone.

Places across are percentages of the picture's width and heights are pixels, so a picture fits a
phone and a wide screen without its text growing or shrinking. Colours are CSS variables of the
page: light, dark and print differ there. Every text is escaped here.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from html import escape

from askew.records import Estimate, Outcome
from askew.report.words import UNDEFINED, clean, has_interval, percent, percent_range

ROW = 46  # pixels for one row: its label, and below it its track
LONGEST_LABEL = 30  # characters; a longer name is whole in the text alternative and the table
# Outcomes with a colour of their own; what is no answer shares the greys.
_SHADES = {
    Outcome.NEUTRAL: "neutral",
    Outcome.STEREOTYPED: "stereotyped",
    Outcome.ANTISTEREOTYPED: "antistereotyped",
    Outcome.UNDIRECTED: "undirected",
}
NO_ANSWER = "no-answer"


@dataclass(frozen=True, slots=True)
class Dots:
    """One row of a dot plot: a name and one or two shares, the first without an attack."""

    name: str
    figures: tuple[Estimate, ...]


def shade(outcome: Outcome) -> str:
    """The CSS class of an outcome."""
    return _SHADES.get(outcome, NO_ANSWER)


def slope(ident: str, title: str, before: Estimate, after: Estimate) -> str:
    """A line from a share without an attack to the share under it, with both intervals.

    Args:
        ident: an id that the page uses once; not from data.
        title: what is shown, for those who do not see it.
        before: without an attack.
        after: under attack.
    """
    top, bottom = 16, 176
    places = (("48%", before, "end", "42%"), ("73%", after, "start", "78%"))

    def height(share: float) -> str:
        return short(bottom - (bottom - top) * share)

    parts = [
        f'<line class="grid" x1="14%" x2="94%" y1="{height(share)}" y2="{height(share)}"/>'
        f'<text class="tick" x="0" y="{height(share)}" dy="4">{share * 100:.0f}</text>'
        for share in (0, 0.5, 1)
    ]
    if before.defined and after.defined:
        parts.append(
            f'<line class="slope" x1="48%" y1="{height(before.value)}" x2="73%" '
            f'y2="{height(after.value)}"/>'
        )
    for number, (x, figure, anchor, text_x) in enumerate(places):
        side = ("plain", "attacked")[number]
        if not figure.defined:
            parts.append(f'<text class="value" x="{x}" y="96" text-anchor="middle">–</text>')
            continue
        if has_interval(figure):
            parts.append(
                f'<line class="interval {side}" x1="{x}" x2="{x}" y1="{height(figure.lower)}" '
                f'y2="{height(figure.upper)}"/>'
            )
        parts.append(f'<circle class="dot {side}" cx="{x}" cy="{height(figure.value)}" r="5.5"/>')
        parts.append(
            f'<text class="value" x="{text_x}" y="{height(figure.value)}" dy="4" '
            f'text-anchor="{anchor}">{escape(percent(figure.value))}</text>'
        )
    parts.append('<text class="tick" x="48%" y="198" text-anchor="middle">plain</text>')
    parts.append('<text class="tick" x="73%" y="198" text-anchor="middle">attacked</text>')
    said = f"Without an attack {_said(before)}; under attack {_said(after)}."
    return picture(ident, title, said, 204, parts)


def dots(ident: str, title: str, rows: Sequence[Dots], *, ideal: float | None = None) -> str:
    """Shares with their intervals on one scale from 0 to 100 %, one row each.

    Args:
        ident: an id that the page uses once; not from data.
        title: what is shown.
        rows: from top to bottom.
        ideal: where to draw the line of the ideal value, if there is one inside the scale.
    """
    bottom = ROW * len(rows) + 4
    parts = [
        f'<line class="grid" x1="{share}%" x2="{share}%" y1="0" y2="{bottom}"/>'
        for share in (0, 25, 50, 75, 100)
    ]
    if ideal is not None:
        x = _across(ideal)
        parts.append(f'<line class="ideal" x1="{x}" x2="{x}" y1="0" y2="{bottom}"/>')
    for place, row in enumerate(rows):
        parts.extend(_dot_row(row, ROW * place))
    for share, anchor in ((0, "start"), (50, "middle"), (100, "end")):
        mark = " ideal" if ideal is not None and share == ideal * 100 else ""
        parts.append(
            f'<text class="tick" x="{share}%" y="{bottom + 16}" text-anchor="{anchor}">'
            f"{share} %{mark}</text>"
        )
    said = " ".join(
        f"{row.name}: {', '.join(_said(figure) for figure in row.figures)}." for row in rows
    )
    return picture(ident, title, said, bottom + 22, parts)


def outcome_bars(ident: str, title: str, rows: Sequence[tuple[str, Mapping[Outcome, int]]]) -> str:
    """One bar a row, split by what the replies came to.

    Args:
        ident: an id that the page uses once; not from data.
        title: what is shown.
        rows: a name and the counts by outcome; a row without replies is an empty track.
    """
    parts, said = [], []
    for place, (name, counts) in enumerate(rows):
        top, total, x = ROW * place, sum(counts.values()), 0.0
        parts.append(f'<text class="name" x="0" y="{top + 13}">{short_label(name)}</text>')
        parts.append(
            f'<text class="value" x="100%" y="{top + 13}" text-anchor="end">'
            f"{total:,} {'reply' if total == 1 else 'replies'}</text>"
        )
        parts.append(f'<rect class="track" x="0" y="{top + 20}" width="100%" height="16"/>')
        for kind, count in _by_shade(counts).items():
            width = 100 * count / total
            parts.append(
                f'<rect class="fill {kind}" x="{short(x)}%" y="{top + 20}" '
                f'width="{short(width)}%" height="16"/>'
            )
            x += width
        shares = [
            f"{outcome.value} {percent(count / total)}"
            for outcome, count in counts.items()
            if count
        ]
        said.append(f"{name}: {', '.join(shares) or 'no replies'}.")
    return picture(ident, title, " ".join(said), ROW * len(rows), parts)


def _dot_row(row: Dots, top: int) -> list[str]:
    track = top + 29
    last = row.figures[-1]
    value = percent(last.value) if last.defined else f"{UNDEFINED} undefined"
    if len(row.figures) > 1 and row.figures[0].defined:
        value = f"{percent(row.figures[0].value)} → {value}"
    parts = [
        f'<text class="name" x="0" y="{top + 14}">{short_label(row.name)}</text>',
        f'<text class="value" x="100%" y="{top + 14}" text-anchor="end">{escape(value)}</text>',
        f'<line class="track" x1="0" x2="100%" y1="{track}" y2="{track}"/>',
    ]
    sides = ("plain", "attacked") if len(row.figures) > 1 else ("attacked",)
    for number, (figure, side) in enumerate(zip(row.figures, sides, strict=True)):
        y = track + (4 if number == 1 else -4 if len(row.figures) > 1 else 0)
        if not figure.defined:
            continue
        if has_interval(figure):
            parts.append(
                f'<line class="interval {side}" x1="{_across(figure.lower)}" '
                f'x2="{_across(figure.upper)}" y1="{y}" y2="{y}"/>'
            )
        parts.append(f'<circle class="dot {side}" cx="{_across(figure.value)}" cy="{y}" r="5"/>')
    return parts


def _by_shade(counts: Mapping[Outcome, int]) -> dict[str, int]:
    summed: dict[str, int] = {}
    for outcome in Outcome:
        if count := counts.get(outcome, 0):
            summed[shade(outcome)] = summed.get(shade(outcome), 0) + count
    return summed


def picture(
    ident: str,
    title: str,
    said: str,
    height: int,
    parts: Sequence[str],
    *,
    shape: str = 'width="100%"',
) -> str:
    """The parts as one SVG with its text alternative.

    Args:
        ident: an id that the page uses once; not from data.
        title: what is shown.
        said: the same in words, with its figures.
        height: in pixels.
        parts: SVG, escaped.
        shape: the attributes that make it as wide as it is; not from data.
    """
    return (
        f'<svg role="img" aria-labelledby="{ident}-t {ident}-d" {shape} height="{height}" '
        'xmlns="http://www.w3.org/2000/svg">'
        f'<title id="{ident}-t">{shown_text(title)}</title>'
        f'<desc id="{ident}-d">{shown_text(said)}</desc>'
        f"{''.join(parts)}</svg>"
    )


def _said(figure: Estimate) -> str:
    if not figure.defined:
        return "undefined"
    if not has_interval(figure):
        return percent(figure.value)
    return f"{percent(figure.value)}, 95 % interval {percent_range(figure.lower, figure.upper)}"


def short_label(name: str, longest: int = LONGEST_LABEL) -> str:
    """A name as SVG shows it, cut where it is too long."""
    name = clean(name)
    return shown_text(name if len(name) <= longest else f"{name[: longest - 1]}…")


def shown_text(text: str) -> str:
    """Text of data, made safe for SVG."""
    return escape(clean(text), quote=True)


def _across(share: float) -> str:
    return f"{short(100 * share)}%"


def short(number: float) -> str:
    """A coordinate in as few digits as it needs."""
    return f"{number:.2f}".rstrip("0").rstrip(".")
