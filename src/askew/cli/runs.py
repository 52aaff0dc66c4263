"""Commands that find runs again, look at them and check them: ls, show, serve, verify, sign."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, date, datetime
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from askew.cli.terminal import echo, shown
from askew.errors import ConfigError
from askew.report.words import clean, counted

if TYPE_CHECKING:
    from askew.report.folders.headline import Headline
    from askew.report.folders.run_list import RunEntry
    from askew.report.folders.sheet import RunSheet

RUNS = Path("runs")
PASSPHRASE = "ASKEW_SIGNING_PASSPHRASE"
_CHANGED, _CANNOT_BE_CHECKED = 1, 3  # exit codes of `verify`
_WIDEST = 100  # of running text on a terminal
_WIDEST_NAME = 28  # of a run, before it gets a line of its own

Model = Annotated[
    str | None, typer.Option("--model", metavar="TEXT", help="A part of the target's name.")
]
Json = Annotated[bool, typer.Option("--json", help="Print JSON, and nothing else.")]


class AuditName(StrEnum):
    """The three audits."""

    FLEX = "flex"
    CLINICAL = "clinical"
    BOUNDARY = "boundary"


def ls(
    folder: Annotated[Path, typer.Argument(help="Where to look, at any depth.")] = RUNS,
    model: Model = None,
    audit: Annotated[
        list[AuditName] | None, typer.Option(help="That the run holds; may be repeated.")
    ] = None,
    since: Annotated[
        str | None, typer.Option(metavar="DATE", help="Last asked on or after it (UTC).")
    ] = None,
    json: Json = False,
) -> None:
    """List the runs of a folder, the last asked first, with the figure that each stands for.

    Dates are those of the calls in a run's ledger, in UTC; a run without calls has none.
    """
    from askew.report.folders.run_list import list_runs, select
    from askew.report.folders.sheet import entry_record
    from askew.runfolder import json_text

    moment = None if since is None else _moment("--since", since)
    there = list_runs(folder)
    found = select(there, model=model, audits=audit or (), since=moment)
    if json:
        typer.echo(json_text([entry_record(one) for one in found]), nl=False)
        return
    if not found:
        kept = f" of the {len(there)} there" if there else ""
        echo(f"No run{kept} in {shown(folder)}{' fits' if there else ''}.")
        return
    for line in _rows(found):
        echo(line)
    echo("Dates are those of each run's last call, in UTC. Look at one: askew show RUN")


def _rows(entries: list[RunEntry]) -> Iterator[str]:
    """Each run in a line of columns, and below it its figures or what is wrong with it."""
    from rich.cells import cell_len

    from askew.report.folders.headline import money_text
    from askew.report.folders.run_list import date_text

    names = [clean(_line(one.name)) for one in entries]
    edge = min(_WIDEST_NAME, max(map(cell_len, names))) + 2
    for name, one in zip(names, entries, strict=True):
        asked = one.calls if one.sent is None else one.sent
        about = [
            one.model,
            ", ".join(one.audits),
            "" if asked is None else counted(asked, "call"),
            "" if one.money is None else f"cost {money_text(one.money)}",
        ]
        told = " · ".join(_line(part) for part in about if part)
        if cell_len(name) > edge - 2:
            yield name
            name = ""
        room = " " * (edge - cell_len(name))
        yield f"{name}{room}{date_text(one.last):16}  {one.state.value:10}  {told}"
        below = [f"{_title(head)} {head.text}" for head in one.headlines]
        for text in [*below, one.why]:
            if text:
                yield from _filled(text, " " * edge)


def _title(head: Headline) -> str:
    return head.title if head.audit == "flex" else f"{head.audit}:"


def _filled(text: str, indent: str, first: str = "") -> list[str]:
    """Running text in lines of the terminal's width, behind an indent."""
    import shutil
    import textwrap

    return textwrap.wrap(
        text,
        max(40, min(_WIDEST, shutil.get_terminal_size().columns)),
        initial_indent=first or indent,
        subsequent_indent=indent,
        break_on_hyphens=False,
        break_long_words=False,
    )


def _line(text: str) -> str:
    """A name on one line, whoever chose it."""
    return " ".join(text.split())


