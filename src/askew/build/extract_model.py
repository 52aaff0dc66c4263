"""The extractor that is a model: asked through the ledger, read strictly, inventions counted."""

from __future__ import annotations

import asyncio
import json
from collections import Counter
from collections.abc import Callable, Sequence

from askew.build.wording import text as wording
from askew.errors import ConfigError, ModelError
from askew.graphs.reading import Reading, read_triplets
from askew.models.base import Model
from askew.models.reasoning import split_reasoning
from askew.models.runner import Progress, Runner
from askew.records import Call, Finish, Message, Prompt, Reply, Sampling
from askew.vignettes import Facts

ROLE = "extractor"
DEFAULT_SAMPLING = Sampling(temperature=0.0, max_tokens=2048)
TRIES = 2


class ModelExtractor:
    """Any model of askew's behind the interface of an extractor.

    Args:
        model: who is asked.
        runner: asks it, in the role "extractor".
        sampling: how replies are drawn.
        tries: how often a text is asked about at most; again only where a reply was unreadable.

    Raises:
        ConfigError: fewer than one try.
    """

    name = "llm"

    def __init__(
        self,
        model: Model,
        runner: Runner,
        sampling: Sampling = DEFAULT_SAMPLING,
        tries: int = TRIES,
    ) -> None:
        if tries < 1:
            raise ConfigError(f"the extractor has tries = {tries}, expected at least 1.")
        self._model, self._runner = model, runner
        self._sampling, self._tries = sampling, tries
        self.readings: list[Reading] = []  # of the last call of `extract_many`, one a text

    def extract_many(self, texts: Sequence[str]) -> list[Facts]:
        """The facts of each text; what could not be read or was rejected is in `readings`.

        Raises:
            ModelError: the calls were stopped before all texts had a reply.
        """
        self.readings = asyncio.run(self.read(texts))
        return [reading.facts for reading in self.readings]

    async def read(
        self, texts: Sequence[str], progress: Callable[[Progress], None] | None = None
    ) -> list[Reading]:
        """The reading of each text's last reply.

        Raises:
            ModelError: the calls were stopped before all texts had a reply.
        """
        readings: dict[int, Reading] = {}
        for attempt in range(self._tries):
            left = [k for k in range(len(texts)) if k not in readings or readings[k].fault]
            if not left:
                break
            calls = [
                self._call(texts[k], attempt, readings[k].fault if attempt else "") for k in left
            ]
            answers = await self._runner.ask(self._model, calls, progress)
            if answers.stopped is not None:
                raise ModelError(f"{answers.message} {answers.missing} texts have no reply.")
            for k, reply in zip(left, answers.replies, strict=True):
                readings[k] = _read(reply, texts[k])
        return [readings[k] for k in range(len(texts))]

    def summary(self) -> dict[str, object]:
        """What became of the last texts: unreadable replies and rejected triplets, counted."""
        rejected: Counter[str] = Counter()
        for reading in self.readings:
            rejected += reading.counts
        return {
            "texts": len(self.readings),
            "unreadable": sum(bool(reading.fault) for reading in self.readings),
            "rejected": dict(rejected),
        }

    def _call(self, text: str, attempt: int, fault: str) -> Call:
        prompt = extract_prompt(text, fault)
        return Call(prompt, self._sampling.of_replicate(attempt), ROLE, attempt)


def extract_prompt(text: str, fault: str = "") -> Prompt:
    """What the model is asked about a text; `fault` says why its last reply could not be read.

    The text stands in a JSON string, which nothing in it can end.
    """
    # replace, not format: the form that is asked for has braces of its own.
    request = wording("extract_triplets.txt").replace(
        "{text}", json.dumps(text, ensure_ascii=False)
    )
    if fault:
        request += f"\n\nThe last reply could not be read: {fault}. Reply with the JSON alone."
    return Prompt(messages=(Message("user", request),))


def _read(reply: Reply | None, text: str) -> Reading:
    if reply is None:
        return _unread(text, "it is unknown what became of the call")
    if reply.finish is Finish.ERROR:
        return _unread(text, reply.error or "the call failed")
    if reply.finish in (Finish.REFUSAL, Finish.BLOCKED):
        return _unread(text, "the model refused")
    if reply.finish is Finish.LENGTH:
        return _unread(text, "the reply was cut off by the token limit")
    return read_triplets(split_reasoning(reply.text).answer, text)


def _unread(text: str, fault: str) -> Reading:
    return Reading(Facts(text, ()), fault=fault)
