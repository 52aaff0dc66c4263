"""The boundary audit's figures as `estimates.json` holds them: what was found, what is left."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, replace
from typing import get_args

import numpy as np

from askew.audits.boundary_records import (
    AnswerOutcome,
    QuestionSource,
    TopicTest,
    TopicVerdict,
)
from askew.errors import DataError
from askew.graphs.topics import TopicGraph
from askew.records import Estimate
from askew.scores.judge_address import speaks_to_judge
from askew.stats.intervals import Clusters, Numbers, rate_estimate
from askew.stats.neighbour_lift import NeighbourLift, already_beside, neighbour_lift
from askew.stats.rates import Rate
from askew.stats.two_shares import difference, ratio, share
from askew.stats.undiscovered import Probe, from_belief, from_probes

RECENT = 30  # tests that the advice on stopping looks back on
NO_DOMAIN = "no domain"
SCORE_STEPS = 10  # bins of the scores' distribution
JUDGED: tuple[TopicVerdict, ...] = ("leaning", "clean")


def boundary_figures(
    tests: Sequence[TopicTest],
    graph: TopicGraph,
    seed: int,
    *,
    remaining: Numbers | None = None,
    calls: int | None = None,
) -> dict[str, object]:
    """Every figure of one search.

    Args:
        tests: in any order; `step` says which came when.
        graph: of the run: the part of it that was searched.
        seed: of permutations and draws.
        remaining: shape (topics not tested,): what the belief gives the topics that are left, in
            the order of the graph; None where the policy has no belief.
        calls: that the search has asked, of all roles; None where it is not known.

    Raises:
        DataError: the tests are not of this graph, or a topic was tested twice.
    """
    made = in_order(tests, graph)
    judged = [test for test in made if test.verdict in JUDGED]
    leaning = [test for test in made if test.verdict == "leaning"]
    by_node = {test.node: test for test in made}
    undiscovered = _undiscovered(made, graph, remaining, seed)
    return {
        "topics": {
            "graph": graph.size,
            "edges": graph.edges,
            "tested": len(made),
            **{verdict: _count(made, verdict) for verdict in get_args(TopicVerdict)},
            "probes": sum(test.probe for test in made),
        },
        "leaning_share": _leaning_share(made),
        "by_domain": _by_domain(made, graph),
        "answers": _answer_figures(made),
        "questions": {kind: _source_count(made, kind) for kind in get_args(QuestionSource)},
        "scores": _score_counts(judged),
        "clustering": asdict(_clustering(judged, graph, seed)),
        "guidance": _guidance(made),
        "undiscovered": undiscovered,
        "uniform_share": _uniform_share(made, graph, undiscovered),
        "left_share": _left_share(made, graph, undiscovered),
        "curve": np.cumsum([test.verdict == "leaning" for test in made], dtype=int).tolist(),
        "recent": _recent(made),
        "cost": _cost(made, len(leaning), calls),
        "findings": [_finding(test, by_node) for test in strongest(leaning)],
    }


def in_order(tests: Sequence[TopicTest], graph: TopicGraph) -> list[TopicTest]:
    """The tests by step, checked against their graph.

    Raises:
        DataError: see `boundary_figures`.
    """
    made = sorted(tests, key=lambda test: test.step)
    seen: dict[int, int] = {}
    for test in made:
        if not 0 <= test.node < graph.size:
            raise DataError(
                f"step {test.step} tested topic {test.node} ({test.title!r}), but the graph has "
                f"{graph.size} topics. Give the graph that the run was made with."
            )
        if test.node in seen:
            raise DataError(
                f"topic {test.title!r} was tested at step {seen[test.node]} and again at step "
                f"{test.step}; a search tests a topic once. The run folder is damaged."
            )
        seen[test.node] = test.step
    return made


def strongest(leaning: Sequence[TopicTest]) -> list[TopicTest]:
    """The findings that rest on most first: by the lower end of the score, then the score."""

    def weight(test: TopicTest) -> tuple[float, float, int]:
        lower = -1.0 if math.isnan(test.lower) else test.lower
        return -lower, -test.score if not math.isnan(test.score) else 1.0, test.step

    return sorted(leaning, key=weight)


def path_to(test: TopicTest, by_node: Mapping[int, TopicTest]) -> list[TopicTest]:
    """The tested topics by which a search came to one, the start first, the topic itself last."""
    path, seen = [test], {test.node}
    while path[-1].reached_from is not None:
        before = by_node.get(path[-1].reached_from)
        if before is None or before.node in seen:
            break
        path.append(before)
        seen.add(before.node)
    return path[::-1]


def _count(tests: Sequence[TopicTest], verdict: TopicVerdict) -> int:
    return sum(test.verdict == verdict for test in tests)


def _source_count(tests: Sequence[TopicTest], source: QuestionSource) -> int:
    return sum(test.source == source for test in tests)


def _rate(tests: Sequence[TopicTest]) -> Rate:
    """Leaning ones out of those that could be judged."""
    leaning, clean = _count(tests, "leaning"), _count(tests, "clean")
    return Rate(leaning, leaning + clean)


def _leaning_share(tests: Sequence[TopicTest]) -> Estimate:
    rate = _rate(tests)
    note = "" if rate.trials else "no test could be judged" if tests else "nothing was tested"
    return share(rate, asked=len(tests), note=note)


def _by_domain(tests: Sequence[TopicTest], graph: TopicGraph) -> dict[str, object]:
    """Domain -> topics, tests, verdicts and the share of leaning ones; most tested first."""
    sizes = Counter(
        NO_DOMAIN if index < 0 else graph.domains[index] for index in graph.domain_of.tolist()
    )
    tested = Counter(test.domain or NO_DOMAIN for test in tests)
    names = sorted({*sizes, *tested}, key=lambda name: (-tested[name], name))
    found: dict[str, object] = {}
    for name in names:
        own = [test for test in tests if (test.domain or NO_DOMAIN) == name]
        found[name] = {
            "topics": sizes[name],
            "tested": len(own),
            **{verdict: _count(own, verdict) for verdict in get_args(TopicVerdict)},
            "leaning_share": _leaning_share(own),
        }
    return found


def _answer_figures(tests: Sequence[TopicTest]) -> dict[str, object]:
    """What the answers came to; shares with the answers of one topic as one cluster."""
    outcomes = [(str(test.node), one.outcome) for test in tests for one in test.questions]
    clusters = Clusters.of([node for node, _ in outcomes])
    asked = np.ones(len(outcomes), np.bool_)

    def of(*kinds: AnswerOutcome) -> Estimate:
        hit = np.array([outcome in kinds for _, outcome in outcomes], np.bool_)
        note = "" if outcomes else "no question was asked"
        return rate_estimate(hit, asked, clusters, asked=len(outcomes), note=note)

    counts = Counter(outcome for _, outcome in outcomes)
    return {
        "asked": len(outcomes),
        "outcomes": {name: counts[name] for name in get_args(AnswerOutcome)},
        "leaning": of("leaning"),
        "refused": of("refused"),
        "unusable": of("truncated", "blocked", "error", "unjudged"),
        "misinformation": sum(q.misinformation is True for t in tests for q in t.questions),
        "one_sided": sum(q.one_sided is True for t in tests for q in t.questions),
        "speak_to_judge": sum(
            bool(q.judge_key and q.answer and speaks_to_judge(q.answer))
            for t in tests
            for q in t.questions
        ),
    }


def _score_counts(judged: Sequence[TopicTest]) -> dict[str, object]:
    """How many topics have a score in each tenth; the last tenth holds 1 as well."""
    scores = np.array([test.score for test in judged if not math.isnan(test.score)], np.float64)
    counts, edges = np.histogram(scores, bins=SCORE_STEPS, range=(0.0, 1.0))
    return {"edges": edges.round(3).tolist(), "topics": counts.tolist()}


def _clustering(judged: Sequence[TopicTest], graph: TopicGraph, seed: int) -> NeighbourLift:
    leaning = np.array([test.verdict == "leaning" for test in judged], np.bool_)
    nodes = [test.node for test in judged]
    beside = already_beside(graph, nodes, leaning, np.ones(len(nodes), np.bool_))
    return neighbour_lift(leaning, *beside, seed=seed)


def _guidance(tests: Sequence[TopicTest]) -> dict[str, Estimate]:
    """What the policy's own picks found beside uniform draws; the worth of being guided."""
    guided = _rate([test for test in tests if not test.probe])
    probed = _rate([test for test in tests if test.probe])
    no_probe = "no uniformly drawn test could be judged"
    return {
        "guided": share(guided, note="" if guided.trials else "no pick of the policy was judged"),
        "probes": share(probed, note="" if probed.trials else no_probe),
        "difference": difference(guided, probed),
        "gain": ratio(guided, probed),
    }


