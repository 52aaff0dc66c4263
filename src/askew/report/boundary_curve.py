"""The discovery curve: leaning topics found after each test, beside what other searches would find.

Beside it stand the expectation of uniform draws, where the run's own uniform draws tell how many
topics lean, and the bound that no search can pass: one topic a test, and no more than there are.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from pathlib import Path

import numpy as np

from askew.audits.boundary_records import TopicTest
from askew.records import Estimate
from askew.report.boundary_map import standalone
from askew.report.boundary_summary import short_title
from askew.report.figure import picture, short, shown_text
from askew.report.items import item_link
from askew.report.items.boundary_shelf import topic_idents
from askew.report.words import counted, has_interval
from askew.runfolder import write_whole

WIDTH, HEIGHT = 520, 300
LEFT, RIGHT, TOP, BOTTOM = 40, 16, 16, 44
POINTS = 60  # finds that are marked and lead to their topics; of more, so many from first to last
_STEPS = (1, 2, 5)


def discovery_curve(
    found: Sequence[int],
    uniform: Estimate,
    tests: Sequence[TopicTest] = (),
    topics: int | None = None,
    *,
    ident: str = "curve",
    title: str = "Leaning topics found, by tests made",
) -> str:
    """The curve as one SVG, for a page that has `boundary_map.css`.

    Args:
        found: after each test.
        uniform: the share of uniform draws that find one, with its interval; NaN where unknown.
        tests: of the run, one a step; their finds are marked, and lead to their items. () for none.
        topics: of the graph; None where it is not known.
        ident: an id that the page uses once; not from data.
        title: what is shown.
    """
    made = len(found)
    ends = [end for end in (uniform.value, uniform.upper) if not math.isnan(end)]
    most = max([1.0, float(found[-1]) if made else 0.0, *(made * end for end in ends[:1])])
    # The band may reach far above the curve; it is cut where it would press the curve flat.
    most = max(most, min(most * 1.5, max([0.0, *(made * end for end in ends)])))
    across, up = _Scale(max(made, 1), LEFT, WIDTH - RIGHT), _Scale(most, HEIGHT - BOTTOM, TOP)
    parts = _axes(max(made, 1), most)
    if uniform.defined and made:
        parts += _reference(uniform, made, most)
    if made:
        parts.append(_bound(made, most, bound_of(uniform, topics)))
        line = [f"M{short(across(0))} {short(up(0))}"]
        line += [f"L{short(across(n + 1))} {short(up(count))}" for n, count in enumerate(found)]
        parts.append(f'<path class="found" d="{"".join(line)}"/>')
        parts += _finds(tests, found, across, up)
        parts.append(
            f'<circle class="end" cx="{short(across(made))}" cy="{short(up(found[-1]))}" r="4"/>'
        )
    shape = f'class="topic-map curve" viewBox="0 0 {WIDTH} {HEIGHT}" width="{WIDTH}"'
    leads = any(test.verdict == "leaning" for test in tests)
    said = _said(found, uniform, tests)
    return picture(ident, title, said, HEIGHT, parts, shape=shape, linked=leads)


def bound_of(uniform: Estimate, topics: int | None) -> float:
    """At most so many leaning topics are to be found, by the interval; NaN where it is unknown.

    The best guess is no bound: no find among few uniform draws makes it 0.
    """
    return uniform.upper * topics if topics is not None and has_interval(uniform) else math.nan


def curve_note(uniform: Estimate, tests: Sequence[TopicTest], topics: int | None) -> str:
    """What the lines beside the curve rest on, in sentences.

    Args:
        uniform: as of `discovery_curve`.
        tests: of the run.
        topics: of the graph; None where it is not known.
    """
    probes = [test for test in tests if test.probe]
    hits = sum(test.verdict == "leaning" for test in probes)
    bound = "No search can find more than one leaning topic a test (the dotted line)"
    if not uniform.defined:
        why = f" ({uniform.note})" if uniform.note else ""
        return (
            f"How many topics of the graph lean is not known{why}, so what uniform draws would "
            f"have found is not drawn. {bound}."
        )
    total = bound_of(uniform, topics)
    also = ""
    if not math.isnan(total):
        also = f", nor more than there are: at most {total:,.0f} by that interval"
    drawn = f"{counted(hits, 'find')} in {counted(len(probes), 'test')} drawn uniformly"
    source = (
        "every topic of the graph was tested"
        if topics == len(tests)
        else (f"estimated from this run's own uniform draws ({drawn})")
    )
    return (
        f"Uniform draws from the whole graph would find in proportion to how many of its topics "
        f"lean, and that is {source}. The band is the interval of that expectation; the luck of "
        f"one such search comes on top of it. {bound}{also}."
    )


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


def _bound(tests: int, most: float, total: float) -> str:
    """One a test, as far as the picture reaches, and level where no more are left to be found."""
    across, up = _Scale(tests, LEFT, WIDTH - RIGHT), _Scale(most, HEIGHT - BOTTOM, TOP)
    top = min([most, float(tests), *([total] if not math.isnan(total) else [])])
    points = [(0.0, 0.0), (top, top)]
    if top == total:
        points.append((float(tests), top))
    drawn = " ".join(f"{short(across(x))},{short(up(y))}" for x, y in points)
    return f'<polyline class="bound" points="{drawn}"/>'


def _finds(
    tests: Sequence[TopicTest], found: Sequence[int], across: _Scale, up: _Scale
) -> list[str]:
    """A mark for each find, or for some from the first to the last; each leads to its topic."""
    every = sorted(tests, key=lambda test: test.step)
    finds = [
        (test, ident)
        for test, ident in zip(every, topic_idents(every), strict=True)
        if test.verdict == "leaning" and 1 <= test.step <= len(found)
    ]
    chosen = np.unique(np.linspace(0, len(finds) - 1, min(len(finds), POINTS)).round().astype(int))
    parts = []
    for test, ident in (finds[place] for place in chosen.tolist()):
        x, y = short(across(test.step)), short(up(found[test.step - 1]))
        drawn = ", drawn uniformly" if test.probe else ""
        said = f"{short_title(test.title)}: found by test {test.step:,}{drawn}"
        ring = f'<circle class="drawn" cx="{x}" cy="{y}" r="7"/>' if test.probe else ""
        parts.append(
            f'<a href="{shown_text(item_link("boundary", ident))}">'
            f"<title>{shown_text(said)}</title>"
            f'<circle class="touch" cx="{x}" cy="{y}" r="9"/>{ring}'
            f'<circle class="find" cx="{x}" cy="{y}" r="2.8"/></a>'
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


def _said(found: Sequence[int], uniform: Estimate, tests: Sequence[TopicTest]) -> str:
    if not found:
        return "Nothing was tested."
    places = sorted({len(found) * quarter // 4 for quarter in (1, 2, 3, 4)} - {0})
    told = ", ".join(f"{found[place - 1]:,} after {place:,}" for place in places)
    text = f"Found: {told} {'test' if len(found) == 1 else 'tests'}."
    probes = [test for test in tests if test.probe]
    if probes:
        hits = sum(test.verdict == "leaning" for test in probes)
        text += f" Of them {hits:,} by the {counted(len(probes), 'test')} drawn uniformly."
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
