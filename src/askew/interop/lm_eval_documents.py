"""Reads a task's documents for lm-evaluation-harness; askew writes a copy beside the tasks.

The harness reads a relative path from the folder it is started in, and an absolute one would tie
the tasks to one machine. This module knows where it lies, so that its folder may lie anywhere.
"""

from __future__ import annotations

import json
from pathlib import Path

import datasets


def load(askew_file: str, **metadata: object) -> dict[str, datasets.Dataset]:
    """The documents in `askew_file` beside this module, as the split "test".

    Args:
        askew_file: a JSONL file's name.
        metadata: what the harness hands over besides; not used.
    """
    text = Path(__file__).with_name(askew_file).read_text(encoding="utf-8")
    # By LF alone: a prompt may hold other line separators. Built from the rows, not by the JSON
    # reader of `datasets`, which guesses types (a text that looks like a date) and caches files.
    rows = [json.loads(line) for line in text.split("\n") if line]
    return {"test": datasets.Dataset.from_list(rows)}