def _undiscovered(
    tests: Sequence[TopicTest], graph: TopicGraph, remaining: Numbers | None, seed: int
) -> dict[str, Estimate]:
    leaning = np.array([test.verdict == "leaning" for test in tests], np.bool_)
    before = leaning.cumsum() - leaning
    probes = [
        Probe(leaning=bool(leaning[place]), tested=place, found=int(before[place]))
        for place, test in enumerate(tests)
        if test.probe
    ]
    found, left = int(leaning.sum()), graph.size - len(tests)
    by_probes = from_probes(probes, topics=graph.size, tested=len(tests), found=found)
    unread = sum(test.probe and test.verdict not in JUDGED for test in tests)
    if left:
        by_probes = _with_unread(by_probes, unread)
    if remaining is None or not len(tests):
        nan = math.nan
        note = "the policy keeps no probabilities of the topics left"
        by_belief = Estimate(nan, nan, nan, 0, nan, "none", note=note)
    else:
        if len(remaining) != left:
            raise ValueError(f"{len(remaining)} probabilities for {left} topics that are left")
        kept = [test for test in tests if test.verdict in JUDGED]
        told = [math.nan if t.probability is None else t.probability for t in kept]
        said = np.array([test.verdict == "leaning" for test in kept], np.bool_)
        by_belief = from_belief(np.array(told, np.float64), said, remaining, seed=seed)
    return {"probes": by_probes, "belief": by_belief}


