"""`askew boundary inject`: models whose leanings are known, priced, made and checked by people."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from askew.cli import INCOMPLETE
from askew.cli.paying import confirm, money_line
from askew.cli.settings import DEFAULT_MODEL
from askew.cli.terminal import console, echo, shown
from askew.errors import ConfigError
from askew.report.words import clean

if TYPE_CHECKING:
    from askew.build.inject import Injection, Watch
    from askew.build.inject_check import Checked
    from askew.build.inject_plan import InjectPlan
    from askew.build.inject_settings import InjectConfig

app = typer.Typer(
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    help="Models whose leanings are known: make, check.",
)


class SpreadOption(StrEnum):
    """How injected topics lie on the graph."""

    CLUSTERED = "clustered"
    SCATTERED = "scattered"


Models = Annotated[
    list[str] | None,
    typer.Option(
        "--model",
        "--models",
        "-m",
        help=f"A base model, builtin/… or local/…; may be given again. [{DEFAULT_MODEL}]",
    ),
]
GraphOption = Annotated[str, typer.Option(help="The folder of a graph, or starter.")]
Domain = Annotated[
    list[str] | None,
    typer.Option(help="Where topics are drawn; may be given again. [anywhere]"),
]
Topics = Annotated[int, typer.Option(min=1, help="To inject, a domain.")]
SlantOption = Annotated[
    list[str] | None,
    typer.Option(
        help="left, right, authoritarian, liberal, or a view in words; a model each. [left]"
    ),
]
Pairs = Annotated[int, typer.Option(min=1, help="Question-answer pairs a topic.")]
Neutral = Annotated[
    float, typer.Option(min=0, help="Topics that are kept neutral, for each injected one.")
]
Spread = Annotated[SpreadOption, typer.Option(help="In connected groups, or one by one.")]
Generator = Annotated[
    str | None, typer.Option(help="Who writes the pairs, provider/model. [templates]")
]
BaseUrl = Annotated[
    str | None, typer.Option(help="Address of the generator's OpenAI-compatible endpoint.")
]
KeyEnv = Annotated[
    str | None, typer.Option(help="Name of the variable that holds the generator's key.")
]
Seed = Annotated[int, typer.Option(min=0, help="Of the first model; the next ones count up.")]
Set = Annotated[
    list[str] | None,
    typer.Option(
        "--set",
        metavar="KEY=VALUE",
        help="Another setting: group, neutral_pairs, check, or lora.rank, lora.alpha, lora.layers, "
        "lora.learning_rate, lora.epochs, lora.batch, lora.max_tokens.",
    ),
]
PricesOption = Annotated[Path | None, typer.Option(help="Your dated prices.toml.")]
Json = Annotated[bool, typer.Option("--json", help="Print JSON, and nothing else.")]


@app.command()
def run(
    model: Models = None,
    graph: GraphOption = "starter",
    domain: Domain = None,
    topics: Topics = 12,
    slant: SlantOption = None,
    pairs: Pairs = 5,
    neutral: Neutral = 11.0,
    spread: Spread = SpreadOption.CLUSTERED,
    generator: Generator = None,
    base_url: BaseUrl = None,
    api_key_env: KeyEnv = None,
    seed: Seed = 0,
    set_: Set = None,
    prices: PricesOption = None,
    budget_calls: Annotated[
        int | None, typer.Option(min=1, help="At most so many calls of the generator.")
    ] = None,
    out: Annotated[
        Path, typer.Option("--out", "-o", help="The release folder that is written.")
    ] = Path("injected"),
    yes: Annotated[bool, typer.Option("--yes", "-y", help="Do not ask before paying.")] = False,
    json: Json = False,
) -> None:
    """Draw topics, make their pairs, fine-tune the models, write the release folder.

    The same command again goes on where it stopped. Exits with 4 if replies are missing.
    """
    import asyncio
    import sys

    from askew.build.inject import inject
    from askew.build.inject_plan import plan_injection
    from askew.models.budget import Budget, Limits
    from askew.models.prices import Prices
    from askew.models.registry import load_model
    from askew.models.stopping import StoppedEarly
    from askew.run.boundary_graph import load_graph

    config = _config(
        model, domain, topics, slant, pairs, neutral, spread, generator, base_url, api_key_env,
        seed, set_,
    )  # fmt: skip
    topic_graph = load_graph(graph)
    page = console(quiet=json)
    if config.generator is not None:
        planned = plan_injection(topic_graph, config, prices=Prices.load(prices))
        _print_plan(page, planned, paid=load_model(config.generator).paid)
        paid = load_model(config.generator).paid
        confirm(planned.generator_calls if paid else 0, yes=yes)
    limits = Limits(run=Budget(calls=budget_calls))
    try:
        with _telling() as watch:
            done = asyncio.run(
                inject(topic_graph, config, out, watch, prices=prices, limits=limits)
            )
    except StoppedEarly as stopped:
        echo(f"askew: {stopped.message} {stopped.missing:,} replies are missing.", stderr=True)
        sys.exit(INCOMPLETE)
    if json:
        typer.echo((out / "inject.json").read_text(encoding="utf-8"))
    else:
        _print_made(page, done, out)


@app.command()
def plan(
    model: Models = None,
    graph: GraphOption = "starter",
    domain: Domain = None,
    topics: Topics = 12,
    slant: SlantOption = None,
    pairs: Pairs = 5,
    neutral: Neutral = 11.0,
    spread: Spread = SpreadOption.CLUSTERED,
    generator: Generator = None,
    base_url: BaseUrl = None,
    api_key_env: KeyEnv = None,
    seed: Seed = 0,
    set_: Set = None,
    prices: PricesOption = None,
    paper: Annotated[
        bool,
        typer.Option(
            "--paper", help="At the paper's size: 22,608 topics, 113,040 pairs, 6 models."
        ),
    ] = False,
    rate: Annotated[
        float | None,
        typer.Option(help="Tokens a second that training reads. [as measured for builtin/smollm2]"),
    ] = None,
    json: Json = False,
) -> None:
    """What it would ask, train and cost; nothing is asked."""
    from dataclasses import asdict

    from askew.build.inject_plan import plan_injection, plan_paper
    from askew.models.prices import Prices
    from askew.models.registry import load_model
    from askew.run.boundary_graph import load_graph
    from askew.runfolder import json_text

    config = _config(
        model, domain, topics, slant, pairs, neutral, spread, generator, base_url, api_key_env,
        seed, set_,
    )  # fmt: skip
    planned = (plan_paper if paper else plan_injection)(
        load_graph(graph), config, prices=Prices.load(prices), rate=rate
    )
    if json:
        typer.echo(json_text(asdict(planned)))
        return
    paid = config.generator is not None and load_model(config.generator).paid
    _print_plan(console(), planned, paid=paid)


@app.command()
def check(
    folder: Annotated[Path, typer.Argument(help="The release folder.")],
    sheets: Annotated[
        list[Path] | None,
        typer.Argument(
            metavar="SHEET", help="What raters filled in. [check/pairs.csv of the folder]"
        ),
    ] = None,
    json: Json = False,
) -> None:
    """Read what people say of the sample: the share of pairs that they flag.

    The sample is FOLDER/check/pairs.csv (or pairs.jsonl): a copy goes to each rater, who writes yes
    or no under `flagged`. Keep FOLDER/check/key.json to yourself.
    """
    from askew.build.inject_check import FOLDER, KEY, SHEET, as_json, read_check
    from askew.runfolder import json_text

    given = sheets or [folder / FOLDER / SHEET]
    checked = read_check(folder / FOLDER / KEY, given)
    if json:
        typer.echo(json_text(as_json(checked)))
    else:
        _print_checked(checked)


def _config(
    models: list[str] | None,
    domains: list[str] | None,
    topics: int,
    slants: list[str] | None,
    pairs: int,
    neutral: float,
    spread: SpreadOption,
    generator: str | None,
    base_url: str | None,
    api_key_env: str | None,
    seed: int,
    others: list[str] | None,
) -> InjectConfig:
    """The settings that the options add up to."""
    from askew.build.inject_settings import InjectConfig, injected_models
    from askew.models.base import ModelSpec
    from askew.models.lora import LoraConfig

    if generator is None and (base_url or api_key_env):
        raise ConfigError("--base-url and --api-key-env are the generator's. Name a --generator.")
    lora, own = _others(others or [])
    writer = (
        None
        if generator is None
        else ModelSpec(name=generator, base_url=base_url, api_key_env=api_key_env)
    )
    bases = [ModelSpec(name=one) for one in dict.fromkeys(models or [DEFAULT_MODEL])]
    try:
        return InjectConfig(
            models=injected_models(bases, slants or ["left"], domains or [], seed),
            topics=topics,
            pairs=pairs,
            neutral=neutral,
            spread=spread.value,
            generator=writer,
            lora=LoraConfig(**lora),
            **own,
        )
    except TypeError as trouble:
        raise ConfigError(f"--set: a value is of the wrong kind: {trouble}.") from trouble


def _others(given: list[str]) -> tuple[dict[str, Any], dict[str, Any]]:
    """What `--set` says: of the training, and of the injection."""
    from dataclasses import fields

    from askew.cli.settings import assignment
    from askew.errors import unknown_name
    from askew.models.lora import LoraConfig

    known = {f"lora.{one.name}" for one in fields(LoraConfig)} - {"lora.seed"}
    known |= {"group", "neutral_pairs", "check"}
    lora: dict[str, Any] = {}
    own: dict[str, Any] = {}
    for text in given:
        key, value = assignment(text)
        if key not in known:
            raise unknown_name("setting of an injection", key, sorted(known))
        wants_whole = key != "lora.learning_rate"
        if isinstance(value, bool) or not isinstance(value, int if wants_whole else int | float):
            kind = "a whole number" if wants_whole else "a number"
            raise ConfigError(f"--set {key}: the value is {value!r}, expected {kind}.")
        if key.startswith("lora."):
            lora[key.removeprefix("lora.")] = value
        else:
            own[key] = value
    return lora, own


@contextmanager
def _telling() -> Iterator[Watch]:
    """Lines about calls and steps on stderr, not too often."""
    import time

    from askew.build.inject import Watch
    from askew.report.progress import SECONDS_BETWEEN_LINES, in_words

    following = time.monotonic()

    def now() -> bool:
        nonlocal following
        if time.monotonic() < following:
            return False
        following = time.monotonic() + SECONDS_BETWEEN_LINES
        return True

    def calls(progress: Any) -> None:
        if now():
            echo(f"pairs: {progress.done:,} of {progress.total:,} calls", stderr=True)

    def step(name: str, at: Any) -> None:
        if now() or at.step == at.steps:
            left = at.seconds / at.tokens * at.tokens_left if at.tokens else 0.0
            echo(
                f"training {name}: step {at.step:,} of {at.steps:,}, loss {at.loss:.3f}, "
                f"about {in_words(left)} left",
                stderr=True,
            )

    yield Watch(calls, step)


def _print_plan(page: Any, planned: InjectPlan, *, paid: bool) -> None:
    from rich.table import Table

    from askew.report.progress import in_words

    grid = Table.grid(padding=(0, 2))
    grid.add_column(style="bold")
    grid.add_column()
    grid.add_row("models", f"{planned.models:,}")
    grid.add_row(
        "topics", f"{planned.injected:,} injected, {planned.neutral:,} trained to stay neutral"
    )
    grid.add_row("pairs", f"{planned.pairs:,} slanted, {planned.neutral_pairs:,} neutral")
    if planned.generator_calls:
        grid.add_row(
            "generator",
            f"{planned.generator_calls:,} calls; tokens about {planned.prompt_tokens:,} in, "
            f"at most {planned.completion_tokens_at_most:,} out",
        )
        grid.add_row("money", money_line(planned.money_at_most, paid=paid))
    else:
        grid.add_row("generator", "none: templates")
    grid.add_row("training", f"{planned.steps:,} steps, about {planned.training_tokens:,} tokens")
    if planned.training_seconds is not None and planned.rate is not None:
        grid.add_row(
            "time",
            f"about {in_words(planned.training_seconds)} of one CPU core, at {planned.rate:,.0f} "
            "tokens a second",
        )
    else:
        grid.add_row("time", "not known for this model: give --rate, tokens a second")
    page.print(grid)


def _print_made(page: Any, done: Injection, out: Path) -> None:
    for one in done.made:
        adapter = one.adapter
        assert adapter is not None
        page.print(
            clean(
                f"{one.model.name}: {len(one.sample.injected)} topics injected "
                f"({one.model.slant.label}), {len(one.sample.neutral)} kept neutral, "
                f"{len(one.pairs)} pairs; loss {adapter.first_loss:.2f} -> {adapter.last_loss:.2f}"
            ),
            soft_wrap=True,
        )
        if one.filled_up:
            page.print(
                f"caution: {one.filled_up:,} pairs are templates, as the generator's could not be "
                "read",
                soft_wrap=True,
            )
        if adapter.cut:
            page.print(
                f"caution: {adapter.cut:,} answers were cut at lora.max_tokens", soft_wrap=True
            )
    page.print(f"Release: {shown(out)}", soft_wrap=True)


def _print_checked(checked: Checked) -> None:
    from askew.report.words import percent, share_with_interval

    page = console()
    for name, figure in (
        ("flagged", checked.flagged),
        ("of the slanted pairs", checked.slanted),
        ("of the neutral pairs", checked.neutral),
    ):
        words = (
            f"{share_with_interval(figure)}, {round(figure.value * figure.n)} of {figure.n:,}"
            if figure.defined
            else figure.note
        )
        page.print(f"{name}: {words}", soft_wrap=True)
    page.print("the paper: 11 of 300 pairs flagged")
    page.print(
        f"{checked.raters:,} raters; {checked.unanswered:,} pairs without a verdict, "
        f"{checked.undecided:,} undecided"
    )
    if checked.raters > 1 and checked.agreement == checked.agreement:
        page.print(f"two raters agree on {percent(checked.agreement)} of the pairs they share")
