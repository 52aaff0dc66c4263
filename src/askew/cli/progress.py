"""How far a run has come: a bar on a terminal, else a line now and then, so that a log shows life.

Both go to stderr; stdout holds the result alone.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

from askew.cli.terminal import console, echo

if TYPE_CHECKING:
    from askew.models.runner import Plan, Progress

SECONDS_BETWEEN_LINES = 30.0


@contextmanager
def reporting(planned: Plan) -> Iterator[Callable[[Progress], None]]:
    """What to tell of each step, for as long as calls are under way."""
    if not sys.stderr.isatty():
        yield Lines(lambda line: echo(line, stderr=True), time.monotonic)
        return
    from rich.progress import BarColumn, MofNCompleteColumn, TextColumn
    from rich.progress import Progress as Bars

    with Bars(
        TextColumn("asking"),
        BarColumn(),
        MofNCompleteColumn(),
        TextColumn("{task.description}"),
        console=console(stderr=True),
    ) as bars:
        task = bars.add_task("", total=planned.calls - planned.duplicates)

        def advance(now: Progress) -> None:
            bars.update(task, completed=now.done, total=now.total, description=_how_far(now))

        yield advance


class Lines:
    """A line every `SECONDS_BETWEEN_LINES` at most; a short run has none.

    Args:
        write: takes a line.
        clock: seconds, as `time.monotonic` counts them.
    """

    def __init__(self, write: Callable[[str], None], clock: Callable[[], float]) -> None:
        self._write = write
        self._clock = clock
        self._next = clock() + SECONDS_BETWEEN_LINES

    def __call__(self, now: Progress) -> None:
        """Write a line if it is time to."""
        seconds = self._clock()
        if seconds >= self._next:
            self._next = seconds + SECONDS_BETWEEN_LINES
            self._write(f"asking: {now.done:,} of {now.total:,}, {_how_far(now)}")


def _how_far(now: Progress) -> str:
    parts = [f"{now.calls_per_second:.1f} calls/s"]
    if now.seconds_left is not None and now.done < now.total:
        parts.append(f"{in_words(now.seconds_left)} left")
    if now.cost is not None:
        parts.append(f"cost {now.cost:.4f}")
    for count, word in ((now.reused, "reused"), (now.failed, "failed"), (now.unknown, "unknown")):
        if count:
            parts.append(f"{count:,} {word}")
    return ", ".join(parts)


def in_words(seconds: float) -> str:
    """A span of time.

    >>> in_words(7.4), in_words(125), in_words(7260)
    ('7 s', '2 min 05 s', '2 h 01 min')
    """
    minutes, left = divmod(round(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    if hours:
        return f"{hours} h {minutes:02} min"
    return f"{minutes} min {left:02} s" if minutes else f"{left} s"
