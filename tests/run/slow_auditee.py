"""Models for sweeps: one that takes its time, and one that takes its process down once."""

from __future__ import annotations

import os
import time
from pathlib import Path

from tests.run import scripted_auditee


def slow(text: str) -> str:
    """The scripted one, a little later."""
    time.sleep(0.1)
    return scripted_auditee.target(text)


def deadly(text: str) -> str:
    """The process that asks first is gone, unless ASKEW_TEST_MARKER says that one is already."""
    marker = Path(os.environ["ASKEW_TEST_MARKER"])
    if not marker.exists():
        marker.touch()
        os._exit(1)
    return scripted_auditee.target(text)