def _moment(option: str, text: str) -> datetime:
    try:
        found = datetime.fromisoformat(text)
    except ValueError:
        raise ConfigError(
            f"{option} is {text!r}, expected a date such as 2026-11-30 or 2026-11-30T09:30."
        ) from None
    return found.replace(tzinfo=UTC) if found.tzinfo is None else found


def show(
    run: Annotated[
        str,
        typer.Argument(metavar="RUN", help="A run folder, its name or how that begins, or latest."),
    ] = "latest",
    model: Model = None,
    on: Annotated[
        str | None, typer.Option("--date", metavar="DATE", help="A day on which it was asked.")
    ] = None,
    folder: Annotated[
        Path, typer.Option("--in", metavar="FOLDER", help="Where names are looked up.")
    ] = RUNS,
    open_: Annotated[
        bool, typer.Option("--open", help="Open the report in the web browser.")
    ] = False,
    json: Json = False,
) -> None:
    """Show one run on one screen: what was measured and found, what it cost, what to do next."""
    from shlex import quote

    from askew.report.folders.run_list import find_run
    from askew.report.folders.sheet import run_sheet, sheet_record
    from askew.runfolder import RunFolder, json_text

    day = None if on is None else _day(on)
    entry = find_run(run, folder, model=model, on=day)
    sheet = run_sheet(entry, quote(shown(entry.path)))
    if json:
        typer.echo(json_text(sheet_record(sheet)), nl=False)
    else:
        _print_sheet(sheet)
    if open_:
        _open(RunFolder(entry.path).report)


def _day(text: str) -> date:
    return _moment("--date", text).date()


def _print_sheet(sheet: RunSheet) -> None:
    from askew.report.folders.sheet import sheet_lines

    lines = sheet_lines(sheet)
    edge = max(len(heading) for heading, _ in lines) + 2
    for heading, text in lines:
        for line in _filled(text, " " * edge, f"{heading:{edge}}"):
            echo(line)


def _open(report: Path) -> None:
    import webbrowser

    if not report.is_file():
        raise ConfigError(f"{report} is not there. Make it with `askew score {report.parent}`.")
    if not webbrowser.open(report.resolve().as_uri()):
        raise ConfigError(f"no web browser could be started. Open {report} yourself.")


def serve(
    runs: Annotated[
        list[Path] | None,
        typer.Argument(metavar="[RUN|FOLDER]...", help="Runs, or folders of runs; default: runs."),
    ] = None,
    port: Annotated[int, typer.Option(min=0, max=65535, help="0: a free one.")] = 0,
    host: Annotated[str, typer.Option(help="An address of this machine alone.")] = "127.0.0.1",
    open_: Annotated[
        bool, typer.Option("--open", help="Open the address in the web browser.")
    ] = False,
) -> None:
    """Serve reports with all their items to this machine until Ctrl-C; writes nothing."""
    import asyncio
    import webbrowser

    from askew.serve.listening import serve_until_stopped
    from askew.serve.runs import ServedRuns

    served = ServedRuns(runs or [RUNS])

    def ready(address: str) -> None:
        echo(f"Serving {len(served.entries):,} runs at {address}")
        echo("Only this machine is answered, and only who has the link. Ctrl-C stops it.")
        if open_:
            webbrowser.open(address)

    asyncio.run(serve_until_stopped(served, host, port, ready))
    echo("Stopped.")


def verify(
    runs: Annotated[list[Path], typer.Argument(metavar="RUN...", help="Run folders.")],
    signer: Annotated[
        Path | None,
        typer.Option(metavar="KEY.pub", help="The public key that must have signed them."),
    ] = None,
    allow_extra: Annotated[
        bool, typer.Option("--allow-extra", help="Files that MANIFEST does not name are all right.")
    ] = False,
    secrets: Annotated[
        bool,
        typer.Option(
            "--secrets",
            help="Look through every byte for keys: those of this environment, and known forms.",
        ),
    ] = False,
    json: Json = False,
) -> None:
    """Check run folders against their MANIFEST, and its signature where one was made.

    Exits with 1 if one is not as it was left or holds a key, with 3 if one cannot be checked.
    """
    from askew.report.folders.signing_keys import read_public_key
    from askew.report.folders.verifying import Verified, VerifyState, verified_record, verify_run
    from askew.runfolder import json_text

    key = None if signer is None else read_public_key(signer)
    results: list[Verified] = [verify_run(run, key, allow_extra=allow_extra) for run in runs]
    if json:
        typer.echo(json_text([verified_record(one) for one in results]), nl=False)
    else:
        for one in results:
            for line in one.lines(shown(one.run)):
                echo(line, stderr=one.state is not VerifyState.FINE)
    if secrets and _tell_secrets(runs, quiet=json):
        raise typer.Exit(_CHANGED)
    states = {one.state for one in results}
    if VerifyState.CHANGED in states:
        raise typer.Exit(_CHANGED)
    if VerifyState.CANNOT_BE_CHECKED in states:
        raise typer.Exit(_CANNOT_BE_CHECKED)


