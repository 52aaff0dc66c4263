"""A runner for work of many steps: it sums up its calls, and ends the work where it must."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

from askew.models.base import Model
from askew.models.ledger import Ledger
from askew.models.runner import Answers, Progress, Runner
from askew.records import Call


class StoppedEarly(Exception):
    """The calls stopped before all were answered: budget, Ctrl-C, an endpoint that is down.

    The same work goes on when it is started again.
    """

    def __init__(self, answers: Answers) -> None:
        super().__init__(answers.message)
        self.stopped = answers.stopped or ""
        self.message = answers.message
        self.missing = answers.missing


@dataclass(slots=True)
class Asked:
    """What the calls of one role came to, summed up over all waves."""

    asked: int = 0  # answered now
    reused: int = 0  # answered before, in this run or in another
    failed: int = 0
    unknown: int = 0
    served: Counter[str] = field(default_factory=Counter)
    adapted: Counter[str] = field(default_factory=Counter)

    def add(self, answers: Answers) -> None:
        """Count the calls of a wave."""
        self.asked += answers.asked
        self.reused += answers.reused
        self.failed += answers.failed
        self.unknown += answers.unknown
        for reply in answers.replies:
            if reply is not None:
                self.served[" ".join(filter(None, (reply.served_model, reply.fingerprint)))] += 1
                self.adapted.update(reply.adapted)

    @property
    def notes(self) -> list[str]:
        """What the user should know of how the calls were served."""
        served = {name: count for name, count in self.served.items() if name}
        notes = [f"{change} (in {count:,} replies)" for change, count in self.adapted.most_common()]
        if len(served) > 1:
            counts = ", ".join(f"{name} ({count:,} replies)" for name, count in served.items())
            notes.insert(0, f"the served model changed in the course of the work: {counts}")
        return notes


class StoppingRunner(Runner):
    """A runner that sums up what calls came to, and ends the work where it has to stop.

    Nobody that asks through it has to look whether the calls stopped, and none can go on as if a
    reply that was never asked for had failed.
    """

    def __init__(self, ledger: Ledger, asked: Asked, **settings: Any) -> None:
        super().__init__(ledger, **settings)
        self._asked = asked

    async def ask(
        self,
        model: Model,
        calls: Sequence[Call],
        progress: Callable[[Progress], None] | None = None,
    ) -> Answers:
        """See `Runner.ask`.

        Raises:
            StoppedEarly: some calls were not sent.
        """
        answers = await super().ask(model, calls, progress)
        self._asked.add(answers)
        if answers.stopped:
            raise StoppedEarly(answers)
        return answers
