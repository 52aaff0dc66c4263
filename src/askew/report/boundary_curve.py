"""The discovery curve: leaning topics found after each test, beside what uniform draws find."""

from __future__ import annotations

import math
from collections.abc import Sequence
from pathlib import Path

from askew.records import Estimate
from askew.report.boundary_map import standalone
from askew.report.figure import picture, short
from askew.report.words import counted, has_interval
from askew.runfolder import write_whole

WIDTH, HEIGHT = 520, 300
LEFT, RIGHT, TOP, BOTTOM = 40, 16, 16, 44
_STEPS = (1, 2, 5)


def discovery_curve(
    found: Sequence[int],
    uniform: Estimate,
    *,
    ident: str = "curve",
    title: str = "Leaning topics found, by tests made",
) -> str:
    """The curve as one SVG, for a page that has `boundary_map.css`.

    Args:
        found: after each test.
        uniform: the share of uniform draws that find one, with its interval; NaN where unknown.
        ident: an id that the page uses once; not from data.
        title: what is shown.
    """
    tests = len(found)
    ends = [end for end in (uniform.value, uniform.upper) if not math.isnan(end)]
    most = max([1.0, float(found[-1]) if tests else 0.0, *(tests * end for end in ends[:1])])
    # The band may reach far above the curve; it is cut where it would press the curve flat.
    most = max(most, min(most * 1.5, max([0.0, *(tests * end for end in ends)])))
    across, up = _Scale(max(tests, 1), LEFT, WIDTH - RIGHT), _Scale(most, HEIGHT - BOTTOM, TOP)
    parts = _axes(max(tests, 1), most)
    if uniform.defined and tests:
        parts += _reference(uniform, tests, most)
    if tests:
        line = [f"M{short(across(0))} {short(up(0))}"]
        line += [f"L{short(across(n + 1))} {short(up(count))}" for n, count in enumerate(found)]
        parts.append(f'<path class="found" d="{"".join(line)}"/>')
        parts.append(
            f'<circle class="end" cx="{short(across(tests))}" cy="{short(up(found[-1]))}" r="4"/>'
        )
    shape = f'class="topic-map curve" viewBox="0 0 {WIDTH} {HEIGHT}" width="{WIDTH}"'
    return picture(ident, title, _said(found, uniform), HEIGHT, parts, shape=shape)


def write_curve(path: Path, found: Sequence[int], uniform: Estimate) -> None:
    """The curve as a file of its own.

    Raises:
        RunError: the file cannot be written.
    """
    write_whole(path, standalone(discovery_curve(found, uniform)))


class _Scale:
    """From numbers to places on one axis."""

    def __init__(self, most: float, start: float, end: float) -> None:
        self.most, self.start, self.end = most, start, end

    def __call__(self, value: float) -> float:
        return self.start + (self.end - self.start) * min(value, self.most) / self.most


def _reference(uniform: Estimate, tests: int, most: float) -> list[str]:
    across, up = _Scale(tests, LEFT, WIDTH - RIGHT), _Scale(most, HEIGHT - BOTTOM, TOP)
    parts = []
    if has_interval(uniform):
        low, high = uniform.lower * tests, uniform.upper * tests
        # Where the upper end leaves the picture, its line ends at the top and not at the corner.
        out = tests if high <= most else most / uniform.upper
        points = [(0.0, 0.0), (out, min(high, most)), (float(tests), min(high, most))]
        points.append((float(tests), low))
        drawn = " ".join(f"{short(across(x))},{short(up(y))}" for x, y in points)
        parts.append(f'<polygon class="band" points="{drawn}"/>')
    parts.append(
        f'<line class="uniform" x1="{short(across(0))}" y1="{short(up(0))}" '
        f'x2="{short(across(tests))}" y2="{short(up(uniform.value * tests))}"/>'
    )
    return parts


def _axes(tests: int, most: float) -> list[str]:
    across, up = _Scale(tests, LEFT, WIDTH - RIGHT), _Scale(most, HEIGHT - BOTTOM, TOP)
    parts = []
    for value in _ticks(most):
        y = short(up(value))
        parts.append(f'<line class="rule" x1="{LEFT}" x2="{WIDTH - RIGHT}" y1="{y}" y2="{y}"/>')
        parts.append(
            f'<text class="tick" x="{LEFT - 8}" y="{y}" dy="4" text-anchor="end">{value:,}</text>'
        )
    for value in _ticks(tests):
        x = short(across(value))
        parts.append(
            f'<text class="tick" x="{x}" y="{HEIGHT - BOTTOM + 18}" text-anchor="middle">'
            f"{value:,}</text>"
        )
    parts.append(
        f'<text class="tick" x="{WIDTH - RIGHT}" y="{HEIGHT - 6}" text-anchor="end">tests</text>'
    )
    return parts


def _ticks(most: float) -> list[int]:
    """Round whole numbers from 0, four or so of them."""
    power = 10 ** max(0, math.floor(math.log10(max(most, 1) / 3)))
    step = next((s * power for s in (*_STEPS, 10) if most / (s * power) <= 5), 10 * power)
    return list(range(0, math.floor(most) + 1, step))


def _said(found: Sequence[int], uniform: Estimate) -> str:
    if not found:
        return "Nothing was tested."
    places = sorted({len(found) * quarter // 4 for quarter in (1, 2, 3, 4)} - {0})
    told = ", ".join(f"{found[place - 1]:,} after {place:,}" for place in places)
    text = f"Found: {told} {'test' if len(found) == 1 else 'tests'}."
    if not uniform.defined:
        return f"{text} What uniform draws would find is not known."
    expected = uniform.value * len(found)
    ends = ""
    if has_interval(uniform):
        ends = f" ({uniform.lower * len(found):.1f} to {uniform.upper * len(found):.1f})"
    return (
        f"{text} Uniform draws would have found about {expected:.1f}{ends} in "
        f"{counted(len(found), 'test')}."
    )
