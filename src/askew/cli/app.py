"""The commands by name."""

from __future__ import annotations

from typing import Annotated

import typer

from askew import __version__
from askew.cli import (
    auditing,
    boundary,
    clinical,
    clinical_running,
    comparing,
    data,
    exporting,
    flex_build,
    flex_check,
    folders,
    gating,
    importing,
    judge,
    models,
    purging,
    running,
    runs,
    survey,
    sweeping,
)

app = typer.Typer(
    name="askew",
    help="Find where a language model leans.",
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    rich_markup_mode="markdown",  # rich's own takes a default in brackets for a style
    context_settings={"help_option_names": ["-h", "--help"]},
)

flex = typer.Typer(no_args_is_help=True, pretty_exceptions_enable=False)
flex.command("build")(flex_build.build)
flex.command("check")(flex_check.check)


def _version(wanted: bool) -> None:
    if wanted:
        typer.echo(f"askew {__version__}")
        raise typer.Exit


clinical.app.command("run")(clinical_running.run)
clinical.app.command("plan")(clinical_running.plan)
clinical.app.command("init")(clinical_running.init)


@app.callback()
def root(
    version: Annotated[
        bool, typer.Option("--version", callback=_version, is_eager=True, help="Print the version.")
    ] = False,
) -> None:
    """Find where a language model leans."""


app.command("audit")(auditing.audit)
app.command("run")(running.run)
app.command("sweep")(sweeping.sweep)
app.command("plan")(running.plan)
app.command("init")(running.init)
app.command("score")(folders.score)
app.command("table")(folders.table)
app.command("calls")(folders.calls)
app.command("gate")(gating.gate)
app.command("ls")(runs.ls)
app.command("show")(runs.show)
app.command("serve")(runs.serve)
app.command("compare")(comparing.compare)
app.command("verify")(runs.verify)
app.command("sign")(runs.sign)
app.command("purge")(purging.purge)
app.add_typer(
    exporting.app, name="export", help="Write a run's rows, or its questions for other tools."
)
app.add_typer(importing.app, name="import", help="Make a run folder of other tools' logs.")
app.add_typer(flex, name="flex", help="FLEX benchmarks: build one of your own, check any.")
app.add_typer(
    clinical.app, name="clinical", help="Clinical answers: audit them, extract facts from texts."
)
app.add_typer(
    boundary.app,
    name="boundary",
    help="Topics on which a model leans: find them with few tests, train, ask.",
)
app.add_typer(judge.app, name="judge", help="Judges: measure one against people's labels.")
app.add_typer(survey.app, name="survey", help="A blinded study with people: pairs, page, figures.")
app.add_typer(data.app, name="data", help="Data sets: list, get, check, template.")
app.add_typer(
    models.app, name="models", help="Models: list, install the built-in, check an endpoint."
)
