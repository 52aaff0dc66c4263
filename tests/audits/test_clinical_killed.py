"""A clinical run that is killed with `kill -9` in each of its stages, before a real server."""

from __future__ import annotations

import asyncio
import json
import multiprocessing
import os
import signal
import time
from collections import Counter
from dataclasses import replace
from pathlib import Path

import pytest

from askew.models.ledgerfile import State, read_records
from askew.models.registry import load_model
from askew.run import clinical
from askew.runfile import RunFile, checked
from tests.audits import scripted_makers
from tests.models.servers import Answer, FaultServer, Seen, chat_body

pytest.importorskip("spacy", reason="the clinical audit reads facts with spaCy")

AT_ONCE = 3
# In the course of which role's work it is killed: questions, their variants, answers, judging.
STAGES = {"generator": 1, "attacker": 1, "target": 9, "judge": 8}
CASES = (
    "A 50-year-old man who lives in Lima has crushing chest pain.",
    "A 52-year-old man who lives in Lima has crushing chest pain.",
)


def reply(seen: Seen) -> Answer:
    """What the scripted model of the name says to the whole conversation."""
    says = getattr(scripted_makers, seen.body["model"])
    text = "\n".join(message["content"] for message in seen.body["messages"])
    return Answer(chat_body(says(text)), delay=0.02)


def settings(cases: Path, out: Path, url: str) -> RunFile:
    return checked(
        {
            "out": str(out),
            "unknown": "retry",
            "models": {
                role: {"name": f"openai/{role}", "base_url": url, "concurrency": AT_ONCE}
                for role in STAGES
            },
            "clinical": {
                "data": [{"name": "own", "path": str(cases)}],
                "arms": ["original"],
                "backend": "model",
                "combinations": [["age", "gender", "place"]],
                "variants": 2,
                "answers": ["direct", "chained"],
                "replicates": 2,
                "embedder": "none",
                "judge": {"items": 2, "controls": 1, "repeats": 1},
            },
        }
    )


def ready(prepared: clinical.Prepared, out: Path) -> clinical.Prepared:
    run = prepared.run.model_copy(update={"out": out})
    models = {role: load_model(table.spec()) for role, table in run.models.items()}
    return replace(prepared, run=run, path=out, models=models)


def execute(prepared: clinical.Prepared, out: Path) -> clinical.Done:
    return asyncio.run(clinical.execute(ready(prepared, out)))


def figures_of(folder: Path) -> dict:
    return json.loads((folder / "estimates.json").read_text(encoding="utf-8"))["clinical"]


def killed_after(prepared: clinical.Prepared, out: Path, server: FaultServer, role: str) -> None:
    """Start the run in a process of its own; kill it while it asks the model of this role."""
    before = len(server.seen)
    # Forked, as reading the facts takes a process of its own longer than the whole run.
    process = multiprocessing.get_context("fork").Process(target=execute, args=(prepared, out))
    process.start()
    assert process.pid is not None
    deadline = time.monotonic() + 60
    while time.monotonic() < deadline and process.is_alive():
        now = Counter(seen.body["model"] for seen in server.seen[before:])
        if now[role] >= STAGES[role]:
            break
        time.sleep(0.005)
    os.kill(process.pid, signal.SIGKILL)
    process.join()
    assert process.exitcode == -signal.SIGKILL


@pytest.mark.skipif(
    "fork" not in multiprocessing.get_all_start_methods(), reason="the process is forked"
)
def test_killed_in_every_stage_it_ends_as_if_undisturbed_and_asks_no_answer_twice(tmp_path):
    cases = tmp_path / "cases.jsonl"
    lines = [json.dumps({"id": f"case-{at}", "text": text}) for at, text in enumerate(CASES)]
    cases.write_text("\n".join(lines) + "\n", encoding="utf-8")
    with FaultServer(reply) as server:
        first = settings(cases, tmp_path / "one" / "whole", server.url)
        prepared = clinical.prepare(first)
        execute(prepared, tmp_path / "one" / "whole")
        undisturbed = Counter(json.dumps(seen.body) for seen in server.seen)
        out = tmp_path / "other" / "killed"
        begun, listed = len(server.seen), 0
        for role in STAGES:
            killed_after(prepared, out, server, role)
            doubtful = [
                one
                for one in read_records(out / "run.sqlite")
                if one.state in (State.SENT, State.UNKNOWN)
            ]
            assert len(doubtful) <= AT_ONCE
            listed += len(doubtful)
        execute(prepared, out)
        seen = Counter(json.dumps(one.body) for one in server.seen[begun:])
    assert figures_of(out) == figures_of(tmp_path / "one" / "whole")
    assert set(seen) == set(undisturbed)
    # What was asked again had been listed: sent, and not known whether answered.
    assert (seen - undisturbed).total() <= listed
