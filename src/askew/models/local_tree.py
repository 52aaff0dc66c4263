"""A network that computes trees of tokens and remembers what later ones go on from."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from askew.models.local_attention import Buffers, ancestors, plan_of, planned
from askew.models.local_memory import Budgets
from askew.models.trie import Forest, Pack, TokenQuestion, pack

if TYPE_CHECKING:
    import torch
    from transformers import PreTrainedModel


class Tree:
    """Packs of questions through a network; not to be used by two threads at once."""

    def __init__(self, network: PreTrainedModel, budgets: Budgets, *, blocks: bool = True) -> None:
        """Start with nothing kept.

        Args:
            network: a causal language model in evaluation mode.
            budgets: how much is computed and kept at a time.
            blocks: attend in blocks (see `local_attention`) and keep beginnings between packs;
                otherwise by a mask over the whole pack, which more networks can take.
        """
        self.network = network
        self.budgets = budgets
        self.blocks = blocks
        self._buffers = Buffers()
        self._forest = self._empty()

    def _empty(self) -> Forest:
        return Forest(self.budgets.kept if self.blocks else 0)

    def packs(
        self, questions: Sequence[TokenQuestion], checkpoint: Callable[[], None]
    ) -> Iterator[Pack]:
        """The questions in packs; `logits` has to be had of each before the next is asked for."""
        # Whatever goes wrong in between, the next batch starts from nothing.
        forest, self._forest = self._forest, self._empty()
        for each in pack(
            questions,
            token_budget=self.budgets.tokens,
            row_budget=self.budgets.rows,
            forest=forest,
        ):
            checkpoint()
            yield each
        self._forest = forest

    def forget(self) -> None:
        """Keep nothing of what was computed so far."""
        self._forest, self._buffers = self._empty(), Buffers()

    def logits(self, each: Pack, places: Sequence[int]) -> torch.Tensor:
        """Next-token logits at some places of the pack, shape (places, vocabulary), float32.

        Computes the whole pack; its keys and values are in the buffers afterwards.
        """
        import torch

        device = self.network.device
        inputs = {
            "input_ids": torch.tensor([each.tokens], device=device),
            "position_ids": torch.tensor([each.depths], device=device),
            "use_cache": False,
        }
        rows = torch.tensor(places, dtype=torch.long, device=device)
        if not self.blocks:
            mask = pack_mask(each, self.network.dtype).to(device)
            return logits_at(self.network, rows, attention_mask=mask, **inputs)
        self._buffers.reserve(each.forest.size)
        plan = plan_of(each, self._buffers, self.network.dtype, device)
        with planned(self.network, plan), last_layer_at(self.network, rows):
            return logits_at(self.network, rows, **inputs)

    def keys_and_values(self, slots: Sequence[int]) -> list[tuple[torch.Tensor, torch.Tensor]]:
        """What is in the buffers, by layer: each shape (heads, slots, size)."""
        import torch

        where = torch.tensor(slots, device=self.network.device)
        return [
            (keys[where].transpose(0, 1), values[where].transpose(0, 1))
            for keys, values in self._buffers.layers
        ]


@contextmanager
def last_layer_at(network: PreTrainedModel, rows: torch.Tensor) -> Iterator[None]:
    """Within it, only `rows` pass the last layer's feed-forward part: nothing else is read of it.

    A network whose layers are not called `layers` or `h`, and the part `mlp`, computes all of it.
    """
    decoder = network.get_decoder()
    layers = getattr(decoder, "layers", None) or getattr(decoder, "h", None)
    part = getattr(layers[-1], "mlp", None) if layers else None
    nodes = 0

    def narrow(module: Any, inputs: tuple[torch.Tensor, ...]) -> tuple[torch.Tensor, ...]:
        nonlocal nodes
        nodes = inputs[0].shape[1]
        return (inputs[0][:, rows], *inputs[1:])

    def widen(module: Any, inputs: Any, output: torch.Tensor) -> torch.Tensor:
        whole = output.new_zeros((1, nodes, output.shape[-1]))
        whole[:, rows] = output
        return whole

    if part is None:
        yield
        return
    hooks = part.register_forward_pre_hook(narrow), part.register_forward_hook(widen)
    try:
        yield
    finally:
        for hook in hooks:
            hook.remove()


def pack_mask(each: Pack, dtype: torch.dtype) -> torch.Tensor:
    """Additive mask of a pack that stands alone, shape (1, 1, nodes, nodes)."""
    import torch

    sees = torch.from_numpy(ancestors(each)[:, each.slots])
    mask = torch.zeros(sees.shape, dtype=dtype)
    mask.masked_fill_(~sees, torch.finfo(dtype).min)
    return mask[None, None]


def logits_at(network: PreTrainedModel, rows: torch.Tensor, **inputs: Any) -> torch.Tensor:
    """Next-token logits at `rows` alone, shape (rows, vocabulary), in float32.

    The output head is far wider than the model, so it is applied to the wanted places only where
    the model lets itself be told (`logits_to_keep`); its own scaling and capping are kept.
    """
    logits: torch.Tensor
    if "logits_to_keep" in inspect.signature(network.forward).parameters:
        logits = network(**inputs, logits_to_keep=rows).logits[0]
    else:
        logits = network(**inputs).logits[0, rows]
    return logits.float()
