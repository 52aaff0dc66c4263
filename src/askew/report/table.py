"""The tables that askew prints: those of the FLEX paper, over runs, and one run's own.

They read figures from `estimates.json` as it is parsed, of one run or of several; the only sums
made here are means over runs.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace

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
)
from askew.report.links import pairs_link
from askew.report.settings import differing, setting_texts
from askew.report.terminal import to_rich
from askew.report.words import NOT_MEANINGFUL, counted, label, listed, percent

Figures = Mapping[str, object]  # `estimates.json`, parsed

# The three figures of Tables 1 and 6, with the paper's symbols.
SYMBOLS = {"source_accuracy": "Acc_S", "flex_accuracy": "Acc_F", "attack_success_rate": "ASR"}
NO_LEAN = "0.5"  # of the share of stereotyped choices
BOUND_ENDS = ("all_right", "all_wrong", "least", "most")


def table_1(
    estimates: Sequence[Figures], *, intervals: bool = False, names: Sequence[str] = ()
) -> Table:
    """FLEX's Table 1: one row a run, Acc_S, Acc_F and ASR by attack category and their average.

    Args:
        estimates: `estimates.json` of each run, parsed.
        intervals: whether to show them to people; machines get them anyway.
        names: tell runs of one model apart; by their numbers if left out.
    """
    runs = _runs(estimates, names)
    columns = (Column("Model"), *_paper_columns(intervals))
    rows = []
    for name, run in zip(run_names(runs), runs, strict=True):
        cells = [run.figure(symbol, *where) for where in _table_1_slices() for symbol in SYMBOLS]
        rows.append(_row(run, name, *cells, link=pairs_link()))
    title = "Robustness of fairness by attack category (FLEX, Table 1)"
    return _table(title, columns, rows, runs, _comparison_notes(runs))


def table_6(
    estimates: Sequence[Figures], *, intervals: bool = False, names: Sequence[str] = ()
) -> Table:
    """FLEX's Table 6: the same as Table 1 for each source data set."""
    runs = _runs(estimates, names)
    columns = (Column("Model"), Column("Source"), *_paper_columns(intervals))
    sources = _union(run.names("source") for run in runs)
    rows = []
    for source in sources:
        wheres: list[tuple[str, ...]] = [("source_average", source)]
        wheres[:0] = [("source_category", source, category.value) for category in AttackCategory]
        for name, run in zip(run_names(runs), runs, strict=True):
            cells = [run.figure(symbol, *where) for where in wheres for symbol in SYMBOLS]
            link = pairs_link("source", source)
            rows.append(_row(run, name, label(source), *cells, link=link))
    title = "Robustness of fairness by source data set (FLEX, Table 6)"
    return _table(title, columns, rows, runs, _comparison_notes(runs))


def figure_3(
    estimates: Sequence[Figures], *, intervals: bool = False, names: Sequence[str] = ()
) -> Table:
    """FLEX's Figure 3 as a table: ASR by detailed scenario, and its mean over the runs.

    The mean is over the runs that have the figure and gives each the same weight, as the
    paper's bars do.
    """
    runs = _runs(estimates, names)
    headings = [
        f"{name} {_mark(run)}".rstrip() for name, run in zip(run_names(runs), runs, strict=True)
    ]
    columns = (
        Column("Scenario"),
        Column("Category"),
        *(Column(heading, Kind.DIGITS, "ASR", intervals=intervals) for heading in headings),
        Column("Mean ASR", Kind.DIGITS),
        Column("Runs", Kind.COUNT),
    )
    rows = []
    for category, scenario in _all_scenarios(runs):
        where = ("attack_success_rate", "scenario", category, scenario)
        found = [_noted(run, run.figure(*where)) for run in runs]
        mean, count = _mean(figure.value for figure in found)
        link = pairs_link(*where[1:])
        rows.append(Row((label(scenario), label(category), *found, mean, count), link=link))
    notes = ["Mean ASR: plain mean over the runs in which it is defined; Runs says how many."]
    if any(run.meaningful is False for run in runs):
        notes.append(f"The mean takes in the runs marked {NOT_MEANINGFUL}.")
    title = "Attack success rate by detailed scenario (FLEX, Figure 3)"
    return _table(title, columns, rows, runs, [*notes, *_comparison_notes(runs)])


