"""FLEX (Jung et al., 2025), as it was released or as askew has built it: items and their attacks.

One CSV a source (BBQ, CrowS-Pairs, StereoSet), one row an item. The attack is stored as a category
and an index; rows that no scenario worked on carry -1 and are reported, not read. The changed
questions of the text attacks lie beside the CSV in JSON maps, keyed by the row's number. The
few-shot files hold demonstrations; their `label` column points anywhere and is never read.

Items keep the name of their source ("bbq", "crows_pairs", "stereoset"), as the paper's tables go
by source; the ids of released ones begin with "flex_". Items of a built set keep the ids that they
were built from, so that they pair with their source (`flex_built`).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

from askew.cache import cache_folder
from askew.datasets import bbq, fields
from askew.datasets.base import (
    BadRecord,
    DataSpec,
    Loaded,
    Report,
    check_options,
    list_option,
)
from askew.datasets.bias_types import canonical_bias_type
from askew.datasets.collect import Items, collect
from askew.datasets.files import File, Record, csv_rows, json_document, read_file
from askew.datasets.flex_built import find_built, header_names, read_built
from askew.datasets.flex_form import (
    ATTACK_COLUMNS,
    CATEGORIES,
    COLUMNS,
    INDEX,
    NO_ATTACK,
    OPTIONS,
    SOURCES,
    TEXT_ATTACKS,
    Source,
)
from askew.datasets.locate import checksum_name, find_file, not_found, root_of
from askew.datasets.phrases import comparable
from askew.datasets.three_options import QUESTION
from askew.errors import DataError, unknown_name
from askew.records import Assignment, ContextCondition, Item, Provenance

# BBQ's categories that the release draws on: its controls come from the same.
_CONTROL_CATEGORIES = (
    "Age",
    "Gender_identity",
    "Nationality",
    "Race_ethnicity",
    "Religion",
    "Sexual_orientation",
)


def load(spec: DataSpec, *, seed: int = 0, lenient: bool = False) -> Loaded:
    """Read the release or a built set from a folder, or one of its files.

    Controls are BBQ's disambiguated items of the same bias types, where BBQ lies beside FLEX or in
    the download cache and "bbq" is among the sources; there are none otherwise.

    Args:
        spec: its option `sources` picks some of "bbq", "crows" and "stereoset"; in a built set
            some of its sources.
        seed: not used; the release has drawn everything.
        lenient: leave out and report records that cannot be used, instead of raising.
    """
    check_options(spec, ("sources",))
    root = root_of(spec)
    built = find_built(root)
    if built:
        return _load_built(spec, root, built, lenient=lenient)
    report = Report()
    items, demonstrations = Items(report), Items(report)
    checksums: dict[str, str] = {}
    parts = _parts(spec, root, report)
    for source, path in parts:
        file = read_file(path)
        checksums[checksum_name(path, root)] = file.sha256
        questions = _read_questions(path.parent, root, checksums, report)
        read_rows(file, source, questions, items, report)
        fewshot = None if root.is_file() else find_file(path.parent, ("",), source.fewshot)
        if fewshot is not None:
            file = read_file(fewshot)
            checksums[checksum_name(fewshot, root)] = file.sha256
            read_demonstrations(file, source, demonstrations, report)
    attacked = tuple(item for item in items if item.assigned is not None)
    _note_demonstrated(attacked, demonstrations, report)
    controls: tuple[Item, ...] = ()
    if not root.is_file() and any(source.name == "bbq" for source, _ in parts):
        controls = _controls(root, report, checksums, lenient=lenient)
    return Loaded(
        name=spec.name,
        items=attacked,
        controls=controls,
        demonstrations=tuple(demonstrations),
        problems=report.finish(lenient=lenient),
        checksums=checksums,
    )


def _load_built(spec: DataSpec, root: Path, paths: tuple[Path, ...], *, lenient: bool) -> Loaded:
    """A set that askew has built. It has no demonstrations; its rows are all attacked."""
    report = Report()
    everything = Items(report)
    checksums: dict[str, str] = {}
    for path in paths:
        file = read_file(path)
        checksums[checksum_name(path, root)] = file.sha256
        read_built(file, everything, report)
    items = _of_sources(spec, tuple(everything))
    controls: tuple[Item, ...] = ()
    if root.is_dir() and any(item.source == "bbq" for item in items):
        controls = _controls(root, report, checksums, lenient=lenient)
    return Loaded(
        name=spec.name,
        items=items,
        controls=controls,
        problems=report.finish(lenient=lenient),
        checksums=checksums,
    )


def _of_sources(spec: DataSpec, items: tuple[Item, ...]) -> tuple[Item, ...]:
    """The items of the sources that were asked for, by their name or the release's for it."""
    chosen = list_option(spec, "sources")
    if chosen is None:
        return items
    known = {item.source for item in items}
    names = [_item_source(name, known) for name in chosen]
    return tuple(item for item in items if item.source in names)


