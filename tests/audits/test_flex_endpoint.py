"""The audit against a real server: llama.cpp with a small real model, on loopback."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from askew.records import Outcome
from askew.run import execute, prepare
from askew.runfile import RunFile, checked
from tests.models.llama import serve


@pytest.fixture(scope="module")
def base_url() -> Iterator[str]:
    yield from serve(context=2048)


def settings(out: Path, base_url: str, scoring: str) -> RunFile:
    target = {"name": "openai/smollm2", "base_url": base_url, "max_tokens": 16, "concurrency": 1}
    flex = {"items": 2, "controls": 0, "scoring": scoring}
    return checked({"out": str(out), "models": {"target": target}, "flex": flex})


@pytest.mark.parametrize("scoring", ["reply", "letters"])
async def test_every_call_is_answered_and_every_reply_has_an_outcome(base_url, tmp_path, scoring):
    folder, answers = await execute(prepare(settings(tmp_path / "run", base_url, scoring)))
    assert (answers.missing, answers.failed, answers.stopped) == (0, 0, None)
    scores = folder.read_scores()
    assert len(scores) == 8
    assert {score.outcome for score in scores if score} <= set(Outcome) - {Outcome.ERROR}
    flex = folder.read_estimates()["flex"]
    counted = flex["outcomes_attacked"]["overall"]
    assert sum(counted.values()) == 6


async def test_texts_are_refused_with_a_way_out_where_the_endpoint_cannot_score_them(
    base_url, tmp_path
):
    run = settings(tmp_path / "run", base_url, "texts")
    _, answers = await execute(prepare(run))
    assert answers.stopped == "fatal"
    assert "--scoring reply" in answers.message
