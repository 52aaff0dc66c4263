"""What is said and asked about calls of several roles: before they are paid for, and after."""

from __future__ import annotations

import sys
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING

import typer

from askew.cli.terminal import echo, shown
from askew.errors import ConfigError

if TYPE_CHECKING:
    from askew.models.stopping import Asked


def money_line(money: float | None, *, paid: bool) -> str:
    """What the new calls cost at most.

    Args:
        money: the bound; None where a price is missing.
        paid: whether any of the models costs money a call.
    """
    if not paid:
        return "none: these models cost nothing a call"
    if money is None:
        return "not known: give a dated price list with --prices"
    return f"at most {money:.2f}"


def confirm(new: int, *, yes: bool) -> None:
    """Ask before money is spent on `new` paid calls; where nobody can answer, `yes` has to be set.

    Raises:
        ConfigError: nobody can be asked.
    """
    if yes or not new:
        return
    if not sys.stdin.isatty():
        raise ConfigError(
            f"up to {new:,} paid calls are planned and nobody can be asked. Add --yes, and perhaps "
            "a budget."
        )
    typer.confirm(f"Make up to {new:,} paid calls?", abort=True)


def say_what_failed(path: Path, asked: Mapping[str, Asked], *, paid: bool) -> None:
    """Say on stderr how many calls failed or have an unknown outcome, and the mend."""
    folder = shown(path)
    if failed := sum(one.failed for one in asked.values()):
        echo(
            f"askew: {failed:,} calls failed and count as non-answers; list them with "
            f"`askew calls {folder} --state failed`; run the same command again to ask them again.",
            stderr=True,
        )
    if unknown := sum(one.unknown for one in asked.values()):
        again = (
            "ask them again with `--unknown retry`" if paid else "the next start asks them again"
        )
        echo(
            f"askew: {unknown:,} calls were sent and their outcome is unknown; list them with "
            f"`askew calls {folder} --state unknown`; {again}.",
            stderr=True,
        )
