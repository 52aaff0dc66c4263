"""Calls to a model behind a server on loopback: bare, and through a runner with its ledger."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from askew.models.base import Fatal, Model, ModelSpec, RateLimited, ServerFault
from askew.models.chat_api import ChatApi
from askew.models.dispatch import RunnerSettings
from askew.models.ledger import Ledger
from askew.models.pace import PaceSettings
from askew.models.runner import Answers, Runner
from askew.records import Call, Message, Prompt, Reply, Sampling
from tests.models.servers import Answer, FaultServer

Result = Reply | RateLimited | ServerFault | Fatal

ATTEMPTS = 3
SETTINGS = RunnerSettings(
    concurrency=1,
    max_attempts=ATTEMPTS,
    pace=PaceSettings(first_wait_seconds=0.001, longest_wait_seconds=0.01),
)


def toy(server: FaultServer, name: str = "toy", base_url: str | None = None) -> ChatApi:
    """The server as a model."""
    return ChatApi(ModelSpec(name=f"openai/{name}", base_url=base_url or server.url))


def always(status: int, body: object) -> FaultServer:
    """A server with one answer to everything."""
    return FaultServer(lambda seen: Answer(body, status))


def call(text: str = "A, B or C?", replicate: int = 0, **sampling: Any) -> Call:
    """A call with one user message."""
    prompt = Prompt(messages=(Message("user", text),))
    return Call(prompt, Sampling(**sampling), replicate=replicate)


def ask_once(model: Model, wanted: Call | None = None) -> Result:
    """What the model itself makes of one call."""

    async def put() -> Result:
        try:
            (reply,) = await model.ask([wanted or call()])
        except (RateLimited, ServerFault, Fatal) as trouble:
            return trouble
        finally:
            await model.close()
        return reply

    return asyncio.run(put())


def ask(ledger: Path, model: Model, calls: Sequence[Call]) -> Answers:
    """Put the calls through a runner, with a ledger on disk."""

    async def put() -> Answers:
        with Ledger.open(ledger) as opened:
            answers = await Runner(opened, reuse=[], settings=SETTINGS).ask(model, calls)
        await model.close()
        return answers

    return asyncio.run(put())


def replies_of(answers: Answers) -> list[Reply]:
    """The replies, where none is missing."""
    assert answers.missing == 0, answers.message
    return [reply for reply in answers.replies if reply is not None]


def said(result: Result) -> str:
    """What the user is told of it."""
    return (result.error or "") if isinstance(result, Reply) else str(result)
