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
    """One row of a dot plot: a name and one or two shares, the first without an attack.

    `link` is where the items behind it are shown, of `items.items_link`; "" for nowhere.
    """

    name: str
    figures: tuple[Estimate, ...]
    link: str = ""


@dataclass(frozen=True, slots=True)
class Picture:
    """An SVG, safe to be put in as it is, under its caption.

    `name` is the short name that it is saved under; not from data.
    """

    caption: str
    svg: str
    name: str


def shade(outcome: Outcome) -> str:
    """The CSS class of an outcome."""
    return _SHADES.get(outcome, NO_ANSWER)


def slope(ident: str, title: str, before: Estimate, after: Estimate, link: str = "") -> str:
    """A line from a share without an attack to the share under it, with both intervals.

    Args:
        ident: an id that the page uses once; not from data.
        title: what is shown, for those who do not see it.
        before: without an attack.
        after: under attack.
        link: where its items are shown; "" for nowhere.
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
    marks: list[str] = []
    if before.defined and after.defined:
        marks.append(
            f'<line class="slope" x1="48%" y1="{height(before.value)}" x2="73%" '
            f'y2="{height(after.value)}"/>'
        )
    for number, (x, figure, anchor, text_x) in enumerate(places):
        side = ("plain", "attacked")[number]
        if not figure.defined:
            marks.append(f'<text class="value" x="{x}" y="96" text-anchor="middle">–</text>')
            continue
        if has_interval(figure):
            marks.append(
                f'<line class="interval {side}" x1="{x}" x2="{x}" y1="{height(figure.lower)}" '
                f'y2="{height(figure.upper)}"/>'
            )
        marks.append(f'<circle class="dot {side}" cx="{x}" cy="{height(figure.value)}" r="5.5"/>')
        marks.append(
            f'<text class="value" x="{text_x}" y="{height(figure.value)}" dy="4" '
            f'text-anchor="{anchor}">{escape(percent(figure.value))}</text>'
        )
    parts += linked(marks, link, title, 'x="30%" y="6" width="64%" height="180"')
    parts.append('<text class="tick" x="48%" y="198" text-anchor="middle">plain</text>')
    parts.append('<text class="tick" x="73%" y="198" text-anchor="middle">attacked</text>')
    said = f"Without an attack {_said(before)}; under attack {_said(after)}."
    return picture(ident, title, said, 204, parts, linked=bool(link))


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
        parts += linked(_dot_row(row, ROW * place), row.link, row.name, _row_box(ROW * place))
    for share, anchor in ((0, "start"), (50, "middle"), (100, "end")):
        mark = " ideal" if ideal is not None and share == ideal * 100 else ""
        parts.append(
            f'<text class="tick" x="{share}%" y="{bottom + 16}" text-anchor="{anchor}">'
            f"{share} %{mark}</text>"
        )
    said = " ".join(
        f"{row.name}: {', '.join(_said(figure) for figure in row.figures)}." for row in rows
    )
    leads = any(row.link for row in rows)
    return picture(ident, title, said, bottom + 22, parts, linked=leads)


def outcome_bars(
    ident: str,
    title: str,
    rows: Sequence[tuple[str, Mapping[Outcome, int]]],
    links: Sequence[str] = (),
) -> str:
    """One bar a row, split by what the replies came to.

    Args:
        ident: an id that the page uses once; not from data.
        title: what is shown.
        rows: a name and the counts by outcome; a row without replies is an empty track.
        links: where the items of each row are shown; () for nowhere.
    """
    drawn: list[str] = []
    said = []
    for place, (name, counts) in enumerate(rows):
        top, total, x = ROW * place, sum(counts.values()), 0.0
        parts = [f'<text class="name" x="0" y="{top + 13}">{short_label(name)}</text>']
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
        drawn += linked(parts, links[place] if links else "", name, _row_box(top))
        shares = [
            f"{outcome.value} {percent(count / total)}"
            for outcome, count in counts.items()
            if count
        ]
        said.append(f"{name}: {', '.join(shares) or 'no replies'}.")
    return picture(ident, title, " ".join(said), ROW * len(rows), drawn, linked=any(links))


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


def linked(parts: Sequence[str], link: str, name: str, box: str) -> list[str]:
    """The parts, made a link to the items behind them where there are some.

    Args:
        parts: SVG, escaped.
        link: of `items.items_link`; "" for nowhere.
        name: what the items are of, for those who do not see it.
        box: the place and size of what can be pressed, as attributes; not from data.
    """
    if not link:
        return list(parts)
    said = shown_text(f"{name}: show the items")
    return [
        f'<a class="to-items" href="{shown_text(link)}" aria-label="{said}">'
        f'<rect class="hit" {box}/>{"".join(parts)}</a>'
    ]


def _row_box(top: int) -> str:
    return f'x="0" y="{top}" width="100%" height="{ROW - 4}"'


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
    linked: bool = False,
) -> str:
    """The parts as one SVG with its text alternative.

    Args:
        ident: an id that the page uses once; not from data.
        title: what is shown.
        said: the same in words, with its figures.
        height: in pixels.
        parts: SVG, escaped.
        shape: the attributes that make it as wide as it is; not from data.
        linked: whether links are among the parts. An image hides what is in it from those who do
            not see it, a group does not.
    """
    role = "group" if linked else "img"
    return (
        f'<svg role="{role}" aria-labelledby="{ident}-t {ident}-d" {shape} height="{height}" '
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
