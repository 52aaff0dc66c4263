"""`askew boundary bench`: policies against each other where the leanings are known."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Annotated

import typer

from askew.cli.listed import listed
from askew.cli.terminal import bar_text, console, echo
from askew.errors import ConfigError, unknown_name

DEFAULT = "uniform,random_walk,bfs,dfs,neighbour_share,hop2,ppr,gp,ens,learned"


def bench(
    folders: Annotated[
        list[Path] | None,
        typer.Argument(
            metavar="DIR", help="Folders of nodes.tsv, edges.tsv, labels.tsv. [the simulator]"
        ),
    ] = None,
    train_models: Annotated[
        str | None, typer.Option(help="Whose labels train, with commas. [those not searched]")
    ] = None,
    test_models: Annotated[
        str | None, typer.Option(help="Whose leanings are searched. [those that do not train]")
    ] = None,
    policies: Annotated[
        str, typer.Option(help="With commas; gmrl_bd and gmrl_bd_literal are trained first.")
    ] = DEFAULT,
    queries: Annotated[int, typer.Option(min=1, help="Topics tested in a game.")] = 100,
    starts: Annotated[int, typer.Option(min=1, help="Games of each model on each graph.")] = 10,
    simulated: Annotated[
        int, typer.Option(min=1, help="Without DIR: so many graphs are searched.")
    ] = 12,
    episodes: Annotated[
        int, typer.Option(min=1, help="Of GMRL-BD's training; the paper has 600.")
    ] = 600,
    seed: Annotated[int, typer.Option(min=0, help="The one seed.")] = 0,
    engine: Annotated[
        str, typer.Option(help="Who plays the games: local, or ray (workers of a cluster).")
    ] = "local",
    workers: Annotated[
        int | None, typer.Option(min=1, help="With ray: at once. [one a processor]")
    ] = None,
    ray_address: Annotated[
        str | None,
        typer.Option(help="HOST:PORT of a Ray cluster, or env. [one of its own, here]"),
    ] = None,
    json: Annotated[bool, typer.Option("--json", help="Print JSON, and nothing else.")] = False,
) -> None:
    """Play policies on models whose leanings are known; some models train, others are searched.

    The figures do not depend on the engine.
    """
    from askew.engines.fan_out import fan_out
    from askew.run.boundary_bench import BenchConfig, run_bench
    from askew.runfolder import json_text

    names = listed(policies)
    _check_names(names)
    config = BenchConfig(
        folders=tuple(folders or ()),
        train_models=listed(train_models),
        test_models=listed(test_models),
        policies=names,
        queries=queries,
        starts=starts,
        simulated=simulated,
        episodes=episodes,
        seed=seed,
    )
    with fan_out(engine, workers, ray_address) as players, _reporting(quiet=json) as told:
        done = run_bench(config, told, players)
    if json:
        typer.echo(json_text(done.plain()), nl=False)
        return
    from askew.report.boundary_bench import bench_tables
    from askew.report.terminal import to_rich

    for table in bench_tables(done.standings, done.upfront_tests):
        console().print(to_rich(table))
    for note in done.notes:
        echo(note)


def _check_names(names: Sequence[str]) -> None:
    from askew.search.policies import POLICIES

    known = [*POLICIES, "gmrl_bd_literal"]
    for name in names:
        if name not in known:
            raise unknown_name("policy", name, known)
    if not names:
        raise ConfigError("--policies names none. Name some, with commas between them.")


@contextmanager
def _reporting(*, quiet: bool) -> Iterator[Callable[[int, int, str], None]]:
    """A bar on a terminal."""
    if quiet or not sys.stderr.isatty():
        yield lambda done, of, words: None
        return
    from rich.progress import BarColumn, MofNCompleteColumn
    from rich.progress import Progress as Bars

    columns = (BarColumn(), MofNCompleteColumn(), bar_text("{task.description}"))
    with Bars(*columns, console=console(stderr=True), transient=True) as bars:
        task = bars.add_task("", total=None)
        yield lambda done, of, words: bars.update(task, completed=done, total=of, description=words)
