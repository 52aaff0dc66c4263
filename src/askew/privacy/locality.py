"""Staying on this machine: what counts as this machine, and a guard over a whole process.

`--local-only`, `local_only = true` and ASKEW_LOCAL_ONLY=1 refuse each remote endpoint where its
address is read. The guard is the second lock behind those doors: while it is on, Python opens no
connection to another machine and asks no name server, whichever package tries. It cannot see what
compiled code does by itself, nor what other processes do.
"""

from __future__ import annotations

import functools
import inspect
import ipaddress
import os
import socket
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any, ParamSpec, TypeVar

from askew.errors import ConfigError

VARIABLE = "ASKEW_LOCAL_ONLY"
_OFF = ("", "0", "false", "no", "off")
# What stops the hub's own client, whose transfers may be compiled code.
_OFFLINE = ("HF_HUB_OFFLINE", "TRANSFORMERS_OFFLINE", "HF_DATASETS_OFFLINE")
# Each may ask a name server; the last two for the name of a number.
_LOOKED_UP = (
    "socket.getaddrinfo",
    "socket.gethostbyname",
    "socket.gethostbyaddr",
    "socket.getnameinfo",
)

Given = ParamSpec("Given")
Result = TypeVar("Result")

_guards = 0  # runs under way that are local only
_hooked = False


class NotLocal(ConfigError, OSError):
    """Something would have left this machine. An OSError too: packages expect one of a socket."""


def wanted_by_environment() -> bool:
    """Whether ASKEW_LOCAL_ONLY is set to anything but 0, false, no or off."""
    return os.environ.get(VARIABLE, "").strip().lower() not in _OFF


def is_loopback(host: str | None) -> bool:
    """Whether a host's name or number can only be this machine.

    By its writing alone: a name that a server or a file of hosts has to look up may change. Of
    names `localhost` and those below it count (RFC 6761), which askew looks up nowhere.

    >>> [is_loopback(one) for one in ("127.0.0.9", "::ffff:127.0.0.1", "localhost.evil.com")]
    [True, True, False]
    """
    name = (host or "").lower().removesuffix(".")
    try:
        address = ipaddress.ip_address(name.strip("[]"))
    except ValueError:
        return name == "localhost" or name.endswith(".localhost")
    if isinstance(address, ipaddress.IPv6Address) and address.ipv4_mapped is not None:
        return address.ipv4_mapped.is_loopback
    return address.is_loopback


def refuse(what: str, mend: str, *, wanted: bool = False) -> None:
    """Refuse what would leave this machine, where that is not allowed.

    Args:
        what: what it is and does, such as "openai/gpt-4o sends prompts off this machine".
        mend: a sentence.
        wanted: whether a setting says `local_only`; else the environment does.

    Raises:
        NotLocal: it is not allowed.
    """
    if wanted:
        raise NotLocal(f"{what}, and local_only is set. {mend}")
    if wanted_by_environment():
        raise NotLocal(f"{what}, and {VARIABLE} is set. {mend}")


def obey_environment(*, whole_process: bool = False) -> None:
    """Watch this process's connections for as long as ASKEW_LOCAL_ONLY is set.

    Args:
        whole_process: whether askew is all that runs in it, so that the hub's client may be told
            to stay offline for good.
    """
    if wanted_by_environment():
        _hook()
        if whole_process:
            os.environ.update(dict.fromkeys(_OFFLINE, "1"))


@contextmanager
def only_this_machine(wanted: bool = True) -> Iterator[None]:
    """While it lasts, no connection of this process leaves the machine, where that is wanted."""
    global _guards
    obey_environment()
    if not wanted:
        yield
        return
    before = {name: os.environ.get(name) for name in _OFFLINE}
    _hook()
    os.environ.update(dict.fromkeys(_OFFLINE, "1"))
    _guards += 1
    try:
        yield
    finally:
        _guards -= 1
        for name, value in before.items():
            if value is None:
                os.environ.pop(name, None)
            else:
                os.environ[name] = value


def kept_local(work: Callable[Given, Result]) -> Callable[Given, Result]:
    """The function under the guard where its settings say so.

    Its first argument is a run file, or holds one as `run`; it may be a coroutine function.
    """
    if inspect.iscoroutinefunction(work):

        @functools.wraps(work)
        async def waits(*args: Given.args, **kwargs: Given.kwargs) -> Any:
            with only_this_machine(_says_local(args, kwargs)):
                return await work(*args, **kwargs)

        return waits  # type: ignore[return-value]  # the same kind of function as was given

    @functools.wraps(work)
    def works(*args: Given.args, **kwargs: Given.kwargs) -> Result:
        with only_this_machine(_says_local(args, kwargs)):
            return work(*args, **kwargs)

    return works


def _says_local(args: tuple[Any, ...], kwargs: dict[str, Any]) -> bool:
    settings = args[0] if args else next(iter(kwargs.values()))
    settings = getattr(settings, "run", settings)
    settings = getattr(settings, "file", settings)
    return bool(getattr(settings, "local_only", False))


def _hook() -> None:
    global _hooked
    if not _hooked:
        sys.addaudithook(_watch)  # there is no way to take one off again
        _hooked = True


def _watch(event: str, args: tuple[Any, ...]) -> None:
    if not event.startswith("socket.") or not (_guards or wanted_by_environment()):
        return
    if event in ("socket.connect", "socket.sendto", "socket.sendmsg"):
        place = args[1] if len(args) > 1 else None
        if isinstance(place, tuple) and place and not _is_here(str(place[0])):
            raise NotLocal(
                f"a connection to {place[0]} was stopped: nothing may leave this machine "
                f"(local_only, {VARIABLE}). Choose a model on this machine, or allow others."
            )
    elif event in _LOOKED_UP:
        given = args[0][0] if isinstance(args[0], tuple) and args[0] else args[0]
        name = given.decode("ascii", "replace") if isinstance(given, bytes) else given
        if name and not _is_here(str(name)) and name != socket.gethostname():
            raise NotLocal(
                f"the address of {name} was not looked up: nothing may leave this machine "
                f"(local_only, {VARIABLE}). Choose a model on this machine, or allow others."
            )


@functools.lru_cache(maxsize=256)
def _is_here(host: str) -> bool:
    """Whether a number is one of this machine's own, loopback or not."""
    if is_loopback(host):
        return True
    try:
        address = ipaddress.ip_address(host.partition("%")[0])
    except ValueError:
        return False
    kind = socket.AF_INET if address.version == 4 else socket.AF_INET6
    try:
        with socket.socket(kind, socket.SOCK_DGRAM) as probe:
            probe.bind((str(address), 0))  # a machine may bind its own addresses alone
    except OSError:
        return False
    return True
