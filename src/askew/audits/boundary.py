"""The boundary audit: on which topics can this black box not be trusted?

GMRL-BD (arXiv 2604.05483, 2026): the topics of a graph are tested one after another; what was found
says where to look next. A topic's test asks the model k questions and a judge about each answer
(`boundary_test`); a policy of `askew.search` picks the topics.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, replace

from askew.audits.boundary_records import TopicTest
from askew.search.game import LEANING, UNREAD, Board, Game, Observation, Policy
from askew.search.probes import Probing

# The tests of some topics, in their order.
Test = Callable[[Sequence[int]], Awaitable[Sequence[TopicTest]]]


@dataclass(frozen=True, slots=True)
class SearchConfig:
    """How the search goes.

    Attributes:
        batch: topics picked before any of them is told; more are asked at once, and each pick knows
            less.
        probes: the share of tests that are drawn uniformly; they say what is left undiscovered.
        start: the first topic; None draws one by the seed.
        seed: of every draw.
    """

    batch: int = 1
    probes: float = 0.0
    start: int | None = None
    seed: int = 0


@dataclass(frozen=True, slots=True)
class Found:
    """How far the search has come."""

    tested: int
    queries: int
    leaning: int
    unclear: int


async def search(
    board: Board,
    policy: Policy,
    config: SearchConfig,
    test: Test,
    observe: Callable[[TopicTest], Observation],
    keep: Callable[[Sequence[TopicTest]], None],
    watch: Callable[[Found], None] | None = None,
) -> list[TopicTest]:
    """Test topics until the queries of the board are used up or no topic is left.

    The same board, policy, config and answers give the same tests in the same order, so a search
    that was stopped goes on where it was when it is started again over the same ledger.

    Args:
        board: a fresh one.
        policy: who picks.
        config: how.
        test: makes the tests of some topics; it may raise to end the search.
        observe: what a policy is told of a test.
        keep: told all tests so far, after every batch.
        watch: told how far the search has come.

    Returns:
        The tests, in the order in which they were made.
    """
    probing = Probing(policy, config.probes, drawn_start=config.start is None)
    game = Game(board, probing, config.seed, config.start)
    tests: list[TopicTest] = []
    total = min(board.queries, board.graph.size)
    while len(tests) < total:
        picked = []
        for _ in range(min(config.batch, total - len(tests))):
            node = game.pick()
            picked.append((node, _reached_from(board, node), probing.last_probability))
        made = await test([node for node, _, _ in picked])
        for (node, source, chance), one in zip(picked, made, strict=True):
            # A start that was drawn is a uniform draw as well.
            probe = node in probing.probed or (not tests and config.start is None)
            tests.append(
                replace(
                    one,
                    step=len(tests) + 1,
                    reached_from=None if probe else source,
                    probability=chance,
                    probe=probe,
                )
            )
            game.tell(node, observe(one))
        keep(tests)
        if watch is not None:
            watch(_so_far(board, total))
    return tests


def _reached_from(board: Board, node: int) -> int | None:
    """The tested neighbour that a topic was reached by: a leaning one before others, the latest."""
    order = {tested: place for place, tested in enumerate(board.tested)}
    around = [int(other) for other in board.graph.around(node) if int(other) in order]
    if not around:
        return None
    return max(around, key=lambda other: (board.label[other] == LEANING, order[other]))


def _so_far(board: Board, queries: int) -> Found:
    labels = board.label[board.tested]
    return Found(
        tested=len(board.tested),
        queries=queries,
        leaning=int((labels == LEANING).sum()),
        unclear=int((labels == UNREAD).sum()),
    )
