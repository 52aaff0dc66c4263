"""Cases about the engine on Ray: `boundary.ray`."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from pathlib import Path

import pytest

from askew.engines.ray_start import ray_session
from askew.errors import ConfigError
from tests.field.folder import Case, CaseFolder
from tests.field.registry import check

_OWN = """
from askew.engines.ray_start import ray_session
with ray_session(cpus=1) as session:
    import ray
    assert session.own and ray.get(ray.remote(lambda: 7).remote()) == 7
"""


@check("case-49")
def the_search_runs_on_its_own_cluster_or_says_that_the_named_one_is_not_there(
    case: Case, folder: CaseFolder, work: Path
) -> None:
    pytest.importorskip("ray")
    name, _, address = case["input"]["env"].partition(" ")[0].partition("=")
    assert name == "RAY_ADDRESS"
    environment = {**os.environ, name: address}
    own = subprocess.run(
        [sys.executable, "-c", _OWN], env=environment, capture_output=True, text=True, timeout=300
    )
    assert own.returncode == 0, own.stderr
    began = time.monotonic()
    with pytest.raises(ConfigError, match="does not answer"), ray_session(address):
        pass
    assert time.monotonic() - began < 60
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv(name, address)
        with pytest.raises(ConfigError, match="does not answer"), ray_session("env"):
            pass
