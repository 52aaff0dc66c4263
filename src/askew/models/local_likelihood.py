"""Log-probabilities of continuations under a causal language model, summed over their tokens.

Two ways that agree to about 1e-5 in float32: `PlainScorer`, one sequence at a time, is the
reference; `TreeScorer` computes what questions share once and is five to six times faster on FLEX.
`scorer_for` picks the tree wherever the model can be shown to honour it.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, Protocol

from askew.models.local_memory import Budgets
from askew.models.local_tree import Tree, logits_at
from askew.models.trie import Pack, TokenQuestion

if TYPE_CHECKING:
    import torch
    from transformers import PreTrainedModel

# Rows of logits that are summed at a time: their exponentials stay in the processor's cache.
_ROWS = 8

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

    def __init__(self, tree: Tree) -> None:
        self.tree = tree

    def score(
        self, questions: Sequence[TokenQuestion], checkpoint: Callable[[], None] = lambda: None
    ) -> LogProbabilities:
        """See `Scorer`."""
        import torch

        sums = [[0.0] * len(question.continuations) for question in questions]
        with torch.inference_mode():
            for each in self.tree.packs(questions, checkpoint):
                for target, value in zip(each.targets, self._run(each), strict=True):
                    sums[target.question][target.choice] += value
        return [tuple(row) for row in sums]

    def _run(self, each: Pack) -> list[float]:
        """The log-probability of each target."""
        import torch

        rows = sorted(each.rows)
        logits = self.tree.logits(each, rows)
        if not rows:
            return []  # a piece of a long prompt
        row_of = {place: row for row, place in enumerate(rows)}
        where = torch.tensor([row_of[target.node] for target in each.targets], device=logits.device)
        tokens = torch.tensor([target.token for target in each.targets], device=logits.device)
        return token_log_probabilities(logits, tokens, where)


def tree_for(network: PreTrainedModel, budgets: Budgets) -> Tree | None:
    """The fastest tree that computes the same as one sequence at a time on a small probe.

    A model may ignore a mask, positions or an attention function of our making (recurrent layers,
    ALiBi, chunked attention), so each way is tried rather than looked up in a list.
    """
    if "position_ids" not in inspect.signature(network.forward).parameters:
        return None
    # Small ids exist in every vocabulary. Several packs, so that keeping a stem is tried as well.
    stem = (5, 6, 7, 8, 9, 10)
    probe = [
        TokenQuestion((*stem, tail), ((11, 12, 13), (12, 11, 14), (13,))) for tail in (15, 16, 17)
    ]
    expected = sum(PlainScorer(network).score(probe), ())
    small = Budgets(tokens=16, kept=16, rows=budgets.rows)
    for blocks in (True, False):
        found = _tried(TreeScorer(Tree(network, small, blocks=blocks)), probe)
        if found is not None and _alike(found, expected, network.dtype):
            return Tree(network, budgets, blocks=blocks)
    return None


def _tried(scorer: TreeScorer, probe: Sequence[TokenQuestion]) -> tuple[float, ...] | None:
    """The figures of the probe; None where the model's own code cannot take our inputs."""
    from transformers.utils import logging

    verbosity = logging.get_verbosity()
    logging.set_verbosity_error()  # it warns of what is being found out here
    try:
        return sum(scorer.score(probe), ())
    except (RuntimeError, ValueError, TypeError, AttributeError, LookupError):
        return None
    finally:
        logging.set_verbosity(verbosity)


def _alike(found: Sequence[float], expected: Sequence[float], dtype: torch.dtype) -> bool:
    import torch

    # float32 agrees to about 1e-5 of the value, the coarser types to 1e-2; a mask that is not
    # honoured shows in the first digits.
    relative = 1e-4 if dtype == torch.float32 else 2e-2
    pairs = zip(found, expected, strict=True)
    return all(abs(a - b) <= relative * max(1.0, abs(b)) for a, b in pairs)


def scorer_for(network: PreTrainedModel, tree: Tree | None) -> Scorer:
    """The scorer that uses `tree` wherever it is right; without one the plain scorer."""
    plain = PlainScorer(network)
    if tree is None:
        return plain
    return Windowed(TreeScorer(tree), plain, attention_window(network.config))


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
    totals = torch.cat([some.logsumexp(dim=-1) for some in torch.split(logits, _ROWS)])
    values = logits[rows, tokens] - totals[rows]
    return [float(value) for value in values.cpu()]
