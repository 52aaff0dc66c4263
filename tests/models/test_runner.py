"""Asking calls of a model: once each, within the budget, and stopping cleanly."""

from __future__ import annotations

import asyncio
import os
import signal
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import pairwise
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from askew.errors import ConfigError, ModelError, RunError
from askew.models.base import Ability, Fatal, ModelSpec, RateLimited, ServerFault
from askew.models.budget import Budget, Cost, Limits
from askew.models.chat_api import ChatApi
from askew.models.dispatch import RunnerSettings
from askew.models.ledger import Ledger
from askew.models.ledgerfile import State, WriteFailed
from askew.models.pace import PaceSettings
from askew.models.runner import Answers, Plan, Progress, Runner
from askew.records import Call, Finish, Message, Prompt, Reply, Sampling
from tests.models.servers import (
    Answer,
    FaultServer,
    Seen,
    chat_body,
    error,
    rate_limited,
    refused_port,
)

# Tests wait for real: briefly.
BRISK = PaceSettings(first_wait_seconds=0.002, longest_wait_seconds=0.01)
Event = Reply | BaseException


class Toy:
    """A model in this process that does what it is told for each prompt, then answers B."""

    def __init__(
        self,
        script: Mapping[str, Sequence[Event]] | None = None,
        *,
        name: str = "toy/m1",
        paid: bool = True,
        batch: int = 1,
        parallel: int = 4,
        seconds: float = 0.0,
    ) -> None:
        self.name = name
        self.abilities = Ability.REPLY
        self.batch, self.parallel = batch, parallel
        self.remote, self.paid = True, paid
        self.seconds = seconds
        self.seen: list[str] = []
        self.under_way = self.most_under_way = 0
        self.sizes: list[int] = []
        self.on_ask: Callable[[], None] = lambda: None
        self._script = {prompt: list(events) for prompt, events in (script or {}).items()}

    def identity(self) -> Mapping[str, object]:
        return {"provider": "toy", "model": self.name}

    def tokens(self, call: Call) -> int:
        return 20

    async def ask(self, calls: Sequence[Call]) -> Sequence[Reply]:
        self.seen += [call.prompt.text or "" for call in calls]
        self.sizes.append(len(calls))
        self.under_way += 1
        self.most_under_way = max(self.most_under_way, self.under_way)
        try:
            self.on_ask()
            await asyncio.sleep(self.seconds)
            return [self._answer(call.prompt.text or "") for call in calls]
        finally:
            self.under_way -= 1

    def _answer(self, prompt: str) -> Reply:
        events = self._script.get(prompt)
        event = events.pop(0) if events else usual(prompt)
        if isinstance(event, BaseException):
            raise event
        return event

    async def close(self) -> None:
        """Nothing is held."""


def usual(prompt: str) -> Reply:
    return Reply(text=f"B to {prompt}", prompt_tokens=9, completion_tokens=1)


def calls_for(number: int, role: str = "target") -> list[Call]:
    return [Call(Prompt(text=f"q{k}"), Sampling(max_tokens=10), role) for k in range(number)]


def brisk(**changes: object) -> RunnerSettings:
    return RunnerSettings(**{"pace": BRISK, **changes})


@pytest.fixture
def ledger(tmp_path: Path) -> Iterator[Ledger]:
    (tmp_path / "run").mkdir()
    with Ledger.open(tmp_path / "run" / "run.sqlite") as opened:
        yield opened


@pytest.fixture
def runner(ledger: Ledger) -> Runner:
    return Runner(ledger, settings=brisk())


# Asked once


async def test_replies_come_in_the_order_of_the_calls(runner):
    model = Toy(parallel=7)
    calls = calls_for(50)
    answers = await runner.ask(model, calls)
    assert answers.replies == [usual(call.prompt.text) for call in calls]
    assert (answers.asked, answers.missing, answers.stopped) == (50, 0, None)
    assert sorted(model.seen) == sorted(call.prompt.text for call in calls)


async def test_everything_is_on_disk_when_an_ask_returns(ledger, runner):
    await runner.ask(Toy(), calls_for(5))
    assert ledger.sync_due_in() is None


