"""Where the cells of a sweep run: as tasks of Ray, on workers of the machine with the folders.

A ledger is a file that only processes of one machine may share, so cells stay on that machine. What
goes to a worker is the cell's run file; keys it reads from its own environment.
"""

from __future__ import annotations

import asyncio
import os
from collections.abc import Coroutine, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any

from askew.engines.fan_out import threads
from askew.models.background import run_in_background
from askew.models.interrupts import Interrupts
from askew.run.sweep_cells import Outcome, run_cell
from askew.runfile import RunFile

if TYPE_CHECKING:
    from askew.engines.ray_start import RaySession

_LOOK_SECONDS = 0.25  # how often a worker looks whether it is to stop


class OnWorkers:
    """A Ray task a cell.

    Args:
        session: the cluster, which stays up for as long as this is used.
        stop: where a file may be written that says how often to stop; there is none yet.
    """

    def __init__(self, session: RaySession, stop: Path) -> None:
        import ray

        self._gpus = session.gpus
        self._here = ray.get_runtime_context().get_node_id()
        self._stop = stop
        self._stops = 0
        self._under_way: dict[Any, int] = {}

    def begin(self, number: int, run: RunFile) -> None:
        """See `Cells.begin`."""
        import ray
        from ray.util.scheduling_strategies import NodeAffinitySchedulingStrategy

        weights_here = run.target.spec().provider == "local"
        work = ray.remote(_cell).options(
            num_cpus=1,
            num_gpus=1 if weights_here and self._gpus >= 1 else 0,
            max_retries=0,  # the sweep begins it again, once the dead worker's lock is gone
            scheduling_strategy=NodeAffinitySchedulingStrategy(self._here, soft=False),
            runtime_env={"env_vars": threads()},
        )
        # A worker sends its cell's calls itself: it cannot have workers of its own.
        alone = run.model_copy(update={"engine": None})
        self._under_way[work.remote(alone, str(self._stop), str(Path.cwd()))] = number

    def ended(self, wait_seconds: float) -> list[tuple[int, Outcome]]:
        """See `Cells.ended`."""
        import ray

        if not self._under_way:
            return []
        ready, _ = ray.wait(list(self._under_way), num_returns=1, timeout=wait_seconds)
        return [(self._under_way.pop(task), _outcome(task)) for task in ready]

    def stop(self) -> None:
        """See `Cells.stop`."""
        self._stops += 1
        self._stop.write_text(str(self._stops), encoding="utf-8")


def _outcome(task: Any) -> Outcome:
    import ray

    try:
        found: Outcome = ray.get(task)
    except ray.exceptions.RayTaskError as trouble:
        return Outcome(error=True, message=str(trouble.cause or trouble))
    except ray.exceptions.RayError as trouble:
        kind = type(trouble).__name__
        return Outcome(error=True, died=True, message=f"the worker that ran it died ({kind})")
    return found


def _cell(run: RunFile, stop: str, folder: str) -> Outcome:
    """One cell, in a worker; `folder` is where the driver works, as `local/` names start there."""
    os.chdir(folder)

    def work(interrupts: Interrupts, tell: object) -> Coroutine[Any, Any, Outcome]:
        return _stoppable(run, Path(stop), interrupts)

    return run_in_background(work)


async def _stoppable(run: RunFile, stop: Path, interrupts: Interrupts) -> Outcome:
    async def look() -> None:
        while True:
            with suppress(OSError, ValueError):  # not there, or being written
                while interrupts.count < int(stop.read_text(encoding="utf-8")):
                    interrupts.arrived()
            await asyncio.sleep(_LOOK_SECONDS)

    looking = asyncio.ensure_future(look())
    try:
        return await run_cell(run, interrupts)
    finally:
        looking.cancel()


@contextmanager
def on_workers(workers: int | None, address: str | None) -> Iterator[tuple[OnWorkers, int]]:
    """Workers for cells, and how many there are.

    Args:
        workers: at once; None: one a processor.
        address: of a cluster; None starts one on this machine.

    Raises:
        ConfigError, MissingDependency: the cluster cannot be used, or Ray is not installed.
    """
    from askew.engines.ray_start import ray_session

    with (
        TemporaryDirectory(prefix="askew-sweep-") as folder,
        ray_session(address, cpus=workers) as session,
    ):
        at_once = workers or max(1, int(session.cpus))
        yield OnWorkers(session, Path(folder) / "stop"), at_once
