"""Rules on what askew adds to a set: checksums, Parquet, fresh replies, the report."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from itertools import islice
from typing import Any

from askew.build.check_finding import Finding, Hit, finding, row_totals
from askew.build.check_set import FlexSet, QuestionMap, scenario_name
from askew.build.release import CHECKSUMS, changed_files, released_list
from askew.build.statistics import counted
from askew.datasets.flex_built import RANDOM, SELECTED
from askew.datasets.flex_form import TEXT_ATTACKS
from askew.datasets.three_options import QUESTION
from askew.errors import RunError
from askew.records import AttackCategory, Item

_SAME_BY_CHANCE = 5  # rows


def checksums(one: FlexSet) -> list[Finding]:
    """Files that differ from `SHA256SUMS`; said once a build, with its first set."""
    path = one.root / CHECKSUMS
    if not one.built or not path.is_file() or one.name == RANDOM:
        return []
    try:
        changed = changed_files(one.root)
        of = len(path.read_bytes().splitlines())
    except RunError as trouble:
        changed, of = [str(trouble)], 1
    return finding(
        "changed_files",
        "fault",
        f"files differ from {CHECKSUMS}",
        [Hit("", "", what) for what in changed],
        {"": max(of, len(changed))},
        consequence="the set is not what was built.",
        mend="fetch or build it again; if you changed it, say so and hash it anew.",
    )


def unlike_parquet(one: FlexSet) -> list[Finding]:
    """Rows that CSV and Parquet do not give alike, cell by cell."""
    if one.parquet is None:
        return []
    there: dict[str, list[Mapping[str, Any]]] = {}
    for record in one.parquet:
        there.setdefault(_cell(record.get("item_id")), []).append(record)
    hits = []
    for sheet in one.sheets:
        for row in sheet.rows:
            same = there.get(_cell(row.fields.get("item_id")))
            if not same:
                hits.append(Hit(sheet.name, row.number, "is not in the Parquet file"))
            elif differing := _differing(row.fields, same.pop(0)):
                hits.append(Hit(sheet.name, row.number, f"in {', '.join(differing)}"))
    hits += [Hit("", name, "is not in the CSV files") for name, left in there.items() for _ in left]
    return finding(
        "csv_unlike_parquet",
        "fault",
        "rows differ between the CSV files and the Parquet file",
        hits,
        row_totals(one),
        consequence="who loads the set here and who loads it there have different rows.",
        mend="build the set again.",
    )


def map_unlike_rows(one: FlexSet) -> list[Finding]:
    """Changed questions that the maps, which other readers use, give otherwise than the rows."""
    if not one.built:
        return []
    hits = [
        Hit(sheet.name, row.number, trouble)
        for sheet in one.sheets
        for row in sheet.rows
        if sheet.maps is not None and row.item is not None
        for trouble in islice(_unlike_maps(row.number, row.item, sheet.maps), 1)
    ]
    return finding(
        "map_unlike_row",
        "fault",
        "rows have other changed questions than the maps beside them",
        hits,
        row_totals(one),
        consequence="askew asks the one, a reader of the release's form the other or none.",
        mend="build the set again.",
    )


def number_unlike_scenario(one: FlexSet) -> list[Finding]:
    """Rows whose `attack_type` points to another scenario than `scenario` names."""
    hits = []
    for sheet in one.sheets:
        for row in sheet.rows:
            assigned = row.item.assigned if one.built and row.item is not None else None
            if assigned is None or assigned.name is None or row.item is None:
                continue
            names = released_list(assigned.category, row.item.bias_type)
            place = names.index(assigned.name) if assigned.name in names else None
            if assigned.index != place and (place is not None or assigned.index < len(names)):
                what = f"attack_type {assigned.index}, scenario {assigned.name!r}"
                hits.append(Hit(sheet.name, row.number, what))
    return finding(
        "attack_type_unlike_scenario",
        "fault",
        "rows number another scenario than they name",
        hits,
        row_totals(one),
        consequence="askew asks the one, a reader of the release's form the other.",
        mend="build the set again.",
    )


def no_instruction(one: FlexSet) -> list[Finding]:
    """Rows with a scenario that speaks, and nothing said."""
    hits = [
        Hit(sheet.name, row.number)
        for sheet in one.sheets
        for row in sheet.rows
        if one.built
        and row.category not in (None, AttackCategory.TEXT_ATTACK)
        and not row.text("instruction")
    ]
    return finding(
        "no_instruction",
        "fault",
        "rows with a persona or an objective have no instruction",
        hits,
        row_totals(one),
        consequence="what the model was asked when the scenario was selected cannot be told.",
        mend="build the set again.",
    )


def no_baseline(one: FlexSet) -> list[Finding]:
    """A build without its random baseline."""
    if one.name != SELECTED or not one.build or one.other is not None:
        return []
    return finding(
        "no_baseline",
        "caution",
        "random baselines are missing",
        [Hit("", "")],
        {"": 1},
        consequence="how much selecting adds cannot be told, and the data card names a file that "
        "is not there.",
        mend="take `random` and `data/random.parquet` along, or build the set again.",
    )


def other_items(one: FlexSet) -> list[Finding]:
    """A random baseline of other items than the selected set."""
    if one.name != SELECTED or one.other is None:
        return []
    hits = [
        Hit(sheet.name, row.number)
        for sheet in one.sheets
        for row in sheet.rows
        if row.text("item_id") not in one.other
    ]
    return finding(
        "not_in_the_baseline",
        "caution",
        "rows have no twin in the random baseline",
        hits,
        row_totals(one),
        consequence="selected minus random then compares different items.",
        mend="compare the items that both sets have.",
    )


def same_as_baseline(one: FlexSet) -> list[Finding]:
    """A random baseline that is the selected set over again."""
    if one.name != SELECTED or one.other is None:
        return []
    rows = [(sheet.name, row) for sheet in one.sheets for row in sheet.rows]
    hits = [
        Hit(source, row.number)
        for source, row in rows
        if one.other.get(row.text("item_id")) == scenario_name(row)
    ]
    # Some rows draw by chance what was selected; that all of many do is no chance.
    if len(hits) < max(_SAME_BY_CHANCE, len(rows)):
        return []
    return finding(
        "same_as_the_baseline",
        "caution",
        "rows have the same scenario in the random baseline",
        hits,
        row_totals(one),
        consequence="selected minus random compares the set with itself.",
        mend="see whether one folder was copied over the other; with a single scenario to choose "
        "from there is no random baseline.",
    )


def unlike_report(one: FlexSet) -> list[Finding]:
    """Rows that `build.json` counts otherwise in its Table 4, which the data card prints."""
    tables = one.build.get("table_4")
    stated = tables.get(one.name) if isinstance(tables, Mapping) else None
    if not isinstance(stated, Mapping):
        return []
    pairs = [
        (row.item, row.scenario)
        for sheet in one.sheets
        for row in sheet.rows
        if row.item is not None and row.scenario is not None
    ]
    there = counted(pairs)
    what = f"build.json has {stated.get('all')} rows, the files {there['all']}"
    if stated.get("all") == there["all"]:
        what = f"{what}, of other sources or scenarios"
    return finding(
        "rows_unlike_report",
        "fault",
        "tables of the data card count other rows than the files hold",
        [] if stated == there else [Hit("", "", what)],
        {"": 1},
        consequence="the figures of the card and of build.json are not those of these rows.",
        mend="fetch or build the set again.",
    )


def unfinished(one: FlexSet) -> list[Finding]:
    """What `build.json` says against the set."""
    if one.name != SELECTED or not one.build:
        return []
    hits = []
    if one.build.get("complete") is False:
        hits.append(Hit("", "", "the build has not ended"))
    fit = one.build.get("fit")
    if isinstance(fit, Mapping) and fit.get("meaningful") is False:
        hits.append(Hit("", "", f"selected on a model not fit to be measured: {fit.get('reason')}"))
    cautions = one.build.get("cautions")
    hits += [Hit("", "", str(text)) for text in (cautions if isinstance(cautions, list) else [])]
    return finding(
        "build_says",
        "caution",
        "reservations stand in build.json",
        hits,
        {"": len(hits)},
        consequence="what was selected may be noise.",
        mend="let the build end, or build on a model that passes the controls.",
    )


def _differing(row: Mapping[str, Any], other: Mapping[str, Any]) -> list[str]:
    """The columns in which a row of a CSV and one of the Parquet file differ.

    A CSV leaves out columns of the release that its source does not have. Columns that somebody
    has added to one of the two are not compared.
    """
    left_out = {"ctx": "", "context": "", "q_text": QUESTION}
    return [
        name
        for name, value in other.items()
        if (name in row or name in left_out)
        and _cell(row.get(name, left_out.get(name)), value) != _cell(value, value)
    ]


def _cell(value: object, like: object = "") -> str:
    """A cell as text; where it is `like` a number, as the readers take numbers: 7.0 is 7."""
    text = "" if value is None else str(value)
    return text if isinstance(like, str) else text.removesuffix(".0")


def _unlike_maps(number: str, item: Item, maps: Mapping[str, QuestionMap]) -> Iterator[str]:
    for kind, name in TEXT_ATTACKS.items():
        said = item.text_attacks.get(kind)
        there = maps[kind].questions.get(number) if kind in maps else None
        if (said or "").strip() != (there or "").strip():
            yield f"{name}: {there or 'has none'}"
