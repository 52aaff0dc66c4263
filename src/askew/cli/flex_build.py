"""`askew flex build`."""

from __future__ import annotations

import sys
from collections.abc import Mapping
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from askew.cli import INCOMPLETE
from askew.cli.progress import reporting_stages
from askew.cli.settings import DEFAULT_MODEL, assignment, data_set, published
from askew.cli.terminal import console, echo, shown
from askew.errors import ConfigError
from askew.report.words import clean, counted

if TYPE_CHECKING:
    from rich.console import Console

    from askew.build.asking import Step
    from askew.build.flex import Built, Prepared
    from askew.build.plan import BuildPlan
    from askew.build.settings import BuildFile

RULES = "rules"
_REPLIES = ("reply", "replies")


def build(
    file: Annotated[
        Path | None, typer.Argument(help="A build file. Without one, the options say everything.")
    ] = None,
    model: Annotated[
        str | None,
        typer.Option(
            "--model", "-m", help=f"The model to select on, provider/model. [{DEFAULT_MODEL}]"
        ),
    ] = None,
    base_url: Annotated[
        str | None, typer.Option(help="Address of the model's OpenAI-compatible endpoint.")
    ] = None,
    api_key_env: Annotated[
        str | None, typer.Option(help="Name of the variable that holds its key.")
    ] = None,
    attacker: Annotated[
        str | None,
        typer.Option(help="Who makes the text attacks: rules, or provider/model. [rules]"),
    ] = None,
    judge: Annotated[
        str | None, typer.Option(help="A model that says whether they keep their meaning.")
    ] = None,
    embedder: Annotated[
        str | None, typer.Option(help="An embedder that says so: builtin/minilm or local/FOLDER.")
    ] = None,
    sources: Annotated[
        list[str] | None,
        typer.Option("--sources", "-s", help="NAME or NAME=PATH; may be given again. [starter]"),
    ] = None,
    items: Annotated[
        int | None, typer.Option(help="At most so many items a source, drawn by the seed.")
    ] = None,
    replies: Annotated[
        int | None, typer.Option(help="Replies to each scenario. [5; 6 with --rotations all]")
    ] = None,
    biased_from: Annotated[
        int | None,
        typer.Option(help="Biased replies that keep a scenario. [more than half; released: 4]"),
    ] = None,
    source_replies: Annotated[
        int | None, typer.Option(help="Replies without an attack, all to be neutral. [1]")
    ] = None,
    estimate_replies: Annotated[
        int | None, typer.Option(help="Fresh replies for the figures. [as many as --replies]")
    ] = None,
    rotations: Annotated[
        str | None, typer.Option(help="one order of the options, or all three in turn.")
    ] = None,
    scoring: Annotated[
        str | None, typer.Option(help="letters, texts (both by likelihood) or reply.")
    ] = None,
    prompt: Annotated[
        str | None, typer.Option(help="flex (byte for byte as released) or chat.")
    ] = None,
    exhaustive: Annotated[
        bool, typer.Option("--exhaustive", help="Ask also what cannot change the choice.")
    ] = False,
    wording: Annotated[
        tuple[str, Path] | None,
        typer.Option(
            metavar="published DIR",
            help="Take the objectives' five texts from your clone of FLEX.",
        ),
    ] = None,
    lenient: Annotated[
        bool, typer.Option("--lenient", help="Skip rows that cannot be used, and list them.")
    ] = False,
    seed: Annotated[int | None, typer.Option(help="The one seed. [0]")] = None,
    out: Annotated[
        Path | None, typer.Option("--out", "-o", help="The folder. [builds/MODEL-HASH]")
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
        list[Path] | None, typer.Option(help="A run or build whose answers may be reused.")
    ] = None,
    unknown: Annotated[
        str | None, typer.Option(help="skip or retry calls that were sent with unknown outcome.")
    ] = None,
    set_: Annotated[
        list[str] | None,
        typer.Option(
            "--set", metavar="KEY=VALUE", help="Any other key of the build file, as in TOML."
        ),
    ] = None,
    plan: Annotated[bool, typer.Option("--plan", help="Say what it would take, and stop.")] = False,
    yes: Annotated[
        bool, typer.Option("--yes", "-y", help="Do not ask before paid calls are made.")
    ] = False,
    json: Annotated[bool, typer.Option("--json", help="Print JSON, and nothing else.")] = False,
) -> None:
    """Build a FLEX of your own: plan, select on a model, estimate afresh, write.

    The same command again goes on where it stopped. Exits with 4 if replies are missing.
    """
    import asyncio

    from askew.build.flex import prepare
    from askew.build.plan import plan as plan_of

    options = {
        "models.target.name": model,
        "models.target.base_url": base_url,
        "models.target.api_key_env": api_key_env,
        "models.target.concurrency": concurrency,
        "models.attacker.name": None if attacker == RULES else attacker,
        "models.judge.name": judge,
        "build.embedder": embedder,
        "build.sources": [data_set(one) for one in sources] if sources else None,
        "build.items": items,
        "build.replies": replies,
        "build.biased_from": biased_from,
        "build.source_replies": source_replies,
        "build.estimate_replies": estimate_replies,
        "build.rotations": rotations,
        "build.scoring": scoring,
        "build.prompt": prompt,
        "build.exhaustive": exhaustive or None,
        "build.wording.published": published(wording),
        "build.lenient": lenient or None,
        "seed": seed,
        "out": out,
        "local_only": local_only or None,
        "budget.calls": budget_calls,
        "budget.tokens": budget_tokens,
        "budget.money": budget_money,
        "prices": prices,
        "reuse": reuse or None,
        "unknown": unknown,
        **dict(assignment(one) for one in set_ or ()),
    }
    settings = _settings(file, {key: value for key, value in options.items() if value is not None})
    if attacker == RULES:  # also where the file names a model
        models = {role: table for role, table in settings.models.items() if role != "attacker"}
        settings = settings.model_copy(update={"models": models})
    prepared = prepare(settings)
    planned = plan_of(prepared)
    if plan:
        _print_whole_plan(prepared, planned, json=json)
        return
    page = console(quiet=json)
    _print_plan(page, prepared, planned)
    _confirm(prepared, planned, yes=yes)
    sys.exit(asyncio.run(_build(page, prepared, json=json)))


