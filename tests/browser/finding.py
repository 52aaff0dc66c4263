"""The browser that tests use, and what becomes of a test where there is none."""

from __future__ import annotations

import os
import shutil
from typing import NoReturn

import pytest

NAMES = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable", "chrome")
# No sandbox, as tests may run as root; nothing of the browser's own asks the network.
ARGUMENTS = (
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
)


def none_here(reason: str) -> NoReturn:
    """Skip the test for want of a browser; with ASKEW_REQUIRE_BROWSER=1 it fails."""
    if os.environ.get("ASKEW_REQUIRE_BROWSER") == "1":
        pytest.fail(f"{reason}; ASKEW_REQUIRE_BROWSER=1 takes no skip for an answer", pytrace=False)
    pytest.skip(reason)


def find_browser() -> str:
    """The browser's program: ASKEW_BROWSER, or the first of its usual names in PATH."""
    named = os.environ.get("ASKEW_BROWSER")
    found = named or next(filter(None, map(shutil.which, NAMES)), None)
    if found is None:
        none_here("no Chromium or Chrome here; name one in ASKEW_BROWSER")
    return found
