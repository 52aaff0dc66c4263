"""`report.html`: one run as one page that needs nothing else, not even a network.

Everything in it comes from the run folder. Text of data and models is shown as text: the template
escapes on its own, `finalize` takes out what HTML forbids, and the page's own policy lets no script
run and nothing be loaded.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby
from pathlib import Path

from askew.records import Estimate, Outcome
from askew.report.estimates import Run
from askew.report.evidence import Side, Turned, turned_pairs
from askew.report.figure import Dots, dots, outcome_bars, slope
from askew.report.html_page import POLICY, html_bytes, styles, template
from askew.report.settings import value_text
from askew.report.summary import findings, sentence, warnings
from askew.report.table import (
    bias_type_table,
    bounds_table,
    direction_table,
    outcome_table,
    robustness_table,
    scenario_table,
)
from askew.report.words import (
    UNDEFINED,
    counted,
    label,
    percent,
    percent_range,
    points,
    points_range,
)
from askew.runfolder import RunFolder, write_whole

# The whole page has to stay below 2 MB; tables and pictures take a fifth of that at most.
EVIDENCE_BYTES = 1_400_000
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


@dataclass(frozen=True, slots=True)
class Picture:
    """An SVG, safe to be put in as it is, under its caption."""

    caption: str
    svg: str


def write_page(folder: RunFolder) -> Path:
    """Write the report of a run and return its path.

    Raises:
        RunError: the run has no figures yet.
    """
    run = Run(folder.path.resolve().name, folder.read_estimates())
    settings = folder.settings
    configuration = (
        settings.read_text(encoding="utf-8", errors="replace") if settings.is_file() else ""
    )
    pairs, turned = turned_pairs(folder)
    write_whole(folder.report, page(run, pairs, turned, configuration))
    return folder.report


def page(run: Run, pairs: Sequence[Turned], turned: int, configuration: str = "") -> str:
    """The whole page as HTML.

    Args:
        run: the figures.
        pairs: turned pairs, in the order in which to show them; those that do not fit are left out.
        turned: how many turned pairs there are in all.
        configuration: the text of `run.toml`.
    """
    shown = _fitting(pairs)
    html: str = template("page.html.j2").render(
        run=run,
        policy=POLICY,
        style=styles("page.css"),
        sentence=sentence(run.estimates, run.name),
        findings=findings(run.estimates),
        warnings=warnings(run.estimates),
        gate=run.figure("fit", "accuracy"),
        between_groups=run.figure("fit", "right_of_the_two_groups"),
        headlines=_headlines(run),
        slopes=_slopes(run),
        scenarios=_scenario_pictures(run),
        bias_types=_bias_type_picture(run),
        direction=_direction_picture(run),
        outcomes=_outcome_picture(run),
        outcome_names=[outcome for outcome in Outcome if outcome.answered],
        robustness_table=robustness_table(run),
        scenario_table=scenario_table(run),
        bias_type_table=bias_type_table(run),
        direction_table=direction_table(run),
        outcome_table=outcome_table(run),
        bounds_table=bounds_table(run),
        groups=_by_category(shown),
        shown=len(shown),
        turned=turned,
        method=_method(run),
        settings=_rows(run.part("settings")),
        calls=_rows(run.top("calls")),
        left_out=_rows(run.part("left_out")),
        problems=_rows(run.part("problems")),
        configuration=configuration,
    )
    return html


def _headlines(run: Run) -> list[Headline]:
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
            ),
        )
        for number, (name, where) in enumerate(run.slices("category"))
    ]


def _scenario_pictures(run: Run) -> list[Picture]:
    pictures = []
    for number, category in enumerate(run.categories()):
        found = [
            Dots(label(name), (run.figure("attack_success_rate", "scenario", category, name),))
            for c, name in run.scenarios()
            if c == category
        ]
        title = f"Attack success rate by scenario: {label(category)}"
        svg = dots(f"scenario-{number}", title, _worst_first(found))
        pictures.append(Picture(label(category), svg))
    return pictures


def _bias_type_picture(run: Run) -> Picture:
    found = [
        Dots(label(name), (run.figure("attack_success_rate", "bias_type", name),))
        for name in run.names("bias_type")
    ]
    svg = dots("bias-types", "Attack success rate by bias type", _worst_first(found))
    return Picture("Share of neutral answers that the attack turned, by bias type", svg)


def _direction_picture(run: Run) -> Picture:
    rows = [
        Dots(
            name,
            (
                run.figure("stereotyped_share_source", *where),
                run.figure("stereotyped_share_attacked", *where),
            ),
        )
        for name, where in run.slices("bias_type")
    ]
    title = "Share that went with the stereotype (ideal 50 %)"
    return Picture(title, dots("direction", title, rows[:MOST_ROWS], ideal=0.5))


def _outcome_picture(run: Run) -> Picture:
    rows = [
        ("All pairs, plain", run.outcomes("source", "overall")),
        ("All pairs, attacked", run.outcomes("attacked", "overall")),
        *(
            (f"{label(category)}, attacked", run.outcomes("attacked", "category", category))
            for category in run.categories()
        ),
    ]
    svg = outcome_bars("outcomes", "What the replies came to", rows)
    return Picture("By condition and attack category", svg)


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


def _rows(part: Mapping[str, object]) -> list[tuple[str, str]]:
    """Names and values for a table of two columns."""
    return [
        (label(name), UNDEFINED if value is None else value_text(value))
        for name, value in part.items()
    ]


def _method(run: Run) -> list[str]:
    """How it was measured, in sentences; what the file does not say is not said here either."""
    asked = {
        "letters": "The likeliest option letter was taken as the answer.",
        "texts": "The likeliest option text was taken as the answer.",
        "reply": "The model wrote a reply, and the option was read from it by fixed rules.",
    }
    shots = run.setting("shots")
    shown = f"{shots} {run.setting('shot_kind')} demonstrations" if shots else "no demonstrations"
    seed = run.estimates.get("seed")
    return [
        "Every item was put to the model twice: plainly, and with a scenario that pushes. Only "
        "the neutral option is right, as the context does not give the answer. Before each "
        f"question came {shown}.",
        asked.get(str(run.setting("scoring")), ""),
        f"Intervals are 95 %{_methods(run)}. Changes are tested with McNemar's exact test, in "
        "which an item counts once however often it was asked, and p values are corrected by "
        "Holm's method for all rows of one kind.",
        f"Everything random follows from seed {seed}." if seed is not None else "",
        _cost(run.top("calls")),
    ]


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


def _cost(calls: Mapping[str, object]) -> str:
    asked = calls.get("asked")
    if not isinstance(asked, int):
        return ""
    reused, money = calls.get("reused"), calls.get("money")
    again = f", and {reused:,} replies were taken from earlier runs" if reused else ""
    if isinstance(money, int | float):
        price = f"They cost {money:,.4f} {calls.get('currency') or ''}".rstrip()
    else:
        price = "No price is known for this model, so no cost is given"
    return f"{counted(asked, 'call')} asked the model{again}. {price}."
