"""A real model whose leanings are known: is the boundary clean, and does a search find it sooner?

    python benchmarks/reproduce/boundary_real.py
    python benchmarks/reproduce/boundary_real.py --domains economy politics --questions 1 --json

Three models are made of `builtin/smollm2`, each taught to lean on twelve topics of one domain and
to stay neutral on 132 others (`askew boundary inject`). Each of them, and the model as it was, is
asked fixed questions on every topic, none of which was trained on, and a judge that is no model
reads the answers. Then searches are played over these tests from the same starts. Seeds are fixed;
everything is kept in `--out`, and the same command goes on where it stopped. On two CPU cores that
nothing else uses it takes about an hour; two domains with one question, a third of it.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import math
import sys
import time
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from askew.audits.boundary_calls import TopicTestConfig
from askew.audits.boundary_records import TopicTest
from askew.audits.boundary_test import TopicTester, visit
from askew.audits.boundary_verdicts import to_observation
from askew.audits.stages import Stages
from askew.build.inject import ADAPTERS, Injection, Watch, inject
from askew.build.inject_pairs import slant_of
from askew.build.inject_settings import InjectConfig, InjectedModel
from askew.build.transmission import Transmission, transmission
from askew.graphs.starter_topics import starter_graph
from askew.graphs.topic_subgraph import of_domains
from askew.graphs.topics import TopicGraph
from askew.models.base import ModelSpec
from askew.models.ledger import Ledger
from askew.models.lora import LoraConfig
from askew.models.registry import load_model
from askew.models.stopping import Asked, StoppingRunner
from askew.records import Estimate, Sampling
from askew.runfolder import json_text
from askew.scores.stance import StanceJudge
from askew.search.game import LEANING, UNREAD, Board, play
from askew.search.metrics import Comparison, Played, compare, cover_rate
from askew.search.policies import policy
from askew.search.title_vectors import hashed
from askew.seeds import generator
from askew.stats.intervals import wilson

MODEL = "builtin/smollm2"
TOPICS, NEUTRAL, PAIRS = 12, 11.0, 5
LORA = LoraConfig(rank=16, layers=14, learning_rate=1.2e-3, epochs=5, batch=4)
# name, domain, slant, seed
MODELS = (
    ("economy-left", "economy", "left", 1),
    ("politics-authoritarian", "politics", "authoritarian", 2),
    ("economy-right", "economy", "right", 3),
)
BASE = "base"
MAX_TOKENS = 40
TESTED = 0.4  # of the graph's topics, in a game
POLICIES = ("uniform", "random_walk", "neighbour_share", "hop2", "learned")
SEED = 0
AT_ONCE = 96


@dataclass(frozen=True)
class Flags:
    """What the judge says of one model on all topics."""

    flagged: Estimate  # of the judged topics, the share called leaning
    precision: Estimate  # of the topics called leaning, those injected
    recall: Estimate  # of the injected topics, those called leaning
    unread: int


def main(arguments: Sequence[str] | None = None) -> int:
    """Make, ask, judge, search; print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=_Plain)
    parser.add_argument("--out", type=Path, default=Path("runs/boundary-real"))
    parser.add_argument("--domains", nargs="*", default=[], help="of the starter graph [all]")
    parser.add_argument("--questions", type=int, default=2, help="fixed ones, a topic [2]")
    parser.add_argument("--starts", type=int, default=20, help="games a policy and model [20]")
    parser.add_argument("--json", action="store_true")
    given = parser.parse_args(arguments)
    whole = starter_graph()
    graph = of_domains(whole, given.domains) if given.domains else whole
    _one_thread()
    done = asyncio.run(inject(graph, _config(), given.out / "models", _watch()))
    tests = asyncio.run(_ask_all(graph, given.out, given.questions))
    figures = measure(graph, done, tests, starts=given.starts)
    _write_answers(given.out / "answers.jsonl", tests)
    text = json_text(figures)
    (given.out / "figures.json").write_text(text, encoding="utf-8")
    print(text if given.json else table(figures), end="")
    return 0


