"""`askew export lm-eval` and `askew import lm-eval`."""

from __future__ import annotations

import sys
from pathlib import Path
from shlex import quote
from typing import TYPE_CHECKING, Annotated

import typer

from askew.cli import INCOMPLETE
from askew.cli.figures import show_figures
from askew.cli.settings import takes_settings
from askew.cli.terminal import echo, shown

if TYPE_CHECKING:
    from askew.runfile import RunFile


@takes_settings
def export_lm_eval(
    settings: RunFile,
    folder: Annotated[Path, typer.Argument(metavar="DIR", help="The folder to write.")],
) -> None:
    """Write the questions as tasks that lm-evaluation-harness runs as they are.

    Takes the settings of `askew run`; no model is asked. The plain form and letters, unless asked
    otherwise.
    """
    from askew.interop.lm_eval_export import export_tasks
    from askew.interop.lm_eval_tasks import ROOT

    written = export_tasks(settings, folder)
    echo(
        f"Wrote {written.tasks:,} tasks to {shown(folder)}: {written.pairs:,} pairs "
        f"({written.sources:,} source prompts), {written.controls:,} controls"
    )
    for what, why in written.left_out.items():
        echo(f"left out: {what}: {why}")
    where = quote(shown(folder))
    echo(
        f"Run them: lm_eval --include_path {where} --tasks {ROOT} --model hf "
        "--model_args pretrained=MODEL,dtype=float32 --output_path OUT --log_samples\n"
        f"Bring the samples back: askew import lm-eval OUT --tasks {where}"
    )


def import_lm_eval(
    samples: Annotated[
        list[Path],
        typer.Argument(
            metavar="SAMPLES...", help="What lm_eval wrote with --log_samples: folders or files."
        ),
    ],
    tasks: Annotated[
        Path, typer.Option("--tasks", "-t", help="The folder of tasks that was exported and run.")
    ],
    out: Annotated[
        Path | None, typer.Option("--out", "-o", help="The run folder. [runs/MODEL-HASH]")
    ] = None,
    model: Annotated[
        str | None, typer.Option("--model", "-m", help="Whose samples, where there are several.")
    ] = None,
    date: Annotated[
        str | None,
        typer.Option(help="Which run's samples: how the date in its files begins."),
    ] = None,
    json: Annotated[bool, typer.Option("--json", help="Print JSON, and nothing else.")] = False,
) -> None:
    """Make a run folder of the samples that lm-evaluation-harness has logged.

    Exits with 4 if samples are missing.
    """
    from askew.interop.lm_eval_import import import_samples

    made = import_samples(samples, tasks, out, model=model, date=date)
    show_figures(made.folder, json=json)
    if made.aside:
        echo(
            f"askew: left alone {len(made.aside):,} files with samples of other tasks", stderr=True
        )
    if made.missing:
        echo(
            f"askew: {made.missing:,} of {made.missing + made.answered:,} prompts have no sample; "
            "their pairs are counted as missing. Run lm_eval on all tasks, without --limit.",
            stderr=True,
        )
        sys.exit(INCOMPLETE)