def figure_4(
    estimates: Sequence[Figures], *, intervals: bool = False, names: Sequence[str] = ()
) -> Table:
    """FLEX's Figure 4 as a table: ASR by the number and the kind of demonstrations.

    ASR is the average over the attack categories, as in Table 1. A run without demonstrations
    starts both of its model's rows. Runs that differ in their seed alone are averaged; those that
    differ in any other setting have rows of their own, with those settings named.
    """
    runs = _runs(estimates, names)
    shots = sorted({_shots(run) for run in runs})
    differences = differing(runs, but=(*_FIGURE_4_AXES, "seed"))
    settings = [Column("Settings")] if differences else []
    columns = (
        Column("Model"),
        *settings,
        Column("Demonstrations"),
        *(Column(f"k = {k}", Kind.DIGITS, intervals=intervals) for k in shots),
    )
    rows, notes = [], ["k: demonstrations shown. ASR is the mean over the three attack categories."]
    for (model, asked), own in _alike(runs, differences).items():
        row_names = [model, asked] if differences else [model]
        kinds = _union([_shot_kind(run)] for run in own if _shots(run)) or ["none"]
        for kind in kinds:
            cells: list[Value] = []
            for k in shots:
                here = [
                    run for run in own if _shots(run) == k and (not k or _shot_kind(run) == kind)
                ]
                cells.append(_cell_of_runs(here))
                if len(here) > 1:
                    where = ", ".join([*row_names, kind, f"k = {k}"])
                    notes.append(f"{where}: {_mean_of(here)}.")
            unfit = [_objection(run) for run in own if run.meaningful is False]
            objection = "; ".join(dict.fromkeys(unfit))
            rows.append(Row((*row_names, kind, *cells), objection))
    notes += _comparison_notes(runs, but=(*_FIGURE_4_AXES, *differences))
    if differences:
        notes.append(f"Not asked alike: see Settings for {listed(list(differences))}.")
    title = "Attack success rate by demonstrations (FLEX, Figure 4)"
    return _table(title, columns, rows, runs, notes)


def run_table(estimates: Figures, name: str = "") -> list[Table]:
    """Everything about one run, one table a question.

    Args:
        estimates: `estimates.json`, parsed.
        name: the run's, for the titles; the model's name alone stands there if it is left out.
    """
    run = Run(name, estimates)
    others = (bias_type_table, scenario_table, direction_table, outcome_table, bounds_table)
    return [robustness_table(run), *(_briefly(table(run)) for table in others)]


def _briefly(table: Table) -> Table:
    """The table without the reason why its model is unfit, which the first table gives."""
    notes = (
        f"{NOT_MEANINGFUL} not fit to be measured, see the first table."
        if note.startswith(NOT_MEANINGFUL)
        else note
        for note in table.notes
    )
    return replace(table, notes=tuple(notes))


def robustness_table(run: Run) -> Table:
    """Acc_S, Acc_F and ASR by attack category, with intervals, coverage and tests."""
    rows = [_robustness_row(run, name, where) for name, where in run.slices("category")]
    average = [run.figure(symbol, "average") for symbol in SYMBOLS]
    n, coverage = average[0].n, average[0].coverage
    rows.append(_row(run, "Mean of categories", *average, None, n, coverage, None))
    return _table(f"{run.title}: does fairness hold?", ROBUSTNESS, rows, [run], _how(run))


def bias_type_table(run: Run) -> Table:
    """The same by bias type."""
    rows = [_robustness_row(run, label(b), ("bias_type", b)) for b in run.names("bias_type")]
    return _table(f"{run.title}: by bias type", ROBUSTNESS, rows, [run], ())


def scenario_table(run: Run) -> Table:
    """The same by detailed scenario."""
    rows = [
        _robustness_row(run, f"{label(category)}: {label(name)}", ("scenario", category, name))
        for category, name in run.scenarios()
    ]
    return _table(f"{run.title}: by detailed scenario", ROBUSTNESS, rows, [run], ())


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
    rows = [
        _row(
            run,
            name,
            run.figure("stereotyped_share_source", *where),
            run.figure("stereotyped_share_attacked", *where),
            run.number("bias_score_source", *where),
            run.number("bias_score_attacked", *where),
            run.number("undirected", *where),
            link=pairs_link(*where),
        )
        for name, where in run.slices("category", "bias_type")
    ]
    notes = [
        f"Stereotyped share: of the answers that chose a group. {NO_LEAN} is no lean; "
        "higher leans to the stereotype, lower against it. Neither high nor low is better.",
        "sAMB: BBQ's bias score on ambiguous items, from −1 to 1; 0 is no lean.",
        "No direction: pairs whose data do not say which option is the stereotype. "
        "These figures lack them; Acc_S, Acc_F and ASR do not need a direction.",
    ]
    return _table(f"{run.title}: which way it leans", columns, rows, [run], notes)


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
        _row(
            run,
            label(outcome.value),
            plain.get(outcome, math.nan),
            _share(outcome, plain),
            attacked.get(outcome, math.nan),
            _share(outcome, attacked),
            link=pairs_link(outcome_attacked=outcome.value),
        )
        for outcome in Outcome
        if plain or attacked
    ]
    names = listed([outcome.value for outcome in Outcome if not outcome.answered])
    notes = [
        "Counted by pair: a plain reply counts once for each of its pairs. Only neutral is right.",
        f"No answer: {names}. {_non_answers(run)}",
    ]
    return _table(f"{run.title}: what the replies came to", columns, rows, [run], notes)


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
        rows.append(_row(run, symbol, run.figure(figure, "overall"), *ends, alone))
    notes = [
        "Least and Most: over every way in which the non-answers could have been answered.",
        "Alone: over all answers in that condition, whether or not the other has one.",
    ]
    return _table(f"{run.title}: what non-answers could change", columns, rows, [run], notes)


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
_FIGURE_4_AXES = ("shots", "shot kind")  # settings by the names that people read
_HAVE_ALONE = ("source_accuracy", "flex_accuracy")


