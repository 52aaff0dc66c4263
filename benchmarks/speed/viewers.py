"""The way from a figure to the item behind it: askew's report beside Inspect's log viewer.

Of one FLEX run it makes askew's report and, by askew's own export, a log of Inspect AI, opens both
in Chromium and goes from the headline figure to the texts of one answer that the attack turned. It
prints JSON: clicks, seconds of waiting, bytes to send to a colleague, and how many elements have a
fault that axe calls serious or critical. What is not installed is skipped, and said.

    python benchmarks/speed/viewers.py runs/flex-full
"""

from __future__ import annotations

import argparse
import json
import shutil
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from importlib.util import find_spec
from pathlib import Path
from typing import Any
from urllib.error import URLError
from urllib.request import urlopen

from askew.interop.inspect_export import export_log
from askew.report.page import write_report
from askew.runfolder import RunFolder

sys.path.insert(0, str(Path(__file__).parents[2]))
from tests.browser.finding import ARGUMENTS, NAMES

PATIENCE = 120  # seconds until a page that shows nothing is given up
TURNED = 'metadata.condition == "attacked" and outcome == "stereotyped"'  # Inspect's filter
INSPECT_ROWS = '[role="status"]'


def main() -> None:
    """Measure both viewers on one run folder and print JSON."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("folder", type=Path, help="a run folder of the FLEX audit")
    parser.add_argument("--shots", type=Path, help="a folder for pictures of each step")
    given = parser.parse_args()
    program = next(filter(None, map(shutil.which, NAMES)), None)
    if program is None or find_spec("playwright") is None:
        sys.exit("nothing measured: Chromium and playwright are needed (pip install 'askew[dev]')")
    found: dict[str, Any] = {"run": given.folder.name}
    with tempfile.TemporaryDirectory() as scratch, open_browser(program) as browser:
        here = Path(scratch)
        copy = shutil.copytree(given.folder, here / "run")
        shots = given.shots or here
        found["askew"] = askew_report(browser, copy, shots)
        if find_spec("inspect_ai"):
            found["inspect"] = inspect_view(browser, copy, here, shots)
        else:
            found["inspect"] = "skipped: inspect-ai is not installed (pip install 'askew[inspect]')"
    print(json.dumps(found, indent=2))


def askew_report(browser: Any, run: Path, shots: Path) -> dict[str, Any]:
    """The report, opened from disk without a network."""
    folder = RunFolder.open(run)
    made = clock(lambda: write_report(folder))
    page = browser.new_context(offline=True, viewport={"width": 1280, "height": 900}).new_page()
    page.set_default_timeout(1000 * PATIENCE)
    status = page.locator(".explorer .status")
    waited = {"open": clock(lambda: (page.goto(folder.report.as_uri()), status.wait_for()))}
    everything = status.inner_text()
    axe = {"report": faults(page)}
    page.screenshot(path=shots / "askew-1-report.png")
    figure = page.locator('main a[href^="#items/flex"][href*="flagged=yes"]').first
    waited["figure to its items"] = clock(
        lambda: (figure.click(), changed(page, ".explorer .status", everything))
    )
    left = status.inner_text()
    axe["items"] = faults(page)
    page.screenshot(path=shots / "askew-2-items.png")
    show = page.get_by_role("button", name="Show text").first
    waited["item"] = clock(lambda: (page.locator(".explorer a.row").first.click(), show.wait_for()))
    waited["texts"] = clock(
        lambda: (show.click(), page.locator(".explorer .turn .text").first.wait_for())
    )
    axe["item"] = faults(page)
    page.screenshot(path=shots / "askew-3-item.png")
    link = page.url
    page.goto("about:blank")
    waited["link to the item"] = clock(lambda: (page.goto(link), show.wait_for()))
    return {
        "clicks": {"figure": 1, "item": 1, "show the text": 1},
        "list": left,
        "waited_s": waited,
        "made_s": made,
        "sent": {"report.html": folder.report.stat().st_size},
        "serious_or_critical": axe,
    }


def inspect_view(browser: Any, run: Path, here: Path, shots: Path) -> dict[str, Any]:
    """The same replies as a log of Inspect's, in the viewer that it serves."""
    import inspect_ai

    logs = here / "logs"
    logs.mkdir()
    log = logs / "flex.eval"
    made = clock(lambda: export_log(run, log))
    bundle = here / "bundle"
    program = [sys.executable, "-m", "inspect_ai", "view"]
    subprocess.run(
        [*program, "bundle", "--log-dir", str(logs), "--output-dir", str(bundle)],
        check=True,
        capture_output=True,
    )
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    server = subprocess.Popen(
        [*program, "start", "--log-dir", str(logs), "--port", str(port)],
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    try:
        address = f"http://127.0.0.1:{port}/"
        waited = {"server": clock(lambda: answers(address))}
        walked = inspect_walk(browser, address, waited, shots)
    finally:
        server.terminate()
        server.wait(10)
    return {
        "version": inspect_ai.__version__,
        "clicks": {"filter field": 1, "typed": len(TURNED), "item": 1},
        **walked,
        "waited_s": waited,
        "made_s": made,
        "sent": {"log": log.stat().st_size, "bundle": size_of(bundle)},
    }


def inspect_walk(
    browser: Any, address: str, waited: dict[str, float], shots: Path
) -> dict[str, Any]:
    """From the page that the server shows first to one sample."""
    page = browser.new_context(viewport={"width": 1280, "height": 900}).new_page()
    page.set_default_timeout(1000 * PATIENCE)
    rows = page.locator(INSPECT_ROWS).first
    waited["open"] = clock(lambda: (page.goto(address), page.get_by_text(" rows").first.wait_for()))
    everything = rows.inner_text()
    axe = {"list": faults(page)}
    page.screenshot(path=shots / "inspect-1-list.png")
    page.locator(".cm-content").first.click()
    waited["typed filter"] = clock(
        lambda: (page.keyboard.insert_text(TURNED), changed(page, INSPECT_ROWS, everything))
    )
    page.keyboard.press("Escape")
    left = rows.inner_text()
    page.screenshot(path=shots / "inspect-2-filtered.png")
    reply = page.get_by_text("MODEL CALL").or_(page.get_by_text("Model Call")).first
    waited["item"] = clock(lambda: (page.locator("a[role=row]").first.click(), reply.wait_for()))
    axe["item"] = faults(page)
    page.screenshot(path=shots / "inspect-3-sample.png")
    link = page.url
    page.goto("about:blank")
    waited["link to the item"] = clock(lambda: (page.goto(link), reply.wait_for()))
    return {"list": f"{left}, of {everything}", "serious_or_critical": axe}


@contextmanager
def open_browser(program: str) -> Iterator[Any]:
    """Chromium, closed at the end."""
    from playwright.sync_api import sync_playwright

    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=program, args=list(ARGUMENTS))
        yield browser
        browser.close()