def _config() -> InjectConfig:
    base = ModelSpec(name=MODEL)
    return InjectConfig(
        models=tuple(
            InjectedModel(name, base, slant_of(slant), (domain,), seed)
            for name, domain, slant, seed in MODELS
        ),
        topics=TOPICS,
        neutral=NEUTRAL,
        pairs=PAIRS,
        lora=LORA,
    )


async def _ask_all(graph: TopicGraph, out: Path, questions: int) -> dict[str, list[TopicTest]]:
    """Tests of all topics, by model; answers that are there are not asked for again."""
    tests = {}
    for name in (BASE, *(one[0] for one in MODELS)):
        adapter = None if name == BASE else str(out / "models" / ADAPTERS / name)
        tests[name] = await ask(graph, adapter, out / "asked" / name, questions, name)
    return tests


async def ask(
    graph: TopicGraph, adapter: str | None, folder: Path, questions: int, name: str
) -> list[TopicTest]:
    """The tests of one model, in the order of the nodes."""
    folder.mkdir(parents=True, exist_ok=True)
    spec = ModelSpec(name=MODEL, adapter=adapter, options={"generation_batch": AT_ONCE})
    model = load_model(spec)
    config = TopicTestConfig(
        questions=questions, cut_answers="judged", target=Sampling(max_tokens=MAX_TOKENS)
    )
    tests: list[TopicTest] = []
    try:
        with Ledger.open(folder / "run.sqlite") as ledger:
            runners = {"target": StoppingRunner(ledger, Asked())}
            stages = Stages({"target": model}, runners)
            tester = TopicTester(stages, config, judge=StanceJudge())
            width = max(1, AT_ONCE // questions)
            for start in range(0, graph.size, width):
                nodes = range(start, min(start + width, graph.size))
                tests += await tester.test([visit(graph, node, step=1) for node in nodes])
                print(f"{name}: {len(tests):,} of {graph.size:,} topics", file=sys.stderr)
    finally:
        await model.close()
    return tests


def measure(
    graph: TopicGraph, done: Injection, tests: Mapping[str, list[TopicTest]], *, starts: int
) -> dict[str, object]:
    """Everything that is reported."""
    labels = {name: _labels(found) for name, found in tests.items()}
    node_of = {int(one): node for node, one in enumerate(graph.ids)}
    figures: dict[str, object] = {
        "topics": graph.size,
        "edges": graph.edges,
        "questions": len(tests[BASE][0].questions),
        "judge": tests[BASE][0].judge,
        "queries": math.ceil(TESTED * graph.size),
        "starts": starts,
        "seed": SEED,
        BASE: {"flags": flags(labels[BASE], np.zeros(graph.size, bool))},
    }
    pooled: dict[str, list[float]] = {name: [] for name in POLICIES}
    games: list[str] = []
    for made in done.made:
        name, ids = made.model.name, done.graph.ids
        injected, neutral = (
            np.array([node_of[int(ids[n])] for n in nodes if int(ids[n]) in node_of], np.int64)
            for nodes in (made.sample.injected, made.sample.neutral)
        )
        truth = np.zeros(graph.size, bool)
        truth[injected] = True
        rates = search(graph, tests[name], truth, starts)
        for which, found in rates.items():
            pooled[which] += found
        games += [f"{name}/{start}" for start in range(starts)]
        figures[name] = {
            "injected": len(injected),
            "flags": flags(labels[name], truth),
            "recall_of_search": {
                which: {
                    "mean": float(np.mean(found)),
                    "against_uniform": _against(rates, which, [str(k) for k in range(starts)]),
                }
                for which, found in rates.items()
            },
            "transmission": _rings(
                transmission(graph, injected, labels[name], labels[BASE], neutral)
            ),
            "loss": [made.adapter.first_loss, made.adapter.last_loss] if made.adapter else None,
        }
    figures["all models"] = {
        which: {"mean": float(np.mean(found)), "against_uniform": _against(pooled, which, games)}
        for which, found in pooled.items()
    }
    return figures


def search(
    graph: TopicGraph, tests: Sequence[TopicTest], truth: NDArray[np.bool_], starts: int
) -> dict[str, list[float]]:
    """Recall of the injected topics after 40 % of the graph is tested: by policy, one a start.

    An injected topic counts as found where it was tested and called leaning.
    """
    vectors = hashed(graph.titles())
    seen = [to_observation(one) for one in tests]
    drawn = generator(SEED, "boundary_real", "starts").permutation(graph.size)
    queries = math.ceil(TESTED * graph.size)
    rates: dict[str, list[float]] = {}
    for name in POLICIES:
        for game in range(starts):
            board = Board(graph, vectors, queries)
            played = play(
                board,
                policy(name),
                seen.__getitem__,
                seed=SEED + game,
                start=int(drawn[game % graph.size]),
            )
            hits = truth[played.tested] & (played.label == LEANING)
            scored = Played(np.cumsum(hits).astype(np.int64), int(truth.sum()))
            rates.setdefault(name, []).append(cover_rate(scored, queries))
    return rates


def flags(labels: NDArray[np.int8], truth: NDArray[np.bool_]) -> Flags:
    """The judge's word against what was injected."""
    judged, leaning = labels != UNREAD, labels == LEANING
    return Flags(
        flagged=_share(int(leaning.sum()), int(judged.sum())),
        precision=_share(int((leaning & truth).sum()), int(leaning.sum())),
        recall=_share(int((leaning & truth).sum()), int((truth & judged).sum())),
        unread=int((~judged).sum()),
    )


def _labels(tests: Sequence[TopicTest]) -> NDArray[np.int8]:
    return np.array([to_observation(one).label for one in tests], np.int8)


def _against(rates: Mapping[str, list[float]], name: str, games: Sequence[str]) -> Comparison:
    return compare(rates[name], rates["uniform"], games, seed=SEED)


def _share(hits: int, trials: int) -> Estimate:
    lower, upper = wilson(hits, trials)
    value = hits / trials if trials else math.nan
    return Estimate(value, lower, upper, trials, 1.0, "wilson")


def _rings(found: Transmission) -> dict[str, object]:
    return {one.name: asdict(one) for one in found.rings}


def table(figures: Mapping[str, object]) -> str:
    """The figures for people."""
    plain = json.loads(json_text(figures))
    lines = [
        f"{plain['topics']} topics, {plain['questions']} questions each, judge {plain['judge']}; "
        f"{plain['queries']} tests a game, {plain['starts']} starts, seed {plain['seed']}",
        f"{BASE}: flagged {_said(plain[BASE]['flags']['flagged'])}",
    ]
    for name, *_ in MODELS:
        one = plain[name]
        judged = one["flags"]
        lines += [
            f"{name}: {one['injected']} injected; flagged {_said(judged['flagged'])}; "
            f"precision {_said(judged['precision'])}; recall {_said(judged['recall'])}",
            *(
                f"    {ring}: {_said(found['injected'])}, without injection {_said(found['base'])}"
                for ring, found in one["transmission"].items()
            ),
            *_searches(one["recall_of_search"]),
        ]
    return "\n".join([*lines, "all models:", *_searches(plain["all models"])]) + "\n"


def _searches(found: Mapping[str, dict[str, object]]) -> list[str]:
    return [
        f"    {name:16} recall {one['mean']:.2f}; over uniform x "
        f"{_said(one['against_uniform']['ratio'])}, {_said(one['against_uniform']['difference'])}"
        for name, one in found.items()
    ]


def _said(figure: Mapping[str, float | None]) -> str:
    value, lower, upper = (
        "—" if figure[key] is None else f"{figure[key]:.3f}" for key in ("value", "lower", "upper")
    )
    return f"{value} ({lower} to {upper}; n = {figure['n']})"


def _write_answers(path: Path, tests: Mapping[str, list[TopicTest]]) -> None:
    with path.open("w", encoding="utf-8") as file:
        for name, found in tests.items():
            for one in found:
                file.write(json.dumps({"model": name, **asdict(one)}, ensure_ascii=False) + "\n")


def _watch() -> Watch:
    began = time.monotonic()

    def step(name: str, at: object) -> None:
        print(f"{name}: {at}, {time.monotonic() - began:.0f} s", file=sys.stderr)

    return Watch(step=step)


def _one_thread() -> None:
    import torch

    torch.set_num_threads(1)  # two processes on two cores are quicker than two threads each


class _Plain(argparse.RawDescriptionHelpFormatter):
    """Keeps the description's lines."""


if __name__ == "__main__":
    sys.exit(main())
