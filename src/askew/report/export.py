"""A run's questions, replies and scores as one tidy table: CSV, JSONL or Parquet."""

from __future__ import annotations

import csv
from collections.abc import Iterator
from pathlib import Path

from askew.errors import missing_extra
from askew.models.ledgerfile import read_records
from askew.runfolder import RunFolder, json_line

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


def write_rows(folder: RunFolder, out: Path, form: str) -> int:
    """Write one row a question, in the order of the questions.

    Args:
        folder: the run.
        out: the file to write.
        form: "csv", "jsonl" or "parquet".

    Returns:
        The number of rows.

    Raises:
        MissingDependency: Parquet is wanted and pyarrow is not installed.
    """
    rows = list(_rows(folder))
    if form == "parquet":
        _write_parquet(rows, out)
    elif form == "jsonl":
        out.write_text("".join(json_line(row) + "\n" for row in rows), encoding="utf-8")
    else:
        with out.open("w", encoding="utf-8", newline="") as file:
            writer = csv.DictWriter(file, COLUMNS)
            writer.writeheader()
            writer.writerows(rows)
    return len(rows)


def _rows(folder: RunFolder) -> Iterator[dict[str, object]]:
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
            "log_probabilities": json_line(reply.log_probabilities) if reply else None,
            "call_key": question.call_key,
        }


def _write_parquet(rows: list[dict[str, object]], out: Path) -> None:
    try:
        import pyarrow
        from pyarrow import parquet
    except ImportError:
        raise missing_extra("pyarrow", "parquet") from None
    columns = {name: [row[name] for row in rows] for name in COLUMNS}
    parquet.write_table(pyarrow.table(columns), out)
