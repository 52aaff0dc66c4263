"""Where there is no browser, its tests are skipped with a reason, or fail where one is required."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parents[2]
NEEDING = (
    "tests/browser/test_explorer.py::test_findings_only",
    "tests/survey/test_browser.py::test_a_wrong_link_shows_no_case",
)


def without_browser(**environment: str) -> subprocess.CompletedProcess[str]:
    """Tests that need a browser, run by themselves with no program to be found by its name."""
    kept = {
        name: value
        for name, value in os.environ.items()
        if name not in ("ASKEW_BROWSER", "ASKEW_REQUIRE_BROWSER") and not name.startswith("PYTEST_")
    }
    return subprocess.run(
        [sys.executable, "-m", "pytest", "-p", "no:cacheprovider", *NEEDING],
        cwd=ROOT,
        env={**kept, "PATH": "", **environment},
        capture_output=True,
        text=True,
        check=False,
    )


def test_without_a_browser_tests_are_skipped_with_the_reason():
    done = without_browser()
    assert done.returncode == 0, done.stdout
    assert "2 skipped" in done.stdout
    assert done.stdout.count("no Chromium or Chrome here; name one in ASKEW_BROWSER") == 2


def test_where_a_browser_is_required_a_skip_is_a_failure():
    done = without_browser(ASKEW_REQUIRE_BROWSER="1")
    assert done.returncode == 1, done.stdout
    assert "ASKEW_REQUIRE_BROWSER=1" in done.stdout
    assert "2 errors" in done.stdout.splitlines()[-1]