async def test_the_same_call_twice_is_asked_once_and_both_get_the_reply(runner):
    model = Toy()
    answers = await runner.ask(model, calls_for(3) + calls_for(3))
    assert answers.replies[:3] == answers.replies[3:]
    assert (answers.duplicates, len(model.seen)) == (3, 3)


async def test_six_calls_that_differ_in_anything_are_six_and_the_second_time_none(ledger, runner):
    def asked(temperature: float = 0.0, replicate: int = 0, max_tokens: int = 10) -> Call:
        sampling = Sampling(temperature=temperature, max_tokens=max_tokens)
        return Call(Prompt(text="same"), sampling, replicate=replicate)

    one, two = Toy(), Toy(name="toy/m2")
    other = Toy(name="toy/m1 at another address")
    work = [
        (one, [asked(), asked(1.0), asked(1.0, 1), asked(max_tokens=5)]),
        (two, [asked()]),
        (other, [asked()]),
    ]
    for _ in range(2):
        for model, calls in work:
            assert (await runner.ask(model, calls)).missing == 0
    assert len(one.seen) + len(two.seen) + len(other.seen) == 6
    assert len(list(ledger.records())) == 6


async def test_two_asks_at_once_share_the_calls_that_both_want(runner):
    model = Toy(seconds=0.01)
    first, second = await asyncio.gather(
        runner.ask(model, calls_for(20)), runner.ask(model, calls_for(30)[10:])
    )
    assert first.missing == second.missing == 0
    assert max(Counter(model.seen).values()) == 1
    assert second.replies[0] == usual("q10")


async def test_a_sibling_run_is_asked_before_the_model(tmp_path, runner):
    (tmp_path / "before").mkdir()
    with Ledger.open(tmp_path / "before" / "run.sqlite") as other:
        await Runner(other).ask(Toy(), calls_for(5))
    model = Toy()
    fresh = Runner(runner.ledger)
    assert fresh.plan(model, calls_for(8)).reused == 5
    answers = await fresh.ask(model, calls_for(8))
    assert (answers.reused, answers.asked, len(model.seen)) == (5, 3, 3)
    assert fresh.ledger.spending.total.calls == 3


async def test_named_runs_are_asked_instead_of_those_beside(tmp_path, runner):
    for name in ("before", "elsewhere/before"):
        (tmp_path / name).mkdir(parents=True)
        with Ledger.open(tmp_path / name / "run.sqlite") as other:
            await Runner(other, reuse=()).ask(Toy(), calls_for(5))
    model = Toy()
    named = Runner(runner.ledger, reuse=[tmp_path / "elsewhere" / "before"])
    assert (await named.ask(model, calls_for(5))).reused == 5
    origins = {record.origin for record in runner.ledger.records()}
    assert origins == {str(tmp_path / "elsewhere" / "before" / "run.sqlite")}
    with pytest.raises(RunError, match="is not there"):
        Runner(runner.ledger, reuse=[tmp_path / "nowhere"]).plan(model, calls_for(6))


async def test_a_folder_beside_that_holds_no_ledger_is_passed_over(tmp_path, ledger):
    (tmp_path / "other").mkdir()
    (tmp_path / "other" / "run.sqlite").write_text("something else")
    assert (await Runner(ledger).ask(Toy(), calls_for(2))).missing == 0


async def test_failed_calls_are_asked_again_by_the_next_start_and_flagged_ones_are_not(runner):
    script = {
        "q0": [Reply(finish=Finish.ERROR, error="bad request")],
        "q1": [Reply(finish=Finish.BLOCKED)],
        "q2": [Reply(text="The ans", finish=Finish.LENGTH)],
    }
    model = Toy(script)
    first = await runner.ask(model, calls_for(4))
    assert [reply.finish.value for reply in first.replies] == ["error", "blocked", "length", "stop"]
    assert (first.failed, first.missing) == (1, 0)
    again = await runner.ask(model, calls_for(4))
    assert [reply.finish.value for reply in again.replies] == ["stop", "blocked", "length", "stop"]
    assert Counter(model.seen) == {"q0": 2, "q1": 1, "q2": 1, "q3": 1}


