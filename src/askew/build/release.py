"""Writes a built set in the form of FLEX's release: CSVs and JSON maps a source, one Parquet file.

Every text is kept byte for byte. In particular a text that begins with "=" is not defused for
spreadsheets, as `askew export` does: this is a data set, and what a model is asked must not change.
Nothing is written before all of it has been read back, and has given the same items.
"""

from __future__ import annotations

import csv
import hashlib
import io
import json
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from askew.build.records import BuiltItem, Tally
from askew.datasets.base import Report
from askew.datasets.collect import Items
from askew.datasets.files import File
from askew.datasets.flex_built import read_built
from askew.datasets.flex_form import (
    CATEGORIES,
    INDEX,
    OPTIONS,
    OWN_COLUMNS,
    OWN_TEXTS,
    RELEASED_COLUMNS,
    SECOND_INDEX,
    SOURCES,
    TEXT_ATTACKS,
)
from askew.datasets.three_options import QUESTION
from askew.errors import DataError, RunError, missing_extra
from askew.prompts.persona import released_personas
from askew.prompts.wording import OBJECTIVES
from askew.records import Assignment, AttackCategory, ContextCondition, Item
from askew.runfolder import whole_file

CHECKSUMS = "SHA256SUMS"
# SQLite makes and removes these as it likes.
_NOT_HASHED = frozenset({CHECKSUMS, "run.sqlite-wal", "run.sqlite-shm"})
_SET_FOLDERS = ("selected/", "random/", "data/")
_CHECKSUM = re.compile(r"([0-9a-fA-F]{64}) [ *](.+)")
_ATTACK_WORDS = {category: word for word, category in CATEGORIES.items()}
_FOLDERS = {source.item_source: source.name for source in SOURCES.values()}
_TEXTS = frozenset(
    {"ctx", "context", "q_text", "sent_more", "sent_less", "bias_type", "attack"}
    | {*OPTIONS, *OWN_TEXTS}
)

_Row = dict[str, str | int | float | None]


def check_can_write() -> None:
    """Raise before anything is asked if a set could not be written afterwards.

    Raises:
        MissingDependency: pyarrow is not installed.
    """
    try:
        import pyarrow.parquet  # noqa: F401  # only whether it is there
    except ImportError:
        raise missing_extra("pyarrow", "parquet") from None


def write_set(folder: Path, name: str, rows: Sequence[BuiltItem]) -> list[Path]:
    """Write one set of a build; equal rows give equal bytes (Parquet: with the same pyarrow).

    Rows of a source stay in their order; sources stand in the order of their folders' names. Files
    of the set that an earlier call wrote for sources that are gone are removed.

    Args:
        folder: the build's folder.
        name: the set's name, "selected" or "random".
        rows: the items, each with its scenario. `assigned` of the item read back has the same
            category and name; its index is the place in the release's list, or one after its end.

    Returns:
        The files written: `data/NAME.parquet`, and for each source a CSV and four JSON maps.

    Raises:
        DataError: a row cannot be written so that it is read back the same; nothing is written.
        MissingDependency: pyarrow is not installed.
        RunError: a file cannot be written.
    """
    items = _checked(rows)
    by_source = _by_folder(rows)
    places = _places(rows)
    files: dict[str, bytes] = {}
    everything: list[_Row] = []
    for place, source_rows in by_source.items():
        records = [
            _record(number, row, places[_listed_by(row)][row.scenario.name])
            for number, row in enumerate(source_rows)
        ]
        everything.extend(records)
        files |= {f"{name}/{place}/{path}": data for path, data in _released(place, records)}
    files[f"data/{name}.parquet"] = _parquet(everything)
    _read_back(files, items)
    paths = [_write(folder / path, data) for path, data in files.items()]
    _remove_stale(folder / name, set(paths))
    return paths


def write_checksums(folder: Path) -> Path:
    """Hash every file of a build into `SHA256SUMS`, in the form of sha256sum.

    Raises:
        RunError: it cannot be written.
    """
    try:
        lines = [
            f"{_sha256(path)}  {path.relative_to(folder).as_posix()}\n" for path in _hashed(folder)
        ]
    except OSError as trouble:
        raise RunError(
            f"{trouble.filename} cannot be read: {trouble.strerror or trouble}. "
            "Run the same command again once it can."
        ) from trouble
    return _write(folder / CHECKSUMS, "".join(lines).encode())


