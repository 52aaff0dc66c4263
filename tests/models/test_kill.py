"""`kill -9` in the middle of a run: nothing received is asked again, every doubt is owned up to."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.models.killing import answer_to, calls_for, run_with_kills

CALLS = 400


@pytest.mark.parametrize("unknown", ["retry", "skip"])
def test_a_run_that_is_killed_again_and_again(tmp_path: Path, unknown: str):
    killed = run_with_kills(tmp_path, calls=CALLS, kills=3, unknown=unknown, seed=1)
    assert killed.unlisted_repeats == []
    assert killed.overspent == []
    assert max(killed.unknown_after_kill) <= killed.concurrency
    assert sum(killed.unknown_after_kill) > 0  # else the kills missed the run
    undisturbed = {
        p: answer_to(p) for p in (c.prompt.messages[0].content for c in calls_for(CALLS))
    }
    answered = {prompt: text for prompt, text in killed.replies.items() if text is not None}
    assert answered.items() <= undisturbed.items()
    if unknown == "retry":
        assert killed.missing == 0
        assert killed.repeats <= 3 * killed.concurrency
    else:
        assert killed.repeats == 0
        assert killed.missing == sum(killed.unknown_after_kill)
