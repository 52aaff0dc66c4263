"""The runs below a folder: what each is, when it was asked, whether it is whole; and one by name.

Read from the few small files of a run folder and from the ends of its ledger, never from the whole
database. A folder that cannot be read is an entry that says so.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass, replace
from datetime import UTC, date, datetime
from enum import StrEnum
from pathlib import Path
from typing import NamedTuple

from askew.errors import AskewError, ConfigError, RunError
from askew.models.budget import NANOS
from askew.models.ledgerfile import as_run_error, open_to_read
from askew.report.folders.headline import Headline, figures_of, headlines, lacking, spent
from askew.report.which_audit import Audit, audits_of, settings_of
from askew.runfolder import RunFolder

LATEST = "latest"
# Summing the cost reads every row: for a list it is done up to so many calls.
MOST_SUMMED = 20_000
_LAST_ROWS = 256  # of the ledger, looked through for the last date: more than are ever under way
_PARTS = ("run.sqlite", "run.toml", "estimates.json", "MANIFEST", "run.sqlite-wal")


class State(StrEnum):
    """Whether a run can be used."""

    COMPLETE = "complete"
    INCOMPLETE = "incomplete"
    NO_FIGURES = "no figures"
    DAMAGED = "damaged"


@dataclass(frozen=True, slots=True)
class RunEntry:
    """One run folder, as a list shows it.

    Attributes:
        path: the folder.
        name: its path below the folder that was searched; its own name where that is itself.
        state: whether it can be used.
        model: the target; "" where the run does not say.
        audits: that it holds; none where that cannot be read.
        why: what is missing or damaged; "" where nothing is.
        first: when its first call was planned, from the ledger; None where it has none.
        last: when its last call was answered, sent or planned, from the ledger.
        calls: in its ledger, reused ones among them; None where it cannot be read.
        sent: of them, those that left for a model; None where it would take too long to count.
        reused: of them, those whose reply another run has had; None as above.
        money: what they cost; None where a price is missing, or it would take too long to add up.
        headlines: one figure for each audit that has figures.
    """

    path: Path
    name: str
    state: State
    model: str = ""
    audits: tuple[Audit, ...] = ()
    why: str = ""
    first: datetime | None = None
    last: datetime | None = None
    calls: int | None = None
    sent: int | None = None
    reused: int | None = None
    money: float | None = None
    headlines: tuple[Headline, ...] = ()


class Asked(NamedTuple):
    """What the ledger tells without being read through."""

    model: str
    first: datetime | None
    last: datetime | None
    calls: int
    sent: int | None
    reused: int | None
    money: float | None


def list_runs(root: Path) -> list[RunEntry]:
    """The run folders at and below a folder, at any depth, the last asked first.

    Symbolic links to folders and hidden folders are passed over.

    Raises:
        RunError: the folder is not there, or cannot be looked into.
    """
    return newest_first([read_run(path, root) for path in find_folders(root)])


def newest_first(entries: Sequence[RunEntry]) -> list[RunEntry]:
    """By the date of the last call; those without one come last, by name."""
    return sorted(
        entries, key=lambda one: (-one.last.timestamp() if one.last else float("inf"), one.name)
    )


def find_folders(root: Path) -> Iterator[Path]:
    """The run folders at and below `root`, the damaged ones among them.

    Raises:
        RunError: the folder is not there, or cannot be looked into.
    """
    try:
        names = {one.name for one in os.scandir(root)}
    except OSError as trouble:
        raise RunError(
            f"{root}: {trouble.strerror or trouble}. Name a folder that holds runs."
        ) from trouble
    if _is_run(names):
        yield root
    for place, folders, files in os.walk(root):
        folders[:] = sorted(one for one in folders if not one.startswith("."))
        if Path(place) != root and _is_run({*files, *folders}):
            yield Path(place)


def _is_run(names: set[str]) -> bool:
    """Whether a folder with these entries is a run, or what is left of one."""
    left = names & {"estimates.json", "MANIFEST", "report.html"}
    return "run.sqlite" in names or ("run.toml" in names and bool(left))


def read_run(path: Path, root: Path | None = None, *, most_summed: int = MOST_SUMMED) -> RunEntry:
    """One run folder; whatever is wrong with it stands in the entry.

    Args:
        path: the folder.
        root: the folder that its name is told from.
        most_summed: calls up to which the cost is added up in the ledger, if no figure has it.
    """
    name = path.relative_to(root).as_posix() if root and path != root else ""
    entry = RunEntry(path, name or path.resolve().name, State.DAMAGED)
    folder = RunFolder(path)
    try:
        entry = replace(entry, audits=audits_of(folder), model=_model(settings_of(folder)))
        asked = read_ledger(folder.database, most_summed)
        entry = replace(entry, **asked._asdict() | {"model": entry.model or asked.model})
        if not folder.estimates.is_file():
            return replace(entry, state=State.NO_FIGURES, why="it has not ended")
        return _with_figures(entry, folder.read_estimates())
    except (AskewError, OSError) as trouble:
        return replace(entry, state=State.DAMAGED, why=str(trouble))
    except (ArithmeticError, AttributeError, LookupError, RecursionError, TypeError, ValueError):
        why = f"{folder.estimates} has not the form of figures; `askew score` makes it again"
        return replace(entry, state=State.DAMAGED, why=why)


def _with_figures(entry: RunEntry, estimates: object) -> RunEntry:
    if not isinstance(estimates, Mapping):
        raise TypeError("not an object")
    audits = tuple(dict.fromkeys([*entry.audits, *figures_of(estimates)]))
    why = lacking(estimates, audits)
    if not why and not (entry.path / "MANIFEST").is_file():
        why = "it has no MANIFEST: it has not ended"
    money = spent(estimates)
    return replace(
        entry,
        state=State.INCOMPLETE if why else State.COMPLETE,
        model=str(estimates.get("model") or entry.model),
        audits=audits,
        why=why,
        money=entry.money if money is None else money,
        headlines=headlines(estimates),
    )


def _model(settings: Mapping[str, object]) -> str:
    """The target's name in a run file."""
    models = settings.get("models")
    target = models.get("target") if isinstance(models, Mapping) else None
    name = target.get("name") if isinstance(target, Mapping) else target
    return str(name or settings.get("model") or "")


