"""`askew boundary train`: a policy's weights, from labelled graphs or the simulator."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from askew.cli.listed import listed
from askew.cli.terminal import bar_text, console, echo, shown
from askew.errors import ConfigError

if TYPE_CHECKING:
    from askew.engines.fan_out import FanOut
    from askew.search.worlds import World

Told = Callable[[str, int, int, str], None]  # the part, done, of, what it stands at


class Method(StrEnum):
    """What is trained."""

    LEARNED = "learned"
    GMRL_BD = "gmrl_bd"


class Regime(StrEnum):
    """What GMRL-BD reads of the topics."""

    HONEST = "honest"
    TEXT = "text"
    LEAKY = "leaky"


def train(
    folders: Annotated[
        list[Path] | None,
        typer.Argument(
            metavar="DIR", help="Folders of nodes.tsv, edges.tsv, labels.tsv. [the simulator]"
        ),
    ] = None,
    out: Annotated[
        Path, typer.Option("--out", "-o", metavar="FILE", help="The weights that are written.")
    ] = Path("policy.safetensors"),
    models: Annotated[
        str | None, typer.Option(help="Whose labels, with commas. [all in the folder]")
    ] = None,
    method: Annotated[
        Method, typer.Option(help="askew's own belief, or GMRL-BD as published.")
    ] = Method.LEARNED,
    regime: Annotated[Regime, typer.Option(help="With gmrl_bd: what it reads.")] = Regime.HONEST,
    variant: Annotated[
        str, typer.Option(help="With gmrl_bd: a row of the paper's Table 2.")
    ] = "full",
    episodes: Annotated[
        int | None, typer.Option(min=1, help="With gmrl_bd: of training. [the paper's 600]")
    ] = None,
    simulated: Annotated[
        int, typer.Option(min=1, help="Without DIR: so many graphs are simulated.")
    ] = 48,
    seed: Annotated[int, typer.Option(min=0, help="The one seed.")] = 0,
    engine: Annotated[
        str,
        typer.Option(help="With learned, who plays: local, or ray (workers of a cluster)."),
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
    """Train a policy on models whose leanings are known; resumes where it stopped.

    The weights do not depend on the engine. Use it with `askew boundary search --checkpoint FILE`.
    """
    from askew.engines.fan_out import LOCAL, fan_out
    from askew.runfolder import json_text

    if method is Method.LEARNED and (variant != "full" or episodes is not None):
        raise ConfigError("--variant and --episodes are of gmrl_bd. Leave them out.")
    if method is Method.GMRL_BD and engine != LOCAL:
        raise ConfigError(
            "GMRL-BD's training is one chain: each episode plays by the weights that the one "
            "before has left, and all its tries draw from one generator. It runs here; leave out "
            "--engine. Its games in `askew boundary bench` can be played by a cluster."
        )
    worlds = _worlds(folders or [], models, simulated, seed)
    with fan_out(engine, workers, ray_address) as players, _reporting(quiet=json) as told:
        if method is Method.LEARNED:
            figures = _train_learned(worlds, out, seed, told, players)
        else:
            figures = _train_gmrl(worlds, out, seed, told, regime, variant, episodes)
    figures = {
        "file": str(out),
        "method": method.value,
        "worlds": len(worlds),
        "topics": sum(world.graph.size for world in worlds),
        "seed": seed,
        **figures,
    }
    if json:
        typer.echo(json_text(figures), nl=False)
        return
    echo(f"Wrote {shown(out)}: {method.value}, trained on {len(worlds):,} labelled graphs.")
    echo(f"Use it: askew boundary search --policy {method.value} --checkpoint {shown(out)}")


def _worlds(folders: list[Path], models: str | None, simulated: int, seed: int) -> list[World]:
    if not folders:
        if models is not None:
            raise ConfigError("--models names models of a folder, and none is given. Name DIR.")
        from itertools import islice

        from askew.search.simulate import DOMAINS, simulate_many

        numbers = range(-(-simulated // len(DOMAINS)))  # rounded up
        return list(islice(simulate_many(seed, graphs=numbers), simulated))
    from askew.run.boundary_bench import labelled_folders
    from askew.run.boundary_graph import alike_vectors
    from askew.search.labelled import known_models, worlds_of

    graphs = labelled_folders(folders)
    used = listed(models) or known_models(graphs)
    known_models(graphs, used)
    vectors = alike_vectors([one.graph for one in graphs.values()])
    worlds: list[World] = []
    for (name, labelled), titles in zip(graphs.items(), vectors, strict=True):
        worlds += worlds_of(name, labelled, used, titles)
    return worlds


def _train_learned(
    worlds: list[World], out: Path, seed: int, told: Told, players: FanOut
) -> dict[str, object]:
    import shutil

    from askew.search.checkpoints import save_checkpoint
    from askew.search.training import TrainingProgress
    from askew.search.training import train as train_learned

    def advance(now: TrainingProgress) -> None:
        told(f"round {now.round}, {now.part}", now.done, now.of, "")

    state = out.with_name(f"{out.name}.state")
    made = train_learned(worlds, seed=seed, told=advance, resume=state, fan_out=players)
    save_checkpoint(out, made.tensors, dict(made.meta))
    shutil.rmtree(state, ignore_errors=True)
    return {"training": made.meta}


def _train_gmrl(
    worlds: list[World],
    out: Path,
    seed: int,
    told: Told,
    regime: Regime,
    variant: str,
    episodes: int | None,
) -> dict[str, object]:
    from askew.search.gmrl_settings import variant_settings
    from askew.search.gmrl_train import train_gmrl

    changes: dict[str, object] = {"regime": regime.value}
    if episodes is not None:
        changes["episodes"] = episodes
    settings = variant_settings(variant, **changes)

    def advance(done: int, of: int, figures: dict[str, float]) -> None:
        words = ", ".join(f"{name} {value:.3g}" for name, value in figures.items())
        told("training", done, of, words)

    train_gmrl(worlds, settings, seed=seed, checkpoint=out, told=advance)
    return {"variant": variant, "regime": regime.value}


@contextmanager
def _reporting(*, quiet: bool) -> Iterator[Told]:
    """A bar on a terminal; else nothing, as the command ends with what it wrote."""
    if quiet or not sys.stderr.isatty():
        yield lambda part, done, of, words: None
        return
    from rich.progress import BarColumn, MofNCompleteColumn, TaskID
    from rich.progress import Progress as Bars

    columns = (
        bar_text("{task.fields[part]}"),
        BarColumn(),
        MofNCompleteColumn(),
        bar_text("{task.description}"),
    )
    with Bars(*columns, console=console(stderr=True)) as bars:
        tasks: dict[str, TaskID] = {}

        def advance(part: str, done: int, of: int, words: str) -> None:
            if part not in tasks:
                tasks[part] = bars.add_task("", total=of, part=part)
            bars.update(tasks[part], completed=done, total=of, description=words)

        yield advance
