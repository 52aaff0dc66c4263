"""Log-probabilities of continuations under a causal language model, summed over their tokens.

Two ways that agree to about 1e-5 in float32: `PlainScorer`, one sequence at a time, is the
reference; `TreeScorer` computes what questions share once and is two to five times faster.
`scorer_for` picks the tree wherever the model can be shown to honour it.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, Protocol

from askew.models.trie import Pack, TokenQuestion, pack

if TYPE_CHECKING:
    import torch
    from transformers import PreTrainedModel

# The largest [rows, vocabulary] block of logits at a time: 2**26 float32 are 256 MB.
_LOGIT_BUDGET = 1 << 26

LogProbabilities = list[tuple[float, ...]]


class Scorer(Protocol):
    """Scores questions given as tokens."""

    def score(
        self, questions: Sequence[TokenQuestion], checkpoint: Callable[[], None] = lambda: None
    ) -> LogProbabilities:
        """One natural log-probability a continuation, in the order of the questions.

        Args:
            questions: prompts and continuations as token ids.
            checkpoint: called between pieces of work; may raise to stop.
        """
        ...


class PlainScorer:
    """One forward pass a continuation: the definition, and the way for unusual models."""

    def __init__(self, network: PreTrainedModel) -> None:
        self.network = network

    def score(
        self, questions: Sequence[TokenQuestion], checkpoint: Callable[[], None] = lambda: None
    ) -> LogProbabilities:
        """See `Scorer`."""
        import torch

        scores: LogProbabilities = []
        with torch.inference_mode():
            for question in questions:
                checkpoint()
                scores.append(tuple(self._one(question.prompt, c) for c in question.continuations))
        return scores

    def _one(self, prompt: tuple[int, ...], continuation: tuple[int, ...]) -> float:
        import torch

        device = self.network.device
        tokens = torch.tensor([[*prompt, *continuation[:-1]]], device=device)
        rows = torch.arange(len(prompt) - 1, tokens.shape[1], device=device)
        logits = logits_at(self.network, rows, input_ids=tokens, use_cache=False)
        return sum(token_log_probabilities(logits, torch.tensor(continuation, device=device)))


class TreeScorer:
    """All questions of a batch as few packed trees (see `trie`)."""

    def __init__(self, network: PreTrainedModel, token_budget: int) -> None:
        self.network = network
        self.token_budget = token_budget
        self.cache_argument = cache_argument(network) or "cache"
        self.row_budget = max(1, _LOGIT_BUDGET // network.config.get_text_config().vocab_size)

    def score(
        self, questions: Sequence[TokenQuestion], checkpoint: Callable[[], None] = lambda: None
    ) -> LogProbabilities:
        """See `Scorer`."""
        import torch
        from transformers import DynamicCache

        sums = [[0.0] * len(question.continuations) for question in questions]
        cache: Any = DynamicCache()
        packs = pack(questions, token_budget=self.token_budget, row_budget=self.row_budget)
        with torch.inference_mode():
            for each in packs:
                checkpoint()
                cache = cropped(cache, len(each.kept))
                for target, value in zip(each.targets, self._run(each, cache), strict=True):
                    sums[target.question][target.choice] += value
        return [tuple(row) for row in sums]

    def _run(self, each: Pack, cache: Any) -> list[float]:
        """The log-probability of each target; leaves the pack's keys and values in `cache`."""
        import torch

        device = self.network.device
        rows = sorted(each.rows)
        logits = logits_at(
            self.network,
            torch.tensor(rows, device=device),
            input_ids=torch.tensor([each.tokens], device=device),
            position_ids=torch.tensor([each.depths], device=device),
            attention_mask=ancestor_mask(each, self.network.dtype).to(device),
            use_cache=True,
            **{self.cache_argument: cache},
        )
        row_of = {node: row for row, node in enumerate(rows)}
        where = torch.tensor([row_of[target.node] for target in each.targets], device=device)
        tokens = torch.tensor([target.token for target in each.targets], device=device)
        return token_log_probabilities(logits, tokens, where)


