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
