"""The compiled game beside a plain networkx one, and what a search of Wikipedia's size costs.

All rates are CPU time on one thread, of one run, so that other work on the machine does not enter.
Two plain games stand beside it. "Plain" is written as Algorithm 1 reads: a networkx graph, the
frontier as a set, the distance of Eq. 3 by a search from the path that ends at the first leaning
topic it meets. "Careful" keeps lists, a heap and one field of distances for all tries, and searches
after a hit alone: it shows what the better algorithm gains, and what the compiler does.

    python benchmarks/speed/boundary_environment.py            # 1,500 topics, then 871,854
    python benchmarks/speed/boundary_environment.py --quick    # then 100,000
"""

from __future__ import annotations

import argparse
import heapq
import random
import time
from collections.abc import Callable
from functools import partial

import networkx
import numpy as np

from askew.graphs.topics import TopicGraph
from askew.search.compiled import BoundaryEnvironment, RewardWeights
from askew.search.distance import DistanceField
from askew.search.game import Board, play
from askew.search.policies import policy
from askew.search.simulate import SimulatorSettings, simulate, simulate_large
from askew.search.title_vectors import hashed
from askew.search.worlds import World

FULL = 871_854  # topics of the paper's graph; with so many parents a topic it has 5 million edges
FULL_PARENTS = 6.45
STEPS = 100  # of a try
AIMS = {
    "random moves / networkx": 80.0,
    "arg max moves / networkx": 25.0,
    "full search / distance update": 1000.0,
}
MOST = {"graph, MB": 120.0, "1,000 queries, s": 5.0}


class PlainGame:
    """The frontier game with networkx, rewards of Eq. 3, a plain and a careful way."""

    def __init__(self, world: World, scores: np.ndarray) -> None:
        graph = world.graph
        self.graph = networkx.Graph()
        self.graph.add_nodes_from(range(graph.size))
        self.graph.add_edges_from(
            (node, int(other)) for node in range(graph.size) for other in graph.around(node)
        )
        self.leaning = {int(node) for node in np.flatnonzero(world.leaning)}
        self.scores = scores.tolist()
        self.weights = RewardWeights()
        self.distances = networkx.multi_source_dijkstra_path_length(
            self.graph, self.leaning, weight=None
        )

    def nearest(self, tested: set[int]) -> float:
        """Edges from the tested topics to the nearest leaning one that is not tested."""
        level, seen, steps = list(tested), set(tested), 0
        while level:
            steps += 1
            after = []
            for node in level:
                for other in self.graph[node]:
                    if other not in seen:
                        if other in self.leaning:
                            return steps
                        seen.add(other)
                        after.append(other)
            level = after
        return float("inf")

    def reward(self, hit: bool, nearest: float) -> float:
        """Eq. 3."""
        return self.weights.hit * hit - self.weights.test + self.weights.near / (nearest + 1)

    def play_plainly(self, start: int, steps: int, epsilon: float, draw: random.Random) -> int:
        """One try as the paper writes it; how many tests it made."""
        tested: set[int] = set()
        frontier: set[int] = set()
        node, total = start, 0.0
        for _ in range(steps):
            tested.add(node)
            frontier.discard(node)
            frontier |= {other for other in self.graph[node] if other not in tested}
            hit = node in self.leaning
            total += self.reward(hit, self.nearest(tested))
            if hit or not frontier:
                break
            if draw.random() < epsilon:
                node = draw.choice(list(frontier))
            else:
                node = max(frontier, key=self.scores.__getitem__)
        return len(tested)

    def play_carefully(self, start: int, steps: int, epsilon: float, draw: random.Random) -> int:
        """The same try with less work; how many tests it made."""
        tested: set[int] = set()
        frontier: list[int] = []  # with what was tested since: skipped when drawn
        heap: list[tuple[float, int]] = []
        opened = {start}
        nearest = float("inf")
        node, total = start, 0.0
        for _ in range(steps):
            tested.add(node)
            hit = node in self.leaning
            if hit:
                nearest = self.nearest(tested)
            else:
                nearest = min(nearest, self.distances.get(node, float("inf")))
            total += self.reward(hit, nearest)
            if hit:
                break
            for other in self.graph[node]:
                if other not in opened:
                    opened.add(other)
                    frontier.append(other)
                    if epsilon < 1:
                        heapq.heappush(heap, (-self.scores[other], other))
            if len(tested) == len(opened):
                break
            if draw.random() < epsilon:
                node = draw.choice(frontier)
                while node in tested:
                    node = draw.choice(frontier)
            else:
                node = heapq.heappop(heap)[1]
                while node in tested:
                    node = heapq.heappop(heap)[1]
        return len(tested)


