"""GMRL-BD on the simulator, beside the paper's Tables 1 and 2 and Figures 3 and 5.

    python benchmarks/reproduce/gmrl.py           # all of it, an estimated 15 CPU-minutes
    python benchmarks/reproduce/gmrl.py --paper   # the paper's 600 episodes
    python benchmarks/reproduce/gmrl.py --quick   # the same rows, barely trained
    python benchmarks/reproduce/gmrl.py --json gmrl.json --checkpoints DIR

The paper's models, labels and graph were not published, so its figures stand beside ours, not for
comparison to the digit. "leaky" is the paper's form: the answers about every topic are known
before the first query. "honest" knows titles and what it has paid for. Models and graphs that are
played on were never trained on. With --checkpoints, trainings are kept there and go on where they
stopped.
"""

from __future__ import annotations

import argparse
import csv
import json
import math
import sys
import time
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import torch

from askew.search.game import Board, play
from askew.search.gmrl import gmrl_bd
from askew.search.gmrl_model import GmrlModel
from askew.search.gmrl_settings import VARIANTS, GmrlSettings, changed, variant_settings
from askew.search.gmrl_train import train_gmrl
from askew.search.metrics import (
    Played,
    compare,
    cover_rate,
    episodes_to_converge,
    first_hit_within,
    played,
    start_distance,
    step_loss,
    success,
    win,
)
from askew.search.policies import policy
from askew.search.simulate import DOMAINS, simulate_many
from askew.search.worlds import World
from askew.seeds import generator

PAPER = Path(__file__).with_name("gmrl_paper.csv")
QUERIES = 100
TABLE_1 = ("immigration", "politics", "education", "economy")
TABLE_2 = ("immigration", "culture", "ai")
AGENTS = (1, 2, 4, 8)
DISCOUNTS = (0.5, 0.9, 0.97, 0.99)
MODELS = ("a", "b", "c")  # simulated; they are none of the paper's


@dataclass(frozen=True)
class Size:
    """How much is trained and played."""

    train_seeds: int = 40  # a graph and a model of each domain a seed
    test_graphs: int = 4  # of each domain
    starts: int = 2
    tries: int = 200  # an episode
    encoder_steps: int = 800
    # The paper's 600 episodes with κ = .994 reach the floor of ε after 268 of them. The shorter
    # schedules reach it at the same share of their length.
    episodes: int = 300  # of the form whose tries end at their first hit
    epsilon_decay: float = 0.988
    kept_episodes: int = 90  # of the form whose tries go on for 100 queries
    kept_epsilon_decay: float = 0.961


PAPERS = Size(
    encoder_steps=1_200,
    episodes=600,
    epsilon_decay=0.994,
    kept_episodes=150,
    kept_epsilon_decay=0.976,
)
QUICK = Size(
    train_seeds=1,
    test_graphs=1,
    starts=1,
    tries=20,
    encoder_steps=20,
    episodes=3,
    kept_episodes=2,
)


