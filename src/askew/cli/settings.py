"""The options that make a run file, shared by the commands that take one."""

from __future__ import annotations

import tomllib
from collections.abc import Callable
from inspect import Parameter, Signature, signature
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer
from typer.models import ArgumentInfo

from askew.errors import ConfigError

if TYPE_CHECKING:
    from askew.runfile import RunFile

DEFAULT_MODEL = "builtin/smollm2"

EngineOption = Annotated[
    str | None,
    typer.Option(help="local, or ray: calls are sent from the workers of a Ray cluster. [local]"),
]
WorkersOption = Annotated[
    int | None, typer.Option(min=1, help="With --engine ray: how many workers. [2]")
]
RayAddressOption = Annotated[
    str | None,
    typer.Option(
        metavar="HOST:PORT",
        help="With --engine ray: a cluster of which this machine is a node; env takes RAY_ADDRESS. "
        "[one of its own, on this machine]",
    ),
]


def engine_options(
    engine: str | None, workers: int | None, ray_address: str | None
) -> dict[str, object | None]:
    """Where calls are sent from, as settings of a run file."""
    return {"engine.name": engine, "engine.workers": workers, "engine.address": ray_address}


def run_settings(
    file: Annotated[
        Path | None, typer.Argument(help="A run file. Without one, the options say everything.")
    ] = None,
    model: Annotated[
        str | None,
        typer.Option("--model", "-m", help=f"The target, provider/model. [{DEFAULT_MODEL}]"),
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
    items: Annotated[
        int | None, typer.Option(help="At most so many items a source, drawn by the seed.")
    ] = None,
    prompt: Annotated[
        str | None, typer.Option(help="flex (byte for byte as released) or chat.")
    ] = None,
    scoring: Annotated[
        str | None, typer.Option(help="letters, texts (both by likelihood) or reply.")
    ] = None,
    scenarios: Annotated[
        str | None, typer.Option(help="assigned (by the data), random (one a category) or all.")
    ] = None,
    rotations: Annotated[
        str | None, typer.Option(help="one order of the options, or all three.")
    ] = None,
    shots: Annotated[
        int | None, typer.Option(help="Demonstrations before each question, 0 to 5.")
    ] = None,
    shot_kind: Annotated[str | None, typer.Option(help="positive or negative.")] = None,
    wording: Annotated[
        tuple[str, Path] | None,
        typer.Option(
            metavar="published DIR",
            help="Take the objectives' five texts from your clone of FLEX.",
        ),
    ] = None,
    persona_style: Annotated[
        str | None, typer.Option(help="askew (believers), or paper: the nouns as Table 2 has them.")
    ] = None,
    adjective: Annotated[
        str | None, typer.Option(help="What a persona is called. [terrible, as released]")
    ] = None,
    non_answers: Annotated[
        str | None, typer.Option(help="left_out, or wrong as the paper's harness reads them.")
    ] = None,
    lenient: Annotated[
        bool, typer.Option("--lenient", help="Skip rows that cannot be used, and list them.")
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
        "models.target.base_url": base_url,
        "models.target.api_key_env": api_key_env,
        "models.target.concurrency": concurrency,
        "flex.data": [data_set(one) for one in data] if data else None,
        "flex.items": items,
        "flex.prompt": prompt,
        "flex.scoring": scoring,
        "flex.scenarios": scenarios,
        "flex.rotations": rotations,
        "flex.shots": shots,
        "flex.shot_kind": shot_kind,
        "flex.wording.published": published(wording),
        "flex.wording.persona_style": persona_style,
        "flex.wording.adjective": adjective,
        "flex.non_answers": non_answers,
        "flex.lenient": lenient or None,
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
        return read_run_file(file, given)
    return checked({"models": {"target": {"name": DEFAULT_MODEL}}}, given)


def takes_settings(command: Callable[..., None]) -> Callable[..., None]:
    """Give `command(settings, …)` the options of `run_settings` before its own.

    What it takes by place of its own stands before the run file, which may be left out.
    """
    return with_options_of(run_settings, command)


def with_options_of(
    gather: Callable[..., RunFile], command: Callable[..., None]
) -> Callable[..., None]:
    """Give `command(settings, …)` the options of `gather`, which makes its settings of them."""
    # RunFile is named in annotations alone: importing it here would make `askew --help` slow.
    named = {"RunFile": object}
    shared = list(signature(gather, locals=named, eval_str=True).parameters.values())
    own = list(signature(command, locals=named, eval_str=True).parameters.values())[1:]

    def with_settings(**values: Any) -> None:
        settings = gather(**{option.name: values.pop(option.name) for option in shared})
        command(settings, **values)

    # typer reads both: the hints for the types, the signature for the defaults.
    by_place = [one for one in own if _stands_by_place(one)]
    others = [one for one in own if not _stands_by_place(one)]
    ordered = (*by_place, *shared, *others)
    options = [one.replace(kind=Parameter.KEYWORD_ONLY) for one in ordered]
    with_settings.__annotations__ = {one.name: one.annotation for one in options}
    with_settings.__signature__ = Signature(options)  # type: ignore[attr-defined]  # PEP 362
    with_settings.__doc__ = command.__doc__
    return with_settings


def _stands_by_place(parameter: Parameter) -> bool:
    metadata = getattr(parameter.annotation, "__metadata__", ())
    return any(isinstance(one, ArgumentInfo) for one in metadata)


def assignment(text: str) -> tuple[str, object]:
    """`KEY=VALUE`, the value as in TOML; a bare word is taken as text.

    >>> assignment("flex.replicates=3"), assignment("flex.wording.adjective=rude")
    (('flex.replicates', 3), ('flex.wording.adjective', 'rude'))
    """
    key, equals, value = text.partition("=")
    if not equals or not key.strip():
        raise ConfigError(f"--set {text}: expected KEY=VALUE, e.g. --set flex.replicates=3.")
    try:
        return key.strip(), tomllib.loads(f"value = {value}")["value"]
    except tomllib.TOMLDecodeError:
        return key.strip(), value.strip()


def data_set(text: str) -> dict[str, object]:
    """`NAME` or `NAME=PATH`, as a run file has it."""
    name, _, path = text.partition("=")
    return {"name": name, "path": path} if path else {"name": name}


def published(wording: tuple[str, Path] | None) -> Path | None:
    """The folder of `--wording published DIR`."""
    if wording is None:
        return None
    word, folder = wording
    if word != "published":
        raise ConfigError(f"--wording {word}: expected `--wording published DIR`.")
    return folder
