"""One run on one screen: what was measured and found, what could not be told, what to do next."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from datetime import datetime
from pathlib import Path
from types import ModuleType

from askew.manifest import MANIFEST, SIGNATURE
from askew.report import boundary_summary, clinical_summary, summary
from askew.report.boundary_run import BoundaryRun
from askew.report.clinical_run import ClinicalRun
from askew.report.estimates import Run
from askew.report.folders.headline import figures_of, headlines, money_text
from askew.report.folders.run_list import RunEntry, State, date_text
from askew.report.which_audit import Audit
from askew.report.words import counted, label, listed
from askew.runfolder import RunFolder

_SUMMARIES: Mapping[Audit, ModuleType] = {
    "flex": summary,
    "clinical": clinical_summary,
    "boundary": boundary_summary,
}
_UNITS = ("B", "KB", "MB", "GB")


@dataclass(frozen=True, slots=True)
class AuditSheet:
    """What one audit of the run says.

    Attributes:
        audit: which.
        measured: what was asked, in a clause.
        fit: whether the model was fit to be measured, and what was found, in a sentence.
        findings: a sentence each, the most important first.
        not_told: what could not be told, or stands between the figures and their use.
    """

    audit: Audit
    measured: str
    fit: str
    findings: tuple[str, ...]
    not_told: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class RunSheet:
    """One run.

    Attributes:
        entry: as a list has it.
        audits: one for each audit that has figures.
        files: the files of the folder that are there, with their sizes in bytes.
        next: commands that go on from here, with what each does.
    """

    entry: RunEntry
    audits: tuple[AuditSheet, ...]
    files: tuple[tuple[str, int], ...]
    next: tuple[tuple[str, str], ...]


def run_sheet(entry: RunEntry, shown: str) -> RunSheet:
    """Everything that the screen holds.

    Args:
        entry: the run.
        shown: its path as the commands are to name it, quoted where a shell needs it.
    """
    folder = RunFolder(entry.path)
    usable = entry.state in (State.COMPLETE, State.INCOMPLETE)
    estimates = folder.read_estimates() if usable else {}
    sheets = tuple(_audit_sheet(*part) for part in figures_of(estimates).items())
    return RunSheet(entry, sheets, _files(entry.path), _next(entry, folder, shown))


def _audit_sheet(audit: Audit, estimates: Mapping[str, object]) -> AuditSheet:
    words = _SUMMARIES[audit]
    try:
        unfit = any(one.meaningful is False for one in headlines(estimates))
        return AuditSheet(
            audit,
            _measured(audit, estimates),
            words.sentence(estimates),
            () if unfit else tuple(words.findings(estimates)),
            tuple(words.warnings(estimates)),
        )
    except (ArithmeticError, AttributeError, LookupError, TypeError, ValueError):
        said = "its figures have not the form that this askew reads; `askew score` makes them again"
        return AuditSheet(audit, "not known", said, (), ())


def _measured(audit: Audit, estimates: Mapping[str, object]) -> str:
    if audit == "flex":
        run = Run("", estimates)
        sources = listed([label(name) for name in run.names("source")])
        attacks = listed([label(name).lower() for name in run.categories()])
        of = f" of {sources}" if sources else ""
        under = f", under {attacks}" if attacks else ""
        return f"{counted(run.planned, 'pair')}{of}{under}"
    if audit == "clinical":
        clinic = ClinicalRun("", estimates)
        cases = counted(clinic.count("study", "vignettes") or 0, "vignette")
        forms = listed([label(form).lower() for form in clinic.forms])
        return f"{cases} of {clinic.data}{f', asked {forms}' if forms else ''}"
    board = BoundaryRun("", estimates)
    size = board.count("topics", "graph")
    whole = f" of {size:,} in the graph" if size is not None else ""
    judge = f", judged by {board.judge}" if board.judge else ""
    return f"{counted(board.tested, 'topic')}{whole}{judge}"


def _files(path: Path) -> tuple[tuple[str, int], ...]:
    names = ("report.html", "estimates.json", "run.toml", "run.sqlite", MANIFEST, SIGNATURE)
    found = []
    for name in names:
        file = path / name
        if file.is_file():
            found.append((name, file.stat().st_size))
    return tuple(found)


def _next(entry: RunEntry, folder: RunFolder, shown: str) -> tuple[tuple[str, str], ...]:
    if entry.state is State.DAMAGED:
        return ((f"askew verify {shown}", "which files are not as they were left"),)
    if entry.state is State.NO_FIGURES:
        return (
            (f"askew run {shown}/run.toml --out {shown}", "ask what is missing"),
            (f"askew score {shown}", "figures of the replies that are there"),
        )
    found = [
        (f"askew serve {shown}", "the report with every item"),
        (f"askew table {shown}", "the figures as a table"),
        (f"askew verify {shown}", "whether every file is as the run left it"),
        (f"askew export {shown} rows.csv", "its rows for other tools"),
    ]
    if entry.state is State.INCOMPLETE and folder.settings.is_file():
        found.insert(0, (f"askew run {shown}/run.toml --out {shown}", "ask what is missing"))
    return tuple(found)


def sheet_lines(sheet: RunSheet) -> list[tuple[str, str]]:
    """The sheet as (heading, text) lines; "" stands under the heading above."""
    entry = sheet.entry
    state = f"{entry.state}: {entry.why}" if entry.why else str(entry.state)
    lines = [
        ("Run", str(entry.path)),
        ("State", state),
        ("Model", entry.model or "not known"),
        ("Asked", _asked(entry)),
    ]
    for one in sheet.audits:
        lines.append((label(one.audit) if one.audit != "flex" else "FLEX", one.measured))
        lines.append(("", one.fit))
        lines += _under("Found", one.findings)
        lines += _under("Not told", one.not_told)
    lines.append(("Cost", _cost(entry)))
    files = ", ".join(f"{name} ({size_text(size)})" for name, size in sheet.files)
    lines += _under("Files", [files])
    width = max((len(command) for command, _ in sheet.next), default=0)
    lines += _under("Next", [f"{command:{width}}  {what}" for command, what in sheet.next])
    return lines


def _under(heading: str, texts: Sequence[str]) -> list[tuple[str, str]]:
    return [(heading if place == 0 else "", text) for place, text in enumerate(texts) if text]


def _asked(entry: RunEntry) -> str:
    if entry.first is None:
        return "no call in the ledger, so there is no date"
    return (
        f"{date_text(entry.first)} to {date_text(entry.last)} UTC, by the first and the last call "
        "in the ledger"
    )


def _cost(entry: RunEntry) -> str:
    money = "no price is known" if entry.money is None else f"{money_text(entry.money)} in all"
    if entry.sent is None:
        calls = "calls not known" if entry.calls is None else counted(entry.calls, "call")
        return f"{calls} in the ledger, reused ones among them; {money}"
    reused = f", {counted(entry.reused or 0, 'reply', 'replies')} from earlier runs"
    return f"{counted(entry.sent, 'call')} sent{reused if entry.reused else ''}; {money}"


def size_text(size: float) -> str:
    """A file's size.

    >>> size_text(740), size_text(73_288), size_text(8_100_000)
    ('740 B', '73 KB', '8.1 MB')
    """
    unit = 0
    while size >= 1000 and unit < len(_UNITS) - 1:
        size, unit = size / 1000, unit + 1
    return f"{size:.0f} {_UNITS[unit]}" if unit < 2 or size >= 10 else f"{size:.1f} {_UNITS[unit]}"


def entry_record(entry: RunEntry) -> dict[str, object]:
    """An entry as JSON has it; dates in UTC, what is not known null."""
    return {
        "run": str(entry.path),
        "name": entry.name,
        "model": entry.model or None,
        "audits": list(entry.audits),
        "state": entry.state.value,
        "why": entry.why,
        "first_call": _iso(entry.first),
        "last_call": _iso(entry.last),
        "dates_from": "ledger" if entry.first else None,
        "calls": entry.calls,
        "sent": entry.sent,
        "reused": entry.reused,
        "money": entry.money,
        "headlines": [asdict(one) for one in entry.headlines],
    }


def sheet_record(sheet: RunSheet) -> dict[str, object]:
    """A sheet as JSON has it."""
    return {
        **entry_record(sheet.entry),
        "findings": [asdict(one) for one in sheet.audits],
        "files": dict(sheet.files),
        "next": [{"command": command, "what": what} for command, what in sheet.next],
    }


def _iso(moment: datetime | None) -> str | None:
    return None if moment is None else moment.isoformat(timespec="seconds").replace("+00:00", "Z")
