"""Whole runs against hostile endpoints: nothing lost, nothing paid twice, and the budget kept."""

from __future__ import annotations

import random
import time
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path

import orjson
import pytest

from askew.models.base import ModelSpec
from askew.models.budget import Budget, Limits
from askew.models.chat_api import ChatApi
from askew.models.dispatch import RunnerSettings
from askew.models.http_app import HttpApp
from askew.models.ledger import Ledger
from askew.models.ledgerfile import State
from askew.models.pace import PaceSettings
from askew.models.python_app import PythonApp
from askew.models.runner import Answers, Progress, Runner
from askew.records import Call, Finish, Message, Prompt, Reply, Sampling
from tests.models.raw_server import Play, RawServer, Wire, chunked, reply
from tests.models.servers import chat_body

BRISK = PaceSettings(first_wait_seconds=0.002, longest_wait_seconds=0.01)
# The faults of one test come thick and fast; the breaker has tests of its own.
STUBBORN = PaceSettings(
    first_wait_seconds=0.002, longest_wait_seconds=0.01, probe_after=10**6, give_up_after=10**6
)


@pytest.fixture
def ledger(tmp_path: Path) -> Iterator[Ledger]:
    (tmp_path / "run").mkdir()
    with Ledger.open(tmp_path / "run" / "run.sqlite") as opened:
        yield opened


