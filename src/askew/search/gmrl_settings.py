"""GMRL-BD's settings, each with its source, and the rows of the paper's Table 2 as variants.

Equation, section and algorithm numbers are those of the paper (arXiv 2604.05483). It writes κ for
two things: here they are `epsilon_decay` (§3.3) and `overlap_penalty` (Eq. 6).
"""

from __future__ import annotations

import math
from dataclasses import asdict, dataclass, fields, replace
from typing import Any, Literal

from askew.errors import ConfigError, unknown_name

# What a node's h0 is made of (Eq. 4). "leaky": the answers about every topic (Algorithm 1, line 5),
# so that all topics are paid for before the first test. "text": titles alone. "honest": titles, and
# the labels and answers that were paid for so far.
Regime = Literal["leaky", "text", "honest"]
REGIMES: tuple[Regime, ...] = ("leaky", "text", "honest")

# How Eq. 4 sums over the neighbours; numbers for the compiled code.
NO_NEIGHBOURS = 0
MEAN = 1
ATTENTION = 2

COUNTS = 5  # entries of the state's summary that Q reads, beside three mean embeddings


@dataclass(frozen=True, kw_only=True, slots=True)
class GmrlSettings:
    """Everything that GMRL-BD can be set to; the defaults are the paper's where it gives one."""

    variant: str = "full"  # Table 2; see `VARIANTS`
    regime: Regime = "honest"  # the paper's is "leaky"; askew does not search with unpaid answers

    # The encoder: Eq. 4 and 5.
    embedding: int = 32  # length of h(v); askew's choice
    sage: bool = True  # Eq. 4 with neighbours sampled afresh in every training step (GraphSAGE)
    fan_out: int = 10  # how many are sampled; askew's choice (GraphSAGE's second layer has 10)
    attention: bool = True  # Eq. 4 with learned α_ij (GAT); without it α_ij = 1 / neighbours
    read_answers: bool = True  # whether h0 of the honest regime holds paid answers' vectors
    encoder_steps: int = 1_200  # gradient steps on Eq. 5; askew's choice
    encoder_batch: int = 2_048  # topics a step; askew's choice
    encoder_rate: float = 3e-3  # Adam's; askew's choice
    weight_decay: float = 1e-4  # of the encoder; askew's choice

    # The reward: Eq. 3. The paper gives no value for its three weights.
    reward_hit: float = 1.0  # β
    reward_test: float = 0.05  # α, the penalty of an explored node; askew's choice
    reward_near: float = 0.1  # w, of 1 / (dist + 1); askew's choice

    # Q-learning: Eq. 7 and 8, Algorithm 1.
    q_attends: bool = (
        False  # Table 2's graph-attention Q-network: no Eq. 5, the Q-loss trains Eq. 4
    )
    tower: int = 32  # hidden width of both towers of Q; askew's choice
    query: int = 15  # entries of their product; askew's choice (16 with own(a), a whole vector)
    discount: float = 0.97  # §4.2, γ
    learning_rate: float = 1e-3  # η of Eq. 7, as Adam's; askew's choice
    # Share of the newest weights in their running mean, which plays and whose values are the
    # targets of Eq. 7; the paper has one network, whose values run away here. askew's choice.
    averaging: float = 0.01
    batch: int = 1_024  # transitions a gradient step; askew's choice
    episodes: int = 600  # §3.3, n_episodes
    tries: int = 200  # §3.3, n_tries
    max_steps: int = 2_000  # §3.3
    # How many queries a try goes on for, hits or not; None: it ends at its first hit, as in
    # Algorithm 1, line 16, where no state with a hit is ever seen. askew's choice.
    try_queries: int | None = 100
    transitions: int = 20_000  # kept of an episode, at most; askew's choice
    worlds_per_episode: int = 4  # an episode's tries are split over these; askew's choice
    epsilon_start: float = 1.0  # §3.3, ε_0
    epsilon_decay: float = 0.994  # §3.3, κ; from 1.0 it meets the floor in episode 268
    epsilon_floor: float = 0.2  # §3.3

    # Play: §3.3, Algorithm 2.
    uniform_actions: bool = False  # Table 2: a neighbour of the path, uniformly; no network
    agents: int = 1  # n_agent; Table 1 has one
    overlap_penalty: float = 1.0  # κ of Eq. 6; askew's choice: the reward of one hit
    restarts: bool = False  # a new random start after each hit: Algorithm 2, line 17
    turns: int = 5  # "several" moves in a row before an agent hands over; askew's choice

    def __post_init__(self) -> None:
        """Reject what cannot be trained or played."""
        if self.regime not in REGIMES:
            raise unknown_name("regime", self.regime, list(REGIMES))
        for name in _AT_LEAST_ONE:
            value = getattr(self, name)
            if type(value) is not int or value < 1:
                raise ConfigError(f"GMRL-BD's {name} is {value!r}, expected a whole number from 1.")
        if self.variant not in VARIANTS:
            raise unknown_name("variant of GMRL-BD", self.variant, list(VARIANTS))
        for name in _TRUTHS:
            if type(getattr(self, name)) is not bool:
                raise ConfigError(
                    f"GMRL-BD's {name} is {getattr(self, name)!r}, expected true or false."
                )
        within = self.try_queries
        if within is not None and (type(within) is not int or within < 2):
            raise ConfigError(
                f"GMRL-BD's try_queries is {within!r}, expected None or a whole number from 2."
            )
        for name in _NUMBERS:
            value = getattr(self, name)
            number = isinstance(value, int | float) and not isinstance(value, bool)
            if not number or not math.isfinite(value) or value < 0:
                raise ConfigError(f"GMRL-BD's {name} is {value!r}, expected a number from 0.")
        for name in _SHARES:
            if getattr(self, name) > 1:
                raise ConfigError(f"GMRL-BD's {name} is {getattr(self, name)}, expected at most 1.")

    @property
    def aggregate(self) -> int:
        """How neighbours enter Eq. 4: without both layers, not at all."""
        if self.attention:
            return ATTENTION
        return MEAN if self.sage else NO_NEIGHBOURS

    @property
    def trained(self) -> bool:
        """Whether there is anything to train."""
        return not self.uniform_actions and self.variant != "dfs"

    def epsilon(self, episode: int) -> float:
        """The share of random actions in an episode, from 0: max(floor, ε_0 · κ^episode).

        >>> [round(GmrlSettings().epsilon(episode), 4) for episode in (0, 267, 268, 600)]
        [1.0, 0.2005, 0.2, 0.2]
        """
        return max(self.epsilon_floor, self.epsilon_start * self.epsilon_decay**episode)

    def plain(self) -> dict[str, Any]:
        """As JSON has it; `settings_from` reads it back."""
        return asdict(self)


