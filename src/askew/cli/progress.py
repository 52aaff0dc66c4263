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


@contextmanager
def reporting(planned: Plan) -> Iterator[Callable[[Progress], None]]:
    """What to tell of each step, for as long as calls are under way."""
    from askew.report.progress import Lines, how_far

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
            bars.update(task, completed=now.done, total=now.total, description=how_far(now))

        yield advance


@contextmanager
def reporting_stages() -> Iterator[Callable[[str, str, Progress], None]]:
    """What to tell of work of several stages: the stage, what it is called now, how far it is."""
    from askew.report.progress import SECONDS_BETWEEN_LINES, how_far

    if not sys.stderr.isatty():
        next_line = time.monotonic() + SECONDS_BETWEEN_LINES

        def write(stage: str, called: str, now: Progress) -> None:
            nonlocal next_line
            if time.monotonic() >= next_line:
                next_line = time.monotonic() + SECONDS_BETWEEN_LINES
                echo(f"{called}: {now.done:,} of {now.total:,}, {how_far(now)}", stderr=True)

        yield write
        return
    from rich.progress import BarColumn, MofNCompleteColumn, TaskID, TextColumn
    from rich.progress import Progress as Bars

    with Bars(
        TextColumn("{task.fields[called]}"),
        BarColumn(),
        MofNCompleteColumn(),
        TextColumn("{task.description}"),
        console=console(stderr=True),
    ) as bars:
        tasks: dict[str, TaskID] = {}

        def advance(stage: str, called: str, now: Progress) -> None:
            if stage not in tasks:
                tasks[stage] = bars.add_task("", total=now.total, called=called)
            bars.update(
                tasks[stage],
                completed=now.done,
                total=now.total,
                description=how_far(now),
                called=called,
            )

        yield advance
