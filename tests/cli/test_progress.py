"""A log shows that a run is alive, and not more than that."""

from __future__ import annotations

from askew.models.runner import Progress
from askew.report.progress import Lines


def progress(done: int) -> Progress:
    return Progress(done, 10, 0, 1, 0, 2.0, 65.0, None, 0, 4)


def test_a_line_is_written_every_half_minute_at_most():
    lines: list[str] = []
    seconds = iter((0.0, 1.0, 29.0, 31.0, 32.0, 60.0, 62.0))
    report = Lines(lines.append, lambda: next(seconds))
    for done in range(1, 7):
        report(progress(done))
    assert lines == [
        "asking: 3 of 10, 2.0 calls/s, 1 min 05 s left, 1 failed",
        "asking: 6 of 10, 2.0 calls/s, 1 min 05 s left, 1 failed",
    ]
