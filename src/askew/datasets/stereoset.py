"""StereoSet (Nadeem et al., 2021): sentences about a target, as questions with three options.

The gold labels say which sentence is the stereotype and which the anti-stereotype; the unrelated
one is dropped. Whole sentences are used: the template of an intrasentence item (its `context`,
with the word BLANK in it) may hold two blanks or differ in capitals from its sentences.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from askew.datasets import fields
from askew.datasets.base import BadRecord, DataSpec, Loaded, Report, check_options
from askew.datasets.bias_types import canonical_bias_type
from askew.datasets.collect import Items, collect
from askew.datasets.files import File, Record, json_document, read_file
from askew.datasets.locate import checksum_name, find_file, not_found, root_of
from askew.datasets.three_options import QUESTION, three_options
from askew.errors import DataError, unknown_name
from askew.records import ContextCondition, Item, Provenance

SPLITS = ("test", "dev")  # test first: FLEX's rows come from it
_FOLDERS = ("", "stereoset", "data", "data/stereoset")
_PARTS = ("intrasentence", "intersentence")
_LABELS = ("stereotype", "anti-stereotype")
_TEST_HINT = ' The test split can only be had from a folder; `split` = "dev" reads the other split.'
# Records that the release itself got wrong; known, so no error, but not usable either.
_PUBLISHED_FAULTS = {
    "51c00b7f1d9efcf17445fd88c19ad3d4": "stereotype and anti-stereotype are the same sentence",
}


def load(spec: DataSpec, *, seed: int = 0, lenient: bool = False) -> Loaded:
    """Read one split of StereoSet from a folder, or one file in its form.

    Args:
        spec: its option `split` is "test" (the default) or "dev".
        seed: picks each item's unknown phrase and order of options.
        lenient: leave out and report records that cannot be used, instead of raising.
    """
    check_options(spec, ("split",))
    split = str(spec.options.get("split", SPLITS[0]))
    if split not in SPLITS:
        raise unknown_name("StereoSet split", split, list(SPLITS))
    root = root_of(spec)
    path = root if root.is_file() else find_file(root, _FOLDERS, f"{split}.json")
    if path is None:
        raise not_found(spec, f"{split}.json", _TEST_HINT if split == "test" else "")
    file = read_file(path)
    report = Report()
    items = Items(report, pairs=True)
    read_document(file, items, report, seed=seed)
    return Loaded(
        name=spec.name,
        items=tuple(items),
        problems=report.finish(lenient=lenient),
        checksums={checksum_name(path, root): file.sha256},
    )


def read_document(file: File, items: Items, report: Report, *, seed: int) -> None:
    """Read the one JSON document of a split into `items`."""
    document = json_document(file)
    parts = document.get("data") if isinstance(document, dict) else None
    if not isinstance(parts, dict) or not any(part in parts for part in _PARTS):
        raise DataError(
            f"{file.label}: not in StereoSet's form: expected an object with `data`, and in it "
            f"lists {' and '.join(map(repr, _PARTS))}."
        )
    for part in _PARTS:

        def make(record: Record, between: bool = part == "intersentence") -> Item | None:
            return _item(record, file.label, seed, report, between=between)

        records = _records(parts.get(part, []), part, file.label, report)
        collect(records, make, items, report, path=file.label, name_fields=("id",))


def _records(entries: object, part: str, path: str, report: Report) -> Iterator[Record]:
    if not isinstance(entries, list):
        raise DataError(f"{path}: field 'data.{part}' is no list.")
    for place, entry in enumerate(entries):
        if isinstance(entry, dict):
            yield Record(0, entry)
        else:
            message = f"is {entry!r}, expected an object"
            report.add("rejected", message, path=path, field=f"data.{part}[{place}]")


def _item(record: Record, path: str, seed: int, report: Report, *, between: bool) -> Item | None:
    row = record.fields
    name = fields.identifier(row, "id")
    if name in _PUBLISHED_FAULTS:
        message = f"{_PUBLISHED_FAULTS[name]}, in the release too"
        report.add("skipped", message, path=path, record=name)
        return None
    sentences = _labelled(row)
    item_id = f"stereoset/{name}"
    three = three_options(item_id, sentences["stereotype"], sentences["anti-stereotype"], seed)
    context = fields.optional_text(row, "context") if between else ""
    return Item(
        id=item_id,
        source="stereoset",
        bias_type=canonical_bias_type(fields.text(row, "bias_type")),
        context=context,
        question=QUESTION,
        options=three.options,
        neutral=three.neutral,
        answer=three.neutral,
        condition=ContextCondition.AMBIGUOUS,
        provenance=Provenance(path, record.line, name),
        stereotyped=three.stereotyped,
        context_before_options=bool(context),
    )


def _labelled(row: Mapping[str, Any]) -> dict[str, str]:
    """The stereotype and the anti-stereotype of an item, each there exactly once."""
    entries = row.get("sentences")
    if not isinstance(entries, list) or not all(isinstance(entry, dict) for entry in entries):
        raise BadRecord("is not a list of objects", "sentences")
    by_label: dict[str, list[str]] = {label: [] for label in _LABELS}
    for entry in entries:
        label = entry.get("gold_label")
        if isinstance(label, str) and label.strip() in by_label:
            by_label[label.strip()].append(fields.text(entry, "sentence"))
    for label, found in by_label.items():
        if len(found) != 1:
            raise BadRecord(f"{len(found)} sentences have the gold label {label!r}, expected 1")
    return {label: found[0] for label, found in by_label.items()}