def read_ledger(database: Path, most_summed: int = MOST_SUMMED) -> Asked:
    """The first and the last call of a run, how many there are, and what they cost.

    Calls are numbered as they are planned, so that neither end needs the rows between. The last
    date is that of the last 256 calls by number.

    Raises:
        RunError: there is no ledger, or it is damaged.
    """
    with closing(open_to_read(database)) as ledger, as_run_error(database):
        if not ledger.execute(_HAS_CALLS).fetchone():
            return Asked("", None, None, 0, 0, 0, None)  # nothing was asked yet
        first = ledger.execute(_FIRST).fetchone()
        if first is None:
            return Asked("", None, None, 0, 0, 0, None)
        (last,) = ledger.execute(_LAST, (_LAST_ROWS,)).fetchone()
        (calls,) = ledger.execute("SELECT max(id) FROM calls").fetchone()
        sums = ledger.execute(_COUNTED).fetchone() if calls <= most_summed else (None,) * 3
        target = ledger.execute(_TARGET, (_LAST_ROWS,)).fetchone()
    model, planned = first
    sent, reused, nanos = sums
    return Asked(
        str(target[0] if target else model),
        _moment(planned),
        _moment(last),
        int(calls),
        sent,
        reused,
        None if nanos is None else nanos / NANOS,
    )


def _moment(seconds: object) -> datetime | None:
    if not isinstance(seconds, int | float):
        return None
    try:
        return datetime.fromtimestamp(seconds, UTC)
    except (OverflowError, OSError, ValueError):
        return None


def stamp(path: Path) -> tuple[tuple[int, int], ...]:
    """Changes when a file of the run does: size and time of each, (0, 0) where it is not there."""
    found = []
    for name in _PARTS:
        try:
            state = (path / name).stat()
        except OSError:
            found.append((0, 0))
        else:
            # A log without a word comes and goes as the database is opened.
            found.append((state.st_size, state.st_mtime_ns if state.st_size else 0))
    return tuple(found)


def select(
    entries: Sequence[RunEntry],
    *,
    model: str | None = None,
    audits: Sequence[str] = (),
    since: datetime | None = None,
    on: date | None = None,
) -> list[RunEntry]:
    """The entries that fit all of what is given; a run without a date fits no date.

    Args:
        entries: any.
        model: a part of the target's name, in any case.
        audits: all of them must be in the run.
        since: not asked before; compared with the last call.
        on: a day in UTC between the first call and the last.
    """
    return [
        one
        for one in entries
        if (model is None or model.casefold() in one.model.casefold())
        and set(audits) <= set(one.audits)
        and (since is None or (one.last is not None and one.last >= since))
        and (on is None or _asked_on(one, on))
    ]


