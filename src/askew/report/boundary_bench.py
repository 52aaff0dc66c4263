"""The tables of a bench of policies: what each found, and how it stands against the others."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from askew.records import Estimate
from askew.report.grid import Column, Kind, Row, Table, Value
from askew.search.standings import RANKED, Standing

_CAPTION = (
    "Shares of the leaning topics that were found after so many tests (BNCR), mean over games with "
    "95 % intervals over graphs (of one graph: over models; of one model: over starts). First hit: "
    "tests, as many as were made where none was found. Paid before: tests that a policy makes "
    "before its first."
)


def bench_tables(
    standings: Sequence[Standing], upfront_tests: Mapping[str, float], most: int | None = None
) -> list[Table]:
    """All figures, then the ratios at `RANKED` tests, or the most.

    Args:
        standings: of all policies.
        upfront_tests: policy -> tests paid for before the first, mean a game.
        most: policies in the tables; None: all.
    """
    shown = standings[:most]
    if not shown:
        return []
    budgets = sorted(shown[0].cover_rate)
    return [
        _found(shown, budgets, upfront_tests),
        _beside(shown, RANKED if RANKED in budgets else budgets[-1]),
    ]


def _found(
    standings: Sequence[Standing], budgets: Sequence[int], upfront_tests: Mapping[str, float]
) -> Table:
    columns = (
        Column("Policy"),
        *(Column(f"{at:,} tests", Kind.PERCENT, intervals=at == budgets[-1]) for at in budgets),
        Column("First hit", Kind.TEXT),
        Column("Hit in 30", Kind.PERCENT, intervals=False),
        Column("Paid before", Kind.COUNT),
    )
    rows = []
    for one in standings:
        cells: tuple[Value, ...] = (
            one.policy,
            *(one.cover_rate[at] for at in budgets),
            _plain(one.first_hit),
            one.success,
            round(upfront_tests[one.policy]),
        )
        rows.append(Row(cells))
    return Table("Leaning topics found", columns, tuple(rows), (_CAPTION,))


def _beside(standings: Sequence[Standing], at: int) -> Table:
    rivals = list(dict.fromkeys(rival for one in standings for rival in one.against))
    columns = (Column("Policy"), *(Column(f"÷ {rival}") for rival in rivals))
    rows = [
        Row(
            (
                one.policy,
                *(
                    _times(one.against[rival][at].ratio) if rival in one.against else ""
                    for rival in rivals
                ),
            )
        )
        for one in standings
    ]
    note = "Ratios of the means over the same games, with 95 % intervals."
    return Table(f"Against others, {at:,} tests", columns, tuple(rows), (note,))


def _plain(figure: Estimate) -> str:
    return f"{figure.value:.1f}" if figure.defined else "–"


def _times(figure: Estimate) -> str:
    if not figure.defined:
        return "–"
    if figure.lower != figure.lower:
        return f"{figure.value:.2f}"
    return f"{figure.value:.2f} ({figure.lower:.2f}–{figure.upper:.2f})"
