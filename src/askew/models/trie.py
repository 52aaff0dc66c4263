"""Questions laid out as a tree of tokens, so that what they share is computed once.

The choices of a question share its prompt, many prompts share an attack text or demonstrations. A
`Pack` is one sequence for a causal language model in which every token sees its ancestors in the
tree and nothing else. Packs are cut to a token budget; a `Forest` remembers the tokens of earlier
packs that later ones go on from, as their keys and values can be kept.

Plain Python: the arithmetic on it is `local_likelihood`'s.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import takewhile

ROOT = -1  # the parent of a first token


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
    node: int  # place in the pack
    token: int


@dataclass(frozen=True, slots=True)
class Node:
    """A token in its place in the tree."""

    parent: int  # slot, or ROOT
    token: int
    depth: int  # position in the question, counted from 0


class Forest:
    """The nodes whose keys and values are in memory, by slot.

    A slot is a row of the key and value buffers. Between two packs the forest keeps the last
    prompt, as the next one in order shares most with it, and `stems`: beginnings that several
    prompts have in common, the longest unused ones dropped where `capacity` is reached.
    """

    def __init__(self, capacity: int) -> None:
        """Start empty.

        Args:
            capacity: nodes that are kept for their stems; 0 keeps nothing between packs.
        """
        self.capacity = capacity
        self.nodes: dict[int, Node] = {}
        self.children: dict[tuple[int, int], int] = {}
        self.size = 0  # slots in use or free; the buffers need as many rows
        self._free: list[int] = []
        self._stems: dict[int, None] = {}  # slot of a stem's last token, the latest used at the end

    def add(self, parent: int, token: int, depth: int) -> int:
        """Put a new node into a free slot; it takes the place of a kept twin in `children`."""
        if self._free:
            slot = self._free.pop()
        else:
            slot = self.size
            self.size += 1
        self.nodes[slot] = Node(parent, token, depth)
        self.children[parent, token] = slot
        return slot

    def path(self, slot: int) -> list[int]:
        """The slots from the first token to `slot`."""
        path = []
        while slot != ROOT:
            path.append(slot)
            slot = self.nodes[slot].parent
        return path[::-1]

    def keep(self, last: int, stems: Iterable[int]) -> None:
        """Forget every node but the stems', old ones and `stems`, and those up to `last`."""
        for slot in stems:
            self._stems.pop(slot, None)
            self._stems[slot] = None
        kept: set[int] = set()
        for slot in reversed(self._stems):
            more = set(self.path(slot)) - kept
            if len(kept) + len(more) <= self.capacity:
                kept |= more
        self._stems = {slot: None for slot in self._stems if slot in kept}
        if self.capacity:
            kept.update(self.path(last))
        for slot in [slot for slot in self.nodes if slot not in kept]:
            node = self.nodes.pop(slot)
            if self.children.get((node.parent, node.token)) == slot:
                del self.children[node.parent, node.token]
            self._free.append(slot)
        # A kept node whose newer twin has gone is found again.
        for slot, node in self.nodes.items():
            self.children.setdefault((node.parent, node.token), slot)


