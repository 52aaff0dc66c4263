"""A cache of transformers, filled with prompts whose shared beginnings are computed once."""

from __future__ import annotations

import inspect
from collections import defaultdict
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

from askew.models.local_tree import Tree
from askew.models.trie import TokenQuestion

if TYPE_CHECKING:
    import torch
    from transformers import PreTrainedModel


def filled_cache(
    tree: Tree,
    prompts: Sequence[tuple[int, ...]],
    checkpoint: Callable[[], None] = lambda: None,
) -> Any:
    """A cache of transformers with all but the last token of each prompt, padded on the left.

    Args:
        tree: one that keeps keys and values, that is, attends in blocks.
        prompts: as token ids, not all of them of one token.
        checkpoint: called between pieces of work; may raise to stop.
    """
    from transformers import DynamicCache

    width = max(map(len, prompts)) - 1
    rows_of: defaultdict[tuple[int, ...], list[int]] = defaultdict(list)
    for row, prompt in enumerate(prompts):
        if prompt[:-1]:
            rows_of[prompt[:-1]].append(row)
    distinct = list(rows_of)
    layers: list[tuple[torch.Tensor, torch.Tensor]] = []
    for each in tree.packs([TokenQuestion(prompt, ()) for prompt in distinct], checkpoint):
        tree.logits(each, [])  # only the keys and values are wanted
        for index, end in each.ends.items():
            held = tree.keys_and_values(each.forest.path(each.slots[end]))
            if not layers:
                layers = [
                    (
                        keys.new_zeros((len(prompts), len(keys), width, keys.shape[-1])),
                        values.new_zeros((len(prompts), len(values), width, values.shape[-1])),
                    )
                    for keys, values in held
                ]
            for row in rows_of[distinct[index]]:
                for whole, own in zip(layers, held, strict=True):
                    whole[0][row, :, width - own[0].shape[1] :] = own[0]
                    whole[1][row, :, width - own[1].shape[1] :] = own[1]
    cache = DynamicCache()
    for number, (keys, values) in enumerate(layers):
        cache.update(keys, values, number)
    return cache


def tree_for_prompts(tree: Tree | None) -> Tree | None:
    """`tree` if its cache can be gone on from, as tried on two prompts of unlike length."""
    import torch

    if tree is None or not tree.blocks:
        return None
    network, name = tree.network, cache_argument(tree.network)
    if name is None:
        return None
    prompts = ((5, 6, 7, 8), (5, 6, 9, 10, 11, 12))
    width = max(map(len, prompts))
    seen = torch.tensor([[0] * (width - len(each)) + [1] * len(each) for each in prompts])
    last = torch.tensor([[each[-1]] for each in prompts], device=network.device)
    places = torch.tensor([[len(each) - 1] for each in prompts], device=network.device)
    try:
        with torch.inference_mode():
            alone = torch.cat(
                [
                    network(torch.tensor([each], device=network.device)).logits[:, -1]
                    for each in prompts
                ]
            )
            found = network(
                last,
                attention_mask=seen.to(network.device),
                position_ids=places,
                use_cache=True,
                **{name: filled_cache(tree, prompts)},
            ).logits[:, -1]
    except (RuntimeError, ValueError, TypeError, AttributeError, LookupError):
        return None  # the model's own code cannot take the cache
    close = 1e-4 if network.dtype == torch.float32 else 2e-2
    return tree if torch.allclose(found.float(), alone.float(), atol=close, rtol=close) else None


def cache_argument(network: PreTrainedModel) -> str | None:
    """The name of `network.forward`'s cache, which changed within transformers 5; None: none."""
    parameters = inspect.signature(network.forward).parameters
    return next((name for name in ("cache", "past_key_values") if name in parameters), None)
