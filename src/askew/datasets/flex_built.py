"""Sets in FLEX's form that askew has built: read back exactly as they were written.

Unlike the release's rows, these name their item, source and scenario, may come from any source, and
their neutral option is where `label` points, as a user's own data may word it in any way. Texts are
taken as they stand, blanks at their ends included: whoever built the set has stripped them already.
"""

from __future__ import annotations

import io
import re
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any, Literal

from askew.datasets import fields
from askew.datasets.base import BadRecord, Report
from askew.datasets.collect import Items, collect
from askew.datasets.files import (
    MOST_VARIABLE,
    File,
    Record,
    cell_json,
    csv_rows,
    most_bytes,
    read_file,
)
from askew.datasets.flex_form import ATTACK_COLUMNS, CATEGORIES, MARKS, OPTIONS
from askew.datasets.phrases import is_unknown_phrase
from askew.datasets.three_options import QUESTION
from askew.errors import DataError, missing_extra, shortened
from askew.records import Assignment, AttackCategory, ContextCondition, Item, Provenance

SELECTED = "selected"
RANDOM = "random"
_BATCH = 256  # rows of a Parquet file that are unpacked at once
_ROW = 1000  # bytes of a row's fields in memory, at least
_COLUMNS = (
    *MARKS,
    "source",
    "category",
    "attacked_question",
    "sent_more",
    "bias_type",
    *OPTIONS,
    *ATTACK_COLUMNS,
)
_POLARITIES: dict[str, Literal["negative", "nonnegative"] | None] = {
    "": None,
    "negative": "negative",
    "nonnegative": "nonnegative",
}


def find_built(root: Path) -> tuple[Path, ...]:
    """The files of a built set: CSVs, or else one Parquet file; empty where there is none.

    A folder that holds both sets of a build stands for the selected one.

    Args:
        root: a file, the folder of one set, the folder of a build, or its `data`.
    """
    if root.is_file():
        return (root,) if _is_parquet(root) or _has_marks(root) else ()
    for folder in (root, root / SELECTED):
        files = tuple(sorted(_csv_files(folder)))
        # One that is empty or damaged is taken along: whoever reads it says so, and no source is
        # lost in silence.
        if any(map(_has_marks, files)):
            return files
    # What is left where only the Parquet files and the card were handed on.
    for path in (root / "data" / f"{SELECTED}.parquet", root / f"{SELECTED}.parquet"):
        if path.is_file():
            return (path,)
    return ()


def read_built(file: File, items: Items, report: Report) -> None:
    """Read one file of a built set into `items`.

    Raises:
        DataError: a column is missing, or the file is no Parquet or CSV.
        MissingDependency: it is Parquet, and pyarrow is not installed.
    """

    def make(record: Record) -> Item:
        return _item(record, file.label)

    records = parquet_records(file) if is_parquet(file) else csv_rows(file, report, _COLUMNS)
    collect(records, make, items, report, path=file.label, name_fields=("item_id",))


def is_parquet(file: File) -> bool:
    """Whether the bytes are a Parquet file's, whatever the file is called."""
    return file.data.startswith(b"PAR1")


def parquet_records(file: File, required: Sequence[str] = ()) -> list[Record]:
    """The rows of a Parquet file; its rows have no lines, so each has line 0.

    Args:
        file: the file.
        required: the columns it must have; empty: those of a built set.

    Raises:
        DataError: it is no Parquet file, lacks a column, or unpacks to more than `most_bytes`.
        MissingDependency: pyarrow is not installed.
    """
    try:
        import pyarrow
        from pyarrow import parquet
    except ImportError:
        raise missing_extra("pyarrow", "parquet") from None
    rows: list[dict[str, Any]] = []
    size, most = 0, most_bytes()
    try:
        opened = parquet.ParquetFile(io.BytesIO(file.data))
        names = opened.schema_arrow.names
        _check_columns(file.label, names, required or _COLUMNS)
        # A row takes next to nothing in the file if it is the same a billion times.
        for batch in opened.iter_batches(batch_size=_BATCH):
            size += batch.nbytes + _ROW * batch.num_rows
            if size > most:
                raise DataError(
                    f"{file.label}: its rows take more than {most >> 20:,} MB, which is the most "
                    "that is read into memory. If the file is what you think, raise the bound: "
                    f"{MOST_VARIABLE}={2 * (most >> 20)}."
                )
            rows += batch.to_pylist()
    except DataError:
        raise
    except (pyarrow.ArrowException, OSError, ValueError, OverflowError, TypeError) as trouble:
        raise DataError(
            f"{file.label}: cannot be read as Parquet ({shortened(str(trouble))}). Fetch or build "
            "it again."
        ) from trouble
    return [Record(0, row) for row in rows]


def _check_columns(label: str, names: Sequence[str], required: Sequence[str]) -> None:
    shown = shortened(", ".join(map(repr, names)), 800)
    missing = [name for name in required if name not in names]
    if missing:
        raise DataError(
            f"{label}: has no column {', '.join(map(repr, missing))}. It has: {shown}. Name a file "
            "of `askew flex build`."
        )
    if len(set(names)) < len(names):
        raise DataError(f"{label}: two columns have one name. It has: {shown}. Build it again.")


def _csv_files(folder: Path) -> Iterable[Path]:
    """The CSVs of a set's rows: each in its source's folder, or all in one."""
    for pattern in ("FLEX_*.csv", "FLEX_*.csv.gz", "*/FLEX_*.csv", "*/FLEX_*.csv.gz"):
        for path in folder.glob(pattern):
            if "_fewshot." not in path.name:
                yield path


