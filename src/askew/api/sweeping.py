"""`askew.sweep`: one run file over several models, seeds and data."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from askew.api.ending import warn_of_cells
from askew.api.results import Run
from askew.api.settings import named_as_in_python
from askew.api.telling import telling
from askew.runfolder import RunFolder

if TYPE_CHECKING:
    import pandas

    from askew.report.sweep import SweptCell
    from askew.run.sweep_plan import SweepPlan
    from askew.run.sweep_progress import SweepProgress
    from askew.runfile.sweep import Sweep


@dataclass(frozen=True, slots=True)
class Swept:
    """A sweep that has ended.

    Attributes:
        path: the folder of its cells.
        cells: how each ended, in order.
    """

    path: Path
    cells: tuple[SweptCell, ...]

    @property
    def page(self) -> Path:
        """The page to look at."""
        from askew.report.sweep import PAGE

        return self.path / PAGE

    @property
    def runs(self) -> Mapping[str, Run]:
        """The cells' runs by their names; a cell that was not begun has none."""
        return {
            cell.name: Run(cell.path.resolve())
            for cell in self.cells
            if RunFolder(cell.path).database.is_file()
        }

    @property
    def incomplete(self) -> Mapping[str, str]:
        """What each cell that is not complete lacks or failed with, by name."""
        return {
            cell.name: f"{cell.state}: {cell.why}"
            for cell in self.cells
            if cell.state != "complete"
        }

    def table(self) -> pandas.DataFrame:
        """One row a cell and audit's figure: model, data, seed, state, audit, figure, interval.

        Raises:
            MissingDependency: pandas is not installed.
        """
        from askew.report.frame import as_frame
        from askew.report.sweep import FIGURE_COLUMNS, figure_rows

        return as_frame(list(figure_rows(self.cells)), FIGURE_COLUMNS)


def plan_sweep(
    file: str | Path, *, engine: str = "local", workers: int | None = None, **settings: object
) -> SweepPlan:
    """What `sweep` with the same arguments would ask and cost, cell by cell; see there.

    Models that cost nothing are asked a few calls, to measure how long one takes.

    Raises:
        AskewError: the sweep, or a cell of it, cannot be run as it is written.
    """
    from askew.run.sweep_whole import Where

    settings.pop("progress", None)
    address = _address(settings)
    return Where(engine, workers, address).plan(_read(file, settings))


def sweep(
    file: str | Path,
    *,
    engine: str = "local",
    workers: int | None = None,
    progress: bool | Callable[[SweepProgress], None] = True,
    **settings: object,
) -> Swept:
    """Run every combination of models, seeds and data of a sweep file, or go on with it.

    The same call again asks nothing that is recorded. It does not ask before it spends money: see
    `plan_sweep`, and set a budget.

    Args:
        file: the sweep file.
        engine: "local", or "ray": workers on this machine.
        workers: of Ray, at once; None: one a processor.
        progress: whether stderr is told how far it has come, or a function that is told.
        settings: `out`, `at_once`, `ray_address`, and any other of the file by its dotted key:
            `**{"budget.calls": 500}`.

    Returns:
        The cells as they have ended; one that failed is named in `incomplete`.

    Raises:
        AskewError: the sweep, or a cell of it, cannot be run as it is written.
        KeyboardInterrupt: Ctrl-C, once the cells have stopped cleanly; what was received is kept.

    Warns:
        IncompleteRun: a cell is not complete.
    """
    from askew.run.sweep_whole import Where, swept_cells

    address = _address(settings)
    place = Where(engine, workers, address)
    planned = place.plan(_read(file, settings))
    with telling(progress, _line) as tell:
        done = place.run(planned, tell)
    cells = tuple(swept_cells(done))
    if done.interrupted:
        raise KeyboardInterrupt(
            f"stopped. {done.out} keeps what was received; the same call goes on from there."
        )
    if left := {cell.name: cell.why for cell in cells if cell.state != "complete"}:
        warn_of_cells(done.out, left)
    return Swept(done.out.resolve(), cells)


def _address(settings: dict[str, object]) -> str | None:
    found = settings.pop("ray_address", None)
    return None if found is None else str(found)


def _read(file: str | Path, settings: Mapping[str, object]) -> Sweep:
    from askew.runfile.sweep import read_sweep

    given = {key: value for key, value in settings.items() if value is not None}
    with named_as_in_python():
        return read_sweep(Path(file).expanduser(), given)


def _line(now: SweepProgress) -> str:
    from askew.report.progress import in_words

    left = f", at most {in_words(now.seconds_left)} left" if now.seconds_left is not None else ""
    return (
        f"askew: {now.cells_done:,} of {now.cells:,} cells, {now.calls_done:,} of {now.calls:,} "
        f"calls{left}"
    )
