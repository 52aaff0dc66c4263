"""`askew import`: other tools' logs as run folders."""

from __future__ import annotations

import typer

from askew.cli import inspect_logs, lm_eval

app = typer.Typer(no_args_is_help=True, pretty_exceptions_enable=False)
app.command("lm-eval")(lm_eval.import_lm_eval)
app.command("inspect")(inspect_logs.import_inspect)
