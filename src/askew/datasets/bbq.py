"""BBQ, the Bias Benchmark for QA (Parrish et al., 2022): eleven categories, one JSON file each.

Half of the items are ambiguous and become items, half are disambiguated and become controls.

Which option is the stereotyped one is told by `target_loc` of the release's metadata file: it is
the answer that follows the stereotype, already turned round for questions of nonnegative polarity.
Matching the groups' names against the answers' tags instead fails for every row of some
categories. Without the file every item is read, and its stereotyped option is not known.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

from askew.datasets import fields
from askew.datasets.base import (
    BadRecord,
    DataSpec,
    Loaded,
    Report,
    by_condition,
    check_options,
    list_option,
)
from askew.datasets.bias_types import canonical_bias_type
from askew.datasets.collect import Items, collect
from askew.datasets.files import File, Record, csv_rows, json_lines, read_file
from askew.datasets.locate import checksum_name, find_file, not_found, root_of
from askew.errors import unknown_name
from askew.records import ContextCondition, Item, Provenance

CATEGORIES = (
    "Age",
    "Disability_status",
    "Gender_identity",
    "Nationality",
    "Physical_appearance",
    "Race_ethnicity",
    "Race_x_SES",
    "Race_x_gender",
    "Religion",
    "SES",
    "Sexual_orientation",
)
METADATA = "additional_metadata.csv"
# The set's own folder, a folder of several sets, a clone of the repository.
_FOLDERS = ("", "bbq", "data")
_METADATA_FOLDERS = ("", "bbq", "analysis_scripts", "supplemental")
_OPTIONS = ("ans0", "ans1", "ans2")
_CONDITIONS = {"ambig": ContextCondition.AMBIGUOUS, "disambig": ContextCondition.CONTROL}
_POLARITIES: dict[str, Literal["negative", "nonnegative"]] = {
    "neg": "negative",
    "nonneg": "nonnegative",
}


@dataclass(frozen=True, slots=True)
class Target:
    """What the metadata file says about one item."""

    question: str  # the item's question_index: a check that the two files belong together
    option: int | None  # None where the file leaves it open


def load(spec: DataSpec, *, seed: int = 0, lenient: bool = False) -> Loaded:
    """Read BBQ from a folder, or one file in its form.

    Args:
        spec: its option `categories` picks some of the eleven, by the file's name or by askew's
            name of the bias type.
        seed: not used; nothing is drawn here.
        lenient: leave out and report records that cannot be used, instead of raising.
    """
    check_options(spec, ("categories",))
    root = root_of(spec)
    report = Report()
    paths = [root] if root.is_file() else _category_files(spec, root, report)
    checksums: dict[str, str] = {}
    targets = _find_targets(root, checksums, report)
    items = Items(report)
    for path in paths:
        file = read_file(path)
        checksums[checksum_name(path, root)] = file.sha256
        read_category(file, targets, items, report)
    _note_unknown_targets(list(items), targets, report, path=str(root))
    return by_condition(spec.name, items, report.finish(lenient=lenient), checksums)


def read_category(
    file: File, targets: Mapping[tuple[str, str], Target], items: Items, report: Report
) -> None:
    """Read the lines of one category's file into `items`."""
    shared: dict[str, str] = {}  # many rows share a text: one string in memory serves them all

    def make(record: Record) -> Item:
        return _item(record, file.label, targets, shared, report)

    collect(
        json_lines(file, report), make, items, report, path=file.label, name_fields=("example_id",)
    )


def read_targets(file: File, report: Report) -> dict[tuple[str, str], Target]:
    """Read the metadata file: (category, example_id) -> Target.

    64 example ids of Gender_identity stand in the release's file twice, with the same target; ids
    whose rows disagree have none. 16 rows hold "NA".
    """
    targets: dict[tuple[str, str], Target] = {}
    columns = ("category", "question_index", "example_id", "target_loc")
    for record in csv_rows(file, report, columns):
        row = record.fields
        try:
            key = (fields.text(row, "category"), fields.identifier(row, "example_id"))
            found = row["target_loc"]
            option = None if fields.is_absent(found) else fields.option_index(row, "target_loc")
        except BadRecord as bad:
            report.add("rejected", bad.message, path=file.label, line=record.line, field=bad.field)
            continue
        target = Target(row["question_index"].strip(), option)
        if targets.setdefault(key, target) != target:
            targets[key] = Target(target.question, None)
            name = "/".join(key)
            message = "two rows disagree on target_loc; the stereotyped option is not known"
            report.add("note", message, path=file.label, line=record.line, record=name)
    return targets


def folder_holds_bbq(folder: Path) -> bool:
    """Whether a folder is one that `load` would find BBQ in."""
    return any(find_file(folder, _FOLDERS, f"{category}.jsonl") for category in CATEGORIES)


