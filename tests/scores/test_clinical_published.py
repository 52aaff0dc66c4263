"""Published GPT-4 answers to clinical vignettes (Zack et al., 2024), asked with another prompt."""

from __future__ import annotations

import gzip
import json
import os
from pathlib import Path

import pytest

from askew.records import Reply
from askew.scores.clinical_answer import read_answer

FOLDER = Path(os.environ.get("ASKEW_DATA", "no-such-folder")) / "zack_vignettes" / "gpt4_outputs"
pytestmark = pytest.mark.skipif(
    not FOLDER.is_dir(), reason="set ASKEW_DATA to the folder of data sets to run this"
)
DIFFERENTIAL = "1. Most likely Differential Diagnosis"


def replies():
    """Every recorded reply as text, with its object; None where it is no valid JSON."""
    for path in sorted(FOLDER.glob("*.json.gz")):
        with gzip.open(path, "rt", encoding="utf-8") as file:
            arms = json.load(file)
        for recorded in (one for arm in arms.values() for one in arm):
            text = recorded if isinstance(recorded, str) else json.dumps(recorded)
            try:
                yield text, json.loads(text)
            except ValueError:
                yield text, None


def test_every_whole_answer_is_read_with_all_its_diagnoses_tests_and_treatments():
    missed = []
    for text, whole in replies():
        answer = read_answer(Reply(text), structured=True)
        if whole is None:
            continue
        wanted = list(dict.fromkeys(name.casefold() for name in whole[DIFFERENTIAL]))
        given = {"differential", "tests", "treatments"} <= answer.given
        if answer.outcome != "answered" or not given or len(answer.differential) != len(wanted):
            missed.append(text)
    assert missed == []


def test_an_answer_that_breaks_off_is_never_booked_as_whole():
    broken = [
        text for text, whole in replies() if whole is None and not text.rstrip().endswith("}")
    ]
    assert all(read_answer(Reply(text), structured=True).outcome == "truncated" for text in broken)
