"""How the command line prints: names and texts of the user's as they are, and nothing else.

Whoever wrote a data set or a reply must not steer the terminal: no markup is read, no emoji code is
replaced, and control characters are named instead of sent. Behind this stands `guard`.
"""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING

import typer

from askew.cli.guard import unguarded
from askew.report.words import clean

if TYPE_CHECKING:
    from rich.console import Console
    from rich.progress import TextColumn


def console(*, quiet: bool = False, stderr: bool = False) -> Console:
    """A console that prints text as it is: what would steer the terminal is named, wherever from.

    Cells of a table are best cleaned before: what is named is longer than what was measured.
    """
    from askew.cli.text_console import TextConsole

    # It moves the cursor itself, for tables and bars, and cleans every text.
    stream = unguarded(sys.stderr if stderr else sys.stdout)
    return TextConsole(file=stream, quiet=quiet, highlight=False, markup=False, emoji=False)


def bar_text(template: str) -> TextColumn:
    """A text of a progress bar, "{task.description}", in which no markup is read."""
    from rich.progress import TextColumn

    return TextColumn(template, markup=False)


def echo(text: str, *, stderr: bool = False) -> None:
    """Print a line, or several."""
    typer.echo(clean(text), err=stderr)


def workflow_command(line: str, *, stderr: bool = False) -> None:
    """Print a line that a build server is to obey (`report.gate.annotations.command`)."""
    typer.echo(line, file=unguarded(sys.stderr if stderr else sys.stdout))


def shown(path: Path) -> str:
    """A path as it is printed: from the working folder where it lies in there."""
    here = Path.cwd()
    near = path.relative_to(here) if path.is_relative_to(here) else path
    return clean(str(near))
