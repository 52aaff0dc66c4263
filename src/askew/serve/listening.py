"""Serves reports on this machine alone until it is stopped."""

from __future__ import annotations

import logging
import secrets
from collections.abc import Callable

from aiohttp import web

from askew.errors import ConfigError, RunError
from askew.serve.loopback import bracketed, is_loopback, stopped
from askew.serve.runs import ServedRuns
from askew.serve.server import ReportServer

_SHUTDOWN_SECONDS = 2.0
_TOKEN_BYTES = 18  # 24 characters in an address
# Of aiohttp, which tells of bytes that are no HTTP with the address in them, secret and all.
_WIRE = logging.getLogger(f"{__name__}.wire")
_WIRE.setLevel(logging.CRITICAL)


def check_loopback(host: str) -> None:
    """Refuse an address that other machines can reach.

    Raises:
        ConfigError: it is one, or no address.
    """
    if not is_loopback(host):
        raise ConfigError(
            f"--host is {host!r}, and reports are served to this machine alone: they hold what "
            "models and data said. Leave --host out; to show one to others, hand them report.html."
        )


async def serve_until_stopped(
    served: ServedRuns, host: str, port: int, ready: Callable[[str], None]
) -> None:
    """Serve until SIGINT or SIGTERM.

    Args:
        served: what is shown.
        host: an address of this machine alone.
        port: 0 for a free one.
        ready: told the whole address, its secret included, once it answers.

    Raises:
        ConfigError: other machines could reach the address.
        RunError: it cannot be listened on.
    """
    check_loopback(host)
    server = ReportServer(served, secrets.token_urlsafe(_TOKEN_BYTES))
    runner = web.AppRunner(
        server.application(),
        access_log=None,  # it would hold the secret
        logger=_WIRE,
        handle_signals=False,
        shutdown_timeout=_SHUTDOWN_SECONDS,
    )
    await runner.setup()
    try:
        try:
            await web.TCPSite(runner, host, port).start()
        except OSError as trouble:
            raise RunError(
                f"{host}:{port} cannot be listened on: {trouble.strerror or trouble}. Name another "
                "port with --port, or leave it out for a free one."
            ) from trouble
        found = int(runner.addresses[0][1])
        server.hosts = loopback_hosts(host, found)
        with stopped() as stop:
            ready(f"http://{bracketed(host)}:{found}/{server.token}/")
            await stop.wait()
    finally:
        await runner.cleanup()


def loopback_hosts(host: str, port: int) -> frozenset[str]:
    """The Host headers that are answered: any other name was pointed here by somebody else."""
    names = {bracketed(name) for name in (host, "localhost", "127.0.0.1")}
    return frozenset(
        {f"{name}:{port}" for name in names} | (names if port == 80 else set())  # 80 is left out
    )
