"""Generated replies of a causal language model, several prompts at a time.

Each drawn reply has a random generator of its own: the draw adds Gumbel noise to the logits and
takes the largest, which is a draw from their softmax. So a reply depends on its prompt and seed,
not on what else is in the batch (but for the 1e-5 by which float32 sums move with the batch).
Nothing but temperature and top_p bends the distribution: the repetition penalties and the like
that a model's own generation_config asks for are left out, so that models can be compared.

What the prompts of a batch share is computed once (`local_tree`), and for replicates of one prompt
that is all of it; only then are they laid side by side, and the replies are drawn from there.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from askew.models.local_cache import cache_argument, filled_cache
from askew.models.local_tree import Tree
from askew.records import Finish

if TYPE_CHECKING:
    import torch
    from transformers import PreTrainedModel


@dataclass(frozen=True, slots=True)
class Drawing:
    """How tokens are chosen; requests that agree in it can share a batch."""

    temperature: float  # 0 = the likeliest token
    top_p: float  # in (0, 1]
    max_tokens: int
    stop: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Request:
    """A prompt as token ids, and how to go on from it."""

    prompt: tuple[int, ...]
    drawing: Drawing
    seed: int


@dataclass(frozen=True, slots=True)
class Generated:
    """What came out, without the token or string that ended it."""

    text: str  # special tokens included
    tokens: int  # generated, the ending one included
    finish: Finish


def generate(
    network: PreTrainedModel,
    tokenizer: Any,
    requests: Sequence[Request],
    *,
    batch_size: int,
    room: int | None = None,
    tree: Tree | None = None,
    window: int | None = None,
    checkpoint: Callable[[], None] = lambda: None,
) -> list[Generated]:
    """Go on from each prompt.

    Args:
        network: a causal language model in evaluation mode, after `keep_only_end_tokens`.
        tokenizer: its tokenizer.
        requests: in any order; those with a common beginning are batched together.
        batch_size: prompts at a time, at most.
        room: tokens of prompts and replies at a time, padding included; None: any number.
        tree: what computes shared beginnings once (see `tree_for_prompts`); None: each prompt is
            computed by itself.
        window: tokens that a layer looks back at most; longer texts are computed without the tree,
            whose keys and values are those of layers that see everything.
        checkpoint: called after each token; may raise to stop.
    """
    found: dict[int, Generated] = {}
    for indices in _batches(requests, batch_size, room):
        batch = [requests[index] for index in indices]
        longest = max(len(each.prompt) for each in batch) + batch[0].drawing.max_tokens
        shared = tree if window is None or longest <= window else None
        texts = _run(network, tokenizer, batch, shared, checkpoint)
        found.update(zip(indices, texts, strict=True))
    return [found[index] for index in range(len(requests))]


def _batches(requests: Sequence[Request], batch_size: int, room: int | None) -> Iterator[list[int]]:
    """Indices of requests that agree in their drawing, those with a common beginning together."""
    groups: defaultdict[Drawing, list[int]] = defaultdict(list)
    for index, request in enumerate(requests):
        groups[request.drawing].append(index)
    for drawing, group in groups.items():
        batch: list[int] = []
        longest = 0
        for index in sorted(group, key=lambda index: requests[index].prompt):
            longer = max(longest, len(requests[index].prompt))
            takes = (len(batch) + 1) * (longer + drawing.max_tokens)
            if batch and (len(batch) == batch_size or (room is not None and takes > room)):
                yield batch
                batch, longer = [], len(requests[index].prompt)
            batch.append(index)
            longest = longer
        yield batch


def _run(
    network: PreTrainedModel,
    tokenizer: Any,
    batch: Sequence[Request],
    tree: Tree | None,
    checkpoint: Callable[[], None],
) -> list[Generated]:
    """One batch, padded on the left so that all prompts end at the same place."""
    import torch
    from transformers import GenerationConfig

    ends = end_tokens(network, tokenizer)
    padding = tokenizer.pad_token_id if tokenizer.pad_token_id is not None else (*ends, 0)[0]
    width = max(len(request.prompt) for request in batch)
    rows = [[padding] * (width - len(each.prompt)) + list(each.prompt) for each in batch]
    seen = [[0] * (width - len(each.prompt)) + [1] * len(each.prompt) for each in batch]
    drawing = batch[0].drawing
    settings = GenerationConfig(
        max_new_tokens=drawing.max_tokens,
        do_sample=False,  # the draw, if any, is `_GumbelDraw`'s
        eos_token_id=ends or None,
        pad_token_id=padding,
    )
    draws = [_GumbelDraw(drawing, [each.seed for each in batch])] if drawing.temperature else []
    with torch.inference_mode():
        computed = _computed(network, [each.prompt for each in batch], tree, checkpoint)
        output = network.generate(
            inputs=torch.tensor(rows, device=network.device),
            attention_mask=torch.tensor(seen, device=network.device),
            generation_config=settings,
            logits_processor=draws,
            stopping_criteria=[_StopStrings(tokenizer, width, drawing.stop, checkpoint)],
            **computed,
        )
    return [_read(tokenizer, row, ends, drawing.stop) for row in output[:, width:].tolist()]


def _computed(
    network: PreTrainedModel,
    prompts: Sequence[tuple[int, ...]],
    tree: Tree | None,
    checkpoint: Callable[[], None],
) -> dict[str, Any]:
    """The network's cache of the prompts but for their last tokens, as the argument it takes."""
    name = cache_argument(network)
    if tree is None or name is None or max(map(len, prompts)) == 1:
        return {}
    return {name: filled_cache(tree, prompts, checkpoint)}


