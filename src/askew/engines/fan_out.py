"""One function over many items: here, one after another, or over the workers of a Ray cluster.

The function must be pure: what it returns depends on the item alone. Then results are the same to
the bit whatever the engine, the number of workers and the order in which they end; a part whose
worker dies is simply worked out again, elsewhere.

What goes to a worker and back travels as bytes. Ray would else hand out arrays that cannot be
written to, for which compiled routines would have to be compiled anew.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, Protocol, TypeVar

from askew.errors import ConfigError

if TYPE_CHECKING:
    from askew.engines.ray_start import RaySession

Item = TypeVar("Item")
Result = TypeVar("Result")
Told = Callable[[int, int], None]  # items done, items in all

LOCAL, RAY = "local", "ray"
ENGINES = (LOCAL, RAY)
# So many parts a worker: few enough that their overhead is small beside a game's time, and enough
# that no worker is left with a long last part while the others have nothing to do.
PARTS_A_WORKER = 16
# How often a part is begun again whose worker died; a part that kills its workers has to end.
DEATHS = 5
# Libraries split sums over their threads, and another split rounds differently: a worker has as
# many threads as this process has, whatever Ray would give it.
_THREADS = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "NUMBA_NUM_THREADS")


class FanOut(Protocol):
    """Something that works out a function over many items."""

    def map(
        self, function: Callable[[Item], Result], items: Sequence[Item], told: Told | None = None
    ) -> list[Result]:
        """The results, in the order of the items.

        Args:
            function: pure, and such that it can be pickled; what it needs is best bound with
                `functools.partial`, as that goes to each worker once.
            items: each can be pickled.
            told: told how many are done, as they end.

        Raises:
            Exception: what the function raised, for the first of the items that it raised for.
        """
        ...


class Serial:
    """One item after another, in this process."""

    def map(
        self, function: Callable[[Item], Result], items: Sequence[Item], told: Told | None = None
    ) -> list[Result]:
        """See `FanOut.map`."""
        results = []
        for item in items:
            results.append(function(item))
            if told is not None:
                told(len(results), len(items))
        return results


class OverRay:
    """Parts of the items as tasks of a cluster; see the module's head.

    Args:
        session: the cluster, which stays up for as long as this is used.
        workers: tasks under way at once; None: one a processor of the cluster.
    """

    def __init__(self, session: RaySession, workers: int | None = None) -> None:
        self._workers = workers or max(1, int(session.cpus))

    def map(
        self, function: Callable[[Item], Result], items: Sequence[Item], told: Told | None = None
    ) -> list[Result]:
        """See `FanOut.map`."""
        import ray
        from ray import cloudpickle

        size = max(1, len(items) // (self._workers * PARTS_A_WORKER))
        parts = [items[start : start + size] for start in range(0, len(items), size)]
        work = ray.remote(_work_out).options(
            num_cpus=1, max_retries=DEATHS, runtime_env={"env_vars": threads()}
        )
        # Put once and fetched by each worker once; the reference lies in a list, or Ray would
        # fetch what it refers to for every part.
        shared = [ray.put(cloudpickle.dumps(function))]
        results: list[list[Result] | None] = [None] * len(parts)
        waiting: dict[Any, int] = {}
        begun = ended = 0
        try:
            while begun < len(parts) or waiting:
                while begun < len(parts) and len(waiting) < self._workers:
                    waiting[work.remote(shared, cloudpickle.dumps(parts[begun]))] = begun
                    begun += 1
                ready, _ = ray.wait(list(waiting), num_returns=1)
                for reference in ready:
                    place = waiting.pop(reference)
                    results[place] = cloudpickle.loads(_result(reference))
                    ended += len(parts[place])
                    if told is not None:
                        told(ended, len(items))
        finally:
            for reference in waiting:  # Ctrl-C, or an item that cannot be worked out
                ray.cancel(reference, force=True)
        return [one for part in results if part is not None for one in part]


def threads() -> dict[str, str]:
    """How many threads the libraries of a worker may have, as environment variables."""
    count = os.environ.get(_THREADS[0]) or str(_processors())
    return {name: os.environ.get(name) or count for name in _THREADS}


def _processors() -> int:
    """Those that this process may use, which is as many threads as its libraries then start."""
    allowed = getattr(os, "sched_getaffinity", None)  # Linux alone has it
    return len(allowed(0)) if allowed is not None else os.cpu_count() or 1


def _result(reference: Any) -> bytes:
    """What a task came to.

    Raises:
        Exception: what the function raised, as it would be raised here.
        RunError: the workers died time and again.
    """
    import ray

    from askew.errors import RunError

    try:
        found: bytes = ray.get(reference)
    except ray.exceptions.RayTaskError as trouble:
        raise (trouble.cause if trouble.cause is not None else trouble) from None
    except (ray.exceptions.WorkerCrashedError, ray.exceptions.OutOfMemoryError) as trouble:
        raise RunError(
            f"a part of the work was begun {DEATHS + 1} times and its worker died each time "
            f"({type(trouble).__name__}). Give the workers more memory, or ask for fewer of them "
            "with --workers."
        ) from trouble
    return found


# The function of the last map that this worker took part in, by its reference.
_kept: dict[str, Callable[[Any], Any]] = {}


def _work_out(shared: list[Any], part: bytes) -> bytes:
    """One part, in a worker."""
    import ray
    from ray import cloudpickle

    key = shared[0].hex()
    if key not in _kept:
        _kept.clear()
        _kept[key] = cloudpickle.loads(ray.get(shared[0]))
    function = _kept[key]
    made: bytes = cloudpickle.dumps([function(item) for item in cloudpickle.loads(part)])
    return made


@contextmanager
def fan_out(
    engine: str = LOCAL, workers: int | None = None, address: str | None = None
) -> Iterator[FanOut]:
    """What works out a function over many items, by the engine's name.

    Args:
        engine: "local" or "ray".
        workers: of Ray, at once; None: one a processor.
        address: of a Ray cluster; None starts one on this machine, for as long as this is used.

    Raises:
        ConfigError: there is no such engine, or workers or an address are named and it has none.
        MissingDependency: Ray is not installed.
    """
    check_engine(engine, workers, address)
    if engine == LOCAL:
        yield Serial()
        return
    from askew.engines.ray_start import ray_session

    with ray_session(address, cpus=workers) as session:
        yield OverRay(session, workers)


def check_engine(engine: str, workers: int | None, address: str | None) -> None:
    """Refuse an engine that is not there, and settings that it does not have.

    Raises:
        ConfigError: see above.
    """
    if engine not in ENGINES:
        raise ConfigError(f"unknown engine {engine!r}. Known: {', '.join(ENGINES)}.")
    if workers is not None and workers < 1:
        raise ConfigError(f"workers is {workers}, expected at least 1.")
    if engine == LOCAL and (workers is not None or address is not None):
        raise ConfigError(
            "workers and an address are of the engine ray, and the engine is local. Add "
            "--engine ray, or leave them out."
        )
