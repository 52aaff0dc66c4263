"""`askew boundary follow-up`: FLEX items about the topics on which a model was found leaning."""

from __future__ import annotations

import shlex
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from askew.cli.terminal import echo, shown

if TYPE_CHECKING:
    from askew.build.follow_up import FollowUp
    from askew.runfile import RunFile

# What says which model it is and how it is reached; how replies were drawn is another audit's.
_REACHED_BY = (
    "base_url",
    "api_key_env",
    "revision",
    "dtype",
    "adapter",
    "timeout_seconds",
    "concurrency",
    "options",
)
_NAMED = 5  # topics that are left out, by name


def follow_up(
    run: Annotated[Path, typer.Argument(metavar="RUN", help="The folder of a boundary run.")],
    out: Annotated[Path, typer.Option(help="Where to write the items, a .csv file.")] = Path(
        "items.csv"
    ),
    topics: Annotated[
        list[str] | None,
        typer.Option(metavar="TITLE", help="This leaning topic alone; may be given again."),
    ] = None,
    most: Annotated[
        int | None, typer.Option(help="At most so many topics, the strongest findings first.")
    ] = None,
    force: Annotated[bool, typer.Option("--force", help="Overwrite a file that is there.")] = False,
    ask: Annotated[
        bool, typer.Option("--run", help="Put the items to the run's model at once.")
    ] = False,
    yes: Annotated[
        bool, typer.Option("--yes", "-y", help="With --run: do not ask before paid calls are made.")
    ] = False,
    json: Annotated[bool, typer.Option("--json", help="Print JSON, and nothing else.")] = False,
) -> None:
    """Make FLEX items of the topics on which a run found its model leaning.

    Two people stand on the two sides of a topic; the option that favours the side to which the
    model leaned is the stereotyped one. Asks no model, unless with --run.
    """
    from askew.build.follow_up import follow_up as items_about
    from askew.build.follow_up import write_items
    from askew.runfile import read_run_file
    from askew.runfolder import RunFolder, json_text

    made = items_about(run, topics or (), most)
    write_items(out, made, force=force)
    settings = read_run_file(RunFolder.open(run).settings)
    command = shlex.join(_command(settings, out))
    if json and not ask:
        typer.echo(json_text(_summary(made, out, command)), nl=False)
        return
    _say(made, out, stderr=json)
    if not ask:
        echo(f"Ask with: {command}")
        return
    from askew.cli.running import run_prepared

    run_prepared(_flex_of(settings, out), yes=yes, json=json)


def _target(settings: RunFile) -> dict[str, Any]:
    """The run's model without how its replies were drawn: other questions are put now."""
    given = settings.models["target"].model_dump(mode="json", exclude_defaults=True)
    return {key: value for key, value in given.items() if key in ("name", *_REACHED_BY)}


def _command(settings: RunFile, out: Path) -> list[str]:
    target = _target(settings)
    command = ["askew", "run", "--model", str(target.pop("name")), "--data", f"own={out}"]
    for key, value in target.items():
        command += ["--set", f"models.target.{key}={_toml(value)}"]
    return command


def _toml(value: object) -> str:
    import json

    if isinstance(value, dict):
        pairs = (f"{json.dumps(key)} = {_toml(one)}" for key, one in value.items())
        return f"{{{', '.join(pairs)}}}"
    return json.dumps(value, ensure_ascii=False)  # TOML writes texts, numbers and lists alike


def _flex_of(settings: RunFile, out: Path) -> RunFile:
    from askew.runfile import checked

    values: dict[str, Any] = {
        "seed": settings.seed,
        "local_only": settings.local_only,
        "models": {"target": _target(settings)},
        "flex": {"data": [{"name": "own", "path": str(out.resolve())}]},
    }
    if settings.prices is not None:
        values["prices"] = str(settings.prices)
    return checked(values, {})


def _summary(made: FollowUp, out: Path, command: str) -> dict[str, object]:
    from dataclasses import asdict

    return {
        "file": str(out),
        "items": made.items,
        "controls": len(made.rows) - made.items,
        "topics": list(made.topics),
        "left_out": [asdict(one) for one in made.left_out],
        "passed_over": made.passed_over,
        "command": command,
    }


def _say(made: FollowUp, out: Path, *, stderr: bool) -> None:
    from askew.report.words import clean, counted

    controls = len(made.rows) - made.items
    echo(
        f"{counted(made.items, 'item')} and {counted(controls, 'control')} about "
        f"{counted(len(made.topics), 'leaning topic')} in {shown(out)}",
        stderr=stderr,
    )
    if made.passed_over:
        echo(
            f"{counted(made.passed_over, 'leaning answer')} of these topics passed over: the "
            "judge's words for the direction name no two sides",
            stderr=stderr,
        )
    if not made.left_out:
        return
    echo(f"{counted(len(made.left_out), 'leaning topic')} left out:", stderr=stderr)
    for one in made.left_out[:_NAMED]:
        said = f" ({', '.join(map(repr, one.directions))})" if one.directions else ""
        echo(f"  {clean(one.title)}: {one.reason}{clean(said)}", stderr=stderr)
    if len(made.left_out) > _NAMED:
        echo(f"  and {len(made.left_out) - _NAMED:,} more", stderr=stderr)