def _item_source(name: str, known: set[str]) -> str:
    if name in known:
        return name
    if name in SOURCES and SOURCES[name].item_source in known:
        return SOURCES[name].item_source
    raise unknown_name("source of this set", name, sorted(known))


def read_rows(
    file: File,
    source: Source,
    questions: Mapping[str, Mapping[str, str]],
    items: Items,
    report: Report,
) -> None:
    """Read the test rows of one source into `items`; rows without an attack have none assigned.

    Args:
        file: the source's CSV.
        source: which of the three it is.
        questions: kind of text attack -> row number -> changed question.
        items: takes all rows in.
        report: takes the problems, and one `no_attack` for each such row.
    """

    def make(record: Record) -> Item:
        row = record.fields
        item = _item(record, file.label, source, f"flex_{source.name}")
        _check_label(row, item)
        assigned = _assigned(row)
        name = item.provenance.record
        if assigned is None:
            message = "no attack assigned: no scenario worked on this row"
            report.add("no_attack", message, path=file.label, line=record.line, record=name)
        changed = {kind: by_row[name] for kind, by_row in questions.items() if name in by_row}
        return replace(item, assigned=assigned, text_attacks=changed)

    columns = (*COLUMNS, *source.columns, *ATTACK_COLUMNS)
    rows = csv_rows(file, report, columns)
    collect(rows, make, items, report, path=file.label, name_fields=(INDEX,))


def read_demonstrations(file: File, source: Source, items: Items, report: Report) -> None:
    """Read a few-shot file; the answer to demonstrate is the neutral option, by its phrase."""

    def make(record: Record) -> Item:
        return _item(record, file.label, source, f"flex_{source.name}_fewshot")

    rows = csv_rows(file, report, (*COLUMNS, *source.columns))
    collect(rows, make, items, report, path=file.label, name_fields=(INDEX,))


def read_text_attack(file: File) -> dict[str, str]:
    """Read one map of changed questions: row number -> question.

    Raises:
        DataError: the file is no map from row numbers to lists of one question.
    """
    document = json_document(file)
    if not isinstance(document, dict):
        raise DataError(f"{file.label}: not an object of row numbers and lists of one question.")
    questions = {}
    for row, found in document.items():
        if not isinstance(found, list) or len(found) != 1 or not isinstance(found[0], str):
            raise DataError(
                f"{file.label}: key {row!r} holds {found!r}, expected a list of one question. "
                "Fetch the file again."
            )
        if found[0].strip():
            questions[row] = found[0].strip()
    return questions


def _parts(spec: DataSpec, root: Path, report: Report) -> list[tuple[Source, Path]]:
    """The sources that were asked for, each with its CSV."""
    chosen = list_option(spec, "sources")
    for name in chosen or ():
        if name not in SOURCES:
            raise unknown_name("FLEX source", name, list(SOURCES))
    if root.is_file():
        return [(source_of(root), root)]
    parts = []
    for source in SOURCES.values():
        if chosen is not None and source.name not in chosen:
            continue
        path = find_file(root, source.folders, source.csv)
        if path is not None:
            parts.append((source, path))
        elif chosen is not None:
            raise not_found(spec, source.csv)
        else:
            message = f"{source.csv} is not there; its source is left out"
            report.add("note", message, path=str(root))
    if not parts:
        if (root / "build.toml").is_file():
            raise DataError(
                f"{root}: holds no set yet: the build has not ended. Run the same `askew flex "
                "build` again."
            )
        raise not_found(spec, " or ".join(source.csv for source in SOURCES.values()))
    return parts


