"""Every recorded server reply of a case folder, through a real connection, against its gold."""

from __future__ import annotations

import json
import math
import os
from pathlib import Path
from typing import Any

import pytest

from askew.models.base import Fatal, ModelSpec, RateLimited, ServerFault
from askew.models.chat_api import ChatApi
from askew.records import Call, Finish, Message, Prompt, Reply
from tests.models.servers import Answer, FaultServer, Seen, chat_body

LETTERS = ("A", "B", "C")
PASSING = ("rate_limited", "server_error")


def recorded() -> list[dict[str, Any]]:
    folder = os.environ.get("ASKEW_CASES")
    if folder is None:
        return []
    path = Path(folder) / "inputs" / "server_replies.jsonl"
    return [json.loads(line) for line in path.read_text("utf-8").split("\n") if line]


def outcome_of(result: Reply | Exception) -> str:
    """The outcome in the words of the gold."""
    if isinstance(result, RateLimited):
        return "rate_limited"
    if isinstance(result, ServerFault):
        return "server_error"
    if isinstance(result, Fatal):
        return "no_logprobs" if "--scoring reply" in str(result) else "fatal"
    assert isinstance(result, Reply)
    if result.log_probabilities:
        missing = any(math.isnan(figure) for figure in result.log_probabilities)
        return "partial_logprobs" if missing else "logprobs"
    if result.finish is Finish.STOP:
        return "text" if result.text else "empty"
    return {
        Finish.LENGTH: "truncated",
        Finish.REFUSAL: "refusal",
        Finish.BLOCKED: "blocked",
        Finish.ERROR: "item_error",
    }[result.finish]


async def put(case: dict[str, Any], server: FaultServer) -> Reply | Exception:
    """Ask once and be answered with the case's reply."""
    reply = case["reply"]
    server.script(Answer(reply["body"], reply["status"], reply["headers"]))
    scored = "logprobs" in case["style"]
    prompt = Prompt(messages=(Message("user", "A, B or C?"),), choices=LETTERS if scored else ())
    model = ChatApi(ModelSpec(name="openai/toy", base_url=server.url))
    try:
        (answer,) = await model.ask([Call(prompt)])
    except (RateLimited, ServerFault, Fatal) as error:
        return error
    finally:
        await model.close()
    return answer


def figure(gold: object) -> float:
    """A letter's log-probability as the gold writes it; NaN where it says that there is none."""
    if isinstance(gold, int | float):
        return float(gold)
    if isinstance(gold, str) and gold.startswith("log("):
        return float(eval(gold, {"__builtins__": {}, "log": math.log, "exp": math.exp}))
    return math.nan


@pytest.mark.skipif("ASKEW_CASES" not in os.environ, reason="ASKEW_CASES is not set: no cases")
@pytest.mark.parametrize("case", recorded(), ids=lambda case: f"{case['id']}-{case['style']}")
async def test_a_recorded_reply_comes_to_its_gold(case, monkeypatch):
    monkeypatch.delenv("ASKEW_API_KEY", raising=False)
    gold = case["gold"]
    with FaultServer(lambda seen: Answer(chat_body("B"))) as server:
        result = await put(case, server)
    if gold["outcome"] == "adapt_or_fatal":
        check_adapted(case, result, server.seen)
        return
    said = (result.error or "") if isinstance(result, Reply) else str(result)
    assert outcome_of(result) == gold["outcome"], said
    assert len(server.seen) == 1
    if "retry" in gold:
        assert (outcome_of(result) in PASSING) is gold["retry"]
    if "wait_s" in gold:
        assert isinstance(result, RateLimited)
        assert result.wait_seconds == pytest.approx(gold["wait_s"])
    if "text" in gold:
        assert isinstance(result, Reply)
        assert result.text == gold["text"]
    assert gold.get("message_contains", "") in said
    if "letters" in gold:
        assert isinstance(result, Reply)
        expected = [figure(gold["letters"].get(letter)) for letter in LETTERS]
        assert list(result.log_probabilities) == pytest.approx(expected, nan_ok=True)


def check_adapted(case: dict[str, Any], result: Reply | Exception, seen: list[Seen]) -> None:
    """At most one further request, without what was refused; else the server is quoted."""
    assert len(seen) <= 2
    if len(seen) == 2:
        refused = json.loads(case["reply"]["body"])["error"]["param"]
        assert refused not in seen[1].body
        assert isinstance(result, Reply)
        assert result.adapted
    else:
        said = (result.error or "") if isinstance(result, Reply) else str(result)
        assert case["gold"]["message_contains"] in said