def changed_files(folder: Path) -> list[str]:
    """The files that differ from `SHA256SUMS`, each with what is wrong; empty: all is well.

    Raises:
        RunError: there is no such file, or it cannot be read.
    """
    path = folder / CHECKSUMS
    try:
        lines = path.read_text(encoding="utf-8").removesuffix("\n").split("\n")
    except (OSError, UnicodeDecodeError) as trouble:
        raise RunError(f"{path} cannot be read ({trouble}). Build the set again.") from trouble
    trouble_found, listed = [], set()
    for number, line in enumerate(lines, start=1):
        parts = _CHECKSUM.fullmatch(line.rstrip("\r"))
        if parts is None:
            trouble_found.append(f"{CHECKSUMS}:{number}: is no line of sha256sum")
            continue
        expected, name = parts.groups()
        listed.add(name)
        if how := _unlike(folder / name, expected.lower()):
            trouble_found.append(f"{name}: {how}")
    # A file that came later to where sets lie would be read with them.
    for file in _hashed(folder):
        name = file.relative_to(folder).as_posix()
        if name not in listed and name.startswith(_SET_FOLDERS):
            trouble_found.append(f"{name}: came after it was built")
    return trouble_found


def _unlike(file: Path, expected: str) -> str:
    """How a file differs from its checksum; "" where it does not."""
    try:
        if not file.is_file():
            return "missing"
        return "" if _sha256(file) == expected else "changed since it was built"
    except OSError as trouble:
        return f"cannot be read ({trouble.strerror or trouble})"


def _hashed(folder: Path) -> Iterator[Path]:
    """The files that `SHA256SUMS` is over."""
    for path in sorted(folder.rglob("*")):
        if path.is_file() and path.name not in _NOT_HASHED and path.suffix != ".part":
            yield path


def _checked(rows: Sequence[BuiltItem]) -> dict[str, Item]:
    """The items by id as they must be read back, places of files and index of the list aside."""
    items: dict[str, Item] = {}
    for row in rows:
        item, scenario = row.item, row.scenario
        if item.id in items:
            raise _unwritable(item, "stands in the set twice")
        if item.condition is not ContextCondition.AMBIGUOUS or item.answer != item.neutral:
            raise _unwritable(item, "is no ambiguous item, whose neutral option is right")
        if (
            scenario.category is AttackCategory.TEXT_ATTACK
            and scenario.name not in item.text_attacks
        ):
            raise _unwritable(item, f"has no changed question for {scenario.name!r}")
        items[item.id] = replace(
            item,
            assigned=Assignment(scenario.category, 0, scenario.name),
            text_attacks=dict(item.text_attacks),
        )
    return items


def _unwritable(item: Item, what: str) -> DataError:
    place = item.provenance
    return DataError(
        f"{place.path}:{place.line}: item {item.id!r} {what}, so it cannot be written. "
        "Mend it in the source, or leave it out."
    )


def _by_folder(rows: Iterable[BuiltItem]) -> dict[str, list[BuiltItem]]:
    """Folder -> the rows of one source, in the order in which the reader takes the folders."""
    sources: dict[str, list[BuiltItem]] = {}
    for row in rows:
        sources.setdefault(row.item.source, []).append(row)
    folders = _folders(sources)
    return dict(sorted((folders[source], found) for source, found in sources.items()))


def _folders(sources: Iterable[str]) -> dict[str, str]:
    """Source -> its folder: the release's word for its three, else what is safe in any file system.

    >>> _folders(["crows_pairs", "My set/2", "crows", "../.."])
    {'crows_pairs': 'crows', '../..': 'source', 'My set/2': 'my-set-2', 'crows': 'crows-2'}
    """
    folders = {source: _FOLDERS[source] for source in sources if source in _FOLDERS}
    taken = set(_FOLDERS.values())
    for source in sorted(source for source in sources if source not in _FOLDERS):
        plain = re.sub(r"[^a-z0-9_]+", "-", source.casefold()).strip("-")[:60] or "source"
        folder, number = plain, 1
        while folder in taken:
            number += 1
            folder = f"{plain}-{number}"
        taken.add(folder)
        folders[source] = folder
    return folders


