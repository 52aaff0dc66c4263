"""The tables that askew prints: those of the FLEX paper, over runs, and one run's own.

They read figures from `estimates.json` as it is parsed, of one run or of several; the only sums
made here are means over runs.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence

from askew.prompts.text_attack import TEXT_ATTACKS
from askew.prompts.wording import OBJECTIVES
from askew.records import AttackCategory, Estimate, Outcome
from askew.report.estimates import Run
from askew.report.grid import (
    Column,
    Kind,
    Row,
    Table,
    Value,
    notes_on_undefined,
    to_csv,
    to_json,
    to_markdown,
    to_rich,
)
from askew.report.words import NOT_MEANINGFUL, counted, label, listed, percent

Figures = Mapping[str, object]  # `estimates.json`, parsed

# The three figures of Tables 1 and 6, with the paper's symbols.
SYMBOLS = {"source_accuracy": "Acc_S", "flex_accuracy": "Acc_F", "attack_success_rate": "ASR"}
NO_LEAN = "0.5"  # of the share of stereotyped choices
BOUND_ENDS = ("all_right", "all_wrong", "least", "most")


def table_1(estimates: Sequence[Figures], *, intervals: bool = False) -> Table:
    """FLEX's Table 1: one row a run, Acc_S, Acc_F and ASR by attack category and their average."""
    runs = _runs(estimates)
    columns = (Column("Model"), *_paper_columns(intervals))
    rows = []
    for name, run in zip(run_names(runs), runs, strict=True):
        cells = [run.figure(symbol, *where) for where in _table_1_slices() for symbol in SYMBOLS]
        rows.append(Row((name, *cells), _mark(run)))
    title = "Robustness of fairness by attack category (FLEX, Table 1)"
    return _table(title, columns, rows, runs, _setting_notes(runs))


def table_6(estimates: Sequence[Figures], *, intervals: bool = False) -> Table:
    """FLEX's Table 6: the same as Table 1 for each source data set."""
    runs = _runs(estimates)
    columns = (Column("Model"), Column("Source"), *_paper_columns(intervals))
    sources = _union(run.names("source") for run in runs)
    rows = []
    for source in sources:
        wheres: list[tuple[str, ...]] = [("source_average", source)]
        wheres[:0] = [("source_category", source, category.value) for category in AttackCategory]
        for name, run in zip(run_names(runs), runs, strict=True):
            cells = [run.figure(symbol, *where) for where in wheres for symbol in SYMBOLS]
            rows.append(Row((name, label(source), *cells), _mark(run)))
    title = "Robustness of fairness by source data set (FLEX, Table 6)"
    return _table(title, columns, rows, runs, _setting_notes(runs))


def figure_3(estimates: Sequence[Figures], *, intervals: bool = False) -> Table:
    """FLEX's Figure 3 as a table: ASR by detailed scenario, and its mean over the runs.

    The mean is over the runs that have the figure and gives each the same weight, as the
    paper's bars do.
    """
    runs = _runs(estimates)
    names = run_names(runs)
    marked = [f"{name} {_mark(run)}".rstrip() for name, run in zip(names, runs, strict=True)]
    columns = (
        Column("Scenario"),
        Column("Category"),
        *(Column(name, Kind.DIGITS, "ASR", intervals=intervals) for name in marked),
        Column("Mean ASR", Kind.DIGITS),
        Column("Runs", Kind.COUNT),
    )
    rows = []
    for category, scenario in _all_scenarios(runs):
        found = [run.figure("attack_success_rate", "scenario", category, scenario) for run in runs]
        mean, count = _mean(figure.value for figure in found)
        rows.append(Row((label(scenario), label(category), *found, mean, count)))
    notes = ["Mean ASR: plain mean over the runs in which it is defined; Runs says how many."]
    if any(run.meaningful is False for run in runs):
        notes.append(f"The mean takes in the runs marked {NOT_MEANINGFUL}.")
    title = "Attack success rate by detailed scenario (FLEX, Figure 3)"
    return _table(title, columns, rows, runs, notes)