def _read(tokenizer: Any, row: list[int], ends: Sequence[int], stop: Sequence[str]) -> Generated:
    """Cut one row of new tokens at whatever ended it."""
    end = next((place for place, token in enumerate(row) if token in ends), None)
    text = decode(tokenizer, row[:end])
    cut = min((place for place in map(text.find, stop) if place >= 0), default=None)
    ended = end is not None or cut is not None
    return Generated(
        text=text[:cut],
        tokens=len(row) if end is None else end + 1,
        finish=Finish.STOP if ended else Finish.LENGTH,
    )


def decode(tokenizer: Any, tokens: Sequence[int]) -> str:
    """Text with its special tokens, which may mark reasoning; nothing is tidied up."""
    return str(
        tokenizer.decode(tokens, skip_special_tokens=False, clean_up_tokenization_spaces=False)
    )


def keep_only_end_tokens(network: PreTrainedModel, tokenizer: Any) -> None:
    """Strip the model's own generation settings but for the tokens that end a turn.

    `network.generate` takes whatever is not said from them, penalties included.
    """
    from transformers import GenerationConfig

    ends = end_tokens(network, tokenizer)
    network.generation_config = GenerationConfig(eos_token_id=ends or None)


def end_tokens(network: PreTrainedModel, tokenizer: Any) -> list[int]:
    """The tokens that end a turn: those the model's generation_config names, and the EOS."""
    named = getattr(network.generation_config, "eos_token_id", None)
    ends = list(named) if isinstance(named, list) else [] if named is None else [named]
    if tokenizer.eos_token_id is not None and tokenizer.eos_token_id not in ends:
        ends.append(tokenizer.eos_token_id)
    return ends


class _GumbelDraw:
    """Logits processor: after it, the largest logit of a row is a draw from the distribution."""

    def __init__(self, drawing: Drawing, seeds: Sequence[int]) -> None:
        import torch

        self.drawing = drawing
        # On the CPU whatever the device, so that a seed means the same everywhere.
        self.generators = [torch.Generator().manual_seed(seed) for seed in seeds]

    def __call__(self, input_ids: torch.Tensor, scores: torch.Tensor) -> torch.Tensor:
        import torch

        scores = scores.float() / self.drawing.temperature
        if self.drawing.top_p < 1:
            scores = _nucleus(scores, self.drawing.top_p)
        waits = [
            torch.empty(scores.shape[1]).exponential_(generator=each) for each in self.generators
        ]
        return scores - torch.stack(waits).to(scores.device).log()


def _nucleus(scores: torch.Tensor, top_p: float) -> torch.Tensor:
    """Keep the likeliest tokens that reach `top_p` together, at least one; the rest to -inf."""
    ordered, order = scores.sort(dim=-1, descending=True)
    before = ordered.softmax(dim=-1).cumsum(dim=-1) - ordered.softmax(dim=-1)
    dropped = (before >= top_p).scatter(-1, order, before >= top_p)
    return scores.masked_fill(dropped, -float("inf"))


class _StopStrings:
    """Stopping criterion: the rows whose new text holds one of the stop strings are done."""

    def __init__(
        self, tokenizer: Any, width: int, stop: Sequence[str], checkpoint: Callable[[], None]
    ) -> None:
        self.tokenizer, self.width, self.stop, self.checkpoint = tokenizer, width, stop, checkpoint
        # A token covers at least a byte, or is one of a few that cover none.
        self.tail = max((len(text.encode()) for text in stop), default=0) + 8

    def __call__(self, input_ids: torch.Tensor, scores: Any, **_: Any) -> torch.Tensor:
        import torch

        self.checkpoint()
        rows = input_ids[:, self.width :][:, -self.tail :].tolist() if self.stop else []
        done = [any(stop in decode(self.tokenizer, row) for stop in self.stop) for row in rows]
        done = done or [False] * len(input_ids)
        return torch.tensor(done, device=input_ids.device)