def _listed_by(row: BuiltItem) -> tuple[AttackCategory, str]:
    """What decides the list that `attack_type` points into: personas have one a bias type."""
    category = row.scenario.category
    return category, row.item.bias_type if category is AttackCategory.PERSONA_INJECTION else ""


def _places(
    rows: Iterable[BuiltItem],
) -> dict[tuple[AttackCategory, str], dict[str, int]]:
    """Category (and bias type) -> scenario -> `attack_type`: the release's index, then the others.

    The others (plug-ins, own personas) follow in the order of their names, so that equal rows give
    equal numbers; the column `scenario` is what names them.
    """
    names: dict[tuple[AttackCategory, str], set[str]] = {}
    for row in rows:
        names.setdefault(_listed_by(row), set()).add(row.scenario.name)
    places = {}
    for key, used in names.items():
        released = released_list(*key)
        own = sorted(used.difference(released))
        places[key] = {name: place for place, name in enumerate([*released, *own])}
    return places


def released_list(category: AttackCategory, bias_type: str) -> tuple[str, ...]:
    """The names that the release's `attack_type` points into."""
    match category:
        case AttackCategory.PERSONA_INJECTION:
            return released_personas(bias_type)
        case AttackCategory.COMPETING_OBJECTIVES:
            return OBJECTIVES
        case AttackCategory.TEXT_ATTACK:
            return tuple(TEXT_ATTACKS)


def _record(number: int, row: BuiltItem, attack_type: int) -> _Row:
    item, scenario = row.item, row.scenario
    selection = row.attacked_selection
    attacked = (
        item.text_attacks[scenario.name] if scenario.category is AttackCategory.TEXT_ATTACK else ""
    )
    return {
        INDEX: number,
        SECOND_INDEX: number,
        "ctx": "" if item.context_before_options else item.context,
        "context": item.context if item.context_before_options else "",
        "q_text": item.question,
        "sent_more": _option(item, item.stereotyped),
        "sent_less": _option(item, item.antistereotyped),
        "bias_type": item.bias_type,
        **dict(zip(OPTIONS, item.options, strict=True)),
        "attack_type": attack_type,
        "attack_success": None if selection is None else float(selection.biased),
        "attack": _ATTACK_WORDS[scenario.category],
        "label": item.neutral,
        "item_id": item.id,
        "source": item.source,
        "language": item.language,
        "category": scenario.category.value,
        "scenario": scenario.name,
        "instruction": row.instruction,
        "attacked_question": attacked,
        "text_attacks": json.dumps(dict(item.text_attacks), ensure_ascii=False, sort_keys=True),
        "polarity": item.polarity or "",
        **_counted("selection_source", row.source_selection),
        **_counted("selection", selection),
        **_counted("fresh_source", row.source_estimate),
        **_counted("fresh_attacked", row.attacked_estimate),
    }


def _option(item: Item, place: int | None) -> str:
    return "" if place is None else item.options[place]


def _counted(prefix: str, tally: Tally | None) -> _Row:
    return {
        f"{prefix}_neutral": None if tally is None else tally.neutral,
        f"{prefix}_biased": None if tally is None else tally.biased,
        f"{prefix}_stereotyped": None if tally is None else tally.stereotyped,
        f"{prefix}_replies": None if tally is None else tally.total,
    }


def _released(folder: str, records: Sequence[_Row]) -> Iterator[tuple[str, bytes]]:
    """The files of one source: its CSV, and the maps of changed questions by row number."""
    for record in records:
        _check_texts(record)
    yield f"FLEX_{folder}.csv", _csv(records, _columns(folder, records))
    attacks = [(str(row[INDEX]), json.loads(str(row["text_attacks"]))) for row in records]
    for kind, file in TEXT_ATTACKS.items():
        questions = {number: [changed[kind]] for number, changed in attacks if kind in changed}
        yield (
            f"text/{file}",
            (json.dumps(questions, ensure_ascii=False, indent=1) + "\n").encode(),
        )


