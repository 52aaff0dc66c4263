"""The released benchmark of FLEX (Jung et al., 2025): items, each with the attack chosen for it.

One CSV a source (BBQ, CrowS-Pairs, StereoSet), one row an item. The attack is stored as a category
and an index; rows that no scenario worked on carry -1 and are reported, not read. The changed
questions of the text attacks lie beside the CSV in JSON maps, keyed by the row's number. The
few-shot files hold demonstrations; their `label` column points anywhere and is never read.

Items keep the name of their source ("bbq", "crows_pairs", "stereoset"), as the paper's tables go
by source; their ids begin with "flex_".
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
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
from askew.datasets.locate import checksum_name, find_file, not_found, root_of
from askew.datasets.phrases import comparable
from askew.datasets.three_options import QUESTION
from askew.errors import DataError, unknown_name
from askew.records import Assignment, AttackCategory, ContextCondition, Item, Provenance

_CATEGORIES = {
    "persona": AttackCategory.PERSONA_INJECTION,
    "refusal_suppression": AttackCategory.COMPETING_OBJECTIVES,  # all five of them
    "text": AttackCategory.TEXT_ATTACK,
}
# The order is that of the release's index of text attacks.
TEXT_ATTACKS = {
    "character": "0_char.json",
    "word": "1_word.json",
    "sentence_v1": "2_sent.json",
    "sentence_v2": "3_or.json",
}
# BBQ's categories that the release draws on: its controls come from the same.
_CONTROL_CATEGORIES = (
    "Age",
    "Gender_identity",
    "Nationality",
    "Race_ethnicity",
    "Religion",
    "Sexual_orientation",
)
_OPTIONS = ("a", "b", "c")
_INDEX = "Unnamed: 0"


@dataclass(frozen=True, slots=True)
class Source:
    """One of the three parts of the release."""

    name: str  # as the option `sources` names it, and the release's files
    item_source: str  # as items name it
    columns: tuple[str, ...]  # what its CSV has beside the columns of all three

    @property
    def csv(self) -> str:
        """The file with the test rows."""
        return f"FLEX_{self.name}.csv"

    @property
    def fewshot(self) -> str:
        """The file with the demonstrations."""
        return f"FLEX_{self.name}_fewshot.csv"

    @property
    def folders(self) -> tuple[str, ...]:
        """Where the files may lie: the source's folder, the set's, one above, or a clone."""
        return ("", self.name, f"flex/{self.name}", f"data/{self.name}")


SOURCES = {
    source.name: source
    for source in (
        Source("bbq", "bbq", ("ctx", "q_text")),
        Source("crows", "crows_pairs", ()),
        Source("stereoset", "stereoset", ("context",)),
    )
}
_COLUMNS = (_INDEX, "sent_more", "bias_type", *_OPTIONS)


def load(spec: DataSpec, *, seed: int = 0, lenient: bool = False) -> Loaded:
    """Read the release from a folder, or one of its CSV files.

    Controls are BBQ's disambiguated items of the same bias types, where BBQ lies beside FLEX or in
    the download cache and "bbq" is among the sources; there are none otherwise.

    Args:
        spec: its option `sources` picks some of "bbq", "crows" and "stereoset".
        seed: not used; the release has drawn everything.
        lenient: leave out and report records that cannot be used, instead of raising.
    """
    check_options(spec, ("sources",))
    root = root_of(spec)
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

    columns = (*_COLUMNS, *source.columns, "attack", "attack_type", "label")
    rows = csv_rows(file, report, columns)
    collect(rows, make, items, report, path=file.label, name_fields=(_INDEX,))


def read_demonstrations(file: File, source: Source, items: Items, report: Report) -> None:
    """Read a few-shot file; the answer to demonstrate is the neutral option, by its phrase."""

    def make(record: Record) -> Item:
        return _item(record, file.label, source, f"flex_{source.name}_fewshot")

    rows = csv_rows(file, report, (*_COLUMNS, *source.columns))
    collect(rows, make, items, report, path=file.label, name_fields=(_INDEX,))


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
        return [(_source_of(root), root)]
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
        raise not_found(spec, " or ".join(source.csv for source in SOURCES.values()))
    return parts


def _source_of(path: Path) -> Source:
    """Which source a lone CSV belongs to, by its columns."""
    header = read_file(path).data.split(b"\n", 1)[0].decode("utf-8-sig", errors="replace")
    names = {name.strip().strip('"') for name in header.split(",")}
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
    name = fields.identifier(row, _INDEX)
    options = fields.options(row, _OPTIONS)
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
    if attack in ("-1", "-1.0"):
        if index != -1:
            raise BadRecord(f"is {index}, but attack says that there is none", "attack_type")
        return None
    if attack not in _CATEGORIES:
        known = ", ".join(map(repr, (*_CATEGORIES, "-1")))
        raise BadRecord(f"is {attack!r}, expected one of {known}", "attack")
    # Whether the list of the category is as long as that is known where the lists are: `prompts`.
    if index < 0:
        raise BadRecord(f"is {index}, expected a place in a list", "attack_type")
    return Assignment(_CATEGORIES[attack], index)


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