def _with_unread(left: Estimate, unread: int) -> Estimate:
    """A draw that could not be judged has found nothing, and shows no absence either."""
    if not unread:
        return left
    if unread == left.n:
        nan, note = math.nan, "no uniformly drawn test could be judged"
        return replace(left, value=nan, lower=nan, upper=nan, note=note)
    note = (
        f"{unread} of {left.n} uniform draws could not be judged: topics like those are not among "
        "the ones counted"
    )
    return replace(left, note=note)


def _uniform_share(
    tests: Sequence[TopicTest], graph: TopicGraph, undiscovered: Mapping[str, Estimate]
) -> Estimate:
    """What share of uniformly drawn tests would find a leaning topic: (found + left) ÷ topics."""
    return _as_share(undiscovered["probes"], _count(tests, "leaning"), graph.size)


def _left_share(
    tests: Sequence[TopicTest], graph: TopicGraph, undiscovered: Mapping[str, Estimate]
) -> Estimate:
    """What share of draws from the topics left would find one: left ÷ untested."""
    return _as_share(undiscovered["probes"], 0, graph.size - len(tests))


def _as_share(left: Estimate, found: int, topics: int) -> Estimate:
    if not left.defined or not topics:
        note = left.note or "no topic is left"
        return replace(left, value=math.nan, lower=math.nan, upper=math.nan, note=note)
    value, lower, upper = ((found + end) / topics for end in (left.value, left.lower, left.upper))
    return replace(left, value=value, lower=lower, upper=upper)


def _recent(tests: Sequence[TopicTest]) -> dict[str, object]:
    """The last tests, for the advice whether to go on."""
    last = tests[-RECENT:]
    return {
        "tests": len(last),
        "leaning": _count(last, "leaning"),
        "leaning_share": _leaning_share(last),
        "guided_share": _leaning_share([test for test in last if not test.probe]),
    }


def _cost(tests: Sequence[TopicTest], found: int, calls: int | None) -> dict[str, float | None]:
    def each(number: int) -> float:
        return calls / number if calls is not None and number else math.nan

    return {
        "calls": calls,
        "calls_per_topic": each(len(tests)),
        "calls_per_finding": each(found),
        "topics_per_finding": len(tests) / found if found else math.nan,
    }


def _finding(test: TopicTest, by_node: Mapping[int, TopicTest]) -> dict[str, object]:
    return {
        "topic_id": test.topic_id,
        "title": test.title,
        "domain": test.domain,
        "step": test.step,
        "probe": test.probe,
        "score": test.score,
        "lower": test.lower,
        "upper": test.upper,
        "leaning_answers": test.leaning_answers,
        "judged_answers": test.judged_answers,
        "directions": list(_directions(test)),
        "path": [one.title for one in path_to(test, by_node)],
    }


def _directions(test: TopicTest) -> Iterator[str]:
    """Where its leaning answers lean, in the judge's words, most often first."""
    said = Counter(one.direction for one in test.questions if one.outcome == "leaning")
    yield from (direction for direction, _ in said.most_common() if direction)
