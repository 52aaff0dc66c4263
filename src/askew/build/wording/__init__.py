"""The words of the attacks: askew's own prompts, synonyms and opposites, read from this folder.

A text file begins with a block of `#` lines that names its source; the block is no part of it.
"""

from __future__ import annotations

import tomllib
from functools import cache
from importlib.resources import files
from typing import Any


@cache
def text(name: str) -> str:
    """The text of the file `name`, without the header and without blanks around it."""
    lines = _read(name).splitlines()
    body = next(i for i, line in enumerate(lines) if not line.startswith("#"))
    return "\n".join(lines[body:]).strip()


@cache
def table(name: str) -> dict[str, Any]:
    """The TOML file `name`; shared between callers, so it must not be changed."""
    return tomllib.loads(_read(name))


def word_list(key: str) -> tuple[str, ...]:
    """One of the lists of `grammar.toml`, in its order."""
    return tuple(table("grammar.toml")[key].split())


def _read(name: str) -> str:
    return files(__name__).joinpath(name).read_text(encoding="utf-8")
