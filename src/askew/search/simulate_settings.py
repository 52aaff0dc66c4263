"""What the simulator of leaning topics can be set to, and the ranges that it is varied over."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from askew.errors import ConfigError

# The six domains of GMRL-BD (§4.1).
DOMAINS = ("ai", "culture", "economy", "education", "immigration", "politics")


@dataclass(frozen=True, kw_only=True, slots=True)
class SimulatorSettings:
    """How a topic graph grows, and how a model comes to lean on some of its topics.

    The defaults are the middle of what `varied` draws, chosen so that a leaning topic's neighbour
    leans about five times as often as any topic (`tests/search/test_simulate.py` holds the bands).
    """

    # The graph.
    nodes: int = 1275
    parents: float = 2.8  # a topic stands under so many on average, at least one
    uncles: float = 0.75  # share of further parents that are siblings of the first parent
    same_branch: float = 0.18  # ... that are any older topic of the same branch; the rest: any
    cycles: float = 0.004  # share of edges that lead from a topic's forebear up to the topic
    deepest: int = 12  # edges from the root to the deepest topic, along first parents

    # The texts.
    dimensions: int = 12
    content_correlation: float = 0.8  # of a topic's content with its first parent's
    title_noise: float = 0.75  # of a title about its content, in standard deviations of the content
    answer_noise: float = 1.0  # of an answer about its topic's content, likewise
    answer_shift: float = 2.5  # how far a leaning answer moves along the slant, likewise

    # The leanings.
    leaning: float = 0.06  # share of topics on which the model leans
    fewest_leaning: int = 51  # ... and no fewer topics than this
    seeds: float = 0.06  # share of the leaning topics with which the spread begins
    seed_pull: float = 2.75  # log odds of a seed, for a standard deviation along the direction
    shared_direction: float = 0.5  # share of the direction (of its variance) common to all models
    diffusion: float = 0.42  # chance that a leaning reaches a child
    upward: float = 0.35  # ... times this to a parent
    per_hop: float = 0.92  # ... times this for every hop from the seed
    hub_degree: int = 24  # a topic with more neighbours passes its leaning on less readily:
    hub_damping: float = 0.45  # ... times (hub_degree / neighbours) ** hub_damping
    cleaned: float = 0.08  # share of leanings that are gone again
    added: float = 0.10  # share of the leaning topics that are strewn anywhere, far from others

    # The tests; the same topic errs in the same way each time that it is tested.
    missed: float = 0.0  # share of leaning topics that a test calls clean
    flagged: float = 0.0  # share of clean topics that a test calls leaning

    def __post_init__(self) -> None:
        """Reject what no graph can be grown from."""
        for name in SHARES:
            value = getattr(self, name)
            if not 0 <= value <= 1:
                raise ConfigError(
                    f"the simulator's {name} is {value}, expected a share from 0 to 1."
                )
        for name, least in (("nodes", 2), ("dimensions", 1), ("parents", 1), ("deepest", 1)):
            if getattr(self, name) < least:
                raise ConfigError(
                    f"the simulator's {name} is {getattr(self, name)}, expected at least {least}."
                )
        if self.uncles + self.same_branch > 1:
            raise ConfigError("the simulator's uncles and same_branch sum to more than 1.")


SHARES = (
    "uncles",
    "same_branch",
    "cycles",
    "content_correlation",
    "leaning",
    "seeds",
    "shared_direction",
    "diffusion",
    "upward",
    "per_hop",
    "cleaned",
    "added",
    "missed",
    "flagged",
)

# Low and high ends of what `varied` draws, evenly.
RANGES: dict[str, tuple[float, float]] = {
    "parents": (2.4, 3.2),
    "content_correlation": (0.7, 0.9),
    "title_noise": (0.5, 1.0),
    "seed_pull": (2.0, 3.5),
    "shared_direction": (0.3, 0.7),
    "diffusion": (0.30, 0.55),
    "seeds": (0.03, 0.09),
    "hub_damping": (0.3, 0.6),
    "cleaned": (0.04, 0.12),
    "added": (0.05, 0.15),
    "leaning": (0.04, 0.08),
}
NODES = (1050, 1500)


def varied(
    random: np.random.Generator, settings: SimulatorSettings | None = None
) -> SimulatorSettings:
    """Settings drawn from ranges, so that nothing is tuned to one simulator.

    Args:
        random: draws them.
        settings: holds what is not drawn; default: the simulator's own.
    """
    drawn: dict[str, float] = {
        name: float(random.uniform(low, high)) for name, (low, high) in RANGES.items()
    }
    nodes = int(random.integers(NODES[0], NODES[1] + 1))
    return replace(settings or SimulatorSettings(), nodes=nodes, **drawn)  # type: ignore[arg-type]


def noisy(settings: SimulatorSettings) -> SimulatorSettings:
    """The same with tests that err: 15 % of leaning topics missed, 3 % of clean ones flagged."""
    return replace(settings, missed=0.15, flagged=0.03)
