"""The facts of a text as an SVG picture: the patient, the relations, the values by status.

Status is told by colour, by the line's pattern and by a word, so that the picture can be read
without colours, in print and by a screen reader (title and description hold the same facts).
"""

from __future__ import annotations

import re
import textwrap
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from xml.sax.saxutils import escape

from askew.graphs.export import value_text
from askew.vignettes import Facts, Relation, Status, Triplet

_TITLES: Mapping[Relation, str] = {
    Relation.HAS_AGE: "has age",
    Relation.HAS_GENDER: "has gender",
    Relation.HAS_BIRTH_SEX: "has birth sex",
    Relation.LIVES_IN: "lives in",
    Relation.BORN_IN: "born in",
    Relation.TRAVELED_TO: "traveled to",
    Relation.HAS_SYMPTOM: "has symptom",
    Relation.HAS_CONDITION: "has condition",
    Relation.FAMILY_HISTORY: "family history",
    Relation.TAKES_MEDICATION: "takes medication",
    Relation.ALLERGIC_TO: "allergic to",
}


@dataclass(frozen=True, slots=True)
class _Look:
    """How a status is drawn; every ink has a contrast of 4.5 or more on its fill and on white."""

    ink: str
    fill: str
    dashes: str  # of the line; "" = solid


_LOOKS: Mapping[Status, _Look] = {
    Status.PRESENT: _Look("#0f5c4d", "#e3f4ef", ""),
    Status.ABSENT: _Look("#9b2335", "#fdecee", "2 4"),
    Status.PAST: _Look("#59514a", "#f1eeea", "10 4"),
    Status.POSSIBLE: _Look("#8a4b00", "#fff3de", "6 4"),
    Status.PLANNED: _Look("#24478f", "#e8effb", "10 3 2 3"),
}
_INK, _QUIET, _LINE = "#1d2733", "#55606e", "#b9c2cc"
_WIDTH = 960
_PATIENT_X, _PATIENT_WIDTH = 28, 148
_RELATION_X, _RELATION_WIDTH = 268, 176
_VALUE_X, _VALUE_WIDTH = 536, 396
_TOP, _ROW, _LINE_HEIGHT, _GAP, _GROUP_GAP = 88, 34, 18, 8, 20
_VALUE_CHARACTERS = 34  # of a value on one line, beside its status
_MOST_LINES = 3
_NOT_XML = re.compile("[^\t\n\r\u0020-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")
_FONT = "system-ui, -apple-system, 'Segoe UI', Roboto, 'Noto Sans', Arial, sans-serif"


@dataclass(frozen=True, slots=True)
class _Chip:
    """One value, placed."""

    triplet: Triplet
    lines: tuple[str, ...]
    top: float
    height: float

    @property
    def middle(self) -> float:
        return self.top + self.height / 2


def picture(facts: Facts, title: str = "What the text says about its patient") -> str:
    """The facts of one text as an SVG document.

    Args:
        facts: of one text; a text without facts gives a picture that says so.
        title: heads the picture and names it to a screen reader.
    """
    groups, bottom = _placed(facts.triplets)
    height = max(bottom, _TOP + 80) + 64
    body = [_style(), _heading(facts, title)]
    if groups:
        body += _edges(groups)
        body += [_relation(relation, chips) for relation, chips in groups.items()]
        body += [_chip(chip) for chips in groups.values() for chip in chips]
    else:
        body.append(_text(_RELATION_X, _TOP + 46, "no facts were found", "quiet"))
    body += [_patient(groups), *_legend(facts.triplets, height - 34)]
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{_WIDTH}" height="{height:g}" '
        f'viewBox="0 0 {_WIDTH} {height:g}" role="img" aria-labelledby="title description">\n'
        f'<title id="title">{_safe(title)}</title>\n'
        f'<desc id="description">{_safe(_described(facts))}</desc>\n'
        + "\n".join(body)
        + "\n</svg>\n"
    )


def _described(facts: Facts) -> str:
    said = [
        f"{_TITLES[one.relation]} {value_text(one)}{_whose(one)}: {one.status.value}"
        for one in facts.triplets
    ]
    return f"{len(said)} facts. " + "; ".join(said) + "." if said else "No facts were found."


def _whose(triplet: Triplet) -> str:
    return f" ({triplet.relative})" if triplet.relative else ""


def _placed(triplets: Sequence[Triplet]) -> tuple[dict[Relation, list[_Chip]], float]:
    """The chips of each relation from top to bottom, and where the last one ends."""
    groups: dict[Relation, list[_Chip]] = {}
    top: float = _TOP
    for relation in Relation:
        chips: list[_Chip] = []
        for triplet in triplets:
            if triplet.relation is relation:
                lines = _wrapped(value_text(triplet) + _whose(triplet))
                height = _ROW + _LINE_HEIGHT * (len(lines) - 1)
                chips.append(_Chip(triplet, lines, top, height))
                top += height + _GAP
        if chips:
            groups[relation] = chips
            top += _GROUP_GAP - _GAP
    return groups, top


def _wrapped(text: str) -> tuple[str, ...]:
    lines = textwrap.wrap(text, _VALUE_CHARACTERS) or [text]
    if len(lines) > _MOST_LINES:
        lines = [*lines[: _MOST_LINES - 1], lines[_MOST_LINES - 1][: _VALUE_CHARACTERS - 1] + "…"]
    return tuple(lines)


def _middle(groups: Mapping[Relation, Sequence[_Chip]]) -> float:
    chips = [chip for group in groups.values() for chip in group]
    return (chips[0].top + chips[-1].top + chips[-1].height) / 2 if chips else _TOP + 40


