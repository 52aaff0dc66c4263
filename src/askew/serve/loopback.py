"""What every server of this package needs to know of its own address, and how it is stopped."""

from __future__ import annotations

import asyncio
import signal
from collections.abc import Iterator
from contextlib import contextmanager
from ipaddress import ip_address


def is_loopback(host: str) -> bool:
    """Whether only this machine can reach the host.

    >>> is_loopback("127.0.0.1"), is_loopback("localhost"), is_loopback("0.0.0.0")
    (True, True, False)
    """
    try:
        return ip_address(host).is_loopback
    except ValueError:
        return host.casefold() == "localhost"


def bracketed(host: str) -> str:
    """The host as an address and the Host header have it.

    >>> bracketed("::1"), bracketed("LocalHost")
    ('[::1]', 'localhost')
    """
    return f"[{host}]" if ":" in host else host.casefold()


@contextmanager
def stopped() -> Iterator[asyncio.Event]:
    """An event that SIGINT or SIGTERM sets; where loops take no signals, Ctrl-C ends the loop."""
    loop, stop = asyncio.get_running_loop(), asyncio.Event()
    taken = []
    for number in (signal.SIGINT, signal.SIGTERM):
        try:
            loop.add_signal_handler(number, stop.set)
        except (NotImplementedError, RuntimeError):
            continue
        taken.append(number)
    try:
        yield stop
    finally:
        for number in taken:
            loop.remove_signal_handler(number)
