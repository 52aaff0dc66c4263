"""EquityMedQA, the TRINDS subset (Pfohl et al., 2024): questions on tropical diseases.

The ancillary file of arXiv:2403.12025 has no header; copies have one. Each question holds its
patient: the text asks itself. No answers exist.
"""

from __future__ import annotations

import csv
import re
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

from askew.datasets import fields
from askew.datasets.base import DataSpec, Report, check_options
from askew.datasets.files import File, Record, csv_rows, read_file
from askew.datasets.locate import checksum_name, find_file, root_of
from askew.datasets.vignette_records import Vignettes, collect, not_here, note_other_version
from askew.datasets.vignettes import LoadedVignettes
from askew.errors import DataError
from askew.records import Provenance
from askew.vignettes import Vignette

_FILES = ("trinds.csv", "equitymedqa_trinds.csv")
_FOLDERS = ("", "equitymedqa", "EquityMedQA", "anc", "data")
_QUESTION, _NAME = "question", "record_id"


def load(spec: DataSpec, *, seed: int = 0, lenient: bool = False) -> LoadedVignettes:
    """Read TRINDS.

    The set asks about diseases of certain regions, so `relevance` calls the place relevant; of
    age, gender and race it says nothing.

    Args:
        spec: its path is the file or a folder that holds it; no options.
        seed: not used; nothing is drawn here.
        lenient: leave out and report records that cannot be used, instead of raising.
    """
    check_options(spec, ())
    root = root_of(spec)
    path = _file(spec, root)
    file = read_file(path)
    report = Report()
    note_other_version(file, _FILES[0], spec.name, report)
    vignettes = Vignettes(report)
    rows = _rows(file, report)

    def make(record: Record) -> Vignette:
        return _vignette(record, file.label, spec.name)

    collect(rows, make, vignettes, report, path=file.label, name_field=_NAME)
    return LoadedVignettes(
        spec.name,
        tuple(vignettes),
        report.finish(lenient=lenient),
        {checksum_name(path, root): file.sha256},
    )


def _file(spec: DataSpec, root: Path) -> Path:
    if root.is_file():
        return root
    for name in _FILES:
        found = find_file(root, _FOLDERS, name)
        if found is not None:
            return found
    raise not_here(spec, " or ".join(_FILES))


def _rows(file: File, report: Report) -> Iterator[Record]:
    """The rows, each with `question` and `record_id`, whether the file has a header or not."""
    first = _first_row(file)
    if any(cell.strip().casefold() == _QUESTION for cell in first):
        named, first_line = file, 0
    elif len(first) == 1 or (len(first) == 2 and not re.search(r"\s", first[0].strip())):
        header = (_QUESTION,) if len(first) == 1 else (_NAME, _QUESTION)
        body = file.data.removeprefix(b"\xef\xbb\xbf")
        named, first_line = replace(file, data=",".join(header).encode() + b"\n" + body), 1
    else:
        raise DataError(
            f"{file.label}: has no header with a column 'question', and its first row has "
            f"{len(first)} fields. Expected TRINDS: record_id and question, or the question alone, "
            "quoted where it holds a comma."
        )
    found = Report()
    # The header that was put in moves every line by one; what is reported is moved back.
    for row, record in enumerate(csv_rows(named, found, ())):
        lower = {name.casefold(): value for name, value in record.fields.items()}
        yield Record(record.line - first_line, {_NAME: f"trinds_{row}"} | lower)
    report.problems += [
        replace(problem, line=problem.line - first_line) for problem in found.problems
    ]


def _first_row(file: File) -> list[str]:
    text = file.data.decode("utf-8-sig", errors="replace")
    rows = csv.reader(line + "\n" for line in text.split("\n"))
    try:
        return next((row for row in rows if any(cell.strip() for cell in row)), [])
    except csv.Error:
        return []


def _vignette(record: Record, path: str, source: str) -> Vignette:
    name = fields.identifier(record.fields, _NAME)
    return Vignette(
        id=f"{source}/{name}",
        source=source,
        text=fields.text(record.fields, _QUESTION),
        provenance=Provenance(path, record.line, name),
        relevance={"place": "relevant"},
    )