@dataclass(slots=True)
class Pack:
    """Some questions as one sequence of new tree nodes; parents stand before their children."""

    forest: Forest
    slots: list[int] = field(default_factory=list)  # of the new nodes, in order
    targets: list[Target] = field(default_factory=list)
    ends: dict[int, int] = field(default_factory=dict)  # question -> place of its prompt's end
    rows: set[int] = field(default_factory=set)  # places whose next-token distribution is needed
    stems: set[int] = field(default_factory=set)  # slots to be kept for later packs
    _places: dict[int, int] = field(default_factory=dict)  # slot -> place

    @property
    def tokens(self) -> list[int]:
        """The new tokens."""
        return [self.forest.nodes[slot].token for slot in self.slots]

    @property
    def depths(self) -> list[int]:
        """Their positions."""
        return [self.forest.nodes[slot].depth for slot in self.slots]

    def fits(self, question: TokenQuestion, token_budget: int, row_budget: int) -> bool:
        """Whether `question` stays within both budgets."""
        rows = len(self.rows) + sum(map(len, question.continuations))
        return rows <= row_budget and len(self.slots) + self.cost(question) <= token_budget

    def cost(self, question: TokenQuestion) -> int:
        """How many nodes `question` would add, at most."""
        prompt = self.missing(question.prompt)
        tails = 0
        for continuation in question.continuations:
            path = (*question.prompt, *continuation[:-1])
            tails += max(0, self._missing(path, len(question.prompt) - 1) - prompt)
        return prompt + tails

    def missing(self, prompt: Sequence[int]) -> int:
        """How many tokens of `prompt` are not there yet; the last one has to be the pack's own."""
        return self._missing(prompt, len(prompt) - 1)

    def _missing(self, path: Sequence[int], own_from: int) -> int:
        slot = ROOT
        for depth, token in enumerate(path):
            child = self._child(slot, token, depth >= own_from)
            if child is None:
                return len(path) - depth
            slot = child
        return 0

    def lay(self, path: Sequence[int]) -> int:
        """Lay a beginning that nothing is asked about into the tree; the slot of its last token."""
        slot = ROOT
        for depth, token in enumerate(path):
            slot = self._step(slot, token, depth, own=False)
        return slot

    def add(self, index: int, question: TokenQuestion, stem: int) -> None:
        """Lay `question`, the `index`-th of the batch, into the tree.

        Args:
            index: its number.
            question: it.
            stem: so many of its first tokens are to be kept for others; 0: none.
        """
        slot, last = ROOT, len(question.prompt) - 1
        for depth, token in enumerate(question.prompt):
            slot = self._step(slot, token, depth, own=depth == last)
            if depth == stem - 1:
                self.stems.add(slot)
        self.ends[index] = self._places[slot]
        for choice, continuation in enumerate(question.continuations):
            node = slot
            for number, token in enumerate(continuation):
                place = self._places[node]
                self.targets.append(Target(index, choice, place, token))
                self.rows.add(place)
                if number < len(continuation) - 1:
                    node = self._step(node, token, last + 1 + number, own=True)

    def _child(self, parent: int, token: int, own: bool) -> int | None:
        """The node that follows; where a distribution is asked for it has to be the pack's own."""
        child = self.forest.children.get((parent, token))
        return child if child is None or not own or child in self._places else None

    def _step(self, parent: int, token: int, depth: int, own: bool) -> int:
        child = self._child(parent, token, own)
        if child is None:
            child = self.forest.add(parent, token, depth)
            self._places[child] = len(self.slots)
            self.slots.append(child)
        return child


def pack(
    questions: Sequence[TokenQuestion],
    *,
    token_budget: int,
    row_budget: int,
    forest: Forest | None = None,
) -> Iterator[Pack]:
    """Lay `questions` out in packs, in an order that brings shared beginnings together.

    Args:
        questions: any number, in any order.
        token_budget: nodes a pack may hold. A question that is longer gets a pack of its own, and
            where the forest keeps something, its prompt comes in pieces in packs before.
        row_budget: next-token distributions that a pack may ask for, likewise.
        forest: what is in memory from earlier questions; changed by this.

    Yields:
        Packs to be computed one after the other: when the next one is asked for, the nodes that
        the forest keeps have to be in the buffers.
    """
    forest = Forest(0) if forest is None else forest
    order = sorted(range(len(questions)), key=lambda index: questions[index].prompt)
    stems = common_beginnings([questions[index].prompt for index in order])
    current, last = Pack(forest), ROOT
    for index, stem in zip(order, stems, strict=True):
        question = questions[index]
        if current.slots and not current.fits(question, token_budget, row_budget):
            yield current
            forest.keep(last, current.stems)
            current = Pack(forest)
        if not current.slots:
            yield from _pieces(question, forest, token_budget)
        current.add(index, question, stem)
        last = current.slots[current.ends[index]]
    if current.slots:
        yield current
        forest.keep(last, current.stems)


def _pieces(question: TokenQuestion, forest: Forest, token_budget: int) -> Iterator[Pack]:
    """Packs that bring the prompt into memory until the rest fits into one."""
    prompt = question.prompt
    while forest.capacity:
        piece = Pack(forest)
        there = len(prompt) - piece.missing(prompt)
        end = min(there + token_budget, len(prompt) - 1)
        if piece.cost(question) <= token_budget or end <= there:
            return
        last = piece.lay(prompt[:end])
        yield piece
        forest.keep(last, ())


def common_beginnings(
    prompts: Sequence[Sequence[int]], *, prompts_at_least: int = 4, tokens_at_least: int = 16
) -> list[int]:
    """For each of the sorted `prompts` how many first tokens are worth keeping; 0: none.

    A beginning is worth it if so many neighbours have it, and where one of these lies within
    another, the longer is only if it is half as long again. (Below the text of an attack stand
    hundreds of items that share a first word; keeping it with every such word would be waste.)
    """
    lengths = [0] * len(prompts)
    kept: tuple[int, ...] = ()
    for start in range(len(prompts) - prompts_at_least + 1):
        common = shared(prompts[start], prompts[start + prompts_at_least - 1])
        within = len(shared(common, kept))
        if len(common) >= max(tokens_at_least, 1.5 * within):
            lengths[start] = len(common)
            kept = common
        elif kept and within == len(kept):
            lengths[start] = within  # used again
    return lengths


def shared(left: Sequence[int], right: Sequence[int]) -> tuple[int, ...]:
    """The longest common beginning of two sequences."""
    return tuple(
        a for a, _ in takewhile(lambda pair: pair[0] == pair[1], zip(left, right, strict=False))
    )
