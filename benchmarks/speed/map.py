"""How long a frame of the interactive map takes in a real browser.

    python benchmarks/speed/map.py --topics 5000 --tests 300

Prints milliseconds between frames while the map is zoomed, moved, pointed at and replayed, and how
long the page takes until the map stands. Needs Chromium and Playwright (askew[dev]).
"""

from __future__ import annotations

import argparse
import sys
import tempfile
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[2]))

from tests.browser.finding import ARGUMENTS, find_browser
from tests.browser.maps import a_search, write_map_page

FRAMES = 90
MOVES = """async ([kind, count]) => {
  const canvas = document.querySelector("[data-map-canvas]"), box = canvas.getBoundingClientRect();
  const slider = document.querySelector("[data-map-step]");
  const x = box.left + box.width / 2, y = box.top + box.height / 2, took = [];
  const frame = () => new Promise(requestAnimationFrame);
  const pointer = (type, clientX, clientY) => canvas.dispatchEvent(
    new PointerEvent(type, { pointerId: 1, pointerType: "mouse", clientX, clientY }));
  canvas.focus();
  canvas.setPointerCapture = () => {};
  if (kind === "move") pointer("pointerdown", x, y);
  let before = await frame();
  for (let turn = 0; turn < count; turn++) {
    const away = Math.min(turn, count - turn), deltaY = 2 * turn < count ? -24 : 24;
    if (kind === "zoom") {
      const turned = { deltaY, clientX: x, clientY: y, cancelable: true };
      canvas.dispatchEvent(new WheelEvent("wheel", turned));
    } else if (kind === "move") pointer("pointermove", x + 3 * away, y + 2 * away);
    else if (kind === "point") pointer("pointermove", box.left + 8 * turn, y + 3 * (turn % 40));
    else {
      slider.value = String(Math.round(slider.max * turn / count));
      slider.dispatchEvent(new Event("input"));
    }
    const now = await frame();
    took.push(now - before);
    before = now;
  }
  if (kind === "move") pointer("pointerup", x, y);
  return took.slice(1).sort((one, other) => one - other);
}"""


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--topics", type=int, default=5_000)
    parser.add_argument("--tests", type=int, default=300)
    asked = parser.parse_args()

    from playwright.sync_api import sync_playwright

    graph, tests = a_search(asked.topics, asked.tests)
    with tempfile.TemporaryDirectory() as folder, sync_playwright() as playwright:
        path = Path(folder) / "map.html"
        start = time.perf_counter()
        address = write_map_page(path, tests, graph, room=asked.topics)
        print(f"page: {path.stat().st_size:,} bytes, made in {time.perf_counter() - start:.1f} s")
        browser = playwright.chromium.launch(executable_path=find_browser(), args=list(ARGUMENTS))
        page = browser.new_page(viewport={"width": 1280, "height": 900})
        start = time.perf_counter()
        page.goto(address)
        page.wait_for_selector(".map-view.live canvas", timeout=60_000)
        print(f"map: stands after {time.perf_counter() - start:.2f} s")
        page.wait_for_timeout(500)
        for kind in ("zoom", "move", "point", "replay"):
            took = page.evaluate(MOVES, [kind, FRAMES])
            median, high = took[len(took) // 2], took[int(0.95 * len(took))]
            print(f"{kind:7} median {median:5.1f} ms, 95 % below {high:5.1f} ms")
            page.wait_for_timeout(300)
        browser.close()


if __name__ == "__main__":
    main()
