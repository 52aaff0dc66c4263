"""How much a model on this machine may compute and keep at a time, by the memory that is free.

The estimates are rough and on the safe side; what the user sets in the options stands as it is.
"""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from askew.models.local_attention import BLOCK

if TYPE_CHECKING:
    from transformers import PreTrainedModel

# More fills the matrix units no better: measured on CPUs, a guess for GPUs.
TOKENS = {"cpu": 768}
TOKENS_ELSEWHERE = 4096
KEPT = 4096  # tokens of beginnings between packs; more than any attack's texts together
PROMPTS = 32
LONGEST = 8192  # tokens of a question that room is made for, where the model takes so many
# The largest [rows, vocabulary] block of logits at a time: 2**26 float32 are 256 MB.
LOGITS = 1 << 26
# Shares of the free memory, after the weights are loaded. Scoring and generating take turns.
_PACK, _KEPT, _LOGITS, _REPLIES = 0.25, 0.125, 0.125, 0.5


@dataclass(frozen=True, slots=True)
class Budgets:
    """Bounds of one piece of work."""

    tokens: int  # computed at once
    kept: int  # whose keys and values are kept between packs for their beginnings
    rows: int  # next-token distributions at once
    prompts: int = 1  # generated from at once
    room: int | None = None  # tokens of prompts and replies that are generated at once; None: any


def budgets(
    network: PreTrainedModel,
    *,
    tokens: int | None = None,
    prompts: int | None = None,
    free: int | None = None,
) -> Budgets:
    """What fits.

    Args:
        network: the loaded model.
        tokens: the user's own word for the tokens computed at once.
        prompts: the user's own word for the prompts generated from at once.
        free: bytes; those that `free_memory` finds if None.
    """
    device = network.device.type
    free = free_memory(network.device) if free is None else free
    sizes = Sizes.of(network)
    most_tokens = TOKENS.get(device, TOKENS_ELSEWHERE)
    most_rows = max(1, LOGITS // sizes.vocabulary)
    room = None
    kept = KEPT
    if free is not None:
        most_tokens = _within(most_tokens, free * _PACK / sizes.computed, at_least=32)
        kept = _within(KEPT, free * _KEPT / sizes.kept, at_least=0)
        # The logits, their exponentials and the sum's own copy.
        most_rows = _within(most_rows, free * _LOGITS / (12 * sizes.vocabulary), at_least=1)
        room = max(1, int(free * _REPLIES / sizes.kept))
    return Budgets(
        tokens=most_tokens if tokens is None else tokens,
        kept=kept,
        rows=most_rows,
        prompts=PROMPTS if prompts is None else prompts,
        room=room if prompts is None else None,
    )


def _within(wanted: int, fits: float, *, at_least: int) -> int:
    return max(at_least, min(wanted, int(fits)))


@dataclass(frozen=True, slots=True)
class Sizes:
    """Bytes that a token takes."""

    computed: int  # while its pack is computed: activations, keys and values
    kept: int  # keys and values in all layers
    vocabulary: int  # entries, not bytes

    @classmethod
    def of(cls, network: PreTrainedModel) -> Sizes:
        """From the configuration; a figure that it does not name is guessed."""
        config: Any = network.config.get_text_config()
        itemsize = network.dtype.itemsize
        hidden = getattr(config, "hidden_size", 4096)
        heads = getattr(config, "num_attention_heads", 32)
        key_heads = getattr(config, "num_key_value_heads", None) or heads
        size = getattr(config, "head_dim", None) or hidden // heads
        layers = getattr(config, "num_hidden_layers", 32)
        wide = getattr(config, "intermediate_size", None) or 4 * hidden
        kept = 2 * layers * key_heads * size * itemsize
        # Residual, normed, projections and attention's copies; the two halves of the wide layer.
        computed = kept + itemsize * (12 * hidden + 4 * wide)
        # Each block's own copy of the keys and values it sees, and its mask (`local_attention`).
        longest = min(getattr(config, "max_position_embeddings", None) or LONGEST, LONGEST)
        computed += longest * (kept // layers // BLOCK + itemsize * heads // key_heads)
        return cls(computed, kept, config.vocab_size)


def free_memory(device: Any) -> int | None:
    """Bytes that can be had on a torch device; None where the system does not say."""
    import torch

    if device.type == "cuda":
        return int(torch.cuda.mem_get_info(device)[0])
    if device.type == "mps":
        return int(torch.mps.recommended_max_memory() - torch.mps.driver_allocated_memory())
    known = [bytes_ for bytes_ in (_available(), _left_in_group()) if bytes_ is not None]
    return min(known, default=None)


def _available(meminfo: Path = Path("/proc/meminfo")) -> int | None:
    """What the system can give without swapping."""
    try:
        for line in meminfo.read_text().splitlines():
            name, _, rest = line.partition(":")
            if name == "MemAvailable":
                return int(rest.split()[0]) * 1024
    except (OSError, ValueError, IndexError):
        pass
    try:  # no Linux: half of what is built in
        return os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE") // 2
    except (AttributeError, OSError, ValueError):
        return None


def _left_in_group(folder: Path = Path("/sys/fs/cgroup")) -> int | None:
    """What a container's limit leaves; None without one."""
    try:
        limit = int((folder / "memory.max").read_text())  # "max" where there is none
        used = int((folder / "memory.current").read_text())
    except (OSError, ValueError):
        return None
    return max(0, limit - used)
