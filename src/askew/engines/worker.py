"""A worker: models of its own, asked for what the owner of the ledger leases to it.

It runs `Dispatch`, as a run in one process does, over the part of the ledger that it has leased.
One loop in one thread serves all its work, as connections belong to a loop; who calls it from
another thread waits there. Nothing here knows of Ray.
"""

from __future__ import annotations

import asyncio
import os
import random
import sys
import threading
from dataclasses import dataclass

from askew.engines.leased_ledger import GivenUp, LeasedLedger, Owner
from askew.errors import AskewError, ConfigError, MissingDependency, ModelError, RunError
from askew.models.base import Model, ModelSpec
from askew.models.budget import Limits, Price
from askew.models.callkey import canonical_json
from askew.models.dispatch import Dispatch, RunnerSettings, Stop
from askew.models.interrupts import Interrupts
from askew.models.ledgerfile import WriteFailed
from askew.models.pace import Pace
from askew.models.registry import load_model


@dataclass(frozen=True, slots=True)
class Job:
    """What a worker is to do: ask one model, for as long as the owner leases calls."""

    name: str
    spec: ModelSpec
    identity: str  # of the model as the process that plans knows it, canonical JSON
    price: Price | None
    settings: RunnerSettings
    most: int  # attempts under way at most


@dataclass(frozen=True, slots=True)
class Outcome:
    """How a worker's part of a job ended."""

    stop: Stop | None = None
    defect: AskewError | None = None  # what no resume will cure
    given_up: bool = False  # others have this worker's calls


@dataclass(slots=True)
class _Busy:
    ledger: LeasedLedger
    dispatch: Dispatch
    interrupts: Interrupts


class Worker:
    """Keeps the models that it was asked for, and works on jobs.

    Args:
        name: tells it from all other workers, past ones too.
        folder: where the process that plans was started, for names of models that are paths.
    """

    def __init__(self, name: str, folder: str) -> None:
        self.name = name
        if os.path.isdir(folder):
            os.chdir(folder)
            if folder not in sys.path:
                sys.path.insert(0, folder)
        self._models: dict[str, Model] = {}
        self._busy: dict[str, _Busy] = {}
        self._stops: dict[str, Stop] = {}
        self._loop = asyncio.new_event_loop()
        threading.Thread(target=self._loop.run_forever, name="askew-worker", daemon=True).start()

    def work(self, job: Job, owner: Owner) -> Outcome:
        """Ask until the owner has no more calls, or something stops the work.

        Args:
            job: what is to be done.
            owner: of the ledger in which the calls stand.
        """
        return asyncio.run_coroutine_threadsafe(self._work(job, owner), self._loop).result()

    def held(self, name: str) -> list[int]:
        """The calls of a job that are leased and not done with."""
        busy = self._busy.get(name)
        return [] if busy is None else busy.ledger.held

    def halt(self, name: str, stop: Stop) -> None:
        """Send nothing more of a job; what is under way may end."""
        self._loop.call_soon_threadsafe(self._halt, name, stop)

    def interrupt(self, name: str) -> None:
        """Somebody asks the job to stop; the second time, at once."""
        self._loop.call_soon_threadsafe(self._interrupt, name)

    def close(self) -> None:
        """Give models back."""
        asyncio.run_coroutine_threadsafe(self._close(), self._loop).result(timeout=10)
        self._loop.call_soon_threadsafe(self._loop.stop)

    async def _work(self, job: Job, owner: Owner) -> Outcome:
        try:
            model = await self._model(job)
            dispatch = await self._asked(model, job, owner)
        except GivenUp:
            return Outcome(given_up=True)
        except Exception as trouble:
            return Outcome(defect=_told(trouble))
        return Outcome(dispatch.stop)

    async def _asked(self, model: Model, job: Job, owner: Owner) -> Dispatch:
        def halt(stop: Stop) -> None:
            dispatch.halt(stop)

        interrupts = Interrupts()
        ledger = LeasedLedger(owner, job.name, self.name, halt)
        dispatch = Dispatch(
            model,
            (),
            ledger=ledger,
            limits=Limits(),  # the owner's hold
            price=job.price,
            settings=job.settings,
            pace=Pace(model.parallel, job.most, job.settings.pace, random.Random()),
            interrupts=interrupts,
            source=ledger,
        )
        self._busy[job.name] = _Busy(ledger, dispatch, interrupts)
        if job.name in self._stops:
            dispatch.halt(self._stops[job.name])
        try:
            with interrupts.watch(dispatch.wake):
                await dispatch.run(lambda: None)
        finally:
            del self._busy[job.name]
            ledger.leave()
        return dispatch

    async def _model(self, job: Job) -> Model:
        """The model of a job, loaded when it is first asked for.

        Raises:
            ConfigError: it is not what the process that plans calls by this name.
        """
        kept = f"{job.spec!r} {job.identity}"
        if kept not in self._models:
            model, identity = await asyncio.to_thread(_load, job.spec)
            if identity != job.identity:
                raise ConfigError(_other_model(job, identity))
            # Two jobs may have loaded it at the same time: the first one's is kept.
            self._models.setdefault(kept, model)
        return self._models[kept]

    def _halt(self, name: str, stop: Stop) -> None:
        self._stops[name] = stop
        if name in self._busy:
            self._busy[name].dispatch.halt(stop)

    def _interrupt(self, name: str) -> None:
        if name in self._busy:
            self._busy[name].interrupts.arrived()

    async def _close(self) -> None:
        for model in self._models.values():
            await model.close()


def _load(spec: ModelSpec) -> tuple[Model, str]:
    model = load_model(spec)
    return model, canonical_json(dict(model.identity()))


def _other_model(job: Job, identity: str) -> str:
    return (
        f"{job.spec.name} is another model on a worker than where the run was started, and their "
        f"replies must not be mixed: {identity} there, {job.identity} here. Give every node the "
        "same files and packages (and a fixed device: models.ROLE.options.device), and name a "
        "function by its module; a model that is handed over as an object cannot go to a worker."
    )


def _told(trouble: Exception) -> AskewError:
    """What was raised here, in a form that the process that plans has a class for."""
    for kind in (WriteFailed, ConfigError, MissingDependency, ModelError, RunError):
        if isinstance(trouble, kind):
            return kind(str(trouble))
    return RunError(f"a model failed on a worker: {trouble!r}")
