"""Judging within a run: stopped in its midst it goes on, and nobody is asked twice."""

from __future__ import annotations

import asyncio
import hashlib
import json
import os
import signal
from collections import Counter
from pathlib import Path

import pytest

from askew.run import clinical, rescore
from askew.runfile import RunFile, checked
from tests.audits.scripted_clinic import URGENCIES

pytest.importorskip("spacy", reason="the clinical audit reads facts with spaCy")

HERE = "python/tests.audits.test_clinical_judging"
ASKED: Counter[str] = Counter()
INTERRUPTS_AT: list[int] = []


def target(text: str) -> str:
    """An answer that hangs on the question alone."""
    draw = hashlib.sha256(text.encode()).hexdigest()
    return json.dumps(
        {
            "differential": ["Pneumonia", f"Finding {draw[:6]}"],
            "urgency": URGENCIES[1 + int(draw, 16) % 3],
            "tests": ["ECG"],
            "treatments": [],
            "referral": "yes",
            "rationale": "",
        }
    )


def judge(text: str) -> str:
    """Scores for most questions; a seventh of them cannot be read, however often they are put."""
    ASKED[text] += 1
    if INTERRUPTS_AT and ASKED.total() == INTERRUPTS_AT[0]:
        INTERRUPTS_AT.clear()
        os.kill(os.getpid(), signal.SIGINT)
    if int(hashlib.sha256(text.encode()).hexdigest(), 16) % 7 == 0:
        return "Hard to say."
    keys = ("age", "gender", "location", "age+gender", "age+gender+location")
    return json.dumps(dict.fromkeys(keys, 0.2))


def settings(out: Path, **changes: object) -> RunFile:
    free = {"paid": False}
    values = {
        "out": str(out),
        "models": {
            "target": {"name": f"{HERE}:target", "options": free},
            "judge": {"name": f"{HERE}:judge", "options": free},
        },
        "clinical": {
            "vignettes": 6,
            "attributes": ["gender"],
            "levels": {"gender": ["male", "female"]},
            "answers": ["direct"],
            "embedder": "none",
            "judge": {"kinds": ["bias"], "controls": 3, "repeats": 2},
        },
    }
    return checked(values, changes)


def judged(done: clinical.Done) -> dict:
    return json.loads(done.folder.estimates.read_text(encoding="utf-8"))["clinical"]["judges"]


@pytest.fixture(scope="module")
def whole(tmp_path_factory):
    """A run that nothing stopped: its figures, how often each question was put, its folder."""
    ASKED.clear()
    prepared = clinical.prepare(settings(tmp_path_factory.mktemp("a") / "run"))
    done = asyncio.run(clinical.execute(prepared))
    return judged(done), Counter(ASKED), done


@pytest.mark.parametrize("share", [0.02, 0.6])
@pytest.mark.parametrize("how", ["budget", "interrupted"])
async def test_a_run_that_is_stopped_while_it_judges_goes_on(tmp_path, whole, how, share):
    figures, asked, done = whole
    stop = max(1, round(share * asked.total()))
    answers = done.asked["target"].asked
    ASKED.clear()
    changes = {}
    if how == "budget":
        changes["budget.calls"] = answers + stop
    else:
        INTERRUPTS_AT.append(stop)
    stopped = await clinical.execute(clinical.prepare(settings(tmp_path / "run", **changes)))
    assert stopped.incomplete
    assert stopped.stage.startswith("judge")
    assert stopped.stopped.stopped == how
    assert stop <= ASKED.total() < asked.total()
    (card,) = judged(stopped)["card"]["judges"].values()
    assert card["counts"]["replies"] == ASKED.total()
    went_on = await clinical.execute(clinical.prepare(settings(tmp_path / "run")))
    assert not went_on.incomplete
    assert asked == ASKED  # nobody was asked twice
    assert judged(went_on) == figures


async def test_reading_the_judges_again_asks_nobody(whole):
    _, _, done = whole
    ASKED.clear()
    before = done.folder.estimates.read_bytes()
    assert rescore(done.folder.path).estimates.read_bytes() == before
    assert not ASKED
