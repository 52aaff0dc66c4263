"""A sweep as one piece of work: where its cells run, their end, and the files beside them."""

from __future__ import annotations

import math
import os
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace

from askew.engines.fan_out import LOCAL, check_engine
from askew.report.sweep import SweptCell, write_sweep
from askew.run.sweep import SweepDone, Told, run_sweep
from askew.run.sweep_budget import taken
from askew.run.sweep_cells import InThreads
from askew.run.sweep_plan import SweepPlan, plan_sweep
from askew.run.sweep_plan import Told as Planned
from askew.runfile.sweep import Sweep


@dataclass(frozen=True, slots=True)
class Where:
    """Where the cells of a sweep run.

    Attributes:
        engine: "local": threads of this process, and where a model works in this process one cell
            after another; "ray": workers on this machine.
        workers: of Ray, at once; None: one a processor.
        address: of a Ray cluster of which this machine is a node; None starts one here.
    """

    engine: str = LOCAL
    workers: int | None = None
    address: str | None = None

    def __post_init__(self) -> None:
        """Refuse settings that the engine does not have."""
        check_engine(self.engine, self.workers, self.address)

    def plan(self, sweep: Sweep, told: Planned | None = None) -> SweepPlan:
        """The plan of a sweep whose cells run there; see `plan_sweep`."""
        if self.engine == LOCAL:
            return plan_sweep(sweep, sweep.file.at_once, alone=True, told=told)
        return plan_sweep(sweep, self.workers or os.cpu_count() or 1, alone=False, told=told)

    def run(self, planned: SweepPlan, told: Told | None = None) -> SweepDone:
        """Run a sweep there, and write its page, CSV and JSON; see `run_sweep`.

        Raises:
            ConfigError: the cluster cannot be used.
            MissingDependency: Ray is not installed.
        """
        if self.engine == LOCAL:
            with _calls_over_ray(planned) as wanted:
                done = run_sweep(wanted, InThreads(), told)
        else:
            from askew.run.sweep_workers import on_workers

            with on_workers(self.workers, self.address) as (cells, at_once):
                done = run_sweep(replace(planned, at_once=at_once), cells, told)
        write_sweep(done.out, done.out.name, swept_cells(done))
        return done


@contextmanager
def _calls_over_ray(planned: SweepPlan) -> Iterator[SweepPlan]:
    """The cluster over which cells send their calls, where their run file has an `[engine]`.

    It is one for all cells, as their workers would else be started for each; and cells then run one
    after another, as each takes all workers.
    """
    tables = (one.cell.run.engine for one in planned.cells)
    wanted = next((one for table in tables if table and (one := table.settings())), None)
    if wanted is None:
        yield planned
        return
    from askew.engines.ray_start import ray_session

    own = wanted.address is None
    needed = math.ceil(wanted.workers * wanted.cpus_per_worker)
    with ray_session(wanted.address, cpus=max(os.cpu_count() or 1, needed) if own else None):
        yield replace(planned, at_once=1)


def swept_cells(done: SweepDone) -> Sequence[SweptCell]:
    """The cells of a sweep that has ended, as its report shows them."""
    found = []
    for one in done.cells:
        cell, path = one.plan.cell, done.out / one.plan.cell.name
        spent = taken(path).spending.total
        found.append(
            SweptCell(
                name=cell.name,
                model=cell.model,
                data=cell.data,
                seed=cell.seed,
                state=one.state.value,
                why=one.why,
                calls=spent.calls,
                money=spent.money,
                path=path,
            )
        )
    return found