def _settings(file: Path | None, given: Mapping[str, object]) -> BuildFile:
    from askew.build.settings import checked, read_build_file

    if file is not None:
        return read_build_file(file, given)
    return checked({"models": {"target": {"name": DEFAULT_MODEL}}}, given)


async def _build(page: Console, prepared: Prepared, *, json: bool) -> int:
    from askew.build.flex import execute

    with reporting_stages() as tell:
        built = await execute(prepared, lambda step: tell(step.stage, _stage(step), step.progress))
    if json:
        typer.echo((built.path / "build.json").read_text(encoding="utf-8"))
    else:
        _print_summary(page, built)
    _say_what_is_missing(prepared, built)
    return INCOMPLETE if built.missing else 0


def _stage(step: Step) -> str:
    return f"{step.stage}, wave {step.wave}" if step.stage == "selection" else step.stage


def _print_plan(page: Console, prepared: Prepared, planned: BuildPlan) -> None:
    from rich.table import Table

    from askew.report.progress import in_words
    from askew.stats.gate import FEWEST_ITEMS

    grid = Table.grid(padding=(0, 2))
    grid.add_column(style="bold")
    grid.add_column()
    config = prepared.config
    grid.add_row("selects on", clean(prepared.target.name))
    roles = {role: model.name for role, model in prepared.models.items() if role != "target"}
    own = sum(bool(item.text_attacks) for item in prepared.study.items)
    beside = f"; {own:,} items bring some of their own" if own else ""
    grid.add_row("text attacks by", clean(roles.get("attacker", RULES)) + beside)
    if "judge" in roles:
        grid.add_row("judged by", clean(roles["judge"]))
    fewest, most = planned.scenarios_an_item
    each = f"{fewest:,}" if fewest == most else f"{fewest:,} to {most:,}"
    grid.add_row(
        "items",
        f"{planned.items:,} with {each} scenarios each, {planned.controls:,} controls",
    )
    grid.add_row(
        "a scenario works",
        f"from {config.rule.biased_from} biased of {config.rule.replies} replies on"
        + ("" if config.sampled else ", drawn from the options' log-probabilities"),
    )
    grid.add_row("calls as the paper", f"{planned.calls_as_the_paper:,}: every scenario and reply")
    grid.add_row("calls of this build", f"at most {planned.calls_at_most:,}")
    grid.add_row("", f"{planned.calls_if_all_work:,} if every first scenario works")
    grid.add_row("", f"at least {planned.calls_at_least:,}, if no item is neutral to begin with")
    for role, bounds in planned.roles.items():
        grid.add_row(
            f"calls of the {role}",
            f"at most {bounds.calls_at_most:,}; tokens about {bounds.prompt_tokens:,} in, at most "
            f"{bounds.completion_tokens_at_most:,} out",
        )
    if planned.made:
        grid.add_row("made already", f"{planned.made:,} calls, which are not made again")
    grid.add_row(
        "tokens",
        f"about {planned.prompt_tokens:,} in, at most {planned.completion_tokens_at_most:,} out, "
        f"for the most calls, from the prompts of {planned.sampled_items} items",
    )
    grid.add_row("money", _money_line(planned))
    if planned.seconds is not None:
        time_ = f"at most about {in_words(planned.seconds)}, {planned.seconds_basis}"
        grid.add_row("time", time_)
    if planned.controls < FEWEST_ITEMS:
        grid.add_row(
            "too few controls",
            f"{FEWEST_ITEMS} are needed, or the model will be marked as not fit to select on",
        )
    without = [name for name in prepared.study.left_out if not name.startswith("text_attack")]
    if without:  # nothing else is left out: text attacks are made
        mend = "their items get other scenarios; give lists of your own in build.wording.personas"
        grid.add_row("no personas for", clean(f"{', '.join(without)}: {mend}"))
    rejected = sum(problem.kind == "rejected" for problem in prepared.study.problems)
    if rejected:
        grid.add_row("rows skipped", f"{rejected:,}; `askew data check` lists them")
    grid.add_row("folder", shown(prepared.path))
    page.print(grid)


