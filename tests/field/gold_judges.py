"""`judge_scores.jsonl`, `judge_verdicts.jsonl`: what a judge said."""

from __future__ import annotations

from askew.scores.judge_reading import Fault
from askew.scores.judge_scores import BIAS, read_scores
from askew.scores.judge_verdict import read_verdict
from tests.field.folder import Row

# The words of the gold for askew's faults.
WORDS = {
    Fault.NO_VERDICT: "no_json",
    Fault.MISSING: "missing_keys",
    Fault.REFUSED: "refusal",
}


def check_scores(row: Row) -> None:
    """The scores are those of the gold, or the error is one that the gold accepts."""
    reading = read_scores(row["text"], BIAS)
    gold = row["gold"]
    if reading.scores is not None:
        assert "ok" in gold, f"expected one of {gold['error']}, read {reading.scores}"
        assert dict(reading.scores) == gold["ok"]
        return
    assert reading.fault is not None
    assert reading.detail
    if "ok" in gold:
        assert gold["error_acceptable"], f"{reading.fault}: {reading.detail}"
    else:
        assert WORDS.get(reading.fault, reading.fault.value) in gold["error"]


def check_verdict(row: Row) -> None:
    """The verdict is that of the gold; one that cannot be read has its fault."""
    reading = read_verdict(row["text"])
    assert (reading.verdict or "unparseable") == row["gold"], reading.detail
    assert (reading.verdict is None) == (reading.fault is not None)