# Plan


async def test_a_plan_counts_without_sending_or_writing(ledger):
    class Price:
        def cost(self, prompt_tokens: int, completion_tokens: int) -> float:
            return prompt_tokens * 0.01 + completion_tokens * 0.1

    model = Toy(seconds=0.01)
    runner = Runner(ledger, price_of=lambda name: Price() if name == "toy/m1" else None)
    await runner.ask(model, calls_for(2))
    records = list(ledger.records())
    plan = runner.plan(model, calls_for(5) + calls_for(1))
    assert plan.seconds is not None
    assert plan == Plan(
        calls=6,
        new=3,
        reused=2,
        duplicates=1,
        unknown=0,
        prompt_tokens=60,
        completion_tokens_at_most=30,
        money_at_most=pytest.approx(3 * (0.2 + 1.0)),
        seconds=plan.seconds,
    )
    assert list(ledger.records()) == records
    assert len(model.seen) == 2


def test_asking_for_what_a_model_cannot_do_is_a_clear_error(runner):
    scored = [Call(Prompt(text="q", choices=("A", "B")))]
    with pytest.raises(ConfigError, match=r"toy/m1 cannot give log-probabilities of choices\. Ask"):
        runner.plan(Toy(), scored)


# Budgets


async def test_a_spent_budget_stops_cleanly_and_says_what_is_missing(ledger):
    model = Toy()
    runner = Runner(ledger, limits=Limits(Budget(calls=7)), settings=brisk())
    answers = await runner.ask(model, calls_for(20))
    assert (answers.stopped, answers.asked, answers.missing) == ("budget", 7, 13)
    assert answers.message.startswith("the run's budget of 7 calls is spent. Raise it")
    assert len(model.seen) == 7


async def test_a_budget_goes_on_where_the_last_start_left_it(tmp_path):
    (tmp_path / "run").mkdir()
    model = Toy()
    for allowed, asked in ((5, 5), (5, 0), (8, 3)):
        with Ledger.open(tmp_path / "run" / "run.sqlite") as ledger:
            runner = Runner(ledger, limits=Limits(Budget(calls=allowed)), settings=brisk())
            assert (await runner.ask(model, calls_for(20))).asked == asked


async def test_what_calls_under_way_give_back_is_used_before_the_run_stops(ledger):
    # Each call reserves 30 tokens and takes 10: 100 tokens reach for 8 calls (7 · 10 + 30), though
    # only 3 may be under way at once.
    model = Toy(parallel=10, seconds=0.001)
    runner = Runner(ledger, limits=Limits(Budget(tokens=100)), settings=brisk())
    answers = await runner.ask(model, calls_for(20))
    assert (answers.asked, answers.stopped) == (8, "budget")
    assert model.most_under_way == 3


async def test_two_asks_at_once_keep_one_budget_and_wait_for_each_other(ledger):
    quick, slow = Toy(parallel=2), Toy(name="toy/m2", parallel=2, seconds=0.01)
    runner = Runner(ledger, limits=Limits(Budget(tokens=100)), settings=brisk())
    await asyncio.gather(runner.ask(quick, calls_for(9)), runner.ask(slow, calls_for(9)))
    assert len(quick.seen) + len(slow.seen) == 8
    assert ledger.spending.total.tokens <= 100


async def test_a_money_budget_needs_a_price(ledger):
    runner = Runner(ledger, limits=Limits(Budget(money=1.0)))
    with pytest.raises(ConfigError, match=r"needs the price of toy/m1, .* prices\.toml"):
        await runner.ask(Toy(), calls_for(1))


async def test_usage_that_is_not_told_costs_what_was_reserved(ledger):
    await Runner(ledger).ask(Toy({"q0": [Reply(text="B")]}), calls_for(1))
    assert ledger.spending.total == Cost(1, 30, None)


events = st.sampled_from(["reply", "429", "500", "timeout", "refused", "error", "mute"])


