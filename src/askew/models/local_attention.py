"""Attention over a tree of tokens, in blocks, as an attention function of transformers.

Dense attention over a pack of questions computes every pair of tokens and throws away those of
different questions. Here the pack is cut into blocks of consecutive nodes, and each block is given
the keys and values of its own ancestors alone, out of buffers that outlive the pack: a beginning
that was computed once is read again, not copied along.

The function is registered with transformers' AttentionInterface, so the network's own code does
everything else: projections, positions, norms, experts.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from askew.models.trie import ROOT, Pack

if TYPE_CHECKING:
    import torch
    from transformers import PreTrainedModel

NAME = "askew_tree"
# Nodes a block: fewer waste less on neighbours' ancestors, more fill the matrix units better.
BLOCK = 64


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


@dataclass(slots=True)
class Plan:
    """Who sees whom in one pack."""

    buffers: Buffers
    slots: torch.Tensor  # (nodes,): where the new keys and values go
    seen: torch.Tensor  # (blocks, length): slots that a block's nodes see, padded with any
    mask: torch.Tensor  # (blocks, 1, nodes a block, length), to be added to the scores
    layer: int = 0  # how many layers have asked already


_plan: ContextVar[Plan] = ContextVar("askew_tree_plan")


def plan_of(pack: Pack, buffers: Buffers, dtype: torch.dtype, device: torch.device) -> Plan:
    """Lay the pack out in blocks."""
    import numpy as np
    import torch

    sees = ancestors(pack)
    nodes = len(sees)
    starts = range(0, nodes, BLOCK)
    seen = [np.flatnonzero(sees[start : start + BLOCK].any(axis=0)) for start in starts]
    length, width = max(map(len, seen)), min(BLOCK, nodes)
    slots = np.zeros((len(seen), length), dtype=np.int64)
    hidden = np.ones((len(seen), width, length), dtype=bool)
    for block, (start, those) in enumerate(zip(starts, seen, strict=True)):
        rows = sees[start : start + width, those]
        slots[block, : len(those)] = those
        hidden[block, : len(rows), : len(those)] = ~rows
        hidden[block, len(rows) :, 0] = False  # a row of padding that saw nothing would be NaN
    mask = torch.zeros(hidden.shape, dtype=dtype)
    mask.masked_fill_(torch.from_numpy(hidden), torch.finfo(dtype).min)
    return Plan(
        buffers=buffers,
        slots=torch.tensor(pack.slots, device=device),
        seen=torch.from_numpy(slots).to(device),
        mask=mask[:, None].to(device),
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
    if others.get("s_aux") is not None or others.get("position_bias") is not None:
        raise ValueError("attention sinks and position biases are not done in blocks")
    plan = _plan.get()
    heads, nodes, size = query.shape[1:]
    keys, values = plan.buffers.write(
        plan.layer, plan.slots, key[0].transpose(0, 1), value[0].transpose(0, 1)
    )
    plan.layer += 1
    blocks, length = plan.seen.shape
    width, shared = plan.mask.shape[2], heads // key.shape[1]
    flat = plan.seen.flatten()
    keys, values = (
        each.index_select(0, flat).view(blocks, length, *each.shape[1:]).transpose(1, 2)
        for each in (keys, values)
    )
    # The queries that share a key head are laid one below the other: nothing has to be repeated.
    import torch

    rows = torch.nn.functional.pad(query[0], (0, 0, 0, blocks * width - nodes))
    rows = rows.view(-1, shared, blocks, width, size).permute(2, 0, 1, 3, 4)
    rows = rows.reshape(blocks, -1, shared * width, size)
    mask = plan.mask.repeat(1, 1, shared, 1)
    found = attend(rows, keys, values, mask, scaling, softcap)
    found = found.reshape(blocks, -1, shared, width, found.shape[-1]).permute(0, 3, 1, 2, 4)
    return found.reshape(1, blocks * width, heads, -1)[:, :nodes], None


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
