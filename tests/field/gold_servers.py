"""`server_replies.jsonl`: what a whole HTTP reply comes to."""

from __future__ import annotations

import json
import math
import re
import time
from email.utils import parsedate_to_datetime
from pathlib import Path
from typing import Any

import pytest

from askew.models.base import Fatal, RateLimited, ServerFault
from askew.models.chat_replies import parse_chat
from askew.models.choice_log_probabilities import INSTEAD
from askew.models.server_errors import Endpoint
from askew.records import Call, Finish, Message, Prompt, Reply
from askew.scores.outcome import score_reply
from tests.field.calls import Result, ask, ask_once, call, replies_of, said, toy
from tests.field.folder import Row
from tests.field.gold_answers import LETTERS, item_of, score_of, verdict_of
from tests.models.servers import Answer, FaultServer, chat_body

ADDRESS = "http://127.0.0.1:9/v1/chat/completions"
QUESTION = {"question": "Who?", "A": "The aunt", "B": "The uncle", "C": "Unknown.", "unknown": "C"}
_FINISHES = {
    Finish.LENGTH: "truncated",
    Finish.REFUSAL: "refusal",
    Finish.BLOCKED: "blocked",
    Finish.ERROR: "item_error",
}
_SUM = re.compile(r"log\((?P<terms>exp\([-\d.]+\)(?:\s*\+\s*exp\([-\d.]+\))*)\)")


def is_scored(row: Row) -> bool:
    """Whether the reply answers a question for log-probabilities."""
    gold = row["gold"]
    return "logprob" in row["style"] or "logprob" in gold["outcome"] or "letters" in gold


def result_of(row: Row) -> Result:
    """What comes of the reply: by the parser, or from a real server where figures are wanted."""
    reply = row["reply"]
    if is_scored(row):
        with FaultServer(lambda seen: _answer(row)) as server:
            return ask_once(toy(server), Call(_scored_prompt(row)))
    heard = (reply["status"], reply["headers"], reply["body"].encode(), _clock(reply["headers"]))
    try:
        return parse_chat(*heard, Endpoint(ADDRESS))
    except (RateLimited, ServerFault, Fatal) as trouble:
        return trouble


def _scored_prompt(row: Row) -> Prompt:
    if "text_completion" in row["reply"]["body"]:
        return Prompt(text="Answer:", choices=tuple(f" {letter}" for letter in LETTERS))
    return Prompt(messages=(Message("user", "A, B or C?"),), choices=tuple(LETTERS))


def outcomes_of(result: Result) -> set[str]:
    """The outcome in the words of the gold; more than one where either would do."""
    match result:
        case RateLimited():
            return {"rate_limited"}
        case ServerFault():
            return {"server_error"}
        case Fatal():
            return {"no_logprobs" if INSTEAD in str(result) else "fatal"}
    if figures := result.log_probabilities:
        missing = [math.isnan(figure) for figure in figures]
        if all(missing):
            return {"partial_logprobs", "unparseable"}
        return {"partial_logprobs" if any(missing) else "logprobs"}
    if result.finish is Finish.STOP:
        return {"text" if (result.text or "").strip() else "empty"}
    return {_FINISHES[result.finish]}


def check_reply(row: Row) -> None:
    """Hold one row to its gold, in every respect that the gold names."""
    gold, result = row["gold"], result_of(row)
    assert gold["outcome"] in outcomes_of(result), said(result)
    if isinstance(gold.get("retry"), bool):
        assert isinstance(result, RateLimited | ServerFault) is gold["retry"]
    if "wait_s" in gold:
        assert getattr(result, "wait_seconds", None) == pytest.approx(gold["wait_s"])
    assert gold.get("message_contains", "") in said(result)
    if gold["outcome"] in ("fatal", "no_logprobs"):
        assert "http://127.0.0.1:" in said(result)
        assert not re.search(r"\bsk-\w", said(result)), "a part of the key is shown"
    if isinstance(result, Reply):
        _check_answer(gold, result)


def check_run(row: Row, ledger: Path) -> None:
    """What the reply does to a run: it stops at once, goes on, or asks the same again."""
    calls = [call(f"question {number}") for number in range(3)]
    outcome = row["gold"]["outcome"]
    if getattr(result_of(row), "wait_seconds", None):
        return  # a run waits as long as the server says; the parser's word on it is enough
    with FaultServer(lambda seen: _answer(row)) as server:
        if outcome in ("server_error", "rate_limited"):
            server.script(_answer(row))
            server.handler = lambda seen: Answer(chat_body("B"))
        answers = ask(ledger, toy(server), calls)
        requests = len(server.seen)
    if outcome == "fatal":
        assert (requests, answers.stopped, answers.missing) == (1, "fatal", 3)
        return
    assert answers.stopped is None
    passing = outcome in ("server_error", "rate_limited")
    assert requests == (4 if passing else 3)
    for reply in replies_of(answers):
        assert outcomes_of(reply) == {"text" if passing else outcome}


def _answer(row: Row) -> Answer:
    reply = row["reply"]
    return Answer(reply["body"], reply["status"], reply["headers"])


def _check_answer(gold: dict[str, Any], reply: Reply) -> None:
    if "text" in gold:
        assert reply.text == gold["text"]
    item = item_of(QUESTION)
    if "answer" in gold:
        score = score_of(reply, item)
        assert (verdict_of(score) if score.chosen is not None else None) == gold["answer"]
    if gold["outcome"] in ("truncated", "blocked", "refusal", "empty"):
        assert score_of(reply, item).chosen is None
    if "letters" in gold:
        expected = [_figure(gold["letters"].get(letter)) for letter in LETTERS]
        assert list(reply.log_probabilities) == pytest.approx(expected, nan_ok=True)
    if "choice" in gold:
        score = score_reply(item, reply, condition="source", order=(0, 1, 2), scoring="letters")
        found = None if score.chosen is None else LETTERS[score.chosen]
        assert found == gold["choice"]


def _figure(gold: object) -> float:
    """A letter's log-probability as the gold writes it; NaN where it says that there is none."""
    if isinstance(gold, int | float):
        return float(gold)
    found = _SUM.fullmatch(gold) if isinstance(gold, str) else None
    if found is None:
        return math.nan
    terms = re.findall(r"exp\(([-\d.]+)\)", found["terms"])
    return math.log(math.fsum(math.exp(float(term)) for term in terms))


def _clock(headers: dict[str, str]) -> float:
    """The time by the server's own Date header, as the gold has it."""
    lower = {name.lower(): value for name, value in headers.items()}
    return parsedate_to_datetime(lower["date"]).timestamp() if "date" in lower else time.time()


def check_adapted(row: Row) -> None:
    """`adapt_or_fatal`: one further request without what was refused, or the server is quoted.

    The further request goes to a real server on loopback and is answered as usual.
    """
    gold = row["gold"]
    with FaultServer() as server:
        server.script(_answer(row))
        result = ask_once(toy(server))
        bodies = [seen.body for seen in server.seen]
    assert len(bodies) <= 2
    if len(bodies) == 1:
        assert gold.get("message_contains", "") in said(result)
        return
    refused = json.loads(row["reply"]["body"])["error"].get("param")
    assert bodies[0] != bodies[1]
    assert refused is None or refused not in bodies[1]
    assert isinstance(result, Reply)
    assert result.text == "B"
    assert result.adapted
