"""What goes between whoever wants a text attack and whoever makes it: asks and proposals."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Sequence
from dataclasses import dataclass
from typing import Protocol

from askew.build.attack_checks import Fault
from askew.errors import AskewError
from askew.models.runner import Progress
from askew.records import Item


class AttacksStopped(AskewError):
    """The calls stopped before every attack was made: budget, Ctrl-C, an endpoint that is down.

    What was answered is in the ledger, so that the same command goes on where it stopped.

    Attributes:
        kind: why, as in `runner.Answers.stopped`.
        missing: how many calls of the last wave have no reply.
    """

    def __init__(self, kind: str, message: str, missing: int) -> None:
        super().__init__(message)
        self.kind, self.missing = kind, missing


@dataclass(frozen=True, slots=True)
class Ask:
    """One attack that is wanted from an attacker."""

    item: Item
    kind: str
    variant: int = 0  # tells apart the attacks on one and the same question
    attempt: int = 0
    last: str | None = None  # what came of the attempt before, None where nothing could be read
    faults: tuple[Fault, ...] = ()  # what was wrong with it


@dataclass(frozen=True, slots=True)
class Proposal:
    """What an attacker offers: a changed question, or why there is none."""

    question: str | None
    fault: Fault | None = None
    final: bool = False  # another attempt would bring nothing

    def __post_init__(self) -> None:
        if (self.question is None) == (self.fault is None):
            raise ValueError("a proposal has either a question or a fault")


class Attacker(Protocol):
    """Whoever changes questions.

    Attributes:
        name: as `TextAttack.maker` says it.
        tries: how often one attack is asked for at most.
        variants: how many different attacks are made on the same question at most.
    """

    name: str
    tries: int
    variants: int

    def calls_at_most(self, items: Sequence[Item], kinds: Sequence[str]) -> int:
        """How many model calls these attacks can take."""
        ...

    def same(self, item: Item, kind: str) -> Hashable:
        """Items with the same value may be given the same attack."""
        ...

    async def propose(
        self,
        asks: Sequence[Ask],
        progress: Callable[[Progress], None] | None = None,
    ) -> list[Proposal]:
        """One proposal an ask, in order.

        Raises:
            AttacksStopped: not all calls were sent.
        """
        ...
