"""How the command line prints: names and texts of the user's as they are, and nothing else.

Whoever wrote a data set or a reply must not steer the terminal: no markup is read, no emoji code is
replaced, and control characters are named instead of sent.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import typer

from askew.report.words import clean

if TYPE_CHECKING:
    from rich.console import Console


def console(*, quiet: bool = False, stderr: bool = False) -> Console:
    """A console that prints text as it is; cells of a table still have to be cleaned."""
    from rich.console import Console

    return Console(quiet=quiet, stderr=stderr, highlight=False, markup=False, emoji=False)


def echo(text: str, *, stderr: bool = False) -> None:
    """Print a line, or several."""
    typer.echo(clean(text), err=stderr)


def shown(path: Path) -> str:
    """A path as it is printed: from the working folder where it lies in there."""
    here = Path.cwd()
    near = path.relative_to(here) if path.is_relative_to(here) else path
    return clean(str(near))
