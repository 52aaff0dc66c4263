"""lm-evaluation-harness as a user starts it, and folders of what it wrote, to be spoilt."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

# Its own command line; only the ten thousand tasks that it brings are left out of the index, which
# it would read for a minute.
_WITHOUT_ITS_OWN_TASKS = """
import functools, lm_eval.tasks
lm_eval.tasks.TaskManager = functools.partial(lm_eval.tasks.TaskManager, include_defaults=False)
from lm_eval.__main__ import cli_evaluate
cli_evaluate()
"""


def lm_eval(*arguments: str, folder: Path) -> subprocess.CompletedProcess[str]:
    """Run `lm_eval` in `folder` with these arguments, offline; it has to succeed."""
    offline = {"HF_HUB_OFFLINE": "1", "HF_DATASETS_OFFLINE": "1", "OMP_NUM_THREADS": "1"}
    done = subprocess.run(
        [sys.executable, "-c", _WITHOUT_ITS_OWN_TASKS, *arguments],
        cwd=folder,
        env={**os.environ, **offline},
        capture_output=True,
        text=True,
        timeout=600,
        check=False,
    )
    assert done.returncode == 0, done.stderr[-3000:]
    return done


class Output:
    """A copy of the harness's output folder that a test may spoil."""

    def __init__(self, path: Path) -> None:
        self.path = path

    @classmethod
    def copy(cls, original: Path, path: Path) -> Output:
        shutil.copytree(original, path)
        return cls(path)

    @property
    def results(self) -> Path:
        (found,) = self.path.rglob("results_*.json")
        return found

    def samples(self, task: str) -> Path:
        (found,) = self.path.rglob(f"samples_{task}_2*.jsonl")
        return found

    def change_results(self, change: Callable[[Any], None]) -> None:
        """Let `change` edit the parsed results file."""
        content = json.loads(self.results.read_text())
        change(content)
        self.results.write_text(json.dumps(content))

    def change_line(self, task: str, change: Callable[[Any], None], line: int = 1) -> None:
        """Let `change` edit one parsed line of a samples file."""
        path = self.samples(task)
        lines = path.read_text(encoding="utf-8").split("\n")
        sample = json.loads(lines[line - 1])
        change(sample)
        lines[line - 1] = json.dumps(sample, ensure_ascii=False)
        path.write_text("\n".join(lines), encoding="utf-8")

    def rename_date(self, date: str) -> None:
        """As if the harness had been started on another date."""
        for path in [*self.path.rglob("samples_*"), self.results]:
            head, _, _ = path.stem.rpartition("_")
            path.rename(path.with_name(f"{head}_{date}{path.suffix}"))
