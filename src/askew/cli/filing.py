"""`askew export evidence`, `model-card` and `data-card`: what a run leaves for other people."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from askew.cli.folders import Run
from askew.cli.terminal import echo, shown

if TYPE_CHECKING:
    from askew.runfolder import RunFolder

Out = Annotated[
    Path | None, typer.Argument(metavar="[OUT]", help="The file to write; printed if left out.")
]
Metadata = Annotated[bool, typer.Option("--json", help="Print the card's metadata as JSON.")]


def evidence(
    run: Run,
    out: Annotated[
        Path, typer.Argument(metavar="OUT", help="A folder that is not there, or a .zip file.")
    ],
    with_calls: Annotated[
        bool,
        typer.Option(
            "--with-calls",
            help="Bundle the ledger: every prompt and reply, which may be texts about patients.",
        ),
    ] = False,
    report: Annotated[
        bool | None,
        typer.Option(
            "--with-report/--no-report",
            help="Bundle report.html, which holds prompts and replies as well. [as --with-calls]",
        ),
    ] = None,
    json: Annotated[bool, typer.Option("--json", help="Print what was made as JSON.")] = False,
) -> None:
    """Write what an auditor files: claims with intervals, limits, hashes, and who asks for what.

    It claims no conformity with any law or standard, and gives no legal advice.
    """
    from askew.report.filed.files import write_pack
    from askew.report.filed.records import NOT_ADDRESSED, NOT_MEASURED
    from askew.runfolder import RunFolder, json_text

    pack = write_pack(RunFolder.open(run), out, with_calls=with_calls, with_report=report)
    untold = sum(claim.standing == NOT_MEASURED for claim in pack.claims)
    asked = [one for framework in pack.frameworks for one in framework.requirements]
    open_ = [one.id for one in asked if one.status == NOT_ADDRESSED]
    if json:
        made = {
            "out": str(out),
            "headline": pack.headline,
            "complete": pack.complete,
            "altered": pack.altered,
            "claims": len(pack.claims),
            "could_not_be_measured": untold,
            "requirements": len(asked),
            "not_addressed": open_,
            "files": pack.files,
        }
        typer.echo(json_text(made), nl=False)
        return
    echo(pack.headline)
    echo(f"Wrote {len(pack.claims):,} claims, {untold:,} of them not measured, to {shown(out)}")
    echo(f"{len(open_):,} of {len(asked):,} requirements are not addressed by this run")
    if with_calls or any(one.path == "run/report.html" for one in pack.files):
        much = "every prompt and reply" if with_calls else "prompts and replies"
        echo(f"It holds {much} of the run: see who may read it.")


def model_card(run: Run, out: Out = None, json: Metadata = False) -> None:
    """Write a model card of a run, with the metadata that Hugging Face reads."""
    from askew.report.filed import model_card as card

    _write(run, out, card.metadata_of if json else card.model_card)


def data_card(run: Run, out: Out = None, json: Metadata = False) -> None:
    """Write a card of the data that a run put to the model: sources, counts, licences, faults."""
    from askew.report.filed import data_card as card

    _write(run, out, card.metadata_of if json else card.data_card)


def _write(run: Path, out: Path | None, made_of: Callable[[RunFolder], object]) -> None:
    from askew.runfolder import RunFolder, json_text, without_surrogates, write_whole

    made = made_of(RunFolder.open(run))
    text = without_surrogates(made) if isinstance(made, str) else json_text(made)
    if out is None:
        typer.echo(text, nl=False)
        return
    write_whole(out, text)
    echo(f"Wrote {shown(out)}")
