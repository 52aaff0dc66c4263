"""Table 4 of FLEX (Jung et al., 2025): how many rows a set has of each scenario and source."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from askew.build.records import BuiltItem
from askew.prompts.scenarios import detail
from askew.records import AttackCategory, Item, Scenario

# The order of the paper's rows; other bias types and scenarios follow by name.
_PAPER_ROWS: dict[str, tuple[str, ...]] = {
    AttackCategory.PERSONA_INJECTION.value: (
        "age",
        "gender",
        "nationality",
        "race",
        "religion",
        "sexual_orientation",
        "profession",
    ),
    AttackCategory.COMPETING_OBJECTIVES.value: (
        "refusal_suppression",
        "self_cipher",
        "dan",
        "stan",
        "dude",
    ),
    AttackCategory.TEXT_ATTACK.value: ("character", "word", "sentence_v1", "sentence_v2"),
}
_PAPER_SOURCES = ("bbq", "crows_pairs", "stereoset")


@dataclass(frozen=True, slots=True)
class Table4Row:
    """One row of the table as it is printed."""

    category: str  # "" in the row for the whole set
    detail: str  # a bias type (personas), else a scenario; "" in a row of totals
    total: int
    by_source: Mapping[str, int]  # a source that is not in it has none


def table_4(rows: Sequence[BuiltItem]) -> dict[str, Any]:
    """The counts of a built set: all, by category, and by bias type (personas) or scenario.

    Returns:
        `{"all": n, "by_source": {source: n}, "categories": {category: the same, with "details":
        {bias type or scenario: {"all": n, "by_source": …}}}}`, plain values throughout.
    """
    return counted((row.item, row.scenario) for row in rows)


def counted(pairs: Iterable[tuple[Item, Scenario]]) -> dict[str, Any]:
    """The same for items of any set, each with its scenario."""
    counts = Counter(
        (scenario.category.value, detail(scenario, item), item.source) for item, scenario in pairs
    )
    categories: dict[str, dict[str, Counter[str]]] = {
        category.value: {} for category in AttackCategory
    }
    for (category, name, source), number in counts.items():
        categories[category].setdefault(name, Counter())[source] += number
    everything: Counter[str] = Counter()
    table: dict[str, Any] = {}
    for category, details in categories.items():
        total = sum(details.values(), Counter[str]())
        everything += total
        table[category] = _cell(total) | {
            "details": {name: _cell(by_source) for name, by_source in sorted(details.items())}
        }
    return _cell(everything) | {"categories": table}


def printed_rows(table: Mapping[str, Any]) -> list[Table4Row]:
    """The rows of `table_4`, in the paper's order: all, then each category with its total last."""
    rows = [_row("", "", table)]
    for category, in_paper in _PAPER_ROWS.items():
        part = table["categories"].get(category)
        if part is None or not part["all"]:
            continue
        details = part["details"]
        order = [name for name in in_paper if name in details]
        order += sorted(set(details).difference(in_paper))
        rows += [_row(category, name, details[name]) for name in order]
        rows.append(_row(category, "", part))
    return rows


def printed_sources(table: Mapping[str, Any]) -> list[str]:
    """The sources of `table_4`: the paper's in its order, then the others by name."""
    sources = table["by_source"]
    paper = [source for source in _PAPER_SOURCES if source in sources]
    return paper + sorted(set(sources).difference(paper))


def _cell(by_source: Mapping[str, int]) -> dict[str, Any]:
    return {"all": sum(by_source.values()), "by_source": dict(sorted(by_source.items()))}


def _row(category: str, name: str, cell: Mapping[str, Any]) -> Table4Row:
    return Table4Row(category, name, cell["all"], cell["by_source"])