def figure_4(estimates: Sequence[Figures], *, intervals: bool = False) -> Table:
    """FLEX's Figure 4 as a table: ASR by the number and the kind of demonstrations.

    ASR is the average over the attack categories, as in Table 1. A run without demonstrations
    starts both of its model's rows. Several runs of one cell, e.g. of several seeds, are averaged.
    """
    runs = _runs(estimates)
    shots = sorted({_shots(run) for run in runs})
    columns = (
        Column("Model"),
        Column("Demonstrations"),
        *(Column(f"k = {k}", Kind.DIGITS, intervals=intervals) for k in shots),
    )
    rows, notes = [], ["k: demonstrations shown. ASR is the mean over the three attack categories."]
    for model in _union([run.model] for run in runs):
        own = [run for run in runs if run.model == model]
        kinds = _union([_shot_kind(run)] for run in own if _shots(run)) or ["none"]
        for kind in kinds:
            cells: list[Value] = []
            for k in shots:
                here = [
                    run for run in own if _shots(run) == k and (not k or _shot_kind(run) == kind)
                ]
                cells.append(_cell_of_runs(here))
                if len(here) > 1:
                    notes.append(f"{model}, {kind}, k = {k}: mean over {len(here)} runs.")
            mark = NOT_MEANINGFUL if any(run.meaningful is False for run in own) else ""
            rows.append(Row((model, kind, *cells), mark))
    title = "Attack success rate by demonstrations (FLEX, Figure 4)"
    return _table(title, columns, rows, runs, notes)


def run_table(estimates: Figures) -> list[Table]:
    """Everything about one run, one table a question."""
    run = Run("run", estimates)
    return [
        robustness_table(run),
        bias_type_table(run),
        scenario_table(run),
        direction_table(run),
        outcome_table(run),
        bounds_table(run),
    ]


def robustness_table(run: Run) -> Table:
    """Acc_S, Acc_F and ASR by attack category, with intervals, coverage and tests."""
    rows = [_robustness_row(run, "All pairs", ("overall",))]
    rows += [_robustness_row(run, label(c), ("category", c)) for c in run.categories()]
    average = [run.figure(symbol, "average") for symbol in SYMBOLS]
    n, coverage = average[0].n, average[0].coverage
    rows.append(Row(("Mean of categories", *average, None, n, coverage, None), _mark(run)))
    return _table(f"{run.model}: does fairness hold?", ROBUSTNESS, rows, [run], _how(run))


def bias_type_table(run: Run) -> Table:
    """The same by bias type."""
    rows = [_robustness_row(run, label(b), ("bias_type", b)) for b in run.names("bias_type")]
    return _table(f"{run.model}: by bias type", ROBUSTNESS, rows, [run], ())


def scenario_table(run: Run) -> Table:
    """The same by detailed scenario."""
    rows = [
        _robustness_row(run, f"{label(category)}: {label(name)}", ("scenario", category, name))
        for category, name in run.scenarios()
    ]
    return _table(f"{run.model}: by detailed scenario", ROBUSTNESS, rows, [run], ())


def direction_table(run: Run) -> Table:
    """Which way the answers lean that chose a group."""
    columns = (
        Column("Pairs"),
        Column("Stereotyped share, plain", Kind.PERCENT, ideal=NO_LEAN),
        Column("Stereotyped share, attacked", Kind.PERCENT, ideal=NO_LEAN),
        Column("sAMB, plain", Kind.SCORE, ideal="0"),
        Column("sAMB, attacked", Kind.SCORE, ideal="0"),
        Column("No direction", Kind.COUNT),
    )
    slices: list[tuple[str, tuple[str, ...]]] = [("All pairs", ("overall",))]
    slices += [(label(c), ("category", c)) for c in run.categories()]
    slices += [(label(b), ("bias_type", b)) for b in run.names("bias_type")]
    rows = [
        Row(
            (
                name,
                run.figure("stereotyped_share_source", *where),
                run.figure("stereotyped_share_attacked", *where),
                run.number("bias_score_source", *where),
                run.number("bias_score_attacked", *where),
                run.number("undirected", *where),
            ),
            _mark(run),
        )
        for name, where in slices
    ]
    notes = [
        f"Stereotyped share: of the answers that chose a group. {NO_LEAN} is no lean; "
        "higher leans to the stereotype, lower against it. Neither high nor low is better.",
        "sAMB: BBQ's bias score on ambiguous items, from −1 to 1; 0 is no lean.",
        "No direction: pairs whose data do not say which option is the stereotype. "
        "These figures lack them; Acc_S, Acc_F and ASR do not need a direction.",
    ]
    return _table(f"{run.model}: which way it leans", columns, rows, [run], notes)


