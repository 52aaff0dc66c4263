"""A cluster of our own, or the one that is named: never another, never for ever."""

from __future__ import annotations

import os
import socket
import subprocess
import sys
import time
from contextlib import closing
from pathlib import Path

import pytest

from askew.engines import ray_start
from askew.engines.ray_start import named, ray_session
from askew.errors import ConfigError, MissingDependency
from tests.models.servers import refused_port

pytest.importorskip("ray")


@pytest.mark.parametrize(
    "address", ["", "10.0.0.7", "10.0.0.7:", ":6379", "10.0.0.7:none", "h:0", "h:70000", "auto"]
)
def test_an_address_that_is_none_is_refused(address):
    with pytest.raises(ConfigError, match="expected HOST:PORT"):
        named(address)


def test_rays_client_is_refused_with_the_reason():
    with pytest.raises(ConfigError, match=r"the ledger lies with the process that asks.*head"):
        named("ray://10.0.0.7:10001")


def test_the_environment_is_asked_only_where_the_user_says_so(monkeypatch):
    monkeypatch.delenv("RAY_ADDRESS", raising=False)
    with pytest.raises(ConfigError, match="RAY_ADDRESS, which is not set"):
        named("env")
    monkeypatch.setenv("RAY_ADDRESS", "10.0.0.7:6379")
    assert named("env") == "10.0.0.7:6379"


def test_a_cluster_that_is_not_there_is_an_error_at_once():
    began = time.monotonic()
    with (
        pytest.raises(ConfigError, match=r"does not answer: .*ray status"),
        ray_session(f"127.0.0.1:{refused_port()}"),
    ):
        pass
    assert time.monotonic() - began < 30


def test_what_is_no_cluster_is_an_error_in_bounded_time():
    """Something listens and says nothing, as a firewall or another service does."""
    with closing(socket.create_server(("127.0.0.1", 0))) as silent:
        address = f"127.0.0.1:{silent.getsockname()[1]}"
        began = time.monotonic()
        with (
            pytest.raises(ConfigError, match=r"did not answer within 3 s|does not answer"),
            ray_session(address, wait_seconds=3.0),
        ):
            pass
        assert time.monotonic() - began < 30


def test_without_ray_the_extra_is_named(monkeypatch):
    monkeypatch.setitem(sys.modules, "ray", None)
    with pytest.raises(MissingDependency, match=r"pip install 'askew\[ray\]'"), ray_session():
        pass


def test_folders_of_killed_processes_are_removed_and_those_of_living_ones_stay(
    tmp_path, monkeypatch
):
    monkeypatch.setattr(ray_start, "_short_folder", lambda: str(tmp_path))
    for name in ("askew-ray-dead", "askew-ray-living", "others"):
        (tmp_path / name).mkdir()
        (tmp_path / name / "held").touch()
    # Of the dead one a process is left, as its parent was killed: it would make the folder anew.
    command = [sys.executable, "-c", "import time; time.sleep(60)", tmp_path / "askew-ray-dead"]
    with (
        subprocess.Popen(command) as left,
        (tmp_path / "askew-ray-living" / "held").open("r+b") as held,
    ):
        assert ray_start._try_lock(held)
        ray_start._clear_left_over()
        assert left.wait(timeout=30) < 0
    assert {path.name for path in tmp_path.iterdir()} == {"askew-ray-living", "others"}


_FOREIGN = """
import os
from askew.engines.ray_start import ray_session
with ray_session(cpus=1) as session:
    assert session.own
    import ray
    assert ray.get(ray.remote(lambda: 7).remote()) == 7
    print(session.address, flush=True)
"""


@pytest.mark.slow
def test_a_cluster_of_our_own_leaves_nothing_behind(tmp_path):
    """case-49: RAY_ADDRESS names a dead cluster, and Ray's own files another."""
    home, temporary = tmp_path / "home", Path(f"/tmp/own-{os.getpid()}")
    home.mkdir()
    temporary.mkdir()  # not below tmp_path: the path of a socket has to be short
    environment = {
        **os.environ,
        "HOME": str(home),
        "TMPDIR": str(temporary),
        "RAY_ADDRESS": "127.0.0.1:1",
    }
    try:
        done = subprocess.run(
            [sys.executable, "-c", _FOREIGN],
            env=environment,
            capture_output=True,
            text=True,
            timeout=240,
        )
        assert done.returncode == 0, done.stderr
        assert not done.stdout.startswith("127.0.0.1:1\n")
        assert list(home.rglob("*")) == []  # no token, no settings
        assert list(temporary.glob("askew-ray-*")) == []
        assert done.stderr == ""
    finally:
        for left in sorted(temporary.rglob("*"), reverse=True):
            left.rmdir() if left.is_dir() and not left.is_symlink() else left.unlink()
        temporary.rmdir()
    assert _processes_with(str(temporary)) == []


def _processes_with(text: str) -> list[str]:
    found = []
    for command in Path("/proc").glob("[0-9]*/cmdline"):
        try:
            line = command.read_bytes().decode(errors="replace")
        except OSError:
            continue
        if text in line:
            found.append(line)
    return found


def test_sessions_within_one_another_share_one_connection(monkeypatch):
    """Counted without a cluster: what begins and ends is noted."""
    events = []
    session = ray_start.RaySession("127.0.0.1:5", True, 1.0, 0.0)
    monkeypatch.setattr(ray_start, "_begin", lambda *given: events.append("begin") or session)
    monkeypatch.setattr(ray_start, "_end", lambda one: events.append("end"))
    with ray_session() as outer:
        with ray_session() as inner, ray_session("localhost:5") as named_too:
            assert inner is outer is named_too
        with (
            pytest.raises(ConfigError, match="can be to one cluster only"),
            ray_session("10.0.0.7:5"),
        ):
            pass
        assert events == ["begin"]
    assert events == ["begin", "end"]