def event(name: str) -> Event:
    return {
        "reply": Reply(text="B", prompt_tokens=20, completion_tokens=10),
        "429": RateLimited("slow down", 0.0),
        "500": ServerFault("out of order", answered=True),
        "timeout": ServerFault("no answer in time"),
        "refused": ServerFault("no connection", sent=False),
        "error": Reply(finish=Finish.ERROR, error="bad request"),
        "mute": Reply(text="B"),
    }[name]


@settings(max_examples=30, deadline=None)
@given(
    script=st.lists(st.lists(events, max_size=4), min_size=1, max_size=12),
    budget=st.integers(0, 15),
    tokens=st.integers(0, 400),
    unknown=st.sampled_from(["skip", "retry"]),
    batch=st.integers(1, 3),
)
async def test_no_course_of_events_exceeds_the_budget(
    tmp_path_factory, script, budget, tokens, unknown, batch
):
    folder = tmp_path_factory.mktemp("run")
    model = Toy({f"q{k}": [event(e) for e in es] for k, es in enumerate(script)}, batch=batch)
    counted = 0

    def count(calls: Sequence[Call]) -> None:
        nonlocal counted
        counted += len(calls)

    for _ in range(2):
        with Ledger.open(folder / "run.sqlite") as ledger:
            limits = Limits(Budget(calls=budget, tokens=tokens))
            quick = PaceSettings(first_wait_seconds=0.0, longest_wait_seconds=0.0)
            how = RunnerSettings(unknown=unknown, pace=quick)
            runner = Runner(ledger, limits=limits, reuse=(), settings=how)
            answers = await runner.ask(model, calls_for(len(script)))
            spent = ledger.spending.total
            assert spent.calls <= budget
            assert spent.tokens <= tokens
            answered = [r for r in ledger.records() if r.state is State.RECEIVED]
            assert len(answered) <= spent.calls
            assert answers.stopped or all(
                reply is not None or record.state is State.UNKNOWN
                for reply, record in zip(answers.replies, ledger.records(), strict=True)
            )


# Faults


async def test_a_fault_that_the_server_owns_up_to_is_repeated_then_an_error_that_quotes_it(ledger):
    fault = ServerFault("Provider returned error", answered=True)
    model = Toy({"q0": [fault] * 2, "q1": [fault] * 9})
    answers = await Runner(ledger, settings=brisk(max_attempts=4)).ask(model, calls_for(8))
    assert answers.replies[0] == usual("q0")
    assert answers.replies[1].finish is Finish.ERROR
    assert answers.replies[1].error == "failed 4 times, at last: Provider returned error"
    assert Counter(model.seen)["q1"] == 4
    assert ledger.spending.total.calls == 8 - 1 + 2 + 4  # each attempt counts as a call


@pytest.mark.parametrize(
    ("unknown", "paid", "attempts", "doubts"),
    [("skip", True, 1, 1), ("retry", True, 2, 1), ("skip", False, 2, 1)],
)
async def test_a_call_without_an_answer_is_unknown_and_asked_again_only_by_leave(
    ledger, unknown, paid, attempts, doubts
):
    model = Toy({"q1": [ServerFault("no answer in time")]}, paid=paid)
    answers = await Runner(ledger, settings=brisk(unknown=unknown)).ask(model, calls_for(3))
    record = list(ledger.records())[1]
    assert (Counter(model.seen)["q1"], record.doubts) == (attempts, doubts)
    if attempts == 1:
        assert answers.replies == [usual("q0"), None, usual("q2")]
        assert (answers.unknown, answers.missing) == (1, 1)
        assert [r.call.prompt.text for r in ledger.unknowns()] == ["q1"]
    else:
        assert answers.missing == 0
        # Both attempts may have been billed: 30 reserved and kept, 10 used.
        assert record.cost == Cost(2, 40, None)


