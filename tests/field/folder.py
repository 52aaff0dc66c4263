"""A folder of field cases as its README describes it: cases, input files and their gold."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

Case = dict[str, Any]
Row = dict[str, Any]


@dataclass(frozen=True)
class CaseFolder:
    """Reads `cases.jsonl` and `inputs/`; a file that is not there holds nothing."""

    path: Path

    @property
    def inputs(self) -> Path:
        """The folder of the input files."""
        return self.path / "inputs"

    def cases(self) -> list[Case]:
        """The cases, in the order of the file."""
        return _json_lines(self.path / "cases.jsonl")

    def rows(self, name: str) -> list[Row]:
        """The records of one JSON lines file among the inputs."""
        return _json_lines(self.inputs / name)

    def input_files(self) -> list[Path]:
        """Whatever lies directly among the inputs, folders too, by name."""
        return sorted(self.inputs.iterdir()) if self.inputs.is_dir() else []

    def option_sets(self) -> dict[str, dict[str, str]]:
        """The questions that `answers.jsonl` points to, by name."""
        sets: dict[str, dict[str, str]] = json.loads((self.inputs / "optsets.json").read_bytes())
        return sets

    def messy(self, form: str) -> Iterator[tuple[Path, Any]]:
        """The messy files of one form, each with its parsed gold."""
        for gold in sorted(self.inputs.glob(f"{form}_messy*.gold.json")):
            stem = gold.name.removesuffix(".gold.json")
            (path,) = (found for found in gold.parent.glob(f"{stem}.*") if found != gold)
            yield path, json.loads(gold.read_bytes())


def _json_lines(path: Path) -> list[dict[str, Any]]:
    # By LF alone: a string may hold U+2028, at which `splitlines` would cut.
    lines = path.read_bytes().split(b"\n") if path.is_file() else []
    return [json.loads(line) for line in lines if line.strip()]
