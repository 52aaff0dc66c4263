"""Text to tokens as lm-evaluation-harness cuts it, so that log-likelihoods can be compared.

`HFLM._encode_pair` (lm-eval 0.4.13): blanks at the end of the context go to the continuation, both
are encoded in one piece, and the continuation is what is left after as many tokens as the context
alone has. That breaks where a token spans the join for some choices and not for others; see
`split_choices`.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from askew.models.trie import TokenQuestion, shared

Encode = Callable[[str], Sequence[int]]


def split_choices(
    encode: Encode, context: str, choices: Sequence[str], *, start_token: int | None
) -> TokenQuestion:
    """The prompt's tokens and each choice's, all cut at the same place.

    Where the first `len(encode(context))` tokens are the same for all choices and each choice has a
    token left, this is lm-eval's split to the token. Otherwise (": C" is one token, ": A" is two)
    the cut moves to the left until it does: the scores are then of slightly more than the
    choices, the same text for each, instead of an empty or a different one.

    Args:
        encode: text -> token ids, special tokens included as the model wants them.
        context: what stands before the choices; may be empty.
        choices: one or more continuations, none empty, with their leading blank if they have one.
        start_token: stands in for an empty context: the tokenizer's BOS, else its EOS.

    Raises:
        ValueError: no choice, an empty one, or there is neither context nor start token.
    """
    if not choices or not all(choices):
        raise ValueError(f"there is no choice, or a choice is empty: {list(choices)!r}")
    stripped = context.rstrip()
    blanks = context[len(stripped) :]
    wholes = [tuple(encode(stripped + blanks + choice)) for choice in choices]
    cut = _cut(len(encode(stripped)), wholes)
    if prompt := wholes[0][:cut]:
        return TokenQuestion(prompt, tuple(whole[cut:] for whole in wholes))
    if start_token is None:
        raise ValueError("an empty context needs a tokenizer with a BOS or EOS token")
    return TokenQuestion((start_token,), tuple(wholes))


def _cut(context_tokens: int, wholes: Sequence[tuple[int, ...]]) -> int:
    """How many tokens all choices share before the part that is scored."""
    cut = min(context_tokens, min(map(len, wholes)) - 1)
    common = wholes[0][:cut]
    for whole in wholes[1:]:
        common = shared(common, whole)
    return len(common)
