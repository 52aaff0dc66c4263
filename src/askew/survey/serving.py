"""Serves a study until it is stopped: on this machine alone unless told otherwise."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from urllib.parse import urlsplit

from aiohttp import web

from askew.errors import ConfigError, RunError
from askew.serve.loopback import bracketed, is_loopback, stopped
from askew.survey.records import Survey
from askew.survey.server import Pages, Reached
from askew.survey.store import Store

_SHUTDOWN_SECONDS = 2.0
_DEFAULT_PORTS = {"http": 80, "https": 443}


@dataclass(frozen=True, kw_only=True, slots=True)
class Serving:
    """Where a study is served."""

    host: str = "127.0.0.1"
    port: int = 0  # 0: that of the last time, else a free one
    allow_remote: bool = False
    public_url: str | None = None  # where raters reach it, where a proxy stands before it


def check_host(serving: Serving) -> str:
    """Refuse to be reached from elsewhere unasked; returns what to warn of, or "".

    Raises:
        ConfigError: others can reach the address and nobody has said that they may, the public
            address cannot be used, or none is given where every address is listened on.
    """
    public = _public(serving)
    if is_loopback(serving.host) and (public is None or is_loopback(public.hostname or "")):
        return ""
    if not serving.allow_remote:
        raise ConfigError(
            f"{serving.public_url or serving.host} can be reached from other machines. Add "
            "--allow-remote if that is meant; without --host, only this machine can."
        )
    if public is None and serving.host in ("0.0.0.0", "::", ""):
        raise ConfigError(
            f"--host {serving.host!r} listens on every address, so the links need one: add "
            "--public-url, such as https://survey.example.org."
        )
    if public is not None and public.scheme == "https":
        return "the study can be reached from other machines by everybody who has a link."
    return (
        "the study can be reached from other machines, and nothing is encrypted: links and answers "
        "can be read on the way. Put a proxy with HTTPS before it and name it with --public-url."
    )


async def serve_until_stopped(
    survey: Survey, store: Store, serving: Serving, ready: Callable[[str], None]
) -> None:
    """Serve until SIGINT or SIGTERM.

    Args:
        survey: what is shown.
        store: where answers go.
        serving: where; see `check_host`.
        ready: told the address, without a slash at the end, once it answers.

    Raises:
        RunError: the address cannot be listened on.
    """
    handler = Pages(survey, store)
    runner = web.AppRunner(
        handler.application(),
        access_log=None,  # it would hold the links' tokens
        handle_signals=False,
        shutdown_timeout=_SHUTDOWN_SECONDS,
    )
    await runner.setup()
    try:
        port = await _listen(runner, serving, store)
        store.keep_port(port)
        handler.reached = reached(serving, port)
        with stopped() as stop:
            ready(address(serving, port))
            await stop.wait()
    finally:
        await runner.cleanup()


async def _listen(runner: web.AppRunner, serving: Serving, store: Store) -> int:
    """Listen, and return the port: the one asked for, that of the last time, or a free one."""
    ports = [serving.port] if serving.port else [store.port or 0, 0]
    for port in dict.fromkeys(ports):
        try:
            await web.TCPSite(runner, serving.host, port).start()
        except OSError as trouble:
            if port == ports[-1]:
                raise RunError(
                    f"{serving.host}:{port} cannot be listened on: {trouble.strerror or trouble}. "
                    "Name another with --host and --port, or stop what uses it."
                ) from trouble
        else:
            return int(runner.addresses[0][1])
    raise AssertionError("the last port either answers or raises")


def address(serving: Serving, port: int) -> str:
    """How the links begin."""
    if serving.public_url is not None:
        return serving.public_url.rstrip("/")
    return f"http://{bracketed(serving.host)}:{port}"


def reached(serving: Serving, port: int) -> Reached:
    """The names under which requests are taken; any other was not meant for the study."""
    names = [serving.host]
    if is_loopback(serving.host):
        names += ["localhost", "127.0.0.1", "::1"]
    hosts = {f"{bracketed(name)}:{port}" for name in names}
    if port == _DEFAULT_PORTS["http"]:
        hosts |= {bracketed(name) for name in names}
    origins = {f"http://{host}" for host in hosts}
    public = _public(serving)
    if public is not None:
        hosts.add(public.netloc)
        origins.add(f"{public.scheme}://{public.netloc}")
    return Reached(frozenset(hosts), frozenset(origins))


class _Url:
    """The parts of a public address that count."""

    def __init__(self, url: str) -> None:
        parts = urlsplit(url)
        self.scheme = parts.scheme
        self.hostname = parts.hostname
        self.netloc = _without_default_port(parts.netloc.casefold(), self.scheme)
        self.plain = (
            self.scheme in _DEFAULT_PORTS
            and bool(self.hostname)
            and parts.path in ("", "/")
            and not (parts.query or parts.fragment or parts.username)
        )


def _without_default_port(netloc: str, scheme: str) -> str:
    return netloc.removesuffix(f":{_DEFAULT_PORTS.get(scheme, 0)}")


def _public(serving: Serving) -> _Url | None:
    if serving.public_url is None:
        return None
    try:
        url = _Url(serving.public_url)
    except ValueError:
        url = None
    if url is None or not url.plain:
        raise ConfigError(
            f"--public-url is {serving.public_url!r}, expected a scheme and a name, and no path: "
            "https://survey.example.org."
        )
    return url