def rate(run: Callable[[], int], least: float = 1.0) -> float:
    """Steps a CPU-second, of calls that take at least so many seconds together."""
    run()  # compiles, and fills the caches
    began, steps = time.process_time(), 0
    while time.process_time() - began < least:
        steps += run()
    return steps / (time.process_time() - began)


def environment_rates(figures: dict[str, float]) -> None:
    """Steps a second on a domain graph, compiled and plain."""
    world = simulate(1, SimulatorSettings(nodes=1500))
    generator = np.random.default_rng(0)
    scores = generator.random(world.graph.size).astype(np.float32)
    begins = generator.integers(world.graph.size, size=5000)
    plain, draw = PlainGame(world, scores), random.Random(0)
    compiled = BoundaryEnvironment(world.graph, world.leaning)
    for name, epsilon in (("random", 1.0), ("arg max", 0.2)):
        given = None if epsilon == 1 else scores

        def by_plain(play: Callable[..., int], epsilon: float = epsilon) -> int:
            return sum(play(start, STEPS, epsilon, draw) for start in begins[:300].tolist())

        def by_compiled(epsilon: float = epsilon, given: np.ndarray | None = given) -> int:
            return compiled.play(begins, STEPS, scores=given, epsilon=epsilon).steps

        plainly = rate(partial(by_plain, plain.play_plainly))
        carefully = rate(partial(by_plain, plain.play_carefully))
        fast = rate(by_compiled)
        print(
            f"1,500 topics, {name} moves: networkx {plainly:,.0f} steps/s plainly and "
            f"{carefully:,.0f} carefully, compiled {fast:,.0f} (x{fast / carefully:.0f} careful)"
        )
        figures[f"{name} moves / networkx"] = fast / plainly


def graph_bytes(graph: TopicGraph) -> int:
    """Of the arrays that a search walks on (titles are read from disk)."""
    return graph.starts.nbytes + graph.neighbours.nbytes + graph.direction.nbytes


def large_graph(nodes: int, figures: dict[str, float]) -> None:
    """Distances, a game and memory on a graph of Wikipedia's size."""
    began = time.process_time()
    world = simulate_large(nodes, 0, parents=FULL_PARENTS)
    graph = world.graph
    print(
        f"{graph.size:,} topics, {graph.edges:,} edges, {world.positives:,} leaning: "
        f"grown in {time.process_time() - began:.1f} s"
    )
    figures["graph, MB"] = graph_bytes(graph) / 1e6

    began = time.process_time()
    vectors = hashed(graph.titles(), 16)
    print(f"title vectors, 16 dimensions: {time.process_time() - began:.1f} s")

    field = DistanceField(graph, world.leaning)
    began = time.process_time()
    field = DistanceField(graph, world.leaning)
    search = time.process_time() - began
    order = np.random.default_rng(0).permutation(np.flatnonzero(world.leaning))[:2000]
    field.drop(int(order[0]))
    began = time.process_time()
    for source in order[1:].tolist():
        field.drop(source)
    update = (time.process_time() - began) / (len(order) - 1)
    print(f"distances: full search {search:.3f} s, update {update * 1e6:.1f} us")
    figures["full search / distance update"] = search / update

    environment = BoundaryEnvironment(graph, world.leaning)
    generator = np.random.default_rng(0)
    scores = generator.random(graph.size).astype(np.float32)
    begins = generator.integers(graph.size, size=200)
    for name, given, epsilon in (("random", None, 1.0), ("arg max", scores, 0.2)):
        speed = rate(
            lambda g=given, e=epsilon: environment.play(begins, 2000, scores=g, epsilon=e).steps
        )
        print(f"{name} moves: {speed:,.0f} steps/s")

    for name in ("neighbour_share", "hop2"):
        began = time.process_time()
        board = Board(graph, vectors, 1000)
        found = play(board, policy(name), world.oracle, seed=1, start=int(order[0])).found[-1]
        took = time.process_time() - began
        print(f"a game of 1,000 queries, {name}: {took:.2f} s, {found} found")
        figures["1,000 queries, s"] = max(figures.get("1,000 queries, s", 0.0), took)


def main() -> int:
    """Measure and print; 1 where an aim is missed."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--quick", action="store_true", help="100,000 topics in place of 871,854")
    figures: dict[str, float] = {}
    environment_rates(figures)
    large_graph(100_000 if parser.parse_args().quick else FULL, figures)
    missed = 0
    for name, figure in figures.items():
        aim = AIMS.get(name, MOST.get(name, 0.0))
        good = figure >= aim if name in AIMS else figure <= aim
        missed += not good
        word = "at least" if name in AIMS else "at most"
        print(f"{name:32} {figure:10,.1f}  {word} {aim:,.0f}: {'yes' if good else 'NO'}")
    return int(missed > 0)


if __name__ == "__main__":
    raise SystemExit(main())
