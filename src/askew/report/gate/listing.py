"""What a gate prints: its rulings, and what a rule can name."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from askew.report.gate.alias import ALIASES, Alias, prefixes
from askew.report.gate.annotations import harmless
from askew.report.gate.figure_list import Entry, Kind, Unit, entries, unit_of
from askew.report.gate.gated_run import GateRun
from askew.report.gate.rule import Outcome
from askew.report.gate.ruling import Ruling, Verdict
from askew.report.gate.wording import interval, read
from askew.report.which_audit import audits_in
from askew.report.words import UNDEFINED
from askew.runfolder import json_text

if TYPE_CHECKING:
    from rich.table import Table
    from rich.text import Text

_MARKS = {
    Outcome.PASS: ("PASS", "green"),
    Outcome.FAIL: ("FAIL", "bold red"),
    Outcome.CANNOT_TELL: ("CANNOT TELL", "bold yellow"),
}


@dataclass(frozen=True, slots=True)
class Listed:
    """One thing that a rule can name.

    Attributes:
        name: the short name; "" where there is none.
        path: the full path.
        kind: figure, count, share, yes or no, word, ...
        meaning: in a few words.
        value: the run's; "–" where undefined; "" where no run is given.
        interval: of the run's figure.
        n: of the run's figure.
    """

    name: str
    path: str
    kind: str
    meaning: str
    value: str = ""
    interval: str = ""
    n: int | None = None


def listing(run: GateRun | None, *, everything: bool = False) -> list[Listed]:
    """The short names, and with `everything` whatever else of the run a rule can name."""
    if run is None:
        return [Listed(one.name, one.full, _kind_of(one), one.meaning) for one in ALIASES]
    held = audits_in(run.estimates)
    found = {entry.path: entry for entry in entries(run.estimates)}
    rows = [_aliased(one, found, run) for one in ALIASES if one.audit in held]
    if everything:
        named = {row.path for row in rows}
        rows += [
            _listed("", entry, "", run)
            for entry in found.values()
            if entry.kind is not Kind.POINT and entry.name not in named
        ]
    return rows


def _kind_of(alias: Alias) -> str:
    if alias.count is not None:
        return Kind.SHARE if alias.share else Kind.COUNT
    if alias.path[-1:] == ("meaningful",):
        return Kind.YES_NO
    if alias.path[-1:] == ("verdict",):
        return Kind.WORD
    return Kind.FIGURE if alias.path else "comparisons"


def _aliased(alias: Alias, found: dict[tuple[str, ...], Entry], run: GateRun) -> Listed:
    if alias.count is not None:
        value = read(alias.count(run.estimates), unit=Unit.SHARE if alias.share else Unit.NONE)
        return Listed(alias.name, alias.full, _kind_of(alias), alias.meaning, value)
    if alias.path in found:
        return _listed(alias.name, found[alias.path], alias.meaning, run)
    value = f"{len(prefixes(alias, run.estimates))} of them" if not alias.path else UNDEFINED
    return Listed(alias.name, alias.full, _kind_of(alias), alias.meaning, value)


def _listed(name: str, entry: Entry, meaning: str, run: GateRun) -> Listed:
    if entry.kind is not Kind.FIGURE:
        value = entry.found if isinstance(entry.found, str | bool | int | float) else None
        return Listed(name, entry.name, entry.kind, meaning, read(value, unit=Unit.NONE))
    figure, unit = entry.estimate(), unit_of(entry, run.estimates)
    return Listed(
        name,
        entry.name,
        entry.kind,
        meaning,
        read(figure.value, unit=unit),
        interval(figure, unit=unit),
        figure.n,
    )


def as_json(rows: Sequence[Listed]) -> str:
    """The list for a program."""
    return json_text(rows)


def lines(rows: Sequence[Listed]) -> Iterator[str]:
    """The list for a terminal: the name and what it stands for, and below it what the run has."""
    for row in rows:
        yield harmless(f"{row.name} = {row.path}" if row.name else row.path)
        number = row.value
        if row.interval:
            number += f", interval {row.interval}, n = {row.n:,}"
        about = "; ".join(part for part in (number, row.meaning) if part)
        yield harmless(f"    {row.kind}: {about}").replace(row.kind, f"    {row.kind}", 1)


def to_table(verdict: Verdict) -> Table:
    """The rulings for a terminal."""
    from rich.table import Table
    from rich.text import Text

    several = len(verdict.models) > 1
    table = Table(box=None, pad_edge=False, header_style="bold")
    for name in ("outcome", *(("run",) if several else ()), "rule", "found", "interval", "n"):
        right = "right" if name in ("found", "n") else "left"
        table.add_column(name, justify=right, overflow="fold")  # type: ignore[arg-type]  # a word
    alike: dict[tuple[str, str], list[str]] = defaultdict(list)
    for one in verdict.rulings:
        alike[one.run, one.rule.text].append(one.path)
    for one in verdict.rulings:
        mark, style = _MARKS[one.outcome]
        if not one.counts and one.outcome is not Outcome.PASS:
            mark, style = "WARN", "yellow"
        rule = _cell(one.rule.text)
        if len(others := alike[one.run, one.rule.text]) > 1:
            rule.append(f"\n  {harmless(_told_apart(one.path, others))}")
        cells = [
            *((_cell(one.run),) if several else ()),
            rule,
            *map(_cell, _numbers(one)),
        ]
        table.add_row(Text(mark, style=style), *cells)
    return table


def _told_apart(path: str, others: Sequence[str]) -> str:
    """Of the path of one figure of a rule on several, what the others do not share.

    >>> _told_apart("flex.a.character.upper", ["flex.a.character.upper", "flex.a.word.upper"])
    'character'
    """
    parts = [one.split(".") for one in others]
    if len({len(one) for one in parts}) > 1:
        return path  # a name may hold dots itself
    shared = [len(set(column)) == 1 for column in zip(*parts, strict=True)]
    own = [part for part, is_shared in zip(path.split("."), shared, strict=True) if not is_shared]
    return ".".join(own) or path


def _numbers(one: Ruling) -> tuple[str, str, str]:
    """What was found, its interval and n, as they are read."""
    figure = one.estimate
    return (
        read(one.found if figure is None else figure.value, unit=one.unit),
        "" if figure is None else interval(figure, unit=one.unit),
        "" if figure is None else f"{figure.n:,}",
    )


def in_words(verdict: Verdict) -> Iterator[str]:
    """A line for each ruling that did not pass: the figure, why, and the reason for the rule."""
    for one in verdict.rulings:
        if one.outcome is not Outcome.PASS:
            why = f" Reason for the rule: {one.rule.why}" if one.rule.why else ""
            yield harmless(f"{one.run}: {one.path}: {one.reason}.{why}")


def _cell(text: str) -> Text:
    """A cell that is shown as it is: neither markup nor a line of its own."""
    from rich.text import Text

    return Text(harmless(text))