def scorer_for(network: PreTrainedModel, token_budget: int) -> Scorer:
    """The tree scorer if `network` computes the same with it on a small probe, else the plain one.

    A model may ignore a mask or positions of our making (recurrent layers, ALiBi, chunked
    attention), so it is tried rather than looked up in a list.
    """
    plain = PlainScorer(network)
    tree = TreeScorer(network, token_budget)
    parameters = inspect.signature(network.forward).parameters
    if "position_ids" not in parameters or cache_argument(network) is None:
        return plain
    # Small ids exist in every vocabulary. Two packs, so that keeping a stem is tried as well.
    stem = (5, 6, 7, 8, 9, 10)
    probe = [
        TokenQuestion((*stem, tail), ((11, 12, 13), (12, 11, 14), (13,))) for tail in (15, 16, 17)
    ]
    small = TreeScorer(network, token_budget=16)
    expected = plain.score(probe)
    try:
        found = small.score(probe)
    except (RuntimeError, ValueError, TypeError, AttributeError, IndexError):
        return plain  # the model's own code cannot take the mask or the cache
    import torch

    # float32 agrees to about 1e-5 of the value, the coarser types to 1e-2; a mask that is not
    # honoured shows in the first digits.
    relative = 1e-4 if network.dtype == torch.float32 else 2e-2
    pairs = zip(sum(expected, ()), sum(found, ()), strict=True)
    alike = all(abs(a - b) <= relative * max(1.0, abs(a)) for a, b in pairs)
    return Windowed(tree, plain, attention_window(network.config)) if alike else plain


class Windowed:
    """The tree for questions inside the attention window, the plain way for longer ones.

    Within the window a sliding or chunked layer sees all that a full one sees.
    """

    def __init__(self, tree: TreeScorer, plain: PlainScorer, window: int | None) -> None:
        self.tree, self.plain, self.window = tree, plain, window

    def score(
        self, questions: Sequence[TokenQuestion], checkpoint: Callable[[], None] = lambda: None
    ) -> LogProbabilities:
        """See `Scorer`."""
        inside = [self.window is None or each.longest <= self.window for each in questions]
        short = [each for each, fits in zip(questions, inside, strict=True) if fits]
        long = [each for each, fits in zip(questions, inside, strict=True) if not fits]
        from_tree = iter(self.tree.score(short, checkpoint))
        from_plain = iter(self.plain.score(long, checkpoint))
        return [next(from_tree if fits else from_plain) for fits in inside]


def attention_window(config: Any) -> int | None:
    """The shortest sliding window or attention chunk that a configuration names, if any."""
    text = config.get_text_config()
    names = ("sliding_window", "attention_chunk_size", "window_size")
    found = [getattr(text, name, None) for name in names]
    return min((size for size in found if isinstance(size, int) and size > 0), default=None)


def ancestor_mask(each: Pack, dtype: torch.dtype) -> torch.Tensor:
    """Additive mask, shape (1, 1, nodes, kept + nodes): 0 for the ancestors, lowest elsewhere."""
    import numpy as np
    import torch

    kept, nodes = len(each.kept), len(each.tokens)
    sees = np.zeros((nodes, kept + nodes), dtype=bool)
    sees[:, :kept] = True
    for node, parent in enumerate(each.parents):
        if parent >= 0:
            sees[node] = sees[parent]
        sees[node, kept + node] = True
    mask = torch.zeros(sees.shape, dtype=dtype)
    mask.masked_fill_(torch.from_numpy(~sees), torch.finfo(dtype).min)
    return mask[None, None]


def cropped(cache: Any, length: int) -> Any:
    """`cache` cut to its first `length` places; a new one for 0, which `crop` could not empty."""
    from transformers import DynamicCache

    if length == 0:
        return DynamicCache()
    cache.crop(length - cache.get_seq_length())  # a negative number is how many places to drop
    return cache


def cache_argument(network: PreTrainedModel) -> str | None:
    """The name of `network.forward`'s cache, which changed within transformers 5; None: none."""
    parameters = inspect.signature(network.forward).parameters
    return next((name for name in ("cache", "past_key_values") if name in parameters), None)


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


def token_log_probabilities(
    logits: torch.Tensor, tokens: torch.Tensor, rows: torch.Tensor | None = None
) -> list[float]:
    """The log-softmax of each token in its row, as Python floats.

    Args:
        logits: shape (rows, vocabulary), float32.
        tokens: shape (targets,).
        rows: shape (targets,), the row of each target; None where row i belongs to target i.
    """
    import torch

    if rows is None:
        rows = torch.arange(len(tokens), device=logits.device)
    values = logits[rows, tokens] - torch.logsumexp(logits, dim=-1)[rows]
    return [float(value) for value in values.cpu()]
