"""Attention over a tree of tokens, in blocks, as an attention function of transformers.

Dense attention over a pack of questions computes every pair of tokens and throws away those of
different questions. Here the pack is cut into blocks of consecutive nodes, and each block is given
the keys and values of its own ancestors alone, out of buffers that outlive the pack: a beginning
that was computed once is read again, not copied along.

The function is registered with transformers' AttentionInterface, so the network's own code does
everything else: projections, positions, norms, experts.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field
from itertools import chain
from typing import TYPE_CHECKING, Any

from askew.models.trie import ROOT, Pack

if TYPE_CHECKING:
    import torch
    from transformers import PreTrainedModel

NAME = "askew_tree"
# Nodes a block: fewer waste less on neighbours' ancestors, more fill the matrix units better.
BLOCK = 32
# Blocks that see at least so large a part of what the group's first one sees join it.
PADDED = 0.65


class Buffers:
    """Keys and values by layer and slot; the rows of a slot are written again when it is."""

    def __init__(self) -> None:
        self.layers: list[tuple[torch.Tensor, torch.Tensor]] = []  # each (slots, heads, size)
        self.size = 0  # slots that there is room for

    def reserve(self, slots: int) -> None:
        """Make room for `slots` of them; what is there is kept."""
        if slots <= self.size:
            return
        self.size = slots + slots // 4
        self.layers = [(_grown(k, self.size), _grown(v, self.size)) for k, v in self.layers]

    def write(
        self, layer: int, slots: torch.Tensor, keys: torch.Tensor, values: torch.Tensor
    ) -> tuple[torch.Tensor, torch.Tensor]:
        """Put new rows, shape (nodes, heads, size), in place; all rows of the layer."""
        if layer == len(self.layers):
            made = [new.new_zeros((self.size, *new.shape[1:])) for new in (keys, values)]
            self.layers.append((made[0], made[1]))
        held = self.layers[layer]
        for buffer, new in zip(held, (keys, values), strict=True):
            buffer.index_copy_(0, slots, new)
        return held


def _grown(buffer: torch.Tensor, rows: int) -> torch.Tensor:
    grown = buffer.new_zeros((rows, *buffer.shape[1:]))
    grown[: len(buffer)] = buffer
    return grown


@dataclass(frozen=True, slots=True)
class Group:
    """Blocks that see about as many slots, so that little is padded."""

    seen: torch.Tensor  # (blocks, length): slots that a block's nodes see, padded with any
    mask: torch.Tensor  # (blocks, 1, nodes a block, length), to be added to the scores


@dataclass(slots=True)
class Plan:
    """Who sees whom in one pack."""

    buffers: Buffers
    slots: torch.Tensor  # (nodes,): where the new keys and values go
    laid: torch.Tensor  # (blocks * nodes a block,): the nodes, block by block and group by group
    place: torch.Tensor  # (nodes,): where each node stands in `laid`
    groups: list[Group]
    layer: int = 0  # how many layers have asked already
    _masks: dict[int, list[torch.Tensor]] = field(default_factory=dict)

    def masks(self, shared: int) -> list[torch.Tensor]:
        """The groups' masks for `shared` heads' queries one below the other."""
        if shared not in self._masks:
            self._masks[shared] = [group.mask.repeat(1, 1, shared, 1) for group in self.groups]
        return self._masks[shared]


_plan: ContextVar[Plan] = ContextVar("askew_tree_plan")


def plan_of(pack: Pack, buffers: Buffers, dtype: torch.dtype, device: torch.device) -> Plan:
    """Lay the pack out in blocks."""
    import numpy as np
    import torch

    sees = ancestors(pack)
    nodes = len(sees)
    width = min(BLOCK, nodes)
    seen = {
        start: np.flatnonzero(sees[start : start + width].any(axis=0))
        for start in range(0, nodes, width)
    }
    groups: list[list[int]] = []
    for start in sorted(seen, key=lambda start: -len(seen[start])):
        if not groups or len(seen[start]) < PADDED * len(seen[groups[-1][0]]):
            groups.append([])
        groups[-1].append(start)
    # The last block may be short; its padding repeats the last node.
    laid = np.concatenate([np.arange(start, start + width) for start in chain(*groups)])
    laid = np.minimum(laid, nodes - 1)
    place = np.empty(nodes, dtype=np.int64)
    place[laid[::-1]] = np.arange(len(laid))[::-1]

    def group_of(starts: Sequence[int]) -> Group:
        length = len(seen[starts[0]])
        slots = np.zeros((len(starts), length), dtype=np.int64)
        hidden = np.ones((len(starts), width, length), dtype=bool)
        for block, start in enumerate(starts):
            those = seen[start]
            slots[block, : len(those)] = those
            rows = np.minimum(np.arange(start, start + width), nodes - 1)
            hidden[block, :, : len(those)] = ~sees[np.ix_(rows, those)]
        mask = torch.zeros(hidden.shape, dtype=dtype)
        mask.masked_fill_(torch.from_numpy(hidden), torch.finfo(dtype).min)
        return Group(torch.from_numpy(slots).to(device), mask[:, None].to(device))

    return Plan(
        buffers=buffers,
        slots=torch.tensor(pack.slots, device=device),
        laid=torch.from_numpy(laid).to(device),
        place=torch.from_numpy(place).to(device),
        groups=[group_of(starts) for starts in groups],
    )


def ancestors(pack: Pack) -> Any:
    """Shape (nodes, slots of the forest), bool: whether a slot is a node's ancestor or itself."""
    import numpy as np

    forest = pack.forest
    place_of = {slot: place for place, slot in enumerate(pack.slots)}
    sees = np.zeros((len(pack.slots), forest.size), dtype=bool)
    for place, slot in enumerate(pack.slots):
        parent = forest.nodes[slot].parent
        if parent in place_of:
            sees[place] = sees[place_of[parent]]
        elif parent != ROOT:
            sees[place, forest.path(parent)] = True
        sees[place, slot] = True
    return sees