def _runs(estimates: Sequence[Figures], names: Sequence[str]) -> list[Run]:
    names = names or [f"run {number}" for number in range(1, len(estimates) + 1)]
    return [Run(name, figures) for name, figures in zip(names, estimates, strict=True)]


def run_names(runs: Sequence[Run]) -> list[str]:
    """A name for each run: its model, and which run it is where several share the model."""
    models = [run.model for run in runs]
    return [run.model if models.count(run.model) == 1 else run.title for run in runs]


def _robustness_row(run: Run, name: str, where: tuple[str, ...]) -> Row:
    accuracy = run.figure("source_accuracy", *where)
    return _row(
        run,
        name,
        accuracy,
        *(run.figure(figure, *where) for figure in ("flex_accuracy", "attack_success_rate")),
        run.figure("accuracy_change", *where),
        accuracy.n,
        accuracy.coverage,
        run.number("test", *where, "p_holm"),
        link=pairs_link(*where),
    )


def _row(run: Run, *cells: Value, link: str = "") -> Row:
    """A row of one run's figures, which says why they are not meaningful where they are not."""
    noted = [_noted(run, cell) if isinstance(cell, Estimate) else cell for cell in cells]
    return Row(tuple(noted), _objection(run) if run.meaningful is False else "", link)


def _noted(run: Run, figure: Estimate) -> Estimate:
    """The figure, with a note where the model was not fit to be measured."""
    if run.meaningful is not False or not figure.defined:
        return figure
    return replace(figure, note=f"not meaningful: {_objection(run)}")


def _objection(run: Run) -> str:
    return run.reason or "no reason given"


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
        f"{_objection(run)}."
        for name, run in zip(run_names(runs), runs, strict=True)
        if run.meaningful is False
    ]


def _how(run: Run) -> list[str]:
    return [
        "Acc_S: neutral without an attack; Acc_F: neutral under attack; ASR: of the answers that "
        "were neutral at first, the share that the attack turned. With 95 % intervals.",
        "Coverage: pairs answered in both conditions, of all that were planned. "
        f"{_non_answers(run)}",
        "p (Holm): exact McNemar test of the change, an item counted once, corrected for the rows "
        "of its kind.",
        *_missing_notes(run),
    ]


def _missing_notes(run: Run) -> list[str]:
    if not run.missing:
        return []
    planned = counted(run.planned, "planned pair")
    return [f"{run.missing:,} of {planned} lack a reply; the figures know nothing of them."]


def _non_answers(run: Run) -> str:
    if run.setting("non_answers") == "wrong":
        return "Replies without an answer count as wrong."
    return "Replies without an answer are left out of Acc_S, Acc_F and ASR."


def _comparison_notes(runs: Sequence[Run], but: Sequence[str] = ()) -> list[str]:
    """What runs that are set side by side do not have in common; `but` for some settings."""
    names = run_names(runs)
    notes = []
    for setting, values in differing(runs, but=but).items():
        by_value: dict[str, list[str]] = {}
        for name, value in zip(names, values, strict=True):
            by_value.setdefault(value, []).append(name)
        each = "; ".join(f"{value} in {listed(holders)}" for value, holders in by_value.items())
        notes.append(f"Not asked alike: {setting} differs ({each}).")
    for name, run in zip(names, runs, strict=True):
        notes += [f"{name}: {note}" for note in _missing_notes(run)]
        if run.answered < 1:
            share = f"{percent(run.answered)} of {counted(run.asked, 'pair')}"
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
    found = [_noted(run, run.figure("attack_success_rate", "average")) for run in runs]
    if len(found) == 1:
        return found[0]
    mean, count = _mean(figure.value for figure in found)
    nan, method = math.nan, f"mean over {count} runs"
    # The interval of one run's items does not hold for a mean over runs.
    note = "" if count else (found[0].note if found else "no such run")
    return Estimate(mean, nan, nan, count, nan, method, note=note)


def _alike(
    runs: Sequence[Run], differences: Mapping[str, Sequence[str]]
) -> dict[tuple[str, str], list[Run]]:
    """Runs of one model and one set of settings: (model, what sets it apart) -> its runs."""
    groups: dict[tuple[str, str], list[Run]] = {}
    for place, run in enumerate(runs):
        apart = [f"{name} {values[place]}" for name, values in differences.items()]
        groups.setdefault((run.model, ", ".join(apart)), []).append(run)
    return groups


def _mean_of(runs: Sequence[Run]) -> str:
    """What a cell of several runs is a mean of."""
    seeds = _union([setting_texts(run)["seed"]] for run in runs)
    said = f"seed {seeds[0]}" if len(seeds) == 1 else f"seeds {listed(seeds)}"
    having = sum(run.figure("attack_success_rate", "average").defined for run in runs)
    lacking = "" if having == len(runs) else f", of which {having} have the figure"
    return f"mean over {len(runs)} runs ({said}){lacking}"


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
