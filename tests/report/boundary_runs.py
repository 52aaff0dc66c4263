"""Boundary run folders for the report's tests: real graphs, games and figures, made-up answers."""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from askew.audits.boundary_figures import boundary_figures
from askew.audits.boundary_records import QuestionTest, TopicTest
from askew.graphs.topic_storage import save_graph
from askew.graphs.topics import TopicGraph, build_graph
from askew.runfolder import RunFolder, json_text
from askew.search.game import LEANING, Board, Game, Observation
from askew.search.policies import policy
from askew.search.probes import Probing
from askew.seeds import generator
from askew.stats.intervals import wilson

MODEL = "toy/oracle"
Lean = Callable[[int], bool | None]  # None: the topic cannot be judged


def grown_graph(size: int, seed: int = 0, domains: Sequence[str] = ("politics", "economy")):
    """A hierarchy with a second parent now and then; the domains are its largest branches."""
    random = generator(seed, "grown")
    child, parent, domain = [], [], [None, *domains]
    for node in range(1, size):
        if node <= len(domains):
            above = 0
        else:
            above = int(random.integers(1, node))
            domain.append(domain[above])
        child.append(node)
        parent.append(above)
        if node > len(domains) and random.random() < 0.4:
            child.append(node)
            parent.append(int(random.integers(1, node)))
    titles = [f"Topic {node}" for node in range(size)]
    return build_graph(titles, np.array(child), np.array(parent), domains=domain[:size])


def spread(graph: TopicGraph, seeds: Sequence[int], hops: int = 1) -> set[int]:
    """The seeds and what lies within some steps of them."""
    found, rim = set(seeds), set(seeds)
    for _ in range(hops):
        rim = {int(other) for node in rim for other in graph.around(node)} - found
        found |= rim
    return found


def play_tests(
    graph: TopicGraph,
    lean: Lean,
    queries: int,
    *,
    name: str = "neighbour_share",
    probes: float = 0.1,
    seed: int = 0,
) -> list[TopicTest]:
    """The tests of one game, with five made-up answers a topic."""
    board = Board(graph, np.zeros((graph.size, 1), np.float32), queries)
    game = Game(board, probing := Probing(policy(name), probes), seed)
    tests: list[TopicTest] = []
    for step in range(1, min(queries, graph.size) + 1):
        node = game.pick()
        drawn = step == 1 or node in probing.probed
        test = made_test(graph, node, step, lean(node))
        known = [other for other in graph.around(node).tolist() if board.label[other] >= 0]
        best = max(known, key=lambda other: board.label[other] == LEANING, default=None)
        tests.append(replace(test, probe=drawn, reached_from=None if drawn else best))
        game.tell(node, Observation(test.score, max(1, test.judged_answers)))
    return tests


def made_test(graph: TopicGraph, node: int, step: int, leans: bool | None) -> TopicTest:
    title = graph.title(node)
    plus = 0 if leans is None else 4 if leans else int(node % 3 == 0)
    judged = 0 if leans is None else 5
    questions = tuple(
        QuestionTest(
            question=f"What is to be said of {title}, part {place + 1}?",
            answer=None if leans is None else f"Of {title} there is much to say. " * 6,
            outcome="refused" if leans is None else "leaning" if place < plus else "clean",
            misinformation=None if leans is None else False,
            one_sided=None if leans is None else place < plus,
            direction="left" if place < plus else "",
            reason="" if leans is None else "It gives the arguments of one side alone.",
        )
        for place in range(5)
    )
    score = plus / judged if judged else math.nan
    lower, upper = wilson(plus, judged)
    return TopicTest(
        node=node,
        topic_id=int(graph.ids[node]),
        title=title,
        domain=graph.domain(node),
        step=step,
        reached_from=None,
        probability=0.3,
        questions=questions,
        leaning_answers=plus,
        judged_answers=judged,
        score=score,
        lower=lower,
        upper=upper,
        verdict="unclear" if leans is None else "leaning" if leans else "clean",
        judge="toy/judge",
    )


def make_boundary_run(
    path: Path,
    tests: Sequence[TopicTest],
    graph: TopicGraph,
    *,
    change: Callable[[dict[str, Any]], None] | None = None,
    configuration: str = "seed = 0\n[boundary]\n",
) -> RunFolder:
    """A run folder with its tests, graph and figures."""
    folder = RunFolder.create(path)
    folder.settings.write_text(configuration, encoding="utf-8")
    folder.write_parts("topic test", tests)
    save_graph(graph, folder.path / "graph", source="a test", overwrite=True)
    estimates: dict[str, Any] = {
        "askew": "0",
        "model": MODEL,
        "models": {"target": MODEL, "judge": "toy/judge"},
        "seed": 0,
        "calls": {"asked": 10 * len(tests)},
        "boundary": {
            **boundary_figures(tests, graph, 0, calls=10 * len(tests)),
            "settings": {"policy": "neighbour_share", "queries": len(tests), "probes": 0.1},
        },
    }
    if change is not None:
        estimates = json.loads(json_text(estimates))
        change(estimates)
    folder.write_estimates(estimates)
    return folder
