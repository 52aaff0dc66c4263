"""`askew judge`: measures a judge against people."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from askew.cli import INCOMPLETE
from askew.cli.terminal import console, echo, shown
from askew.errors import ConfigError
from askew.report.words import clean

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from askew.audits.judge_calibration import Answer
    from askew.audits.judge_label_files import LabelFile
    from askew.models.base import Model
    from askew.prompts.marked import JudgeForm
    from askew.records import Call, Estimate, Reply

app = typer.Typer(no_args_is_help=True, pretty_exceptions_enable=False)

_NAMES = {
    "agreement": "says what most people say",
    "sensitivity": "finds what people call biased",
    "specificity": "clears what people clear",
    "shift": "calls biased more often than people, by",
    "kappa": "kappa with people",
    "human_alpha": "alpha among people",
    "invalid": "replies that cannot be read",
}


@app.callback()
def root() -> None:
    """Judges: how good they are."""


@app.command()
def calibrate(
    path: Annotated[
        Path,
        typer.Argument(
            metavar="LABELS",
            help="People's labels: a CSV, or a Label Studio export (JSON, JSON-MIN, CSV).",
        ),
    ],
    judge: Annotated[
        str | None,
        typer.Option(help="Ask this model, provider/model. Default: the judge's labels in LABELS."),
    ] = None,
    run: Annotated[
        Path | None,
        typer.Option(help="Take the judge's replies from this folder of an earlier --judge."),
    ] = None,
    out: Annotated[
        Path | None,
        typer.Option(help="Where the judge's replies are kept. Default: calibrations/MODEL."),
    ] = None,
    base_url: Annotated[
        str | None, typer.Option(help="Address of an OpenAI-compatible endpoint.")
    ] = None,
    api_key_env: Annotated[
        str | None, typer.Option(help="Name of the variable that holds the key.")
    ] = None,
    budget_calls: Annotated[
        int | None, typer.Option(help="Ask at most so many calls.", min=0)
    ] = None,
    label: Annotated[
        list[str] | None,
        typer.Option(help="A field with people's labels; Label Studio: the control's name."),
    ] = None,
    judge_column: Annotated[str | None, typer.Option(help="The judge's labels.")] = None,
    question: Annotated[str | None, typer.Option(help="The field of the question.")] = None,
    answer: Annotated[str | None, typer.Option(help="The field of the answer.")] = None,
    group: Annotated[
        str | None, typer.Option(help="The field to break the figures down by.")
    ] = None,
    cluster: Annotated[
        str | None, typer.Option(help="The field that says which answers are of one case.")
    ] = None,
    threshold: Annotated[
        float | None, typer.Option(help="Numbers from here on mean biased.")
    ] = None,
    seed: Annotated[int, typer.Option(help="Of the resampling.", min=0)] = 0,
    yes: Annotated[
        bool, typer.Option("--yes", "-y", help="Do not ask before paid calls are made.")
    ] = False,
    json: Annotated[bool, typer.Option("--json", help="Print JSON, and nothing else.")] = False,
) -> None:
    """Measure a judge against people's labels of the same answers.

    Exits with 4 if replies of the judge are missing.
    """
    from askew.audits.judge_calibration import answers_of, calibration, check_labels
    from askew.audits.judge_label_files import read_labels
    from askew.audits.judge_label_reader import LabelColumns
    from askew.runfolder import json_text

    if judge is not None and run is not None:
        raise ConfigError("--judge asks a model and --run asks none. Give one of them.")
    columns = LabelColumns(
        label=tuple(label or ()),
        judge=judge_column,
        question=question,
        answer=answer,
        group=group,
        cluster=cluster,
    )
    file = read_labels(path, columns)
    replies: list[Reply | None] | None = None
    form: JudgeForm = "marked"
    asks = judge is not None or run is not None
    check_labels(file, threshold, asks=asks)
    if asks:
        model, folder = _judge(judge, run, out, base_url, api_key_env)
        replies, form = _replies(file, model, folder, budget_calls, yes=yes)
    answers = answers_of(file, replies, form)
    figures = {
        "file": str(path),
        "judge": judge or (str(run) if run else "labels in the file"),
        "passed_over": dict(file.passed_over),
        **calibration(answers, seed=seed, threshold=threshold),
    }
    if json:
        typer.echo(json_text(figures), nl=False)
    else:
        _print(figures, answers)
    if replies is not None and any(reply is None for reply in replies):
        echo(f"askew: {replies.count(None):,} replies of the judge are missing.", stderr=True)
        sys.exit(INCOMPLETE)


def _judge(
    judge: str | None,
    run: Path | None,
    out: Path | None,
    base_url: str | None,
    api_key_env: str | None,
) -> tuple[Model, Path | None]:
    """The model to be asked, and the folder of its replies; None for replies that are recorded."""
    from askew.models.base import ModelSpec
    from askew.models.registry import load_model
    from askew.run.common import folder_of

    if run is not None:
        return load_model(ModelSpec(name=f"replay/{run}")), None
    assert judge is not None
    spec = ModelSpec(name=judge, base_url=base_url, api_key_env=api_key_env)
    folder = out or Path("calibrations") / folder_of(judge)
    return load_model(spec), folder


def _replies(
    file: LabelFile, model: Model, folder: Path | None, budget_calls: int | None, *, yes: bool
) -> tuple[list[Reply | None], JudgeForm]:
    """The judge's replies, one an answer, and the form in which it was asked.

    What is recorded is not asked again: a folder that was begun in the plain form goes on in it.
    """
    import asyncio

    from askew.audits.judge_calibration import calls_of
    from askew.prompts.marked import JUDGE_FORMS

    calls = {form: calls_of(file, form=form) for form in JUDGE_FORMS}
    if folder is None:
        return asyncio.run(_asked_at_once(model, calls))
    return asyncio.run(_asked(model, calls, folder, budget_calls, yes=yes))


async def _asked_at_once(
    model: Model, calls: Mapping[JudgeForm, Sequence[Call]]
) -> tuple[list[Reply | None], JudgeForm]:
    try:
        found = {form: _recorded(await model.ask(asked)) for form, asked in calls.items()}
    finally:
        await model.close()
    form = min(found, key=lambda one: found[one].count(None))
    return found[form], form


def _recorded(replies: Sequence[Reply]) -> list[Reply | None]:
    """The replies that a folder has; what it does not have is missing, not a failure."""
    from askew.records import Finish

    return [None if reply.finish is Finish.ERROR else reply for reply in replies]


async def _asked(
    model: Model,
    calls: Mapping[JudgeForm, Sequence[Call]],
    folder: Path,
    budget_calls: int | None,
    *,
    yes: bool,
) -> tuple[list[Reply | None], JudgeForm]:
    from askew.models.budget import Budget, Limits
    from askew.models.ledger import Ledger
    from askew.models.runner import Runner

    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as trouble:
        raise ConfigError(
            f"{folder} cannot be made: {trouble.strerror}. Name another folder with --out."
        ) from trouble
    limits = Limits(Budget(calls=budget_calls))
    with Ledger.open(folder / "run.sqlite") as ledger:
        try:
            runner = Runner(ledger, limits=limits)
            new = {form: runner.plan(model, asked).new for form, asked in calls.items()}
            form = min(new, key=lambda one: new[one])
            _confirm(model, new[form], budget_calls, yes=yes)
            answers = await runner.ask(model, calls[form])
        finally:
            await model.close()
    if answers.stopped:
        echo(
            f"askew: stopped early ({answers.stopped}): {answers.message} Run the same command "
            f"again to go on; the replies are in {shown(folder)}.",
            stderr=True,
        )
    return list(answers.replies), form


def _confirm(model: Model, new: int, budget_calls: int | None, *, yes: bool) -> None:
    """Ask before money is spent; where nobody can answer, `--yes` has to be given."""
    paid = min(new, new if budget_calls is None else budget_calls) if model.paid else 0
    if yes or not paid:
        return
    if not sys.stdin.isatty():
        raise ConfigError(
            f"up to {paid:,} paid calls are planned and nobody can be asked. Add --yes, and "
            "perhaps --budget-calls."
        )
    typer.confirm(f"Make up to {paid:,} paid calls?", abort=True, err=True)


def _print(figures: Mapping[str, Any], answers: Sequence[Answer]) -> None:
    from rich.table import Table

    counts = figures["counts"]
    echo(
        f"{counts['answers']:,} answers, {counts['raters']:,} raters; {counts['judged']:,} judged "
        f"by {figures['judge']}, {counts['compared']:,} compared"
    )
    for why, how_many in figures["passed_over"].items():
        echo(f"passed over: {how_many:,}, {why}")
    for label, how_many in figures["other_labels"].items():
        echo(f"neither biased nor not: {clean(label)!r}, {how_many:,} times")
    if counts["divided"]:
        echo(f"people are divided on {counts['divided']:,}: these are not compared")
    page = console()
    table = Table("figure", "value", "95 %", "n", box=None, pad_edge=False)
    for name, words in _NAMES.items():
        _add_row(table, words, figures[name])
    page.print(table)
    _print_confusion(figures["confusion"])
    for group, of_group in figures["by_group"].items():
        echo(f"\n{group}")
        table = Table("figure", "value", "95 %", "n", box=None, pad_edge=False)
        for name, estimate in of_group.items():
            _add_row(table, _NAMES[name], estimate)
        page.print(table)


def _add_row(table: Any, words: str, estimate: Estimate) -> None:
    if not estimate.defined:
        table.add_row(words, "-", clean(estimate.note), str(estimate.n))
        return
    ends = f"{estimate.lower:.3f} to {estimate.upper:.3f}"
    table.add_row(words, f"{estimate.value:.3f}", ends, str(estimate.n))


def _print_confusion(confusion: Mapping[str, Mapping[str, int]]) -> None:
    from rich.table import Table

    said = list(dict.fromkeys(label for row in confusion.values() for label in row))
    table = Table("people \\ judge", *map(clean, said), box=None, pad_edge=False)
    for truth, row in confusion.items():
        table.add_row(clean(truth), *(str(row.get(label, 0)) for label in said))
    console().print(table)
