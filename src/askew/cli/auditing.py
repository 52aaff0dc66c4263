"""`askew audit`, and `askew run` of a file with several audits: plan, ask, report, part by part."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, NoReturn

import typer

from askew.cli import INCOMPLETE
from askew.cli.audit_plan import (
    planned_of,
    prepared_of,
    print_plan,
    print_plans,
    show_plan,
    show_plans,
)
from askew.cli.paying import confirm
from askew.cli.settings import (
    DEFAULT_MODEL,
    EngineOption,
    RayAddressOption,
    WorkersOption,
    assignment,
    data_set,
    engine_options,
)
from askew.cli.terminal import console, echo, shown
from askew.errors import ConfigError

if TYPE_CHECKING:
    from askew.run.audit import Done, Prepared
    from askew.runfile import Audit, RunFile


def audit(
    model: Annotated[
        list[str] | None,
        typer.Option(
            "--model",
            "-m",
            help=f"A target, provider/model; again for more. [{DEFAULT_MODEL}]",
        ),
    ] = None,
    preset: Annotated[str, typer.Option(help="quick, standard or thorough.")] = "quick",
    audits: Annotated[
        str | None, typer.Option(help="Which of flex,clinical,boundary. [all]")
    ] = None,
    judge: Annotated[
        str | None, typer.Option(help="Who judges answers, provider/model. [rules alone]")
    ] = None,
    base_url: Annotated[
        str | None, typer.Option(help="Address of the target's OpenAI-compatible endpoint.")
    ] = None,
    api_key_env: Annotated[
        str | None, typer.Option(help="Name of the variable that holds its key.")
    ] = None,
    data: Annotated[
        list[str] | None,
        typer.Option(help="FLEX's data: NAME or NAME=PATH; may be given again. [starter]"),
    ] = None,
    cases: Annotated[
        list[str] | None,
        typer.Option(help="Clinical cases: NAME or NAME=PATH; may be given again. [starter]"),
    ] = None,
    graph: Annotated[str | None, typer.Option(help="Of topics: a folder. [starter]")] = None,
    write: Annotated[
        Path | None, typer.Option(help="Write the run file there, and run nothing.")
    ] = None,
    out: Annotated[
        Path | None,
        typer.Option("--out", "-o", help="The run folder; of several models, that of theirs."),
    ] = None,
    seed: Annotated[int | None, typer.Option(help="The one seed. [0]")] = None,
    local_only: Annotated[
        bool, typer.Option("--local-only", help="Refuse models that are not on this machine.")
    ] = False,
    budget_calls: Annotated[
        int | None, typer.Option(help="At most so many calls, all parts and models together.")
    ] = None,
    budget_tokens: Annotated[int | None, typer.Option(help="At most so many tokens.")] = None,
    budget_money: Annotated[
        float | None, typer.Option(help="At most so much money; needs --prices.")
    ] = None,
    prices: Annotated[Path | None, typer.Option(help="Your dated prices.toml.")] = None,
    concurrency: Annotated[
        int | None, typer.Option(help="At most so many calls under way at once.")
    ] = None,
    reuse: Annotated[
        list[Path] | None, typer.Option(help="A run folder whose answers may be reused.")
    ] = None,
    unknown: Annotated[
        str | None, typer.Option(help="skip or retry calls that were sent with unknown outcome.")
    ] = None,
    engine: EngineOption = None,
    workers: WorkersOption = None,
    ray_address: RayAddressOption = None,
    set_: Annotated[
        list[str] | None,
        typer.Option("--set", metavar="KEY=VALUE", help="Any key of the run file, as in TOML."),
    ] = None,
    plan: Annotated[bool, typer.Option("--plan", help="Print the plan, and ask nothing.")] = False,
    yes: Annotated[
        bool, typer.Option("--yes", "-y", help="Do not ask before paid calls are made.")
    ] = False,
    json: Annotated[bool, typer.Option("--json", help="Print JSON, and nothing else.")] = False,
) -> None:
    """Run all three audits to one plan and budget, and leave one report.

    Of several models each gets a folder, and a page that compares them. The same command again
    resumes where it stopped. Exits with 4 if replies are missing.
    """
    from askew.run.common import folder_of
    from askew.runfile import checked
    from askew.runfile.presets import preset as values_of
    from askew.runfile.presets import preset_file

    names = model or [DEFAULT_MODEL]
    _check_apart(names)
    if write is not None and len(names) > 1:
        raise ConfigError("--write takes one model: a run file is of one. Leave the others out.")
    options = {
        "models.target.base_url": base_url,
        "models.target.api_key_env": api_key_env,
        "models.target.concurrency": concurrency,
        "flex.data": [data_set(one) for one in data] if data else None,
        "clinical.data": [data_set(one) for one in cases] if cases else None,
        "boundary.graph": graph,
        "seed": seed,
        "local_only": local_only or None,
        "budget.calls": budget_calls,
        "budget.tokens": budget_tokens,
        "budget.money": budget_money,
        "prices": prices,
        "reuse": reuse or None,
        "unknown": unknown,
        **engine_options(engine, workers, ray_address),
        **dict(assignment(one) for one in set_ or ()),
    }
    given = {key: value for key, value in options.items() if value is not None}
    wanted = None if audits is None else [one.strip() for one in audits.split(",") if one.strip()]
    runs = []
    for name in names:
        models = {"target": {"name": name}, **({"judge": {"name": judge}} if judge else {})}
        if wanted == ["flex"]:
            models.pop("judge", None)  # FLEX asks none
        values = values_of(preset, models) if wanted is None else values_of(preset, models, wanted)
        place = out if out is None or len(names) == 1 else out / folder_of(name)
        runs.append(checked(values, {**given, **({} if place is None else {"out": place})}))
    if write is not None:
        write_preset(write, preset, preset_file(preset, _as_written(runs[0])))
        return
    if plan and len(runs) > 1:
        print_plans(runs, json=json)
        return
    if plan:
        print_plan(runs[0], json=json)
        return
    if len(runs) == 1:
        run_all(runs[0], yes=yes, json=json)
    run_several(runs, out, yes=yes, json=json)


def _check_apart(names: Sequence[str]) -> None:
    """Refuse models that are one, or that would share a folder.

    Raises:
        ConfigError: names the first two.
    """
    from askew.run.common import folder_of

    if twice := [name for name in names if names.count(name) > 1]:
        raise ConfigError(f"--model {twice[0]} is given twice. Name each model once.")
    by_folder: dict[str, str] = {}
    for name in names:
        other = by_folder.setdefault(folder_of(name), name)
        if other != name:
            raise ConfigError(
                f"--model {other} and {name} would have the same folder, {folder_of(name)}. Run "
                "each alone with an --out of its own, and `askew compare` the two folders."
            )


def _as_written(run: RunFile) -> Mapping[str, Any]:
    """The settings that were given, without the defaults."""
    values: Mapping[str, Any] = run.model_dump(mode="json", exclude_unset=True, exclude_none=True)
    return values


def write_preset(file: Path, preset: str, text: str) -> None:
    """Write a run file, and say how it is started.

    Raises:
        ConfigError: there is a file, or it cannot be written.
    """
    if file.exists():
        raise ConfigError(f"{file} is there already. Name another file, or delete it.")
    from askew.durable import write_whole

    write_whole(file, text)
    echo(f"Wrote {shown(file)} (preset {preset}). Run it with: askew run {shown(file)}")


def run_all(settings: RunFile, *, only: Sequence[str] = (), yes: bool, json: bool) -> NoReturn:
    """Plan, ask before money is spent, run every part, show what came of it; ends the command."""
    import asyncio

    prepared = prepared_of(settings, only, quiet=json)
    planned = planned_of(prepared)
    show_plan(console(quiet=json), prepared, planned)
    confirm(sum(one.paid for one in planned), yes=yes)
    done = asyncio.run(_run(prepared))
    show(done, json=json)
    sys.exit(INCOMPLETE if done.incomplete else 0)


def run_several(runs: Sequence[RunFile], out: Path | None, *, yes: bool, json: bool) -> NoReturn:
    """The same for several models: one budget, a folder each, and a page beside them."""
    import asyncio

    from askew.run.audit_models import compare_models, within_budget

    prepared = [prepared_of(run, (), quiet=json) for run in runs]
    planned = [planned_of(one) for one in prepared]
    show_plans(console(quiet=json), prepared, planned)
    confirm(sum(part.paid for its in planned for part in its), yes=yes)
    done = []
    paths = [one.path for one in prepared]
    for number, one in enumerate(prepared):
        echo(f"Model {number + 1} of {len(prepared)}: {one.run.target.name}", stderr=True)
        share = within_budget(one, [path for path in paths if path != one.path])
        done.append(asyncio.run(_run(share)))
        show(done[-1], json=False, quiet=json)
        if done[-1].incomplete and any(part.stopped == "interrupted" for part in done[-1].parts):
            break
    page = compare_models([one.folder for one in done], out)
    if json:
        from askew.runfolder import json_text

        folders = {one.folder.path.name: one.folder.read_estimates() for one in done}
        typer.echo(json_text(folders), nl=False)
    elif page is not None:
        echo(f"Side by side: {shown(page)}")
    unfinished = len(done) < len(prepared) or any(one.incomplete for one in done)
    sys.exit(INCOMPLETE if unfinished else 0)


async def _run(prepared: Prepared) -> Done:
    from askew.run.audit import execute

    names = prepared.wanted

    @contextmanager
    def watching(part: Audit) -> Iterator[Callable[[Any], None]]:
        echo(f"Part {names.index(part) + 1} of {len(names)}: {part}", stderr=True)
        with _reporting(prepared, part) as tell:
            yield tell

    return await execute(prepared, watching)


@contextmanager
def _reporting(prepared: Prepared, part: Audit) -> Iterator[Callable[[Any], None]]:
    """A part's own way of saying how far it has come."""
    if part == "flex":
        from askew.cli.progress import reporting
        from askew.run import flex

        with reporting(flex.plan(prepared.parts["flex"])) as advance:
            yield advance
    elif part == "clinical":
        from askew.cli.progress import reporting_stages

        with reporting_stages() as tell:
            yield lambda stage: tell(stage.name, stage.name, stage.progress)
    else:
        from askew.cli.boundary_running import reporting_topics

        with reporting_topics(prepared.parts["boundary"].tests) as advance_topics:
            yield advance_topics


def show(done: Done, *, json: bool, quiet: bool = False) -> None:
    """What each part found in a sentence, what is missing, and where to look."""
    if json:
        typer.echo(done.folder.estimates.read_text(encoding="utf-8"))
    elif not quiet:
        from askew.cli.figures import show_figures

        show_figures(done.folder, json=False)
    run = shown(done.folder.path)
    for part in done.parts:
        if part.stopped is not None:
            echo(
                f"askew: {part.audit} stopped early ({part.stopped}): {part.message} The figures "
                "are of what was had; the same command goes on from there.",
                stderr=True,
            )
        if part.failed:
            echo(
                f"askew: {part.audit}: {part.failed:,} calls failed and count as non-answers; list "
                f"them with `askew calls {run} --state failed`; the same command asks them again.",
                stderr=True,
            )
        if part.unknown:
            echo(
                f"askew: {part.audit}: the outcome of {part.unknown:,} calls is unknown; list them "
                f"with `askew calls {run} --state unknown`; `--unknown retry` asks them again.",
                stderr=True,
            )
    if done.left:
        echo(f"askew: not started: {', '.join(done.left)}.", stderr=True)
