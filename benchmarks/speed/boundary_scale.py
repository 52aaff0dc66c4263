"""Search on 100,000 topics: what is found in 100 and 1,000 queries, and what a decision costs.

    python benchmarks/speed/boundary_scale.py [--policies hop2_text learned] [--graphs 2 --starts 3]

Leanings lie in six of 36 domains. Policies play the same graphs and starts; text priors are fitted
on a model that is not searched. CPU time, one thread.
"""

from __future__ import annotations

import argparse
import time

import numpy as np

from askew.errors import AskewError
from askew.search.game import Board, Policy, play
from askew.search.policies import policy
from askew.search.simulate import simulate_large
from askew.search.text_prior import TextPrior, fit_text_prior

NODES = 100_000
BUDGETS = (100, 300, 1000)
AIM = 5.0  # times uniform, of the best, at 100 and at 1,000 queries
LONGEST_DECISION = 0.010  # seconds


def made(name: str, prior: TextPrior) -> Policy:
    """A new policy."""
    return policy(name, text_prior=prior) if name == "hop2_text" else policy(name)


def main() -> int:
    """Measure and print; 1 where an aim is missed."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument(
        "--policies",
        nargs="*",
        default=["dfs", "neighbour_share", "hop2", "hop2_text", "ppr", "learned"],
    )
    parser.add_argument("--graphs", type=int, default=3)
    parser.add_argument("--starts", type=int, default=3)
    parser.add_argument("--queries", type=int, default=max(BUDGETS))
    chosen = parser.parse_args()
    budgets = [one for one in BUDGETS if one <= chosen.queries]
    prior = fit_text_prior([simulate_large(NODES, 1000)], ridge=1e-2)
    worlds = [simulate_large(NODES, seed) for seed in range(chosen.graphs)]
    found: dict[str, np.ndarray] = {}
    seconds: dict[str, float] = {}
    for name in ["uniform", *chosen.policies]:
        games, spent, asked = [], 0.0, 0
        try:
            for world in worlds:
                for start in range(chosen.starts):
                    board = Board(world.graph, world.title_vectors, chosen.queries)
                    player = made(name, prior)
                    began = time.process_time()
                    transcript = play(board, player, world.oracle, seed=start)
                    spent += time.process_time() - began
                    asked += len(transcript.tested)
                    games.append([transcript.found[one - 1] for one in budgets])
        except (AskewError, ModuleNotFoundError) as error:
            print(f"{name}: left out: {error}")
            continue
        found[name], seconds[name] = np.array(games, float), spent / asked
        against = found[name].mean(axis=0) / found["uniform"].mean(axis=0)
        columns = "  ".join(
            f"@{budget} {mean:6.1f} ({ratio:.1f}x)"
            for budget, mean, ratio in zip(budgets, found[name].mean(axis=0), against, strict=True)
        )
        print(f"{name:16} {columns}  {1000 * seconds[name]:.2f} ms a query", flush=True)
    uniform = found["uniform"].mean(axis=0)
    best = max(found, key=lambda name: float(found[name].mean(axis=0)[-1]))
    ratios = found[best].mean(axis=0) / uniform
    good = bool(ratios[0] >= AIM and ratios[-1] >= AIM and seconds[best] <= LONGEST_DECISION)
    print(
        f"{best}: {ratios[0]:.1f}x and {ratios[-1]:.1f}x uniform (at least {AIM:.0f}), "
        f"{1000 * seconds[best]:.1f} ms a decision (at most {1000 * LONGEST_DECISION:.0f}): "
        f"{'yes' if good else 'NO'}"
    )
    return int(not good)


if __name__ == "__main__":
    raise SystemExit(main())