def source_of(path: Path) -> Source:
    """Which source a lone CSV belongs to, by its columns."""
    names = header_names(path)
    for source in (SOURCES["bbq"], SOURCES["stereoset"]):
        if names.issuperset(source.columns):
            return source
    return SOURCES["crows"]


def _read_questions(
    folder: Path, root: Path, checksums: dict[str, str], report: Report
) -> dict[str, dict[str, str]]:
    questions = {}
    for kind, name in TEXT_ATTACKS.items():
        path = find_file(folder, ("text", ""), name)
        if path is None:
            message = f"no {name}: the questions of the text attack {kind!r} are not known"
            report.add("note", message, path=str(folder))
            continue
        file = read_file(path)
        checksums[checksum_name(path, root)] = file.sha256
        questions[kind] = read_text_attack(file)
    return questions


def _item(record: Record, path: str, source: Source, prefix: str) -> Item:
    """The item of a row, test row or demonstration, as if it were not attacked."""
    row = record.fields
    name = fields.identifier(row, INDEX)
    options = fields.options(row, OPTIONS)
    neutral = fields.unknown_option(options)
    context = fields.optional_text(row, "ctx" if source.name == "bbq" else "context")
    return Item(
        id=f"{prefix}/{name}",
        source=source.item_source,
        bias_type=canonical_bias_type(fields.text(row, "bias_type")),
        context=context,
        question=fields.text(row, "q_text") if source.name == "bbq" else QUESTION,
        options=options,
        neutral=neutral,
        answer=neutral,
        condition=ContextCondition.AMBIGUOUS,
        provenance=Provenance(path, record.line, name),
        stereotyped=_stereotyped(fields.text(row, "sent_more"), options, neutral),
        context_before_options=source.name == "stereoset" and bool(context),
    )


def _stereotyped(sentence: str, options: tuple[str, str, str], neutral: int) -> int:
    found = [index for index, option in enumerate(options) if option == sentence]
    if len(found) != 1 or found[0] == neutral:
        raise BadRecord(f"is {sentence!r}, which is none of the options", "sent_more")
    return found[0]


def _check_label(row: Mapping[str, Any], item: Item) -> None:
    label = fields.option_index(row, "label")
    if label != item.neutral:
        raise BadRecord(f"is {label}, but the unknown option is {item.neutral}", "label")


def _assigned(row: Mapping[str, Any]) -> Assignment | None:
    attack = fields.text(row, "attack")
    index = fields.whole_number(row, "attack_type")
    if attack in NO_ATTACK:
        if index != -1:
            raise BadRecord(f"is {index}, but attack says that there is none", "attack_type")
        return None
    if attack not in CATEGORIES:
        known = ", ".join(map(repr, (*CATEGORIES, "-1")))
        raise BadRecord(f"is {attack!r}, expected one of {known}", "attack")
    # Whether the list of the category is as long as that is known where the lists are: `prompts`.
    if index < 0:
        raise BadRecord(f"is {index}, expected a place in a list", "attack_type")
    return Assignment(CATEGORIES[attack], index)


def _note_demonstrated(items: tuple[Item, ...], demonstrations: Items, report: Report) -> None:
    """Say which demonstrations are test items too: a few-shot figure would be flattered by them."""
    tested = {_content(item): item for item in items}
    for demonstration in demonstrations:
        item = tested.get(_content(demonstration))
        if item is not None:
            place = demonstration.provenance
            report.add(
                "note",
                f"demonstrates the test item {item.id}",
                path=place.path,
                line=place.line,
                record=place.record,
            )


def _content(item: Item) -> tuple[str, ...]:
    biased = sorted(
        comparable(option) for place, option in enumerate(item.options) if place != item.neutral
    )
    return (item.source, comparable(item.context), comparable(item.question), *biased)


def _controls(
    root: Path, report: Report, checksums: dict[str, str], *, lenient: bool
) -> tuple[Item, ...]:
    for folder in (root, root.parent, cache_folder()):
        if bbq.folder_holds_bbq(folder):
            spec = DataSpec("bbq", folder, {"categories": _CONTROL_CATEGORIES})
            loaded = bbq.load(spec, lenient=lenient)
            report.problems.extend(loaded.problems)
            checksums.update(loaded.checksums)
            return loaded.controls
    return ()
