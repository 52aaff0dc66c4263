"""Questions laid out as a tree of tokens, so that what they share is computed once.

The choices of a question share its prompt, many prompts share an attack text or demonstrations. A
`Pack` is one sequence for a causal language model in which every token sees its ancestors in the
tree and nothing else. Packs are cut to a token budget; the stem that a pack has in common with the
one before is not repeated in it, as its keys and values can be kept.

Plain Python: the arithmetic on it is `local_likelihood`'s.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from itertools import takewhile


@dataclass(frozen=True, slots=True)
class TokenQuestion:
    """A prompt and its continuations as token ids; neither a prompt nor a continuation is empty."""

    prompt: tuple[int, ...]
    continuations: tuple[tuple[int, ...], ...]

    def __post_init__(self) -> None:
        if not self.prompt or not all(self.continuations):
            raise ValueError("a prompt and each continuation need at least one token")

    @property
    def longest(self) -> int:
        """Tokens of the prompt and its longest continuation; the last one is never fed in."""
        return len(self.prompt) + max(map(len, self.continuations), default=1) - 1


@dataclass(frozen=True, slots=True)
class Target:
    """One summand: the log-probability of `token` after `node` belongs to a question's choice."""

    question: int
    choice: int
    node: int
    token: int


@dataclass(slots=True)
class Pack:
    """Some questions as one sequence of tree nodes; parents stand before their children."""

    kept: tuple[int, ...] = ()  # beginning taken over from the pack before, not in `tokens`
    tokens: list[int] = field(default_factory=list)
    parents: list[int] = field(default_factory=list)  # index into `tokens`; -1 below the kept stem
    depths: list[int] = field(default_factory=list)  # position in the question, counted from 0
    targets: list[Target] = field(default_factory=list)
    stem: tuple[int, ...] | None = None  # what all prompts of the pack begin with, `kept` included
    rows: set[int] = field(default_factory=set)  # nodes whose next-token distribution is needed
    _children: dict[tuple[int, int], int] = field(default_factory=dict)

    def fits(self, question: TokenQuestion, token_budget: int, row_budget: int) -> bool:
        """Whether `question` begins like the kept part and stays within both budgets."""
        # The last token of a prompt has to be a node, as its distribution is asked for.
        if shared(self.kept, question.prompt[:-1]) != self.kept:
            return False
        rows = len(self.rows) + sum(map(len, question.continuations))
        return rows <= row_budget and len(self.tokens) + self.cost(question) <= token_budget

    def cost(self, question: TokenQuestion) -> int:
        """How many nodes `question` would add, at most."""
        new = 0
        for continuation in question.continuations:
            new += self._missing((*question.prompt, *continuation[:-1]))
        # The prompt is counted with each continuation, but it is added once.
        prompt = self._missing(question.prompt)
        return new - (len(question.continuations) - 1) * prompt

    def _missing(self, path: Sequence[int]) -> int:
        node = -1
        for place in range(len(self.kept), len(path)):
            child = self._children.get((node, path[place]))
            if child is None:
                return len(path) - place
            node = child
        return 0

    def add(self, index: int, question: TokenQuestion) -> None:
        """Lay `question`, the `index`-th of the batch, into the tree."""
        prompt_end = self._walk(question.prompt)
        for choice, continuation in enumerate(question.continuations):
            node, depth = prompt_end, len(question.prompt)
            for token in continuation:
                self.targets.append(Target(index, choice, node, token))
                self.rows.add(node)
                if depth < len(question.prompt) + len(continuation) - 1:
                    node = self._step(node, token, depth)
                depth += 1
        self.stem = question.prompt if self.stem is None else shared(self.stem, question.prompt)

    def _walk(self, path: Sequence[int]) -> int:
        node = -1
        for depth in range(len(self.kept), len(path)):
            node = self._step(node, path[depth], depth)
        return node

    def _step(self, parent: int, token: int, depth: int) -> int:
        child = self._children.get((parent, token))
        if child is None:
            child = self._children[parent, token] = len(self.tokens)
            self.tokens.append(token)
            self.parents.append(parent)
            self.depths.append(depth)
        return child


def pack(
    questions: Sequence[TokenQuestion], *, token_budget: int, row_budget: int
) -> Iterator[Pack]:
    """Lay `questions` out in packs, in an order that brings shared beginnings together.

    Args:
        questions: any number, in any order.
        token_budget: nodes a pack may hold; a question that is longer gets a pack of its own.
        row_budget: next-token distributions that a pack may ask for, likewise.

    Yields:
        Packs to be computed one after the other. The first nodes of a pack are the rest of its
        stem, so its keys and values up to `len(stem)` are what the next pack's `kept` counts on.
    """
    order = sorted(range(len(questions)), key=lambda index: questions[index].prompt)
    current = Pack()
    for index in order:
        question = questions[index]
        if current.tokens and not current.fits(question, token_budget, row_budget):
            yield current
            current = Pack(kept=shared(current.stem or (), question.prompt[:-1]))
        current.add(index, question)
    if current.tokens:
        yield current


def shared(left: Sequence[int], right: Sequence[int]) -> tuple[int, ...]:
    """The longest common beginning of two sequences."""
    return tuple(
        a for a, _ in takewhile(lambda pair: pair[0] == pair[1], zip(left, right, strict=False))
    )
