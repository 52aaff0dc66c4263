"""Asynchronous work for synchronous callers: scripts, and notebooks whose own loop is running.

The work runs on one event loop of askew's own, in a thread of its own, which lives as long as the
process: what a user's asynchronous function keeps from one call to the next (a connection, a lock)
belongs to a loop, and would be dead on a new one.
"""

from __future__ import annotations

import asyncio
import atexit
import os
import threading
from collections.abc import Callable, Coroutine
from concurrent.futures import Future
from contextlib import suppress
from queue import Empty, SimpleQueue
from typing import Any, TypeVar

from askew.errors import RunError
from askew.models.interrupts import Interrupts

# On Windows a wait that has no end cannot be interrupted.
_WAIT_SECONDS = 0.5
# The first asks for a clean stop, the second for one that does not wait for what is under way.
_STOPS = 2

Result = TypeVar("Result")
Step = TypeVar("Step")  # what is told of how far the work has come; an audit has its own


def run_in_background(
    work: Callable[[Interrupts, Callable[[Step], None]], Coroutine[Any, Any, Result]],
    tell: Callable[[Step], None] | None = None,
) -> Result:
    """Run asynchronous work to its end, wherever it is called from, and wait for it here.

    Args:
        work: is given what counts the wishes to stop, and what to report progress to.
        tell: told how far it has come, in the calling thread.

    Returns:
        What the work returned.

    Raises:
        KeyboardInterrupt: Ctrl-C, once the work has stopped cleanly. A second Ctrl-C does not wait
            for calls that are under way, a third leaves the work to itself.
        RunError: called from a function that askew itself is running; it would wait for itself.
        Exception: what the work raised, or `tell`; the latter stops the work cleanly before.
    """
    loop = _LOOP.get()
    interrupts = Interrupts()
    steps: SimpleQueue[Step | None] = SimpleQueue()
    job = asyncio.run_coroutine_threadsafe(work(interrupts, steps.put), loop)
    job.add_done_callback(lambda _: steps.put(None))
    stops: list[BaseException] = []
    while not (job.done() and steps.empty()):
        try:
            _follow(job, steps, None if stops else tell)
        except BaseException as stop:  # Ctrl-C, or whatever `tell` raises
            stops.append(stop)
            if len(stops) > _STOPS:
                raise
            loop.call_soon_threadsafe(interrupts.arrived)
    if stops:
        raise stops[0] from job.exception()
    return job.result()


def _follow(
    job: Future[Any], steps: SimpleQueue[Step | None], tell: Callable[[Step], None] | None
) -> None:
    """Wait for the job and tell how far it has come; what comes faster than `tell` is skipped."""
    while not (job.done() and steps.empty()):
        step = None
        try:
            step = steps.get(timeout=_WAIT_SECONDS)
            while not steps.empty():
                step = steps.get() or step
        except Empty:
            continue
        if step is not None and tell is not None:
            tell(step)


class _Loop:
    """The loop of this process, started when it is first wanted; a fork has to start its own."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._process = 0
        self._loop: asyncio.AbstractEventLoop | None = None
        self._thread: threading.Thread | None = None
        self._ending = False

    def get(self) -> asyncio.AbstractEventLoop:
        """The running loop.

        Raises:
            RunError: called on that loop.
        """
        if threading.current_thread() is self._thread:
            raise RunError(
                "a function that askew is asking has started an audit of its own, which would "
                "wait for itself. Start it outside of that function."
            )
        with self._lock:
            if self._loop is None or self._process != os.getpid():
                self._process = os.getpid()
                self._loop = asyncio.new_event_loop()
                self._thread = threading.Thread(
                    target=self._serve, args=(self._loop,), name="askew", daemon=True
                )
                self._thread.start()
                atexit.register(self._end, self._loop, self._thread)
            return self._loop

    def _serve(self, loop: asyncio.AbstractEventLoop) -> None:
        """Run the loop, whatever a user's function does to it: whoever waits for it would hang."""
        while not self._ending:
            # KeyboardInterrupt and SystemExit go to who waits for the task, and leave the loop too.
            with suppress(KeyboardInterrupt, SystemExit):
                loop.run_forever()

    def _end(self, loop: asyncio.AbstractEventLoop, thread: threading.Thread) -> None:
        """Let the loop go at the end of the process, unless something on it hangs."""
        if thread.is_alive():
            self._ending = True
            loop.call_soon_threadsafe(loop.stop)
            thread.join(timeout=1.0)
            if not thread.is_alive():
                loop.close()


_LOOP = _Loop()
