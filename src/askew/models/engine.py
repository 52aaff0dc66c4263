"""How calls are sent: in this process, or by an engine that spreads them over others.

An engine is a way of sending, not of auditing: what is asked, what is kept and what may be spent
are the same. A `Runner` is given one, or none for the loop of `Dispatch` in its own process.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol

from askew.models.base import Model
from askew.models.budget import Limits, Price
from askew.models.dispatch import RunnerSettings, Stop
from askew.models.interrupts import Interrupts
from askew.models.ledger import Entry, Ledger
from askew.models.ledgerfile import State


@dataclass(frozen=True, kw_only=True, slots=True)
class EngineSettings:
    """Where calls are sent from: `[engine]` of a run file, where `name` is "ray"."""

    address: str | None = None  # HOST:PORT of a Ray cluster; None: one of our own, on this machine
    workers: int = 2
    cpus_per_worker: float = 1.0
    gpus_per_worker: float = 0.0
    shard: int = 256  # calls that a worker is given at once, at most

    def record(self) -> Mapping[str, object]:
        """What a run's record says of it; an address is the user's own affair."""
        return {
            "name": "ray",
            "workers": self.workers,
            "cpus_per_worker": self.cpus_per_worker,
            "gpus_per_worker": self.gpus_per_worker,
            "shard": self.shard,
        }


class Sending(Protocol):
    """One list of calls on its way; `Dispatch` is one."""

    stop: Stop | None
    tally: Counter[State]  # calls that have come to their end

    @property
    def concurrency(self) -> int:
        """How many attempts may be under way at present."""
        ...

    @property
    def waiting(self) -> str:
        """What is waited for and why; "" where work goes on."""
        ...

    def wake(self) -> None:
        """Look again: something has changed."""
        ...

    async def run(self, report: Callable[[], None]) -> None:
        """Send and settle; `stop` says afterwards whether it ended early."""
        ...


class Engine(Protocol):
    """Sends the calls of one role's model."""

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
    ) -> Sending:
        """The way of these calls; nothing is sent before it runs.

        Args:
            model: who is asked; its workers load it anew.
            entries: calls to send, in order.
            ledger: open in this process; the calls stand in it.
            limits: what may be spent.
            price: the model's, None where none is known.
            settings: how calls are repeated.
            most: attempts under way at most, over all workers.
            interrupts: counts what asks the run to stop.
        """
        ...
