"""A run's questions, replies and scores as one tidy table: CSV, JSONL or Parquet.

A clinical run has one row an answer, runs of other audits one row a question.

A reply may hold anything. Half a surrogate pair, which UTF-8 cannot hold, is written as JSON
escapes it. In CSV, a text that a spreadsheet would take for a formula has an apostrophe put before
it (`report.sheet_cells`); JSONL and Parquet hold it as it was.
"""

from __future__ import annotations

import csv
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

from askew.errors import RunError, missing_extra
from askew.models.ledgerfile import read_records
from askew.report import boundary_rows, clinical_rows
from askew.report.items.redacted import redacted, redaction_of
from askew.report.sheet_cells import sheet_cell
from askew.report.which_audit import Audit, audits_of
from askew.runfolder import RunFolder, json_line, whole_file, without_surrogates

COLUMNS = (
    "item_id",
    "source",
    "bias_type",
    "condition",
    "category",
    "scenario",
    "order",
    "replicate",
    "outcome",
    "chosen",
    "right",
    "rule",
    "reply",
    "log_probabilities",
    "call_key",
)

Row = dict[str, object]


def write_rows(folder: RunFolder, out: Path, form: str, audit: Audit | None = None) -> int:
    """Write the rows of an audit, in the order of its questions; a whole file or none.

    Args:
        folder: the run.
        out: the file to write.
        form: "csv", "jsonl" or "parquet".
        audit: which; None: the only one of the run.

    Returns:
        The number of rows.

    Raises:
        MissingDependency: Parquet is wanted and pyarrow is not installed.
        RunError: the run cannot be read or holds several audits, or the file cannot be written.
    """
    write = {"parquet": _write_parquet, "jsonl": _write_jsonl, "csv": _write_csv}[form]
    names = columns(folder, audit)
    rules = redaction_of(folder)
    written = [_as_text(redacted(row, rules)) for row in rows(folder, audit)]
    with whole_file(out) as part:
        write(names, written, part)
    return len(written)


def columns(folder: RunFolder, audit: Audit | None = None) -> tuple[str, ...]:
    """The names of an audit's columns; those of a clinical one depend on its attributes."""
    match the_audit(folder, audit):
        case "clinical":
            return clinical_rows.answer_columns(folder)
        case "boundary":
            return boundary_rows.QUESTION_COLUMNS
        case "flex":
            return COLUMNS


def the_audit(folder: RunFolder, audit: Audit | None = None) -> Audit:
    """The audit whose rows are meant: the one that is named, or the only one of the run.

    Raises:
        RunError: the run does not hold it, or holds several and none is named.
    """
    held = audits_of(folder)
    if audit is None and len(held) == 1:
        return held[0]
    if audit is None:
        raise RunError(
            f"{folder.path} holds several audits ({', '.join(held)}), and rows are of one. Name it "
            f'with --audit {held[0]}, or audit="{held[0]}" from Python.'
        )
    if audit not in held:
        raise RunError(f"{folder.path} is of {' and '.join(held)}, and not of {audit}. Name these.")
    return audit


def rows(folder: RunFolder, audit: Audit | None = None) -> Iterator[Row]:
    """One row a question, or a clinical answer, in their order; the keys are `columns(folder)`.

    What is not known is None. `log_probabilities` has one number a choice, in the order shown; NaN
    where the server did not show it.

    Raises:
        RunError: the run cannot be read.
    """
    match the_audit(folder, audit):
        case "clinical":
            return clinical_rows.answer_rows(folder)
        case "boundary":
            return boundary_rows.question_rows(folder)
        case "flex":
            return _question_rows(folder)


def _question_rows(folder: RunFolder) -> Iterator[Row]:
    items = folder.read_items()
    replies = {record.key: record.reply for record in read_records(folder.database)}
    for question, score in zip(folder.read_questions(), folder.read_scores(), strict=True):
        item, reply = items[question.item_id], replies.get(question.call_key)
        scenario = question.scenario
        yield {
            "item_id": item.id,
            "source": item.source,
            "bias_type": item.bias_type,
            "condition": question.condition,
            "category": scenario.category.value if scenario else None,
            "scenario": scenario.name if scenario else None,
            "order": "".join(map(str, question.order)),
            "replicate": question.replicate,
            "outcome": score.outcome.value if score else None,
            "chosen": score.chosen if score else None,
            "right": score.right if score else None,
            "rule": score.rule if score else None,
            "reply": reply.text if reply else None,
            "log_probabilities": reply.log_probabilities if reply else None,
            "call_key": question.call_key,
        }


def _as_text(row: Row) -> Row:
    """The row as files hold it: lists and tables as JSON."""
    return {
        name: json_line(value) if isinstance(value, list | tuple | Mapping) else value
        for name, value in row.items()
    }


def _write_csv(names: Sequence[str], rows: Sequence[Row], out: Path) -> None:
    with out.open("w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file)
        writer.writerow([_cell(name) for name in names])
        writer.writerows([_cell(row.get(name)) for name in names] for row in rows)


def _cell(value: object) -> object:
    """The value as a spreadsheet shows it and does not run it.

    >>> _cell("=1+1"), _cell("A"), _cell(-1)
    ("'=1+1", 'A', -1)
    """
    return without_surrogates(sheet_cell(value)) if isinstance(value, str) else value


def _write_jsonl(names: Sequence[str], rows: Sequence[Row], out: Path) -> None:
    out.write_text("".join(json_line(row) + "\n" for row in rows), encoding="utf-8", newline="\n")


def _write_parquet(names: Sequence[str], rows: Sequence[Row], out: Path) -> None:
    try:
        import pyarrow
        from pyarrow import parquet
    except ImportError:
        raise missing_extra("pyarrow", "parquet") from None
    cells = {name: [_storable(row[name]) for row in rows] for name in names}
    parquet.write_table(pyarrow.table(cells), out)


def _storable(value: object) -> object:
    return without_surrogates(value) if isinstance(value, str) else value
