"""`askew purge`: take the texts of runs, or whole runs, off the disk."""

from __future__ import annotations

import re
import sys
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from askew.cli.terminal import echo, shown
from askew.errors import ConfigError

if TYPE_CHECKING:
    from askew.report.folders.purging import Holding, What

_DAYS = {"d": 1, "w": 7, "m": 30, "y": 365}


def purge(
    places: Annotated[
        list[Path], typer.Argument(metavar="RUN|FOLDER...", help="Runs, or folders of runs.")
    ],
    texts: Annotated[
        bool, typer.Option("--texts", help="Prompts, replies and items; figures stay. [default]")
    ] = False,
    all_: Annotated[
        bool, typer.Option("--all", help="Everything but the record that it was purged.")
    ] = False,
    older_than: Annotated[
        str | None,
        typer.Option(metavar="AGE", help="Only runs last asked so long ago: 30d, 6w, 12m, 2y."),
    ] = None,
    due: Annotated[
        bool, typer.Option("--due", help="What each run's own [retention] says is due.")
    ] = False,
    dry_run: Annotated[
        bool, typer.Option("--dry-run", help="Say what would be purged, and change nothing.")
    ] = False,
    yes: Annotated[bool, typer.Option("--yes", "-y", help="Do not ask.")] = False,
    json: Annotated[bool, typer.Option("--json", help="Print JSON, and nothing else.")] = False,
) -> None:
    """Take the texts of runs off the disk for good, and keep their figures; or take all of them.

    A run that is open is refused, and one that was interrupted here goes on with the same command.
    What copies, backups and the disk's own snapshots hold is beyond askew.
    """
    from askew.report.folders.purging import What, holding
    from askew.report.folders.purging import purge as purge_run
    from askew.runfolder import json_text

    if texts and all_:
        raise ConfigError("--texts and --all: name one of them.")
    if due and (texts or all_ or older_than):
        raise ConfigError("--due stands alone: each run's [retention] says what is purged when.")
    now = datetime.now(UTC)
    age = None if older_than is None else age_of(older_than)
    wanted = What.ALL if all_ else What.TEXTS
    chosen: list[tuple[Path, What]] = []
    for path, last in _runs(places):
        if due:
            found = _due(path, last, now)
            chosen += [] if found is None else [(path, found)]
        elif age is None or (last is not None and now - last > age):
            chosen.append((path, wanted))
    told: list[dict[str, object]] = []
    held = [(path, what, holding(path)) for path, what in chosen]
    if not json:
        for path, what, was in held:
            _tell(path, what, was)
        if not held:
            echo("Nothing is to be purged.")
    if held and not dry_run:
        _confirm(len(held), yes=yes)
    for path, what, was in held:
        if not dry_run:
            purge_run(path, what)
        told.append(
            {
                "run": str(path),
                "what": what.value,
                "purged": not dry_run,
                "calls": was.calls,
                "records": was.records,
                "bytes": was.size,
                "not_touched": list(was.kept),
                "signature_removed": was.signed and not dry_run,
            }
        )
    if json:
        typer.echo(json_text(told), nl=False)
    elif held and not dry_run:
        _close(held)


def age_of(text: str) -> timedelta:
    """How long "30d", "6w", "12m" or "2y" is: months of 30 days, years of 365.

    >>> age_of("6w").days
    42
    """
    found = re.fullmatch(r"(\d{1,5}) ?([dwmy])", text.strip())
    if found is None:
        raise ConfigError(f"{text!r} is no age, expected one such as 30d, 6w, 12m or 2y.")
    return timedelta(days=int(found[1]) * _DAYS[found[2]])


def _runs(places: list[Path]) -> list[tuple[Path, datetime | None]]:
    from askew.report.folders.run_list import find_folders, read_run

    found: dict[Path, datetime | None] = {}
    for place in places:
        if not place.is_dir():
            raise ConfigError(f"{place} is no folder. Name a run, or a folder of runs.")
        for path in find_folders(place):
            found.setdefault(path, read_run(path, place).last)
    return list(found.items())


def _due(path: Path, last: datetime | None, now: datetime) -> What | None:
    """What the run's own settings say is due; None where nothing is."""
    from askew.report.folders.purging import What
    from askew.runfile import read_run_file

    if last is None or not (path / "run.toml").is_file():
        return None
    retention = read_run_file(path / "run.toml").retention
    if retention is None:
        return None
    if retention.all is not None and now - last > age_of(retention.all):
        return What.ALL
    if retention.texts is not None and now - last > age_of(retention.texts):
        return What.TEXTS
    return None


def _tell(path: Path, what: What, was: Holding) -> None:
    much = "everything" if what.value == "all" else "texts"
    echo(
        f"{shown(path)}: {much}; {was.calls:,} calls and {was.records:,} records with texts, "
        f"{was.size:,} bytes"
    )
    for name in was.kept:
        echo(f"  not askew's, and not touched: {name}", stderr=True)
    if was.signed:
        echo("  signed: the signature goes, as the run will be another; sign it again", stderr=True)


def _confirm(count: int, *, yes: bool) -> None:
    if yes:
        return
    if not sys.stdin.isatty():
        raise ConfigError("nobody can be asked whether to purge. Add --yes, or --dry-run to look.")
    typer.confirm(f"Purge {count:,} runs for good?", abort=True)


def _close(held: list[tuple[Path, What, Holding]]) -> None:
    echo(f"Purged {len(held):,}. Each folder's PURGED.json says when, and holds the old MANIFEST.")
    if any(was.kept for _, _, was in held):
        echo("Files that are not askew's were left, and may hold texts.", stderr=True)
