"""The attacker that is a model: asked through the ledger, so that no attack is paid for twice."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Sequence
from dataclasses import replace

from askew.build.attack_asks import Ask, AttacksStopped, Proposal
from askew.build.attack_checks import Fault, FaultCode
from askew.build.attack_prompts import attack_prompt, shown_to_attacker
from askew.build.attack_replies import read_question
from askew.errors import ConfigError
from askew.models.base import Model
from askew.models.runner import Progress, Runner
from askew.records import Call, Finish, Item, Reply, Sampling

ROLE = "attacker"
# Sampled, as one and the same question has to get several attacks.
DEFAULT_SAMPLING = Sampling(temperature=1.0, max_tokens=256)
TRIES, VARIANTS = 3, 10
# Attempts of one variant are this far apart in their replicate numbers.
MOST_VARIANTS = 1_000


class ModelAttacker:
    """Has a model make text attacks.

    Args:
        model: who is asked.
        runner: asks it, in the role "attacker".
        sampling: how replies are drawn; a fixed seed is moved on from call to call.
        tries: how often one attack is asked for at most, the first time included.
        variants: how many different attacks are made at most on a question that many items ask.

    Raises:
        ConfigError: fewer than one try or variant.
    """

    def __init__(
        self,
        model: Model,
        runner: Runner,
        sampling: Sampling = DEFAULT_SAMPLING,
        tries: int = TRIES,
        variants: int = VARIANTS,
    ) -> None:
        if tries < 1 or not 1 <= variants <= MOST_VARIANTS:
            raise ConfigError(
                f"the attacker has tries = {tries} and variants = {variants}, expected at least 1 "
                f"of each and at most {MOST_VARIANTS} variants."
            )
        self.name = model.name
        self.tries, self.variants = tries, variants
        self._model, self._runner, self._sampling = model, runner, sampling

    def same(self, item: Item, kind: str) -> Hashable:
        """What the prompt shows of the item: those that show the same may share an attack."""
        return (item.language, *shown_to_attacker(item, kind))

    def calls_at_most(self, items: Sequence[Item], kinds: Sequence[str]) -> int:
        """Every attack with all its tries; items that ask the same question counted together."""
        attacks = 0
        for kind in kinds:
            sizes: dict[Hashable, int] = {}
            for item in items:
                same = self.same(item, kind)
                sizes[same] = sizes.get(same, 0) + 1
            attacks += sum(min(size, self.variants) for size in sizes.values())
        return attacks * self.tries

    def calls(self, asks: Sequence[Ask]) -> list[Call]:
        """The calls that these asks make, for a plan of what they cost."""
        return [self._call(ask) for ask in asks]

    async def propose(
        self,
        asks: Sequence[Ask],
        progress: Callable[[Progress], None] | None = None,
    ) -> list[Proposal]:
        """Ask for all of them together and read what comes.

        Raises:
            AttacksStopped: not all calls were sent.
        """
        answers = await self._runner.ask(self._model, self.calls(asks), progress)
        if answers.stopped is not None:
            raise AttacksStopped(answers.stopped, answers.message, answers.missing)
        return [
            _read(reply, ask.item.question)
            for ask, reply in zip(asks, answers.replies, strict=True)
        ]

    def _call(self, ask: Ask) -> Call:
        replicate = ask.attempt * MOST_VARIANTS + ask.variant
        sampling = self._sampling
        if sampling.seed is not None:
            # With one and the same seed a server would give one and the same reply.
            sampling = replace(sampling, seed=sampling.seed + replicate)
        return Call(attack_prompt(ask), sampling, ROLE, replicate)


def _read(reply: Reply | None, original: str) -> Proposal:
    """The question in a reply, or why there is none."""
    if reply is None:
        detail = "the call's outcome is unknown, and it is not asked again"
        return Proposal(None, Fault(FaultCode.NO_REPLY, detail))
    if reply.finish is Finish.ERROR:
        return Proposal(None, Fault(FaultCode.NO_REPLY, reply.error or "the call failed"))
    if reply.finish in (Finish.REFUSAL, Finish.BLOCKED):
        return Proposal(None, Fault(FaultCode.NO_REPLY, "the attacker refused"))
    found = read_question(reply.text, original)
    return Proposal(None, found) if isinstance(found, Fault) else Proposal(found)
