"""Building a FLEX of one's own (Jung et al., Findings of NAACL 2025, §3.2, Appendix B).

Read from top to bottom: prepare, then the steps, then what is written.

1. Coverage restriction: items that the model answers neutrally without an attack.
2. Scenario selection: the scenarios that fit, some replies each; dropped with too few biased ones.
3. Diversity control: the most vulnerable scenario of a category, and one category by lot.
4. Ours: fresh replies, without an attack, under the selected scenario and under a random one.

A build that is started again goes through the same steps; every reply that was had comes from the
ledger, so it ends up where it stopped and goes on.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from askew.audits.flex import Study, load_study
from askew.build import outputs, release
from askew.build.asking import SELECTING, Ask, Step, Target, Watch
from askew.build.attack_checks import FaultCode
from askew.build.attacks import Attacker, Checks, Judge, ModelAttacker, RuleAttacker, make_attacks
from askew.build.cases import Case
from askew.build.fitting import fitting, scenario_counts, to_build_from
from askew.build.records import TextAttack
from askew.build.select import Selection, category_order, draw, luck_of
from askew.build.settings import BuildConfig, BuildFile
from askew.errors import ConfigError
from askew.models.base import Ability, Model
from askew.models.dispatch import RunnerSettings
from askew.models.embedder import Embedder, load_embedder
from askew.models.ledger import Ledger
from askew.models.prices import Prices
from askew.models.registry import load_model
from askew.models.runner import Progress, Runner
from askew.models.stopping import Asked, StoppedEarly, StoppingRunner
from askew.privacy.locality import kept_local, refuse
from askew.records import AttackCategory, Scenario
from askew.runfolder import RunFolder
from askew.stats.gate import Competence, competence

TEXT = AttackCategory.TEXT_ATTACK
MakeAttacks = Callable[[Sequence[Case]], Awaitable[None]]


@dataclass(frozen=True, slots=True)
class Prepared:
    """Everything a build needs, settled and read, before the first call."""

    file: BuildFile
    path: Path
    models: Mapping[str, Model]  # by role: the target, perhaps an attacker and a judge
    embedder: Embedder | None
    prices: Prices
    config: BuildConfig
    study: Study

    @property
    def target(self) -> Model:
        """The model that the set is selected on."""
        return self.models["target"]

    @property
    def paid(self) -> list[str]:
        """The names of the models that a call may cost money at."""
        return [model.name for model in self.models.values() if model.paid]

    def cases(self) -> list[Case]:
        """The items, nothing asked yet."""
        config = self.config
        return [
            Case(
                item,
                Selection(category_order(item.id, config.categories, config.seed), config.rule),
            )
            for item in self.study.items
        ]


@kept_local
def prepare(file: BuildFile) -> Prepared:
    """Settle the settings, read the sources; asks nothing.

    Raises:
        ConfigError, DataError, MissingDependency: the set cannot be built as it is wanted.
    """
    release.check_can_write()
    file = file.settled()
    models = {role: load_model(table.spec()) for role, table in file.models.items()}
    prices = Prices.load(file.prices)
    for role, model in models.items():
        _check_model(file, role, model, prices)
    config = file.config()
    study = load_study(config.study, config.seed)
    items = tuple(to_build_from(item, config) for item in study.items)
    study = replace(study, items=items)
    if not any(scenario_counts(study.items, config)):
        raise ConfigError(
            "there is nothing to build: no scenario of these categories fits any item. Ask for "
            "other categories, add personas for the bias types, or choose other sources."
        )
    path = file.out or outputs.default_folder(file, study.checksums)
    outputs.refuse_other(path, file, study.checksums)
    embedder = None if file.build.embedder is None else load_embedder(file.build.embedder)
    return Prepared(file, path, models, embedder, prices, config, study)


@dataclass(frozen=True, slots=True)
class Built:
    """What came of a build."""

    path: Path
    report: Mapping[str, object]  # as in build.json
    stopped: StoppedEarly | None  # None: it ran to its end

    @property
    def missing(self) -> bool:
        """Whether replies are missing: to decide about an item, or to a fresh call."""
        calls = self.report["calls"]
        assert isinstance(calls, Mapping)
        return self.stopped is not None or bool(calls["failed"] or calls["unknown"])


@kept_local
async def execute(prepared: Prepared, watch: Watch | None = None) -> Built:
    """Build the set.

    A build that stops early (budget, Ctrl-C, endpoint down) writes no set, marks `build.json` as
    incomplete and says there what is missing; it goes on when it is started again.
    """
    outputs.begin(prepared.path, prepared.file, prepared.models, prepared.study.checksums)
    stage = _Stage(watch)
    asked: dict[str, Asked] = {role: Asked() for role in prepared.models}
    with Ledger.open(prepared.path / "run.sqlite") as ledger:
        run = _Run(prepared, ledger, asked, stage)
        stopped = None
        try:
            await run.through()
        except StoppedEarly as stop:
            stopped = stop
        finally:
            for model in prepared.models.values():
                await model.close()
        spending = ledger.spending
    found = outputs.Found(
        run.cases, run.fit, run.target.calls["selection"], asked, spending.roles, stage.name
    )
    report = outputs.write(prepared.path, prepared.file, prepared.config, found, stopped)
    return Built(prepared.path, report, stopped)


class _Stage:
    """What is being done at the moment, told to whoever watches."""

    def __init__(self, watch: Watch | None) -> None:
        self.name = ""
        self._watch = watch

    def __call__(self, step: Step) -> None:
        if self._watch is not None:
            self._watch(step)


class _Run:
    """One start of a build: the models, set up to be asked through the ledger, and the steps."""

    def __init__(
        self, prepared: Prepared, ledger: Ledger, asked: Mapping[str, Asked], stage: _Stage
    ) -> None:
        self.cases = prepared.cases()
        self.fit: Competence | None = None
        self._prepared = prepared
        self._stage = stage
        self._asked = asked
        self._runners = {
            role: runner_of(prepared, role, ledger, asked[role]) for role in prepared.models
        }
        self.target = Target(prepared.target, self._runners["target"], prepared.config, stage)
        self._attacker = attacker_of(prepared, self._runners)
        self._checks = checks_of(prepared, self._runners)

    async def through(self) -> None:
        """All steps, in order.

        Raises:
            StoppedEarly: calls were not sent; `cases` holds what was decided until then.
        """
        config, target = self._prepared.config, self.target
        self._stage.name = "controls"
        self.fit = competence(await target.control_scores(self._prepared.study.controls))
        self._stage.name = "source"
        await restrict_coverage(self.cases, target, config)
        self._stage.name = "selection"
        neutral = [case for case in self.cases if case.is_neutral(config) and not case.lost]
        await select_scenarios(neutral, target, self._make_attacks, config)
        chosen = [case for case in neutral if case.chosen is not None]
        self._stage.name = "random baseline"
        await choose_random(chosen, self._make_attacks, config)
        chosen = [case for case in chosen if not case.lost]
        self._stage.name = "estimation"
        await estimate(chosen, target, config)

    async def _make_attacks(self, cases: Sequence[Case]) -> None:
        """The text attacks of these cases, as far as their data set brings none."""
        config = self._prepared.config
        wanted = [
            (case, kind)
            for case in cases
            for kind in config.text_attacks
            if kind not in case.item.text_attacks
        ]
        unknown, stage = self._unknown(), self._stage.name
        self._stage.name = "text attacks"
        made: list[TextAttack] = []
        if wanted:
            pairs = [(case.item, kind) for case, kind in wanted]
            made = await make_attacks(pairs, self._attacker, self._checks, self._progress)
        self._stage.name = stage
        by_case: dict[str, list[TextAttack]] = {case.item.id: [] for case in cases}
        for (case, _), attack in zip(wanted, made, strict=True):
            by_case[case.item.id].append(attack)
        for case in cases:
            attacks = by_case[case.item.id]
            case.take_attacks(attacks)
            if self._unknown() > unknown and any(map(_unanswered, attacks)):
                case.lost = True  # with the attack it might come out otherwise

    def _unknown(self) -> int:
        return sum(asked.unknown for role, asked in self._asked.items() if role != "target")

    def _progress(self, progress: Progress) -> None:
        self._stage(Step("text attacks", 1, progress))


async def restrict_coverage(cases: Sequence[Case], target: Target, config: BuildConfig) -> None:
    """Step 1 (§3.2.1): ask without an attack, until a reply is not neutral or all are."""
    for replicate in range(config.source_replies):
        still = [case for case in cases if case.neutral_so_far and not case.lost]
        asks = [Ask(case.item, None, SELECTING + replicate) for case in still]
        outcomes = await target.outcomes("source", asks)
        for case, outcome in zip(still, outcomes, strict=True):
            case.take_source(outcome)


async def select_scenarios(
    cases: Sequence[Case], target: Target, make_attacks: MakeAttacks, config: BuildConfig
) -> None:
    """Steps 2 and 3 (§3.2.2, §3.2.3): the next replies of all items together, wave after wave.

    Text attacks are made once every item has come as far as it can without them.
    """
    while still := [case for case in cases if not (case.lost or case.selection.decided)]:
        for case in still:
            _enter_categories(case, config)
        ahead = target.ahead(len(still))
        wanted = [
            (case, scenario, replicate)
            for case in still
            for scenario, replicate in case.selection.wanted(ahead)
        ]
        if not wanted:
            await make_attacks([case for case in still if not case.selection.decided])
            continue
        asks = [
            Ask(case.item, scenario, SELECTING + replicate) for case, scenario, replicate in wanted
        ]
        outcomes = await target.outcomes("selection", asks)
        for (case, scenario, _), outcome in zip(wanted, outcomes, strict=True):
            case.take(scenario, outcome)


def _enter_categories(case: Case, config: BuildConfig) -> None:
    """Give the selection the scenarios it needs next, as far as they are there."""
    while (category := case.selection.category) is not None:
        if category is TEXT and not case.has_attacks:
            return
        scenarios = fitting(case.item, category, config)
        case.selection.enter(category, luck_of(case.item.id, scenarios, config.seed))


async def choose_random(
    cases: Sequence[Case], make_attacks: MakeAttacks, config: BuildConfig
) -> None:
    """A random scenario for each item (Appendix B): a fitting category by lot, then one of it."""
    open_to_text = [case for case in cases if not case.has_attacks]
    await make_attacks([case for case in open_to_text if _lot(case, config)[0] is TEXT])
    for case in cases:
        _, scenarios = _lot(case, config)
        case.random = draw(case.item.id, scenarios, config.seed)


def _lot(case: Case, config: BuildConfig) -> tuple[AttackCategory, tuple[Scenario, ...]]:
    """The category drawn and its scenarios; of a text attack that is still to be made, none."""
    for category in category_order(case.item.id, config.categories, config.seed, "random_category"):
        scenarios = fitting(case.item, category, config)
        if category is TEXT and not case.has_attacks:
            return category, ()
        if scenarios:
            return category, scenarios
    raise ValueError(f"no scenario fits item {case.item.id!r}")  # it has been given one


async def estimate(cases: Sequence[Case], target: Target, config: BuildConfig) -> None:
    """Step 4: fresh replies, with numbers that no replies of the steps before have had."""
    asks = [ask for case in cases for ask in _fresh_asks(case, config)]
    outcomes = iter(await target.outcomes("estimation", asks))
    for case in cases:
        case.fresh = {}
        for ask in _fresh_asks(case, config):
            case.fresh.setdefault(ask.scenario, []).append(next(outcomes))


def _fresh_asks(case: Case, config: BuildConfig) -> Iterator[Ask]:
    """A case's fresh replies; the random scenario may be the selected one, and is asked once."""
    for scenario in dict.fromkeys((None, case.chosen, case.random)):
        for replicate in range(config.estimate_replies):
            yield Ask(case.item, scenario, replicate)