def header_names(path: Path) -> set[str]:
    """The columns that a CSV's header names.

    Raises:
        DataError: the file cannot be read.
    """
    header = read_file(path).data.split(b"\n", 1)[0].decode("utf-8-sig", errors="replace")
    # Parted as `csv_rows` may part it: a spreadsheet saves with semicolons in half of Europe.
    return {name.strip().strip('"') for name in re.split("[,;\t]", header)}


def _has_marks(path: Path) -> bool:
    """Whether the header can be read and has the columns that only a built set has."""
    try:
        return header_names(path).issuperset(MARKS)
    except DataError:
        return False


def _is_parquet(path: Path) -> bool:
    with path.open("rb") as file:
        return file.read(4) == b"PAR1"


def _item(record: Record, path: str) -> Item:
    row = record.fields
    name = _text(row, "item_id")
    first, second, third = (_text(row, option) for option in OPTIONS)
    options = (first, second, third)
    fields.check_different(options)
    language = _exact(row, "language") or "en"
    neutral = fields.option_index(row, "label")
    _check_one_neutral(options, neutral, language)
    assigned = _assigned(row)
    before_options = _exact(row, "context")
    return Item(
        id=name,
        source=_text(row, "source"),
        bias_type=_text(row, "bias_type"),
        context=_context(row, before_options),
        question=_text(row, "q_text") if row.get("q_text") else QUESTION,
        options=options,
        neutral=neutral,
        answer=neutral,
        condition=ContextCondition.AMBIGUOUS,
        provenance=Provenance(path, record.line, name),
        stereotyped=_stereotyped(row, options, neutral),
        polarity=_polarity(row),
        context_before_options=bool(before_options),
        assigned=assigned,
        text_attacks=_text_attacks(row, assigned),
        language=language,
    )


def _exact(row: Mapping[str, Any], name: str) -> str:
    """A text as it stands; "" where the cell, or the column, is not there."""
    value = row.get(name)
    if value is None:
        return ""
    if not isinstance(value, str):
        raise BadRecord(f"is {value!r}, expected text", name)
    return value


def _text(row: Mapping[str, Any], name: str) -> str:
    """A text as it stands, which must hold more than blanks."""
    value = _exact(row, name)
    if not value.strip():
        raise BadRecord("is empty, expected text", name)
    return value


def _context(row: Mapping[str, Any], before_options: str) -> str:
    before_question = _exact(row, "ctx")
    if before_question and before_options:
        raise BadRecord("has a text, and so has 'context'; an item has one of them", "ctx")
    return before_question or before_options


def _check_one_neutral(options: tuple[str, str, str], neutral: int, language: str) -> None:
    for place, option in enumerate(options):
        if place != neutral and is_unknown_phrase(option, language):
            raise BadRecord(f"is {neutral}, but option {'abc'[place]} says {option!r}", "label")


def _stereotyped(row: Mapping[str, Any], options: tuple[str, str, str], neutral: int) -> int | None:
    """Where `sent_more` stands; it is empty where the data do not say which group is meant."""
    sentence = _exact(row, "sent_more")
    if not sentence:
        return None
    if sentence not in options:
        raise BadRecord(f"is {sentence!r}, which is none of the options", "sent_more")
    place = options.index(sentence)
    if place == neutral:
        raise BadRecord("is the neutral option", "sent_more")
    return place


def _polarity(row: Mapping[str, Any]) -> Literal["negative", "nonnegative"] | None:
    word = _exact(row, "polarity")
    if word not in _POLARITIES:
        raise BadRecord(f"is {word!r}, expected 'negative' or 'nonnegative'", "polarity")
    return _POLARITIES[word]


def _assigned(row: Mapping[str, Any]) -> Assignment:
    word, attack = _exact(row, "category"), _exact(row, "attack")
    if word not in set(AttackCategory):
        raise BadRecord(
            f"is {word!r}, expected one of {', '.join(map(repr, AttackCategory))}", "category"
        )
    category = AttackCategory(word)
    if CATEGORIES.get(attack) is not category:
        raise BadRecord(f"is {attack!r}, but the category is {word!r}", "attack")
    place = fields.whole_number(row, "attack_type")
    if place < 0:
        raise BadRecord(f"is {place}, expected a place in a list", "attack_type")
    return Assignment(category, place, _text(row, "scenario"))


def _text_attacks(row: Mapping[str, Any], assigned: Assignment) -> dict[str, str]:
    """Kind -> changed question; the assigned one must be the row's `attacked_question`."""
    attacked = _exact(row, "attacked_question")
    name = assigned.name or ""
    changed = _questions(_exact(row, "text_attacks"))
    if assigned.category is not AttackCategory.TEXT_ATTACK:
        if attacked:
            raise BadRecord(f"is {attacked!r}, but the row has no text attack", "attacked_question")
        return changed
    if not attacked.strip():
        raise BadRecord("is empty, though the row has a text attack", "attacked_question")
    if changed.setdefault(name, attacked) != attacked:
        raise BadRecord(f"differs from the {name!r} of 'text_attacks'", "attacked_question")
    return changed


def _questions(text: str) -> dict[str, str]:
    if not text:
        return {}
    try:
        questions = cell_json(text, "text_attacks")
    except (ValueError, RecursionError) as trouble:
        raise BadRecord(f"is no JSON ({trouble})", "text_attacks") from trouble
    if not isinstance(questions, dict) or not all(
        isinstance(question, str) and question.strip() for question in questions.values()
    ):
        raise BadRecord("is no JSON object of kinds and questions", "text_attacks")
    return questions
