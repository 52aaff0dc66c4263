"""Reads askew's docstrings for Sphinx as they are written: plain text with code in backticks.

Docutils gives `*`, `|` and a trailing `_` a meaning that askew's docstrings do not: in `*args`,
`|difference|` and `model_` they are what they look like.
"""

from __future__ import annotations

import re
from typing import Any

# Code in backticks is left as it is; of the rest, what docutils would take for markup is escaped.
PARTS = re.compile(r"(`+[^`]*`+)")
MARKUP = re.compile(r"(?<!\\)([*|]|(?<=\w)_(?!\w))")


def plain(line: str) -> str:
    """The line with `*`, `|` and a trailing `_` outside of backticks escaped; examples stay."""
    if line.lstrip().startswith((">>>", "...")):
        return line
    parts = PARTS.split(line)
    return "".join(
        part if place % 2 else MARKUP.sub(r"\\\1", part) for place, part in enumerate(parts)
    )


def _process(app: Any, what: str, name: str, thing: Any, options: Any, lines: list[str]) -> None:
    lines[:] = [plain(line) for line in lines]


def _sign(
    app: Any, what: str, name: str, thing: Any, options: Any, signature: str | None, returns: Any
) -> tuple[str | None, Any] | None:
    """A field with a factory reads `= ...`: Sphinx cannot parse the `<factory>` of dataclasses."""
    return (signature.replace("<factory>", "..."), returns) if signature else None


def setup(app: Any) -> dict[str, bool]:
    """Connects before napoleon, whose own markup is to stay."""
    app.connect("autodoc-process-docstring", _process, priority=100)
    app.connect("autodoc-process-signature", _sign)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
