"""What `askew flex check` looks at: a set in FLEX's form as its files are, faults and all."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, ParamSpec, TypeVar

from askew.datasets import DataSpec, fields
from askew.datasets.base import BadRecord, Problem, Report
from askew.datasets.collect import Items
from askew.datasets.files import File, Record, csv_rows, json_document, read_file
from askew.datasets.flex import read_demonstrations, read_rows, source_of
from askew.datasets.flex_built import (
    RANDOM,
    SELECTED,
    find_built,
    is_parquet,
    parquet_records,
    read_built,
)
from askew.datasets.flex_form import (
    ATTACK_COLUMNS,
    COLUMNS,
    INDEX,
    OPTIONS,
    SOURCES,
    TEXT_ATTACKS,
    Source,
)
from askew.datasets.locate import find_file, not_found, root_of
from askew.datasets.phrases import is_unknown_phrase
from askew.errors import DataError
from askew.prompts.scenarios import scenario_of
from askew.records import AttackCategory, Item, Scenario

SETS = (SELECTED, RANDOM)
_Read = TypeVar("_Read")
_Of = ParamSpec("_Of")


@dataclass(frozen=True, slots=True)
class Row:
    """One row as it stands, with the item and the scenario that can be read from it."""

    number: str  # `Unnamed: 0`
    fields: Mapping[str, Any]
    item: Item | None = None  # None: the reader refuses the row
    scenario: Scenario | None = None  # None: the row has none, or one that no list holds

    def text(self, name: str) -> str:
        """A field without blanks around it; "" where it is not there."""
        value = self.fields.get(name)
        return "" if value is None else str(value).strip()

    @property
    def unknown_option(self) -> int | None:
        """The place of the one option that is a known unknown phrase; None where not one is."""
        found = [
            place
            for place, name in enumerate(OPTIONS)
            if is_unknown_phrase(self.text(name), self.text("language") or "en")
        ]
        return found[0] if len(found) == 1 else None

    @property
    def category(self) -> AttackCategory | None:
        """The category that the row is assigned, whether or not its place in the list exists."""
        if self.item is None or self.item.assigned is None:
            return None
        return self.item.assigned.category

    @property
    def changed_question(self) -> str | None:
        """What a row with a text attack asks; None for any other, and where it is missing."""
        if (
            self.item is None
            or self.scenario is None
            or self.scenario.category is not AttackCategory.TEXT_ATTACK
        ):
            return None
        return self.item.text_attacks.get(self.scenario.name)


@dataclass(frozen=True, slots=True)
class QuestionMap:
    """One JSON map of changed questions."""

    kind: str
    sha256: str
    questions: Mapping[str, str]  # row number -> question
    trouble: str = ""  # why it cannot be read


@dataclass(frozen=True, slots=True)
class Sheet:
    """One source of a set."""

    name: str  # "bbq", "crows", "stereoset"; in a built set, the source's own name
    path: Path
    sha256: str
    header: tuple[str, ...]
    rows: tuple[Row, ...]
    lost: int = 0  # records of the file that are no rows: cut off, or not UTF-8
    problems: tuple[Problem, ...] = ()  # of reading the file
    missing_columns: tuple[str, ...] = ()
    # By kind, only those there; None: the file is Parquet, beside which there are none.
    maps: Mapping[str, QuestionMap] | None = field(default_factory=dict)
    fewshot: tuple[Row, ...] = ()


@dataclass(frozen=True, slots=True)
class Unreadable:
    """A file that cannot be read at all."""

    source: str  # whose it is; "" where it is not one source's
    why: str


@dataclass(frozen=True, slots=True)
class FlexSet:
    """A set in FLEX's form."""

    name: str  # "selected" or "random" of a build, "" for any other
    root: Path  # what was named
    sheets: tuple[Sheet, ...]
    built: bool  # askew's own columns are there
    unreadable: tuple[Unreadable, ...] = ()
    build: Mapping[str, Any] = field(default_factory=dict)  # build.json of a build's folder
    parquet: tuple[Mapping[str, Any], ...] | None = None  # the set's rows there; None: not there
    # Item -> scenario in the build's other set; None: there is no other set.
    other: Mapping[str, str] | None = None


def read_sets(path: Path | None) -> list[FlexSet]:
    """The sets below a path: both of a build, or the one that is there.

    A file that cannot be read is written down in its set, and the others are read all the same.

    Args:
        path: a build's folder, the folder of a set, one of its files, the release or a clone of
            it; None: what `askew data get flex` has fetched.

    Raises:
        DataError: there is no set in FLEX's form.
        MissingDependency: it is Parquet, and pyarrow is not installed.
    """
    spec = DataSpec("flex", path)
    root = root_of(spec)
    of_build = _files_of_build(root)
    if of_build:
        return _build(root, of_build)
    unreadable: list[Unreadable] = []
    found = find_built(root)
    if found:
        sheets = _built_sheets(found, unreadable)
        return [FlexSet("", root, sheets, built=True, unreadable=tuple(unreadable))]
    sheets = _released_sheets(root, unreadable)
    if sheets or unreadable:
        return [FlexSet("", root, sheets, built=False, unreadable=tuple(unreadable))]
    if path is None:
        raise not_found(spec, " or ".join(source.csv for source in SOURCES.values()))
    raise DataError(
        f"{root}: holds no set in FLEX's form. Name a folder that `askew flex build` wrote, or "
        "one with FLEX_bbq.csv, FLEX_crows.csv or FLEX_stereoset.csv (a clone of the release)."
    )


