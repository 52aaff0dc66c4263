"""Axe-core, run in a page: what would hinder somebody."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tests.browser.finding import none_here

if TYPE_CHECKING:
    from playwright.sync_api import Page


def faults(page: Page) -> list[str]:
    """The serious and critical faults, one line an element: "rule: what, where"."""
    try:
        from axe_playwright_python.sync_playwright import Axe
    except ImportError:
        none_here("axe-playwright-python is not installed; it comes with askew[dev]")
    found = Axe().run(page).response["violations"]
    return [
        f"{fault['id']}: {fault['help']}, {node['html'][:200]}"
        for fault in found
        if fault["impact"] in ("serious", "critical")
        for node in fault["nodes"]
    ]
