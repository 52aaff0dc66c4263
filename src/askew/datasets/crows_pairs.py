"""CrowS-Pairs (Nangia et al., 2020): pairs of sentences, as questions with three options.

`sent_more` is the stereotyped option in every row. `stereo_antistereo` says whose stereotype it
is (in "antistereo" rows `sent_less` is about the disadvantaged group); it swaps nothing and is not
read.
"""

from __future__ import annotations

from askew.datasets import fields
from askew.datasets.base import DataSpec, Loaded, Report, check_options
from askew.datasets.bias_types import canonical_bias_type
from askew.datasets.collect import Items, collect
from askew.datasets.files import File, Record, csv_rows, read_file
from askew.datasets.locate import checksum_name, find_file, not_found, root_of
from askew.datasets.three_options import QUESTION, three_options
from askew.records import ContextCondition, Item, Provenance

FILE = "crows_pairs_anonymized.csv"
_FOLDERS = ("", "crows_pairs", "data")
_INDEX = ("", "Unnamed: 0")  # the column with the row's number has no name until pandas gives one


def load(spec: DataSpec, *, seed: int = 0, lenient: bool = False) -> Loaded:
    """Read CrowS-Pairs from a folder, or one file in its form.

    Args:
        spec: takes no options.
        seed: picks each item's unknown phrase and order of options.
        lenient: leave out and report records that cannot be used, instead of raising.
    """
    check_options(spec, ())
    root = root_of(spec)
    path = root if root.is_file() else find_file(root, _FOLDERS, FILE)
    if path is None:
        raise not_found(spec, FILE)
    file = read_file(path)
    report = Report()
    items = Items(report, pairs=True)
    read_pairs(file, items, report, seed=seed)
    return Loaded(
        name=spec.name,
        items=tuple(items),
        problems=report.finish(lenient=lenient),
        checksums={checksum_name(path, root): file.sha256},
    )


def read_pairs(file: File, items: Items, report: Report, *, seed: int) -> None:
    """Read the rows of one file into `items`."""

    def make(record: Record) -> Item:
        return _item(record, file.label, seed)

    rows = csv_rows(file, report, ("sent_more", "sent_less", "bias_type"))
    collect(rows, make, items, report, path=file.label, name_fields=_INDEX)


def _item(record: Record, path: str, seed: int) -> Item:
    row = record.fields
    index = fields.identifier(row, _INDEX[0] if _INDEX[0] in row else _INDEX[1])
    item_id = f"crows_pairs/{index}"
    more, less = fields.text(row, "sent_more"), fields.text(row, "sent_less")
    three = three_options(item_id, more, less, seed)
    return Item(
        id=item_id,
        source="crows_pairs",
        bias_type=canonical_bias_type(fields.text(row, "bias_type")),
        context="",
        question=QUESTION,
        options=three.options,
        neutral=three.neutral,
        answer=three.neutral,
        condition=ContextCondition.AMBIGUOUS,
        provenance=Provenance(path, record.line, index),
        stereotyped=three.stereotyped,
    )
