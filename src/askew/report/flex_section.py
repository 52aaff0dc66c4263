"""The FLEX part of a report: what its template needs, and how it was measured."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby

from askew.records import Estimate, Outcome
from askew.report.estimates import Run
from askew.report.evidence import Side, Turned
from askew.report.figure import Dots, Picture, dots, outcome_bars, slope
from askew.report.html_page import html_bytes
from askew.report.links import pairs_link
from askew.report.section_rows import named_values, untitled
from askew.report.summary import findings, sentence, warnings
from askew.report.table import (
    bias_type_table,
    bounds_table,
    direction_table,
    figure_3,
    figure_4,
    outcome_table,
    robustness_table,
    scenario_table,
    table_1,
    table_6,
)
from askew.report.words import (
    counted,
    label,
    percent,
    percent_range,
    points,
    points_range,
    share_with_interval,
)

EXAMPLES = 12  # turned pairs that stand on the page itself; the others are the explorer's
EVIDENCE_BYTES = 400_000
PAIR_BYTES = 2_500  # what a pair takes besides its texts
MOST_ROWS = 30  # rows of one picture; the tables hold all


@dataclass(frozen=True, slots=True)
class Headline:
    """One large number at the top: what it is, its value, its interval, what it says."""

    name: str
    symbol: str
    value: str
    interval: str
    meaning: str
    link: str = ""  # to the items behind it; "" for nowhere


def flex_section(run: Run, pairs: Sequence[Turned], turned: int) -> Mapping[str, object]:
    """What `flex_section.html.j2` shows of a run.

    Args:
        run: the figures.
        pairs: turned pairs, in the order in which to show them; those that do not fit are left out.
        turned: how many turned pairs there are in all.
    """
    shown = _fitting(pairs)
    figures, names = [run.estimates], [run.name]
    return {
        "run": run,
        "sentence": sentence(run.estimates, run.name),
        "findings": findings(run.estimates),
        "warnings": warnings(run.estimates),
        "gate": run.figure("fit", "accuracy"),
        "between_groups": run.figure("fit", "right_of_the_two_groups"),
        "headlines": _headlines(run, turned),
        "slopes": _slopes(run),
        "scenarios": _scenario_pictures(run),
        "bias_types": _bias_type_picture(run),
        "direction": _direction_picture(run),
        "outcomes": _outcome_picture(run),
        "outcome_names": [outcome for outcome in Outcome if outcome.answered],
        "shots": _shots(run),
        "robustness_table": untitled(run.title, robustness_table(run)),
        "scenario_table": untitled(run.title, scenario_table(run)),
        "bias_type_table": untitled(run.title, bias_type_table(run)),
        "direction_table": untitled(run.title, direction_table(run)),
        "outcome_table": untitled(run.title, outcome_table(run)),
        "bounds_table": untitled(run.title, bounds_table(run)),
        "paper_tables": [
            make(figures, intervals=True, names=names)
            for make in (table_1, table_6, figure_3, figure_4)
        ],
        "groups": _by_category(shown),
        "shown": len(shown),
        "turned": turned,
        # A run that counts no answer as wrong has flagged such pairs too.
        "turned_link": pairs_link(flagged="yes", answered="yes"),
        "left_out": named_values(run.part("left_out")),
        "problems": named_values(run.part("problems")),
    }


def flex_method(run: Run) -> list[str]:
    """How it was measured, in sentences; what the file does not say is not said here either."""
    asked = {
        "letters": "The likeliest option letter was taken as the answer.",
        "texts": "The likeliest option text was taken as the answer.",
        "reply": "The model wrote a reply, and the option was read from it by fixed rules.",
    }
    return [
        "Robustness of fairness was measured with FLEX (Jung et al., Findings of NAACL 2025). "
        "Every item was put to the model twice: plainly, and with a scenario that pushes. Only "
        "the neutral option is right, as the context does not give the answer. Before each "
        f"question came {_demonstrations(run)}.",
        asked.get(str(run.setting("scoring")), ""),
        f"Intervals are 95 %{_methods(run)}. Changes are tested with McNemar's exact test, in "
        "which an item counts once however often it was asked, and p values are corrected by "
        "Holm's method for all rows of one kind.",
    ]


def _demonstrations(run: Run) -> str:
    shots = run.setting("shots")
    return f"{shots} {run.setting('shot_kind')} demonstrations" if shots else "no demonstrations"


def _shots(run: Run) -> str:
    """What this run says of demonstrations: one number of them is no curve."""
    average = run.figure("attack_success_rate", "average")
    return (
        f"In this run {_demonstrations(run)} came before each question, and the mean attack "
        f"success rate of the categories is {share_with_interval(average)}. How it moves with "
        "their number takes several runs."
    )


def _headlines(run: Run, turned: int) -> list[Headline]:
    change = run.figure("accuracy_change", "overall")
    success = run.figure("attack_success_rate", "overall")
    lacking = f"; {run.missing:,} lack a reply" if run.missing else ""
    return [
        _share(run, "Neutral when asked plainly", "Acc_S", "source_accuracy"),
        _share(run, "Neutral under attack", "Acc_F", "flex_accuracy"),
        Headline(
            "Change",
            "Acc_F − Acc_S",
            f"{points(change.value)} points" if change.defined else "–",
            points_range(change.lower, change.upper) if change.defined else "",
            change.note or "same items, with and without the attack",
        ),
        Headline(
            "Turned by the attack",
            "ASR",
            percent(success.value),
            percent_range(success.lower, success.upper) if success.defined else "",
            success.note or f"of {counted(success.n, 'answer')} that were neutral at first",
            pairs_link(flagged="yes") if turned and success.defined else "",
        ),
        Headline(
            "Coverage",
            "",
            percent(run.coverage),
            "",
            f"of {counted(run.planned, 'pair')} answered in both conditions{lacking}",
        ),
    ]


def _share(run: Run, name: str, symbol: str, figure: str) -> Headline:
    found = run.figure(figure, "overall")
    interval = percent_range(found.lower, found.upper) if found.defined else ""
    return Headline(
        name,
        symbol,
        percent(found.value),
        interval,
        found.note or f"of {counted(found.n, 'pair')}",
    )


def _slopes(run: Run) -> list[Picture]:
    return [
        Picture(
            name,
            slope(
                f"slope-{number}",
                f"{name}: share of neutral answers",
                run.figure("source_accuracy", *where),
                run.figure("flex_accuracy", *where),
                pairs_link(*where),
            ),
            f"flex-slope-{number}",
        )
        for number, (name, where) in enumerate(run.slices("category"))
    ]


def _scenario_pictures(run: Run) -> list[Picture]:
    pictures = []
    for number, category in enumerate(run.categories()):
        found = [
            _turned_dots(run, label(name), "scenario", category, name)
            for c, name in run.scenarios()
            if c == category
        ]
        title = f"Attack success rate by scenario: {label(category)}"
        svg = dots(f"scenario-{number}", title, _worst_first(found))
        pictures.append(Picture(label(category), svg, f"flex-scenarios-{number}"))
    return pictures


def _bias_type_picture(run: Run) -> Picture:
    found = [_turned_dots(run, label(name), "bias_type", name) for name in run.names("bias_type")]
    svg = dots("bias-types", "Attack success rate by bias type", _worst_first(found))
    return Picture(
        "Share of neutral answers that the attack turned, by bias type", svg, "flex-bias-types"
    )


def _turned_dots(run: Run, name: str, *where: str) -> Dots:
    """One row of attack success rates; it leads to the pairs that were turned."""
    figure = run.figure("attack_success_rate", *where)
    return Dots(name, (figure,), pairs_link(*where, flagged="yes"))


def _direction_picture(run: Run) -> Picture:
    rows = [
        Dots(
            name,
            (
                run.figure("stereotyped_share_source", *where),
                run.figure("stereotyped_share_attacked", *where),
            ),
            pairs_link(*where),
        )
        for name, where in run.slices("bias_type")
    ]
    title = "Share that went with the stereotype (ideal 50 %)"
    svg = dots("direction", title, rows[:MOST_ROWS], ideal=0.5)
    return Picture(title, svg, "flex-direction")


def _outcome_picture(run: Run) -> Picture:
    rows = [
        ("All pairs, plain", run.outcomes("source", "overall")),
        ("All pairs, attacked", run.outcomes("attacked", "overall")),
        *(
            (f"{label(category)}, attacked", run.outcomes("attacked", "category", category))
            for category in run.categories()
        ),
    ]
    links = [pairs_link(), pairs_link()]
    links += [pairs_link("category", category) for category in run.categories()]
    svg = outcome_bars("outcomes", "What the replies came to", rows, links)
    return Picture("By condition and attack category", svg, "flex-outcomes")


def _worst_first(rows: Sequence[Dots]) -> list[Dots]:
    """By falling figure, the undefined ones last."""

    def place(row: Dots) -> tuple[bool, float]:
        figure: Estimate = row.figures[-1]
        return not figure.defined, -figure.value if figure.defined else 0.0

    return sorted(rows, key=place)[:MOST_ROWS]


def _fitting(pairs: Sequence[Turned]) -> list[Turned]:
    """The pairs whose texts leave the page small enough; each category keeps its worst."""
    room, kept = EVIDENCE_BYTES, set[int]()
    by_category = [list(group) for _, group in groupby(pairs, lambda pair: pair.scenario.category)]
    ranked = sorted(
        ((rank, id(pair), pair) for group in by_category for rank, pair in enumerate(group)),
        key=lambda entry: entry[0],
    )
    for _, number, pair in ranked:
        room -= PAIR_BYTES + _size(pair.source) + _size(pair.attacked)
        if room < 0:
            break
        kept.add(number)
    return [pair for pair in pairs if id(pair) in kept]


def _size(side: Side) -> int:
    texts = [side.reply, side.chosen, *(said for _, said in side.prompt)]
    texts += [choice for choice, _ in side.choices]
    return sum(html_bytes(text) for text in texts)


def _by_category(pairs: Sequence[Turned]) -> list[tuple[str, list[Turned]]]:
    groups = groupby(pairs, lambda pair: pair.scenario.category.value)
    return [(label(category), list(members)) for category, members in groups]


def _methods(run: Run) -> str:
    """How the intervals over all pairs were made; the file says it of every figure."""
    figures = {
        "Acc_S": "source_accuracy",
        "Acc_F": "flex_accuracy",
        "ASR": "attack_success_rate",
        "the change": "accuracy_change",
    }
    said = [
        f"{name} by {method}"
        for name, figure in figures.items()
        if (method := run.figure(figure, "overall").method)
    ]
    return f" (over all pairs: {'; '.join(said)})" if said else ""
