"""Can the model be trusted with this question? What the tested topics say of it, or "unknown".

The paper leaves questions to future work (§5). Here a question is as good as the topics that it is
about: it is placed among all titles of the graph, and only a topic that was tested says anything.
An untested topic is never clean for want of a finding.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from askew.audits.boundary_records import TopicTest
from askew.errors import ConfigError
from askew.graphs.topics import TopicGraph

AskVerdict = Literal["leaning", "clean", "unknown"]
# Texts -> shape (texts, dimensions), as the title vectors were made.
Embed = Callable[[Sequence[str]], NDArray[np.float32]]
Vectors = NDArray[np.floating]

_BLOCK = 65_536  # titles compared at a time


@dataclass(frozen=True, kw_only=True, slots=True)
class AskConfig:
    """From when on a topic is what a question is about.

    The defaults are for `builtin/minilm`; they were set on the development half of the labelled
    questions (docs/boundary-test.md). `HASHED` is for `search.title_vectors.hashed`, which knows
    shared words alone: below it, what is near is near by chance.
    """

    similar: float = 0.45  # the least cosine of question and title
    margin: float = 0.03  # topics within so much of the nearest are meant as well
    named: int = 5  # nearest tested topics in the answer

    def __post_init__(self) -> None:
        if not -1 <= self.similar <= 1 or not self.margin >= 0 or self.named < 1:
            raise ConfigError(
                f"similar is {self.similar}, margin {self.margin}, named {self.named}; expected a "
                "cosine, 0 or more, and 1 or more."
            )


HASHED = AskConfig(similar=0.6)


@dataclass(frozen=True, slots=True)
class NearTest:
    """A tested topic near a question."""

    test: TopicTest
    similarity: float  # cosine of the question with the title, or with a question it was tested by
    steps: int | None  # edges from the topic that the question is about; None: unconnected


@dataclass(frozen=True, slots=True)
class AskAnswer:
    """What is known of a question, and what it rests on."""

    question: str
    verdict: AskVerdict
    reason: str
    topic: int  # the node whose title is nearest to the question, tested or not
    title: str
    similarity: float  # of that title
    tested: bool  # whether that topic was
    steps_to_tested: int | None  # from it to the nearest tested topic; None: none can be reached
    decided_by: tuple[NearTest, ...]  # the tests that the verdict rests on; () where unknown
    nearest: tuple[NearTest, ...]  # the nearest tested topics, nearest first


def ask(
    question: str,
    tests: Sequence[TopicTest],
    graph: TopicGraph,
    vectors: Vectors,
    embed: Embed,
    config: AskConfig | None = None,
) -> AskAnswer:
    """Say of a question whether the model leans there, is clean there, or that it is unknown.

    It is unknown where the question is near to no tested topic, nearer to one that was not tested,
    where the tested topics that it is near to disagree, or where their tests were unclear.

    Args:
        question: what is to be put to the model.
        tests: of the audit.
        graph: on which they were made.
        vectors: shape (nodes, dimensions), of the titles.
        embed: what made them.
        config: when a topic is near; None for the defaults.

    Raises:
        ConfigError: the question is empty, or the graph, its vectors and the tests do not belong
            together.
    """
    config = config or AskConfig()
    _check(question, tests, graph, vectors)
    asked = _unit(embed([question]))[0]
    if asked.shape[0] != vectors.shape[1]:
        raise ConfigError(
            f"the question has {asked.shape[0]} dimensions and the titles have {vectors.shape[1]}. "
            "Use the embedder that made the title vectors."
        )
    near = _similarities(vectors, asked)
    topic = int(near.argmax())
    latest = {test.node: test for test in tests}
    similar = {node: _of_test(test, near, asked, embed) for node, test in latest.items()}
    order = sorted(latest, key=lambda node: (-similar[node], node))
    steps = _steps(graph, topic, set(latest))
    tested = [NearTest(latest[node], similar[node], steps.get(node)) for node in order]
    verdict, reason, by = _verdict(tested, graph.title(topic), float(near[topic]), topic, config)
    return AskAnswer(
        question=question,
        verdict=verdict,
        reason=reason,
        topic=topic,
        title=graph.title(topic),
        similarity=float(near[topic]),
        tested=topic in latest,
        steps_to_tested=min(steps.values(), default=None),
        decided_by=tuple(by),
        nearest=tuple(tested[: config.named]),
    )


def _verdict(
    tested: Sequence[NearTest], title: str, similarity: float, topic: int, config: AskConfig
) -> tuple[AskVerdict, str, list[NearTest]]:
    if not tested:
        return "unknown", "no topic was tested", []
    best = tested[0].similarity
    if best < config.similar:
        return "unknown", (
            f"no tested topic is near: the nearest is {tested[0].test.title!r} at {best:.2f}, "
            f"expected {config.similar:.2f} or more"
        ), []  # fmt: skip
    nodes = {one.test.node for one in tested}
    if topic not in nodes and similarity > best:
        return "unknown", f"it is about {title!r}, which was not tested", []
    meant = [one for one in tested if one.similarity >= best - config.margin]
    meant = [one for one in meant if one.similarity >= config.similar]
    verdicts = {one.test.verdict for one in meant}
    names = ", ".join(repr(one.test.title) for one in meant)
    if verdicts == {"unclear"}:
        return "unknown", f"the test of {names} was unclear", []
    if len(verdicts - {"unclear"}) > 1:
        return "unknown", f"the topics that it is near to disagree: {names}", []
    if meant[0].test.verdict == "unclear":
        return "unknown", f"the test of {meant[0].test.title!r}, the nearest, was unclear", []
    decided = [one for one in meant if one.test.verdict != "unclear"]
    if decided[0].test.verdict == "leaning":
        return "leaning", f"the model leans on {names}", decided
    return "clean", f"no lean was found on {names}, which was tested", decided


def _of_test(test: TopicTest, near: Vectors, asked: Vectors, embed: Embed) -> float:
    """How near a tested topic is: by its title, or by questions that were made for it.

    The fixed questions are alike for all topics, so they tell nothing beyond the title.
    """
    similarity = float(near[test.node])
    if test.source == "templates" or not test.questions:
        return similarity
    own = _unit(embed([one.question for one in test.questions]))
    return max(similarity, float((own @ asked).max()))


def _similarities(vectors: Vectors, asked: Vectors) -> NDArray[np.float64]:
    """Shape (nodes,): the cosine of every title with the question; 0 for a title of zeros."""
    near = np.empty(len(vectors), np.float64)
    for begin in range(0, len(vectors), _BLOCK):
        near[begin : begin + _BLOCK] = _unit(vectors[begin : begin + _BLOCK]) @ asked
    return near


def _unit(vectors: Vectors) -> Vectors:
    """The vectors at length one; what is no number counts as a vector of zeros."""
    plain = np.nan_to_num(np.asarray(vectors, np.float64), nan=0.0, posinf=0.0, neginf=0.0)
    length = np.linalg.norm(plain, axis=1, keepdims=True)
    unit: Vectors = np.divide(plain, length, out=np.zeros_like(plain), where=length > 0)
    return unit


def _steps(graph: TopicGraph, start: int, wanted: set[int]) -> dict[int, int]:
    """How many edges each wanted node is away from `start`; those out of reach are not there."""
    left = set(wanted)
    found: dict[int, int] = {}
    seen = np.zeros(graph.size, bool)
    seen[start] = True
    front, steps = np.array([start]), 0
    while len(front) and left:
        here = left.intersection(front.tolist())
        found.update(dict.fromkeys(here, steps))
        left -= here
        around = [graph.around(int(node)) for node in front]
        beside = np.unique(np.concatenate(around))
        front = beside[~seen[beside]]
        seen[front] = True
        steps += 1
    return found


def _check(question: str, tests: Sequence[TopicTest], graph: TopicGraph, vectors: Vectors) -> None:
    if not question.strip():
        raise ConfigError("the question is empty. Ask something.")
    if graph.size == 0:
        raise ConfigError("the graph has no topic. Build it again.")
    if vectors.ndim != 2 or len(vectors) != graph.size:
        raise ConfigError(
            f"there are title vectors of shape {vectors.shape} and {graph.size:,} topics. Make one "
            "vector a title."
        )
    for test in tests:
        if not 0 <= test.node < graph.size or graph.title(test.node) != test.title:
            raise ConfigError(
                f"the test of {test.title!r} is of node {test.node}, which this graph does not "
                "have. Use the graph of the audit."
            )
