"""Policies of the boundary search on graphs and models that none of them was trained on.

    python benchmarks/reproduce/boundary_search.py [--quick] [--graphs 10] [--data FOLDER] [--json]

Sixty simulated domains of about 1,000 topics (six kinds, ten graphs each, settings of the simulator
drawn for each), a model that is in no training, one start each, every policy from the same starts;
the same with tests that err; and, where --data or ASKEW_DATA names the folder with `wiki_category`
and `wikispeedia`, the simulator's leanings on those real graphs. GMRL-BD is trained first, on other
graphs and models; its weights are kept in --weights and used again. What is promised is checked at
the end; the script exits with 1 if something does not hold.
"""

from __future__ import annotations

import argparse
import json
import os
import sys
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

from askew.graphs.topic_edges import read_edges
from askew.graphs.topic_subgraph import largest_part
from askew.report.boundary_bench import bench_tables
from askew.report.grid import to_markdown
from askew.run.boundary_graph import folder_vectors
from askew.search.contest import Entrants, contest
from askew.search.game import Policy
from askew.search.gmrl_model import GmrlModel
from askew.search.gmrl_settings import variant_settings
from askew.search.gmrl_train import train_gmrl
from askew.search.policies import policy
from askew.search.references import KnowsAllButOwn, KnowsAllLabels
from askew.search.simulate import (
    DOMAINS,
    SimulatorSettings,
    diffuse_labels,
    noisy,
    simulate_many,
    varied,
)
from askew.search.standings import BUDGETS, Standing, standings
from askew.search.text_prior import TextPrior, fit_text_prior
from askew.search.worlds import World
from askew.seeds import generator

SEED = 9_001  # of graphs, models and starts; no training uses it
UNSEEN = 1_000  # numbers of graphs and models from here on are in no training
# GMRL-BD's training worlds: one graph and model of each domain a seed. With 48 of them it overfits.
TRAINING_SEEDS = range(1, 41)
PRIOR_GRAPHS = 8  # of each domain, whose titles hop2_text is fitted on
PLAIN = ("uniform", "random_walk", "bfs", "dfs", "neighbour_share", "hop2", "ppr")
STRONG = ("gp", "ens", "learned")
RIVALS = ("uniform", "neighbour_share", "ens", "gmrl_bd", "gmrl_bd_literal", "bound")
REAL = {"wiki_category": "cs_category_edges.tsv", "wikispeedia": ""}
QUERIES = 100
REFERENCES = ("bound", "all labels")  # are told labels, and are no policies


@dataclass(frozen=True, slots=True)
class Promise:
    """A figure with what it has to reach."""

    name: str
    value: float
    least: float
    clear: bool  # whether the paired interval of the difference has to lie above 0, and does

    @property
    def held(self) -> bool:
        return self.value >= self.least and self.clear


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.split("\n", 1)[0])
    parser.add_argument("--quick", action="store_true", help="few graphs, hardly any training")
    parser.add_argument("--graphs", type=int, default=10, help="of each of six domains")
    parser.add_argument("--episodes", type=int, default=600, help="of GMRL-BD's training")
    parser.add_argument("--data", type=Path, default=os.environ.get("ASKEW_DATA"))
    parser.add_argument("--weights", type=Path, default=Path("gmrl_honest.safetensors"))
    parser.add_argument("--only", help='parts whose name begins so: "real", "simulated", "tests"')
    parser.add_argument("--without-gmrl", action="store_true")
    parser.add_argument("--json", action="store_true")
    options = parser.parse_args()
    graphs = 1 if options.quick else options.graphs
    model = None
    if not options.without_gmrl and not options.quick:
        model = trained(options.weights, options.episodes)
    made: dict[str, list[Standing]] = {}
    known = list(simulate_many(0, graphs=range(1 if options.quick else PRIOR_GRAPHS)))
    fitted = {
        domain: fit_text_prior([world for world in known if world.name.startswith(domain)])
        for domain in DOMAINS
    }
    domains = DOMAINS[:3] if options.quick else DOMAINS
    for name, worlds in parts(graphs, domains, options.data and Path(options.data)):
        real = name.startswith("real")
        if options.only and not name.startswith(options.only):
            continue
        # GMRL-BD plays on titles of the kind that it was trained on, and so do fitted priors.
        players = entrants(None, {}) if real else entrants(model, fitted)
        # Games on one real graph differ by model and start.
        starts = 3 if real and not options.quick else 1
        began = time.process_time()
        results = contest(worlds, players, queries=QUERIES, starts=starts, seed=SEED)
        budgets = [at for at in BUDGETS if at <= QUERIES]
        made[name] = standings(results, RIVALS, budgets, seed=SEED)
        if not options.json:
            seconds = time.process_time() - began
            print(f"\n## {name}: {len(worlds)} worlds, {starts} start each, {seconds:.0f} CPU-s\n")
            for table in bench_tables(made[name], dict.fromkeys(players, 0.0)):
                print(to_markdown(table))
    promises = list(promised(made, gmrl=model is not None))
    if options.json:
        plain = {name: [asdict(one) for one in rows] for name, rows in made.items()}
        print(json.dumps({"rows": plain, "promises": [asdict(one) for one in promises]}))
    else:
        print("\n## What is promised\n")
        for one in promises:
            says = "held" if one.held else "NOT HELD"
            print(f"- {one.name}: {one.value:.2f}, at least {one.least:.2f}: {says}")
    return 0 if options.quick or all(one.held for one in promises) else 1


