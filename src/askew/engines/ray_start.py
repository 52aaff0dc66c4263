"""A Ray cluster to work on: one of our own on this machine, or the one that the user names.

Ray joins whatever cluster its environment, its files or this machine lead it to. askew does not: it
starts its own unless an address is given, and shuts down what it started. A cluster of our own
listens on open ports, so it takes nobody without a token that is made for it, handed down in the
environment of its processes and never written to a file.
"""

from __future__ import annotations

import json
import os
import secrets
import shutil
import signal
import socket
import subprocess
import sys
import threading
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass, replace
from importlib import import_module
from pathlib import Path
from tempfile import gettempdir, mkdtemp
from types import ModuleType
from typing import Any, BinaryIO

from askew.errors import ConfigError, RunError, missing_extra

_PREFIX = "askew-ray-"
_LONGEST_FOLDER = 20
_HELD = "held"  # in a cluster's folder: locked as long as its process lives
_TOKEN = secrets.token_hex(32)  # of the clusters that this process starts
_QUIET = {
    "RAY_USAGE_STATS_ENABLED": "0",
    # Under `uv run`, Ray would pack the working folder and send it to every node.
    "RAY_ENABLE_UV_RUN_RUNTIME_ENV": "0",
}
_OWN = {
    **_QUIET,
    "RAY_AUTH_MODE": "token",
    "RAY_AUTH_TOKEN": _TOKEN,
    # Ray puts its workers behind all other work of the machine. The owner of a ledger is one, and
    # on a busy machine the run would stand still; a run in one process is not put behind either.
    "RAY_worker_niceness": "0",
}
_NAMED_BY_ENVIRONMENT = "env"
# Ray gives its processes half a minute, whatever else the machine is at, and then gives up.
_STARTS = 4
_TOO_SLOW = "timed out during startup"
# What a child process runs to see whether a cluster takes a driver: Ray's own client ends the whole
# process where a server is silent, and waits for minutes where it is none of Ray's.
_PROBE = """
import json, sys
import ray
try:
    ray.init(address=sys.argv[1], configure_logging=False, log_to_driver=False)
except BaseException as trouble:
    print(json.dumps(f"{type(trouble).__name__}: {trouble}"))
    sys.exit(1)
print(json.dumps(""))
ray.shutdown()
"""


@dataclass(frozen=True, slots=True)
class RaySession:
    """A cluster that this process is connected to.

    Attributes:
        address: HOST:PORT of its control service.
        own: whether it was started here, and ends with the `with` block.
        cpus: processors that it offers, over all nodes, at the start.
        gpus: as `cpus`.
        ends: whether the connection ends with the block; the user's own stays.
    """

    address: str
    own: bool
    cpus: float
    gpus: float
    ends: bool = True


_lock = threading.RLock()
_session: RaySession | None = None
_users = 0  # `with` blocks that share the session


@contextmanager
def ray_session(
    address: str | None = None, *, cpus: int | None = None, wait_seconds: float = 60.0
) -> Iterator[RaySession]:
    """Connect to a cluster for the length of a `with` block.

    Blocks within one another, or in several threads, share one connection; the last one ends it.
    Open it on a thread that lives as long as the block: a cluster of our own dies with the thread
    that started it.

    Args:
        address: HOST:PORT of a cluster of which this machine is a node; "env" takes it from
            RAY_ADDRESS. None starts one on this machine, whatever the environment says.
        cpus: how many processors a cluster of our own counts; None = as many as there are.
        wait_seconds: how long a named cluster may take to answer.

    Raises:
        ConfigError: the cluster does not answer, or is of another version of Ray or Python; the
            address is none; Ray is connected in this process to another one already.
        MissingDependency: Ray is not installed.
        RunError: this machine is too busy for a cluster of our own to start.
    """
    global _session, _users
    with _lock:
        if _users == 0 or _session is None:
            _session = _begin(address, cpus, wait_seconds)
        elif address is not None and not _same_place(named(address), _session.address):
            raise _connected_elsewhere(_session.address)
        _users += 1
        session = _session
    try:
        yield session
    finally:
        with _lock:
            _users -= 1
            if _users == 0:
                _session = None
                _end(session)


