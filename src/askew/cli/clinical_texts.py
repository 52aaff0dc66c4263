"""The texts that `askew clinical` reads: one file, the standard input, JSONL, JSON, CSV."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import typer

from askew.datasets.base import BadRecord, Report
from askew.datasets.fields import identifier
from askew.datasets.files import (
    File,
    Record,
    csv_rows,
    json_document,
    json_lines,
    read_file,
    unpacked,
)
from askew.datasets.vignette_records import excerpt
from askew.errors import DataError, bad_field

STDIN = Path("-")
# Of one text: a case is a page or two, and spaCy's memory grows with the longest text.
LONGEST = 1_000_000
_TABLES = (".csv", ".tsv")
_ROWS = (*_TABLES, ".jsonl", ".ndjson", ".json")
_BLANK = re.compile(rb"(?:\r?\n[ \t]*){2,}")


@dataclass(frozen=True, slots=True)
class Text:
    """One text of a file."""

    id: str  # the record's own, or its number
    text: str  # as it stands in the file: spans count its characters
    line: int  # where it begins


def read_texts(path: Path, field: str = "text", *, whole: bool = False) -> list[Text]:
    """The texts of a file, whatever its form.

    Args:
        path: a plain text (blank lines part several texts), JSONL, JSON, CSV or TSV, packed by
            gzip or not; "-" is the standard input, read as plain text.
        field: of JSON and CSV, which field holds the text.
        whole: a plain file is one text, blank lines and all.

    Raises:
        DataError: the file cannot be read, a record cannot be used, or there is no text in it.
    """
    file = _file(path)
    kind = Path(path.name.removesuffix(".gz")).suffix.lower()
    if kind in _ROWS:
        texts = list(_of_rows(file, kind, field))
    else:
        texts = list(_of_plain(file, whole=whole))
    if not texts:
        raise DataError(
            f"{file.label}: there is no text in it. Give a file with at least one text."
        )
    _check(file.label, texts, field)
    return texts


def _file(path: Path) -> File:
    if path == STDIN:
        return unpacked("standard input", typer.get_binary_stream("stdin").read())
    return read_file(path)


def _of_plain(file: File, *, whole: bool) -> Iterator[Text]:
    """Whole, or from blank line to blank line."""
    data = file.data.removeprefix(b"\xef\xbb\xbf")
    starts = [0] if whole else [0, *(found.end() for found in _BLANK.finditer(data))]
    ends = [*(found.start() for found in _BLANK.finditer(data)), len(data)]
    number = 0
    for start, end in zip(starts, ends[-1:] if whole else ends, strict=True):
        line = data.count(b"\n", 0, start) + 1
        text = _decoded(file.label, data[start:end], line)
        if text.strip():
            number += 1
            yield Text(str(number), text, line)


def _decoded(label: str, raw: bytes, line: int) -> str:
    try:
        return raw.decode("utf-8")
    except UnicodeDecodeError as error:
        at = line + raw.count(b"\n", 0, error.start)
        raise DataError(
            f"{label}:{at}: not UTF-8 (byte 0x{raw[error.start]:02x}). Save the text as UTF-8; "
            "a PDF or a word processor's document has to be exported as text first."
        ) from error


def _of_rows(file: File, kind: str, field: str) -> Iterator[Text]:
    report = Report()
    for number, record in enumerate(_records(file, kind, report), start=1):
        # A table without a header has a patient in its first row: shown in excerpts alone.
        known = ", ".join(repr(excerpt(name)) for name in record.fields)
        if kind in _TABLES and field not in record.fields:
            raise DataError(
                f"{file.label}: the header has no column {field!r}. It has: {known}. Name the "
                "column that holds the text with --field."
            )
        value = record.fields.get(field)
        if not isinstance(value, str) or not value.strip():
            raise bad_field(
                file.label,
                record.line,
                field,
                value,
                "a text",
                f"The fields here are {known}. Choose the one that holds the text with --field.",
            )
        yield Text(_id(file.label, record, number), value, record.line)
    rejected = [problem for problem in report.problems if problem.kind == "rejected"]
    if rejected:
        shown = "\n".join(str(problem) for problem in rejected[: Report.LISTED])
        more = len(rejected) - Report.LISTED
        raise DataError(shown + (f"\nand {more:,} more" if more > 0 else ""))


def _records(file: File, kind: str, report: Report) -> Iterable[Record]:
    if kind in _TABLES:
        return csv_rows(file, report, required=())
    if kind == ".json":
        return _of_document(file)
    return json_lines(file, report)


def _of_document(file: File) -> Iterator[Record]:
    document: Any = json_document(file)
    rows = document if isinstance(document, list) else [document]
    for number, row in enumerate(rows, start=1):
        if not isinstance(row, dict):
            raise DataError(
                f"{file.label}: entry {number} is no object. Give objects, each with a text."
            )
        yield Record(0, row)


def _id(label: str, record: Record, number: int) -> str:
    if record.fields.get("id") in (None, ""):
        return str(number)
    try:
        return identifier(record.fields, "id")
    except BadRecord as bad:
        raise bad_field(
            label,
            record.line,
            "id",
            record.fields["id"],
            "a name or a whole number",
            "Name the text.",
        ) from bad


def _check(label: str, texts: list[Text], field: str) -> None:
    seen: dict[str, int] = {}
    for text in texts:
        if text.id in seen:
            raise bad_field(
                label,
                text.line,
                "id",
                text.id,
                f"an id of its own (line {seen[text.id]} has it)",
                "Give every text another id, or none at all.",
            )
        seen[text.id] = text.line
        if len(text.text) > LONGEST:
            raise bad_field(
                label,
                text.line,
                field,
                f"{text.text[:20]}…",
                f"at most {LONGEST:,} characters, not {len(text.text):,}",
                "Part it into texts, one a patient.",
            )
