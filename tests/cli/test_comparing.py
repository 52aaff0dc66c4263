"""`askew compare` as a user meets it."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.report.runs import starter_items
from tests.report.test_compare import copied, flex_run, turned


def askew(*arguments: str, folder: Path) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-c", "from askew.cli import main; main()", "compare", *arguments],
        cwd=folder,
        env={**os.environ, "COLUMNS": "120", "OMP_NUM_THREADS": "1"},
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )


@pytest.fixture(scope="module")
def folder(tmp_path_factory) -> Path:
    base = tmp_path_factory.mktemp("comparing")
    flex_run(base / "a", starter_items(40), reply="\x1b[31m")
    turned(copied(base / "a", base / "b"), "attacked", "neutral", "stereotyped", 30)
    return base


def test_a_comparison_ends_with_the_sentence_and_the_page(folder):
    done = askew("a", "b", folder=folder)
    assert done.returncode == 0, done.stderr
    assert "is less fair than" in done.stdout
    assert "Report: compare.html" in done.stdout
    assert (folder / "compare.html").is_file()
    assert "\x1b" not in done.stdout


def test_json_alone_is_printed_and_no_page_written(folder, tmp_path):
    out = tmp_path / "page.html"
    done = askew("a", "b", "--json", "--margin", "0.1", folder=folder)
    found = json.loads(done.stdout)
    assert found["margin"] == 0.1
    assert found["comparisons"][0]["verdict"] == "worse"
    assert not out.exists()


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("a",), "two run folders"),
        (("a", "b", "--margin", "3"), "--margin"),
        (("a", "nowhere"), "not a run folder"),
        (("a", "b", "--flips", "-1"), "--flips"),
    ],
)
def test_what_cannot_be_compared_ends_with_3(folder, arguments, said):
    done = askew(*arguments, folder=folder)
    assert done.returncode == 3
    assert said in done.stderr
    assert "Traceback" not in done.stderr


def test_runs_not_asked_alike_end_with_3_and_name_the_field(folder):
    other = copied(folder / "a", folder / "c")
    text = other.settings.read_text(encoding="utf-8")
    other.settings.write_text(text.replace("'texts'", "'reply'"), encoding="utf-8")
    done = askew("a", "c", folder=folder)
    assert done.returncode == 3
    assert "flex.scoring is texts against reply" in done.stderr
    assert askew("a", "c", "--anyway", folder=folder).returncode == 0