def named(address: str) -> str:
    """The HOST:PORT that an address given by the user stands for.

    Raises:
        ConfigError: it stands for none.
    """
    if address == _NAMED_BY_ENVIRONMENT:
        address = os.environ.get("RAY_ADDRESS", "")
        if not address:
            raise ConfigError(
                "the Ray address is to come from RAY_ADDRESS, which is not set. Set it, name "
                "HOST:PORT, or leave the address out to start Ray on this machine."
            )
    if "://" in address:
        raise ConfigError(
            f"Ray address {address!r}: askew cannot run over Ray's client, since the ledger lies "
            "with the process that asks. Start askew on a node of the cluster (the head will do) "
            "and name HOST:PORT, e.g. 127.0.0.1:6379."
        )
    host, _, port = address.rpartition(":")
    if not host or not port.isdecimal() or not 0 < int(port) < 65536:
        raise ConfigError(
            f"Ray address {address!r}: expected HOST:PORT, e.g. 10.0.0.7:6379, or "
            f"{_NAMED_BY_ENVIRONMENT!r} to take it from RAY_ADDRESS."
        )
    return address


def import_ray() -> ModuleType:
    """Ray itself.

    Raises:
        MissingDependency: it is not installed.
    """
    try:
        import ray
    except ImportError as missing:
        raise missing_extra("ray", "ray") from missing
    return ray  # type: ignore[no-any-return]  # Ray's types are not followed


# Beginning


def _begin(address: str | None, cpus: int | None, wait_seconds: float) -> RaySession:
    place = None if address is None else named(address)
    with _environment(_OWN if place is None else _QUIET):
        ray = import_ray()
        if ray.is_initialized():
            return _joined(ray, place)
        _reread_environment()
        if place is None:
            return _started(ray, cpus)
        _probe(place, wait_seconds)
        _connect(ray, address=place)
    return _described(ray, own=False)


def _joined(ray: ModuleType, place: str | None) -> RaySession:
    """The connection that the user's own code has made: used only where it is named, and kept."""
    there = str(ray.get_runtime_context().gcs_address)
    if place is None:
        raise ConfigError(
            f"Ray is connected in this process to {there}, which askew does not use unasked. "
            f"Name it (the address {there}), or call ray.shutdown() before."
        )
    if not _same_place(place, there):
        raise _connected_elsewhere(there)
    return replace(_described(ray, own=False), ends=False)


def _connected_elsewhere(there: str) -> ConfigError:
    return ConfigError(
        f"this process is connected to Ray at {there}, and can be to one cluster only. "
        "Name the same address, or let the other work end first."
    )


def _same_place(one: str, other: str) -> bool:
    hosts = [address.rpartition(":")[0] for address in (one, other)]
    ports = [address.rpartition(":")[2] for address in (one, other)]
    return ports[0] == ports[1] and (hosts[0] == hosts[1] or all(map(_is_here, hosts)))


def _is_here(host: str) -> bool:
    """Whether a name or number is one of this machine's."""
    with suppress(OSError), socket.socket() as probe:
        probe.bind((host, 0))  # takes this machine's own only
        return True
    return False


_folders: dict[str, tuple[Path, BinaryIO]] = {}  # of our clusters, by address


def _started(ray: ModuleType, cpus: int | None) -> RaySession:
    _clear_left_over()
    for left in reversed(range(_STARTS)):
        # A folder of its own: what another user's cluster left in a shared one cannot hinder, and
        # what Ray logs lies where only this user reads, and is gone at the end.
        folder = Path(mkdtemp(prefix=_PREFIX, dir=_short_folder()))
        held = (folder / _HELD).open("wb")
        _try_lock(held)
        try:
            # Below it: Ray opens to everybody what it is given.
            below = str(folder / "ray")
            _connect(ray, address="local", num_cpus=cpus, include_dashboard=False, _temp_dir=below)
            session = _described(ray, own=True)
        except BaseException as trouble:
            ray.shutdown()
            _end_processes_of(folder)
            held.close()
            shutil.rmtree(folder, ignore_errors=True)
            if isinstance(trouble, Exception) and _TOO_SLOW in str(trouble):
                if left:
                    continue
                raise RunError(
                    "Ray did not start on this machine in time. It needs about 1 GB of memory and "
                    "a processor to itself for half a minute; try again when less is going on."
                ) from trouble
            raise
        _folders[session.address] = (folder, held)
        return session
    raise AssertionError("unreachable")