@dataclass
class Run:
    """One run of this script: what it trains once and plays often."""

    size: Size
    seed: int
    checkpoints: Path | None
    trained: dict[str, GmrlModel] = field(default_factory=dict)

    def __post_init__(self) -> None:
        size = self.size
        self.train = [
            world
            for number in range(size.train_seeds)
            for world in simulate_many(self.seed + 1 + number)
        ]
        self.test = list(
            simulate_many(self.seed, graphs=range(size.test_graphs), models=range(len(MODELS)))
        )

    def model(self, variant: str, regime: str, *, kept: bool, **changes: Any) -> GmrlModel:
        """A trained model; "kept": its tries go on after a hit."""
        size = self.size
        settings = variant_settings(
            variant,
            regime=regime,
            encoder_steps=size.encoder_steps,
            episodes=size.kept_episodes if kept else size.episodes,
            tries=size.tries,
            epsilon_decay=size.kept_epsilon_decay if kept else size.epsilon_decay,
        )
        if not kept:
            settings = changed(settings, try_queries=None, restarts=True)
        settings = changed(settings, **changes)
        name = "-".join(
            [variant, regime, "kept" if kept else "literal"]
            + [f"{key}-{value}" for key, value in sorted(changes.items())]
        )
        if name not in self.trained:
            path = None if self.checkpoints is None else self.checkpoints / f"{name}.safetensors"
            began = time.process_time()
            self.trained[name] = train_gmrl(
                self.train, settings, seed=self.seed, checkpoint=path, told=_progress(name)
            )
            print(f"{name}: {time.process_time() - began:.0f} CPU-s", file=sys.stderr)
        return self.trained[name]

    def games(
        self,
        make: Callable[[World], Any],
        domains: Sequence[str] = DOMAINS,
        models: Sequence[int] = range(len(MODELS)),
    ) -> list[Played]:
        """The policy on all test worlds of some domains, from starts that are the same for all."""
        games = []
        for world in self.test:
            if world.name.split()[0] not in domains:
                continue
            if int(world.model.split()[-1]) not in models:
                continue
            starts = generator(self.seed, "starts", world.name).integers(
                world.graph.size, size=self.size.starts
            )
            for number, start in enumerate(starts.tolist()):
                board = Board(world.graph, world.title_vectors, QUERIES)
                transcript = play(board, make(world), world.oracle, seed=number, start=start)
                games.append(played(transcript, world, distance=start_distance(world, start)))
        return games


def player(model: GmrlModel, **options: Any) -> Callable[[World], Any]:
    """Makes the policy for a world; the leaky regime is handed all answers."""

    def make(world: World) -> Any:
        answers = world.answer_vectors if model.settings.regime == "leaky" else None
        return gmrl_bd(model, answer_vectors=answers, **options)

    return make


def bare(variant: str) -> Callable[[World], Any]:
    """A row of Table 2 that has no network."""
    return lambda world: gmrl_bd(variant=variant)


def mean(values: Sequence[float]) -> float:
    """Of what is defined; NaN where nothing is."""
    defined = [value for value in values if not math.isnan(value)]
    return float(np.mean(defined)) if defined else math.nan


# The tables.


def table_1(run: Run) -> list[dict[str, Any]]:
    """BNCR at 100 queries by domain and model, one agent."""
    leaky = run.model("full", "leaky", kept=True)
    honest = run.model("full", "honest", kept=True)
    rows = []
    for llm, theirs in zip(("Llama-2", "Vicuna", "Falcon"), MODELS, strict=True):
        for domain in TABLE_1:
            models = [MODELS.index(theirs)]
            row: dict[str, Any] = {
                "paper's model": llm,
                "our model": theirs,
                "domain": domain,
                "paper": _paper("1", llm, domain) / 100,
            }
            for name, make in (
                ("leaky", player(leaky)),
                ("honest", player(honest)),
                ("honest, Algorithm 2 literally", player(honest, restarts=True)),
                ("uniform", bare("uniform_actions")),
            ):
                games = run.games(make, [domain], models)
                row[name] = mean([cover_rate(game, QUERIES) for game in games])
            rows.append(row)
    return rows


def table_2(run: Run) -> list[dict[str, Any]]:
    """Success within 30 queries of the eight rows on three tasks, in the paper's form.

    All answers are known, tries end at a first hit, and play restarts after each.
    """
    return _rows_of_table_2(run, "leaky", kept=False)


def table_2_honest(run: Run) -> list[dict[str, Any]]:
    """The same rows without answers that were not paid for, and with one kept tested set."""
    return _rows_of_table_2(run, "honest", kept=True)