def _money_line(planned: BuildPlan) -> str:
    if planned.money_at_most is None and not planned.unpriced:
        return "none: these models cost nothing a call"
    if planned.money_at_most is None:
        return "not known: give a dated price list with --prices"
    beside = f", and what {', '.join(planned.unpriced)} may cost" if planned.unpriced else ""
    return f"about {planned.money_at_most:.2f} at most{clean(beside)}"


def _print_whole_plan(prepared: Prepared, planned: BuildPlan, *, json: bool) -> None:
    import asyncio

    from askew.build.plan import timed
    from askew.runfolder import json_text

    planned = asyncio.run(timed(prepared, planned))
    if json:
        typer.echo(json_text({**asdict(planned), "folder": str(prepared.path)}))
    else:
        _print_plan(console(), prepared, planned)


def _confirm(prepared: Prepared, planned: BuildPlan, *, yes: bool) -> None:
    """Ask before money is spent; where nobody can answer, `--yes` has to be given."""
    if yes or not prepared.paid:
        return
    at_most = planned.calls_at_most if prepared.target.paid else 0
    at_most += sum(
        bounds.calls_at_most for role, bounds in planned.roles.items() if prepared.models[role].paid
    )
    if not sys.stdin.isatty():
        raise ConfigError(
            f"up to {at_most:,} paid calls are planned and nobody can be asked. Add --yes, and "
            "perhaps a budget."
        )
    typer.confirm(f"Make up to {at_most:,} paid calls?", abort=True)


def _print_summary(page: Console, built: Built) -> None:
    report: Any = built.report
    funnel = report["funnel"]["overall"]
    page.print(
        f"{funnel['items']:,} items, {funnel['neutral']:,} neutral without an attack, "
        f"{funnel['with_a_scenario']:,} given a scenario"
        + (f", {funnel['undecided']:,} undecided" if funnel["undecided"] else "")
    )
    calls = report["calls"]
    page.print(
        f"selection took {calls['selection']:,} calls; the paper's way takes "
        f"{calls['as_the_paper']:,}"
    )
    for caution in report["cautions"]:
        page.print(f"caution: {clean(caution)}", soft_wrap=True)
    if built.stopped is None:
        _print_sets(page, report)
        page.print(f"Set: {shown(built.path)}", soft_wrap=True)


def _print_sets(page: Console, report: Any) -> None:
    from rich.table import Table

    table = report["table_4"]["selected"]
    if not table["all"]:
        page.print(
            "0 rows: no item was neutral and then turned. Build from more items, from other "
            "sources, or with a lower --biased-from.",
            soft_wrap=True,
        )
        return
    grid = Table("", "ASR", "95 % interval", "n", box=None, pad_edge=False)
    fresh = report["fresh"]
    rates = (
        ("on the replies that selected", report["selection"]["attack_success_rate"], _REPLIES),
        ("on fresh replies", fresh["selected"]["attack_success_rate"], _REPLIES),
        ("a random scenario, fresh", fresh["random"]["attack_success_rate"], _REPLIES),
        ("selecting - fresh (winner's curse)", report["winners_curse"], ("item",)),
        ("selected - random", report["selected_minus_random"], ("item",)),
    )
    for name, figure, unit in rates:
        one = figure["overall"]
        interval = f"{_number(one.lower)} to {_number(one.upper)}"
        grid.add_row(name, _number(one.value), interval, counted(one.n, *unit))
    counts = ", ".join(
        f"{part['all']:,} {category.replace('_', ' ')}"
        for category, part in table["categories"].items()
    )
    page.print(f"{counted(table['all'], 'row')}: {counts}", soft_wrap=True)
    page.print(grid)


def _number(value: float) -> str:
    return "-" if value != value else f"{value:.3f}"


def _say_what_is_missing(prepared: Prepared, built: Built) -> None:
    report: Any = built.report
    folder, calls = shown(built.path), report["calls"]
    if built.stopped is not None:
        stop = built.stopped
        echo(
            f"askew: stopped early ({stop.stopped}) at {report['missing']['stage']}: "
            f"{stop.message} No set was written; run the same command again to go on.",
            stderr=True,
        )
    if calls["failed"]:
        echo(
            f"askew: {calls['failed']:,} calls failed and count as non-answers; list them with "
            f"`askew calls {folder} --state failed`; run the same command again to ask them again.",
            stderr=True,
        )
    if calls["unknown"]:
        again = (
            "ask them again with `--unknown retry`"
            if prepared.paid
            else "the next start asks them again"
        )
        echo(
            f"askew: {calls['unknown']:,} calls were sent and their outcome is unknown; items "
            "whose choice hangs on one are left out, and fresh figures do without; list them with "
            f"`askew calls {folder} --state unknown`; "
            f"{again}.",
            stderr=True,
        )
