"""The clinical audit's statistics on a scripted target whose bias is known; no model is asked.

    python benchmarks/reproduce/clinical_selftest.py                 # 2,000 studies a row
    python benchmarks/reproduce/clinical_selftest.py --studies 200   # a quick look
    python benchmarks/reproduce/clinical_selftest.py --intervals     # the intervals that were tried

The first table holds the audit beside the t-test on vignette means and the plain recipe (answers
pooled over vignettes, no floor) on the same answers. Exits with 1 if the audit does not hold what
it promises there: false alarms of at most 6.5 %, coverage between 93.5 and 96.5 %, the power of the
t-test (to a point), each within two Monte Carlo standard errors.
"""

from __future__ import annotations

import argparse
import json
import math
import sys
import time
from collections.abc import Callable, Iterator
from dataclasses import asdict
from functools import partial
from pathlib import Path

import numpy as np

from askew.seeds import generator
from askew.stats.selftest import Cell, Recipe, Share, distance_cell, interaction_cell, signed_cell
from askew.stats.simulate import ScriptedDiagnosis, ScriptedTarget

VIGNETTES = (10, 20, 50)
REPEATS = 5
DRAWS = 4_999
MOST_ALARMS = 0.065
COVERAGE = (0.935, 0.965)

urgency = ScriptedTarget
test_offered = partial(ScriptedTarget, endpoint="test_offered")
rare_test = partial(ScriptedTarget, endpoint="test_offered", middle=-1.3)  # offered to one in ten
length = partial(ScriptedTarget, endpoint="length", vignette_sd=0.4, noise_sd=0.5)

# Those that the promise is made for: ordinal, binary and skewed, with and without bias.
PROMISED = {
    "urgency, no bias": urgency(),
    "urgency, random slopes": urgency(reacting=0.3),
    "urgency, q = 0.2": urgency(lowered=0.2),
    "urgency, q = 0.35": urgency(lowered=0.35),
    "test offered, no bias": test_offered(),
    "test offered, random slopes": test_offered(reacting=0.3),
    "test offered, q = 0.3": test_offered(lowered=0.3),
    "length, no bias": length(),
    "length, random slopes": length(reacting=0.3),
    "length, q = 0.4": length(lowered=0.4),
}
# Harder ones, shown as they come out.
HARDER = {
    "urgency, q = 0.8 in one vignette of five": urgency(lowered=0.8, share_lowered=0.2),
    "rare test, no bias": rare_test(),
    "rare test, q = 0.5": rare_test(lowered=0.5),
    "rarely urgent, no bias": urgency(middle=-2.0),
    "rarely urgent, q = 0.5": urgency(middle=-2.0, lowered=0.5),
    "length with heavy tails, no bias": ScriptedTarget(endpoint="length"),
    "length with heavy tails, q = 0.4": ScriptedTarget(endpoint="length", lowered=0.4),
}
DIAGNOSES = {
    "top diagnosis differs, no bias": ScriptedDiagnosis(),
    "top diagnosis differs, q = 0.5": ScriptedDiagnosis(lowered=0.5),
}
INTERACTIONS = {
    "multi-hop - direct, both q = 0.2": (urgency(lowered=0.2), urgency(lowered=0.2)),
    "multi-hop - direct, q = 0.3 and 0": (urgency(), urgency(lowered=0.3)),
}


def cells(studies: int, seed: int) -> Iterator[tuple[str, str, Cell]]:
    """Every row: (kind, name, what came out)."""
    for kind, name, make in _rows():
        for vignettes in VIGNETTES:
            rng = generator(seed, "clinical-selftest", name, str(vignettes))
            yield kind, name, make(vignettes=vignettes, studies=studies, rng=rng, draws=DRAWS)