def _attempt(
    source: str,
    unreadable: list[Unreadable],
    read: Callable[_Of, _Read],
    *of: _Of.args,
    **named: _Of.kwargs,
) -> _Read | None:
    """What `read` gives; None, and a line in `unreadable`, where its file cannot be read."""
    try:
        return read(*of, **named)
    except DataError as trouble:
        unreadable.append(Unreadable(source, str(trouble)))
        return None


def _files_of_build(root: Path) -> dict[str, tuple[Path, ...]]:
    """Set -> its files, CSVs or else the Parquet file; empty where the folder is no build's."""
    files = {}
    for name in SETS:
        parquet = root / "data" / f"{name}.parquet"
        csvs = find_built(root / name) if (root / name).is_dir() else ()
        if csvs or parquet.is_file():
            files[name] = csvs or (parquet,)
    return files


def _build(root: Path, files: Mapping[str, tuple[Path, ...]]) -> list[FlexSet]:
    """The sets of a build's folder, each beside its Parquet file and the other set."""
    of_build: list[Unreadable] = []
    report = _attempt("", of_build, _build_report, root) or {}
    sets: list[FlexSet] = []
    for name, paths in files.items():
        unreadable = of_build if not sets else []
        sheets = _built_sheets(paths, unreadable)
        parquet = root / "data" / f"{name}.parquet"
        rows = None
        # Parquet alone is read above, and has nothing to be compared to.
        if parquet not in paths and parquet.is_file():
            rows = _attempt("", unreadable, _parquet_rows, parquet)
        sets.append(
            FlexSet(
                name,
                root,
                sheets,
                built=True,
                unreadable=tuple(unreadable),
                build=report,
                parquet=rows,
            )
        )
    scenarios = {one.name: _scenarios(one.sheets) for one in sets}
    return [
        replace(one, other=next((scenarios[name] for name in scenarios if name != one.name), None))
        for one in sets
    ]


def _build_report(root: Path) -> Mapping[str, Any]:
    path = root / "build.json"
    if not path.is_file():
        return {}
    report = json_document(read_file(path))
    if not isinstance(report, dict):
        raise DataError(f"{path}: is no JSON object. Build the set again.")
    return report


def _parquet_rows(path: Path) -> tuple[Mapping[str, Any], ...]:
    file = read_file(path)
    if not is_parquet(file):
        raise DataError(f"{path}: is no Parquet file. Fetch or build it again.")
    return tuple(record.fields for record in parquet_records(file))


def scenario_name(row: Row) -> str:
    """The category and the scenario of a row of a built set, as it names them."""
    return f"{row.text('category')}/{row.text('scenario')}"


def _scenarios(sheets: Iterable[Sheet]) -> dict[str, str]:
    """Item -> category and scenario."""
    return {row.text("item_id"): scenario_name(row) for sheet in sheets for row in sheet.rows}


def _built_sheets(paths: Iterable[Path], unreadable: list[Unreadable]) -> tuple[Sheet, ...]:
    sheets: list[Sheet] = []
    for path in paths:
        name = "" if path.suffix == ".parquet" else path.parent.name
        sheets += _attempt(name, unreadable, _built_file, path) or ()
    return tuple(sheets)


def _built_file(path: Path) -> list[Sheet]:
    """One file of a built set: as Parquet, it holds every source."""
    file = read_file(path)
    report = Report()
    items = Items(report)
    read_built(file, items, report)
    records = _records(file)
    # Rows of Parquet have no lines. By line, a second row with the same id gets no item.
    by_place = {(item.provenance.line, item.id): item for item in items}
    sources: dict[str, list[Row]] = {}
    for record in records:
        source = str(record.fields.get("source") or path.stem)
        item = by_place.get((record.line, str(record.fields.get("item_id"))))
        sources.setdefault(source, []).append(_row(record, item))
    if is_parquet(file):
        maps = None
    else:
        maps = _maps(path.parent)
        sources = sources or {path.parent.name: []}
    problems = _by_source(report.problems, sources)
    header = tuple(records[0].fields) if records else ()
    return [
        Sheet(
            source,
            path,
            file.sha256,
            header,
            tuple(rows),
            sum(_is_lost(problem) for problem in problems[source]),
            problems[source],
            maps=maps,
        )
        for source, rows in sources.items()
    ]


