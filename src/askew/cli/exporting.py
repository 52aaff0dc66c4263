"""`askew export`: a run's rows, and its questions as other people's tools want them."""

from __future__ import annotations

from enum import StrEnum
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
    """Write one row a question: item, condition, scenario, order, reply, outcome, rule.

    In CSV a text that a spreadsheet would run as a formula begins with an apostrophe.
    """
    from askew.report.export import write_rows
    from askew.runfolder import RunFolder

    ending = out.suffix.lstrip(".").lower()
    if form is None and ending not in set(Format):
        raise RunError(f"{out}: the ending is none of csv, jsonl, parquet. Name one with --format.")
    count = write_rows(RunFolder.open(run), out, str(form or ending))
    echo(f"Wrote {count:,} rows to {out}")


app.command("lm-eval")(lm_eval.export_lm_eval)
app.command("inspect")(inspect_logs.export_inspect)