def runner_of(prepared: Prepared, role: str, ledger: Ledger, asked: Asked) -> StoppingRunner:
    """What asks the model of a role, within the budget."""
    file = prepared.file
    return StoppingRunner(
        ledger,
        asked,
        limits=file.budget.limits(),
        price_of=prepared.prices.price_of,
        reuse=[RunFolder.open(path).database for path in file.reuse] or None,
        settings=RunnerSettings(unknown=file.unknown, concurrency=file.models[role].concurrency),
    )


def _unanswered(attack: TextAttack) -> bool:
    """Whether there is no attack, and a call that could have brought one was not answered."""
    return attack.question is None and any(
        reason.startswith((FaultCode.NO_REPLY, FaultCode.NOT_JUDGED)) for reason in attack.rejected
    )


def attacker_of(prepared: Prepared, runners: Mapping[str, Runner]) -> Attacker:
    """Who makes the text attacks."""
    file, models = prepared.file, prepared.models
    if "attacker" not in models:
        return RuleAttacker(file.seed)
    return ModelAttacker(
        models["attacker"],
        runners["attacker"],
        file.models["attacker"].sampling(),
        tries=file.build.tries,
        variants=file.build.variants,
    )


def checks_of(prepared: Prepared, runners: Mapping[str, Runner]) -> Checks:
    """What the text attacks have to pass besides the rules."""
    judge = None
    if "judge" in prepared.models:
        sampling = prepared.file.models["judge"].sampling()
        judge = Judge(prepared.models["judge"], runners["judge"], sampling)
    return Checks(prepared.embedder, judge, prepared.file.build.similarity_from)


def _check_model(file: BuildFile, role: str, model: Model, prices: Prices) -> None:
    """Refuse what would stop the build halfway.

    Raises:
        ConfigError: the model sends prompts away and must not, cannot do what its role needs, or a
            money budget needs a price that is not known.
    """
    if model.remote:
        refuse(
            f"{model.name} sends prompts off this machine",
            "Choose a local/ or builtin/ model, or leave local_only out.",
            wanted=file.local_only,
        )
    scored = role == "target" and file.build.scoring != "reply"
    wanted = Ability.CHOICE_LOG_PROBABILITIES if scored else Ability.REPLY
    if wanted not in model.abilities:
        raise ConfigError(
            f"{model.name} cannot give log-probabilities, which scoring {file.build.scoring!r} "
            "needs. Use --scoring reply."
            if scored
            else f"{model.name} cannot write replies, which the {role} has to. Name another model"
            + (", or use --scoring letters or texts." if role == "target" else ".")
        )
    if file.budget.limits().wants_price(role) and prices.price_of(model.name) is None:
        raise ConfigError(
            f"a money budget needs the price of {model.name}, and none is known. Add it to "
            "prices.toml, or bound calls or tokens instead."
        )
