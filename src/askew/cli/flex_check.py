"""`askew flex check`."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from askew.cli.terminal import echo, shown

if TYPE_CHECKING:
    from askew.build.check_finding import Finding, Hit
    from askew.build.checks import Checked

_HEADS = {
    "fault": "FAULTS: figures of the set are wrong, or it cannot be read as it is meant",
    "caution": "CAUTIONS: figures mean something else than a reader would think",
    "note": "NOTES",
}
_SHOWN_CHARACTERS = 120  # of a text of the set


def check(
    path: Annotated[
        Path | None,
        typer.Argument(
            metavar="[DIR]",
            help="A build, a set, one of its files, or the release. Default: the fetched release.",
        ),
    ] = None,
    json: Annotated[bool, typer.Option("--json", help="Print JSON, and nothing else.")] = False,
) -> None:
    """Look for every known fault of a set in FLEX's form; exits with 1 where there is one."""
    from askew.build.checks import as_json
    from askew.build.checks import check as check_set
    from askew.runfolder import json_text

    checked = check_set(path)
    if json:
        typer.echo(json_text(as_json(checked)), nl=False)
    else:
        _print(checked)
    if checked.faults:
        raise typer.Exit(1)


def _print(checked: Checked) -> None:
    echo(f"{shown(checked.path)}")
    for one in checked.sets:
        rows = ", ".join(f"{sheet.name} {len(sheet.rows):,}" for sheet in one.sheets)
        total = sum(len(sheet.rows) for sheet in one.sheets)
        echo(f"{one.name + ': ' if one.name else ''}{total:,} rows ({rows})")
    for severity, head in _HEADS.items():
        findings = [one for one in checked.findings if one.severity == severity]
        if findings:
            echo(f"\n{head}")
            for finding in findings:
                _print_finding(finding)
    counts = {name: sum(one.severity == name for one in checked.findings) for name in _HEADS}
    if checked.findings:
        echo(
            f"\n{counts['fault']} kinds of faults, {counts['caution']} of cautions, "
            f"{counts['note']} notes"
        )
    else:
        echo("nothing found")


def _print_finding(finding: Finding) -> None:
    where = f"[{finding.set_name}] " if finding.set_name else ""
    sources = ", ".join(
        f"{source} {count:,} of {of:,}"
        for source, (count, of) in finding.by_source.items()
        if source
    )
    echo(
        f"\n  {where}{finding.count:,} of {finding.of:,} {finding.what}"
        f"{f' ({sources})' if sources else ''}"
    )
    echo(f"    so: {finding.consequence}")
    echo(f"    do: {finding.mend}")
    for text, count in finding.frequent:
        echo(f"    {count:,} times: {_short(text)}")
    examples = [_example(hit) for hit in finding.examples]
    if any(examples):
        echo(f"    such as {'; '.join(example for example in examples if example)}")


def _example(hit: Hit) -> str:
    place = " ".join(part for part in (hit.source, hit.row) if part)
    return ": ".join(part for part in (place, _short(hit.text)) if part)


def _short(text: str) -> str:
    """A text of the set on one line."""
    line = " ".join(text.split())
    return line if len(line) <= _SHOWN_CHARACTERS else f"{line[: _SHOWN_CHARACTERS - 1]}…"
