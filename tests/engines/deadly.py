"""A model that ends its process, as an operator's limit on memory would."""

from __future__ import annotations

import os


def app(prompt: str) -> str:
    """Answer nothing, ever."""
    os._exit(1)
