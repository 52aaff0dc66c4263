"""The likeliest choice, from one log-probability a choice."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Literal

from askew.errors import ModelError
from askew.scores.reading import Reading, answered

Normalise = Literal["sum", "bytes"]
Tie = Literal["tied", "first"]


def choose(
    log_probabilities: Sequence[float],
    *,
    normalise: Normalise = "sum",
    choice_bytes: Sequence[int] = (),
    tie: Tie = "tied",
    tolerance: float = 0.0,
) -> Reading:
    """The place of the largest log-probability.

    A NaN says that the server's list of alternatives did not reach the choice: it lies below every
    choice that was shown, so the summed maximum over the others is the maximum. Divided by unequal
    lengths that no longer follows, and is refused.

    Args:
        log_probabilities: one natural log-probability a choice, summed over its tokens, at most 0.
        normalise: "sum" takes them as they are (lm-evaluation-harness: `acc`); "bytes" divides by
            the choice's length in UTF-8 bytes, without the blank before it (its `acc_bytes`; its
            `acc_norm` divides by characters, which is the same for ASCII text).
        choice_bytes: those lengths; needed for "bytes" only.
        tie: "first" takes the first maximum, as lm-evaluation-harness does.
        tolerance: how far below the maximum still ties with it; at least 0.

    Raises:
        ModelError: nothing was measured: no figure, only NaN, or 0.0 for every choice, which is
            what an endpoint returns that does not score the prompt.
        ValueError: a positive log-probability, a missing length, or NaN beside unequal lengths.

    >>> choose([-1.5, -0.5, -3.0]).place
    1
    >>> choose([-1.0, -1.0, -3.0])
    Reading(place=None, outcome_hint='tied', rule='tie')
    >>> choose([-2.0, -3.0], normalise="bytes", choice_bytes=[2, 6]).place
    1
    """
    _check_measured(log_probabilities)
    values = _normalised(log_probabilities, normalise, choice_bytes)
    shown = {place: value for place, value in enumerate(values) if not math.isnan(value)}
    largest = max(shown.values())
    best = [place for place, value in shown.items() if value >= largest - tolerance]
    if len(best) > 1 and tie == "tied":
        return Reading(None, "tied", "tie")
    return answered(best[0], "first_of_tie" if len(best) > 1 else "likeliest")


def none_shown(log_probabilities: Sequence[float]) -> bool:
    """Whether the server's list of alternatives reached none of the choices."""
    return bool(log_probabilities) and all(map(math.isnan, log_probabilities))


def _check_measured(log_probabilities: Sequence[float]) -> None:
    mend = (
        "Use an endpoint that scores the prompt's choices, or ask for replies (scoring = 'reply')."
    )
    if not log_probabilities:
        raise ModelError(f"the reply holds no log-probabilities of the choices. {mend}")
    if none_shown(log_probabilities):
        raise ModelError(f"none of the choices has a log-probability. {mend}")
    if all(value == 0.0 for value in log_probabilities):
        raise ModelError(
            "every choice has log-probability 0.0: the endpoint left out the prompt's log-"
            f"probabilities. {mend}"
        )
    if any(value > 1e-6 for value in log_probabilities):
        raise ValueError(f"log-probabilities cannot be positive: {tuple(log_probabilities)}")


def _normalised(
    log_probabilities: Sequence[float], normalise: Normalise, choice_bytes: Sequence[int]
) -> Sequence[float]:
    if normalise == "sum":
        return log_probabilities
    if len(choice_bytes) != len(log_probabilities) or not all(
        length > 0 for length in choice_bytes
    ):
        raise ValueError(
            f"{len(log_probabilities)} choices need as many positive lengths in bytes, "
            f"not {tuple(choice_bytes)}"
        )
    if any(map(math.isnan, log_probabilities)) and len(set(choice_bytes)) > 1:
        raise ValueError(
            "a choice without log-probability cannot be compared by length: use normalise='sum'"
        )
    return [value / length for value, length in zip(log_probabilities, choice_bytes, strict=True)]
