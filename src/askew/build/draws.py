"""A reply drawn from scored options: what a model that gives log-probabilities would say."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from askew.records import Item, Outcome, Reply, Scenario
from askew.scores.outcome import ScoreSettings, Scoring, score_reply


def drawn_outcome(
    item: Item,
    reply: Reply,
    *,
    order: tuple[int, int, int],
    scoring: Scoring,
    scenario: Scenario | None,
    settings: ScoreSettings,
    temperature: float,
    rng: np.random.Generator,
) -> Outcome:
    """The outcome of one draw from the softmax of the options' scores.

    The same prompt always gives the same scores, so asking again would show nothing. A draw from
    them is what sampling at this temperature would choose, and costs no further call.

    Args:
        item: the question.
        reply: the log-probabilities in the order shown. An option whose log-probability the server
            did not show (NaN) is never drawn.
        order: order[k] is the option that was shown at place k.
        scoring: "letters" or "texts".
        scenario: the attack, if there was one.
        settings: how the scores are normalised.
        temperature: the scores are divided by it; at 0 the likeliest option is taken.
        rng: draws.

    Raises:
        ModelError: log-probabilities were asked for and none were measured.
    """
    # It also refuses scores that are none, and knows what a reply without an answer comes to.
    likeliest = score_reply(
        item,
        reply,
        condition="source" if scenario is None else "attacked",
        order=order,
        scoring=scoring,
        scenario=scenario,
        settings=settings,
    ).outcome
    if not temperature or not (likeliest.answered or likeliest is Outcome.TIED):
        return likeliest
    by_bytes = scoring == "texts" and settings.normalise == "bytes"
    lengths = [len(item.options[option].encode()) if by_bytes else 1 for option in order]
    values = [
        value / length for value, length in zip(reply.log_probabilities, lengths, strict=True)
    ]
    shares = probabilities(values, temperature)
    if shares is None:
        return likeliest
    return item.outcome_of(order[int(rng.choice(len(shares), p=shares))])


def probabilities(values: Sequence[float], temperature: float) -> list[float] | None:
    """The softmax of scores at a temperature; None where no score is finite.

    >>> [round(share, 3) for share in probabilities([math.log(3), 0.0, math.nan], 1.0)]
    [0.75, 0.25, 0.0]
    >>> [round(share, 3) for share in probabilities([math.log(3), 0.0, -math.inf], 0.5)]
    [0.9, 0.1, 0.0]
    """
    finite = [value for value in values if math.isfinite(value)]
    if not finite:
        return None
    highest = max(finite)
    weights = [
        math.exp((value - highest) / temperature) if math.isfinite(value) else 0.0
        for value in values
    ]
    total = math.fsum(weights)
    return [weight / total for weight in weights]