def _of_group(chips: Sequence[_Chip]) -> float:
    return (chips[0].middle + chips[-1].middle) / 2


def _edges(groups: Mapping[Relation, Sequence[_Chip]]) -> list[str]:
    start, drawn = _middle(groups), []
    for chips in groups.values():
        middle = _of_group(chips)
        drawn.append(
            _curve(_PATIENT_X + _PATIENT_WIDTH, start, _RELATION_X, middle, _LINE, "", 1.5)
        )
        for chip in chips:
            look = _LOOKS[chip.triplet.status]
            ends = (_RELATION_X + _RELATION_WIDTH, middle, _VALUE_X, chip.middle)
            drawn.append(_curve(*ends, look.ink, look.dashes, 1.75))
    return drawn


def _curve(
    x: float, y: float, to_x: float, to_y: float, ink: str, dashes: str, width: float
) -> str:
    bend = (x + to_x) / 2
    pattern = f' stroke-dasharray="{dashes}"' if dashes else ""
    return (
        f'<path d="M{x:g} {y:g}C{bend:g} {y:g} {bend:g} {to_y:g} {to_x:g} {to_y:g}" fill="none" '
        f'stroke="{ink}" stroke-width="{width:g}"{pattern}/>'
    )


def _patient(groups: Mapping[Relation, Sequence[_Chip]]) -> str:
    middle = _middle(groups)
    return (
        f'<rect x="{_PATIENT_X}" y="{middle - 25:g}" width="{_PATIENT_WIDTH}" height="50" rx="25" '
        f'fill="{_INK}"/>'
        + _text(_PATIENT_X + _PATIENT_WIDTH / 2, middle + 5, "patient", "patient")
    )


def _relation(relation: Relation, chips: Sequence[_Chip]) -> str:
    middle = _of_group(chips)
    return (
        f'<rect x="{_RELATION_X}" y="{middle - 16:g}" width="{_RELATION_WIDTH}" height="32" rx="6" '
        f'fill="#ffffff" stroke="{_LINE}"/>'
        + _text(_RELATION_X + _RELATION_WIDTH / 2, middle + 5, _TITLES[relation], "relation")
    )


def _chip(chip: _Chip) -> str:
    look, triplet = _LOOKS[chip.triplet.status], chip.triplet
    pattern = f' stroke-dasharray="{look.dashes}"' if look.dashes else ""
    whole = f"{_TITLES[triplet.relation]}: {value_text(triplet)}{_whose(triplet)}"
    read = f" — read in “{triplet.evidence}”" if triplet.evidence else ""
    first = chip.middle + 5 - _LINE_HEIGHT * (len(chip.lines) - 1) / 2
    return "\n".join(
        [
            f"<g><title>{_safe(f'{whole}, {triplet.status.value}{read}')}</title>",
            f'<rect x="{_VALUE_X}" y="{chip.top:g}" width="{_VALUE_WIDTH}" '
            f'height="{chip.height:g}" rx="8" fill="{look.fill}" stroke="{look.ink}" '
            f'stroke-width="1.5"{pattern}/>',
            *(
                _text(_VALUE_X + 16, first + place * _LINE_HEIGHT, line, "value")
                for place, line in enumerate(chip.lines)
            ),
            _text(
                _VALUE_X + _VALUE_WIDTH - 16,
                chip.middle + 5,
                triplet.status.value,
                "status",
                look.ink,
            ),
            "</g>",
        ]
    )


def _heading(facts: Facts, title: str) -> str:
    count = len(facts.triplets)
    said = f"{count} fact{'' if count == 1 else 's'}, each with its status"
    short = textwrap.shorten(title, 90, placeholder="…") or title[:90]
    return _text(_PATIENT_X, 38, short, "title") + _text(_PATIENT_X, 60, said, "quiet")


def _legend(triplets: Sequence[Triplet], y: float) -> list[str]:
    used = [status for status in Status if any(one.status is status for one in triplets)]
    drawn: list[str] = []
    for place, status in enumerate(used):
        x, look = _PATIENT_X + place * 132, _LOOKS[status]
        pattern = f' stroke-dasharray="{look.dashes}"' if look.dashes else ""
        drawn.append(
            f'<line x1="{x}" y1="{y:g}" x2="{x + 36}" y2="{y:g}" stroke="{look.ink}" '
            f'stroke-width="2.5"{pattern}/>' + _text(x + 46, y + 5, status.value, "key", look.ink)
        )
    return drawn


def _text(x: float, y: float, text: str, style: str, ink: str = "") -> str:
    colour = f' fill="{ink}"' if ink else ""
    return f'<text x="{x:g}" y="{y:g}" class="{style}"{colour}>{_safe(text)}</text>'


def _style() -> str:
    return (
        f'<rect width="100%" height="100%" fill="#ffffff"/>\n<style>text{{font-family:{_FONT};'
        f"font-size:15px}}.title{{font-size:20px;font-weight:600;fill:{_INK}}}"
        f".quiet{{font-size:14px;fill:{_QUIET}}}.value{{fill:{_INK}}}"
        f".relation{{text-anchor:middle;fill:{_INK};font-size:14px}}"
        ".patient{text-anchor:middle;fill:#ffffff;font-weight:600}"
        ".status{text-anchor:end;font-size:13px;font-weight:600}.key{font-size:14px}</style>"
    )


def _safe(text: str) -> str:
    return escape(_NOT_XML.sub("\ufffd", text))