_AT_LEAST_ONE = (
    "embedding",
    "fan_out",
    "encoder_steps",
    "encoder_batch",
    "tower",
    "query",
    "batch",
    "episodes",
    "tries",
    "max_steps",
    "transitions",
    "worlds_per_episode",
    "agents",
    "turns",
)
_NUMBERS = (
    "encoder_rate",
    "weight_decay",
    "reward_hit",
    "reward_test",
    "reward_near",
    "discount",
    "learning_rate",
    "averaging",
    "epsilon_start",
    "epsilon_decay",
    "epsilon_floor",
    "overlap_penalty",
)
_TRUTHS = ("sage", "attention", "read_answers", "q_attends", "uniform_actions", "restarts")
_SHARES = ("discount", "averaging", "epsilon_start", "epsilon_decay", "epsilon_floor")

# What may differ between the training of a checkpoint and its play.
PLAY_SETTINGS = ("agents", "overlap_penalty", "restarts", "turns")

# The rows of Table 2, in its order, as changes to the full method.
VARIANTS: dict[str, dict[str, Any]] = {
    "full": {},
    "without_sage": {"sage": False},
    "without_attention": {"attention": False},
    # No layer is left that passes anything between topics: h(v) = σ(W_r h0(v)).
    "without_both": {"sage": False, "attention": False},
    "graph_attention_q": {"q_attends": True, "sage": False},
    "uniform_actions": {"uniform_actions": True},
    "without_explored_penalty": {"reward_test": 0.0, "overlap_penalty": 0.0},
    "dfs": {},
}


def variant_settings(variant: str = "full", **changes: Any) -> GmrlSettings:
    """The settings of one row of Table 2.

    Args:
        variant: a key of `VARIANTS`.
        changes: further settings, by name.

    Raises:
        ConfigError: no such variant or setting, or a value that cannot be used.

    >>> variant_settings("without_sage", tries=50).aggregate == ATTENTION
    True
    """
    if variant not in VARIANTS:
        raise unknown_name("variant of GMRL-BD", variant, list(VARIANTS))
    return changed(GmrlSettings(), variant=variant, **{**VARIANTS[variant], **changes})


def literal_settings(variant: str = "full", **changes: Any) -> GmrlSettings:
    """As `variant_settings`, with what the paper writes where askew's defaults differ.

    All answers known beforehand; tries end at their first hit; Algorithm 2's restarts.
    """
    printed: dict[str, Any] = {"regime": "leaky", "try_queries": None, "restarts": True}
    return variant_settings(variant, **{**printed, **changes})


def changed(settings: GmrlSettings, **changes: Any) -> GmrlSettings:
    """The settings with some replaced.

    Raises:
        ConfigError: there is no such setting, or the value cannot be used.
    """
    known = [one.name for one in fields(GmrlSettings)]
    for name in changes:
        if name not in known:
            raise unknown_name("setting of GMRL-BD", name, known)
    return replace(settings, **changes)


def settings_from(plain: dict[str, Any]) -> GmrlSettings:
    """What `GmrlSettings.plain` wrote.

    Raises:
        ConfigError: it holds a setting that this version does not know.
    """
    return changed(GmrlSettings(), **plain)
