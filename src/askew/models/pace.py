"""How many calls may be under way, how long to wait, and when to give up on an endpoint.

Pure: the caller tells the time. Concurrency grows by about one a round trip while all is well and
halves when the server asks to slow down, as TCP does (Chiu and Jain, 1989). Waits are drawn between
zero and a bound that doubles ("full jitter"), so that many clients do not come back as one.
"""

from __future__ import annotations

import random
from dataclasses import dataclass

_LEFT_OVER = 4  # the wait after so many failures is the longest for calls that are left over


@dataclass(frozen=True, kw_only=True, slots=True)
class PaceSettings:
    """When to wait and when to give up."""

    first_wait_seconds: float = 0.5  # the bound on the first wait; doubles each time
    longest_wait_seconds: float = 60.0
    # A server that asks for more than this has a daily quota: stop, and resume another day.
    longest_server_wait_seconds: float = 600.0
    probe_after: int = 3  # troubles in a row after which one call at a time is tried
    give_up_after: int = 10  # troubles in a row without a single reply


class Pace:
    """The pace of calls to one model."""

    def __init__(self, start: int, cap: int, settings: PaceSettings, rng: random.Random) -> None:
        """Start with `start` calls under way and never go over `cap`."""
        self._limit = float(min(start, cap))
        self._cap = cap
        self._settings = settings
        self._rng = rng
        self._last_trouble = float("-inf")
        self._held_until = float("-inf")
        self._troubles = 0
        self.replies = 0

    @property
    def concurrency(self) -> int:
        """How many calls may be under way when all is well, at least 1."""
        return max(1, int(self._limit))

    @property
    def given_up(self) -> bool:
        """Whether trouble has followed trouble for too long."""
        return self._troubles >= self._settings.give_up_after

    def room(self, under_way: int) -> int:
        """How many more calls may be sent, were it not for `held_for`."""
        probing = self._troubles >= self._settings.probe_after and not self.given_up
        return max(0, (1 if probing else self.concurrency) - under_way)

    def held_for(self, now: float) -> float:
        """Seconds until anything may be sent, 0 = now."""
        return max(0.0, self._held_until - now)

    def replied(self) -> None:
        """A reply came, whatever it says."""
        self._troubles = 0
        self.replies += 1
        self._limit = min(float(self._cap), self._limit + 1 / self._limit)

    def slow_down(self, sent_at: float, now: float, wait_seconds: float | None) -> None:
        """The server asked to slow down, `wait_seconds` long if it said so.

        Calls that left before the last trouble tell nothing new: a burst of them counts once. Who
        says "at once" and refuses again has given no word that can be relied on.
        """
        if sent_at > self._last_trouble:
            self._trouble(now)
            self._limit = max(1.0, self._limit / 2)
            short = wait_seconds is not None and wait_seconds < self._settings.first_wait_seconds
            if wait_seconds is None or (short and self._troubles > 1):
                self._hold(now, self.wait(self._troubles))
        if wait_seconds is not None:
            self._hold(now, wait_seconds)

    def fault(
        self,
        sent_at: float,
        now: float,
        wait_seconds: float | None = None,
        *,
        left_over: bool = False,
    ) -> None:
        """The server failed. One fault holds up its own call alone; the next ones, everybody.

        A time that the server itself names holds up everybody at once. Where calls are `left_over`
        (others were answered, and all that is left has failed before) they rather than the server
        may be at fault: they wait less for each other, and after `give_up_after` faults in a row,
        where no breaker stops them, not at all.
        """
        if sent_at > self._last_trouble:
            self._trouble(now)
            if self._troubles > 1 and not self.given_up:
                attempt = self._troubles - 1
                self._hold(now, self.wait(min(attempt, _LEFT_OVER) if left_over else attempt))
        if wait_seconds is not None:
            self._hold(now, wait_seconds)

    def wait(self, attempt: int) -> float:
        """Seconds to wait after the attempt-th failure, counted from 1."""
        settings = self._settings
        doubled = settings.first_wait_seconds * 2.0 ** min(attempt - 1, 30)
        return self._rng.uniform(0, min(settings.longest_wait_seconds, doubled))

    def _trouble(self, now: float) -> None:
        self._troubles += 1
        self._last_trouble = now

    def _hold(self, now: float, seconds: float) -> None:
        self._held_until = max(self._held_until, now + seconds)