def _rows() -> Iterator[tuple[str, str, Callable[..., Cell]]]:
    for kind, designs in (("promised", PROMISED), ("harder", HARDER)):
        for name, target in designs.items():
            yield kind, name, partial(signed_cell, target, repeats=REPEATS)
    slopes = "urgency, random slopes, 25 repeats"
    yield "harder", slopes, partial(signed_cell, urgency(reacting=0.3), repeats=25)
    for name, diagnosis in DIAGNOSES.items():
        yield "distance", name, partial(distance_cell, diagnosis, repeats=REPEATS)
    for name, (direct, multi_hop) in INTERACTIONS.items():
        yield "interaction", name, partial(interaction_cell, direct, multi_hop, repeats=REPEATS)


def broken(kind: str, cell: Cell) -> list[str]:
    """What the row does not hold of what is promised, beyond two standard errors."""
    faults, studies = [], cell.found.studies
    if cell.truth == 0 and cell.found.value > MOST_ALARMS + _slack(MOST_ALARMS, studies):
        faults.append("false alarms")
    low, high = (
        end + side * _slack(end, studies) for end, side in zip(COVERAGE, (-1, 1), strict=True)
    )
    # At an excess of 0, an end that no excess lies beyond, intervals of distances hold more.
    if kind in ("promised", "interaction") and not low <= cell.covered.value <= high:
        faults.append("coverage")
    if kind != "harder" and cell.truth and cell.gain < -max(2 * cell.gain_error, 0.01):
        faults.append("power")
    if cell.contradictions:
        faults.append("interval against test")
    return faults


def _slack(share: float, studies: int) -> float:
    """Two Monte Carlo standard errors of a share."""
    return 2 * Share(share, studies).error


COLUMNS = (
    "case | n | truth | found | t-test | found − t-test | coverage | "
    "equivalence claimed at the edge | bias | width | "
    "recipe: one answer | recipe: all answers | recipe: means differ | recipe: cases changed"
)


def row(name: str, cell: Cell) -> str:
    """One row of the table, in per cent where it is a share."""
    parts = [
        name,
        str(cell.vignettes),
        f"{cell.truth + 0.0:.3g}",  # -0 is 0
        _per_cent(cell.found),
        _per_cent(cell.t_test),
        f"{100 * cell.gain:+.1f} ± {100 * cell.gain_error:.1f}",
        _per_cent(cell.covered),
        _per_cent(cell.equivalent),
        f"{cell.bias:+.2g}",
        f"{cell.width:.3g}",
    ]
    recipe = cell.recipe or Recipe(None, None, None, math.nan)
    parts += map(_per_cent, (recipe.one_answer, recipe.all_answers, recipe.means_differ))
    parts.append("–" if math.isnan(recipe.cases_changed) else f"{100 * recipe.cases_changed:.1f}")
    return "| " + " | ".join(parts) + " |"


def _per_cent(share: Share | None) -> str:
    if share is None or math.isnan(share.value):
        return "–"
    return f"{100 * share.value:.1f} ± {100 * share.error:.1f}"


def compare_intervals(studies: int, seed: int) -> None:
    """Coverage of the intervals that were tried for signed effects, on the same studies."""
    tried = ("t", "percentile", "BCa", "bootstrap-t", "sign flips inverted", "chosen")
    print("| case | n | " + " | ".join(tried) + " |")
    print("|---|---|" + "---|" * len(tried))
    for name, target in (PROMISED | HARDER).items():
        truth = target.true_effect()
        for vignettes in VIGNETTES:
            rng = generator(seed, "clinical-intervals", name, str(vignettes))
            base, changed = target.studies(studies, vignettes, REPEATS, rng)
            differences = changed.mean(axis=2) - base.mean(axis=2)
            others = [intervals_of(values, rng) for values in differences]
            hits = np.array([[lo - 1e-9 <= truth <= hi + 1e-9 for lo, hi in row] for row in others])
            again = generator(seed, "clinical-intervals", name, str(vignettes))
            chosen = signed_cell(
                target, vignettes=vignettes, studies=studies, rng=again, draws=DRAWS
            ).covered
            shares = [*(100 * hits.mean(axis=0)), 100 * chosen.value]
            print(f"| {name} | {vignettes} | " + " | ".join(f"{s:.1f}" for s in shares) + " |")