def _asked_on(entry: RunEntry, day: date) -> bool:
    if entry.first is None or entry.last is None:
        return False
    return entry.first.date() <= day <= entry.last.date()


def find_run(
    wanted: str, root: Path, *, model: str | None = None, on: date | None = None
) -> RunEntry:
    """The one run that is meant.

    Args:
        wanted: the path of a run folder, `latest`, the run's name in `root`, or the beginning of
            one or of a model's name that fits one run alone. A path wins, except over `latest`.
        root: where names are looked up.
        model: a part of the target's name.
        on: a day on which it was asked.

    Raises:
        ConfigError: no run fits, or several do: they are named.
        RunError: the folder cannot be looked into.
    """
    path = Path(wanted)
    if wanted != LATEST and _is_run_folder(path):
        return read_run(path, most_summed=1 << 62)
    entries = select(list_runs(root), model=model, on=on)
    fitting = entries[:1] if wanted == LATEST else _named(wanted, entries)
    if not fitting:
        there = _choices(entries) if entries else "There is none."
        raise ConfigError(f"no run in {root} fits {_said(wanted, model, on)}. {there}")
    if len(fitting) > 1:
        raise ConfigError(
            f"{len(fitting)} runs in {root} fit {_said(wanted, model, on)}. {_choices(fitting)} "
            "Name one of them, or narrow it with --model or --date."
        )
    return read_run(fitting[0].path, root, most_summed=1 << 62)


def _is_run_folder(path: Path) -> bool:
    try:
        return path.is_dir() and _is_run({one.name for one in path.iterdir()})
    except OSError:  # it may not be looked into, or no path is so long
        return False


def _named(wanted: str, entries: Sequence[RunEntry]) -> list[RunEntry]:
    """The entries that a name fits best: whole, as its end, at the beginning, by the model."""
    wanted = wanted.rstrip("/")
    for fits in (
        lambda one: one.name == wanted,
        lambda one: one.path.name == wanted,
        lambda one: one.name.startswith(wanted) or one.path.name.startswith(wanted),
        lambda one: one.model == wanted,
        lambda one: wanted.casefold() in one.model.casefold(),
    ):
        if wanted and (found := [one for one in entries if fits(one)]):
            return found
    return []


def _said(wanted: str, model: str | None, on: date | None) -> str:
    parts = [repr(wanted)]
    parts += [f"--model {model!r}"] if model is not None else []
    parts += [f"--date {on}"] if on is not None else []
    return " with ".join([parts[0], " and ".join(parts[1:])]) if parts[1:] else parts[0]


def _choices(entries: Sequence[RunEntry], most: int = 10) -> str:
    shown = [
        f"{one.name} ({', '.join(filter(None, [one.model, date_text(one.last)]))})"
        for one in entries[:most]
    ]
    more = f", and {len(entries) - most} more" if len(entries) > most else ""
    return f"There are: {', '.join(shown)}{more}."


def date_text(moment: datetime | None) -> str:
    """A date with its minute, in UTC; a dash where there is none.

    >>> date_text(datetime(2026, 11, 30, 9, 5, tzinfo=UTC)), date_text(None)
    ('2026-11-30 09:05', '–')
    """
    return "–" if moment is None else moment.astimezone(UTC).strftime("%Y-%m-%d %H:%M")


_HAS_CALLS = "SELECT 1 FROM sqlite_master WHERE type = 'table' AND name = 'calls'"
_FIRST = "SELECT model, planned_at FROM calls ORDER BY id LIMIT 1"
_LAST = """
SELECT max(max(planned_at, coalesce(sent_at, 0), coalesce(received_at, 0)))
FROM (SELECT planned_at, sent_at, received_at FROM calls ORDER BY id DESC LIMIT ?)
"""
_TARGET = """
SELECT model FROM (SELECT model, role FROM calls ORDER BY id DESC LIMIT ?)
WHERE role = 'target' LIMIT 1
"""
_COUNTED = """
SELECT sum(attempts > 0), sum(origin IS NOT NULL),
    CASE WHEN count(*) = count(reserved_nanos + settled_nanos)
    THEN sum(reserved_nanos + settled_nanos) END FROM calls
"""