def _rows_of_table_2(run: Run, regime: str, *, kept: bool) -> list[dict[str, Any]]:
    rows = []
    for variant in VARIANTS:
        row: dict[str, Any] = {"method": variant}
        row.update({f"paper, {domain}": _paper("2", variant, domain) for domain in TABLE_2})
        if variant in ("uniform_actions", "dfs"):
            make = bare(variant)
        else:
            make = player(run.model(variant, regime, kept=kept))
        games = {domain: run.games(make, [domain]) for domain in TABLE_2}
        every = [game for part in games.values() for game in part]
        for domain, part in games.items():
            row[f"success@30, {domain}"] = mean([success(game) for game in part])
        row["first hit"] = mean([first_hit_within(game, QUERIES) for game in every])
        row["BNCR@100"] = mean([cover_rate(game, QUERIES) for game in every])
        rows.append(row)
    return rows


def figure_3(run: Run) -> list[dict[str, Any]]:
    """Queries until the first hit over the episodes of training (all domains together)."""
    rows = []
    for regime in ("leaky", "honest"):
        curve = run.model("full", regime, kept=regime == "honest").curve
        first = [one["first_hit"] for one in curve]
        row: dict[str, Any] = {"regime": regime}
        for tenths in (1, 2, 4, 6, 8, 10):  # the two schedules are not of one length
            end = max(len(first) * tenths // 10, 1)
            row[f"at {tenths}/10"] = mean(first[max(end - 20, 0) : end])
        row["episodes"] = len(first)
        row["episodes to converge"] = episodes_to_converge(first)
        rows.append(row)
    return rows


def figure_5(run: Run) -> list[dict[str, Any]]:
    """More agents: step loss and win rate against one agent, by Algorithm 2 and its hub."""
    rows = []
    for regime in ("leaky", "honest"):
        model = run.model("full", regime, kept=regime == "honest")
        alone: list[Played] = []
        for agents in AGENTS:
            games = run.games(player(model, agents=agents, restarts=True))
            alone = alone or games
            rows.append(
                {
                    "regime": regime,
                    "agents": agents,
                    "step loss": mean([step_loss(one) for one in games]),
                    "win rate against one agent": mean(
                        [win(one, other) for one, other in zip(games, alone, strict=True)]
                    ),
                    "success@30": mean([success(one) for one in games]),
                    "BNCR@100": mean([cover_rate(one, QUERIES) for one in games]),
                }
            )
    return rows


def discounts(run: Run) -> list[dict[str, Any]]:
    """The discount, which the paper says matters little (§4.2)."""
    rows = []
    for discount in DISCOUNTS:
        # The default is not trained twice.
        changes = {} if discount == GmrlSettings().discount else {"discount": discount}
        model = run.model("full", "leaky", kept=True, **changes)
        games = run.games(player(model))
        rows.append(
            {
                "discount": discount,
                "leaky BNCR@100": mean([cover_rate(one, QUERIES) for one in games]),
                "first hit": mean([first_hit_within(one, QUERIES) for one in games]),
            }
        )
    return rows


def training_curve(run: Run) -> list[dict[str, Any]]:
    """Leaning topics found in a try of 100 queries, as honest training goes on: the plateau."""
    curve = run.model("full", "honest", kept=True).curve
    step = max(len(curve) // 10, 1)
    return [
        {
            "episodes": f"{begin + 1}-{min(begin + step, len(curve))}",
            "epsilon": curve[min(begin + step, len(curve)) - 1]["epsilon"],
            "found in 100 queries": mean([one["hits"] for one in curve[begin : begin + step]]),
            "queries to the first": mean([one["first_hit"] for one in curve[begin : begin + step]]),
        }
        for begin in range(0, len(curve), step)
    ]


def forms(run: Run) -> list[dict[str, Any]]:
    """The honest regime's forms of play beside two baselines, on the same graphs and starts."""
    model = run.model("full", "honest", kept=True)
    makers: dict[str, Callable[[World], Any]] = {
        "one kept tested set": player(model),
        "Algorithm 2, one agent": player(model, restarts=True),
        "Algorithm 2, eight agents": player(model, restarts=True, agents=8),
        "neighbour share": lambda world: policy("neighbour_share"),
        "uniform": lambda world: policy("uniform"),
    }
    games = {name: run.games(make) for name, make in makers.items()}
    graphs = [world.name for world in run.test for _ in range(run.size.starts)]
    covered = {name: [cover_rate(one, QUERIES) for one in part] for name, part in games.items()}
    rows = []
    for name, part in games.items():
        ratio = compare(covered[name], covered["uniform"], graphs, seed=run.seed).ratio
        rows.append(
            {
                "form": name,
                "BNCR@100": mean(covered[name]),
                "/ uniform": ratio.value,
                "lower": ratio.lower,
                "upper": ratio.upper,
                "success@30": mean([success(one) for one in part]),
                "first hit": mean([first_hit_within(one, QUERIES) for one in part]),
            }
        )
    return rows


PARTS: dict[str, tuple[str, Callable[[Run], list[dict[str, Any]]]]] = {
    "table-2": ("Table 2 in the paper's form: success rate, and BNCR beside it", table_2),
    "figure-5": ("Figure 5: agents", figure_5),
    "table-1": ("Table 1: BNCR at 100 queries, one agent", table_1),
    "figure-3": ("Figure 3: queries until the first hit, mean of 20 episodes", figure_3),
    "forms": ("Forms of play, honest regime", forms),
    "curve": ("Training curve of the honest regime", training_curve),
    "discount": ("The discount", discounts),
    "table-2-honest": ("Table 2 in the honest regime, one kept tested set", table_2_honest),
}


def _paper(table: str, row: str, column: str) -> float:
    with PAPER.open(encoding="utf-8", newline="") as lines:
        for one in csv.DictReader(lines):
            if (one["table"], one["row"], one["column"]) == (table, row, column):
                return float(one["value"])
    raise LookupError(f"{PAPER}: no value for table {table}, {row}, {column}")


def _progress(name: str) -> Callable[[int, int, dict[str, float]], None]:
    def told(done: int, total: int, figures: dict[str, float]) -> None:
        if sys.stderr.isatty():
            print(f"\r{name}: {done}/{total} ", end="\n" if done == total else "", file=sys.stderr)

    return told


def markdown(title: str, rows: list[dict[str, Any]]) -> str:
    """A table with a heading; an undefined figure is a dash."""
    names = list(rows[0])

    def cell(value: Any) -> str:
        if isinstance(value, float):
            return "-" if math.isnan(value) else f"{value:.3g}"
        return str(value)

    lines = [f"## {title}", "", f"| {' | '.join(names)} |", f"|{'---|' * len(names)}"]
    lines += [f"| {' | '.join(cell(row[name]) for name in names)} |" for row in rows]
    return "\n".join([*lines, ""])


def main() -> None:
    """Train, play and print."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    sizes = parser.add_mutually_exclusive_group()
    sizes.add_argument("--quick", action="store_true", help="barely trained")
    sizes.add_argument("--paper", action="store_true", help="the paper's 600 episodes")
    parser.add_argument("--only", choices=list(PARTS), action="append", help="these parts alone")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--json", type=Path, help="also written there")
    parser.add_argument("--checkpoints", type=Path, help="a folder where trainings are kept")
    chosen = parser.parse_args()
    torch.set_num_threads(1)
    if chosen.checkpoints is not None:
        chosen.checkpoints.mkdir(parents=True, exist_ok=True)
    size = QUICK if chosen.quick else PAPERS if chosen.paper else Size()
    run = Run(size, chosen.seed, chosen.checkpoints)
    began = time.process_time()
    results: dict[str, Any] = {"seed": chosen.seed, "size": asdict(size)}
    for name in chosen.only or PARTS:
        title, make = PARTS[name]
        results[name] = make(run)
        print(markdown(title, results[name]), flush=True)
    results["cpu_seconds"] = time.process_time() - began
    print(f"{results['cpu_seconds']:.0f} CPU-seconds, seed {chosen.seed}.")
    if chosen.json is not None:
        plain = json.loads(json.dumps(results), parse_constant=lambda _: None)
        chosen.json.write_text(json.dumps(plain, indent=2) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
