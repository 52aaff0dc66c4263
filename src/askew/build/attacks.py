"""Text attacks: made by an attacker, checked, and asked for again until one passes.

FLEX (Jung et al., 2025, §3.1.3, A.3) has a model change the question and takes what comes. Here
every attack is checked, by rule and where they are there by an embedding and a judge: 31 of the
release's 115 character attacks change nothing, and 83 of its 220 word attacks on sentence pairs
ask for the "less accurate" sentence.

    wanted pairs -> asks (those that may share an attack, together) -> proposals -> checks
                     ^------------- what was wrong with it -----------------|
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterator, Sequence
from dataclasses import dataclass, field

from askew.build.attack_asks import Ask, Attacker, AttacksStopped, Proposal
from askew.build.attack_checks import Fault, audit_attack
from askew.build.attack_meaning import Change, Checks, Judge, Meaning
from askew.build.attack_model import ModelAttacker
from askew.build.attack_rules import RuleAttacker
from askew.build.records import TextAttack
from askew.errors import unknown_name
from askew.models.runner import Progress
from askew.prompts.text_attack import TEXT_ATTACKS
from askew.records import Item
from askew.seeds import generator

__all__ = [
    "Ask",
    "Attacker",
    "AttacksStopped",
    "Checks",
    "Judge",
    "ModelAttacker",
    "Proposal",
    "RuleAttacker",
    "make_attacks",
]

# Asks that are under way together, with their prompts in memory.
LARGEST_WAVE = 16_384
_MOST_SHOWN = 200  # characters of a refused question


async def make_attacks(
    wanted: Sequence[tuple[Item, str]],
    attacker: Attacker,
    checks: Checks,
    progress: Callable[[Progress], None] | None = None,
) -> list[TextAttack]:
    """Make a text attack for each (item, kind), in that order.

    All asks of a wave go out together; what fails a check is asked for again with what was wrong,
    `attacker.tries` times in all. Items that ask the same question share at most
    `attacker.variants` attacks of a kind; which one depends on the item's id alone, whatever else
    is wanted with it. One whose variant failed has none: another's would depend on the others.

    Args:
        wanted: items and kinds ("character", "word", "sentence_v1", "sentence_v2").
        attacker: who makes them.
        checks: what they have to pass besides the rules.
        progress: told how far the calls of a wave have come, where calls are made.

    Returns:
        One a pair; its `question` is None where no try passed.

    Raises:
        ConfigError: there is no text attack of a kind.
        AttacksStopped: not all calls were sent.
    """
    for _, kind in wanted:
        if kind not in TEXT_ATTACKS:
            raise unknown_name("text attack", kind, list(TEXT_ATTACKS))
    keys = [_key(item, kind, attacker) for item, kind in wanted]
    makings: dict[_Key, _Making] = {}
    for (item, kind), key in zip(wanted, keys, strict=True):
        makings.setdefault(key, _Making(Ask(item, kind, key.variant)))
    everything = list(makings.values())
    for first in range(0, len(everything), LARGEST_WAVE):
        await _make(everything[first : first + LARGEST_WAVE], attacker, checks, progress)
    return [makings[key].attack(attacker.name) for key in keys]


@dataclass(frozen=True, slots=True)
class _Key:
    """What an attack may be shared by."""

    kind: str
    same: Hashable
    variant: int


@dataclass(slots=True)
class _Making:
    """One attack on its way."""

    ask: Ask
    question: str | None = None
    tries: int = 0
    over: bool = False
    rejected: list[str] = field(default_factory=list)
    meaning: Meaning = Meaning()

    def reject(self, question: str | None, faults: Sequence[Fault]) -> None:
        """Write down what was wrong and turn to the next attempt."""
        self.rejected.append(_reason(question, faults))
        ask = self.ask
        self.ask = Ask(ask.item, ask.kind, ask.variant, ask.attempt + 1, question, tuple(faults))

    def attack(self, maker: str) -> TextAttack:
        """What came of it."""
        return TextAttack(
            kind=self.ask.kind,
            question=self.question,
            maker=maker,
            tries=self.tries,
            rejected=tuple(self.rejected),
            similarity=None if self.question is None else self.meaning.similarity,
            judged=None if self.question is None else self.meaning.judged,
        )


def _key(item: Item, kind: str, attacker: Attacker) -> _Key:
    same = attacker.same(item, kind)
    if attacker.variants == 1:
        return _Key(kind, same, 0)
    # By the id alone, so that an item's attack is the same however many items there are.
    variant = int(generator(0, "attack_variant", item.id).integers(attacker.variants))
    return _Key(kind, same, variant)


async def _make(
    makings: Sequence[_Making],
    attacker: Attacker,
    checks: Checks,
    progress: Callable[[Progress], None] | None,
) -> None:
    """Ask, check and ask again, until each has passed or used up its tries."""
    while still := [making for making in makings if not making.over]:
        proposals = await attacker.propose([making.ask for making in still], progress)
        sound = []
        for making, proposal in zip(still, proposals, strict=True):
            faults = list(_faults(making.ask, proposal))
            making.tries += not proposal.final
            if faults:
                making.reject(proposal.question, faults)
            elif proposal.question is not None:
                sound.append((making, proposal.question))
            making.over = proposal.final or making.tries >= attacker.tries
        changes = [Change(making.ask.kind, making.ask.item, text) for making, text in sound]
        meanings = await checks.meanings(changes, progress)
        for (making, text), meaning in zip(sound, meanings, strict=True):
            if meaning.fault is not None:
                making.reject(text, [meaning.fault])
            else:
                making.question, making.meaning, making.over = text.strip(), meaning, True


def _faults(ask: Ask, proposal: Proposal) -> Iterator[Fault]:
    if proposal.fault is not None:
        yield proposal.fault
    if proposal.question is not None:
        yield from audit_attack(ask.kind, ask.item.question, proposal.question, ask.item)


def _reason(question: str | None, faults: Sequence[Fault]) -> str:
    said = "; ".join(map(str, faults))
    return said if question is None else f"{said} ({question[:_MOST_SHOWN]!r})"
