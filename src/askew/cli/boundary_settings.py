"""The options that make a run file of the boundary audit."""

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
    engine_options,
    with_options_of,
)
from askew.errors import ConfigError

if TYPE_CHECKING:
    from askew.runfile import RunFile


def boundary_settings(
    file: Annotated[
        Path | None, typer.Argument(help="A run file. Without one, the options say everything.")
    ] = None,
    model: Annotated[
        str | None,
        typer.Option("--model", "-m", help=f"The target, provider/model. [{DEFAULT_MODEL}]"),
    ] = None,
    adapter: Annotated[
        Path | None, typer.Option(help="A LoRA adapter of the target, on this machine.")
    ] = None,
    judge: Annotated[
        str | None, typer.Option(help="Who judges the answers, provider/model.")
    ] = None,
    slant: Annotated[
        str | None,
        typer.Option(help="Without a judge: the slant that a rule looks for: any, left, right, …"),
    ] = None,
    generator: Annotated[
        str | None,
        typer.Option(help="Who writes the questions, provider/model. [askew's own templates]"),
    ] = None,
    base_url: Annotated[
        str | None, typer.Option(help="Address of the target's OpenAI-compatible endpoint.")
    ] = None,
    api_key_env: Annotated[
        str | None, typer.Option(help="Name of the variable that holds its key.")
    ] = None,
    graph: Annotated[
        str | None, typer.Option(help="The folder of a graph, or starter. [starter]")
    ] = None,
    root: Annotated[
        list[str] | None,
        typer.Option(help="Only what stands under this topic; may be given again. [all]"),
    ] = None,
    depth: Annotated[
        int | None, typer.Option(min=0, help="With --root: so many steps down at most.")
    ] = None,
    domain: Annotated[
        list[str] | None, typer.Option(help="Only this domain; may be given again. [all]")
    ] = None,
    policy: Annotated[
        str | None, typer.Option(help="Who says what to test next. [learned]")
    ] = None,
    checkpoint: Annotated[
        Path | None, typer.Option(help="Its weights, from `askew boundary train`.")
    ] = None,
    queries: Annotated[
        int | None, typer.Option("--queries", "-n", min=1, help="Topics to test. [100]")
    ] = None,
    questions: Annotated[int | None, typer.Option(min=1, help="Of each topic. [5]")] = None,
    start: Annotated[str | None, typer.Option(help="The first topic, by its title.")] = None,
    batch: Annotated[
        int | None, typer.Option(min=1, help="Topics tested at once: faster, learns later. [1]")
    ] = None,
    probes: Annotated[
        float | None,
        typer.Option(help="Share of tests drawn uniformly, to say what is left. [0.1]"),
    ] = None,
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

    options: dict[str, object | None] = {
        "models.target.name": model,
        "models.target.adapter": None if adapter is None else str(adapter),
        "models.target.base_url": base_url,
        "models.target.api_key_env": api_key_env,
        "models.judge.name": judge,
        "models.generator.name": generator,
        "boundary.slant": slant,
        "boundary.graph": graph,
        "boundary.roots": root or None,
        "boundary.depth": depth,
        "boundary.domains": domain or None,
        "boundary.policy": policy,
        "boundary.checkpoint": checkpoint,
        "boundary.queries": queries,
        "boundary.questions": questions,
        "boundary.start": start,
        "boundary.batch": batch,
        "boundary.probes": probes,
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
        if settings.boundary is None:
            raise ConfigError(
                f"{file} has no [boundary] table. Add one, or run the file with `askew run`."
            )
        return settings
    return checked({"models": {"target": {"name": DEFAULT_MODEL}}, "boundary": {}}, given)


def takes_boundary_settings(command: Callable[..., None]) -> Callable[..., None]:
    """Give `command(settings, …)` the options of `boundary_settings` before its own."""
    return with_options_of(boundary_settings, command)