def _tell_secrets(runs: list[Path], *, quiet: bool) -> bool:
    """Whether a run holds a key; where it stands is told, never the key."""
    from askew.privacy.known_secrets import named_secrets
    from askew.privacy.scan import find_secrets
    from askew.privacy.spellings import by_chance

    named = named_secrets()
    known = {name: value for name, value in named.items() if not by_chance(value)}
    if (words := sorted(named.keys() - known.keys())) and not quiet:
        echo(f"not looked for, as texts hold such words by themselves: {', '.join(words)}")
    any_found = False
    for run in runs:
        found = find_secrets(run, known)
        any_found = any_found or bool(found)
        for one in found:
            echo(f"{shown(run)}: {one}", stderr=True)
        if not found and not quiet:
            echo(f"{shown(run)}: no key of {len(known)} known here, and none by its form")
    return any_found


def sign(
    run: Annotated[Path | None, typer.Argument(metavar="RUN", help="A run folder.")] = None,
    key: Annotated[
        Path | None,
        typer.Option(metavar="FILE", help="Your Ed25519 private key: OpenSSH's form, or PEM."),
    ] = None,
    make_key: Annotated[
        Path | None,
        typer.Option(metavar="FILE", help="Write a new key there, and FILE.pub to hand out."),
    ] = None,
) -> None:
    """Sign a run's MANIFEST with your key, or make a key to sign with.

    A passphrase is asked for, or taken from ASKEW_SIGNING_PASSPHRASE; never from the command line.
    """
    from askew.report.folders.signature import sign_run
    from askew.report.folders.signing_keys import is_shared, read_private_key, write_key_pair

    if make_key is not None:
        if run is not None or key is not None:
            raise ConfigError("--make-key stands alone: make the key, then sign with --key.")
        passphrase = _new_passphrase()
        print_ = write_key_pair(make_key, passphrase)
        echo(f"Wrote {shown(make_key)}, which stays with you, and {shown(make_key)}.pub.")
        if not passphrase:
            echo(f"It has no passphrase: {PASSPHRASE}, or a terminal to ask at, gives it one.")
        echo(f"Tell those who check your runs its fingerprint: {print_}")
        return
    if run is None or key is None:
        raise ConfigError("name a run and your key: askew sign RUN --key FILE.")
    opened = read_private_key(key, _passphrase)
    if is_shared(key):
        echo(f"{shown(key)} can be read by others: chmod 600 {shown(key)}", stderr=True)
    made = sign_run(run, opened)
    echo(f"Signed {shown(run)} with {made.fingerprint} at {made.signed_at}.")
    echo(f"Check it with: askew verify {shown(run)} --signer {shown(key)}.pub")


def _passphrase() -> bytes:
    import os

    found = os.environ.get(PASSPHRASE)
    if found is None:
        _needs_terminal("the key is encrypted")
        found = typer.prompt("Passphrase", hide_input=True, err=True)
    return os.fsencode(found)


def _new_passphrase() -> bytes:
    import os
    import sys

    found = os.environ.get(PASSPHRASE)
    if found is None and sys.stdin.isatty():
        found = typer.prompt(
            "Passphrase (empty for none)",
            default="",
            show_default=False,
            hide_input=True,
            confirmation_prompt=True,
            err=True,
        )
    return os.fsencode(found or "")


def _needs_terminal(why: str) -> None:
    import sys

    if not sys.stdin.isatty():
        raise ConfigError(f"{why}, and nobody is there to ask. Set {PASSPHRASE}.")