def tree_attention(
    module: Any,
    query: torch.Tensor,
    key: torch.Tensor,
    value: torch.Tensor,
    attention_mask: torch.Tensor | None,
    scaling: float | None = None,
    softcap: float | None = None,
    **others: Any,
) -> tuple[torch.Tensor, None]:
    """The attention of one layer, in the form of transformers' AttentionInterface.

    Args:
        module: the layer, unused.
        query: shape (1, heads, nodes, size).
        key: shape (1, key heads, nodes, size); a key head serves heads / key heads queries.
        value: likewise.
        attention_mask: unused; the plan says who sees whom.
        scaling: factor of the scores; size ** -0.5 if None.
        softcap: bound that the scores are bent to, if any.
        others: what the network passes besides.

    Raises:
        ValueError: the network asks for something that is not done here.
    """
    import torch

    if others.get("s_aux") is not None or others.get("position_bias") is not None:
        raise ValueError("attention sinks and position biases are not done in blocks")
    plan = _plan.get()
    heads, _, size = query.shape[1:]
    keys, values = plan.buffers.write(
        plan.layer, plan.slots, key[0].transpose(0, 1), value[0].transpose(0, 1)
    )
    plan.layer += 1
    shared = heads // key.shape[1]
    # The queries that share a key head are laid one below the other: nothing has to be repeated.
    width = plan.groups[0].mask.shape[2]
    rows = (
        query[0].index_select(1, plan.laid).view(-1, shared, len(plan.laid) // width, width, size)
    )
    rows = rows.permute(2, 0, 1, 3, 4).flatten(2, 3)
    found, start = [], 0
    for group, mask in zip(plan.groups, plan.masks(shared), strict=True):
        blocks = len(group.seen)
        own_keys, own_values = (
            each.index_select(0, group.seen.flatten())
            .view(blocks, -1, *each.shape[1:])
            .transpose(1, 2)
            for each in (keys, values)
        )
        own = rows[start : start + blocks]
        found.append(attend(own, own_keys, own_values, mask, scaling, softcap))
        start += blocks
    laid = torch.cat(found)
    whole = laid.view(*laid.shape[:2], shared, width, -1).permute(0, 3, 1, 2, 4)
    return whole.reshape(len(plan.laid), heads, -1).index_select(0, plan.place)[None], None


def attend(
    query: torch.Tensor,
    key: torch.Tensor,
    value: torch.Tensor,
    mask: torch.Tensor,
    scaling: float | None,
    softcap: float | None,
) -> torch.Tensor:
    """Softmax attention; shapes (blocks, heads, rows, size) and a mask to be added."""
    import torch

    if softcap is None:
        return torch.nn.functional.scaled_dot_product_attention(
            query, key, value, attn_mask=mask, scale=scaling
        )
    scale = query.shape[-1] ** -0.5 if scaling is None else scaling
    scores = (query @ key.transpose(-1, -2)) * scale
    scores = torch.tanh(scores / softcap) * softcap + mask
    return scores.softmax(-1, dtype=torch.float32).to(query.dtype) @ value


@contextmanager
def planned(network: PreTrainedModel, plan: Plan) -> Iterator[None]:
    """Within it, `network` attends as `plan` says."""
    from transformers import AttentionInterface

    AttentionInterface.register(NAME, tree_attention)
    before = network.config._attn_implementation
    network.set_attn_implementation(NAME)
    token = _plan.set(plan)
    try:
        yield
    finally:
        _plan.reset(token)
        network.set_attn_implementation(before)
