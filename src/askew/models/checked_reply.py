"""Whatever a provider handed back -> a Reply that can be kept, counted and read. Pure.

A plug-in, a function of the user's and a server at the end of a line may each put anything into a
reply. What cannot be stored, or would bend a budget, ends here and not in the ledger.
"""

from __future__ import annotations

import math
from dataclasses import replace
from typing import Any

from askew.records import Call, Finish, Reply

# No reply has more: what says so is a mistake, or a lie. Their sums, in billionths of a currency,
# have to fit into the 64 bits of an SQLite integer.
MOST_TOKENS = 10**8
_SAID = ("text", "reasoning")  # kept to the letter: the ledger escapes what UTF-8 cannot hold
_TEXTS = (*_SAID, "served_model", "fingerprint", "error")
_COUNTS = ("prompt_tokens", "completion_tokens")


def checked(reply: Any, call: Call) -> Reply:
    """`reply` itself where nothing is wrong with it, else the nearest reply that can be kept.

    What was said stays as it is; in an error and in the names of what served it, halves of a
    character become question marks. Counts that nobody can believe become "not counted". What is
    no answer to `call` at all becomes a reply with finish ERROR that says why.

    >>> from askew.records import Prompt
    >>> checked(Reply(text="B", prompt_tokens=-5), Call(Prompt(text="Who?"))).prompt_tokens
    >>> checked("B", Call(Prompt(text="Who?"))).error
    'the model returned str, expected a Reply'
    """
    if not isinstance(reply, Reply):
        return _no_reply(f"the model returned {type(reply).__name__}, expected a Reply")
    finish: object = reply.finish
    if not isinstance(finish, Finish):
        return _no_reply(f"the reply's finish is {type(finish).__name__}, expected a Finish")
    changed: dict[str, Any] = {}
    for name in _TEXTS:
        text = getattr(reply, name)
        if text is None:
            continue
        if not isinstance(text, str):
            return _no_reply(f"the reply's {name} is {type(text).__name__}, expected a text")
        if name in _SAID or text.isascii():
            continue
        if (sound := _without_surrogates(text)) is not text:
            changed[name] = sound
    for name in _COUNTS:
        count = getattr(reply, name)
        whole = isinstance(count, int) and not isinstance(count, bool)
        if count is not None and not (whole and 0 <= count <= MOST_TOKENS):
            changed[name] = None
    if reply.log_probabilities and (wrong := _wrong_figures(reply.log_probabilities, call)):
        return _no_reply(wrong)
    return replace(reply, **changed) if changed else reply


def _wrong_figures(figures: object, call: Call) -> str | None:
    """What is wrong with the log-probabilities; None if nothing is. NaN stands for "not given"."""
    if not isinstance(figures, tuple) or not all(type(figure) is float for figure in figures):
        return "the reply's log-probabilities are no tuple of floats"
    if len(figures) != len(call.prompt.choices):
        return f"{len(figures)} log-probabilities came for {len(call.prompt.choices)} choices"
    # A sum of rounded figures may be a hair above 0.
    if any(figure > 0.01 for figure in figures if not math.isnan(figure)):
        return f"the log-probabilities {figures} are none: they lie above 0"
    return None


def _without_surrogates(text: str) -> str:
    try:
        text.encode()
    except UnicodeEncodeError:
        return text.encode("utf-8", "replace").decode()
    return text


def _no_reply(error: str) -> Reply:
    return Reply(finish=Finish.ERROR, error=error)