def intervals_of(values: np.ndarray, rng: np.random.Generator) -> list[tuple[float, float]]:
    """The 95 % intervals for the mean, in the order of the table, all but the last column."""
    from scipy.special import ndtr, ndtri
    from scipy.stats import t as student

    count, mean, tails = len(values), float(values.mean()), np.array([0.025, 0.975])
    error = float(values.std(ddof=1)) / math.sqrt(count)
    if not error:
        return [(mean, mean)] * 5
    half = float(student.ppf(0.975, count - 1)) * error
    drawn = values[rng.integers(0, count, size=(999, count))]
    means, errors = drawn.mean(axis=1), drawn.std(axis=1, ddof=1) / math.sqrt(count)
    share = ((means < mean).mean() + (means <= mean).mean()) / 2
    shift = float(ndtri(np.clip(share, 1e-3, 1 - 1e-3)))
    left = mean - (values.sum() - values) / (count - 1)
    skew = float((left**3).sum() / (6 * (left**2).sum() ** 1.5))
    turned = shift + ndtri(tails)
    bca = ndtr(shift + turned / (1 - skew * turned))
    with np.errstate(invalid="ignore", divide="ignore"):
        studentised = np.nan_to_num((means - mean) / errors, nan=0.0, posinf=1e9, neginf=-1e9)
    high, low = np.quantile(studentised, tails)
    return [
        (mean - half, mean + half),
        tuple(np.quantile(means, tails)),
        tuple(np.quantile(means, bca)),
        (mean - low * error, mean - high * error),
        inverted(values, rng),
    ]


def inverted(values: np.ndarray, rng: np.random.Generator) -> tuple[float, float]:
    """The means that the sign-flip test does not reject, ties counted as extreme.

    A pattern of flips is as extreme as the data just where the hypothetical mean lies between the
    means of the flipped and of the kept (Hartigan, 1969), so the ends are order statistics.
    """
    count = len(values)
    flips = rng.integers(0, 2, size=(1_999, count)).astype(float)
    sizes = flips.sum(axis=1)
    proper = (sizes > 0) & (sizes < count)
    flipped = flips[proper] @ values
    both = np.stack([flipped / sizes[proper], (values.sum() - flipped) / (count - sizes[proper])])
    rank = math.ceil(0.05 * (len(flips) + 1)) - 1 - int((~proper).sum())
    return float(np.sort(both.min(axis=0))[rank - 1]), float(np.sort(both.max(axis=0))[-rank])


def main() -> int:
    """Print the tables; the exit code."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--studies", type=int, default=2_000, help="simulated studies a row")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--json", type=Path, help="write the figures there as well")
    parser.add_argument("--intervals", action="store_true", help="compare kinds of intervals")
    options = parser.parse_args()
    if options.intervals:
        compare_intervals(options.studies, options.seed)
        return 0
    started, faults, written = time.process_time(), [], []
    print(
        f"{options.studies} studies a row, {REPEATS} answers an arm, seed {options.seed}; per cent "
    )
    print(f"with Monte Carlo standard errors\n\n| {COLUMNS} |")
    print("|" + "---|" * (COLUMNS.count("|") + 1))
    for kind, name, cell in cells(options.studies, options.seed):
        print(row(name, cell), flush=True)
        faults += [f"{name}, {cell.vignettes} vignettes: {fault}" for fault in broken(kind, cell)]
        written.append({"kind": kind, "case": name, **asdict(cell)})
    if options.json:
        options.json.write_text(json.dumps(written, indent=1) + "\n")
    print(f"\n{time.process_time() - started:.0f} CPU seconds")
    print("\n".join(["Not held:", *faults]) if faults else "All that is promised is held.")
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main())