@pytest.fixture(autouse=True)
def no_key(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("ASKEW_API_KEY", raising=False)


def calls_for(number: int) -> list[Call]:
    return [
        Call(Prompt(messages=(Message("user", f"q{k}"),)), Sampling(max_tokens=10))
        for k in range(number)
    ]


def model_at(server: RawServer, kind: str = "openai", seconds: float = 2.0) -> ChatApi | HttpApp:
    if kind == "openai":
        return ChatApi(ModelSpec(name="openai/toy", base_url=server.url, timeout_seconds=seconds))
    options = {"url": server.url, "answer": "choices[0].message.content", "parallel": 8}
    return HttpApp(ModelSpec(name="http/app", options=options, timeout_seconds=seconds))


async def run(
    server: RawServer,
    ledger: Ledger,
    calls: list[Call],
    kind: str = "openai",
    *,
    pace: PaceSettings = BRISK,
    unknown: str = "skip",
    tell: Callable[[Progress], None] | None = None,
    **more: object,
) -> Answers:
    settings = RunnerSettings(pace=pace, unknown=unknown)  # type: ignore[arg-type]  # one of two
    model = model_at(server, kind)
    try:
        runner = Runner(ledger, settings=settings, **more)  # type: ignore[arg-type]  # by name
        return await runner.ask(model, calls, tell)
    finally:
        await model.close()


# What a server does with a request. Those of the first kind say that nothing was done, or that it
# failed; after those of the second kind nobody but the server knows.
OWNED = ("429", "429 with a wait", "503", "500 cut", "error in a 200", "no choice", "no JSON")
SILENT = ("drop", "cut", "cut chunks", "hang", "bomb", "reset")
BOMB = reply(b"[" + b" " * 5 * 2**20)


def act(wire: Wire, fault: str | None) -> None:
    """Answer, or fail in one of these ways."""
    body = chat_body(f"to {wire.prompt}")
    match fault:
        case None:
            wire.send(reply(body))
        case "429":
            wire.send(reply({"error": "slow down"}, "429 No"))
        case "429 with a wait":
            wire.send(reply({"error": "slow down"}, "429 No", Retry_After="0.01"))
        case "503":
            wire.send(reply(b"<html>busy</html>", "503 No", Content_Type="text/html"))
        case "500 cut":
            wire.send(reply(b"{", "500 No", length=100))
            wire.close()
        case "error in a 200":
            wire.send(reply({"error": {"message": "Provider returned error", "code": 502}}))
        case "no choice":
            wire.send(reply({"choices": []}))
        case "no JSON":
            wire.send(reply(b"<html>hello</html>"))
        case "drop":
            wire.close()
        case "cut":
            wire.send(reply(body, length=10_000))
            wire.close()
        case "cut chunks":
            head = b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n"
            wire.send(head + chunked(orjson.dumps(body), ended=False))
            wire.close()
        case "hang":
            wire.hang()
        case "bomb":
            wire.send(BOMB)
        case "reset":
            wire.reset()


@pytest.mark.parametrize("kind", ["openai", "http"])
async def test_no_answer_is_lost_and_none_paid_twice_whatever_the_server_does(ledger, kind):
    chance = random.Random(kind)
    done: dict[str, list[str | None]] = {}  # what the server did with each prompt, in order

    def play(wire: Wire) -> None:
        before = done.setdefault(wire.prompt, [])
        # Four in a row at most, as the fifth attempt would be the last.
        fault = chance.choice((*OWNED, *SILENT, None, None)) if len(before) < 4 else None
        before.append(fault)
        act(wire, fault)

    calls = calls_for(90)
    with RawServer(play) as server:
        answers = await run(server, ledger, calls, kind, pace=STUBBORN)
    records = {record.call.prompt.messages[0].content: record for record in ledger.records()}
    asked = {f"q{k}" for k in range(90)}
    plain = named(done)
    assert records.keys() == plain.keys() == asked
    for prompt, faults in plain.items():
        record = records[prompt]
        assert record.attempts == len(faults)
        # Whatever came after something else than the server's own word would be paid for again.
        assert all(fault in OWNED for fault in faults[:-1])
        if faults[-1] is None:
            assert record.state is State.RECEIVED
            assert record.reply is not None
            assert record.reply.text is not None
            assert record.reply.text.endswith(prompt)
        elif faults[-1] in SILENT:
            assert record.state is State.UNKNOWN
        else:
            assert record.state is State.FAILED
    assert answers.stopped is None
    assert answers.asked + answers.unknown + answers.failed == 90
    assert answers.asked > 10
    assert answers.unknown > 10


def named(done: dict[str, list[str | None]]) -> dict[str, list[str | None]]:
    """By the question alone: an application gets it in a body of its own."""
    return {
        prompt if prompt.startswith("q") else orjson.loads(prompt)["prompt"]: faults
        for prompt, faults in done.items()
    }


async def test_a_server_that_closes_without_a_word_costs_no_more_than_what_is_under_way(ledger):
    def play(wire: Wire) -> None:
        wire.send(reply())
        wire.close()

    with RawServer(play) as server:
        answers = await run(server, ledger, calls_for(200))
    assert answers.unknown <= 16
    assert answers.asked == 200 - answers.unknown
    assert len(server.requests) <= 200


async def test_answers_that_nobody_asked_for_shift_no_other(ledger):
    def play(wire: Wire) -> None:
        more = reply(chat_body("to nobody")) if wire.number % 3 == 0 else b""
        wire.send(reply(chat_body(f"to {wire.prompt}")) + more)

    calls = calls_for(150)
    with RawServer(play) as server:
        answers = await run(server, ledger, calls, unknown="retry")
    assert [reply.text for reply in answers.replies if reply] == [f"to q{k}" for k in range(150)]


# Slowing down


async def test_a_429_without_end_is_spoken_of_and_stops_with_the_servers_words(ledger):
    said: list[str] = []

    def play(wire: Wire) -> None:
        wire.send(
            reply({"error": {"message": "try [bold]later\x1b[0m"}}, "429 No", Retry_After="1")
        )

    pace = PaceSettings(first_wait_seconds=0.01, longest_wait_seconds=0.02, give_up_after=3)
    with RawServer(play) as server:
        calls = calls_for(40)
        answers = await run(
            server, ledger, calls, pace=pace, tell=lambda now: said.append(now.waiting)
        )
    assert answers.stopped == "circuit breaker"
    assert "at last: " in answers.message
    assert "answered 429: try [bold]later" in answers.message
    waits = [one for one in said if one.startswith("waiting 1 s: ")]
    assert waits
    assert all("answered 429" in one and one.isprintable() for one in waits)
    assert not any(record.cost.calls for record in ledger.records())  # nothing was done, or paid
    assert Counter(record.state for record in ledger.records()) == {State.PLANNED: 40}


@pytest.mark.parametrize("after", ["0", "-1", "NaN", "Wed, 21 Oct 1998 07:28:00 GMT"])
async def test_no_word_of_the_servers_makes_askew_knock_without_a_pause(ledger, after):
    def play(wire: Wire) -> None:
        wire.send(reply({"error": "later"}, "429 No", Retry_After=after))

    pace = PaceSettings(first_wait_seconds=0.2, longest_wait_seconds=0.2, give_up_after=8)
    seconds: list[float] = []
    with RawServer(play) as server:
        model = model_at(server)
        runner = Runner(ledger, settings=RunnerSettings(pace=pace, concurrency=1))
        began = time.monotonic()
        answers = await runner.ask(model, calls_for(20))
        seconds.append(time.monotonic() - began)
        await model.close()
    assert answers.stopped == "circuit breaker"
    assert len(server.requests) == 8
    assert seconds[0] > 0.1  # seven waits between 0 and 0.2 s


async def test_a_server_that_never_answers_is_given_up_and_every_call_listed(ledger):
    with RawServer(lambda wire: wire.hang()) as server:
        model = model_at(server, seconds=0.2)
        settings = RunnerSettings(pace=PaceSettings(first_wait_seconds=0.01, give_up_after=3))
        answers = await Runner(ledger, settings=settings).ask(model, calls_for(100))
        await model.close()
    assert answers.stopped == "circuit breaker"
    assert "no whole reply within 0.2 s" in answers.message
    states = Counter(record.state for record in ledger.records())
    assert states[State.UNKNOWN] == len(server.requests)
    assert states[State.PLANNED] == 100 - len(server.requests)


# Counting


async def test_a_200_that_holds_no_answer_keeps_its_reservation(ledger):
    plays: list[Play] = [
        lambda wire: wire.send(reply({"choices": []})),
        lambda wire: wire.send(reply()),
    ]
    with RawServer(lambda wire: plays[min(wire.number, 1)](wire)) as server:
        model = model_at(server)
        (call,) = calls_for(1)
        await Runner(ledger, settings=RunnerSettings(pace=BRISK)).ask(model, [call])
        bound = model.tokens(call) + 10
        await model.close()
    (record,) = ledger.records()
    assert record.attempts == 2
    assert record.cost.calls == 2
    assert record.cost.tokens == bound + 10  # all that the first may have used; what the second did


@pytest.mark.parametrize(
    "usage",
    [
        {"prompt_tokens": -(10**6), "completion_tokens": -(10**6)},
        {"prompt_tokens": 0, "completion_tokens": 0},
        {"prompt_tokens": 2**63, "completion_tokens": 2**64 - 1},
        {"prompt_tokens": "many"},
        None,
    ],
)
async def test_no_count_that_a_server_makes_up_stretches_a_budget(ledger, usage):
    body = {**chat_body("B"), "usage": usage}
    limits = Limits(Budget(tokens=1000))
    with RawServer(lambda wire: wire.send(reply(body))) as server:
        answers = await run(server, ledger, calls_for(100), limits=limits)
    assert answers.stopped == "budget"
    assert len(server.requests) <= 1000 // 75  # a call is bounded by no less
    assert ledger.spending.total.tokens <= 1000


async def test_a_model_that_changes_its_name_is_flagged(ledger):
    def play(wire: Wire) -> None:
        wire.send(reply({**chat_body("B"), "model": f"toy-{wire.number // 5}\0‮<b>"}))

    with RawServer(play) as server:
        answers = await run(server, ledger, calls_for(10))
    (note,) = answers.notes
    assert note.startswith("the served model changed in the course of the run: toy-")


# Functions in this process


@pytest.mark.parametrize(
    "given_back",
    [
        "B\ud800\0",
        Reply(text="B", prompt_tokens=2**70, completion_tokens=-1),
        Reply(text=7),  # type: ignore[arg-type]  # the fault
        Reply(text="B", log_probabilities=(3.0,)),
        Reply(finish="stop"),  # type: ignore[arg-type]  # the fault
        "x" * 3_000_000,
    ],
    ids=["half a character", "counts", "no text", "figures", "finish", "megabytes"],
)
async def test_no_function_breaks_the_ledger(ledger, given_back):
    model = PythonApp(ModelSpec(name="python/app"), lambda prompt: given_back)
    answers = await Runner(ledger, settings=RunnerSettings(pace=BRISK)).ask(model, calls_for(3))
    await model.close()
    kept = [record.reply for record in ledger.records()]
    assert kept == answers.replies
    assert all(reply is not None for reply in kept)
    sound = isinstance(given_back, str) or given_back.prompt_tokens
    assert all((reply.finish is Finish.STOP) == bool(sound) for reply in kept if reply)