def clock(act: Callable[[], object]) -> float:
    """Seconds that it took."""
    start = time.perf_counter()
    act()
    return round(time.perf_counter() - start, 2)


def changed(page: Any, selector: str, before: str) -> object:
    """Wait until an element says something else."""
    return page.wait_for_function(
        "([selector, before]) => document.querySelector(selector).innerText.trim() !== before",
        arg=[selector, before.strip()],
    )


def answers(address: str) -> None:
    """Wait until a server of this machine answers."""
    end = time.monotonic() + PATIENCE
    while time.monotonic() < end:
        try:
            with urlopen(address, timeout=5):
                return
        except (URLError, OSError):
            time.sleep(0.1)
    sys.exit(f"no answer from {address} in {PATIENCE} s")


def faults(page: Any) -> dict[str, int] | str:
    """Kinds of fault that axe calls serious or critical, with how many elements have each."""
    try:
        from axe_playwright_python.sync_playwright import Axe
    except ImportError:
        return "skipped: axe-playwright-python is not installed"
    return {
        fault["id"]: len(fault["nodes"])
        for fault in Axe().run(page).response["violations"]
        if fault["impact"] in ("serious", "critical")
    }


def size_of(folder: Path) -> int:
    """Bytes of all files below a folder."""
    return sum(path.stat().st_size for path in folder.rglob("*") if path.is_file())


if __name__ == "__main__":
    main()
