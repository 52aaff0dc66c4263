"""The script of the pages, made of readable files, and the policy that lets it alone run."""

from __future__ import annotations

import base64
import hashlib
from functools import cache
from importlib.resources import files

# In the order in which they stand in the page. Each file has one job and uses the others of its
# part; the parts know nothing of each other.
PARTS = (
    (
        "text.js",
        "routes.js",
        "query.js",
        "sources.js",
        "covers.js",
        "item_view.js",
        "detail_view.js",
        "list_view.js",
        "filters.js",
        "asked_place.js",
        "explorer.js",
        "csv.js",
        "pictures.js",
        "downloads.js",
        "theme.js",
        "report.js",
    ),
    ("map_data.js", "map_view.js", "map_draw.js", "map.js"),
)


@cache
def script() -> str:
    """The whole script: a closure for each part, so that nothing of it is a name of the page's.

    Raises:
        ValueError: a file holds what would end or change the element that the script stands in.
    """
    folder = files("askew.report").joinpath("templates")
    whole = "".join(
        '(() => {\n"use strict";\n'
        + "\n".join(folder.joinpath(name).read_text(encoding="utf-8") for name in part)
        + "})();\n"
        for part in PARTS
    )
    for ending in ("</script", "<script", "<!--"):
        if ending in whole.lower():
            raise ValueError(f"the page's script holds {ending!r}, which HTML would read")
    return whole


def policy(script: str | None, served: bool = False) -> str:
    """What the page may do: run this script, use its own styles and pictures, and nothing else.

    Args:
        script: the text between the tags, to the character; None where no script runs at all.
        served: whether the page asks the server that it came from for items.

    >>> policy("let x = 1;").split("; ")[1]
    "script-src 'sha256-qtc3jf64UXA5J6U02kfQ0Cvn9Uz4wXUaN3NNUVgR2v4='"
    """
    parts = [
        "default-src 'none'",
        *([] if script is None else [f"script-src '{_hashed(script)}'"]),
        "style-src 'unsafe-inline'",
        "img-src data: blob:",
        "base-uri 'none'",
        "form-action 'none'",
    ]
    if served:
        parts.append("connect-src 'self'")
    return "; ".join(parts)


def _hashed(script: str) -> str:
    digest = hashlib.sha256(script.encode("utf-8")).digest()
    return f"sha256-{base64.b64encode(digest).decode('ascii')}"
