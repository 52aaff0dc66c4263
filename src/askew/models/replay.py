"""The replies recorded in a run folder, as a model: for tests, re-scoring and published audits."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from pathlib import Path

from askew.errors import ConfigError
from askew.models.base import Ability, ModelSpec
from askew.models.callkey import request_json
from askew.models.ledgerfile import CallRecord, State, read_records
from askew.records import Call, Finish, Reply


class ReplayModel:
    """Answers with what a run has recorded for the same call, whatever model was asked then.

    The same call is the same prompt, sampling, role and replicate. Where a run has asked several
    models the same, the option `model` says whose replies are meant. A call that was not recorded
    is answered with an error reply.

    Args:
        spec: `replay/RUN`, RUN being the path of a run folder or of its `run.sqlite`.

    Raises:
        ConfigError: the run has no reply of the model that `options["model"]` names.
        RunError: RUN has no ledger, or a damaged one.
    """

    abilities = Ability.REPLY | Ability.CHOICE_LOG_PROBABILITIES
    batch = 64
    parallel = 1
    remote = False
    paid = False

    def __init__(self, spec: ModelSpec) -> None:
        self.name = spec.name
        self._run = Path(spec.model)
        self._of_model = spec.options.get("model")
        path = self._run / "run.sqlite" if self._run.is_dir() else self._run
        self._recorded: dict[str, dict[str, Reply]] = {}  # request -> model -> reply
        digest = hashlib.sha256()
        models = set()
        for record in read_records(path):
            if record.reply is None or record.state not in (State.RECEIVED, State.FAILED):
                continue
            models.add(record.model)
            if self._of_model in (None, record.model):
                self._remember(record)
                digest.update(f"{record.key} {record.reply!r}\n".encode(errors="replace"))
        if not self._recorded and self._of_model is not None:
            raise ConfigError(
                f"{self._run} has no reply of {self._of_model!r}. It has replies of: "
                f"{', '.join(sorted(models)) or 'no model'}."
            )
        self._digest = digest.hexdigest()

    def _remember(self, record: CallRecord) -> None:
        if record.reply is not None:
            replies = self._recorded.setdefault(request_json(record.call), {})
            replies[record.model] = record.reply

    def identity(self) -> Mapping[str, object]:
        """The replies' own checksum: two copies of one run are the same model."""
        return {"provider": "replay", "replies": self._digest}

    def tokens(self, call: Call) -> int:
        """As many as were recorded; 0 where none were."""
        return max(
            (
                reply.prompt_tokens or 0
                for reply in self._recorded.get(request_json(call), {}).values()
            ),
            default=0,
        )

    async def ask(self, calls: Sequence[Call]) -> Sequence[Reply]:
        """The recorded replies, in order."""
        return [self._answer(call) for call in calls]

    def _answer(self, call: Call) -> Reply:
        replies = self._recorded.get(request_json(call), {})
        if not replies:
            return Reply(finish=Finish.ERROR, error=f"{self._run} has no reply to this call")
        if len(set(replies.values())) > 1:
            return Reply(
                finish=Finish.ERROR,
                error=f"{self._run} has replies of {', '.join(sorted(replies))} to this call; "
                "choose one with the option 'model'",
            )
        return next(iter(replies.values()))

    async def close(self) -> None:
        """Nothing is held."""
