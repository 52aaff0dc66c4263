"""What a script or a notebook is told while a run is under way."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TypeVar

from askew.errors import ConfigError

Step = TypeVar("Step")


@contextmanager
def telling(
    progress: bool | Callable[[Step], None], line: Callable[[Step], str]
) -> Iterator[Callable[[Step], None] | None]:
    """What to tell of each step.

    Args:
        progress: whether to write to stderr, or a function that is told.
        line: a step in one line.

    Raises:
        ConfigError: `progress` is neither a truth value nor a function.
    """
    from askew.report.progress import SECONDS_BETWEEN_LINES

    if callable(progress):
        yield progress
        return
    if not isinstance(progress, bool):
        raise ConfigError(
            f"progress is {type(progress).__name__}, expected True, False or a function that is "
            "told of each step."
        )
    if not progress or sys.stderr is None:  # a program without a console has none
        yield None
        return
    # A notebook shows what a terminal shows, and says that it is none.
    if not (sys.stderr.isatty() or "ipykernel" in sys.modules):
        next_line = time.monotonic() + SECONDS_BETWEEN_LINES

        def now_and_then(now: Step) -> None:
            nonlocal next_line
            if time.monotonic() >= next_line:
                next_line = time.monotonic() + SECONDS_BETWEEN_LINES
                print(line(now), file=sys.stderr)

        yield now_and_then
        return
    width = 0

    def overwrite(now: Step) -> None:
        nonlocal width
        text = line(now)
        print(f"\r{text.ljust(width)}", end="", file=sys.stderr, flush=True)
        width = max(width, len(text))

    try:
        yield overwrite
    finally:
        if width:
            print(f"\r{' ' * width}\r", end="", file=sys.stderr, flush=True)