def _columns(folder: str, records: Sequence[_Row]) -> tuple[str, ...]:
    """The release's columns for the source, and those of BBQ's where its rows need them as well.

    CrowS-Pairs has neither context nor question in the release, StereoSet no question.
    """
    released = SOURCES[folder].columns if folder in SOURCES else SOURCES["bbq"].columns
    needed = {
        "ctx": any(row["ctx"] for row in records),
        "context": any(row["context"] for row in records),
        "q_text": any(row["q_text"] != QUESTION for row in records),
    }
    left_out = {name for name, wanted in needed.items() if not wanted and name not in released}
    return tuple(name for name in (*RELEASED_COLUMNS, *OWN_COLUMNS) if name not in left_out)


def _check_texts(record: Mapping[str, object]) -> None:
    for name, value in record.items():
        text = str(value)
        what = ""
        if len(text) > csv.field_size_limit():
            what = (
                f"has {len(text):,} characters, and readers of CSV take {csv.field_size_limit():,}"
            )
        elif not _is_utf8(text):
            what = "holds half a surrogate pair, which is no character"
        if what:
            raise DataError(
                f"item {record['item_id']!r}: field {name!r} {what}, so it cannot be written. "
                "Leave the item out."
            )


def _is_utf8(text: str) -> bool:
    try:
        text.encode()
    except UnicodeEncodeError:
        return False
    return True


def _csv(records: Sequence[_Row], columns: Sequence[str]) -> bytes:
    text = io.StringIO()
    # Everything is quoted: which texts need it (one with a lone carriage return does) differs
    # between versions of Python, and the bytes must not.
    writer = csv.writer(text, quoting=csv.QUOTE_ALL, lineterminator="\n")
    writer.writerow(columns)
    for record in records:
        writer.writerow(["" if record[name] is None else record[name] for name in columns])
    return text.getvalue().encode()


def _parquet(records: Sequence[_Row]) -> bytes:
    check_can_write()
    import pyarrow
    from pyarrow import parquet

    schema = pyarrow.schema(
        [(name, _arrow_type(name)) for name in (*RELEASED_COLUMNS, *OWN_COLUMNS)]
    )
    columns = {name: [record[name] for record in records] for name in schema.names}
    out = io.BytesIO()
    parquet.write_table(pyarrow.table(columns, schema=schema), out)
    return out.getvalue()


def _arrow_type(name: str) -> Any:
    import pyarrow

    if name in _TEXTS:
        return pyarrow.string()
    return pyarrow.float64() if name == "attack_success" else pyarrow.int64()


def _read_back(files: Mapping[str, bytes], items: Mapping[str, Item]) -> None:
    """Refuse what would not be read as it is: the user would be asked something else."""
    for form in (".csv", ".parquet"):
        report = Report()
        found = Items(report)
        for path, data in files.items():
            if path.endswith(form):
                read_built(File(path, data, ""), found, report)
        for problem in report.problems:
            raise DataError(
                f"{problem}. So the row cannot be written. Mend the item, or leave it out."
            )
        _check_same({item.id: item for item in found}, items)


def _check_same(found: Mapping[str, Item], items: Mapping[str, Item]) -> None:
    for name, item in items.items():
        read = found.get(name)
        if read is None:
            raise _unwritable(item, "is not read back")
        assigned = read.assigned and replace(read.assigned, index=0)
        same = replace(read, provenance=item.provenance, assigned=assigned)
        if same != item:
            changed = [
                field for field in item.__slots__ if getattr(same, field) != getattr(item, field)
            ]
            raise _unwritable(item, f"would be read back with another {' and '.join(changed)}")


def _write(path: Path, data: bytes) -> Path:
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
    except OSError as trouble:
        raise RunError(
            f"{path.parent} cannot be made: {trouble.strerror or trouble}. Name another folder."
        ) from trouble
    with whole_file(path) as part:
        part.write_bytes(data)
    return path


def _remove_stale(folder: Path, written: set[Path]) -> None:
    """Take away what an earlier call wrote for a source that is gone; its items would be read."""
    for path in folder.glob("*/FLEX_*.csv"):
        if path not in written:
            maps = [path.parent / "text" / name for name in TEXT_ATTACKS.values()]
            for old in (path, *maps):
                _remove(old)


def _remove(path: Path) -> None:
    try:
        path.unlink(missing_ok=True)
    except OSError as trouble:
        raise RunError(
            f"{path} is of an earlier build and cannot be removed: {trouble.strerror or trouble}. "
            "Remove it, and run the same command again."
        ) from trouble


def _sha256(path: Path) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()