def trained(weights: Path, episodes: int) -> GmrlModel:
    """GMRL-BD in the honest regime, by the paper's schedule; goes on where it was stopped."""
    worlds = [world for seed in TRAINING_SEEDS for world in simulate_many(seed)]
    settings = variant_settings(regime="honest", episodes=episodes)
    began = time.process_time()

    def told(done: int, of: int, figures: Mapping[str, float]) -> None:
        if done % 100 == 0:
            words = ", ".join(f"{name} {value:.3g}" for name, value in figures.items())
            print(f"GMRL-BD: {done} of {of}: {words}", file=sys.stderr)

    model = train_gmrl(worlds, settings, seed=0, checkpoint=weights, told=told)
    print(f"GMRL-BD trained in {time.process_time() - began:.0f} CPU-s", file=sys.stderr)
    return model


def entrants(model: GmrlModel | None, priors: Mapping[str, TextPrior]) -> Entrants:
    """Everyone who plays; `bound` and `all labels` are told labels, and are no policies."""
    made: dict[str, Callable[[World], Policy]] = {
        name: (lambda world, name=name: policy(name)) for name in (*PLAIN, *STRONG)
    }
    if model is not None:
        made["gmrl_bd"] = lambda world: policy("gmrl_bd", checkpoint=model)
        made["gmrl_bd_literal"] = lambda world: policy(
            "gmrl_bd", checkpoint=model, restarts=True, agents=8
        )
    if priors:
        # Other models' labels on other graphs of the domain.
        made["hop2_text"] = lambda world: policy(
            "hop2_text", text_prior=priors[world.name.split(" ")[0]]
        )
    made["bound"] = KnowsAllButOwn
    made["all labels"] = KnowsAllLabels
    return made


def parts(
    graphs: int, domains: Sequence[str], data: Path | None
) -> Iterator[tuple[str, Sequence[World]]]:
    """The worlds that are searched, by name."""
    numbers = range(UNSEEN, UNSEEN + graphs)
    yield "simulated", list(simulate_many(SEED, domains=domains, graphs=numbers, models=(UNSEEN,)))
    yield "tests that err", list(_erring(numbers, domains))
    if data is None:
        print("real graphs: left out, no data (--data or ASKEW_DATA)", file=sys.stderr)
        return
    for name, file in REAL.items():
        graph = largest_part(read_edges(data / name / file).graph)
        vectors = folder_vectors(graph)
        models = range(UNSEEN, UNSEEN + (1 if graphs == 1 else 6))
        worlds = [diffuse_labels(graph, vectors, SEED, name=name, model=one) for one in models]
        yield f"real graph {name} ({graph.size:,} topics)", worlds


def _erring(numbers: Sequence[int], domains: Sequence[str]) -> Iterator[World]:
    for number in numbers:
        settings: SimulatorSettings = noisy(varied(generator(SEED, "noisy", str(number))))
        yield from simulate_many(
            SEED + 1, settings, domains=domains, graphs=(number,), models=(UNSEEN,)
        )


def promised(made: Mapping[str, Sequence[Standing]], *, gmrl: bool) -> Iterator[Promise]:
    """What has to hold, of the simulated domains and of tests that err."""
    at = 100
    yield from _best_of_all(made, at)
    if "simulated" not in made:
        return
    rows = {one.policy: one for one in made["simulated"]}

    def beside(name: str, rival: str, least: float, tests: int = at) -> Promise:
        found = rows[name].against[rival][tests]
        return Promise(
            f"{name} ÷ {rival} at {tests} tests",
            found.ratio.value,
            least,
            found.difference.lower > 0,
        )

    yield beside("neighbour_share", "uniform", 2.5)
    yield beside("learned", "uniform", 3.0)
    yield beside("learned", "neighbour_share", 1.12)
    if gmrl:
        yield beside("gmrl_bd", "uniform", 2.3)
        yield beside("learned", "gmrl_bd_literal", 2.2)
        yield beside("learned", "gmrl_bd", 1.2)
    for tests in (25, 50):
        found = rows["learned"].against["ens"][tests].difference
        yield Promise(f"learned − ens at {tests} tests, upper end", found.upper, 0.0, True)
    bound = rows["learned"].against["bound"][at].ratio
    yield Promise("learned ÷ the bound (stretch)", bound.value, 0.75, True)


def _best_of_all(made: Mapping[str, Sequence[Standing]], at: int) -> Iterator[Promise]:
    """Where tests err and on real graphs: askew's own comes first."""
    for name, rows in made.items():
        if name == "simulated":
            continue
        rates = {one.policy: one.cover_rate[at].value for one in rows}
        ours = rates["learned"]
        others = [rate for one, rate in rates.items() if one not in (*REFERENCES, "learned")]
        yield Promise(f"{name}: learned ÷ the best other", ours / max(others), 1.0, True)


if __name__ == "__main__":
    sys.exit(main())