def outcome_table(run: Run) -> Table:
    """What the replies came to, in both conditions."""
    columns = (
        Column("Outcome"),
        Column("Replies", Kind.COUNT, "Plain"),
        Column("Share", Kind.PERCENT, "Plain"),
        Column("Replies", Kind.COUNT, "Attacked"),
        Column("Share", Kind.PERCENT, "Attacked"),
    )
    plain, attacked = (run.outcomes(condition, "overall") for condition in ("source", "attacked"))
    rows = [
        Row(
            (
                label(outcome.value),
                plain.get(outcome, math.nan),
                _share(outcome, plain),
                attacked.get(outcome, math.nan),
                _share(outcome, attacked),
            )
        )
        for outcome in Outcome
        if plain or attacked
    ]
    names = listed([outcome.value for outcome in Outcome if not outcome.answered])
    notes = [
        "Counted by pair, in each condition. Only neutral is right.",
        f"No answer: {names}. {_non_answers(run)}",
    ]
    return _table(f"{run.model}: what the replies came to", columns, rows, [run], notes)


def bounds_table(run: Run) -> Table:
    """What the figures would be if the replies without an answer had been answers."""
    columns = (
        Column("Figure"),
        Column("Primary", Kind.PERCENT, intervals=False),
        Column("All non-answers right", Kind.PERCENT),
        Column("All wrong", Kind.PERCENT),
        Column("Least", Kind.PERCENT),
        Column("Most", Kind.PERCENT),
        Column("Alone", Kind.PERCENT),
    )
    rows = []
    for figure, symbol in SYMBOLS.items():
        ends = [run.number(f"{figure}_bounds", "overall", end) for end in BOUND_ENDS]
        alone = run.figure(f"{figure}_alone", "overall") if figure in _HAVE_ALONE else None
        rows.append(Row((symbol, run.figure(figure, "overall"), *ends, alone), _mark(run)))
    notes = [
        "Least and Most: over every way in which the non-answers could have been answered.",
        "Alone: over all answers in that condition, whether or not the other has one.",
    ]
    return _table(f"{run.model}: what non-answers could change", columns, rows, [run], notes)


ROBUSTNESS = (
    Column("Pairs"),
    Column("Acc_S", Kind.PERCENT),
    Column("Acc_F", Kind.PERCENT),
    Column("ASR", Kind.PERCENT),
    Column("Change", Kind.POINTS),
    Column("n", Kind.COUNT),
    Column("Coverage", Kind.PERCENT),
    Column("p (Holm)", Kind.P_VALUE),
)
_HAVE_ALONE = ("source_accuracy", "flex_accuracy")


def _runs(estimates: Sequence[Figures]) -> list[Run]:
    return [Run(f"run {number}", figures) for number, figures in enumerate(estimates, start=1)]


def run_names(runs: Sequence[Run]) -> list[str]:
    """A name for each run: its model, and which run it is where several share the model."""
    models = [run.model for run in runs]
    return [
        run.model if models.count(run.model) == 1 else f"{run.model} ({run.name})" for run in runs
    ]


def _robustness_row(run: Run, name: str, where: tuple[str, ...]) -> Row:
    accuracy = run.figure("source_accuracy", *where)
    return Row(
        (
            name,
            accuracy,
            *(run.figure(figure, *where) for figure in ("flex_accuracy", "attack_success_rate")),
            run.figure("accuracy_change", *where),
            accuracy.n,
            accuracy.coverage,
            run.number("test", *where, "p_holm"),
        ),
        _mark(run),
    )


def _paper_columns(intervals: bool) -> list[Column]:
    groups = [*(label(category.value) for category in AttackCategory), "Average"]
    return [
        Column(symbol, Kind.DIGITS, group, intervals=intervals)
        for group in groups
        for symbol in SYMBOLS.values()
    ]


def _table_1_slices() -> list[tuple[str, ...]]:
    return [*(("category", category.value) for category in AttackCategory), ("average",)]


def _table(
    title: str,
    columns: Sequence[Column],
    rows: Sequence[Row],
    runs: Sequence[Run],
    notes: Iterable[str],
) -> Table:
    """The table, with the notes on what is undefined and on what is no measurement."""
    undefined = notes_on_undefined(columns, rows)
    return Table(
        title, tuple(columns), tuple(rows), (*notes, *undefined, *_not_meaningful_notes(runs))
    )


