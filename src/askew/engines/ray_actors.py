"""The owner and the workers as Ray's actors: processes that are called by handle."""

from __future__ import annotations

import os
import threading
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from askew.engines.leases import LedgerOwner
from askew.engines.messages import Exchanged, Lease, Status, Terms
from askew.engines.worker import Job, Outcome, Worker
from askew.errors import AskewError
from askew.models.dispatch import Stop
from askew.models.ledgerowner import Attempt, OwnedLedger, Result

_LOOK_SECONDS = 0.5  # whether the process that lent the ledger lives


class OwnerActor:
    """A `LedgerOwner` in a process of its own, which ends with the process that lent the ledger.

    Ray starts it anew when it dies, and calls again what was not answered; the ledger and the
    numbers of its attempts see to it that this does no harm.
    """

    def __init__(self, path: str, lender: int, began: str) -> None:
        """Take the ledger.

        Args:
            path: of the ledger.
            lender: the process that has the run open, on this machine.
            began: when that process began, as `began_of` tells.
        """
        self._lender, self._began = lender, began
        if not self._lives():
            os._exit(0)
        self._owner = LedgerOwner(OwnedLedger.open(Path(path)))
        threading.Thread(target=self._watch, daemon=True).start()

    def _lives(self) -> bool:
        return began_of(self._lender) == self._began

    def _watch(self) -> None:
        while self._lives():
            time.sleep(_LOOK_SECONDS)
        # Nobody is told any more, and every commit is in the file: what comes now only delays the
        # next start of the run.
        os._exit(0)

    def pid(self) -> int:
        """This process."""
        return os.getpid()

    def begin(self, name: str, terms: Terms, held: Mapping[str, Sequence[int]]) -> None:
        """See `LedgerOwner`."""
        self._owner.begin(name, terms, held)

    def join(self, worker: str) -> None:
        """See `LedgerOwner`."""
        self._owner.join(worker)

    def gone(self, worker: str) -> None:
        """See `LedgerOwner`."""
        self._owner.gone(worker)

    def stop(self, name: str) -> None:
        """See `LedgerOwner`."""
        self._owner.stop(name)

    def end(self, name: str) -> None:
        """See `LedgerOwner`."""
        self._owner.end(name)

    def status(self, name: str) -> Status:
        """See `LedgerOwner`."""
        return self._owner.status(name)

    def lease(self, name: str, worker: str, number: int, room: int, idle: bool) -> Lease:
        """See `LedgerOwner`."""
        return self._owner.lease(name, worker, number, room, idle)

    def exchange(
        self,
        name: str,
        worker: str,
        results: Sequence[Result],
        wanted: Sequence[Attempt],
        ahead: Sequence[int] = (),
    ) -> Exchanged:
        """See `LedgerOwner`."""
        return self._owner.exchange(name, worker, results, wanted, ahead)

    def leave(self, name: str, worker: str) -> None:
        """See `LedgerOwner`."""
        self._owner.leave(name, worker)

    def free_space(self) -> None:
        """See `LedgerOwner`."""
        self._owner.free_space()

    def close(self) -> None:
        """See `LedgerOwner`."""
        self._owner.close()


class RemoteOwner:
    """The owner as a worker calls it: each call waits, through restarts, until it is answered."""

    def __init__(self, handle: Any) -> None:
        self._handle = handle

    def lease(self, name: str, worker: str, number: int, room: int, idle: bool) -> Lease:
        """See `LedgerOwner`."""
        answer: Lease = _got(self._handle.lease.remote(name, worker, number, room, idle))
        return answer

    def exchange(
        self,
        name: str,
        worker: str,
        results: Sequence[Result],
        wanted: Sequence[Attempt],
        ahead: Sequence[int] = (),
    ) -> Exchanged:
        """See `LedgerOwner`."""
        answer: Exchanged = _got(
            self._handle.exchange.remote(name, worker, results, wanted, list(ahead))
        )
        return answer

    def leave(self, name: str, worker: str) -> None:
        """See `LedgerOwner`."""
        _got(self._handle.leave.remote(name, worker))

    def free_space(self) -> None:
        """See `LedgerOwner`."""
        _got(self._handle.free_space.remote())


def _got(reference: Any) -> Any:
    import ray

    try:
        return ray.get(reference)
    except AskewError as trouble:  # Ray's own class of errors beside, with a trace in its text
        raise getattr(trouble, "cause", trouble) from None


class WorkerActor:
    """A `Worker` in a process of its own."""

    def __init__(self, name: str, folder: str) -> None:
        """See `Worker`."""
        self._worker = Worker(name, folder)

    def pid(self) -> int:
        """This process."""
        return os.getpid()

    def work(self, job: Job, owner: Any) -> Outcome:
        """See `Worker`.

        Args:
            job: what is to be done.
            owner: the handle of an `OwnerActor`.
        """
        return self._worker.work(job, RemoteOwner(owner))

    def held(self, name: str) -> list[int]:
        """See `Worker`."""
        return self._worker.held(name)

    def halt(self, name: str, stop: Stop) -> None:
        """See `Worker`."""
        self._worker.halt(name, stop)

    def interrupt(self, name: str) -> None:
        """See `Worker`."""
        self._worker.interrupt(name)


def began_of(process: int) -> str:
    """When a process of this machine began; empty where there is none.

    Process numbers are given again: number and beginning together name one process.
    """
    try:
        os.kill(process, 0)
    except PermissionError:
        pass
    except (OSError, OverflowError):
        return ""
    try:
        status = Path(f"/proc/{process}/stat").read_text()
    except OSError:
        return "?"  # no such folder on this system: that it lives is all that is known
    fields = status.rpartition(")")[2].split()
    return "" if fields[0] in "ZX" else fields[19]