def _end_processes_of(folder: Path) -> None:
    """End what a start that failed, or a process that was killed, has left running."""
    mark = str(folder).encode()
    for command in Path("/proc").glob("[0-9]*/cmdline"):
        with suppress(OSError):
            if mark in command.read_bytes():
                os.kill(int(command.parent.name), signal.SIGKILL)


def _connect(ray: ModuleType, **settings: Any) -> None:
    """`ray.init`, with the signals left as they were."""
    before = None
    if threading.current_thread() is threading.main_thread():
        before = signal.getsignal(signal.SIGTERM)
    try:
        ray.init(log_to_driver=False, logging_level="ERROR", **settings)
        # What Ray says of workers that die goes to stdout, which holds askew's results alone.
        ray._private.worker.print_to_stdstream = lambda *_, **__: None
    finally:
        if before is not None:
            signal.signal(signal.SIGTERM, before)


def _described(ray: ModuleType, *, own: bool) -> RaySession:
    offered: Mapping[str, float] = ray.cluster_resources()
    address = str(ray.get_runtime_context().gcs_address)
    return RaySession(address, own, offered.get("CPU", 0.0), offered.get("GPU", 0.0))


def _end(session: RaySession) -> None:
    if session.ends:
        import_ray().shutdown()
    if session.own:
        folder, held = _folders.pop(session.address)
        held.close()
        shutil.rmtree(folder, ignore_errors=True)


def _probe(place: str, wait_seconds: float) -> None:
    """See that the cluster takes a driver from here.

    Raises:
        ConfigError: it does not, or does not say so in time.
    """
    mend = "See that it is up and that this machine is one of its nodes (`ray status`)."
    host, _, port = place.rpartition(":")
    try:
        socket.create_connection((host.strip("[]"), int(port)), timeout=wait_seconds).close()
    except OSError as trouble:
        raise ConfigError(
            f"the Ray cluster at {place} does not answer: {trouble}. {mend}"
        ) from trouble
    command = [sys.executable, "-c", _PROBE, place]
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=wait_seconds)
    except subprocess.TimeoutExpired:
        raise ConfigError(
            f"the Ray cluster at {place} did not answer within {wait_seconds:g} s. {mend}"
        ) from None
    if done.returncode == 0:
        return
    lines = done.stdout.strip().splitlines()
    with suppress(ValueError, IndexError):
        said = " ".join(str(json.loads(lines[-1])).split())
        raise ConfigError(f"the Ray cluster at {place} cannot be used: {said} {mend}")
    if "uthentica" in done.stderr:
        raise ConfigError(
            f"the Ray cluster at {place} does not take this process's token. Set RAY_AUTH_MODE "
            "and RAY_AUTH_TOKEN (or RAY_AUTH_TOKEN_PATH) as its nodes have them."
        )
    raise ConfigError(f"the Ray cluster at {place} does not answer. {mend}")


def _reread_environment() -> None:
    """Have Ray forget what it read from the environment for an earlier cluster."""
    core = import_module("ray._raylet")
    # As `ray.init` does where it sets RAY_AUTH_MODE itself.
    core.Config.initialize("")
    core.AuthenticationTokenLoader.instance().reset_cache()


@contextmanager
def _environment(values: Mapping[str, str]) -> Iterator[None]:
    """Set variables for what is started inside."""
    before = {name: os.environ.get(name) for name in values}
    os.environ.update(values)
    try:
        yield
    finally:
        for name, value in before.items():
            if value is None:
                os.environ.pop(name, None)
            else:
                os.environ[name] = value


def _short_folder() -> str:
    """Where passing files lie; a socket's path below it may have a hundred characters."""
    place = gettempdir()
    return place if len(place) <= _LONGEST_FOLDER or sys.platform == "win32" else "/tmp"


def _clear_left_over() -> None:
    """Remove the folders of clusters whose process was killed."""
    for held in Path(_short_folder()).glob(f"{_PREFIX}*/{_HELD}"):
        with suppress(OSError):  # another user's, or gone
            with held.open("r+b") as file:
                left_over = _try_lock(file)
            if left_over:
                # What has not ended yet would make the folder anew, for its logs.
                _end_processes_of(held.parent)
                shutil.rmtree(held.parent, ignore_errors=True)


if sys.platform == "win32":

    def _try_lock(file: BinaryIO) -> bool:
        return False  # an open file cannot be removed there: nothing is, and the folders stay

else:
    import fcntl

    def _try_lock(file: BinaryIO) -> bool:
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            return False
        return True
