"""Trouble from the field: every case and gold file of a folder in the form of `$ASKEW_CASES`.

What this version has no part for, and a case that nobody has written a check for, is skipped with
its reason; `pytest -ra` lists them.
"""

from __future__ import annotations

import os
from pathlib import Path

import pytest

if "ASKEW_CASES" not in os.environ:
    pytest.skip("ASKEW_CASES is not set: no folder of field cases", allow_module_level=True)

from tests.field import (  # noqa: F401  # importing a check module registers its checks
    check_answers,
    check_boundary,
    check_clinical,
    check_data,
    check_figures,
    check_gateway,
    check_judges,
    check_local,
    check_ray,
    check_runs,
    gold_answers,
    gold_clinical,
    gold_data,
    gold_dumps,
    gold_judges,
    gold_servers,
)
from tests.field.folder import CaseFolder
from tests.field.registry import CHECKS, why_later

FOLDER = CaseFolder(Path(os.environ["ASKEW_CASES"]))
READ = {
    "answers.jsonl",
    "clinical.jsonl",
    "dump",
    "judge_scores.jsonl",
    "judge_verdicts.jsonl",
    "optsets.json",
    "server_replies.jsonl",
}
LATER = {
    "sse.jsonl": "replies are not streamed",
}


def named(row: dict) -> str:
    return f"{row['id']}-{row.get('part') or row.get('style')}"


def messy_files() -> list:
    return [
        pytest.param(form, path, gold, id=path.name)
        for form in gold_data.CHECKS
        for path, gold in FOLDER.messy(form)
    ]


@pytest.fixture(autouse=True)
def no_key(monkeypatch):
    """No key of the user's goes to a server of a test."""
    monkeypatch.delenv("ASKEW_API_KEY", raising=False)


@pytest.mark.parametrize("case", FOLDER.cases(), ids=named)
def test_case(case, tmp_path):
    name, part = case["id"], case["part"]
    if reason := why_later(part):
        pytest.skip(f"{name} ({part}): not covered by this version: {reason}")
    if name in CHECKS:
        CHECKS[name](case, FOLDER, tmp_path)
    elif not check_answers.fallback(case):
        pytest.skip(f"{name} ({part}): no written check for this case yet")


@pytest.mark.parametrize("row", FOLDER.rows("answers.jsonl"), ids=named)
def test_answer(row):
    assert gold_answers.verdict(row, FOLDER) == row["gold"]


@pytest.mark.parametrize("row", FOLDER.rows("server_replies.jsonl"), ids=named)
def test_server_reply(row, tmp_path):
    if row["gold"]["outcome"] == "adapt_or_fatal":
        gold_servers.check_adapted(row)
        return
    gold_servers.check_reply(row)
    if not gold_servers.is_scored(row):
        gold_servers.check_run(row, tmp_path / "run.sqlite")


@pytest.mark.parametrize("row", FOLDER.rows("judge_scores.jsonl"), ids=named)
def test_judge_scores(row):
    gold_judges.check_scores(row)


@pytest.mark.parametrize("row", FOLDER.rows("judge_verdicts.jsonl"), ids=named)
def test_judge_verdict(row):
    gold_judges.check_verdict(row)


@pytest.mark.parametrize("row", FOLDER.rows("clinical.jsonl"), ids=named)
def test_clinical_text(row):
    gold_clinical.check_facts(row)


@pytest.mark.parametrize(("form", "path", "gold"), messy_files())
def test_messy_file(form, path, gold):
    gold_data.CHECKS[form](path, gold)


@pytest.mark.parametrize("path", gold_dumps.dump_folders(FOLDER), ids=lambda path: path.name)
def test_dump(path):
    gold_dumps.check_dump(path)


@pytest.mark.parametrize("path", FOLDER.input_files(), ids=lambda path: path.name)
def test_every_input_file_is_read(path):
    if path.name in LATER:
        pytest.skip(f"{path.name}: not covered by this version: {LATER[path.name]}")
    form = path.name.partition("_messy")[0]
    if path.name not in READ and ("_messy" not in path.name or form not in gold_data.CHECKS):
        pytest.skip(f"{path.name}: nothing reads this file yet")
