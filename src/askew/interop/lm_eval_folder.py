"""A folder of exported tasks: written whole, and read back only if it is as it was written.

`askew_flex.json` (what the tasks are), `run.toml` (the settings), `askew_items.jsonl` (the items),
one YAML and one JSONL a task, one YAML a group, `askew_documents.py` (reads the JSONL for the
harness), `README.md`, and `SHA256SUMS` over all of them.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from askew.errors import DataError, bad_field
from askew.records import AttackCategory, Condition, Item, Scenario
from askew.runfile import RunFile, read_run_file
from askew.runfolder import canonical_hash, item_from_json

MANIFEST = "askew_flex.json"
SETTINGS = "run.toml"
ITEMS = "askew_items.jsonl"
SUMS = "SHA256SUMS"
FORMAT = 1

Document = dict[str, Any]


@dataclass(frozen=True, slots=True)
class ExportedTasks:
    """What an export holds."""

    folder: Path
    run: RunFile
    items: Mapping[str, Item]
    documents: tuple[Document, ...]  # by place: documents[k] is the k-th question of the study
    task_of: tuple[str, ...]  # the task that document k is in
    notes: Mapping[str, Mapping[str, object]]  # what the study left out, for the run's figures
    checksum: str  # of the documents, as the results of the harness repeat it

    @property
    def tasks(self) -> frozenset[str]:
        """The names of the tasks."""
        return frozenset(self.task_of)


def checksums(files: Mapping[str, bytes]) -> str:
    """The text of `SHA256SUMS`, in the form of sha256sum."""
    return "".join(
        f"{hashlib.sha256(content).hexdigest()}  {name}\n" for name, content in files.items()
    )


def read_tasks(folder: Path) -> ExportedTasks:
    """The export in `folder`.

    Raises:
        DataError: there is none, it was made by a newer askew, or a file has changed since.
    """
    if not (folder / MANIFEST).is_file() or not (folder / SUMS).is_file():
        raise DataError(
            f"{folder} holds no tasks of askew: it has no {MANIFEST} or no {SUMS}. "
            "Name the folder that `askew export lm-eval` has written."
        )
    try:
        _check_unchanged(folder)
        return _read(folder)
    except (OSError, ValueError, LookupError, TypeError) as trouble:
        if isinstance(trouble, DataError):
            raise
        raise DataError(f"{folder} is damaged ({trouble!r}). Export the tasks anew.") from trouble


def _read(folder: Path) -> ExportedTasks:
    manifest = json.loads((folder / MANIFEST).read_text(encoding="utf-8"))
    if manifest["format"] != FORMAT:
        raise DataError(
            f"{folder / MANIFEST} was written by another askew (form {manifest['format']}, this "
            f"one reads {FORMAT}). Export the tasks anew, or use askew {manifest['askew']}."
        )
    documents: dict[int, tuple[str, Document]] = {}
    for task in manifest["tasks"]:
        for document in _lines(folder / f"{task}.jsonl"):
            documents[document["place"]] = (task, document)
    ordered = [documents[place] for place in range(len(documents))]
    if canonical_hash([document for _, document in ordered]) != manifest["checksum"]:
        raise DataError(
            f"{folder / MANIFEST}: field 'checksum' is not that of the documents beside it. "
            "Export the tasks anew, and run those."
        )
    items = [item_from_json(record) for record in _lines(folder / ITEMS)]
    return ExportedTasks(
        folder,
        read_run_file(folder / SETTINGS),
        {item.id: item for item in items},
        tuple(document for _, document in ordered),
        tuple(task for task, _ in ordered),
        manifest["notes"],
        manifest["checksum"],
    )


def condition_of(document: Document) -> Condition:
    """The condition that a document asks in."""
    condition: Condition = document["condition"]
    return condition


def scenario_of(document: Document) -> Scenario | None:
    """The scenario of an attacked document, None for the others."""
    if not document["category"]:
        return None
    return Scenario(AttackCategory(document["category"]), document["scenario"])


def _check_unchanged(folder: Path) -> None:
    path = folder / SUMS
    mend = "Export the tasks anew; samples of changed documents are not of these settings."
    named = set()
    for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), start=1):
        expected, _, name = line.partition("  ")
        named.add(name)
        file = folder / name
        found = hashlib.sha256(file.read_bytes()).hexdigest() if file.is_file() else "missing"
        if found != expected:
            raise bad_field(str(path), number, name, found, expected, mend)
    if lacking := {MANIFEST, SETTINGS, ITEMS} - named:  # the documents have a checksum of their own
        raise DataError(f"{path} does not name {', '.join(sorted(lacking))}: it was cut. {mend}")


def _lines(path: Path) -> Iterator[Document]:
    with path.open("rb") as file:
        for line in file:
            yield json.loads(line)