def _by_source(
    problems: Iterable[Problem], sources: Mapping[str, Sequence[Row]]
) -> dict[str, tuple[Problem, ...]]:
    """The problems of each source of one file; those whose row is not known go to the first."""
    source_of_row = {row.text("item_id"): name for name, rows in sources.items() for row in rows}
    first = next(iter(sources), "")
    found: dict[str, list[Problem]] = {name: [] for name in sources}
    for problem in problems:
        found.setdefault(source_of_row.get(problem.record, first), []).append(problem)
    return {name: tuple(those) for name, those in found.items()}


def _is_lost(problem: Problem) -> bool:
    """Whether the record itself cannot be read, so that it has neither name nor fields."""
    return problem.kind == "rejected" and not problem.record and not problem.field


def _records(file: File) -> list[Record]:
    if is_parquet(file):
        return parquet_records(file)
    return list(csv_rows(file, Report(), ()))


def _released_sheets(root: Path, unreadable: list[Unreadable]) -> tuple[Sheet, ...]:
    if root.is_file():
        source = _attempt("", unreadable, source_of, root)
        places = [] if source is None else [(source, root)]
    else:
        there = ((one, find_file(root, one.folders, one.csv)) for one in SOURCES.values())
        places = [(one, path) for one, path in there if path is not None]
    sheets = []
    for one, path in places:
        sheet = _attempt(one.name, unreadable, _released_sheet, one, path)
        if sheet is not None and not root.is_file():
            sheet = _with_demonstrations(sheet, one, unreadable)
        sheets += [] if sheet is None else [sheet]
    return tuple(sheets)


def _released_sheet(source: Source, path: Path) -> Sheet:
    file = read_file(path)
    records = _records(file)
    header = tuple(records[0].fields) if records else ()
    wanted = (*COLUMNS, *source.columns, *ATTACK_COLUMNS)
    missing = tuple(name for name in wanted if name not in header) if records else ()
    maps = _maps(path.parent)
    questions = {
        kind: {n: q.strip() for n, q in one.questions.items()} for kind, one in maps.items()
    }
    report = Report()
    items = Items(report)
    if not missing:
        read_rows(file, source, questions, items, report)
    by_line = {item.provenance.line: item for item in items}
    return Sheet(
        source.name,
        path,
        file.sha256,
        header,
        tuple(_row(record, by_line.get(record.line)) for record in records),
        sum(map(_is_lost, report.problems)),
        tuple(report.problems),
        missing,
        maps,
    )


def _with_demonstrations(sheet: Sheet, source: Source, unreadable: list[Unreadable]) -> Sheet:
    path = find_file(sheet.path.parent, ("",), source.fewshot)
    if path is None:
        return sheet
    rows = _attempt(source.name, unreadable, _demonstrations, source, path)
    return replace(sheet, fewshot=rows or ())


def _demonstrations(source: Source, path: Path) -> tuple[Row, ...]:
    file = read_file(path)
    records = _records(file)
    items = Items(Report())
    try:
        read_demonstrations(file, source, items, Report())
    except DataError:
        items = Items(Report())  # a column is missing: the rows are looked at without items
    by_line = {item.provenance.line: item for item in items}
    return tuple(_row(record, by_line.get(record.line)) for record in records)


def _row(record: Record, item: Item | None) -> Row:
    scenario = None
    if item is not None and item.assigned is not None:
        try:
            scenario = scenario_of(item.assigned, item)
        except DataError:
            scenario = None  # the list has no such place: a rule says so
    try:
        number = fields.identifier(record.fields, INDEX)  # 7.0 is 7, as for the readers
    except BadRecord:
        number = str(record.fields.get(INDEX) or "")
    return Row(number or f"line {record.line}", record.fields, item, scenario)


def _maps(folder: Path) -> dict[str, QuestionMap]:
    maps = {}
    for kind, name in TEXT_ATTACKS.items():
        path = find_file(folder, ("text", ""), name)
        if path is not None:
            maps[kind] = _map(kind, path)
    return maps


def _map(kind: str, path: Path) -> QuestionMap:
    try:
        file = read_file(path)
    except DataError as trouble:
        return QuestionMap(kind, "", {}, str(trouble))
    try:
        document = json_document(replace(file, label=path.name))
    except DataError as trouble:
        return QuestionMap(kind, file.sha256, {}, str(trouble))
    if not isinstance(document, dict):
        why = f"{path.name}: is no object of row numbers and questions"
        return QuestionMap(kind, file.sha256, {}, why)
    questions = {
        row: found[0]
        for row, found in document.items()
        if isinstance(found, list) and len(found) == 1 and isinstance(found[0], str)
    }
    bad = next((row for row in document if row not in questions), None)
    why = (
        ""
        if bad is None
        else f"{path.name}: key {bad!r} holds {json.dumps(document[bad])[:60]}, no list of one "
        "question"
    )
    return QuestionMap(kind, file.sha256, questions, why)