async def test_skipped_unknown_calls_stay_unknown_until_retry_is_asked_for(ledger):
    model = Toy({"q0": [ServerFault("no answer in time")]})
    await Runner(ledger, settings=brisk()).ask(model, calls_for(2))
    again = await Runner(ledger, settings=brisk()).ask(model, calls_for(2))
    assert (again.unknown, again.replies[0], len(model.seen)) == (1, None, 2)
    assert Runner(ledger, settings=brisk()).plan(model, calls_for(2)).unknown == 1
    last = await Runner(ledger, settings=brisk(unknown="retry")).ask(model, calls_for(2))
    assert (last.unknown, last.replies[0], len(model.seen)) == (0, usual("q0"), 3)


async def test_being_asked_to_slow_down_costs_nothing_and_lowers_the_concurrency(ledger):
    model = Toy({"q0": [RateLimited("slow down", 0.01)] * 3}, parallel=8)
    seen: list[Progress] = []
    answers = await Runner(ledger, settings=brisk()).ask(model, calls_for(4), seen.append)
    assert answers.missing == 0
    assert ledger.spending.total.calls == 4
    assert seen[-1].concurrency < 8


async def test_a_daily_quota_stops_the_run_instead_of_waiting(ledger):
    model = Toy({"q0": [RateLimited("quota", 86_400.0)]}, parallel=1)
    answers = await Runner(ledger, settings=brisk()).ask(model, calls_for(4))
    assert (answers.stopped, answers.missing, len(model.seen)) == ("fatal", 4, 1)
    assert "asks to wait for 86,400 s (quota)" in answers.message


async def test_a_call_that_is_put_off_for_ever_fails_alone(ledger):
    model = Toy({"q0": [RateLimited("too large", 0.0)] * 99})
    answers = await Runner(ledger, settings=brisk(max_refusals=3)).ask(model, calls_for(9))
    assert answers.replies[0].error == "put off 3 times, at last: too large"
    assert answers.failed == 1
    assert answers.missing == 0


async def test_an_endpoint_that_is_down_stops_the_run_before_the_calls_are_burnt(ledger):
    down = [ServerFault("no connection", sent=False)] * 99
    model = Toy({f"q{k}": down for k in range(500)}, parallel=16)
    answers = await Runner(ledger, settings=brisk()).ask(model, calls_for(500))
    assert answers.stopped == "circuit breaker"
    assert answers.message.startswith("toy/m1 has not answered for 10 attempts in a row, at last: ")
    assert "no connection" in answers.message
    assert len(model.seen) < 100
    assert ledger.spending.total.calls == 0
    mended = await Runner(ledger, settings=brisk()).ask(Toy(), calls_for(500))
    assert (mended.asked, mended.missing) == (500, 0)


async def test_calls_that_always_fail_end_as_errors_and_do_not_trip_the_breaker(ledger):
    poison = [ServerFault("out of order", answered=True)] * 99
    model = Toy({f"q{k}": poison for k in range(5)}, parallel=8)
    answers = await Runner(ledger, settings=brisk()).ask(model, calls_for(20))
    assert (answers.failed, answers.missing, answers.stopped) == (5, 0, None)


async def test_a_fatal_error_stops_with_its_own_words_and_what_was_under_way_is_kept(ledger):
    model = Toy({"q2": [Fatal("wrong key. Set TOY_KEY.")]}, parallel=4, seconds=0.005)
    answers = await Runner(ledger, settings=brisk()).ask(model, calls_for(50))
    assert (answers.stopped, answers.message) == ("fatal", "wrong key. Set TOY_KEY.")
    assert answers.asked == 3
    assert ledger.spending.total.calls == 3
    assert (await Runner(ledger, settings=brisk()).ask(model, calls_for(50))).missing == 0


async def test_a_mistake_in_a_model_is_raised_after_what_was_under_way_is_kept(ledger):
    model = Toy({"q1": [ZeroDivisionError("oops")]}, parallel=4)
    with pytest.raises(ZeroDivisionError, match="oops"):
        await Runner(ledger, settings=brisk()).ask(model, calls_for(50))
    assert [r.state.value for r in ledger.records()][:4] == [
        "received",
        "unknown",
        "received",
        "received",
    ]


