"""Ctrl-C, SIGTERM and a terminal that hangs up: the first asks to stop, the second insists."""

from __future__ import annotations

import asyncio
import signal
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager

_SIGNALS = ("SIGINT", "SIGTERM", "SIGHUP")  # Windows has no hang-up


class Interrupts:
    """Counts the signals that arrive while something watches."""

    def __init__(self) -> None:
        self.count = 0
        self._watchers: list[Callable[[], None]] = []
        self._restore: Callable[[], None] | None = None

    @contextmanager
    def watch(self, wake: Callable[[], None]) -> Iterator[None]:
        """Call `wake` at each signal; the usual handlers are back when the last watcher leaves.

        Signals reach the main thread only, and not every event loop takes handlers (on Windows
        none does): there, Ctrl-C cancels the task, which ends the calls at once.
        """
        self._watchers.append(wake)
        if self._restore is None:
            self._restore = self._install()
        try:
            yield
        finally:
            self._watchers.remove(wake)
            if not self._watchers and self._restore is not None:
                self._restore()
                self._restore = None

    def _install(self) -> Callable[[], None] | None:
        if threading.current_thread() is not threading.main_thread():
            return None
        loop = asyncio.get_running_loop()
        before = {
            number: found
            for name in _SIGNALS
            if (number := getattr(signal, name, None)) is not None
            # `nohup` ignores the hang-up, a script's "&" ignores Ctrl-C, and both mean it.
            and (found := signal.getsignal(number)) is not signal.SIG_IGN
        }
        try:
            for number in before:
                loop.add_signal_handler(number, self.arrived)
        except NotImplementedError:
            return None

        def restore() -> None:
            for number, handler in before.items():
                loop.remove_signal_handler(number)
                signal.signal(number, handler)

        return restore

    def arrived(self) -> None:
        """Count one more; a caller that gets the signals itself tells of them so, on the loop."""
        self.count += 1
        for wake in list(self._watchers):
            wake()
