"""Whether a changed question still asks the same: by an embedding and by a judge model.

Neither is the last word. Cosine is blind to negation, which the rules see (`polarity`); a judge may
be wrong. What was not checked is said: a similarity or a verdict of None.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace

from askew.build.attack_asks import AttacksStopped
from askew.build.attack_checks import Fault, FaultCode
from askew.build.attack_prompts import judge_prompt
from askew.build.attack_replies import read_verdict
from askew.models.base import Model
from askew.models.embedder import Embedder, cosines
from askew.models.runner import Progress, Runner
from askew.records import Call, Finish, Item, Reply, Sampling

ROLE = "judge"
# The least cosine to the original question; measured, see docs/text-attacks.md.
SIMILARITY_FROM: Mapping[str, float] = {
    "character": -1.0,  # a slip cuts a word into other tokens, so the cosine says nothing of it
    "word": 0.5,
    "sentence_v1": 0.4,
    "sentence_v2": 0.2,  # the two groups are added, which moves it far
}


@dataclass(frozen=True, slots=True)
class Change:
    """A changed question that rules found nothing wrong with."""

    kind: str
    item: Item
    question: str


@dataclass(frozen=True, slots=True)
class Meaning:
    """What was found out about the meaning of a changed question."""

    similarity: float | None = None  # cosine; None: no embedder
    judged: bool | None = None  # None: nobody was asked
    fault: Fault | None = None


@dataclass(frozen=True, slots=True)
class Judge:
    """A model that says whether a changed question asks the same."""

    model: Model
    runner: Runner
    sampling: Sampling = Sampling(temperature=0.0, max_tokens=256)

    def calls(self, changes: Sequence[Change]) -> list[Call]:
        """One question a change."""
        return [
            Call(
                judge_prompt(change.kind, change.item.question, change.question),
                self.sampling,
                ROLE,
            )
            for change in changes
        ]


@dataclass(frozen=True, slots=True)
class Checks:
    """What a changed question has to pass besides the rules.

    Attributes:
        embedder: None leaves similarity unchecked, and says so in the attack.
        judge: None leaves the judge out, and says so in the attack.
        similarity_from: the least cosine, one for all kinds or by kind; None: the measured ones.
    """

    embedder: Embedder | None = None
    judge: Judge | None = None
    similarity_from: float | Mapping[str, float] | None = None

    def calls_at_most(self, tries: int) -> int:
        """How many model calls the checks of so many tries can take."""
        return tries if self.judge is not None else 0

    def least_similarity(self, kind: str) -> float:
        """The least cosine that an attack of this kind may have."""
        if isinstance(self.similarity_from, float | int):
            return float(self.similarity_from)
        return {**SIMILARITY_FROM, **(self.similarity_from or {})}[kind]

    async def meanings(
        self,
        changes: Sequence[Change],
        progress: Callable[[Progress], None] | None = None,
    ) -> list[Meaning]:
        """What each change does to the meaning, in order; the judge sees what the embedder passes.

        Raises:
            AttacksStopped: the judge was not asked about all of them.
        """
        found = await self._measured(changes)
        if self.judge is None:
            return found
        passed = [place for place, meaning in enumerate(found) if meaning.fault is None]
        verdicts = await self._judged([changes[place] for place in passed], self.judge, progress)
        for place, (judged, fault) in zip(passed, verdicts, strict=True):
            found[place] = replace(found[place], judged=judged, fault=fault)
        return found

    async def _measured(self, changes: Sequence[Change]) -> list[Meaning]:
        if self.embedder is None or not changes:
            return [Meaning() for _ in changes]
        pairs = [(change.item.question, change.question) for change in changes]
        # In a thread, so that calls of other tasks are not held up.
        similar = await asyncio.to_thread(cosines, self.embedder, pairs)
        return [
            self._compared(change, float(cosine))
            for change, cosine in zip(changes, similar, strict=True)
        ]

    def _compared(self, change: Change, cosine: float) -> Meaning:
        least = self.least_similarity(change.kind)
        if cosine >= least:
            return Meaning(cosine)
        detail = f"cosine {cosine:.2f}, expected at least {least:.2f}"
        return Meaning(cosine, fault=Fault(FaultCode.LOW_SIMILARITY, detail))

    async def _judged(
        self,
        changes: Sequence[Change],
        judge: Judge,
        progress: Callable[[Progress], None] | None,
    ) -> list[tuple[bool | None, Fault | None]]:
        if not changes:
            return []
        answers = await judge.runner.ask(judge.model, judge.calls(changes), progress)
        if answers.stopped is not None:
            raise AttacksStopped(answers.stopped, answers.message, answers.missing)
        return [_verdict(reply) for reply in answers.replies]


def _verdict(reply: Reply | None) -> tuple[bool | None, Fault | None]:
    """The judge's word and the fault it makes; whatever is not a clear yes is one."""
    if reply is None or reply.finish is Finish.ERROR:
        why = "no reply was had" if reply is None else reply.error or "no reply was had"
        return None, Fault(FaultCode.NOT_JUDGED, f"the judge was asked in vain: {why}")
    kept = read_verdict(reply.text)
    if kept is None:
        return False, Fault(FaultCode.MEANING_CHANGED, "the judge gave no clear yes or no")
    if not kept:
        return False, Fault(FaultCode.MEANING_CHANGED, "the judge says that the meaning is changed")
    return True, None