async def test_a_setting_that_stops_a_model_leaves_the_calls_planned(ledger):
    model = Toy({"q0": [ConfigError("TOY_KEY is not set")]}, parallel=1)
    with pytest.raises(ConfigError, match="TOY_KEY is not set"):
        await Runner(ledger, settings=brisk()).ask(model, calls_for(3))
    assert {r.state for r in ledger.records()} == {State.PLANNED}


async def test_too_few_replies_are_an_error_that_names_the_model(ledger):
    class Short(Toy):
        async def ask(self, calls: Sequence[Call]) -> Sequence[Reply]:
            return [usual("q0")]

    with pytest.raises(ModelError, match="toy/m1 returned 1 replies to 3 calls"):
        await Runner(ledger).ask(Short(batch=8, parallel=1), calls_for(3))


async def test_a_full_disk_stops_cleanly_and_keeps_what_was_under_way(ledger, monkeypatch):
    model = Toy({f"q{k}": [Reply(text="B" * 20_000)] for k in range(50)})
    set_pages = "PRAGMA max_page_count = {}".format
    free_space = ledger.free_space

    def make_room() -> None:
        free_space()
        ledger._database.execute(set_pages(10_000))

    monkeypatch.setattr(ledger, "free_space", make_room)
    ledger._database.execute(set_pages(60))
    answers = await Runner(ledger).ask(model, calls_for(50))
    assert answers.stopped == "disk"
    assert 0 < len(model.seen) < 50
    assert answers.asked == len(model.seen)
    assert not ledger.unknowns()


async def test_a_disk_that_stays_full_is_an_error_that_counts_the_lost_replies(ledger):
    model = Toy({f"q{k}": [Reply(text="B" * 20_000)] for k in range(50)}, parallel=1)
    ledger._database.execute("PRAGMA max_page_count = 60")
    with pytest.raises(WriteFailed, match="1 replies could not be written any more"):
        await Runner(ledger).ask(model, calls_for(50))


# Batches, progress, notes


async def test_a_model_that_takes_many_gets_batches_of_64_at_most(runner):
    model = Toy(batch=1000, parallel=1)
    answers = await runner.ask(model, calls_for(150))
    assert (model.sizes, answers.missing) == ([64, 64, 22], 0)


async def test_no_more_calls_are_under_way_than_allowed(ledger):
    model = Toy(parallel=20, seconds=0.001)
    await Runner(ledger, settings=brisk(concurrency=3)).ask(model, calls_for(30))
    assert model.most_under_way == 3


async def test_progress_ends_at_the_total(ledger):
    seen: list[Progress] = []
    runner = Runner(ledger, settings=brisk())
    await runner.ask(Toy(), calls_for(5))
    model = Toy({"q5": [Reply(finish=Finish.ERROR)], "q6": [ServerFault("no answer")]})
    await runner.ask(model, calls_for(10), seen.append)
    last = seen[-1]
    assert (last.done, last.total, last.reused, last.failed, last.unknown) == (10, 10, 5, 1, 1)
    assert last.tokens == 3 * 10 + 30
    assert all(one.done <= two.done for one, two in pairwise(seen))


async def test_a_change_of_the_served_model_is_flagged(runner):
    changed = Reply(text="B", served_model="toy-2", fingerprint="fp_2")
    before = Reply(text="B", served_model="toy-1", fingerprint="fp_1")
    answers = await runner.ask(Toy({"q0": [before], "q1": [before], "q2": [changed]}), calls_for(3))
    assert answers.notes == (
        "the served model changed in the course of the run: toy-1 fp_1 (2 replies), "
        "toy-2 fp_2 (1 replies)",
    )


# Interruption


async def interrupted(runner: Runner, model: Toy, after: int, times: int) -> Answers:
    """Ask 100 calls and send SIGINT `times` times once `after` are under way."""

    def strike() -> None:
        if len(model.seen) == after:
            for _ in range(times):
                os.kill(os.getpid(), signal.SIGINT)

    model.on_ask = strike
    return await runner.ask(model, calls_for(100))


