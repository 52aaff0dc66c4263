"""Calls sent from Ray's workers, for a run whose ledger lies with this process.

This process plans, and reads; the owner, an actor on the same machine, writes; workers anywhere
take leases and ask. Owner and workers live as long as the engine, so that a short list of calls
waits for no start.
"""

from __future__ import annotations

import os
import uuid
from collections.abc import Sequence
from contextlib import ExitStack, suppress
from pathlib import Path
from types import ModuleType
from typing import Any

from askew.engines.messages import Item, Terms
from askew.engines.ray_actors import OwnerActor, WorkerActor, began_of
from askew.engines.ray_sending import RaySending
from askew.engines.ray_start import import_ray, named, ray_session
from askew.engines.worker import Job
from askew.errors import ConfigError
from askew.models.base import Model, ModelSpec
from askew.models.budget import Limits, Price
from askew.models.callkey import canonical_json
from askew.models.dispatch import RunnerSettings
from askew.models.engine import EngineSettings
from askew.models.interrupts import Interrupts
from askew.models.ledger import Entry, Ledger

_CLOSE_SECONDS = 20.0
_ENDING_SECONDS = 3.0
_WORKER_THREADS = 32  # jobs of one worker at once, and what is said to them meanwhile


class RayEngine:
    """Ray's workers, started when the first call is to be sent.

    Args:
        settings: how many and where.

    Raises:
        ConfigError: the address is none.
        MissingDependency: Ray is not installed.
    """

    def __init__(self, settings: EngineSettings) -> None:
        self.settings = settings
        import_ray()
        if settings.address is not None:
            named(settings.address)
        self._open = ExitStack()
        self._ray: ModuleType | None = None
        self._workers: dict[str, Any] = {}
        self._owners: dict[Path, Any] = {}
        # Work that is over, by name, and what workers may be at still as they do not know it yet.
        self._ending: dict[str, list[Any]] = {}

    def of(self, spec: ModelSpec) -> RoleEngine:
        """The engine for one role, whose model the workers load by `spec`."""
        return RoleEngine(self, spec)

    def close(self) -> None:
        """End owner and workers, and the cluster if it is our own."""
        ray, self._ray = self._ray, None
        if ray is not None:
            for worker in self._workers.values():
                ray.kill(worker)
            self._workers.clear()
        self._open.close()

    @property
    def ray(self) -> ModuleType:
        """Ray, connected.

        Raises:
            ConfigError: the cluster does not answer, or has no such workers to offer.
        """
        if self._ray is None:
            wanted = self.settings.workers * self.settings.cpus_per_worker
            own = self.settings.address is None
            cpus = max(os.cpu_count() or 1, int(wanted + 0.999)) if own else None
            session = self._open.enter_context(ray_session(self.settings.address, cpus=cpus))
            if session.own and self.settings.gpus_per_worker > session.gpus:
                raise ConfigError(
                    f"a worker is to have {self.settings.gpus_per_worker:g} GPUs, and Ray finds "
                    f"{session.gpus:g} on this machine. Lower gpus_per_worker, or name a cluster."
                )
            self._ray = import_ray()
        return self._ray

    def workers(self) -> dict[str, Any]:
        """The workers by name, as many as are wanted; missing ones are started."""
        ray, settings = self.ray, self.settings
        while len(self._workers) < settings.workers:
            name = f"worker-{uuid.uuid4().hex[:12]}"
            actor = ray.remote(WorkerActor).options(
                num_cpus=settings.cpus_per_worker,
                num_gpus=settings.gpus_per_worker,
                max_concurrency=_WORKER_THREADS,
                scheduling_strategy="SPREAD",
            )
            self._workers[name] = actor.remote(name, str(Path.cwd()))
        return dict(self._workers)

    def ending(self, name: str, parts: Sequence[Any]) -> None:
        """Parts of work that is over, of which the workers are not told yet."""
        if parts:
            self._ending[name] = list(parts)

    def over(self) -> list[str]:
        """Work that is over and that a worker may still ask for.

        An owner that was started anew has to hear of it: it would have the worker wait.
        """
        for name, parts in list(self._ending.items()):
            _, left = self.ray.wait(parts, num_returns=len(parts), timeout=0)
            if not left:
                del self._ending[name]
        return list(self._ending)

    def lost(self, worker: str) -> None:
        """A worker has died."""
        self._workers.pop(worker, None)

    def owner(self, ledger: Ledger) -> Any:
        """The owner of a ledger, which is lent to it until it is closed."""
        place = ledger.path.resolve()
        if place not in self._owners:
            ray = self.ray
            from ray.util.scheduling_strategies import NodeAffinitySchedulingStrategy

            here = ray.get_runtime_context().get_node_id()
            actor = ray.remote(OwnerActor).options(
                num_cpus=0,
                max_restarts=-1,
                max_task_retries=-1,
                scheduling_strategy=NodeAffinitySchedulingStrategy(here, soft=False),
            )
            process = os.getpid()
            owner = actor.remote(str(place), process, began_of(process))
            self._owners[place] = owner
            ledger.lend(lambda: self._give_back(place))
        return self._owners[place]

    def _give_back(self, place: Path) -> None:
        """Have the owner of a ledger let go of it."""
        owner = self._owners.pop(place)
        ray = self._ray
        if ray is None:  # Ray is shut down, and the owner with it
            return
        # Who still asks this owner is told that all is done; without one it would ask for ever.
        if parts := [part for some in self._ending.values() for part in some]:
            ray.wait(parts, num_returns=len(parts), timeout=_ENDING_SECONDS)
            self._ending.clear()
        with suppress(ray.exceptions.RayError):
            ray.get(owner.close.remote(), timeout=_CLOSE_SECONDS)
        ray.kill(owner)


class RoleEngine:
    """An engine for the calls of one role (`models.engine.Engine`)."""

    def __init__(self, engine: RayEngine, spec: ModelSpec) -> None:
        self._engine = engine
        self._spec = spec

    def sending(
        self,
        model: Model,
        entries: Sequence[Entry],
        *,
        ledger: Ledger,
        limits: Limits,
        price: Price | None,
        settings: RunnerSettings,
        most: int,
        interrupts: Interrupts,
    ) -> RaySending:
        """See `models.engine.Engine`."""
        attempts = ledger.attempts(entries)
        items = [
            Item(entry.id, entry.call.role, entry.bound, number)
            for entry, number in zip(entries, attempts, strict=True)
        ]
        wanted = self._engine.settings
        terms = Terms(
            items,
            limits,
            asks_unknown=settings.unknown == "retry" or not model.paid,
            max_deaths=settings.max_attempts,
            shard=wanted.shard,
        )
        # What one process would have under way at most is shared out; those that are left over
        # when there are more workers than that get nothing to do.
        at_work = min(wanted.workers, most) if settings.concurrency is not None else wanted.workers
        share = most if settings.concurrency is None else max(1, most // at_work)
        job = Job(
            name=f"job-{uuid.uuid4().hex}",
            spec=self._spec,
            identity=canonical_json(dict(model.identity())),
            price=price,
            settings=settings,
            most=share,
        )
        return RaySending(
            self._engine,
            ledger,
            list(entries),
            terms,
            job,
            at_work=at_work,
            at_once=min(model.parallel, share),
            interrupts=interrupts,
        )
