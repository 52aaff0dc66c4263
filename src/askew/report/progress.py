"""How far a run has come, in words."""

from __future__ import annotations

from collections.abc import Callable

from askew.models.runner import Progress

SECONDS_BETWEEN_LINES = 30.0
SECONDS_OF_SILENCE = 3.0  # after which a wait is spoken of at once


class Rhythm:
    """When to write a line: every `SECONDS_BETWEEN_LINES`, and when a long wait begins.

    Args:
        clock: seconds, as `time.monotonic` counts them.
    """

    def __init__(self, clock: Callable[[], float]) -> None:
        self._clock = clock
        self._next = clock() + SECONDS_BETWEEN_LINES
        self._waits_from: float | None = None
        self._told = False

    def due(self, now: Progress) -> bool:
        """Whether to write a line on `now`."""
        seconds = self._clock()
        if not now.waiting:
            self._waits_from, self._told = None, False
        elif self._waits_from is None:
            self._waits_from = seconds
        long = self._waits_from is not None and seconds - self._waits_from >= SECONDS_OF_SILENCE
        if seconds < self._next and (self._told or not long):
            return False
        self._next = seconds + SECONDS_BETWEEN_LINES
        self._told = long
        return True


class Lines:
    """Lines in that rhythm; a short run has none.

    Args:
        write: takes a line.
        clock: seconds, as `time.monotonic` counts them.
    """

    def __init__(self, write: Callable[[str], None], clock: Callable[[], float]) -> None:
        self._write = write
        self._rhythm = Rhythm(clock)

    def __call__(self, now: Progress) -> None:
        """Write a line if it is time to."""
        if self._rhythm.due(now):
            self._write(line(now))


def line(now: Progress) -> str:
    """All of it in one line.

    >>> line(Progress(3, 10, 0, 1, 0, 2.0, 65.0, None, 0, 4))
    'asking: 3 of 10, 2.0 calls/s, 1 min 05 s left, 1 failed'
    """
    return f"asking: {now.done:,} of {now.total:,}, {how_far(now)}"


def how_far(now: Progress) -> str:
    """Speed, time left, cost, and what did not go as usual."""
    parts = [f"{now.calls_per_second:.1f} calls/s"]
    if now.seconds_left is not None and now.done < now.total:
        parts.append(f"{in_words(now.seconds_left)} left")
    if now.cost is not None:
        parts.append(f"cost {now.cost:.4f}")
    for count, word in ((now.reused, "reused"), (now.failed, "failed"), (now.unknown, "unknown")):
        if count:
            parts.append(f"{count:,} {word}")
    if now.waiting:
        parts.append(now.waiting)
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
