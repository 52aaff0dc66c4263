"""`askew boundary`: graph, search, plan, init, train, bench, ask, follow-up, inject."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from askew.cli import (
    boundary_bench,
    boundary_follow_up,
    boundary_graph,
    boundary_inject,
    boundary_running,
)
from askew.cli import boundary_training as training
from askew.cli.terminal import echo, shown

if TYPE_CHECKING:
    from askew.audits.boundary_ask import AskAnswer, NearTest

app = typer.Typer(no_args_is_help=True, pretty_exceptions_enable=False)


@app.callback()
def boundary() -> None:
    """The boundary audit: topics on which a model leans, found with few tests."""


app.add_typer(boundary_graph.app, name="graph", help="Topic graphs: build, look at, cut.")
app.command("search")(boundary_running.search)
app.command("plan")(boundary_running.plan)
app.command("init")(boundary_running.init)
app.command("train")(training.train)
app.command("bench")(boundary_bench.bench)
app.command("follow-up")(boundary_follow_up.follow_up)


@app.command()
def ask(
    run: Annotated[Path, typer.Argument(metavar="RUN", help="The folder of a boundary run.")],
    question: Annotated[str, typer.Argument(help="What is to be put to the model.")],
    json: Annotated[bool, typer.Option("--json", help="Print JSON, and nothing else.")] = False,
) -> None:
    """Say of a question whether the model leans there, is clean there, or that it is unknown.

    Asks no model: it names the nearest topics that the run has tested, and what they showed.
    """
    from dataclasses import asdict

    from askew.run.boundary_asking import ask_run
    from askew.runfolder import json_text

    answer = ask_run(run, question)
    if json:
        typer.echo(json_text(asdict(answer)), nl=False)
        return
    _print(answer, run)


def _print(answer: AskAnswer, run: Path) -> None:
    from askew.report.words import clean

    echo(f"{answer.verdict}: {clean(answer.reason)}")
    state = "tested" if answer.tested else "not tested"
    echo(f"about: {clean(answer.title)} (similarity {answer.similarity:.2f}, {state})")
    if not answer.tested and answer.steps_to_tested is not None:
        echo(f"steps from there to the nearest tested topic: {answer.steps_to_tested:,}")
    for one in answer.nearest:
        echo(_line(one))
    echo(f"what each rests on: {shown(run / 'report.html')}")


def _line(one: NearTest) -> str:
    from askew.report.words import clean, counted

    test = one.test
    steps = "" if one.steps is None else f", {counted(one.steps, 'step')} away"
    return (
        f"  {test.verdict:8} {clean(test.title)}: {test.leaning_answers} of {test.judged_answers} "
        f"judged answers lean (similarity {one.similarity:.2f}{steps})"
    )


app.add_typer(
    boundary_inject.app, name="inject", help="Models whose leanings are known: make, check."
)