async def test_the_first_ctrl_c_sends_no_more_and_waits_for_what_is_under_way(runner):
    handler = signal.getsignal(signal.SIGINT)
    model = Toy(parallel=4, seconds=0.05)
    answers = await interrupted(runner, model, after=10, times=1)
    assert answers.stopped == "interrupted"
    assert answers.asked == len(model.seen) < 100
    assert answers.unknown == 0
    later = await runner.ask(model, calls_for(100))
    assert later.stopped == "interrupted"  # the whole run is to stop, not one list of calls
    assert signal.getsignal(signal.SIGINT) is handler


async def test_calls_that_outlast_the_grace_are_unknown(ledger):
    model = Toy(parallel=4, seconds=30)
    runner = Runner(ledger, settings=brisk(grace_seconds=0.02))
    answers = await interrupted(runner, model, after=4, times=1)
    assert (answers.stopped, answers.unknown) == ("interrupted", 4)


async def test_the_second_ctrl_c_ends_at_once(runner):
    model = Toy(parallel=4, seconds=30)
    answers = await interrupted(runner, model, after=4, times=2)
    assert (answers.stopped, answers.unknown, answers.asked) == ("interrupted", 4, 0)


async def test_a_signal_that_the_run_was_started_to_ignore_stops_nothing(runner):
    """A shell starts `askew run … &` so in a script: Ctrl-C is meant for what is in front."""
    before = signal.signal(signal.SIGINT, signal.SIG_IGN)
    try:
        answers = await interrupted(runner, Toy(parallel=4), after=10, times=2)
        assert signal.getsignal(signal.SIGINT) is signal.SIG_IGN
    finally:
        signal.signal(signal.SIGINT, before)
    assert (answers.stopped, answers.asked) == (None, 100)


async def test_cancelling_the_task_keeps_what_has_come_and_lists_the_rest(ledger):
    model = Toy({}, parallel=2, seconds=0.01)
    runner = Runner(ledger, settings=brisk(concurrency=2))
    task = asyncio.create_task(runner.ask(model, calls_for(100)))
    while len(model.seen) < 5:
        await asyncio.sleep(0.001)
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    states = Counter(record.state.value for record in ledger.records())
    assert states["unknown"] == 2
    assert states["received"] == len(model.seen) - 2
    assert not ledger.under_way


# With the real client


def chat_calls(number: int) -> list[Call]:
    return [Call(Prompt(messages=(Message("user", f"q{k}"),))) for k in range(number)]


async def test_a_real_endpoint_with_every_kind_of_fault_is_asked_to_the_end(ledger):
    first_time = Counter()

    def answer(seen: Seen) -> Answer:
        first_time[seen.prompt] += 1
        if first_time[seen.prompt] == 1:
            match int(seen.prompt[1:]) % 10:
                case 1:
                    return rate_limited("0.01")
                case 3:
                    return error(500, "out of order")
                case 5:
                    return Answer(fault="drop")
                case 7:
                    return Answer({"error": {"message": "Provider returned error", "code": 502}})
                case 9:
                    return Answer(chat_body("B"), fault="cut")
        if seen.prompt == "q4":
            return Answer({"error": {"code": "content_filter", "message": "filtered"}}, 400)
        return Answer(chat_body("B"))

    with FaultServer(answer) as server:
        model = ChatApi(ModelSpec(name="openai/toy", base_url=server.url))
        answers = await Runner(ledger, settings=brisk(unknown="retry")).ask(model, chat_calls(60))
        await model.close()
        assert server.counts["q4"] == 1
    assert (answers.missing, answers.failed, answers.stopped) == (0, 0, None)
    assert answers.replies[4].finish is Finish.BLOCKED
    unclear = {r.call.prompt.messages[0].content for r in ledger.records() if r.doubts}
    assert unclear == {f"q{k}" for k in range(60) if k % 10 in (5, 9)}


async def test_a_real_endpoint_that_is_not_there_costs_nothing(ledger):
    address = f"http://127.0.0.1:{refused_port()}/v1"
    model = ChatApi(ModelSpec(name="openai/toy", base_url=address))
    answers = await Runner(ledger, settings=brisk()).ask(model, chat_calls(200))
    await model.close()
    assert answers.stopped == "circuit breaker"
    assert ledger.spending.total.calls == 0
    assert answers.missing == 200
