"""How long a reader waits for the items of a whole FLEX run; printed, and nothing is promised here.

`ASKEW_ITEMS=20000 pytest -s tests/browser/test_speed.py` reads the figures of so many items.
"""

from __future__ import annotations

import os
import time

from playwright.sync_api import expect

from tests.browser.pages import opened, pairs, write

CHANGED = """([hash, count]) => new Promise((done) => {
  const start = performance.now();
  const status = document.querySelector(".explorer .status");
  const look = () => {
    if (status.textContent.startsWith(count)) {
      requestAnimationFrame(() => done(performance.now() - start));
    } else {
      setTimeout(look, 0);
    }
  };
  location.hash = hash;
  look();
})"""


def test_opening_filtering_and_searching(page, tmp_path):
    count = int(os.environ.get("ASKEW_ITEMS", "3144"))
    path = tmp_path / "large.html"
    address = write(path, [pairs(count, length=200)])
    start = time.perf_counter()
    opened(page, address)
    waited = {"open": 1000 * (time.perf_counter() - start)}
    third = sum(number % 3 == 0 for number in range(count))
    findings = sum(number % 5 in (1, 3) for number in range(count))
    for name, hash_, left in (
        ("filter", "#items/flex?category=persona_injection", third),
        ("findings", "#items/flex?flagged=yes", findings),
        ("first search", "#items/flex?q=question%20always", count),
        ("next search", "#items/flex?q=undetermined", 0),
        ("sort", "#items/flex?sort=-margin", count),
        ("sort by id", "#items/flex?sort=id", count),
    ):
        waited[name] = page.evaluate(CHANGED, [hash_, f"{left:,} of"])
    expect(page.locator(".explorer .status")).to_have_text(f"{count:,} of {count:,} pairs")
    size = os.path.getsize(path) / 1e6
    told = ", ".join(f"{name} {ms:.0f} ms" for name, ms in waited.items())
    print(f"\n{count:,} items, {size:.1f} MB: {told}")
