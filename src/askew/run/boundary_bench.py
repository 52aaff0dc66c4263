"""The bench of policies: worlds from folders or the simulator, some train, others are searched."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass
from functools import partial
from pathlib import Path

from askew import __version__
from askew.engines.fan_out import FanOut, Serial
from askew.errors import ConfigError
from askew.graphs.topic_edges import UNLABELLED, LabelledGraph, read_edges
from askew.graphs.topics import TopicGraph
from askew.run.boundary_graph import alike_vectors
from askew.search.contest import contest
from askew.search.game import Policy
from askew.search.labelled import split_models, worlds_of
from askew.search.policies import policy
from askew.search.standings import BUDGETS, Standing, standings
from askew.search.worlds import World

Told = Callable[[int, int, str], None]
Make = Callable[[World], Policy]

RIVALS = ("uniform", "neighbour_share", "ens", "gmrl_bd", "gmrl_bd_literal")
# Of the simulator: so many seeds after the bench's own train, six graphs and models each; with
# fewer GMRL-BD overfits. Graphs and models from these numbers on are searched.
TRAINING_SEEDS = 40
UNSEEN = 1_000
GMRL = ("gmrl_bd", "gmrl_bd_literal")
LITERAL_AGENTS = 8


@dataclass(frozen=True, kw_only=True, slots=True)
class BenchConfig:
    """What is played."""

    folders: tuple[Path, ...] = ()  # of labelled graphs; (): the simulator
    train_models: tuple[str, ...] = ()
    test_models: tuple[str, ...] = ()
    policies: tuple[str, ...]
    queries: int = 100
    starts: int = 10
    simulated: int = 12
    episodes: int = 600  # of GMRL-BD's training
    seed: int = 0


@dataclass(frozen=True, slots=True)
class BenchDone:
    """What came of it."""

    config: BenchConfig
    standings: Sequence[Standing]
    upfront_tests: Mapping[str, float]  # policy -> tests paid for before the first, mean a game
    train_worlds: Sequence[str]
    test_worlds: Sequence[str]
    games: int  # of each policy
    notes: Sequence[str]

    def plain(self) -> dict[str, object]:
        """For JSON."""
        return {
            "askew": __version__,
            "settings": {
                **asdict(self.config),
                "folders": [str(folder) for folder in self.config.folders],
            },
            "policies": [
                {**asdict(one), "upfront_tests": self.upfront_tests[one.policy]}
                for one in self.standings
            ],
            "train": list(self.train_worlds),
            "test": list(self.test_worlds),
            "games": self.games,
            "notes": list(self.notes),
        }


def run_bench(
    config: BenchConfig, told: Told | None = None, fan_out: FanOut | None = None
) -> BenchDone:
    """Train what is to be trained, then play.

    Args:
        config: what is played.
        told: how far the training, then the games have come.
        fan_out: who plays games, those of the training too; None: this process. What comes out
            does not depend on it.

    Raises:
        ConfigError, DataError, MissingDependency: what is named is not there or cannot be used.
    """
    notes: list[str] = []
    train, test = _worlds(config, notes)
    players = fan_out or Serial()
    makers = _makers(train, config, told, notes, players)
    results = contest(
        test,
        makers,
        queries=config.queries,
        starts=config.starts,
        seed=config.seed,
        told=told,
        fan_out=players,
    )
    budgets = [at for at in BUDGETS if at < config.queries] + [config.queries]
    upfront = {
        name: sum(_upfront(make(world), world.graph) for world in test) / len(test)
        for name, make in makers.items()
    }
    return BenchDone(
        config=config,
        standings=standings(results, RIVALS, budgets, config.seed),
        upfront_tests=upfront,
        train_worlds=[world.name for world in train],
        test_worlds=[world.name for world in test],
        games=len(results) // len(makers),
        notes=notes,
    )


def _worlds(config: BenchConfig, notes: list[str]) -> tuple[list[World], list[World]]:
    if not config.folders:
        return _simulated(config)
    graphs = labelled_folders(config.folders)
    training, searched = split_models(graphs, config.train_models, config.test_models)
    vectors = alike_vectors([one.graph for one in graphs.values()])
    train: list[World] = []
    test: list[World] = []
    for (name, labelled), titles in zip(graphs.items(), vectors, strict=True):
        train += worlds_of(name, labelled, training, titles)
        found = worlds_of(name, labelled, searched, titles)
        test += [world for world in found if world.positives]
        notes += [
            f"{world.name}: no topic leans, so there is nothing to find; it is left out."
            for world in found
            if not world.positives
        ]
        for world in found:
            count = int((labelled.labels[world.model] == UNLABELLED).sum())
            if count:
                notes.append(
                    f"{name}: {count:,} topics have no label of {world.model} and count as clean."
                )
    if not test:
        raise ConfigError(
            "no topic leans in any model that is searched, so there is nothing to find. Name other "
            "models with --test-models."
        )
    return train, test


def labelled_folders(folders: Sequence[Path]) -> dict[str, LabelledGraph]:
    """The graphs by their folders' names, or by their paths where two have the same name.

    Raises:
        ConfigError: a folder is named twice.
        DataError: a folder cannot be read.
    """
    whole = [folder.resolve() for folder in folders]
    if twice := [path for path in whole if whole.count(path) > 1]:
        raise ConfigError(f"{twice[0]} is named twice. Name each folder once.")
    short = [path.name for path in whole]
    return {
        str(given) if short.count(path.name) > 1 else path.name: read_edges(given)
        for given, path in zip(folders, whole, strict=True)
    }


def _simulated(config: BenchConfig) -> tuple[list[World], list[World]]:
    from itertools import islice

    from askew.search.simulate import DOMAINS, simulate_many

    needed = any(name.startswith("gmrl_bd") or name == "hop2_text" for name in config.policies)
    seeds = range(config.seed + 1, config.seed + 1 + TRAINING_SEEDS) if needed else ()
    train = [world for seed in seeds for world in simulate_many(seed)]
    later = range(UNSEEN, UNSEEN - (-config.simulated // len(DOMAINS)))
    unseen = simulate_many(config.seed, graphs=later, models=(UNSEEN,))
    return train, list(islice(unseen, config.simulated))


def _makers(
    train: Sequence[World],
    config: BenchConfig,
    told: Told | None,
    notes: list[str],
    fan_out: FanOut,
) -> dict[str, Make]:
    """What makes each policy, those that are trained after their training."""
    makers: dict[str, Make] = {name: partial(_untrained, name) for name in config.policies}
    if "learned" in makers and config.folders:
        if any(0 < world.positives < world.graph.size for world in train):
            makers["learned"] = _learned(train, config, told, notes, fan_out)
        else:
            notes.append(
                "learned: the weights that come with askew were played, as no topic leans in any "
                "model that trains."
            )
    if "hop2_text" in makers:
        from askew.search.text_prior import fit_text_prior

        prior = fit_text_prior(train)
        makers["hop2_text"] = partial(_trained, "hop2_text", {"text_prior": prior})
    published = [name for name in GMRL if name in makers]
    if published:
        made = _gmrl(train, config, told)
        makers |= {name: made[name] for name in published}
    return makers


def _untrained(name: str, world: World) -> Policy:
    return policy(name)


def _trained(name: str, options: Mapping[str, object], world: World) -> Policy:
    return policy(name, **options)


def _learned(
    train: Sequence[World],
    config: BenchConfig,
    told: Told | None,
    notes: list[str],
    fan_out: FanOut,
) -> Make:
    """The learned belief, trained on the models that are not searched."""
    from askew.search.learned import learned_of
    from askew.search.training import TrainingProgress
    from askew.search.training import train as train_learned

    def advance(now: TrainingProgress) -> None:
        if told is not None:
            told(now.done, now.of, f"training learned: {now.part} of round {now.round}")

    made = train_learned(train, seed=config.seed, told=advance, fan_out=fan_out)
    if made.meta["figures"].get("kept") == "shipped":
        notes.append(
            "learned: the weights that come with askew were kept, as training on these models did "
            "not predict others of them better."
        )
    return partial(_trained, "learned", {"checkpoint": learned_of(made)})


def _gmrl(train: Sequence[World], config: BenchConfig, told: Told | None) -> dict[str, Make]:
    """GMRL-BD in the honest regime: with one kept tested set, and by Algorithm 2 to the letter."""
    from askew.search.gmrl_settings import variant_settings
    from askew.search.gmrl_train import train_gmrl

    def advance(done: int, of: int, figures: Mapping[str, float]) -> None:
        if told is not None:
            told(done, of, "training gmrl_bd")

    settings = variant_settings(regime="honest", episodes=config.episodes)
    model = train_gmrl(train, settings, seed=config.seed, told=advance)
    return {
        "gmrl_bd": partial(_trained, "gmrl_bd", {"checkpoint": model}),
        "gmrl_bd_literal": partial(
            _trained,
            "gmrl_bd",
            {"checkpoint": model, "restarts": True, "agents": LITERAL_AGENTS},
        ),
    }


def _upfront(one: Policy, graph: TopicGraph) -> int:
    """Tests that a policy has paid for before the first one of the game."""
    counted = getattr(one, "upfront_tests", None)
    return 0 if counted is None else int(counted(graph))
