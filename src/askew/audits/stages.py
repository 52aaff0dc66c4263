"""Asks the models of several roles, stage by stage, through one ledger."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from askew.models.base import Model
from askew.models.callkey import call_key
from askew.models.runner import Progress
from askew.models.stopping import StoppingRunner
from askew.records import Call, Reply


@dataclass(frozen=True, slots=True)
class Stage:
    """How far the work has come."""

    name: str  # "questions", "answers", "second hop", "judge: bias", …
    progress: Progress  # of the stage's calls


Watch = Callable[[Stage], None]


@dataclass(frozen=True, slots=True)
class Asked:
    """A reply with the key under which the ledger keeps it."""

    key: str
    reply: Reply | None  # None: it is unknown what became of the call


class Stages:
    """The models of a run by role, and who asks them.

    Args:
        models: by role; a second judge has a role of its own ("judge_2").
        runners: by role; each ends the work where calls have to stop.
        watch: told how far each stage has come.
    """

    def __init__(
        self,
        models: Mapping[str, Model],
        runners: Mapping[str, StoppingRunner],
        watch: Watch | None = None,
    ) -> None:
        self.models = models
        self.runners = runners
        self.name = ""  # of the stage under way
        self.calls: Counter[str] = Counter()  # distinct calls, by stage
        self._watch = watch
        self._identities = {role: model.identity() for role, model in models.items()}

    def keys(self, role: str, calls: Sequence[Call]) -> list[str]:
        """The keys of these calls, asked or not."""
        return [call_key(self._identities[role], call) for call in calls]

    async def ask(self, name: str, role: str, calls: Sequence[Call]) -> list[Asked]:
        """Have the calls of one stage answered by the model of a role.

        Returns:
            One entry a call, in order.

        Raises:
            StoppedEarly: calls were not sent: budget, Ctrl-C, an endpoint that is down.
        """
        self.name = name
        if not calls:
            return []
        keys = self.keys(role, calls)
        self.calls[name] += len(set(keys))
        answers = await self.runners[role].ask(self.models[role], calls, self.progress(name))
        return [Asked(key, reply) for key, reply in zip(keys, answers.replies, strict=True)]

    def recorded(self, role: str, keys: Sequence[str]) -> dict[str, Reply | None]:
        """What the ledger has by these keys; asks nobody."""
        found = self.runners[role].ledger.replies(keys)
        return dict(zip(keys, found, strict=True))

    def progress(self, name: str) -> Callable[[Progress], None] | None:
        """What to tell of the calls of a stage; names the stage under way."""
        watch, self.name = self._watch, name
        return None if watch is None else lambda progress: watch(Stage(name, progress))
