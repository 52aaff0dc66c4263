"""How far a run has come: a bar on a terminal, else a line now and then, so that a log shows life.

Both go to stderr; stdout holds the result alone.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

from askew.cli.terminal import bar_text, console, echo

if TYPE_CHECKING:
    from askew.models.runner import Plan, Progress


@contextmanager
def reporting(planned: Plan) -> Iterator[Callable[[Progress], None]]:
    """What to tell of each step, for as long as calls are under way."""
    from askew.report.progress import Lines, how_far

    if not sys.stderr.isatty():
        yield Lines(lambda line: echo(line, stderr=True), time.monotonic)
        return
    from rich.progress import BarColumn, MofNCompleteColumn
    from rich.progress import Progress as Bars

    with Bars(
        bar_text("asking"),
        BarColumn(),
        MofNCompleteColumn(),
        bar_text("{task.description}"),
        console=console(stderr=True),
    ) as bars:
        task = bars.add_task("", total=planned.calls - planned.duplicates)

        def advance(now: Progress) -> None:
            bars.update(task, completed=now.done, total=now.total, description=how_far(now))

        yield advance


@contextmanager
def reporting_stages() -> Iterator[Callable[[str, str, Progress], None]]:
    """What to tell of work of several stages: the stage, what it is called now, how far it is."""
    from askew.report.progress import Rhythm, how_far

    if not sys.stderr.isatty():
        rhythm = Rhythm(time.monotonic)

        def write(stage: str, called: str, now: Progress) -> None:
            if rhythm.due(now):
                echo(f"{called}: {now.done:,} of {now.total:,}, {how_far(now)}", stderr=True)

        yield write
        return
    from rich.progress import BarColumn, MofNCompleteColumn, TaskID
    from rich.progress import Progress as Bars

    with Bars(
        bar_text("{task.fields[called]}"),
        BarColumn(),
        MofNCompleteColumn(),
        bar_text("{task.description}"),
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
