"""How the call of an audit ends that was interrupted, or that lacks replies."""

from __future__ import annotations

import warnings
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from askew.runfolder import RunFolder

SHOWN_CHARACTERS = 300  # of an error; it may quote a whole prompt


class IncompleteRun(UserWarning):
    """A run stopped early, or calls of it failed: its figures are those of what it has."""


@contextmanager
def stopped_cleanly(path: Path) -> Iterator[None]:
    """Say of Ctrl-C that the run in a folder can be gone on with.

    Raises:
        KeyboardInterrupt: with these words, in place of the one that came.
    """
    try:
        yield
    except KeyboardInterrupt as stop:
        raise KeyboardInterrupt(
            f"stopped. {path} keeps what was received; the same call goes on from there."
        ) from stop.__cause__  # what went wrong while it stopped, if anything did


def warn_of_missing(
    path: Path,
    *,
    stopped: str = "",
    failed: int = 0,
    errors: Iterable[str] = (),
    unknown: int = 0,
    missing: int = 0,
) -> None:
    """Warn the caller of an audit that its figures are those of what was had.

    Args:
        path: the run folder.
        stopped: why the run stopped early: "(budget): …"; "" where it did not.
        failed: calls that failed.
        errors: what they failed with.
        unknown: calls that were sent and whose outcome is unknown.
        missing: questions without a reply, where the audit has so many from the start.

    Warns:
        IncompleteRun: always; the caller of the caller is shown as its place.
    """
    # Python's own rule keeps silent where the same cell is run again and still lacks replies.
    warnings.filterwarnings("always", category=IncompleteRun, append=True)
    said = _in_words(path, stopped, failed, errors, unknown, missing)
    warnings.warn(said, IncompleteRun, stacklevel=3)


def warn_of_cells(path: Path, left: Mapping[str, str]) -> None:
    """Warn the caller of a sweep that cells of it are not complete.

    Args:
        path: the folder of the cells.
        left: what each lacks, by its name.

    Warns:
        IncompleteRun: always; the caller of the caller is shown as its place.
    """
    from askew.report.words import clean

    warnings.filterwarnings("always", category=IncompleteRun, append=True)
    name, why = next(iter(left.items()))
    said = (
        f"{len(left):,} cells of the sweep are not complete, the first {name}: "
        f"{why[:SHOWN_CHARACTERS]} The same call again goes on from {path}."
    )
    warnings.warn(clean(said), IncompleteRun, stacklevel=3)


def errors_of(folder: RunFolder) -> Iterator[str]:
    """What the calls of a run failed with."""
    from askew.models.ledgerfile import read_records

    return (record.error for record in read_records(folder.database) if record.error)


def _in_words(
    path: Path, stopped: str, failed: int, errors: Iterable[str], unknown: int, missing: int
) -> str:
    from askew.report.words import clean

    parts = []
    if stopped:
        parts.append(f"the run stopped early {stopped}")
    if failed:
        parts.append(f"{failed:,} calls failed, the first with: {_first(errors)}")
    if unknown:
        parts.append(
            f"{unknown:,} calls were sent and their outcome is unknown; unknown='retry' asks them "
            "again"
        )
    if missing:
        parts.append(f"{missing:,} replies are missing")
    parts.append(f"The same call again goes on from {path}")
    return clean(". ".join(part.rstrip(".") for part in parts) + ".")


def _first(errors: Iterable[str]) -> str:
    """The first of some errors, cut where it is long."""
    return " ".join(next(iter(errors), "no word why").split())[:SHOWN_CHARACTERS]
