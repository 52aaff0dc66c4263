"""`askew export`: a run's rows, and its questions as other people's tools want them."""

from __future__ import annotations

from collections.abc import Callable
from enum import StrEnum
from functools import wraps
from pathlib import Path
from typing import Annotated, Any

import typer
from typer.core import TyperGroup

from askew.cli import inspect_logs, lm_eval
from askew.cli.folders import Run
from askew.cli.terminal import echo
from askew.errors import RunError


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
) -> None:
    """Write one row a question, or a clinical answer, with what was read in its reply.

    In CSV a text that a spreadsheet would run as a formula begins with an apostrophe.
    """
    from askew.report.export import write_rows
    from askew.runfolder import RunFolder

    ending = out.suffix.lstrip(".").lower()
    if form is None and ending not in set(Format):
        raise RunError(f"{out}: the ending is none of csv, jsonl, parquet. Name one with --format.")
    count = write_rows(RunFolder.open(run), out, str(form or ending))
    echo(f"Wrote {count:,} rows to {out}")


def _of_flex(command: Callable[..., None], place: str, tool: str) -> Callable[..., None]:
    """The command, refused where it is given a clinical audit, whose questions have no options.

    Args:
        command: takes the place of a run, or of its file, by a name.
        place: that name.
        tool: what the command writes for.
    """

    @wraps(command)
    def checked(**values: Any) -> None:
        if _is_clinical(values[place]):
            raise RunError(
                f"{values[place]} is of the clinical audit, which has no tasks of {tool}: its "
                "questions have no options to score. `askew export rows` writes its answers."
            )
        command(**values)

    return checked


def _is_clinical(place: Path | None) -> bool:
    from askew.report.clinical_rows import is_clinical
    from askew.runfile import read_toml
    from askew.runfolder import RunFolder

    if place is None:
        return False
    if place.is_dir():
        return is_clinical(RunFolder(place))
    return place.is_file() and "clinical" in read_toml(place, "")[0]


app.command("lm-eval")(_of_flex(lm_eval.export_lm_eval, "file", "lm-evaluation-harness"))
app.command("inspect")(_of_flex(inspect_logs.export_inspect, "run", "Inspect AI"))
