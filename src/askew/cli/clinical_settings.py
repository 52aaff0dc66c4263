"""The options that make a run file of the clinical audit."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from askew.cli.settings import (
    DEFAULT_MODEL,
    EngineOption,
    RayAddressOption,
    WorkersOption,
    assignment,
    data_set,
    engine_options,
    with_options_of,
)
from askew.errors import ConfigError

if TYPE_CHECKING:
    from askew.runfile import RunFile


def clinical_settings(
    file: Annotated[
        Path | None, typer.Argument(help="A run file. Without one, the options say everything.")
    ] = None,
    preset: Annotated[
        str | None, typer.Option(help="paper: its sizes, its back ends, its judges.")
    ] = None,
    model: Annotated[
        str | None,
        typer.Option("--model", "-m", help=f"The target, provider/model. [{DEFAULT_MODEL}]"),
    ] = None,
    judge: Annotated[
        list[str] | None, typer.Option(help="A judge, provider/model; may be given again. [none]")
    ] = None,
    base_url: Annotated[
        str | None, typer.Option(help="Address of an OpenAI-compatible endpoint.")
    ] = None,
    api_key_env: Annotated[
        str | None, typer.Option(help="Name of the variable that holds the key.")
    ] = None,
    data: Annotated[
        list[str] | None,
        typer.Option("--data", "-d", help="NAME or NAME=PATH; may be given again. [starter]"),
    ] = None,
    vignettes: Annotated[
        int | None, typer.Option(help="At most so many a source, drawn by the seed.")
    ] = None,
    attributes: Annotated[
        str | None,
        typer.Option(help="What is changed, with commas. [age,gender,place,race]"),
    ] = None,
    arms: Annotated[
        str | None,
        typer.Option(help="original,neutral,each,pairs,all, with commas. [original,neutral,each]"),
    ] = None,
    answers: Annotated[
        str | None,
        typer.Option(help="direct,single,chained, with commas; the last two are multi-hop."),
    ] = None,
    replicates: Annotated[
        int | None, typer.Option(help="Answers to one prompt; 1 has no noise floor. [5]")
    ] = None,
    free_text: Annotated[
        bool, typer.Option("--free-text", help="Ask for prose, not for fields in JSON.")
    ] = False,
    backend: Annotated[
        str | None, typer.Option(help="edit, template or model: who makes the twins. [edit]")
    ] = None,
    lenient: Annotated[
        bool, typer.Option("--lenient", help="Skip records that cannot be used, and list them.")
    ] = False,
    seed: Annotated[int | None, typer.Option(help="The one seed. [0]")] = None,
    out: Annotated[
        Path | None, typer.Option("--out", "-o", help="The run folder. [runs/MODEL-HASH]")
    ] = None,
    local_only: Annotated[
        bool, typer.Option("--local-only", help="Refuse models that are not on this machine.")
    ] = False,
    budget_calls: Annotated[int | None, typer.Option(help="At most so many calls.")] = None,
    budget_tokens: Annotated[int | None, typer.Option(help="At most so many tokens.")] = None,
    budget_money: Annotated[
        float | None, typer.Option(help="At most so much money; needs --prices.")
    ] = None,
    prices: Annotated[Path | None, typer.Option(help="Your dated prices.toml.")] = None,
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
        typer.Option(
            "--set", metavar="KEY=VALUE", help="Any other key of the run file, as in TOML."
        ),
    ] = None,
) -> RunFile:
    """The run file that a file and options add up to; options go before the file.

    Raises:
        ConfigError: names the key or option that is wrong.
    """
    from askew.runfile import checked, read_run_file

    roles = ("judge", *(f"judge_{number}" for number in range(2, len(judge or ()) + 1)))
    options: dict[str, object | None] = {
        "models.target.name": model,
        "models.target.base_url": base_url,
        "models.target.api_key_env": api_key_env,
        **{f"models.{role}.name": name for role, name in zip(roles, judge or (), strict=False)},
        "clinical.preset": preset,
        "clinical.data": [data_set(one) for one in data] if data else None,
        "clinical.vignettes": vignettes,
        "clinical.attributes": _listed(attributes),
        "clinical.arms": _listed(arms),
        "clinical.answers": _listed(answers),
        "clinical.replicates": replicates,
        "clinical.structured": False if free_text else None,
        "clinical.backend": backend,
        "clinical.lenient": lenient or None,
        "seed": seed,
        "out": out,
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
    if file is not None:
        settings = read_run_file(file, given)
        if settings.clinical is None:
            raise ConfigError(
                f"{file} has no [clinical] table. Add one, or run the file with `askew run`."
            )
        return settings
    return checked({"models": {"target": {"name": DEFAULT_MODEL}}, "clinical": {}}, given)


def takes_clinical_settings(command: Callable[..., None]) -> Callable[..., None]:
    """Give `command(settings, …)` the options of `clinical_settings` before its own."""
    return with_options_of(clinical_settings, command)


def _listed(text: str | None) -> list[str] | None:
    return None if text is None else [part.strip() for part in text.split(",") if part.strip()]