def _category_files(spec: DataSpec, root: Path, report: Report) -> list[Path]:
    chosen = list_option(spec, "categories")
    paths = []
    for category in CATEGORIES if chosen is None else _categories(chosen):
        name = f"{category}.jsonl"
        path = find_file(root, _FOLDERS, name)
        if path is not None:
            paths.append(path)
        elif chosen is not None:
            raise not_found(spec, name)
        else:
            message = f"{name} is not there; its category is left out"
            report.add("note", message, path=str(root))
    if not paths:
        raise not_found(spec, f"{CATEGORIES[0]}.jsonl or another category's file")
    return paths


def _categories(chosen: tuple[str, ...]) -> list[str]:
    """The release's names of categories that may be given by askew's name or by the release's."""
    by_name = {canonical_bias_type(category): category for category in CATEGORIES}
    found = []
    for name in chosen:
        category = by_name.get(canonical_bias_type(name))
        if category is None:
            raise unknown_name("BBQ category", name, list(CATEGORIES))
        found.append(category)
    return list(dict.fromkeys(found))


def _find_targets(
    root: Path, checksums: dict[str, str], report: Report
) -> dict[tuple[str, str], Target]:
    folder = root.parent if root.is_file() else root
    # The parent serves a path that is the `data` folder of a clone.
    path = find_file(folder, _METADATA_FOLDERS, METADATA) or find_file(
        folder.parent, _METADATA_FOLDERS[2:], METADATA
    )
    if path is None:
        message = f"no {METADATA}: which option follows the stereotype is not known for any item"
        report.add("note", message, path=str(root))
        return {}
    file = read_file(path)
    checksums[checksum_name(path, root)] = file.sha256
    return read_targets(file, report)


def _item(
    record: Record,
    path: str,
    targets: Mapping[tuple[str, str], Target],
    shared: dict[str, str],
    report: Report,
) -> Item:
    row = record.fields
    example = fields.identifier(row, "example_id")
    category = fields.text(row, "category")
    first, second, third = (
        shared.setdefault(option, option) for option in fields.options(row, _OPTIONS)
    )
    options = (first, second, third)
    condition = _CONDITIONS[_word(row, "context_condition", _CONDITIONS)]
    neutral = fields.unknown_option(options, tagged=_tagged_unknown(row))
    answer = fields.option_index(row, "label")
    if condition is ContextCondition.AMBIGUOUS and answer != neutral:
        raise BadRecord(
            f"is {answer}, but the context is ambiguous and the unknown option is {neutral}",
            "label",
        )
    if condition is ContextCondition.CONTROL and answer == neutral:
        raise BadRecord(f"is {answer}, the unknown option, though the context answers", "label")
    context = fields.text(row, "context")
    return Item(
        id=f"bbq/{category}/{example}",
        source="bbq",
        bias_type=canonical_bias_type(category),
        context=shared.setdefault(context, context),
        question=shared.setdefault(question := fields.text(row, "question"), question),
        options=options,
        neutral=neutral,
        answer=answer,
        condition=condition,
        provenance=Provenance(path, record.line, example),
        stereotyped=_stereotyped(row, (category, example), neutral, targets, path, record, report),
        polarity=_polarity(row),
    )


def _word(row: Mapping[str, Any], name: str, known: Collection[str]) -> str:
    word = fields.text(row, name)
    if word not in known:
        raise BadRecord(f"is {word!r}, expected {' or '.join(map(repr, known))}", name)
    return word


def _polarity(row: Mapping[str, Any]) -> Literal["negative", "nonnegative"] | None:
    if fields.is_absent(row.get("question_polarity")):
        return None
    return _POLARITIES[_word(row, "question_polarity", _POLARITIES)]


def _tagged_unknown(row: Mapping[str, Any]) -> frozenset[int]:
    """The options that `answer_info` tags as unknown; the phrases decide where it is absent."""
    info = row.get("answer_info")
    if info is None:
        return frozenset()
    if not isinstance(info, dict):
        raise BadRecord(f"is {info!r}, expected an object", "answer_info")
    found = set()
    for index, name in enumerate(_OPTIONS):
        tags = info.get(name)
        tag = tags[1] if isinstance(tags, list) and len(tags) == 2 else None
        if isinstance(tag, str) and tag.strip().casefold() == "unknown":
            found.add(index)
    return frozenset(found)


def _stereotyped(
    row: Mapping[str, Any],
    key: tuple[str, str],
    neutral: int,
    targets: Mapping[tuple[str, str], Target],
    path: str,
    record: Record,
    report: Report,
) -> int | None:
    """The stereotyped option by the metadata file; None, never a guess, where it does not say."""
    target = targets.get(key)
    if target is None or target.option is None:
        return None
    if target.question == str(row.get("question_index", "")).strip() and target.option != neutral:
        return target.option
    message = f"{METADATA} does not fit this record; the stereotyped option is not known"
    report.add("note", message, path=path, line=record.line, record=key[1])
    return None


def _note_unknown_targets(
    items: list[Item], targets: Mapping[tuple[str, str], Target], report: Report, *, path: str
) -> None:
    lacking = sum(item.stereotyped is None for item in items)
    if lacking and targets:
        message = f"{lacking} of {len(items)} items: the stereotyped option is not known"
        report.add("note", message, path=path)