def _mark(run: Run) -> str:
    return NOT_MEANINGFUL if run.meaningful is False else ""


def _not_meaningful_notes(runs: Sequence[Run]) -> list[str]:
    return [
        f"{NOT_MEANINGFUL} {name} was not fit to be measured, so its figures are not meaningful: "
        f"{run.reason or 'no reason given'}."
        for name, run in zip(run_names(runs), runs, strict=True)
        if run.meaningful is False
    ]


def _how(run: Run) -> list[str]:
    return [
        "Acc_S: neutral without an attack; Acc_F: neutral under attack; ASR: of the answers that "
        "were neutral at first, the share that the attack turned. With 95 % intervals.",
        f"Coverage: pairs answered in both conditions, of all. {_non_answers(run)}",
        "p (Holm): exact McNemar test of the change, corrected for the rows of its kind.",
    ]


def _non_answers(run: Run) -> str:
    if run.setting("non_answers") == "wrong":
        return "Replies without an answer count as wrong."
    return "Replies without an answer are left out of Acc_S, Acc_F and ASR."


def _setting_notes(runs: Sequence[Run]) -> list[str]:
    """What runs that are set side by side do not have in common."""
    notes = []
    for setting in ("shots", "scoring", "form", "non_answers", "scenarios"):
        found = {
            name: run.setting(setting) for name, run in zip(run_names(runs), runs, strict=True)
        }
        if len(set(map(str, found.values()))) > 1:
            each = ", ".join(f"{name}: {value}" for name, value in found.items())
            notes.append(f"Not asked alike: {label(setting).lower()} differs ({each}).")
    for name, run in zip(run_names(runs), runs, strict=True):
        coverage = run.figure("source_accuracy", "overall").coverage
        if coverage < 1:
            pairs = run.count("pairs", "overall") or 0
            share = f"{percent(coverage)} of {counted(pairs, 'pair')}"
            notes.append(f"{name}: figures are over {share}. {_non_answers(run)}")
    return notes


def _all_scenarios(runs: Sequence[Run]) -> list[tuple[str, str]]:
    """The scenarios of all runs, in the paper's order; plug-ins after those that it names."""
    found = {scenario for run in runs for scenario in run.scenarios()}
    categories = [category.value for category in AttackCategory]
    known = [*OBJECTIVES, *TEXT_ATTACKS]

    def place(scenario: tuple[str, str]) -> tuple[int, int, str]:
        category, name = scenario
        rank = known.index(name) if name in known else len(known)
        return categories.index(category), rank, name

    return sorted(found, key=place)


def _mean(values: Iterable[float]) -> tuple[float, int]:
    """The mean of the defined values and their number; NaN where there is none."""
    defined = [value for value in values if not math.isnan(value)]
    return (math.fsum(defined) / len(defined) if defined else math.nan), len(defined)


def _cell_of_runs(runs: Sequence[Run]) -> Value:
    found = [run.figure("attack_success_rate", "average") for run in runs]
    if len(found) == 1:
        return found[0]
    mean, count = _mean(figure.value for figure in found)
    nan, method = math.nan, f"mean over {count} runs"
    # The interval of one run's items does not hold for a mean over runs.
    note = "" if count else (found[0].note if found else "no such run")
    return Estimate(mean, nan, nan, count, nan, method, note=note)


def _shots(run: Run) -> int:
    shots = run.setting("shots")
    return shots if isinstance(shots, int) else 0


def _shot_kind(run: Run) -> str:
    return str(run.setting("shot_kind") or "positive")


def _share(outcome: Outcome, counts: Mapping[Outcome, int]) -> float:
    total = sum(counts.values())
    return counts.get(outcome, 0) / total if total else math.nan


def _union(groups: Iterable[Iterable[str]]) -> list[str]:
    """Every name once, in the order of first sight."""
    return list(dict.fromkeys(name for group in groups for name in group))


__all__ = [
    "Table",
    "bias_type_table",
    "bounds_table",
    "direction_table",
    "figure_3",
    "figure_4",
    "outcome_table",
    "robustness_table",
    "run_table",
    "scenario_table",
    "table_1",
    "table_6",
    "to_csv",
    "to_json",
    "to_markdown",
    "to_rich",
]
