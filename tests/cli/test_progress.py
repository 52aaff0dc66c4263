"""A log shows that a run is alive, and not more than that."""

from __future__ import annotations

from askew.models.runner import Progress
from askew.report.progress import Lines


def progress(done: int, waiting: str = "") -> Progress:
    return Progress(done, 10, 0, 1, 0, 2.0, 65.0, None, 0, 4, waiting)


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


def test_a_wait_of_some_seconds_is_spoken_of_at_once_and_then_every_half_minute():
    lines: list[str] = []
    clock = [0.0]
    report = Lines(lines.append, lambda: clock[0])
    for second in range(1, 40):
        clock[0] = float(second)
        report(progress(3, f"waiting {60 - second} s: slow down" if second > 1 else ""))
    assert [line.rpartition(", ")[2] for line in lines] == [
        "waiting 55 s: slow down",
        "waiting 25 s: slow down",
    ]


def test_a_short_wait_is_not_worth_a_line():
    lines: list[str] = []
    clock = [0.0]
    report = Lines(lines.append, lambda: clock[0])
    for second in range(1, 20):
        clock[0] = float(second)
        report(progress(3, "waiting 1 s: slow down" if second % 2 else ""))
    assert not lines
