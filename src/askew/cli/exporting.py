"""`askew export`: a run's rows, and its questions as other people's tools want them."""

from __future__ import annotations

from collections.abc import Callable
from enum import StrEnum
from functools import wraps
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer
from typer.core import TyperGroup

from askew.cli import filing, inspect_logs, lm_eval, sharing
from askew.cli.folders import Run
from askew.cli.terminal import echo
from askew.errors import RunError, unknown_name

if TYPE_CHECKING:
    from askew.report.which_audit import Audit

# What the other audits have instead of questions with options.
_ANSWERS = {"clinical": "its answers", "boundary": "its questions and answers"}


class _RowsByDefault(TyperGroup):
    """`askew export RUN OUT` is short for `askew export rows RUN OUT`."""

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        if args and not args[0].startswith("-") and args[0] not in self.commands:
            args = ["rows", *args]
        return super().parse_args(ctx, args)


app = typer.Typer(cls=_RowsByDefault, no_args_is_help=True, pretty_exceptions_enable=False)


class Format(StrEnum):
    """File formats of `askew export`."""

    CSV = "csv"
    JSONL = "jsonl"
    PARQUET = "parquet"


@app.command()
def rows(
    run: Run,
    out: Annotated[Path, typer.Argument(metavar="OUT", help="The file to write.")],
    form: Annotated[
        Format | None, typer.Option("--format", help="By the file's ending if left out.")
    ] = None,
    audit: Annotated[str | None, typer.Option(help="Which, of a run of several audits.")] = None,
) -> None:
    """Write one row a question, or a clinical answer, with what was read in its reply.

    A boundary run has one row a question, with the topic that it is about and the topic's verdict.

    In CSV a text that a spreadsheet would run as a formula begins with an apostrophe.
    """
    from askew.report.export import write_rows
    from askew.report.which_audit import AUDITS
    from askew.runfolder import RunFolder

    ending = out.suffix.lstrip(".").lower()
    if form is None and ending not in set(Format):
        raise RunError(f"{out}: the ending is none of csv, jsonl, parquet. Name one with --format.")
    wanted = next((one for one in AUDITS if one == audit), None)
    if audit is not None and wanted is None:
        raise unknown_name("audit", audit, list(AUDITS))
    count = write_rows(RunFolder.open(run), out, str(form or ending), wanted)
    echo(f"Wrote {count:,} rows to {out}")


def _of_flex(command: Callable[..., None], place: str, tool: str) -> Callable[..., None]:
    """The command, refused where it is given another audit, whose questions have no options.

    Args:
        command: takes the place of a run, or of its file, by a name.
        place: that name.
        tool: what the command writes for.
    """

    @wraps(command)
    def checked(**values: Any) -> None:
        audits = _audits_at(values[place])
        if "flex" not in audits:
            audit = audits[0]
            raise RunError(
                f"{values[place]} is of the {audit} audit, which has no tasks of {tool}: its "
                f"questions have no options to score. `askew export rows` writes {_ANSWERS[audit]}."
            )
        command(**values)

    return checked


def _audits_at(place: Path | None) -> tuple[Audit, ...]:
    """Of a run folder or a run file; of what is neither, the command itself says so."""
    from askew.report.which_audit import audits_in, audits_of
    from askew.runfile import read_toml
    from askew.runfolder import RunFolder

    if place is not None and place.is_dir():
        return audits_of(RunFolder(place))
    if place is not None and place.is_file():
        return audits_in(read_toml(place, "")[0])
    return ("flex",)


app.command("lm-eval")(_of_flex(lm_eval.export_lm_eval, "file", "lm-evaluation-harness"))
app.command("inspect")(_of_flex(inspect_logs.export_inspect, "run", "Inspect AI"))
app.command("report")(sharing.export_report)
app.command("evidence")(filing.evidence)
app.command("model-card")(filing.model_card)
app.command("data-card")(filing.data_card)
